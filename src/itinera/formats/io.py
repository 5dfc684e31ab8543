"""Reading of bytes without trust: compressed files with limits, archives, and faults in bounded number.

Limits of every reader: a document has at most `LARGEST` bytes after decompression and no line of more than
`LONGEST_LINE`, a compressed one grows at most `HIGHEST_RATIO`-fold, an archive has at most `MOST_MEMBERS` files. Only
regular files are read: a pipe, socket or device may never end.
"""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self, cast

from itinera.errors import BadArgument, BadFile, Fault

LARGEST = 1 << 30  # bytes of one document after decompression; the largest public one has 0.2 GiB
# Real files shrink at most 60-fold. A stream that grows past this before we believe it is a bomb.
HIGHEST_RATIO = 250
BELIEVED = 16 << 20
LONGEST_LINE = 32 << 20  # bytes of a line of text
MOST_MEMBERS = 1 << 20  # files of an archive; RxR's pose traces, the largest public one, are 0.3 M
_BLOCK = 1 << 20


def read_bytes(path: Path, *, limit: int = LARGEST) -> bytes:
    """The content of a file, decompressed if it is gzip or xz, whatever its name."""
    with open_stream(path, limit=limit) as stream:
        return stream.read()


@contextmanager
def open_stream(path: Path, *, limit: int = LARGEST) -> Iterator[IO[bytes]]:
    """The content of a file as a stream, decompressed if need be; faults of reading become BadFile."""
    source = str(path)
    with open_file(path) as raw:
        try:
            opened = _decompressed(raw)
            yield _Limited(opened, limit, source, packed=None if opened is raw else raw.tell)  # type: ignore[misc]
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
            problem = f"the compressed data is cut short or damaged ({error})."
            raise BadFile(source, [Fault("", problem, "Copy or download the file again.")]) from None
        except OSError as error:
            raise BadFile(source, [Fault("", f"cannot be read ({error.strerror or error}).")]) from None


def open_file(path: Path, *, buffering: int = -1) -> io.BufferedReader:
    """A regular file, opened for reading; raises BadFile for anything else, without waiting for a pipe's other end."""
    source = str(path)
    try:
        kind = path.stat().st_mode
        if stat.S_ISREG(kind) or stat.S_ISDIR(kind):  # opening a folder says what it is
            opened = open(path, "rb", buffering, opener=_open_without_waiting)  # noqa: SIM115  # the caller closes it
            raw = cast(io.BufferedReader, opened)
            if stat.S_ISREG(os.fstat(raw.fileno()).st_mode):
                return raw
            raw.close()
    except FileNotFoundError:
        raise BadFile(source, [Fault("", "there is no such file.", "Check the path.")]) from None
    except IsADirectoryError:
        raise BadFile(source, [Fault("", "is a folder where a file is expected.")]) from None
    except OSError as error:
        raise BadFile(source, [Fault("", f"cannot be read ({error.strerror or error}).")]) from None
    except ValueError:  # a NUL or half a surrogate pair
        raise BadFile(repr(source), [Fault("", "cannot be the name of a file.", "Check the path.")]) from None
    problem = "is a pipe, socket or device, which may never end."
    raise BadFile(source, [Fault("", problem, "Write its content to a file first.")])


def _open_without_waiting(name: str, flags: int) -> int:
    # In case a pipe took the file's place after its kind was looked up.
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def _decompressed(raw: IO[bytes]) -> IO[bytes]:
    head = raw.read(1 << 10)
    raw.seek(0)
    if head[:2] == b"\x1f\x8b":
        return cast(IO[bytes], gzip.open(raw))
    if head[:6] == b"\xfd7zXZ\x00":
        # A header of a few bytes may ask for a dictionary of 4 GiB.
        lzma.LZMADecompressor(memlimit=_XZ_MEMORY).decompress(head, max_length=1)
        return lzma.open(raw)
    return raw


_XZ_MEMORY = 256 << 20  # bytes; `xz -9` needs 65 MiB


class _Limited(io.RawIOBase):
    """A stream that refuses to grow past its limits, so that no file can fill the memory."""

    def __init__(self, inner: IO[bytes], limit: int, source: str, *, packed: Callable[[], int] | None) -> None:
        self._inner, self._source, self._seen, self._limit = inner, source, 0, limit
        self._packed = packed  # compressed bytes used so far; None for plain content

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size is not None and size >= 0:
            return self._counted(self._inner.read(size))
        if self._packed is None:  # plain: one byte past the limit is enough to know
            return self._counted(self._inner.read(self._limit - self._seen + 1))
        blocks = []
        while block := self._counted(self._inner.read(_BLOCK)):
            blocks.append(block)
        return b"".join(blocks)

    def readline(self, size: int | None = -1) -> bytes:
        if size is not None and size >= 0:
            return self._counted(self._inner.readline(size))
        line = self._counted(self._inner.readline(LONGEST_LINE + 1))
        if len(line) > LONGEST_LINE:
            problem = f"has a line of more than {LONGEST_LINE >> 20} MiB, which no file of this kind has."
            raise BadFile(self._source, [Fault("", problem, "Check where the file comes from.")])
        return line

    def _counted(self, block: bytes) -> bytes:
        self._seen += len(block)
        limit = self._limit
        if self._packed is not None and self._seen > BELIEVED:
            limit = min(limit, max(BELIEVED, self._packed() * HIGHEST_RATIO))
        if self._seen > limit:
            problem = f"holds more than {limit >> 20} MiB once unpacked, which no file of this kind does."
            raise BadFile(self._source, [Fault("", problem, "Check where the file comes from.")])
        return block


class FaultList(list[Fault]):
    """The faults of a file found so far. One more than `max_length` raises BadFile at once.

    So a reader spends neither time nor memory on a file with a fault in each of a million lines.
    """

    max_length = 1000

    def __init__(self, source: str, faults: Iterable[Fault] = ()) -> None:
        super().__init__()
        self.source = source
        self.extend(faults)

    def append(self, fault: Fault) -> None:
        if len(self) == self.max_length:
            raise BadFile(self.source, self, complete=False)
        super().append(fault)

    def extend(self, faults: Iterable[Fault]) -> None:
        for fault in faults:
            self.append(fault)

    def __iadd__(self, faults: Iterable[Fault]) -> Self:  # type: ignore[override,misc]
        self.extend(faults)
        return self

    def raise_any(self) -> None:
        """Raise BadFile if there are faults."""
        if self:
            raise BadFile(self.source, self)


@dataclass(frozen=True)
class Member:
    """One file inside a folder or archive: its plain name and a way to read it."""

    name: str
    read: Callable[[], bytes]


def members(path: Path, suffix: str, *, limit: int = LARGEST) -> dict[str, Member]:
    """The files ending in `suffix` of a folder, .zip or .tar (.gz, .xz), by name without folders.

    Archives are read where they lie; nothing is unpacked to disk, so no member can write outside.
    """
    if os.path.isdir(path):  # unlike Path.is_dir, False for a name that is too long
        files = sorted(p for p in path.rglob(f"*{suffix}") if p.is_file())
        return {p.name: Member(p.name, lambda p=p: read_bytes(p, limit=limit)) for p in files}  # type: ignore[misc]
    with open_file(path) as raw:
        is_zip = zipfile.is_zipfile(raw)
    if is_zip:
        return _zip_members(path, suffix, limit)
    try:
        return _tar_members(path, suffix, limit)
    except _DAMAGED as error:
        problem = f"is neither a folder nor a whole .zip or .tar archive ({error})."
        raise BadFile(str(path), [Fault("", problem, "Give the folder, or copy the archive again.")]) from None


# What the parsers of archives raise. Encrypted members are a RuntimeError, unknown methods a NotImplementedError;
# numbers and names in headers that are none, a ValueError, IndexError or struct.error.
_DAMAGED = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    RuntimeError,
    ValueError,
    IndexError,
    OverflowError,
    struct.error,
    OSError,
)


def _zip_members(path: Path, suffix: str, limit: int) -> dict[str, Member]:
    def read(entry: zipfile.ZipInfo) -> bytes:
        try:
            with zipfile.ZipFile(path) as archive, archive.open(entry) as stream:
                name = f"{path}!{entry.filename}"
                return _Limited(stream, limit, name, packed=lambda: entry.compress_size).read()
        except _DAMAGED as error:
            raise BadFile(str(path), [Fault(entry.filename, f"is damaged ({error}).")]) from None

    try:
        with zipfile.ZipFile(path) as archive:
            _check_count(path, len(archive.infolist()))
            entries = [entry for entry in archive.infolist() if entry.filename.endswith(suffix)]
    except _DAMAGED as error:
        raise BadFile(str(path), [Fault("", f"is a damaged .zip archive ({error}).")]) from None
    named = {Path(entry.filename).name: entry for entry in entries}
    return {name: Member(name, lambda entry=entry: read(entry)) for name, entry in named.items()}  # type: ignore[misc]


def _check_count(path: Path, count: int) -> None:
    if count > MOST_MEMBERS:
        problem = f"contains more than {MOST_MEMBERS:,} files."
        raise BadFile(str(path), [Fault("", problem, "Check where the archive comes from.")])


def _open_tar(stream: IO[bytes]) -> tarfile.TarFile:
    return tarfile.open(fileobj=stream, mode="r|", bufsize=_BLOCK >> 2)  # blocks of 10 KiB take longer than they hold


def _tar_members(path: Path, suffix: str, limit: int) -> dict[str, Member]:
    # A compressed tar cannot be entered in the middle, so what is wanted is read in one pass and kept.
    kept: dict[str, bytes] = {}
    room = LARGEST  # bytes of all members together
    with open_stream(path, limit=4 * limit) as stream, _open_tar(stream) as archive:
        for count, entry in enumerate(archive, start=1):
            _check_count(path, count)
            archive.members = []  # type: ignore[attr-defined]  # else every header is kept in memory
            if not (entry.isfile() and entry.name.endswith(suffix)):
                continue
            # A sparse file is mostly holes that take no room in the archive, but would in memory.
            room -= entry.size
            if entry.size > limit or room < 0 or entry.issparse():
                problem = "is sparse." if entry.issparse() else f"holds more than {min(limit, LARGEST) >> 20} MiB."
                raise BadFile(str(path), [Fault(entry.name, problem, "Check where the archive comes from.")])
            content = archive.extractfile(entry)
            if content is not None:
                kept[Path(entry.name).name] = content.read()
    return {name: Member(name, lambda data=data: data) for name, data in kept.items()}  # type: ignore[misc]


def check_outputs(outputs: Iterable[object], inputs: Iterable[object] = ()) -> None:
    """Raise BadArgument if a file to write is one of those to read, or is to be written twice.

    Files are the same if they are one file on disk, by whatever name, symbolic or hard link. What is not a path is left
    out, so that arguments can be passed on as they were given.
    """
    given = (file for file in inputs if isinstance(file, (str, os.PathLike)) and os.path.exists(file))
    read = {key: file for file in given for key in _identify(file)}
    written: dict[object, object] = {}
    for file in outputs:
        if not isinstance(file, (str, os.PathLike)):
            continue
        keys = _identify(file)
        found = next((read[key] for key in keys if key in read), None)
        if found is not None:
            same = "" if str(found) == str(file) else f" (as {found})"
            raise BadArgument(f"{file} is an input of this command{same} and would be overwritten. Write another file.")
        if any(key in written for key in keys):
            raise BadArgument(f"{file} would be written twice. Give each output its own name.")
        written |= dict.fromkeys(keys, file)


def _identify(file: str | os.PathLike[str]) -> list[object]:
    """What tells a file from others: its real path and, if it exists, its number on its disk."""
    real = os.path.realpath(file)
    try:
        found = os.stat(real)
    except (OSError, ValueError):
        return [real]
    # Whatever is written to a device does not overwrite it.
    regular = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
    return [real, (found.st_dev, found.st_ino)] if regular else []
