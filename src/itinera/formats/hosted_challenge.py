"""Challenges of a server: a folder whose `challenge.toml` has phases. Start with `read_hosted_challenge`.

name = "May 2026"
worlds = "season"  # keys outside of a phase are those of every phase

[phases.test]
tasks = "season-answers/r2r/R2R_test.json"
protocol = "r2r"
opens = 2026-05-01T00:00:00Z
shots_per_day = 2
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats.challenge import FILE_NAME, Challenge, read_challenge
from itinera.formats.decoding import UNDECODABLE, make_fault
from itinera.formats.settings import convert_settings, find_setting_faults, read_toml
from itinera.formats.writing import atomic_write

MAX_PHASES = 50
DEFAULT_MAX_BYTES = 64 << 20  # of an entry
_COMMAND = "itinera serve"

_Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
_Seconds = Annotated[float, msgspec.Meta(ge=0.1, le=31_536_000.0)]
_Time = Annotated[datetime, msgspec.Meta(tz=True)]
_Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True)
class _PhaseKeys(Challenge):
    """The keys of a phase: the rules of a challenge, and when and how often teams may submit."""

    opens: _Time | None = None
    closes: _Time | None = None
    shots_per_day: _Count | None = None
    shots: _Count | None = None
    show: Literal["rows", "totals"] = "totals"
    reveal: Literal["always", "closed"] = "always"
    max_bytes: Annotated[int, msgspec.Meta(ge=1, le=1 << 31)] = DEFAULT_MAX_BYTES
    kind: Literal["file", "live"] = "file"
    step_seconds: _Seconds = 300.0
    session_seconds: _Seconds = 86_400.0
    views: Literal["annotations", "rendered"] | None = None
    camera: Annotated[str, msgspec.Meta(pattern="^[0-9]{1,4}x[0-9]{1,4}$")] | None = None
    channels: Annotated[str, msgspec.Meta(pattern="^(rgb|depth|classes)(,(rgb|depth|classes))*$")] = "rgb,depth"
    fov: Annotated[float, msgspec.Meta(gt=0.0, lt=180.0)] = 90.0
    frames: _Count = 1_000_000


@dataclass(frozen=True)
class LiveRules:
    """What a live phase allows, and what its agents observe besides pose, candidates and scene descriptions."""

    step_seconds: float  # between an observation and its action; then the episode has failed
    session_seconds: float  # from the opening of a session to its end
    views: str | None  # on graphs, as `itinera run --views`
    camera: str | None  # on the ground, WIDTHxHEIGHT
    channels: str
    fov: float  # degrees
    frames: int  # images that are rendered for a session in all; then observations have none


@dataclass(frozen=True)
class _TopKeys:
    name: str = ""
    commitment: _Digest | None = None


@dataclass(frozen=True)
class ChallengePhase:
    """One phase of a challenge: a rule set that teams submit to for some time."""

    name: str
    rules: Challenge  # for the judge; its files need to exist only where entries are judged
    opens: datetime | None  # None: open from the beginning
    closes: datetime | None  # None: open until the host closes it
    shots_per_day: int | None  # of each team; None: no limit
    shots: int | None  # in all
    show: Literal["rows", "totals"]  # what a team may read of its own scores, and others of public ones
    reveal: Literal["always", "closed"]  # scores are public at once, or when the phase has closed
    max_bytes: int  # of an entry
    live: LiveRules | None = None  # None: entries are files

    @property
    def settings(self) -> dict[str, Any]:
        """What decides scores besides the files: plain values for people, equal on the server and its workers."""
        paths = {field.name for field in fields(Challenge) if str(field.type).startswith("Path")}
        values = {field.name: getattr(self.rules, field.name) for field in fields(Challenge) if field.name != "name"}
        found = {name: value.name if name in paths and value is not None else value for name, value in values.items()}
        return found if self.live is None else found | {"kind": "live"} | asdict(self.live)

    @property
    def digest(self) -> str:
        """SHA-256 of the settings."""
        return hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class HostedChallenge:
    """A challenge with its phases, in the order of its file."""

    name: str
    folder: Path
    commitment: str | None  # SHA-256 of the secret of a sealed season
    phases: tuple[ChallengePhase, ...]

    def __getitem__(self, name: str) -> ChallengePhase:
        return next(phase for phase in self.phases if phase.name == name)


def read_rules(path: str | Path, phase: str | None = None) -> Challenge:
    """The rules of a challenge without phases, or of a phase; tasks, worlds and the other files must exist."""
    file = Path(path)
    folder, file = (file, file / FILE_NAME) if file.is_dir() else (file.parent, file)
    if "phases" not in read_toml(file, command="itinera judge"):
        if phase is not None:
            raise BadArgument(f"{file} has no phases: omit --phase (phase=).")
        return read_challenge(file)
    if file.name != FILE_NAME:
        raise BadArgument(f"A challenge with phases is a folder with {FILE_NAME}, not {file}.")
    challenge = read_hosted_challenge(folder, need_files=True)
    names = ", ".join(one.name for one in challenge.phases)
    if phase not in {one.name for one in challenge.phases}:
        missing = "name one with --phase (phase=)" if phase is None else f"there is no phase {phase!r}"
        raise BadArgument(f"{file} has phases, {names}: {missing}.")
    return challenge[phase].rules


def read_hosted_challenge(folder: str | Path, *, need_files: bool = False) -> HostedChallenge:
    """The challenge of a folder; raises BadFile with every fault of its `challenge.toml`.

    need_files: also require that tasks, worlds and the other files exist, as on the machine that judges.
    """
    file = Path(folder) / FILE_NAME
    values = read_toml(file, command=_COMMAND)
    tables = values.pop("phases", None)
    if not isinstance(tables, dict) or not tables or len(tables) > MAX_PHASES:
        remedy = "Write a table [phases.NAME] for each phase; its keys are documented at `itinera serve`."
        raise BadFile(str(file), [Fault("", f"must have 1 to {MAX_PHASES} phases.", remedy, "phases")])
    top: dict[str, Any] = {key: values.pop(key) for key in ("name", "commitment") if key in values}
    faults = list(find_setting_faults(top, _TopKeys, "a challenge"))
    faults += find_setting_faults(values, _PhaseKeys, "a phase")
    phases = []
    for name, table in tables.items():
        found = list(_find_table_faults(name, table))
        # A shared value that is wrong is reported once, and would be again by every phase.
        if not found and not faults:
            made = _make_phase(name, values | table, file, need_files)
            if isinstance(made, ChallengePhase):
                phases.append(made)
            else:
                found = made
        faults += found
    if faults:
        raise BadFile(str(file), faults)
    keys = convert_settings(top, _TopKeys)
    return HostedChallenge(keys.name or Path(folder).resolve().name, Path(folder), keys.commitment, tuple(phases))


def write_hosted_challenge(folder: Path, content: str) -> None:
    """Write a challenge file into a folder, which is created; raises BadArgument if there is one already."""
    file = folder / FILE_NAME
    if file.exists():
        raise BadArgument(f"{file} exists already: edit it, or choose another folder.")
    with atomic_write(file) as stream:
        stream.write(content.encode())


def _find_table_faults(name: str, table: Any) -> Iterator[Fault]:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,39}", name):
        remedy = "Use up to 40 lower-case letters, digits, - and _."
        yield Fault("", "is not the name of a phase.", remedy, f"phases.{name}")
    elif not isinstance(table, dict):
        yield Fault("", "must be a table of keys.", f"Write [phases.{name}].", f"phases.{name}")
    else:
        for fault in find_setting_faults(table, _PhaseKeys, "a phase"):
            yield Fault(fault.where, fault.problem, fault.remedy, f"phases.{name}.{fault.field}")


def _make_phase(name: str, values: dict[str, Any], file: Path, need_files: bool) -> ChallengePhase | list[Fault]:
    """The phase of these keys, or its faults that no single key has."""
    where = f"phases.{name}"
    try:
        keys = convert_settings(values, _PhaseKeys)
    except UNDECODABLE as error:  # a missing key
        return [make_fault(error, f"phase {name}")]
    if keys.opens is not None and keys.closes is not None and keys.opens >= keys.closes:
        return [Fault("", "closes before it opens.", "Give a later time.", f"{where}.closes")]
    resolved: dict[str, Any] = {
        field.name: file.parent / value if isinstance(value := getattr(keys, field.name), Path) else value
        for field in fields(Challenge)
    }
    if need_files:
        absent = [key for key, value in resolved.items() if isinstance(value, Path) and not os.path.exists(value)]
        if absent:
            remedy = "Paths are relative to the challenge file."
            return [Fault("", f"there is no {resolved[key]}.", remedy, f"{where}.{key}") for key in absent]
    if keys.kind == "live" and keys.missing == "fail":
        return [Fault("", "would refuse sessions that end early.", 'Use missing = "zero".', f"{where}.missing")]
    given = set(values) & {field.name for field in fields(LiveRules)}
    if keys.kind == "file" and given:
        return [Fault("", "is for live phases.", 'Add kind = "live", or remove it.', f"{where}.{min(given)}")]
    made = {"name", "rules", "live"}
    own = {one.name: getattr(keys, one.name) for one in fields(ChallengePhase) if one.name not in made}
    live = LiveRules(**{one.name: getattr(keys, one.name) for one in fields(LiveRules)})
    rules = Challenge(**(resolved | {"name": name}))
    return ChallengePhase(name=name, rules=rules, **own, live=live if keys.kind == "live" else None)
