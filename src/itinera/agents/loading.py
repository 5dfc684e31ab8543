"""Agents that somebody else wrote: import and make one, and digest the files it consists of.

An agent's files are those of the modules it is made of, as far as they belong neither to Python nor to an installed
package nor to Itinera, and those it declares: `files = ["weights.pt"]` in its class, or an attribute of the object.
What it reads beyond these is unknown here.
"""

from __future__ import annotations

import ast
import importlib
import os
import site
import sys
import sysconfig
import traceback
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from itinera.agents.agent import METHODS, Agent, missing_methods
from itinera.errors import BadArgument
from itinera.records.provenance import PACKAGE, digest

OptionValue = bool | int | float | str


def prepend_cwd() -> None:
    """Search modules in the current folder first, as Python does for a script."""
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)


def parse_options(words: Iterable[str], *, option: str = "--agent-option") -> dict[str, OptionValue]:
    """The options of words such as "ckpt=weights.pt" and "beam=3"; numbers and booleans are those of JSON.

    >>> parse_options(["ckpt=weights.pt", "beam=3", "greedy=true"])
    {'ckpt': 'weights.pt', 'beam': 3, 'greedy': True}
    """
    options: dict[str, OptionValue] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name.isidentifier():
            raise BadArgument(f"{option} is NAME=VALUE, with a name as in Python, not {word!r}.")
        if name in options:
            raise BadArgument(f"{option} {name} was given twice.")
        try:
            options[name] = msgspec.json.decode(text, type=bool | int | float)
        except msgspec.DecodeError:
            options[name] = text
    return options


def check_options(options: Mapping[str, OptionValue]) -> None:
    """Refuse options that are not plain values."""
    for name, value in options.items():
        if not isinstance(name, str) or not isinstance(value, (bool, int, float, str)):
            raise BadArgument(f"agent_options are strings, numbers and booleans by name (got {name!r}: {value!r}).")


def import_class(name: str) -> Any:
    """The class, or function that makes an agent, of MODULE:CLASS."""
    module, _, attribute = name.partition(":")
    prepend_cwd()
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise BadArgument(f"{module} cannot be imported: {error}. The current folder is searched first.") from None
    except SyntaxError as error:
        raise BadArgument(f"{error.filename}, line {error.lineno}, is not Python: {error.msg}. Correct it.") from None
    except (Exception, SystemExit) as error:
        raise BadArgument(
            f"{module} cannot be imported: {type(error).__name__}: {error} ({_last_place(error)})."
        ) from error
    try:
        return getattr(found, attribute)
    except AttributeError:
        raise BadArgument(f"Module {module} has no {attribute}.") from None


def _last_place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else "unknown place"


def instantiate(make: Any, options: Mapping[str, OptionValue] | None = None, *, names: Iterable[str] = ()) -> Agent:
    """The agent that a class or function makes with these keyword arguments; `names` are those of other agents."""
    name, options = describe_agent(make), options or {}
    try:
        agent = make(**options)
    except TypeError as error:
        called = f"with {', '.join(options)} (--agent-option)" if options else "without arguments"
        raise BadArgument(
            f"{name}() failed: {error}. It was called {called}; pass an object, a class that needs no more, or "
            "--agent-option NAME=VALUE (agent_options=)."
        ) from error
    return require_agent(agent, name, names=names)


def require_agent(agent: object, name: str = "", *, names: Iterable[str] = ()) -> Agent:
    """The agent, if it has the methods of one; `names` are those of other agents, for the message."""
    if not isinstance(agent, Agent):
        others = f"; or give a name: {', '.join(names)}" if names else ""
        raise BadArgument(
            f"{name or type(agent).__name__} is not an agent: it has no {', '.join(missing_methods(agent))}. "
            f"An agent has the methods {', '.join(METHODS)}{others}."
        )
    return agent


def describe_agent(agent: object) -> str:
    """A short name of an agent."""
    if isinstance(agent, str):
        return agent
    return str(getattr(agent, "__name__", type(agent).__name__))


def digest_agent(agent: object, *, imported_before: Iterable[str] | None = None) -> dict[str, str]:
    """The digests of an agent's files, by name; the file of its class comes first.

    `imported_before` are the names of the modules that were loaded before the agent was made: the others are its own.
    """
    main = getattr(agent, "__module__", "") if isinstance(agent, type) else type(agent).__module__
    modules = {} if imported_before is None else dict.fromkeys(set(sys.modules) - set(imported_before))
    parts = main.split(".")
    packages = [".".join(parts[:k]) for k in range(1, len(parts))]
    found = [path for name in (main, *packages, *sorted(modules)) for path in _closure(name)]
    first, others = found[:1], sorted(set(found[1:]) - set(found[:1]))
    return {short_name(path): digest(path) for path in [*first, *others, *declared_files(agent)]}


def declared_files(agent: object) -> list[Path]:
    """The files and folders that an agent declares by its attribute `files`."""
    files = getattr(agent, "files", ())
    found = [files] if isinstance(files, (str, os.PathLike)) else files
    if not isinstance(found, (list, tuple)) or not all(isinstance(file, (str, os.PathLike)) for file in found):
        raise BadArgument(f"The attribute files of an agent is a list of paths (got {str(files)[:80]!r}).")
    return require_files(map(Path, found))


def require_files(paths: Iterable[Path]) -> list[Path]:
    """The paths, if all exist."""
    found = list(paths)
    for path in found:
        if not path.exists():
            raise BadArgument(f"{path} is named as a file of the agent and does not exist. Check files, --agent-file.")
    return found


def short_name(path: Path) -> str:
    """The path from the current folder if it lies there, else the whole path."""
    whole = path.resolve()
    return str(whole.relative_to(Path.cwd())) if whole.is_relative_to(Path.cwd()) else str(whole)


def _closure(name: str) -> Iterator[Path]:
    """The file of a module, and of every module of its kind that it imports, directly or not."""
    todo, seen = [name], set()
    while todo:
        module = sys.modules.get(todo.pop())
        path = None if module is None else _own_file(module)
        if module is None or path is None or path in seen:
            continue
        seen.add(path)
        yield path
        todo += _imported_names(path, getattr(module, "__package__", None) or "")


def _imported_names(path: Path, package: str) -> Iterator[str]:
    """The names of modules that a file imports; some may be names in a module instead."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):  # compiled, or changed since
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                yield from (".".join(parts[:k]) for k in range(1, len(parts) + 1))
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _own_file(module: ModuleType) -> Path | None:
    """The file of a module that belongs neither to Python nor to an installed package nor to Itinera."""
    name = getattr(module, "__file__", None)
    if not isinstance(name, str):
        return None
    path = Path(name).resolve()
    return path if path.is_file() and not any(path.is_relative_to(folder) for folder in _foreign_folders()) else None


def _foreign_folders() -> list[Path]:
    paths = sysconfig.get_paths()
    installed = [paths[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib", "scripts")]
    folders = [*installed, *site.getsitepackages(), site.getusersitepackages(), str(PACKAGE)]
    return [Path(folder).resolve() for folder in folders]
