"""Challenges: a short TOML file in which the host of a benchmark writes down its rules. Start with `read_challenge`.

name = "May 2026"
tasks = "season-answers/r2r/R2R_test.json"  # paths are relative to the file
worlds = "season"
protocol = "r2r"
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from itinera.errors import BadFile, Fault
from itinera.formats.decoding import UNDECODABLE, make_fault
from itinera.formats.io import read_bytes

FILE_NAME = "challenge.toml"
LARGEST = 1 << 20  # bytes of a challenge file

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
    try:
        values = tomllib.loads(read_bytes(file, limit=LARGEST).decode("utf-8"))
    except tomllib.TOMLDecodeError as error:
        remedy = 'Write key = "value" lines; see the documentation of `itinera judge`.'
        raise BadFile(str(file), [Fault("", f"is not TOML: {error}.", remedy)]) from None
    except UNDECODABLE as error:
        raise BadFile(str(file), [make_fault(error, "")]) from None
    faults = list(_unknown_keys(values))
    if faults:
        raise BadFile(str(file), faults)
    try:
        challenge = msgspec.convert(values, Challenge, dec_hook=_decode_path)
    except UNDECODABLE as error:
        raise BadFile(str(file), [make_fault(error, "")]) from None
    resolved = {name: file.parent / path for name in _paths() if (path := getattr(challenge, name)) is not None}
    absent = [name for name, found in resolved.items() if not os.path.exists(found)]  # False for impossible names
    if absent:
        remedy = "Paths are relative to the challenge file."
        raise BadFile(str(file), [Fault("", f"there is no {resolved[name]}.", remedy, name) for name in absent])
    return replace(challenge, name=challenge.name or file.parent.resolve().name, **resolved)


def _paths() -> list[str]:
    return [field.name for field in fields(Challenge) if str(field.type).startswith("Path")]


def _decode_path(kind: type, value: Any) -> Any:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise ValueError(f"Expected `str`, got `{type(value).__name__}`")


def _unknown_keys(values: dict[str, Any]) -> Iterator[Fault]:
    known = [field.name for field in fields(Challenge)]
    for key in values:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"Did you mean {near[0]}? " if near else ""
            yield Fault("", "is not a key of a challenge.", f"{hint}The keys are {', '.join(known)}.", key)
