"""Challenges: a short TOML file in which the host of a benchmark writes down its rules. Start with `read_challenge`.

name = "May 2026"
tasks = "season-answers/r2r/R2R_test.json"  # paths are relative to the file
worlds = "season"
protocol = "r2r"
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from itinera.errors import BadFile, Fault
from itinera.formats.settings import read_settings

FILE_NAME = "challenge.toml"

_Speed = Annotated[float, msgspec.Meta(gt=0.0, le=1e6)]


@dataclass(frozen=True)
class Challenge:
    """The rules of a host: everything that decides the score of an entry, besides the entry."""

    tasks: Path  # with their goals
    worlds: Path
    name: str = ""
    protocol: str | None = None  # its name; None: that of the tasks
    drive: str | None = None  # on the ground, as the options of `itinera run`
    vmax: _Speed | None = None  # m/s
    wmax_deg: _Speed | None = None  # degrees/s
    suite: str | None = None
    tours: Path | None = None
    reference: Path | None = None  # dense reference paths
    times: Path | None = None  # fastest times, for SCT
    objects: Path | None = None  # REVERIE's boxes
    missing: Literal["zero", "fail"] = "zero"  # episodes without a trajectory: failures, or the entry is refused
    positions: Literal["refuse", "allow"] = "refuse"  # entries without actions, which cannot be replayed


def read_challenge(path: str | Path) -> Challenge:
    """The challenge of a file, or of `challenge.toml` in a folder; its paths are resolved, and must exist."""
    file = Path(path)
    file = file / FILE_NAME if file.is_dir() else file
    challenge = read_settings(file, Challenge, noun="a challenge", command="itinera judge")
    resolved = {name: file.parent / path for name in _paths() if (path := getattr(challenge, name)) is not None}
    absent = [name for name, found in resolved.items() if not os.path.exists(found)]  # False for impossible names
    if absent:
        remedy = "Paths are relative to the challenge file."
        raise BadFile(str(file), [Fault("", f"there is no {resolved[name]}.", remedy, name) for name in absent])
    return replace(challenge, name=challenge.name or file.parent.resolve().name, **resolved)


def _paths() -> list[str]:
    return [field.name for field in fields(Challenge) if str(field.type).startswith("Path")]
