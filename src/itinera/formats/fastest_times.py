"""Our own file of fastest times: a header with the robot whose times they are, then a record per episode.

Infinite is "inf", which JSON cannot hold: no way leads (both), or no drive is known (high alone).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from itinera.errors import BadFile, Fault
from itinera.formats.native import Header, read_records, write_file
from itinera.records import Provenance
from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot

Seconds = float | Literal["inf"]
_REMEDY = 'Bounds are seconds with 0 ≤ low ≤ high; "inf" where no way leads.'


class _Times(msgspec.Struct, omit_defaults=True):
    episode_id: str
    low: Seconds
    high: Seconds
    key: str = ""


def read_times(path: str | Path) -> FastestTimes:
    """The fastest times of a file."""
    path = Path(path)
    header, records = read_records(path, "times", _Times)
    faults = [*_wrong_robot(header.robot), *_wrong_times(records)]
    if faults or header.robot is None:
        raise BadFile(str(path), faults)
    return FastestTimes(
        header.robot,
        tuple(record.episode_id for record in records),
        np.array([float(record.low) for record in records], dtype=np.float64),
        np.array([float(record.high) for record in records], dtype=np.float64),
        tuple(record.key for record in records),
    )


def _wrong_robot(robot: ReferenceRobot | None) -> Iterator[Fault]:
    if robot is None:
        remedy = "The header says whose times they are: dynamics, vmax, wmax, reverse, radius, goal_radius."
        yield Fault("line 1", "is missing.", remedy, "robot")
        return
    if not robot.dynamics:
        yield Fault("line 1", "is empty.", "Name the dynamics, such as unicycle.", "robot.dynamics")
    for name in ("vmax", "wmax"):
        value = getattr(robot, name)
        if value is not None and not (math.isfinite(value) and value > 0):
            yield Fault("line 1", f"is {value:g}.", "A speed is a number above 0.", f"robot.{name}")
    for name in ("radius", "goal_radius"):
        value = getattr(robot, name)
        if not (math.isfinite(value) and value >= 0):
            yield Fault("line 1", f"is {value:g}.", "A radius is 0 or more metres.", f"robot.{name}")


def _wrong_times(records: list[_Times]) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for number, record in enumerate(records, start=2):
        low, high = float(record.low), float(record.high)
        if not 0 <= low <= high:
            where = f'line {number} (episode "{record.episode_id}")'
            yield Fault(where, f"low is {low:g} and high is {high:g}.", _REMEDY)
        if record.episode_id in first:
            problem = f"{record.episode_id} is also the episode of line {first[record.episode_id]}."
            yield Fault(f"line {number}", problem, "An episode has one line.", "episode_id")
        first.setdefault(record.episode_id, number)


def write_times(path: str | Path, times: FastestTimes, provenance: Provenance | None = None) -> None:
    """Fastest times as a file."""
    columns = (times.episode_ids, times.low.tolist(), times.high.tolist(), times.keys or ("",) * len(times))
    records = [
        _Times(name, seconds_told(low), seconds_told(high), key) for name, low, high, key in zip(*columns, strict=True)
    ]
    header = Header(itinera="times", provenance=provenance, robot=times.robot)
    write_file(Path(path), header, msgspec.json.Encoder().encode_lines(records))


def seconds_told(seconds: float) -> Seconds:
    return "inf" if math.isinf(seconds) else seconds
