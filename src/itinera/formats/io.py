"""Reading and writing of bytes without trust: compressed files with limits, archives, atomic writes."""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import os
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from itinera.errors import BadArgument, BadFile, Fault

LARGEST = 1 << 30  # bytes of one document after decompression; the largest public one has 0.2 GiB
# Real files shrink at most 60-fold. A stream that grows past this before we believe it is a bomb.
HIGHEST_RATIO = 250
BELIEVED = 16 << 20
_BLOCK = 1 << 20


def read_bytes(path: Path, *, limit: int = LARGEST) -> bytes:
    """The content of a file, decompressed if it is gzip or xz, whatever its name."""
    with open_stream(path, limit=limit) as stream:
        return stream.read()


@contextmanager
def open_stream(path: Path, *, limit: int = LARGEST) -> Iterator[IO[bytes]]:
    """The content of a file as a stream, decompressed if need be; faults of reading become BadFile."""
    source = str(path)
    try:
        with path.open("rb") as raw:
            opened = _decompressed(raw)
            yield _Limited(opened, limit, source, packed=None if opened is raw else raw.tell)  # type: ignore[misc]
    except FileNotFoundError:
        raise BadFile(source, [Fault("", "there is no such file.", "Check the path.")]) from None
    except IsADirectoryError:
        raise BadFile(source, [Fault("", "is a folder where a file is expected.")]) from None
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        problem = f"the compressed data is cut short or damaged ({error})."
        raise BadFile(source, [Fault("", problem, "Copy or download the file again.")]) from None
    except OSError as error:
        raise BadFile(source, [Fault("", f"cannot be read ({error.strerror or error}).")]) from None


def _decompressed(raw: IO[bytes]) -> IO[bytes]:
    magic = raw.read(6)
    raw.seek(0)
    if magic[:2] == b"\x1f\x8b":
        return cast(IO[bytes], gzip.open(raw))
    if magic == b"\xfd7zXZ\x00":
        return lzma.open(raw)
    return raw


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
        return self._counted(self._inner.readline(_LONGEST_LINE if size is None or size < 0 else size))

    def _counted(self, block: bytes) -> bytes:
        self._seen += len(block)
        limit = self._limit
        if self._packed is not None and self._seen > BELIEVED:
            limit = min(limit, max(BELIEVED, self._packed() * HIGHEST_RATIO))
        if self._seen > limit:
            problem = f"holds more than {limit >> 20} MiB once unpacked, which no file of this kind does."
            raise BadFile(self._source, [Fault("", problem, "Check where the file comes from.")])
        return block


_LONGEST_LINE = 64 << 20


@dataclass(frozen=True)
class Member:
    """One file inside a folder or archive: its plain name and a way to read it."""

    name: str
    read: Callable[[], bytes]


def members(path: Path, suffix: str, *, limit: int = LARGEST) -> dict[str, Member]:
    """The files ending in `suffix` of a folder, .zip or .tar (.gz, .xz), by name without folders.

    Archives are read where they lie; nothing is unpacked to disk, so no member can write outside.
    """
    if path.is_dir():
        files = sorted(p for p in path.rglob(f"*{suffix}") if p.is_file())
        return {p.name: Member(p.name, lambda p=p: read_bytes(p, limit=limit)) for p in files}  # type: ignore[misc]
    if zipfile.is_zipfile(path):
        return _zip_members(path, suffix, limit)
    try:
        return _tar_members(path, suffix, limit)
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as error:
        problem = f"is neither a folder nor a whole .zip or .tar archive ({error})."
        raise BadFile(str(path), [Fault("", problem, "Give the folder, or copy the archive again.")]) from None


def _zip_members(path: Path, suffix: str, limit: int) -> dict[str, Member]:
    def read(entry: zipfile.ZipInfo) -> bytes:
        try:
            with zipfile.ZipFile(path) as archive, archive.open(entry) as stream:
                name = f"{path}!{entry.filename}"
                return _Limited(stream, limit, name, packed=lambda: entry.compress_size).read()
        # Encrypted members are a RuntimeError, unknown ways of packing a NotImplementedError.
        except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, OSError) as error:
            raise BadFile(str(path), [Fault(entry.filename, f"is damaged ({error}).")]) from None

    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.endswith(suffix)]
    except zipfile.BadZipFile as error:
        raise BadFile(str(path), [Fault("", f"is a damaged .zip archive ({error}).")]) from None
    named = {Path(entry.filename).name: entry for entry in entries}
    return {name: Member(name, lambda entry=entry: read(entry)) for name, entry in named.items()}  # type: ignore[misc]


def _tar_members(path: Path, suffix: str, limit: int) -> dict[str, Member]:
    # A compressed tar cannot be entered in the middle, so what is wanted is read in one pass and kept.
    kept: dict[str, bytes] = {}
    with open_stream(path, limit=4 * limit) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for entry in archive:
            if not (entry.isfile() and entry.name.endswith(suffix)):
                continue
            # A sparse file is mostly holes that take no room in the archive, but would in memory.
            if entry.size > limit or entry.issparse():
                problem = "is sparse." if entry.issparse() else f"holds more than {limit >> 20} MiB."
                raise BadFile(str(path), [Fault(entry.name, problem, "Check where the archive comes from.")])
            content = archive.extractfile(entry)
            if content is not None:
                kept[Path(entry.name).name] = content.read()
    return {name: Member(name, lambda data=data: data) for name, data in kept.items()}  # type: ignore[misc]


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """A stream that becomes `path` when the block ends well, and vanishes when it does not.

    A name that ends in .gz is compressed (without a time stamp, so equal content gives equal bytes). A symbolic link is
    followed. A device or pipe, such as /dev/stdout, is written directly, and never replaced by a file.
    """
    try:
        target = Path(os.path.realpath(path))
        with _open_pipe(target) if _is_pipe(target) else _open_draft(target) as raw:
            if path.suffix == ".gz":
                with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as stream:
                    yield stream  # type: ignore[misc]
            else:
                yield raw
    except OSError as error:
        raise _unwritable(path, error) from None
    except ValueError as error:
        if "null" not in str(error):  # as in "embedded null byte"
            raise
        raise BadFile(str(path), [Fault("", "a file name cannot contain a NUL character.")]) from None


@contextmanager
def _open_draft(path: Path) -> Iterator[IO[bytes]]:
    """A file beside `path` that takes its place, on disk, when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "it is a folder" if path.is_dir() else "it is a device")
    # The name stays within what a file system allows, however long that of the file is.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as raw:
            yield raw
            raw.flush()
            os.fsync(raw.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """The entry of a new file is on disk only once its folder is."""
    with suppress(OSError):  # of file systems that cannot
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _is_pipe(path: Path) -> bool:
    """Whether the path is a pipe, or a device that takes characters, such as a terminal or /dev/null."""
    return path.is_fifo() or path.is_char_device()


@contextmanager
def _open_pipe(path: Path) -> Iterator[IO[bytes]]:
    # A pipe that nobody reads would wait for ever; opened like this it is an error.
    handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    os.set_blocking(handle, True)
    with os.fdopen(handle, "wb") as raw:
        yield raw


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


def _unwritable(path: Path, error: OSError) -> BadFile:
    problem = f"cannot be written ({error.strerror or error})."
    return BadFile(str(path), [Fault("", problem, "Check the name, the folder's permissions and the space left.")])


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def write_members(path: Path, content: Mapping[str, bytes]) -> None:
    """Files into a folder, or into one .zip or .tar(.gz, .xz) archive if `path` is named so."""
    name = path.name
    if name.endswith(".zip"):
        with atomic_write(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, data in content.items():
                archive.writestr(zipfile.ZipInfo(member), data, zipfile.ZIP_DEFLATED)
    elif ".tar" in name:
        with _tar_stream(path) as stream, tarfile.open(fileobj=stream, mode="w") as archive:
            for member, data in content.items():
                entry = tarfile.TarInfo(member)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    else:
        for member, data in content.items():
            with atomic_write(path / member) as stream:
                stream.write(data)


@contextmanager
def _tar_stream(path: Path) -> Iterator[IO[bytes]]:
    with atomic_write(path) as stream:
        if path.suffix == ".xz":
            with lzma.open(stream, "wb") as packed:
                yield packed
        else:
            yield stream
