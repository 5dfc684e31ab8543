"""Submissions in continuous environments: VLN-CE's states by episode, RxR-CE's lines of positions by instruction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np

from itinera.errors import BadFile, Fault
from itinera.formats._export import acting_part
from itinera.formats.decoding import decode_dict, report_unknown_fields, report_unknown_step_fields
from itinera.formats.frames import heading_from_habitat, heading_to_habitat, points_from_habitat
from itinera.formats.io import FaultList, read_bytes
from itinera.formats.jsonl import iter_records
from itinera.formats.r2r import parse_id
from itinera.formats.rxr import repeated_id_faults
from itinera.formats.vlnce import Point, habitat_points
from itinera.formats.writing import atomic_write
from itinera.records import Ending, Predictions, Trajectory
from itinera.tasks import Episode, Split


class _State(msgspec.Struct, gc=False):
    position: Point
    heading: float
    stop: bool


def read_predictions(path: str | Path) -> Predictions:
    """The trajectories of a VLN-CE submission, {episode_id: [{"position", "heading", "stop"}, …]}, the start first.

    An episode ended by stopping if its last state says so, else it ran out of steps.
    """
    path = Path(path)
    data = read_bytes(path)
    records = decode_dict(data, list[_State], str(path))
    faults = FaultList(str(path))
    for name, states in records.items():
        if not states:
            faults.append(Fault(f'record "{name}"', "is empty.", "A trajectory must include its start."))
        early = next((i for i, state in enumerate(states[:-1]) if state.stop), None)
        if early is not None:
            problem = f"stops at step {early} but goes on for {len(states) - 1 - early}."
            faults.append(Fault(f'record "{name}"', problem, "Only the last state may say stop.", "stop"))
    faults.raise_any()
    report_unknown_step_fields(data, _State, sum(map(len, records.values())), len(records), str(path))
    flat = list(chain.from_iterable(records.values()))
    points = points_from_habitat([state.position for state in flat])
    headings = heading_from_habitat(np.array([state.heading for state in flat], dtype=np.float64))
    trajectories, at = [], 0
    for name, states in records.items():
        end = at + len(states)
        ending = Ending.STOPPED if states[-1].stop else Ending.OUT_OF_STEPS
        trajectories.append(Trajectory(name, points[at:end], headings[at:end], ending=ending))
        at = end
    return Predictions.from_trajectories(str(path), tuple(trajectories))


def write_predictions(path: str | Path, predictions: Predictions) -> None:
    """Write continuous trajectories as a VLN-CE submission. Unknown headings are written as 0."""
    records = {}
    for trajectory in map(acting_part, predictions.trajectories):
        points = habitat_points(trajectory.places, f'The trajectory of episode "{trajectory.episode_id}"')
        known = trajectory.headings
        headings = [0.0] * len(points) if known is None else heading_to_habitat(known).tolist()
        states = [_State(point, heading, False) for point, heading in zip(points, headings, strict=True)]
        if states:
            states[-1].stop = trajectory.ending is Ending.STOPPED
        records[trajectory.episode_id] = states
    with atomic_write(Path(path)) as stream:
        stream.write(msgspec.json.encode(records))


class _Positions(msgspec.Struct):
    instruction_id: int | str
    path: list[Point]


def read_rxr_predictions(path: str | Path) -> Predictions:
    """The trajectories of an RxR-CE submission: lines of {"instruction_id", "path": [[x, y, z], …]}.

    The format does not say how an episode ended; it is read as stopped.
    """
    path = Path(path)
    faults = FaultList(str(path))
    trajectories = []
    known: dict[str, str] = {}
    fields: set[str] = set()
    for where, record in iter_records(path, _Positions, faults, fields):
        if not record.path:
            faults.append(Fault(where, "is empty.", "A trajectory must include its start.", "path"))
        faults.extend(repeated_id_faults(where, str(record.instruction_id), known, "instruction_id"))
        trajectories.append(Trajectory(str(record.instruction_id), points_from_habitat(record.path)))
    faults.raise_any()
    report_unknown_fields(str(path), fields.difference(_Positions.__struct_fields__))
    return Predictions.from_trajectories(str(path), tuple(trajectories))


def write_rxr_predictions(path: str | Path, predictions: Predictions) -> None:
    """Write continuous trajectories as an RxR-CE submission, sorted by instruction, without repeated positions."""
    records = []
    for trajectory in map(acting_part, predictions.trajectories):
        points = habitat_points(trajectory.places, f'The trajectory of episode "{trajectory.episode_id}"')
        moved = [point for i, point in enumerate(points) if i == 0 or point != points[i - 1]]
        records.append(_Positions(parse_id(trajectory.episode_id), moved))
    records.sort(key=lambda r: (isinstance(r.instruction_id, str), r.instruction_id))
    with atomic_write(Path(path)) as stream:
        for record in records:
            stream.write(msgspec.json.encode(record) + b"\n")


def to_episode_ids(predictions: Predictions, split: Split) -> Predictions:
    """The predictions of an RxR-CE submission with the split's episode ids instead of instruction ids.

    Nothing changes for a split whose episodes have no instruction ids, and for unknown ids.
    """
    return _rename(predictions, {str(e.notes["instruction_id"]): e.id for e in _with_instruction_ids(split)}, split)


def to_instruction_ids(predictions: Predictions, split: Split) -> Predictions:
    """The inverse of `to_episode_ids`, for writing an RxR-CE submission."""
    return _rename(predictions, {e.id: str(e.notes["instruction_id"]) for e in _with_instruction_ids(split)}, split)


def _with_instruction_ids(split: Split) -> list[Episode]:
    return [episode for episode in split.episodes if "instruction_id" in episode.notes]


def _rename(predictions: Predictions, names: Mapping[str, str], split: Split) -> Predictions:
    if len(names) != len(_with_instruction_ids(split)):
        problem = "several episodes share an instruction, so instruction ids do not identify them."
        raise BadFile(split.name, [Fault("", problem, "Use the guides' episodes only.", "instruction_id")])
    trajectories = tuple(replace(t, episode_id=names.get(t.episode_id, t.episode_id)) for t in predictions.trajectories)
    renamed = Predictions.from_trajectories(predictions.source, trajectories)
    return replace(renamed, protocol=predictions.protocol, provenance=predictions.provenance)
