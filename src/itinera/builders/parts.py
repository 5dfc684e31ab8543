"""Long work done part by part, so that what was interrupted can go on where it stopped.

Each part is a file, whole or not there; when the last is done they become the result and vanish.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from itinera.errors import BadArgument


class Parts:
    """The folder of parts beside a result that is being made from one plan."""

    def __init__(self, result: Path, plan: str, *, resume: bool) -> None:
        """`plan` names everything the result depends on; parts of another plan are never mixed in."""
        self.folder = result.with_name(f"{result.name}.parts")
        token = hashlib.blake2b(plan.encode(), digest_size=16).hexdigest()
        note = self.folder / "plan"
        if self.folder.exists() and resume and note.exists() and note.read_text() != token:
            raise BadArgument(
                f"{self.folder} holds parts of another build (other inputs, options or version). "
                "Build without --resume to start over."
            )
        if self.folder.exists() and not (resume and note.exists()):
            shutil.rmtree(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        note.write_text(token)

    def made(self, number: int, make: Callable[[], Iterable[bytes]]) -> Path:
        """Part `number`, a file of lines; made now unless it was made before."""
        part = self.folder / f"{number:05}"
        if not part.exists():
            draft = part.with_suffix(".draft")
            with draft.open("wb") as stream:
                stream.writelines(line + b"\n" for line in make())
            draft.replace(part)
        return part

    def lines(self, parts: Iterable[Path]) -> Iterator[bytes]:
        """The lines of the parts, one part after the other."""
        for part in parts:
            with part.open("rb") as stream:
                for line in stream:
                    yield line.rstrip(b"\n")

    def remove(self) -> None:
        shutil.rmtree(self.folder)
