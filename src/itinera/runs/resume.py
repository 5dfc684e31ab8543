"""One resumable writer for all long work: runs, studies, builds, fastest times.

One rule holds everywhere. Work resumes by itself when its plan is the same; `overwrite=True` (`--overwrite`) starts
anew; another plan is refused with a message. The plan is a fingerprint of everything that decides the result.

    plan = plan_fingerprint(version, sorted(digests.items()), seed)
    with ResumableWriter(out, plan, overwrite=overwrite) as work:
        if not work.finished:                                # True: `out` exists and has this plan
            for number, episode in enumerate(episodes):
                if number not in work:
                    work.add(number, encode(episode) + b"\\n")
            work.finish(head=header_line(Header(itinera="predictions", plan=plan)))

Records are bytes with a key (all `int` or all `str`), exactly as they will stand in the file. `add` also takes an
iterable of blocks for records that do not fit into memory, and a `note`, a small JSON value such as counts, which
`notes` returns. `finish` writes head, records in the order of their keys, and tail; a name in .gz is compressed. The
result is the same whatever the order of the records and however often the work was interrupted.

The plan of a finished file is found in its native header (`Header.plan`) or, for a format of somebody else, in its
provenance file: pass `provenance` to `finish`. Work whose result is written by other means (several files, a format
with its own writer) keeps its records here, writes the result with `write_sidecar(..., plan=work.plan)`, then calls
`discard`.

Until it is finished the work lies in OUT.partial: a header with the plan, then records, each with a checksum. A tail
that is cut off, filled with zeros or otherwise damaged is detected and dropped. A lock keeps other processes out.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NoReturn, TypeAlias

import msgspec

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats.io import atomic_write
from itinera.formats.native import read_header
from itinera.formats.provenance import read_sidecar, write_sidecar
from itinera.records import Provenance

SYNC_SECONDS = 1.0  # records older than this survive a failure of the machine; all survive one of the process
BLOCK = 1 << 20  # bytes of a frame when a record comes in blocks
LONGEST_LINE = 1 << 20  # bytes of a frame's description, its note included

Key: TypeAlias = int | str
_log = logging.getLogger("itinera")


class _Header(msgspec.Struct):
    itinera: str  # "partial"
    plan: str


class _Frame(msgspec.Struct, array_like=True):
    """A record, or a piece of one. On disk: checksum of all that follows, this as JSON, newline, bytes, newline."""

    key: Key
    size: int  # bytes
    last: bool = True  # whether the record ends here
    note: Any = None


def plan_fingerprint(*parts: object) -> str:
    """The fingerprint of everything that decides a result: equal if the parts print alike."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def refuse_other_plan(path: Path) -> NoReturn:
    """Raise the error for unfinished work of another plan."""
    raise BadArgument(
        f"{path} belongs to another run: a different agent, other inputs or options, or another version of itinera. "
        "Write to another file, or start anew with --overwrite (overwrite=True)."
    )


class ResumableWriter:
    """Records of unfinished work beside the file they will be; see the module for its use."""

    def __init__(self, result: str | os.PathLike[str], plan: str, *, overwrite: bool = False) -> None:
        self.result = Path(result)
        self.path = self.result.with_name(f"{self.result.name}.partial")
        self.plan = plan
        self.finished = False
        self.notes: dict[Key, Any] = {}  # by key, for records added with one
        self._spans: dict[Key, list[tuple[int, int]]] = {}  # by key: position and size of its pieces
        self._end = 0
        self._synced = time.monotonic()
        self._stream: FileIO | None = None
        if not overwrite and self._is_finished():
            self.finished = True
            _log.info("%s is complete already, from the same run; --overwrite makes it again.", self.result)
        else:
            self._open(overwrite)

    def _is_finished(self) -> bool:
        if self.path.exists() or not self.result.exists():
            return False
        if _recorded_plan(self.result) != self.plan:
            raise BadArgument(
                f"{self.result} exists already and comes from another run. "
                "Write to another file, or replace it with --overwrite (overwrite=True)."
            )
        return True

    def _open(self, overwrite: bool) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = _open_locked(self.path)
        except OSError as error:
            raise _unwritable(self.path, error) from None
        try:
            self._load(self._stream, overwrite)
        except BaseException:
            self._stream.close()
            raise

    def _load(self, stream: FileIO, overwrite: bool) -> None:
        """Index the whole records and drop a damaged tail."""
        if not overwrite:
            with self.path.open("rb") as reader:
                head = reader.readline()
                if head.endswith(b"\n"):
                    self._end = len(head)
                    self._index(reader)
                    if not self._is_ours(head):
                        self._end = 0
        stream.truncate(self._end)
        if self._end == 0:
            self._write(msgspec.json.encode(_Header("partial", self.plan)) + b"\n")

    def _index(self, reader: IO[bytes]) -> None:
        size = os.fstat(reader.fileno()).st_size
        pieces: list[tuple[int, int]] = []
        while frame := _read_frame(reader, size):
            position = reader.tell()
            pieces.append((position - frame.size - 1, frame.size))
            if frame.last:
                self._spans[frame.key], pieces, self._end = pieces, [], position
                if frame.note is not None:
                    self.notes[frame.key] = frame.note

    def _is_ours(self, head: bytes) -> bool:
        """Whether the file has this plan. Another plan is refused, unless nothing was done for it."""
        try:
            plan = msgspec.json.decode(head, type=_Header).plan
        except (msgspec.DecodeError, UnicodeDecodeError):
            refuse_other_plan(self.path)
        if plan != self.plan and self._spans:
            refuse_other_plan(self.path)
        return plan == self.plan

    def __enter__(self) -> ResumableWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None and not self._spans:
            self.discard()  # nothing was done
        elif self._stream is not None:
            self._stream.close()

    def __contains__(self, key: Key) -> bool:
        return key in self._spans

    def __len__(self) -> int:
        return len(self._spans)

    def __iter__(self) -> Iterator[Key]:
        """The keys of the records, in the order in which they were added."""
        return iter(self._spans)

    def __getitem__(self, key: Key) -> bytes:
        return b"".join(self.blocks(key))

    def blocks(self, key: Key) -> Iterator[bytes]:
        """The bytes of a record, piece by piece."""
        for position, size in self._spans[key]:
            yield self._read(position, size)

    def _read(self, position: int, size: int) -> bytes:
        assert self._stream is not None
        self._stream.seek(position)
        content = bytearray()
        while len(content) < size:
            block = self._stream.read(size - len(content))
            if not block:
                raise BadFile(str(self.path), [Fault("", "was shortened by another process.", "Start anew.")])
            content += block
        return bytes(content)

    def add(self, key: Key, record: bytes | Iterable[bytes], note: Any = None) -> None:
        """Keep one more record, whole or in blocks; if the blocks end in an error, nothing of it is kept.

        `note` is encoded after the last block was taken, so a list may be filled meanwhile.
        """
        begin, pieces = self._end, []
        try:
            if isinstance(record, bytes):
                pieces.append(self._append(_Frame(key, len(record), True, note), record))
            else:
                pieces += [self._append(_Frame(key, len(block), False), block) for block in _regrouped(record)]
                pieces.append(self._append(_Frame(key, 0, True, note), b""))
        except BaseException:
            if self._stream is not None:
                self._stream.truncate(begin)
            self._end = begin
            raise
        self._spans[key] = pieces
        if note is not None:
            self.notes[key] = msgspec.json.decode(msgspec.json.encode(note))
        if self._stream is not None and time.monotonic() - self._synced > SYNC_SECONDS:
            os.fsync(self._stream.fileno())
            self._synced = time.monotonic()

    def _append(self, frame: _Frame, content: bytes) -> tuple[int, int]:
        """Write a frame; where its content begins, and its size."""
        self._write(_encode_frame(frame, content))
        return self._end - len(content) - 1, len(content)

    def _write(self, content: bytes) -> None:
        assert self._stream is not None
        left = memoryview(content)
        try:
            while left:
                left = left[self._stream.write(left) or 0 :]
        except OSError as error:
            raise _unwritable(self.path, error) from None
        self._end += len(content)

    def finish(
        self,
        *,
        head: bytes = b"",
        tail: bytes = b"",
        provenance: Provenance | None = None,
        summary: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the result, atomically and durably, and remove the unfinished work.

        With `provenance`, a provenance file with the plan and the summary is written beside the result.
        """
        with atomic_write(self.result) as stream:
            stream.write(head)
            for key in sorted(self._spans):
                stream.writelines(self.blocks(key))
            stream.write(tail)
        if provenance is not None:
            write_sidecar(self.result, provenance, plan=self.plan, summary=summary)
        self.discard()

    def discard(self) -> None:
        """Remove the unfinished work, because its result was written or nothing of it is wanted."""
        if self._stream is None:
            return
        _sync_folder(self.path.parent)
        self.path.unlink(missing_ok=True)
        self._stream.close()
        self._stream = None


def _recorded_plan(result: Path) -> str:
    """The plan a finished file was made by; empty if it does not say."""
    try:
        sidecar = read_sidecar(result)
        return read_header(result).plan if sidecar is None else sidecar.plan
    except BadFile:
        return ""


def _open_locked(path: Path) -> FileIO:
    """The file, for this process alone."""
    while True:
        stream = open(path, "a+b", buffering=0)  # noqa: SIM115
        try:
            _lock(stream, path)
            # Whoever held the lock before may have finished and removed the file meanwhile.
            if path.exists() and os.path.samestat(os.fstat(stream.fileno()), path.stat()):
                return stream
        except BaseException:
            stream.close()
            raise
        stream.close()


def _lock(stream: FileIO, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # this system has no such locks
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise BadArgument(
            f"{path} is being written by another process. Wait for it, or write to another file."
        ) from None


def _encode_frame(frame: _Frame, content: bytes) -> bytes:
    described = msgspec.json.encode(frame)
    return b"%08x %b\n%b\n" % (zlib.crc32(content, zlib.crc32(described)), described, content)


def _read_frame(reader: IO[bytes], end: int) -> _Frame | None:
    """The next frame of a file of `end` bytes, its content passed over; None if it is not whole."""
    line = reader.readline(LONGEST_LINE)
    try:
        frame = msgspec.json.decode(line[9:], type=_Frame)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if not 0 <= frame.size < end - reader.tell():
        return None
    checksum, left = zlib.crc32(line[9:-1]), frame.size
    while left and (block := reader.read(min(BLOCK, left))):
        checksum, left = zlib.crc32(block, checksum), left - len(block)
    return frame if reader.read(1) == b"\n" and line[:9] == b"%08x " % checksum else None


def _regrouped(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in blocks of about a mebibyte."""
    gathered, size = [], 0
    for block in blocks:
        gathered.append(block)
        size += len(block)
        if size >= BLOCK:
            yield b"".join(gathered)
            gathered, size = [], 0
    if gathered:
        yield b"".join(gathered)


def _sync_folder(folder: Path) -> None:
    """Make sure that a file's new name survives a failure of the machine."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # where folders cannot be opened
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


def _unwritable(path: Path, error: OSError) -> BadFile:
    problem = f"cannot be written ({error.strerror or error})."
    return BadFile(str(path), [Fault("", problem, "Check the folder, its permissions and the space left.")])
