"""Fastest times kept as they are found, beside the file they will make, so that work that was stopped can go on.

A draft is JSON lines: the fingerprint of all that decides a time, and the time. So it does not matter who wrote a line
and for which tasks; a line that broke off in the middle is passed over.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec

from itinera.errors import BadFile, Fault
from itinera.formats.fastest_times import Seconds, seconds_told


class _Line(msgspec.Struct):
    key: str
    low: Seconds
    high: Seconds


class TimesDraft:
    """The times there are, by their fingerprints. Use it in a `with`."""

    def __init__(self, result: Path) -> None:
        self.path = result.with_name(f"{result.name}.draft")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._stream: IO[bytes] = open(self.path, "a+b")  # noqa: SIM115
        except OSError as error:
            problem = f"cannot be written ({error.strerror or error})."
            raise BadFile(str(self.path), [Fault("", problem, "Check the folder and its permissions.")]) from None
        self.known = dict(self._read())

    def _read(self) -> Iterator[tuple[str, tuple[float, float]]]:
        self._stream.seek(0)
        line = b"\n"
        for line in self._stream:
            try:
                read = msgspec.json.decode(line, type=_Line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            yield read.key, (float(read.low), float(read.high))
        if not line.endswith(b"\n"):
            self._stream.write(b"\n")

    def __enter__(self) -> TimesDraft:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def add(self, keys: Iterable[str], lows: Iterable[float], highs: Iterable[float]) -> None:
        """Keep more times."""
        rows = list(zip(keys, lows, highs, strict=True))
        self.known.update((key, (low, high)) for key, low, high in rows)
        lines = [_Line(key, seconds_told(low), seconds_told(high)) for key, low, high in rows]
        self._stream.write(msgspec.json.Encoder().encode_lines(lines))
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def discard(self) -> None:
        """Remove the file; what it held is elsewhere by now."""
        self.path.unlink(missing_ok=True)
