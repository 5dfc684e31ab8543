"""Our own file of a study's trials: a header with the filter counts of every skill, then a record per trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from itinera.errors import Fault
from itinera.formats.io import FaultList
from itinera.formats.native import Header, encode_places, read_records, write_file
from itinera.records import Provenance
from itinera.tasks import Episode, Instruction
from itinera.tasks.trial import ARMS, Trial
from itinera.worlds import Pose


class FilterCounts(msgspec.Struct, omit_defaults=True):
    """The candidate trials of a design: each was kept, or dropped for one reason."""

    candidates: int
    kept: int
    dropped: dict[str, int] = {}  # by reason, the most frequent first
    truncations: int = 0  # truncation points, each with one candidate or more
    truncations_kept: int = 0  # of which this many have a candidate that was kept


@dataclass(frozen=True, eq=False)
class Study:
    """The trials of one or more skills, and by skill how many candidate trials were kept and dropped."""

    trials: tuple[Trial, ...]
    filter_counts: Mapping[str, FilterCounts] = field(default_factory=dict)  # by skill; "truncation" counts the nodes
    name: str = ""  # of the split that was truncated
    provenance: Provenance | None = None

    def __len__(self) -> int:
        return len(self.trials)

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    def __getitem__(self, index: int) -> Trial:
        return self.trials[index]

    def __repr__(self) -> str:
        skills = ", ".join(dict.fromkeys(trial.skill for trial in self.trials))
        return f"Study({self.name!r}: {len(self.trials)} trials of {skills or 'no skill'})"


class _Trial(msgspec.Struct, omit_defaults=True, kw_only=True):
    id: str
    skill: str
    arm: str
    world_id: str
    heading: float
    path: list[str]  # from the start to the node where the action distribution is measured
    text: str
    control_id: str = ""
    elevation: float = 0.0
    goals: list[str] = []
    language: str = "en"
    path_id: str = ""
    source: str = ""
    target: dict[str, Any] = {}


def read_trials(path: str | Path) -> Study:
    """The study of a file; every intervention has its control trial."""
    path = Path(path)
    header, records = read_records(path, "trials", _Trial)
    faults = FaultList(str(path), chain(_check_records(records), _check_controls(records)))
    counts = _read_counts(header, faults)
    faults.raise_any()
    return Study(tuple(map(_trial, records)), counts, header.name, header.provenance)


def _check_records(records: Sequence[_Trial]) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for number, record in enumerate(records, start=2):
        where = f'line {number} (trial "{record.id}")'
        if record.id in first:
            remedy = "Ids must be distinct within a file."
            yield Fault(f"line {number}", f"{record.id} is also the id of line {first[record.id]}.", remedy, "id")
        first.setdefault(record.id, number)
        if record.arm not in ARMS:
            yield Fault(where, f"{record.arm!r} is not an arm.", f"Use one of {', '.join(ARMS)}.", "arm")
        if not record.path:
            yield Fault(where, "is empty.", "Give the nodes the agent is guided along, at least one.", "path")
        if not record.skill:
            yield Fault(where, "is empty.", "Name the skill of the trial, such as stop.", "skill")


def _check_controls(records: Sequence[_Trial]) -> Iterator[Fault]:
    known = {record.id: record for record in records}
    for number, record in enumerate(records, start=2):
        problem = _control_problem(record, known.get(record.control_id))
        if problem:
            remedy = "Every trial that is not a control names the control trial with the same path."
            yield Fault(f'line {number} (trial "{record.id}")', problem, remedy, "control_id")


def _control_problem(record: _Trial, control: _Trial | None) -> str:
    if record.arm == "control":
        return "a control has no control of its own." if record.control_id else ""
    if control is None:
        return f"its control {record.control_id!r} is missing from the file." if record.control_id else "is missing."
    if control.arm != "control":
        return f"{control.id} is not a control."
    if (control.world_id, control.path, control.heading) != (record.world_id, record.path, record.heading):
        return f"its control {control.id} has another path."
    return ""


def _read_counts(header: Header, faults: FaultList) -> dict[str, FilterCounts]:
    try:
        by_skill = msgspec.convert(header.filter_counts, dict[str, FilterCounts])
    except msgspec.ValidationError as error:
        faults.append(Fault("line 1", f"{error}.", "Design the trials again.", "filter_counts"))
        return {}
    for skill, counts in by_skill.items():
        total = counts.kept + sum(counts.dropped.values())
        if total != counts.candidates:
            problem = f"{counts.candidates} candidates, but {total} kept or dropped."
            remedy = "Counts must add up. Design the trials again."
            faults.append(Fault("line 1", problem, remedy, f"filter_counts.{skill}"))
    return by_skill


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
    return Trial(record.id, record.skill, record.arm, record.control_id, episode, record.target, record.source)


def write_trials(path: str | Path, study: Study) -> None:
    """Write the trials of a study, one line each."""
    counts = {skill: msgspec.to_builtins(counts) for skill, counts in study.filter_counts.items()}
    header = Header(itinera="trials", name=study.name, filter_counts=counts, provenance=study.provenance)
    write_file(Path(path), header, msgspec.json.Encoder().encode_lines(list(map(_record, study.trials))))


def _record(trial: Trial) -> _Trial:
    episode = trial.episode
    return _Trial(
        id=trial.id,
        skill=trial.skill,
        arm=trial.arm,
        control_id=trial.control_id,
        world_id=episode.world_id,
        heading=episode.start.heading,
        elevation=episode.start.elevation,
        path=encode_places(episode.reference),
        goals=encode_places(episode.goals),
        text=episode.instruction.text,
        language=episode.instruction.language,
        path_id=episode.path_id,
        source=trial.source,
        target=dict(trial.target),
    )
