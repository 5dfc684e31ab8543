"""Itinera's own predictions file: one record per rollout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from itinera.errors import Fault
from itinera.formats.decoding import Fields, report_unknown_fields
from itinera.formats.io import FaultList
from itinera.formats.map_recordings import MapRecord, decode_recording, encode_recording
from itinera.formats.native import (
    Header,
    Point,
    Whole,
    encode_places,
    parse_places,
    read_records,
    write_file,
)
from itinera.records import (
    ActionLog,
    Ending,
    Phase,
    Predictions,
    Rollout,
    Trajectory,
)
from itinera.records.thinking import MAX_SECONDS
from itinera.worlds import Array

_Seconds = Annotated[float, msgspec.Meta(ge=0.0, le=MAX_SECONDS)]


class _ActionLog(msgspec.Struct):
    candidates: list[list[str]]
    probabilities: list[list[float]]


class _Trajectory(msgspec.Struct, omit_defaults=True, kw_only=True):
    episode_id: str
    places: list[str | Point]
    headings: list[float] | None = None
    elevations: list[float] | None = None
    actions: list[Whole] | None = None
    collided: list[bool] | None = None
    followed: list[bool] | None = None
    times: list[float] | None = None
    thinking: list[_Seconds] | None = None
    phases: list[Phase] | None = None
    ending: Ending = Ending.STOPPED
    action_log: _ActionLog | None = None
    object_id: str | None = None
    object_direction: tuple[float, float] | None = None
    maps: MapRecord | None = None
    notes: dict[str, Any] = {}


class _Rollout(msgspec.Struct):
    tour_id: str
    trajectories: list[_Trajectory]


def read_predictions(path: str | Path) -> Predictions:
    """The predictions of a native file, with their protocol and provenance."""
    path = Path(path)
    names: set[str] = set()
    header, records = read_records(path, "predictions", _Rollout, look=lambda line: names.update(_field_names(line)))
    faults = (
        Fault(f'line {n} (episode "{t.episode_id}")', problem, "Every list is as long as places.", field)
        for n, rollout in enumerate(records, start=2)
        for t in rollout.trajectories
        for field, problem in _wrong_lengths(t)
    )
    FaultList(str(path), faults).raise_any()
    report_unknown_fields(str(path), names.difference(_Rollout.__struct_fields__, _Trajectory.__struct_fields__))
    rollouts = tuple(Rollout(rollout.tour_id, tuple(map(_trajectory, rollout.trajectories))) for rollout in records)
    return Predictions(str(path), rollouts, header.protocol, header.provenance)


class _RolloutFields(msgspec.Struct):
    trajectories: list[Fields]


_ROLLOUT_FIELDS = msgspec.json.Decoder(Fields)
_TRAJECTORY_FIELDS = msgspec.json.Decoder(_RolloutFields)


def _field_names(line: bytes) -> set[str]:
    """The names of the fields of a rollout and of its trajectories."""
    return set(_ROLLOUT_FIELDS.decode(line)).union(*_TRAJECTORY_FIELDS.decode(line).trajectories)


def _wrong_lengths(t: _Trajectory) -> Iterator[tuple[str, str]]:
    count = len(t.places)
    if len({isinstance(place, str) for place in t.places}) != 1:
        yield "places", "must be node ids or positions, at least one, not both."
    for field in ("headings", "elevations", "times", "thinking", "phases"):
        values = getattr(t, field)
        if values is not None and len(values) != count:
            yield field, f"has {len(values)} entries for {count} places."
    for field in ("actions", "collided", "followed"):
        values = getattr(t, field)
        if values is not None and len(values) != count - 1:
            yield field, f"has {len(values)} entries for {count} places; one fewer is expected."


def _trajectory(t: _Trajectory) -> Trajectory:
    return Trajectory(
        episode_id=t.episode_id,
        places=parse_places(t.places),
        headings=_array(t.headings),
        elevations=_array(t.elevations),
        actions=None if t.actions is None else np.array(t.actions, dtype=np.int64),
        collided=None if t.collided is None else np.array(t.collided, dtype=bool),
        followed=None if t.followed is None else np.array(t.followed, dtype=bool),
        times=_array(t.times),
        thinking=_array(t.thinking),
        phases=None if t.phases is None else tuple(t.phases),
        ending=t.ending,
        action_log=None if t.action_log is None else _action_log(t.action_log),
        object_id=t.object_id,
        object_direction=t.object_direction,
        maps=None if t.maps is None else decode_recording(t.maps),
        notes=t.notes,
    )


def _action_log(c: _ActionLog) -> ActionLog:
    return ActionLog(tuple(map(tuple, c.candidates)), tuple(np.array(p, dtype=np.float64) for p in c.probabilities))


def _array(values: list[float] | None) -> Array | None:
    return None if values is None else np.array(values, dtype=np.float64)


def write_predictions(path: str | Path, predictions: Predictions) -> None:
    """Write predictions as a native file."""
    header = Header(itinera="predictions", provenance=predictions.provenance, protocol=predictions.protocol)
    lines = msgspec.json.Encoder().encode_lines([_rollout_record(rollout) for rollout in predictions.rollouts])
    write_file(Path(path), header, lines)


def decode_rollout(record: bytes) -> Rollout:
    """The rollout of a line of a file; raises `msgspec.DecodeError` if it is none."""
    read = msgspec.json.decode(record, type=_Rollout)
    for trajectory in read.trajectories:
        for field, problem in _wrong_lengths(trajectory):
            raise msgspec.ValidationError(f"{field} {problem}")
    return Rollout(read.tour_id, tuple(map(_trajectory, read.trajectories)))


def encode_rollout(rollout: Rollout) -> bytes:
    """A rollout as the line of a file, without the line break."""
    return msgspec.json.encode(_rollout_record(rollout))


def _rollout_record(rollout: Rollout) -> _Rollout:
    return _Rollout(rollout.tour_id, [_trajectory_record(t) for t in rollout.trajectories])


def _trajectory_record(t: Trajectory) -> _Trajectory:
    return _Trajectory(
        episode_id=t.episode_id,
        places=encode_places(t.places),
        headings=None if t.headings is None else t.headings.tolist(),
        elevations=None if t.elevations is None else t.elevations.tolist(),
        actions=None if t.actions is None else t.actions.tolist(),
        collided=None if t.collided is None else t.collided.tolist(),
        followed=None if t.followed is None else t.followed.tolist(),
        times=None if t.times is None else t.times.tolist(),
        thinking=None if t.thinking is None else t.thinking.tolist(),
        phases=None if t.phases is None else list(t.phases),
        ending=t.ending,
        action_log=None
        if t.action_log is None
        else _ActionLog([list(c) for c in t.action_log.candidates], [p.tolist() for p in t.action_log.probabilities]),
        object_id=t.object_id,
        object_direction=t.object_direction,
        maps=None if t.maps is None else encode_recording(t.maps),
        notes=dict(t.notes),
    )
