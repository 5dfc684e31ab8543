"""A file that grows part by part, so that long work that was interrupted goes on where it stopped.

The draft lies beside its result with a journal of the parts that are whole; the result appears when all are.
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec

from itinera.errors import BadArgument


class _Part(msgspec.Struct):
    end: int  # bytes of the draft up to and with this part
    counts: tuple[int, ...]  # whatever the maker counts


class _Journal(msgspec.Struct):
    plan: str
    parts: list[_Part] = []


class Draft:
    """What is there of a result that is being made by one plan."""

    def __init__(self, result: Path, plan: str, *, resume: bool) -> None:
        """`plan` names everything the result depends on; parts of another plan are never mixed in."""
        self.result = result
        self.path = result.with_name(f"{result.name}.draft")
        self._notes = result.with_name(f"{result.name}.draft.journal")
        token = hashlib.blake2b(plan.encode(), digest_size=16).hexdigest()
        self._journal = _Journal(token)
        if resume and self.path.exists() and self._notes.exists():
            found = msgspec.json.decode(self._notes.read_bytes(), type=_Journal)
            if found.plan != token:
                raise BadArgument(
                    f"{self.path} was begun from other inputs, options or another version. "
                    "Build without --resume to start over."
                )
            self._journal = found
        result.parent.mkdir(parents=True, exist_ok=True)
        if not self._journal.parts:
            self.path.write_bytes(b"")

    @property
    def size(self) -> int:
        """Bytes of all whole parts."""
        return self._journal.parts[-1].end if self._journal.parts else 0

    @property
    def counts(self) -> list[tuple[int, ...]]:
        """What was counted of each part that is there."""
        return [part.counts for part in self._journal.parts]

    def add(self, blocks: Iterable[bytes], counts: Iterable[int] = ()) -> None:
        """One more part. `counts` is looked at once the blocks are written, so it may be filled meanwhile."""
        with self.path.open("r+b") as stream:
            stream.truncate(self.size)  # what was written of a part that broke off
            stream.seek(self.size)
            stream.writelines(blocks)
            end = stream.tell()
        self._journal.parts.append(_Part(end, tuple(counts)))
        fresh = self._notes.with_suffix(".new")
        fresh.write_bytes(msgspec.json.encode(self._journal))
        fresh.replace(self._notes)

    def lines(self) -> list[bytes]:
        """The lines written so far."""
        return self.path.read_bytes()[: self.size].splitlines()

    def finish(self) -> None:
        """The draft becomes the result, compressed if it is named .gz."""
        if self.result.suffix == ".gz":
            packed = self.path.with_suffix(".packed")
            with (
                self.path.open("rb") as plain,
                packed.open("wb") as raw,
                gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as stream,
            ):
                shutil.copyfileobj(plain, stream, 1 << 20)
            packed.replace(self.result)
            self.path.unlink()
        else:
            self.path.replace(self.result)
        self._notes.unlink(missing_ok=True)

    def remove(self) -> None:
        """Forget the draft, once its lines have served."""
        self.path.unlink(missing_ok=True)
        self._notes.unlink(missing_ok=True)
