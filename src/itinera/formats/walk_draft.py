"""Walks kept as they are done, beside the file they will make, so that a run that was stopped can go on.

A draft is JSON lines: a header, then each walk with its number, in the order they came. A line that broke off in the
middle is dropped. The file appears when all walks are there, in the order of their numbers, and is the same however
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
from itinera.formats.files import atomic_write
from itinera.formats.native import Header, header_line
from itinera.formats.native_walks import record_of, walk_of
from itinera.records import Provenance, Walk
from itinera.tasks import Protocol

SYNCED = 1.0  # seconds; what is older is safe even if the machine fails. If the process does, all is.


class _Line(msgspec.Struct):
    number: int
    walk: msgspec.Raw


class WalkDraft:
    """The walks there are of a run. Use it in a `with`, which holds the draft for this process alone."""

    def __init__(self, result: Path, plan: str, *, restart: bool = False) -> None:
        """`plan` is a fingerprint of all that decides what the walks are; those of another plan are refused."""
        self.result = result
        self.path = result.with_name(f"{result.name}.draft")
        self._plan = plan
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
            stream.write(header_line(Header(itinera="walks", plan=self._plan)))
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

    def __enter__(self) -> WalkDraft:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def __contains__(self, number: int) -> bool:
        return number in self._lines

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, number: int) -> Walk:
        """A walk that is there."""
        return walk_of(self._record(number))

    def _record(self, number: int) -> bytes:
        begin, length = self._lines[number]
        return bytes(msgspec.json.decode(os.pread(self._stream.fileno(), length, begin), type=_Line).walk)

    def add(self, number: int, walk: Walk) -> None:
        """Keep one more walk."""
        line = msgspec.json.encode(_Line(number, msgspec.Raw(record_of(walk)))) + b"\n"
        self._lines[number] = self._stream.seek(0, os.SEEK_END), len(line)
        self._stream.write(line)
        self._stream.flush()
        if time.monotonic() - self._synced > SYNCED:
            os.fsync(self._stream.fileno())
            self._synced = time.monotonic()

    def finish(self, protocol: Protocol, provenance: Provenance) -> None:
        """Write the file, and forget the draft."""
        header = Header(itinera="walks", provenance=provenance, protocol=protocol, plan=self._plan)
        with atomic_write(self.result) as stream:
            stream.write(header_line(header))
            stream.writelines(self._record(number) + b"\n" for number in sorted(self._lines))
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
