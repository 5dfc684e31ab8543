"""Our own file of a study's trials: a header with what became of every candidate, then a record per trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from itinera.errors import BadFile, Fault
from itinera.formats.native import Header, plain_places, read_records, write_file
from itinera.records import Provenance
from itinera.tasks import Episode, Instruction
from itinera.tasks.trial import ARMS, Trial
from itinera.worlds import Pose


class Counts(msgspec.Struct, omit_defaults=True):
    """What became of the candidates of a design: every one is kept, or counted under the reason it was dropped for."""

    candidates: int
    kept: int
    dropped: dict[str, int] = {}  # by reason
    cuts: int = 0  # places where episodes were cut, each with one candidate or more
    cuts_kept: int = 0  # of which so many have a candidate that was kept


@dataclass(frozen=True, eq=False)
class TrialFile:
    """The trials of a study, and what became of the candidates for them."""

    trials: tuple[Trial, ...]
    tallies: Mapping[str, Counts] = field(default_factory=dict)  # by skill
    name: str = ""  # of the split that was cut
    provenance: Provenance | None = None

    def __len__(self) -> int:
        return len(self.trials)


class _Trial(msgspec.Struct, omit_defaults=True, kw_only=True):
    id: str
    skill: str
    arm: str
    world_id: str
    heading: float
    path: list[str]  # from the start to where it is asked
    text: str
    twin: str = ""
    elevation: float = 0.0
    goals: list[str] = []
    language: str = "en"
    path_id: str = ""
    source: str = ""
    target: dict[str, Any] = {}


def read_trials(path: str | Path) -> TrialFile:
    """The trials of a file, each arm with its twin."""
    path = Path(path)
    header, records = read_records(path, "trials", _Trial)
    faults = [*_wrong_records(records), *_wrong_twins(records)]
    tallies = _tallies(header, faults)
    if faults:
        raise BadFile(str(path), faults)
    return TrialFile(tuple(map(_trial, records)), tallies, header.name, header.provenance)


def _wrong_records(records: Sequence[_Trial]) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for number, record in enumerate(records, start=2):
        where = f'line {number} (trial "{record.id}")'
        if record.id in first:
            remedy = "Ids must be distinct within a file."
            yield Fault(f"line {number}", f"{record.id} is also the id of line {first[record.id]}.", remedy, "id")
        first.setdefault(record.id, number)
        if record.arm not in ARMS:
            yield Fault(where, f"{record.arm!r} is no arm.", f"There are {', '.join(ARMS)}.", "arm")
        if not record.path:
            yield Fault(where, "is empty.", "A path holds at least the node where the agent is asked.", "path")
        if not record.skill:
            yield Fault(where, "is empty.", "A trial asks for a skill, such as stop.", "skill")


def _wrong_twins(records: Sequence[_Trial]) -> Iterator[Fault]:
    known = {record.id: record for record in records}
    for number, record in enumerate(records, start=2):
        problem = _twin_problem(record, known.get(record.twin))
        if problem:
            remedy = "Every trial that is no control names the control trial of the same walk."
            yield Fault(f'line {number} (trial "{record.id}")', problem, remedy, "twin")


def _twin_problem(record: _Trial, twin: _Trial | None) -> str:
    if record.arm == "control":
        return "a control has no twin of its own." if record.twin else ""
    if twin is None:
        return f"its twin {record.twin!r} is missing from the file." if record.twin else "names no twin."
    if twin.arm != "control":
        return f"its twin {twin.id} is no control."
    if (twin.world_id, twin.path, twin.heading) != (record.world_id, record.path, record.heading):
        return f"its twin {twin.id} is of another walk."
    return ""


def _tallies(header: Header, faults: list[Fault]) -> dict[str, Counts]:
    try:
        tallies = msgspec.convert(header.tallies, dict[str, Counts])
    except msgspec.ValidationError as error:
        faults.append(Fault("line 1", f"{error}.", "Design the trials again.", "tallies"))
        return {}
    for skill, counts in tallies.items():
        told = counts.kept + sum(counts.dropped.values())
        if told != counts.candidates:
            problem = f"{counts.candidates} candidates, but {told} kept or dropped."
            faults.append(Fault("line 1", problem, "Counts must add up. Design the trials again.", f"tallies.{skill}"))
    return tallies


def _trial(record: _Trial) -> Trial:
    nodes = tuple(record.path)
    episode = Episode(
        id=record.id,
        world_id=record.world_id,
        start=Pose(nodes[0], record.heading, record.elevation),
        goals=tuple(record.goals),
        reference=nodes,
        instruction=Instruction(record.text, record.language),
        path_id=record.path_id,
    )
    return Trial(record.id, record.skill, record.arm, record.twin, episode, record.target, record.source)


def write_trials(path: str | Path, study: TrialFile) -> None:
    """Trials as a file, one line each."""
    tallies = {skill: msgspec.to_builtins(counts) for skill, counts in study.tallies.items()}
    header = Header(itinera="trials", name=study.name, tallies=tallies, provenance=study.provenance)
    write_file(Path(path), header, msgspec.json.Encoder().encode_lines(list(map(_record, study.trials))))


def _record(trial: Trial) -> _Trial:
    episode = trial.episode
    return _Trial(
        id=trial.id,
        skill=trial.skill,
        arm=trial.arm,
        twin=trial.twin,
        world_id=episode.world_id,
        heading=episode.start.heading,
        elevation=episode.start.elevation,
        path=plain_places(episode.reference),
        goals=plain_places(episode.goals),
        text=episode.instruction.text,
        language=episode.instruction.language,
        path_id=episode.path_id,
        source=trial.source,
        target=dict(trial.target),
    )
