"""OmniNavBench's results: one JSON file per scenario with positions, rotations (w, x, y, z) and times, z up.

Success is not in them: the released script scores them later. A folder of them is one set of predictions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats._export import acting_part, require_positions
from itinera.formats.decoding import Fields, decode, report_unknown_fields, unknown_fields
from itinera.formats.io import FaultList, members, read_bytes
from itinera.formats.writing import atomic_write, write_members
from itinera.records import Ending, Predictions, Trajectory
from itinera.worlds import Array

Point = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
DIGITS = 9  # of written quaternions; the last digits of a sine differ between machines
METERS = ("meter", "meters", "metre", "metres", "m", "world", "world_meters")  # names of their unit
OTHERS = ("summary.json", "scoring.json")  # files beside the results
_ENDINGS = {"stuck": Ending.STUCK, "fall": Ending.FELL, "fell": Ending.FELL, "fallen": Ending.FELL}


class _Step(msgspec.Struct, omit_defaults=True, kw_only=True):
    position: Point
    orientation: Quaternion | None = None  # w, x, y, z
    orientation_wxyz: Quaternion | None = None  # the same under another name
    time_s: float | None = None
    step: int | None = None
    frame: int | None = None


class _Result(msgspec.Struct, omit_defaults=True, kw_only=True):
    scenario_id: str
    trajectory: list[_Step]
    stop_step: int = -1  # the step at which the agent stopped; -1: it did not
    termination_reason: str = ""
    source_envset: str | None = None
    instruction: str | None = None
    robot_type: str | None = None
    steps: int | None = None
    time_s: float | None = None
    path_length: float | None = None
    eqa_answer: Any = None
    human_paths: Any = None
    initial_pose: Any = None
    coordinate_space: str | None = None


_KEPT = ("source_envset", "instruction", "robot_type", "eqa_answer", "human_paths", "initial_pose")


def read_predictions(path: str | Path) -> Predictions:
    """The trajectory of one result file."""
    path = Path(path)
    data = read_bytes(path)
    trajectory, unknown = _read(data, str(path))
    report_unknown_fields(str(path), unknown)
    return Predictions.from_trajectories(str(path), (trajectory,))


def read_folder(path: str | Path) -> Predictions:
    """The trajectories of a folder or archive of result files; summaries beside them are left out."""
    path = Path(path)
    found = {name: member for name, member in members(path, ".json").items() if name not in OTHERS}
    faults, unknown, trajectories = FaultList(str(path)), set[str](), []
    if not found:
        faults.append(Fault("", "contains no results.", "Give the folder of --output, with a file per scenario."))
    if path.is_dir() and len(found) < sum(one.name not in OTHERS for one in path.rglob("*.json")):
        faults.append(Fault("", "has files of the same name.", "Give the folder of one robot: human, dog or car."))
    for name in sorted(found):
        try:
            trajectory, fields = _read(found[name].read(), name)
        except BadFile as error:
            faults += [replace(fault, where=f"{name} {fault.where}".strip()) for fault in error.faults]
            continue
        trajectories.append(trajectory)
        unknown |= fields
    faults.raise_any()
    report_unknown_fields(str(path), unknown)
    return Predictions.from_trajectories(str(path), tuple(trajectories))


def _read(data: bytes, source: str) -> tuple[Trajectory, set[str]]:
    """The trajectory of a file, and the names of its fields that this format does not have."""
    result = decode(data, _Result, source)
    FaultList(source, _faults(result)).raise_any()
    return _trajectory(result), unknown_fields([decode(data, Fields, source)], _Result.__struct_fields__)


def _faults(result: _Result) -> Iterator[Fault]:
    if not result.trajectory:
        yield Fault("", "is empty.", "A trajectory must include its start.", "trajectory")
    before = -math.inf
    for number, step in enumerate(result.trajectory):
        rotation = _rotation(step)
        if not all(map(math.isfinite, (*step.position, *(rotation or ())))):
            yield Fault(f"step {number}", "is not finite.", "Positions are meters.", "trajectory")
        elif rotation is not None and not 0.99 < math.hypot(*rotation) < 1.01:
            yield Fault(f"step {number}", "the rotation is no unit quaternion.", "Give w, x, y, z.", "orientation")
        if step.time_s is not None and not before <= step.time_s < math.inf:
            yield Fault(f"step {number}", "is earlier than the step before.", "Times must not decrease.", "time_s")
        before = before if step.time_s is None else step.time_s
    space = result.coordinate_space
    if space is not None and space.strip().lower().replace(" ", "_") not in METERS:
        yield Fault("", f'is "{space}".', "Positions must be meters; multiply those of the scene by its unit.",
                    "coordinate_space")  # fmt: skip


def _rotation(step: _Step) -> Quaternion | None:
    return step.orientation_wxyz if step.orientation is None else step.orientation


def _trajectory(result: _Result) -> Trajectory:
    steps = result.trajectory
    rotations = [_rotation(step) for step in steps]
    times = [step.time_s for step in steps]
    timed = not any(time is None for time in times)
    return Trajectory(
        result.scenario_id,
        np.array([step.position for step in steps], dtype=np.float64),
        headings=None if None in rotations else _headings(np.array(rotations, dtype=np.float64)),
        times=np.array(times, dtype=np.float64) if timed else None,
        ending=Ending.STOPPED
        if result.stop_step >= 0
        else _ENDINGS.get(result.termination_reason, Ending.OUT_OF_STEPS),
        notes={name: getattr(result, name) for name in _KEPT if getattr(result, name) is not None},
    )


def _ending(result: _Result) -> Ending:
    if result.stop_step >= 0:
        return Ending.STOPPED
    return _ENDINGS.get(result.termination_reason, Ending.OUT_OF_STEPS)


def _headings(rotations: Array) -> Array:
    w, x, y, z = rotations.T
    return np.asarray(np.arctan2(2 * (w * z + x * y), w * w + x * x - y * y - z * z))


def write_predictions(path: str | Path, predictions: Predictions) -> None:
    """Write predictions of a single trajectory as a result file."""
    results = [_encode(one) for one in predictions.trajectories]
    if len(results) != 1:
        remedy = "Write --to omninavbench-results for a file each."
        raise BadArgument(f"A result file has one trajectory, not {len(results)}. {remedy}")
    with atomic_write(Path(path)) as stream:
        stream.write(results[0])


def write_folder(path: str | Path, predictions: Predictions) -> None:
    """Write every trajectory as a result file of its own, in a folder or archive."""
    write_members(Path(path), {f"{one.episode_id}.json": _encode(one) for one in predictions.trajectories})


def _encode(trajectory: Trajectory) -> bytes:
    acting = acting_part(trajectory)
    points = require_positions(acting.places, f'The trajectory of episode "{acting.episode_id}"')
    headings, times = acting.headings, acting.times
    steps = []
    for number, point in enumerate(points.tolist()):
        step = _Step(step=number, position=tuple(point))
        if headings is not None:
            half = float(headings[number]) / 2
            step.orientation = (round(math.cos(half), DIGITS), 0.0, 0.0, round(math.sin(half), DIGITS))
        if times is not None:
            step.time_s = float(times[number])
        steps.append(step)
    stopped = acting.ending is Ending.STOPPED
    reasons = {Ending.STOPPED: "stop_action", Ending.STUCK: "stuck", Ending.FELL: "fall"}
    result = _Result(
        scenario_id=acting.episode_id,
        trajectory=steps,
        stop_step=len(steps) - 1 if stopped else -1,
        termination_reason=reasons.get(acting.ending, "max_steps"),
        **{name: acting.notes[name] for name in _KEPT if name in acting.notes},
    )
    return msgspec.json.encode(result)
