"""Records kept as they are made, beside the file of ours they will be, so that work that was stopped can go on.

A draft is JSON lines: a header, then each record with its number, in the order they came. A line that broke off in the
middle is dropped. The file appears when all records are there, in the order of their numbers, and is the same however
often the work was stopped.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec

from itinera.errors import BadArgument
from itinera.formats.io import atomic_write
from itinera.formats.native import Header, Kind, header_line

SYNCED = 1.0  # seconds; what is older is safe even if the machine fails. If the process does, all is.


class _Line(msgspec.Struct):
    number: int
    record: msgspec.Raw


class Draft:
    """The records there are of a file. Use it in a `with`, which holds the draft for this process alone."""

    def __init__(self, result: Path, kind: Kind, plan: str, *, restart: bool = False) -> None:
        """`plan` is a fingerprint of all that decides what the records are; those of another plan are refused."""
        self.result = result
        self.path = result.with_name(f"{result.name}.draft")
        self._kind, self._plan = kind, plan
        self._lines: dict[int, tuple[int, int]] = {}  # by number, where a line begins and how long it is
        self._synced = time.monotonic()
        if restart:
            self.path.unlink(missing_ok=True)
        self._stream = self._opened()

    def _opened(self) -> IO[bytes]:
        self.result.parent.mkdir(parents=True, exist_ok=True)
        stream = open(self.path, "a+b")  # noqa: SIM115
        try:
            _hold(stream, self.path)
            stream.seek(0)
            self._take_up(stream)
        except BaseException:
            stream.close()
            raise
        return stream

    def _take_up(self, stream: IO[bytes]) -> None:
        """Read what is there, and cut off what is not whole."""
        head = stream.readline()
        whole = len(head) if head.endswith(b"\n") else 0
        for line in stream if whole else ():
            try:
                read = msgspec.json.decode(line, type=_Line)
            except msgspec.DecodeError:
                break
            if not line.endswith(b"\n"):
                break
            self._lines[read.number] = whole, len(line)
            whole += len(line)
        if whole and not self._is_ours(head):
            whole = 0
        stream.truncate(whole)
        if not whole:
            stream.write(header_line(Header(itinera=self._kind, plan=self._plan)))
            stream.flush()

    def _is_ours(self, head: bytes) -> bool:
        """Whether the draft is of this plan. One of another is refused, unless nothing was done of it."""
        try:
            plan = msgspec.json.decode(head, type=Header).plan
        except msgspec.DecodeError:
            plan = ""
        if plan != self._plan and (self._lines or not plan):
            raise BadArgument(
                f"{self.path} was begun with another agent, other inputs or options, or another version. "
                "--restart starts over."
            )
        return plan == self._plan

    def __enter__(self) -> Draft:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def __contains__(self, number: int) -> bool:
        return number in self._lines

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, number: int) -> bytes:
        """A record that is there."""
        begin, length = self._lines[number]
        return bytes(msgspec.json.decode(os.pread(self._stream.fileno(), length, begin), type=_Line).record)

    def add(self, number: int, record: bytes) -> None:
        """Keep one more record, encoded."""
        line = msgspec.json.encode(_Line(number, msgspec.Raw(record))) + b"\n"
        self._lines[number] = self._stream.seek(0, os.SEEK_END), len(line)
        self._stream.write(line)
        self._stream.flush()
        if time.monotonic() - self._synced > SYNCED:
            os.fsync(self._stream.fileno())
            self._synced = time.monotonic()

    def finish(self, header: Header) -> None:
        """Write the file under this header and the plan, and forget the draft."""
        with atomic_write(self.result) as stream:
            stream.write(header_line(msgspec.structs.replace(header, plan=self._plan)))
            stream.writelines(self[number] + b"\n" for number in sorted(self._lines))
        self.path.unlink()


def _hold(stream: IO[bytes], path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # where files cannot be held, nobody can tell
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise BadArgument(f"{path} is being written by another run. Wait for it, or give another --out.") from None
