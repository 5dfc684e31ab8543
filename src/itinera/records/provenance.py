"""The provenance of a result: enough to check it and to produce it again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType

PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Provenance:
    """Version, command, seed and the digests of every input, by role ("predictions", "tasks", "worlds")."""

    version: str
    command: tuple[str, ...] = ()
    seed: int | None = None
    inputs: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # role -> file name
    digests: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # role -> blake2b of its bytes


def make_provenance(
    inputs: Mapping[str, Path | None], command: Sequence[str] = (), *, seed: int | None = None
) -> Provenance:
    """The provenance of a result made from these files (role -> path, None where not used) by this command.

    `command` is the words after `itinera`; empty where a program called the library.
    """
    used = {role: path for role, path in inputs.items() if path is not None}
    return Provenance(
        version=itinera_version(),
        command=("itinera", *command) if command else (),
        seed=seed,
        inputs={role: str(path) for role, path in used.items()},
        digests={role: digest(path) for role, path in used.items()},
    )


def itinera_version() -> str:
    """The version with its commit, where that is known: 0.1.0+f958569, or 0.1.0+f958569.dirty if files differ."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import, and only results need it

    commit = _commit(PACKAGE)
    try:
        number = version("itinera")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return f"0+{commit or 'unknown'}"
    return f"{number}+{commit}" if commit else number


@cache  # all results of one process state the same version
def _commit(package: Path) -> str:
    """The commit a package was built from, or the commit of its checkout; empty where neither is known."""
    built = package / "COMMIT"  # written by setup.py into what it builds
    if built.is_file():
        return built.read_text(encoding="utf-8").strip()
    checkout = package.parents[1]
    # An installed package may lie inside an unrelated repository, so Git must not search for one.
    return describe_checkout(checkout) if (checkout / ".git").exists() else ""


def describe_checkout(checkout: Path) -> str:
    """The short hash of a checkout's commit, with .dirty if its files differ; empty if Git cannot tell."""
    import subprocess

    described = ("describe", "--always", "--dirty=.dirty", "--abbrev=7", "--exclude=*")
    git = ("git", "--no-optional-locks", f"--git-dir={checkout / '.git'}", f"--work-tree={checkout}", *described)
    try:
        return subprocess.run(git, capture_output=True, text=True, check=True, timeout=5).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def digest(path: Path) -> str:
    """The blake2b-128 of a file's bytes, or of the names and bytes of all files under a folder."""
    state = hashlib.blake2b(digest_size=16)
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    for file in files:
        if file is not path:
            state.update(file.relative_to(path).as_posix().encode() + b"\0")
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                state.update(block)
    return state.hexdigest()
