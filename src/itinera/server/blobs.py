"""Uploaded files on disk, named by their SHA-256: written part by part, complete only when the digest is right."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from itinera.formats.writing import atomic_write, make_folder, sync_folder
from itinera.server.refusals import Conflict, NotFound, RefusedRequest, TooLarge

STALE_SECONDS = 24 * 60 * 60  # after which an unfinished upload is removed
MAX_UNFINISHED = 8  # uploads of one owner at a time
_DIGEST = re.compile("[0-9a-f]{64}")


class BlobFolder:
    """The blobs of a server. A file with its final name is complete, has the digest it is named by, and is on disk."""

    def __init__(self, folder: Path) -> None:
        self._complete = folder / "blobs"
        self._unfinished = folder / "uploads"

    def path(self, digest: str) -> Path:
        """The file of a blob, whether it exists or not."""
        if not _DIGEST.fullmatch(digest):
            raise RefusedRequest("A blob is named by its SHA-256: 64 hexadecimal digits in lower case.")
        return self._complete / digest[:2] / digest

    def size(self, digest: str) -> int | None:
        """The bytes of a complete blob; None if there is none."""
        try:
            return self.path(digest).stat().st_size
        except FileNotFoundError:
            return None

    def open(self, digest: str) -> IO[bytes]:
        """A complete blob, for reading."""
        try:
            return self.path(digest).open("rb")
        except FileNotFoundError:
            raise NotFound(f"There is no blob {digest}.") from None

    def count_received(self, digest: str, owner: str) -> int:
        """The bytes that have arrived of an owner's unfinished upload."""
        try:
            return self._part(digest, owner).stat().st_size
        except FileNotFoundError:
            return 0

    @contextmanager
    def append(self, digest: str, owner: str, *, offset: int, total: int) -> Iterator[Upload]:
        """Continue an upload at a byte; what has arrived is kept when the connection breaks.

        Raises Conflict if the offset is not where the upload stands: ask for `count_received` and continue there.
        """
        part = self._part(digest, owner)
        make_folder(part.parent)
        self._check_unfinished(part, owner)
        with open(part, "ab") as stream:
            _lock(stream)
            standing = os.fstat(stream.fileno()).st_size
            if standing != offset:
                raise Conflict(f"The upload stands at byte {standing}, not {offset}.")
            yield Upload(stream, standing, total)

    def complete(self, digest: str, owner: str) -> int:
        """Give an upload that has arrived its name, and return its size; raises Conflict if the digest is another."""
        part, final = self._part(digest, owner), self.path(digest)
        try:
            with part.open("r+b") as stream:
                _lock(stream)
                size = os.fstat(stream.fileno()).st_size
                found = hashlib.file_digest(stream, "sha256").hexdigest()
                if found != digest:
                    part.unlink()
                    raise Conflict(f"The uploaded bytes have the SHA-256 {found}, not {digest}: upload the file again.")
                os.fsync(stream.fileno())
                make_folder(final.parent)
                part.replace(final)
        except FileNotFoundError:  # a second connection was faster
            known = self.size(digest)
            if known is None:
                raise Conflict("The upload was completed or removed meanwhile: upload the file again.") from None
            return known
        sync_folder(final.parent)
        return size

    def store(self, content: bytes) -> str:
        """The digest of content of the server's own, which is a blob now."""
        digest = hashlib.sha256(content).hexdigest()
        final = self.path(digest)
        if not final.exists():
            make_folder(final.parent)
            with atomic_write(final) as stream:
                stream.write(content)
        return digest

    def remove_stale(self) -> int:
        """Remove uploads that nobody has continued for a day; the number of them."""
        removed = 0
        if self._unfinished.exists():
            for part in self._unfinished.iterdir():
                with suppress(FileNotFoundError):
                    if part.stat().st_mtime < time.time() - STALE_SECONDS:
                        part.unlink()
                        removed += 1
        return removed

    def _part(self, digest: str, owner: str) -> Path:
        self.path(digest)  # checks the name
        return self._unfinished / f"{owner}-{digest}"

    def _check_unfinished(self, part: Path, owner: str) -> None:
        others = sum(1 for one in self._unfinished.glob(f"{owner}-*") if one != part)
        if others >= MAX_UNFINISHED:
            raise RefusedRequest(f"There are {others} unfinished uploads: finish one, or wait a day.")


class Upload:
    """An upload in progress."""

    def __init__(self, stream: IO[bytes], received: int, total: int) -> None:
        self._stream, self._total = stream, total
        self.received = received

    def write(self, chunk: bytes) -> None:
        """Append bytes; raises TooLarge if there are more than the upload declared."""
        if self.received + len(chunk) > self._total:
            raise TooLarge(f"The upload declared {self._total} bytes and sends more.")
        self._stream.write(chunk)
        self.received += len(chunk)


def _lock(stream: IO[bytes]) -> None:
    """One connection at a time writes an upload; where there are no locks, the digest still decides."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Conflict("Another connection is writing this upload.") from None
