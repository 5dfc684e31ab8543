"""Where a result came from: enough to check it and to make it again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True)
class Provenance:
    """Version, command, seed and the digests of every input, by role ("predictions", "tasks", "worlds")."""

    version: str
    command: tuple[str, ...] = ()
    seed: int | None = None
    inputs: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # role -> file name
    digests: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # role -> blake2b of its bytes


def itinera_version() -> str:
    """The version installed."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import, and only results need it

    try:
        return version("itinera")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0+unknown"


def digest(path: Path) -> str:
    """The blake2b-128 of a file's bytes, or of the names and bytes of all files under a folder."""
    state = hashlib.blake2b(digest_size=16)
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    for file in files:
        if file is not path:
            state.update(file.relative_to(path).as_posix().encode() + b"\0")
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                state.update(block)
    return state.hexdigest()
