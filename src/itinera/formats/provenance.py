"""The provenance of a file in a foreign format: a small file beside it (sidecar)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from itinera.errors import BadFile, Fault
from itinera.formats.decoding import decode
from itinera.formats.io import read_bytes
from itinera.formats.writing import atomic_write
from itinera.records.provenance import Provenance, digest
from itinera.records.shards import PartPlan


class Sidecar(msgspec.Struct, omit_defaults=True):
    """The content of a sidecar: how the file was made, and its digest."""

    provenance: Provenance
    digest: str
    plan: str = ""  # of resumable work: the fingerprint of everything that decided the file
    summary: dict[str, Any] = {}  # counts of the file, so that a finished build can report them again
    shard: PartPlan | None = None  # of a part of a file, see `parts.py`


def sidecar_path(path: str | Path) -> Path:
    """The path of a file's sidecar."""
    path = Path(path)
    return path.with_name(f"{path.name}.provenance.json")


def write_sidecar(
    path: str | Path,
    provenance: Provenance,
    *,
    plan: str = "",
    summary: Mapping[str, Any] | None = None,
    shard: PartPlan | None = None,
) -> None:
    """Write the provenance of a file beside it; a pipe or device, such as /dev/stdout, has none."""
    if not Path(path).is_file() and not Path(path).is_dir():
        return
    content = Sidecar(provenance, digest(Path(path)), plan, dict(summary or {}), shard)
    with atomic_write(sidecar_path(path)) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(content), indent=2))


def read_sidecar(path: str | Path) -> Sidecar | None:
    """The sidecar of a file; None if it has none."""
    beside = sidecar_path(path)
    return decode(read_bytes(beside), Sidecar, str(beside)) if os.path.exists(beside) else None


def check_sidecar(path: str | Path) -> Provenance | None:
    """The provenance of a file that has a sidecar; raises BadFile if the file was changed since it was written."""
    sidecar = read_sidecar(path)
    if sidecar is None:
        return None
    if sidecar.digest != digest(Path(path)):
        remedy = f"Make it again, or delete {sidecar_path(path).name} if the change was meant."
        raise BadFile(str(path), [Fault("", "was changed after it was written.", remedy)])
    return sidecar.provenance
