"""Writing of files: atomic and durable, in folders and archives, under names that lead nowhere else."""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import os
import re
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import IO

from itinera.errors import BadArgument, BadFile, Fault


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """A stream that becomes `path` when the block ends well, and vanishes when it does not.

    The content is on the disk before it has the name, and the name is when the block has ended. What an earlier write
    of this file left behind because its process was killed is removed. A name that ends in .gz is compressed (without
    a time stamp, so equal content gives equal bytes). A symbolic link is followed. A device or pipe, such as
    /dev/stdout, is written directly, and never replaced by a file.
    """
    try:
        target = Path(os.path.realpath(path))
        with _open_pipe(target) if _is_pipe(target) else _replacing(target) as raw:
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
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    """A draft beside `path` that takes its place, on disk, when the block ends well."""
    make_folder(path.parent)
    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "it is a folder" if path.is_dir() else "it is a device")
    handle, draft = _open_draft(path)
    with os.fdopen(handle, "wb") as raw:
        try:
            yield raw
            raw.flush()
            draft.chmod(0o666 & ~_umask())
            os.fsync(raw.fileno())
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    sync_folder(path.parent)


def _open_draft(path: Path) -> tuple[int, Path]:
    """A new file beside `path`, locked as long as it is open.

    Its name is always the same, so that the next write removes a draft whose process was killed.
    """
    # The name stays within what a file system allows, however long that of the file is.
    name = path.name if len(os.fsencode(path.name)) <= 240 else path.name[:40]
    draft = path.with_name(f".{name}.part")
    for _ in range(3):
        try:
            handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            if not _remove_stale(draft):
                break
            continue
        if _lock(handle, otherwise=True) and draft.exists():
            return handle, draft
        os.close(handle)  # another process took it for a stale one before it was locked
    # Another process is writing the same file now: the last one wins.
    handle, found = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
    return handle, Path(found)


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


def is_draft(path: Path) -> bool:
    """Whether a file is a draft of `atomic_write`, by its name."""
    return path.name.startswith(".") and path.suffix == ".part"


def _remove_stale(draft: Path) -> bool:
    """Remove a draft unless a process has it open; whether it was removed."""
    with suppress(OSError):  # of another user, or gone meanwhile
        handle = os.open(draft, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            if _lock(handle, otherwise=False):
                draft.unlink()
                return True
        finally:
            os.close(handle)
    return not draft.exists()


def _lock(handle: int, *, otherwise: bool) -> bool:
    """Whether an open file could be locked, which lasts until it is closed or the process ends.

    `otherwise` is the answer where there are no locks.
    """
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return otherwise
    return True


def make_folder(folder: Path) -> None:
    """Create a folder with its parents, unless it exists; new names survive a failure of the machine."""
    created = list(takewhile(lambda path: not path.exists(), (folder, *folder.parents)))
    folder.mkdir(parents=True, exist_ok=True)
    for path in created:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make sure that new names in a folder survive a failure of the machine."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # where folders cannot be opened
        return
    try:
        with suppress(OSError):  # where they cannot be synchronized
            os.fsync(handle)
    finally:
        os.close(handle)


def _unwritable(path: Path, error: OSError) -> BadFile:
    problem = f"cannot be written ({error.strerror or error})."
    return BadFile(str(path), [Fault("", problem, "Check the name, the folder's permissions and the space left.")])


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_LONGEST_NAME = 200  # bytes; file systems allow 255, and a draft's name is longer than the file's


def check_file_name(name: str) -> str:
    """The name, if a file of any system can have it; raises BadArgument if it leads elsewhere or cannot be written.

    For names made from ids of worlds and episodes, which come from files of others: `../../x` is an id, too.

    >>> check_file_name("17DRP5sb8fy_connectivity.json")
    '17DRP5sb8fy_connectivity.json'
    """
    problem = ""
    if name in ("", ".", "..") or name.startswith(".") or re.search(r'[/\\<>:"|?*]', name):
        problem = "is not the plain name of a file"
    elif not name.isprintable():  # also NUL, line breaks and half a surrogate pair
        problem = "contains characters that are not printable"
    elif name.endswith((".", " ")) or _RESERVED.fullmatch(name):
        problem = "is reserved by Windows"
    elif len(name.encode()) > _LONGEST_NAME:
        problem = f"is longer than {_LONGEST_NAME} bytes"
    if problem:
        shown = repr(name if len(name) <= 80 else f"{name[:80]}…")
        raise BadArgument(f"{shown} cannot be the name of a file: it {problem}. Rename the world or episode.")
    return name


def write_members(path: Path, content: Mapping[str, bytes]) -> None:
    """Files into a folder, or into one .zip or .tar(.gz, .xz) archive if `path` is named so."""
    for member in content:
        check_file_name(member)
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
