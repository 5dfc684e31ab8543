"""The provenance of a file in somebody else's format: a small file beside it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from itinera.errors import BadFile, Fault
from itinera.formats.decoding import decode
from itinera.formats.io import atomic_write, read_bytes
from itinera.records.provenance import Provenance, digest


class Sidecar(msgspec.Struct):
    """What stands beside a file: how it was made, and the digest of what was made."""

    provenance: Provenance
    digest: str


def sidecar_of(path: str | Path) -> Path:
    """Where a file's provenance lies."""
    path = Path(path)
    return path.with_name(f"{path.name}.provenance.json")


def write_sidecar(path: str | Path, provenance: Provenance) -> None:
    """Put a file's provenance beside it."""
    content = Sidecar(provenance, digest(Path(path)))
    with atomic_write(sidecar_of(path)) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(content), indent=2))


def check_sidecar(path: str | Path) -> Provenance | None:
    """The provenance of a file that has one beside it; a file changed since it was written is refused."""
    beside = sidecar_of(path)
    if not beside.exists():
        return None
    told = decode(read_bytes(beside), Sidecar, str(beside))
    if told.digest != digest(Path(path)):
        remedy = f"Make it again, or delete {beside.name} if the change was meant."
        raise BadFile(str(path), [Fault("", "was changed after it was written.", remedy)])
    return told.provenance
