"""A scorer of any kind, asked for the scores of one file: a command in a process of its own, or a Python function.

A command runs in a process group with limits of time, memory and output, and all that it started ends with it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from itinera.agents.process_tree import OrphanReaper, kill_tree
from itinera.agents.transport import describe_exit
from itinera.errors import BadArgument, ItineraError, escape_controls, shorten
from itinera.formats.metric_rows import KNOWN_COLUMNS
from itinera.records.metric_rows import METRIC_COLUMNS

How = Literal["scored", "refused", "crashed", "timed out"]
_LONGEST_OUTPUT = 16 << 20  # bytes
_LONGEST_REASON = 200  # characters
_TRACEBACK = "Traceback (most recent call last)"
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Reply:
    """How a scorer answered a file."""

    how: How
    scores: Mapping[str, float]  # by our name of the metric; empty unless it scored
    reason: str = ""  # the last line of what it said, if it did not
    seconds: float = 0.0


class Scorer(Protocol):
    """Anything that scores a file."""

    def answer(self, file: Path) -> Reply:
        """How it answers this file."""
        ...


@dataclass(frozen=True)
class FunctionScorer:
    """A function from a file to its scores. It refuses by an ItineraError or ValueError; other errors are crashes."""

    function: Callable[[Path], Any]

    def answer(self, file: Path) -> Reply:
        """How it answers this file."""
        started = time.monotonic()
        try:
            found = self.function(file)
        except (ItineraError, ValueError) as error:
            return Reply("refused", {}, _reason(str(error)), time.monotonic() - started)
        except Exception as error:
            reason = _reason(f"{type(error).__name__}: {error}")
            return Reply("crashed", {}, reason, time.monotonic() - started)
        return Reply("scored", find_scores(found), "", time.monotonic() - started)


@dataclass(frozen=True)
class CommandScorer:
    """A command whose words contain {file}, and may contain {tasks}, {worlds} and {out}.

    It prints its scores as JSON, or writes them to {out}. Exit code 0 means that it scored the file.
    """

    command: str
    tasks: Path
    worlds: Path | None
    seconds: float = 60.0
    memory_mb: int = 4096

    def __post_init__(self) -> None:
        words = self._words({})
        if not words or not any("{file}" in word for word in words):
            raise BadArgument(
                f"The scorer's command has no {{file}}: {self.command}\n"
                "  Write the command that scores an entry, with {file} in the place of the entry."
            )

    def _words(self, values: Mapping[str, Path | None]) -> list[str]:
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise BadArgument(f"The scorer's command cannot be parsed: {error}. Found: {self.command}") from None
        for name, value in values.items():
            if value is None and any(f"{{{name}}}" in word for word in words):
                raise BadArgument(f"The scorer's command contains {{{name}}}: give {name} (--{name}).")
            words = [word.replace(f"{{{name}}}", str(value)) for word in words]
        return words

    def answer(self, file: Path) -> Reply:
        """How it answers this file."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            written = folder / "scores.json"
            absolute = {"tasks": self.tasks, "worlds": self.worlds}
            values = {key: None if path is None else path.absolute() for key, path in absolute.items()}
            words = self._words({"file": file.absolute(), "out": written, **values})
            started = time.monotonic()
            code = self._run(words, folder)
            seconds = time.monotonic() - started
            errors = _read_end(folder / "stderr")
            complaint = _reason(errors)
            if code is None:
                return Reply("timed out", {}, f"no answer within {self.seconds:g} s", seconds)
            if code == 0:
                text = _read_end(written if written.exists() else folder / "stdout")
                return Reply("scored", find_scores(_parse_output(text)), complaint, seconds)
            crashed = code < 0 or _TRACEBACK in errors
            reason = describe_exit(code) if code < 0 or not complaint else complaint
            return Reply("crashed" if crashed else "refused", {}, reason, seconds)

    def _run(self, words: list[str], folder: Path) -> int | None:
        """The exit code of the command; None if it had to be stopped."""
        with OrphanReaper(), open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
            try:
                process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _LIMITED, str(self.memory_mb << 20), *words],
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    process_group=0,  # so that it can be ended with every process it starts
                )
            except OSError as error:
                raise BadArgument(f"The scorer's command cannot be run: {words[0]}: {error.strerror}.") from None
            until = time.monotonic() + self.seconds
            try:
                while process.poll() is None and time.monotonic() < until:
                    time.sleep(_POLL_SECONDS)
                code = process.returncode
            finally:
                # The group may outlive its leader, whose number nobody else gets as long as the group exists.
                if process.returncode is None:
                    kill_tree(process.pid)
                    process.wait()
                else:
                    with suppress(OSError):
                        os.killpg(process.pid, 9)
        if code == _NOT_FOUND:
            raise BadArgument(
                f"The scorer's command cannot be run: {words[0]}: {_reason(_read_end(folder / 'stderr'))}"
            )
        return code


_NOT_FOUND = 127  # as shells say it
# Limits are set by a small program that then becomes the scorer: threads of this process make a fork without it unsafe.
_LIMITED = f"""
import os, resource, sys
limits = (resource.RLIMIT_AS, int(sys.argv[1])), (resource.RLIMIT_FSIZE, {1 << 30}), (resource.RLIMIT_CORE, 0)
for kind, limit in limits:
    try:
        resource.setrlimit(kind, (limit, limit))
    except (OSError, ValueError):
        pass
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    print(error.strerror, file=sys.stderr)
    sys.exit({_NOT_FOUND})
"""


def _read_end(file: Path) -> str:
    """The text of a file, or the last part of a long one."""
    with open(file, "rb") as stream:
        stream.seek(max(0, file.stat().st_size - _LONGEST_OUTPUT))
        return stream.read().decode("utf-8", "replace")


def _parse_output(text: str) -> Any:
    """The JSON that a scorer printed: all of its output, or the last line that is JSON."""
    for candidate in (text, *reversed(text.splitlines()[-1000:])):
        with suppress(ValueError, RecursionError):
            found = json.loads(candidate)
            if isinstance(found, dict | list):
                return found
    return None


def find_scores(value: Any) -> dict[str, float]:
    """The metrics of a scorer's output, wherever they are in it, by our name; percentages stay as they are.

    >>> find_scores({"result": [{"test": {"success": 0.5, "spl": 0.25, "steps": 3}}]})
    {'SR': 0.5, 'SPL': 0.25}
    >>> find_scores({"metrics": {"NE": {"mean": 4.0, "low": 1.0, "high": 7.0}}})
    {'NE': 4.0}
    """
    found: dict[str, float] = {}
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        name, item = waiting.pop(0)
        metric = KNOWN_COLUMNS.get(_plain(name), name if name in METRIC_COLUMNS else "")
        if metric and isinstance(item, dict) and "mean" in item:
            item = item["mean"]
        if isinstance(item, dict):
            waiting += [(str(key), inner) for key, inner in item.items()]
        elif isinstance(item, list):
            waiting += [("", inner) for inner in item]
        elif metric in METRIC_COLUMNS and METRIC_COLUMNS[metric].better != "neither" and metric not in found:
            number = _as_number(item)
            if number is not None:
                found[metric] = number
    return found


def _plain(name: str) -> str:
    return re.sub(r"[\s(\[%].*", "", name.strip().lower()).removeprefix("mean_").removeprefix("avg_")


def _as_number(item: Any) -> float | None:
    if isinstance(item, bool) or not isinstance(item, int | float | str):
        return None
    try:
        return float(item)
    except (ValueError, OverflowError):
        return None


def _reason(text: str) -> str:
    """The line of an error message that says most: the last of a traceback, the first of anything else."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = lines[-1 if _TRACEBACK in text else 0] if lines else ""
    return shorten(escape_controls(line, one_line=True), _LONGEST_REASON)
