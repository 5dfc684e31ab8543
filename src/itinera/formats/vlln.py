"""VL-LN's results: JSON lines with the metrics of InternNav, and in addition the path and the actions of each episode.

Positions are Habitat's. The released evaluation writes the position *before* each action, so that an episode which did
not end by stopping lacks the place that its last action led to.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from itinera.errors import Fault
from itinera.formats._export import acting_part
from itinera.formats.decoding import report_unknown_fields
from itinera.formats.frames import points_from_habitat
from itinera.formats.io import FaultList
from itinera.formats.jsonl import iter_records
from itinera.formats.r2r import parse_id
from itinera.formats.rxr import repeated_id_faults
from itinera.formats.vlnce import Point, habitat_points
from itinera.formats.writing import atomic_write
from itinera.records import Ending, Predictions, Trajectory
from itinera.records.trajectory import NO_ACTION

logger = logging.getLogger("itinera")
STOP = 0
_LARGEST_ACTION = 2**31


class _Record(msgspec.Struct, omit_defaults=True, kw_only=True):
    episode_id: int | str
    path: list[Point]
    action: list[int]  # 0 stop, 1 forward, 2 left, 3 right, 5 look down, 6 ask, 7 think; -1 is unknown
    scene_id: str | None = None
    success: float | None = None
    spl: float | None = None
    os: float | None = None
    ne: float | None = None
    steps: int | None = None
    episode_instruction: str | None = None
    object_category: str | None = None


_KEPT = ("scene_id", "success", "spl", "os", "ne", "steps", "episode_instruction", "object_category")


def read_predictions(path: str | Path) -> Predictions:
    """The trajectories of a result file; an episode ended by stopping if its last action is to stop.

    The other fields of the released evaluation, its metrics among them, stay in the notes and are not scored.
    """
    path = Path(path)
    faults, known, fields = FaultList(str(path)), dict[str, str](), set[str]()
    trajectories = []
    for where, record in iter_records(path, _Record, faults, fields):
        wrong = [*_faults(where, record), *repeated_id_faults(where, str(record.episode_id), known, "episode_id")]
        faults += wrong
        if not wrong:
            trajectories.append(_trajectory(record))
    faults.raise_any()
    report_unknown_fields(str(path), fields.difference(_Record.__struct_fields__))
    open_ends = sum(one.ending is not Ending.STOPPED for one in trajectories)
    if open_ends:
        logger.info(f"{path}: {open_ends} episodes did not stop; this format lacks the place after their last action.")
    return Predictions.from_trajectories(str(path), tuple(trajectories))


def _faults(where: str, record: _Record) -> Iterator[Fault]:
    if not record.path:
        yield Fault(where, "is empty.", "A trajectory must include its start.", "path")
    if len(record.action) != len(record.path):
        problem = f"has {len(record.action)} actions for {len(record.path)} positions."
        yield Fault(where, problem, "One action is taken at each position.", "action")
    if any(abs(action) > _LARGEST_ACTION for action in record.action):
        yield Fault(where, "has an action that is no small number.", "Actions are 0 to 7.", "action")
    early = record.action.index(STOP) if STOP in record.action else len(record.action)
    if early < len(record.action) - 1:
        yield Fault(where, f"stops at position {early} but goes on.", "Only the last action may be 0.", "action")
    if not all(math.isfinite(value) for point in record.path for value in point):
        yield Fault(where, "has a position that is not finite.", "Positions are meters.", "path")


def _trajectory(record: _Record) -> Trajectory:
    notes: dict[str, Any] = {name: getattr(record, name) for name in _KEPT if getattr(record, name) is not None}
    stopped = record.action[-1] == STOP
    actions = np.array(record.action[:-1], dtype=np.int64)
    return Trajectory(
        str(record.episode_id),
        points_from_habitat(record.path),
        actions=None if (actions == NO_ACTION).all() else actions,
        ending=Ending.STOPPED if stopped else Ending.OUT_OF_STEPS,
        notes=notes,
    )


def write_predictions(path: str | Path, predictions: Predictions) -> None:
    """Write continuous trajectories in VL-LN's form; actions that are not known are -1."""
    records = []
    for trajectory in map(acting_part, predictions.trajectories):
        points = habitat_points(trajectory.places, f'The trajectory of episode "{trajectory.episode_id}"')
        known = trajectory.actions
        actions = [NO_ACTION] * (len(points) - 1) if known is None else known.tolist()
        last = STOP if trajectory.ending is Ending.STOPPED else NO_ACTION
        kept = {name: trajectory.notes[name] for name in _KEPT if name in trajectory.notes}
        records.append(
            {"episode_id": parse_id(trajectory.episode_id), **kept, "path": points, "action": [*actions, last]}
        )
    with atomic_write(Path(path)) as stream:
        for record in records:
            stream.write(msgspec.json.encode(record) + b"\n")
