"""Submissions in continuous environments: VLN-CE's states by episode, RxR-CE's lines of positions by instruction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np

from itinera.errors import BadFile, Fault
from itinera.formats._export import acting
from itinera.formats.decoding import decode_dict
from itinera.formats.frames import heading_from_habitat, heading_to_habitat, points_from_habitat
from itinera.formats.io import atomic_write, read_bytes
from itinera.formats.jsonl import numbered_records
from itinera.formats.r2r import number_or_name
from itinera.formats.rxr import repeated
from itinera.formats.vlnce import Point, habitat_points
from itinera.records import Ending, Predictions, Trajectory
from itinera.tasks import Episode, Split


class _State(msgspec.Struct, gc=False):
    position: Point
    heading: float
    stop: bool


def read_predictions(path: str | Path) -> Predictions:
    """The walks of a VLN-CE submission: {episode_id: [{"position", "heading", "stop"}, …]}, the start state first.

    An episode ended by stopping if its last state says so, else it ran out of steps.
    """
    path = Path(path)
    answers = decode_dict(read_bytes(path), list[_State], str(path))
    faults = []
    for name, states in answers.items():
        if not states:
            faults.append(Fault(f'record "{name}"', "is empty.", "A walk must include its start."))
        early = next((i for i, state in enumerate(states[:-1]) if state.stop), None)
        if early is not None:
            problem = f"stops at step {early} but goes on for {len(states) - 1 - early}."
            faults.append(Fault(f'record "{name}"', problem, "Only the last state may say stop.", "stop"))
    if faults:
        raise BadFile(str(path), faults)
    flat = list(chain.from_iterable(answers.values()))
    points = points_from_habitat([state.position for state in flat])
    headings = heading_from_habitat(np.array([state.heading for state in flat], dtype=np.float64))
    trajectories, at = [], 0
    for name, states in answers.items():
        end = at + len(states)
        ending = Ending.STOPPED if states[-1].stop else Ending.OUT_OF_STEPS
        trajectories.append(Trajectory(name, points[at:end], headings[at:end], ending=ending))
        at = end
    return Predictions.from_trajectories(str(path), tuple(trajectories))


def write_predictions(path: str | Path, predictions: Predictions) -> None:
    """Continuous walks as a VLN-CE submission. Headings not known are written as 0."""
    answers = {}
    for trajectory in map(acting, predictions.trajectories):
        points = habitat_points(trajectory.places, f'The walk of episode "{trajectory.episode_id}"')
        known = trajectory.headings
        headings = [0.0] * len(points) if known is None else heading_to_habitat(known).tolist()
        states = [_State(point, heading, False) for point, heading in zip(points, headings, strict=True)]
        if states:
            states[-1].stop = trajectory.ending is Ending.STOPPED
        answers[trajectory.episode_id] = states
    with atomic_write(Path(path)) as stream:
        stream.write(msgspec.json.encode(answers))


class _Positions(msgspec.Struct):
    instruction_id: int | str
    path: list[Point]


def read_rxr_predictions(path: str | Path) -> Predictions:
    """The walks of an RxR-CE submission: lines of {"instruction_id", "path": [[x, y, z], …]}.

    The form does not tell how an episode ended; it is taken to have stopped.
    """
    path = Path(path)
    faults: list[Fault] = []
    trajectories = []
    known: dict[str, str] = {}
    for where, record in numbered_records(path, _Positions, faults):
        if not record.path:
            faults.append(Fault(where, "is empty.", "A walk must include its start.", "path"))
        faults.extend(repeated(where, str(record.instruction_id), known, "instruction_id"))
        trajectories.append(Trajectory(str(record.instruction_id), points_from_habitat(record.path)))
    if faults:
        raise BadFile(str(path), faults)
    return Predictions.from_trajectories(str(path), tuple(trajectories))


def write_rxr_predictions(path: str | Path, predictions: Predictions) -> None:
    """Continuous walks as an RxR-CE submission, sorted by instruction, without positions that repeat the last."""
    records = []
    for trajectory in map(acting, predictions.trajectories):
        points = habitat_points(trajectory.places, f'The walk of episode "{trajectory.episode_id}"')
        moved = [point for i, point in enumerate(points) if i == 0 or point != points[i - 1]]
        records.append(_Positions(number_or_name(trajectory.episode_id), moved))
    records.sort(key=lambda r: (isinstance(r.instruction_id, str), r.instruction_id))
    with atomic_write(Path(path)) as stream:
        for record in records:
            stream.write(msgspec.json.encode(record) + b"\n")


def by_episode_ids(predictions: Predictions, split: Split) -> Predictions:
    """The logbook of an RxR-CE submission, its instruction ids replaced by the split's episode ids.

    Of a split whose episodes do not name instructions, and for ids it does not know, nothing changes.
    """
    return _renamed(predictions, {str(e.notes["instruction_id"]): e.id for e in _naming(split)}, split)


def by_instruction_ids(predictions: Predictions, split: Split) -> Predictions:
    """The inverse of `by_episode_ids`, for writing an RxR-CE submission."""
    return _renamed(predictions, {e.id: str(e.notes["instruction_id"]) for e in _naming(split)}, split)


def _naming(split: Split) -> list[Episode]:
    return [episode for episode in split.episodes if "instruction_id" in episode.notes]


def _renamed(predictions: Predictions, names: Mapping[str, str], split: Split) -> Predictions:
    if len(names) != len(_naming(split)):
        problem = "several episodes share an instruction, so ids of instructions do not tell them apart."
        raise BadFile(split.name, [Fault("", problem, "Use the guides' episodes alone.", "instruction_id")])
    trajectories = tuple(replace(t, episode_id=names.get(t.episode_id, t.episode_id)) for t in predictions.trajectories)
    alone = Predictions.from_trajectories(predictions.source, trajectories)
    return replace(alone, protocol=predictions.protocol, provenance=predictions.provenance)
