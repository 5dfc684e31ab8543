"""One resumable writer for all long work: runs, studies, builds, fastest times. Training has the same lock.

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

The plan of a finished file is found in its native header (`Header.plan`) or, for the format of another project, in its
provenance file: pass `provenance` to `finish`. Work whose result is written by other means (several files, a format
with its own writer) keeps its records here, writes the result with `write_sidecar(..., plan=work.plan)`, then calls
`discard`.

Until it is finished the work lies in OUT.partial: a header with the plan, then records, each with a digest that
includes the digest before it. Where the file is cut off, filled with zeros or otherwise changed, the records before
that are used again, the rest is discarded, and a message says how much. Records that are older than a second, and all
once the writer is closed, survive a failure of the machine; the result is on the disk before the work is removed. A
lock, which the system releases however a process ends, keeps other processes out.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NoReturn, TypeAlias

import msgspec

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats.native import read_header
from itinera.formats.provenance import read_sidecar, write_sidecar
from itinera.formats.writing import atomic_write, make_folder, sync_folder
from itinera.records import Provenance
from itinera.records.shards import PartPlan, Shard

SYNC_SECONDS = 1.0  # records older than this survive a failure of the machine; all survive one of the process
BLOCK = 1 << 20  # bytes of a frame when a record comes in blocks
LONGEST_LINE = 1 << 20  # bytes of a frame's description, its note included
DIGEST_SIZE = 16  # bytes of a frame's digest
HEADER_START = b' {"itinera":"partial","plan":"'  # after its digest
MAX_CHANGED = 4  # bytes of a header of this plan that may be changed, besides zeroed ones, until it counts as another's

Key: TypeAlias = int | str
_log = logging.getLogger("itinera")


class _Header(msgspec.Struct):
    itinera: str  # "partial"
    plan: str


class _Frame(msgspec.Struct, array_like=True):
    """A record, or a piece of one. On disk: digest, space, this as JSON, newline, bytes, newline.

    The digest is that of the digest before it, the JSON and the bytes, so that no frame of another file fits.
    """

    key: Key
    size: int  # bytes
    last: bool = True  # whether the record ends here
    note: Any = None


def plan_fingerprint(*parts: object) -> str:
    """The fingerprint of everything that decides a result: equal if the parts print alike."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def shard_fingerprint(plan: str, shard: Shard | None) -> str:
    """The fingerprint of the work of a shard; that of the whole without one."""
    return plan if shard is None else plan_fingerprint(plan, str(shard))


def finish_part(part: PartPlan | None, work: ResumableWriter) -> PartPlan | None:
    """What a part states, with the digest of its records; None for the whole."""
    return None if part is None else replace(part, digest=work.digest())


def refuse_other_plan(path: Path) -> NoReturn:
    """Raise the error for unfinished work of another plan."""
    raise BadArgument(
        f"{path} belongs to another run: a different agent, other inputs or options, or another version of itinera. "
        "Write to another file, or start anew with --overwrite (overwrite=True)."
    )


class ResumableWriter:
    """Records of unfinished work beside the file they will be; see the module for its use.

    With `update` the work adds to an existing result, whatever its plan: it neither is finished nor refused for it.
    """

    def __init__(
        self, result: str | os.PathLike[str], plan: str, *, overwrite: bool = False, update: bool = False
    ) -> None:
        self.result = Path(result)
        self.path = self.result.with_name(f"{self.result.name}.partial")
        self.plan = plan
        self.finished = False
        self.notes: dict[Key, Any] = {}  # by key, for records added with one
        self._spans: dict[Key, list[tuple[int, int]]] = {}  # by key: position and size of its pieces
        self._end = 0
        self._digest = b""  # of the last frame
        self._synced = time.monotonic()
        self._stream: FileIO | None = None
        protects = not overwrite and not update  # an existing result
        if protects and not self.path.exists() and self.result.exists():
            self._require_same_result()
        else:
            self._open(overwrite, protects)

    def _require_same_result(self) -> None:
        """The existing result is that of this plan, or else it is refused."""
        if _recorded_plan(self.result) != self.plan:
            raise BadArgument(
                f"{self.result} exists already and comes from another run. "
                "Write to another file, or replace it with --overwrite (overwrite=True)."
            )
        self.finished = True
        _log.info("%s is complete already, from the same run; --overwrite makes it again.", self.result)

    def _open(self, overwrite: bool, protects: bool) -> None:
        self._stream = open_locked(self.path)
        try:
            resumes = not overwrite and self._load()
            if protects and not resumes and self.result.exists():
                self.discard()  # there was no work of this plan, and the result may be of another
                self._require_same_result()
                return
            self._stream.truncate(self._end)
            if not resumes:
                self._write(_encode_header(self.plan))
                self._digest = _header_digest(self.plan)
                self._sync()
                sync_folder(self.path.parent)
        except BaseException:
            if self._stream is not None:
                self._stream.close()
            raise

    def _load(self) -> bool:
        """Index the whole records if the file has this plan. Another is refused, unless nothing was done for it."""
        expected = _encode_header(self.plan)
        with self.path.open("rb") as reader:
            size = os.fstat(reader.fileno()).st_size
            head = reader.readline(LONGEST_LINE)
            reader.seek(0)
            start = reader.read(len(expected))
            if start == expected:
                self._end, self._digest = len(start), _header_digest(self.plan)
                self._index(reader, size)
        is_header_only = size == len(head) and _is_header(head)
        if not is_header_only and not _is_damaged(start, expected):
            refuse_other_plan(self.path)
        if size > self._end and not is_header_only:
            kept = f"{len(self)} record{'' if len(self) == 1 else 's'} before that"
            _log.warning(
                "%s: the last %d of %d bytes are incomplete or damaged and are discarded; %s can be used.",
                *(self.path, size - self._end, size, kept if len(self) else "nothing"),
            )
        return start == expected

    def _index(self, reader: IO[bytes], size: int) -> None:
        pieces: list[tuple[int, int]] = []
        digest = self._digest
        while found := _read_frame(reader, size, digest):
            frame, digest = found
            position = reader.tell()
            pieces.append((position - frame.size - 1, frame.size))
            if frame.last:
                self._spans[frame.key], pieces, self._end, self._digest = pieces, [], position, digest
                self.notes.pop(frame.key, None)
                if frame.note is not None:
                    self.notes[frame.key] = frame.note

    def __enter__(self) -> ResumableWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None and not self._spans:
            self.discard()  # nothing was done
        elif self._stream is not None:
            try:
                self._sync()
            finally:
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
        begin, digest, pieces = self._end, self._digest, []
        try:
            if isinstance(record, bytes):
                pieces.append(self._append(_Frame(key, len(record), True, note), record))
            else:
                pieces += [self._append(_Frame(key, len(block), False), block) for block in _regrouped(record)]
                pieces.append(self._append(_Frame(key, 0, True, note), b""))
        except BaseException:
            if self._stream is not None:
                self._stream.truncate(begin)
            self._end, self._digest = begin, digest
            raise
        self._spans[key] = pieces
        if note is not None:
            self.notes[key] = msgspec.json.decode(msgspec.json.encode(note))
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self._sync()

    def _append(self, frame: _Frame, content: bytes) -> tuple[int, int]:
        """Write a frame; where its content begins, and its size."""
        described = msgspec.json.encode(frame)
        digest = _start_digest(self._digest, described)
        digest.update(content)
        self._write(b"%b %b\n%b\n" % (digest.hexdigest().encode(), described, content))
        self._digest = digest.digest()
        return self._end - len(content) - 1, len(content)

    def _sync(self) -> None:
        assert self._stream is not None
        try:
            os.fsync(self._stream.fileno())
        except OSError as error:
            raise _unwritable(self.path, error) from None
        self._synced = time.monotonic()

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
        shard: PartPlan | None = None,
        first: int | None = None,
    ) -> None:
        """Write the result, atomically and durably, and remove the unfinished work.

        With `provenance`, a provenance file with the plan and the summary is written beside the result, and what the
        result states if it is a part. `first` keeps only so many records, in the order of their keys.
        """
        with atomic_write(self.result) as stream:
            stream.write(head)
            for key in sorted(self._spans)[:first]:
                stream.writelines(self.blocks(key))
            stream.write(tail)
        if provenance is not None:
            write_sidecar(self.result, provenance, plan=self.plan, summary=summary, shard=shard)
        self.discard()

    def digest(self) -> str:
        """The digest of all records in the order of their keys."""
        state = hashlib.blake2b(digest_size=DIGEST_SIZE)
        for key in sorted(self._spans):
            for block in self.blocks(key):
                state.update(block)
        return state.hexdigest()

    def discard(self) -> None:
        """Remove the unfinished work, because its result was written or nothing of it is wanted."""
        # Forgotten first, so that an interruption here is not taken for one of the work.
        stream, self._stream = self._stream, None
        if stream is not None:
            with stream:
                self.path.unlink(missing_ok=True)


def _recorded_plan(result: Path) -> str:
    """The plan a finished file was made by; empty if it does not say."""
    try:
        sidecar = read_sidecar(result)
        return read_header(result).plan if sidecar is None else sidecar.plan
    except BadFile:
        return ""


def open_locked(path: Path) -> FileIO:
    """A file, opened for appending by this process alone; raises BadArgument if another process has it."""
    try:
        make_folder(path.parent)
        while True:
            stream = open(path, "a+b", buffering=0)  # noqa: SIM115
            try:
                _lock(stream, path)
                # The previous holder of the lock may have finished and removed the file meanwhile.
                if path.exists() and os.path.samestat(os.fstat(stream.fileno()), path.stat()):
                    return stream
            except BaseException:
                stream.close()
                raise
            stream.close()
    except OSError as error:
        raise _unwritable(path, error) from None


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Keep other processes from writing a file that is replaced again and again: the lock is PATH.lock meanwhile."""
    lock = path.with_name(f"{path.name}.lock")
    with open_locked(lock):
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _lock(stream: FileIO, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # this system has no such locks
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BadArgument(
            f"{path} is being written by another process. Wait for it, or write to another file."
        ) from None
    except OSError:  # nor has this file system
        return


def _encode_header(plan: str) -> bytes:
    return b"%b %b\n" % (_header_digest(plan).hex().encode(), msgspec.json.encode(_Header("partial", plan)))


def _header_digest(plan: str) -> bytes:
    return _start_digest(b"", msgspec.json.encode(_Header("partial", plan))).digest()


def _is_damaged(start: bytes, expected: bytes) -> bool:
    """Whether a file begins with the header of this plan, cut off, zeroed in places, or changed in a few bytes."""
    changed = sum(found not in (0, byte) for found, byte in zip(start, expected, strict=False))
    return changed <= min(MAX_CHANGED, len(start) // 8)


def _is_header(head: bytes) -> bool:
    """Whether these bytes are a header of any plan, perhaps cut off."""
    digest, described = head[: 2 * DIGEST_SIZE], head[2 * DIGEST_SIZE :]
    begins_well = not digest.strip(b"0123456789abcdef") and HEADER_START.startswith(described[: len(HEADER_START)])
    return begins_well and b"\0" not in head


def _start_digest(before: bytes, described: bytes) -> hashlib.blake2b:
    return hashlib.blake2b(before + described + b"\n", digest_size=DIGEST_SIZE)


def _read_frame(reader: IO[bytes], end: int, before: bytes) -> tuple[_Frame, bytes] | None:
    """The next frame of a file of `end` bytes and its digest, its content passed over; None if it is not whole.

    `before` is the digest of the frame before it.
    """
    line = reader.readline(LONGEST_LINE)
    written, _, described = line.partition(b" ")
    try:
        frame = msgspec.json.decode(described, type=_Frame)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if not 0 <= frame.size < end - reader.tell():
        return None
    digest, left = _start_digest(before, described.removesuffix(b"\n")), frame.size
    while left and (block := reader.read(min(BLOCK, left))):
        digest.update(block)
        left -= len(block)
    is_whole = reader.read(1) == b"\n" and written == digest.hexdigest().encode()
    return (frame, digest.digest()) if is_whole else None


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


def _unwritable(path: Path, error: OSError) -> BadFile:
    problem = f"cannot be written ({error.strerror or error})."
    return BadFile(str(path), [Fault("", problem, "Check the folder, its permissions and the space left.")])
