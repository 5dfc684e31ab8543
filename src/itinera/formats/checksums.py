"""Recorded digests of files: SHA256SUMS, as `sha256sum` writes it, and the list in a Hearth season."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from itinera.errors import BadFile, Fault
from itinera.formats.decoding import decode
from itinera.formats.hearth_season import SEASON_FILE
from itinera.formats.io import FaultList, open_file, read_bytes
from itinera.records.provenance import digest

SUMS = "SHA256SUMS"
LISTS = (SUMS, SEASON_FILE)  # names of files that list the digests of others
_LINE = re.compile(r"(?P<digest>[0-9a-fA-F]{64}) [ *](?P<name>.+)")


@dataclass(frozen=True)
class RecordedDigest:
    """The recorded digest of a file."""

    file: Path
    digest: str
    by: str  # the name of the list

    def is_right(self) -> bool:
        """Whether the file has this digest."""
        try:
            if self.by == SEASON_FILE:
                return digest(self.file) == self.digest
            with open_file(self.file) as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest() == self.digest.lower()
        except (OSError, BadFile):  # an unreadable file is not verified
            return False


def read_digests(file: Path) -> list[RecordedDigest]:
    """The digests of a list, in its order; names outside its folder are refused."""
    named = _sums(file) if file.name == SUMS else decode(read_bytes(file), _Season, str(file)).files
    astray = [name for name in named if "\0" in name or ".." in Path(name).parts or Path(name).is_absolute()]
    if astray:
        remedy = "A list may only contain files of its own folder."
        faults = (Fault("", f"{name[:200]!r} lies outside the folder.", remedy) for name in astray)
        FaultList(str(file), faults).raise_any()
    return [RecordedDigest(file.parent / name, told, file.name) for name, told in named.items()]


def _sums(file: Path) -> dict[str, str]:
    named, faults = {}, FaultList(str(file))
    for number, line in enumerate(read_bytes(file).decode("utf-8", "replace").splitlines(), start=1):
        if found := _LINE.fullmatch(line):
            named[found["name"]] = found["digest"]
        elif line.strip():
            faults.append(Fault(f"line {number}", "is not a SHA-256 and a name.", "Write the file with sha256sum."))
    faults.raise_any()
    return named


class _Season(msgspec.Struct):
    itinera: Literal["season"]
    files: dict[str, str]  # digest of each
