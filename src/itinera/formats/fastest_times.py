"""The native file of fastest times: a header with the reference robot, then a record per episode.

Infinity is stored as "inf", because JSON has none: the goal is unreachable (both), or no drive is known (upper alone).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from itinera.errors import BadFile, Fault
from itinera.formats.io import FaultList
from itinera.formats.native import Header, read_records, write_file
from itinera.records import Provenance
from itinera.records.shards import PartPlan, digest_bytes
from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot

Seconds = float | Literal["inf"]
_REMEDY = 'Bounds are seconds with 0 ≤ lower ≤ upper; "inf" if the goal is unreachable.'


class _Times(msgspec.Struct, omit_defaults=True):
    episode_id: str
    lower: Seconds
    upper: Seconds
    key: str = ""


def read_times(path: str | Path) -> FastestTimes:
    """The fastest times of a file."""
    path = Path(path)
    header, records = read_records(path, "times", _Times)
    faults = FaultList(str(path), chain(_robot_faults(header.robot), _time_faults(records)))
    if faults or header.robot is None:
        raise BadFile(str(path), faults)
    return FastestTimes(
        header.robot,
        tuple(record.episode_id for record in records),
        np.array([float(record.lower) for record in records], dtype=np.float64),
        np.array([float(record.upper) for record in records], dtype=np.float64),
        tuple(record.key for record in records),
    )


def _robot_faults(robot: ReferenceRobot | None) -> Iterator[Fault]:
    if robot is None:
        remedy = "The header describes the reference robot: dynamics, vmax, wmax, reverse, radius, goal_radius."
        yield Fault("line 1", "is missing.", remedy, "robot")
        return
    if not robot.dynamics:
        yield Fault("line 1", "is empty.", "Give the name of the dynamics, such as unicycle.", "robot.dynamics")
    for name in ("vmax", "wmax"):
        value = getattr(robot, name)
        if value is not None and not (math.isfinite(value) and value > 0):
            yield Fault("line 1", f"is {value:g}.", "Give a speed above 0.", f"robot.{name}")
    for name in ("radius", "goal_radius"):
        value = getattr(robot, name)
        if not (math.isfinite(value) and value >= 0):
            yield Fault("line 1", f"is {value:g}.", "Give a radius of at least 0 metres.", f"robot.{name}")


def _time_faults(records: list[_Times]) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for number, record in enumerate(records, start=2):
        lower, upper = float(record.lower), float(record.upper)
        if not 0 <= lower <= upper:
            where = f'line {number} (episode "{record.episode_id}")'
            yield Fault(where, f"lower is {lower:g} and upper is {upper:g}.", _REMEDY)
        if record.episode_id in first:
            problem = f"{record.episode_id} is already the episode of line {first[record.episode_id]}."
            yield Fault(f"line {number}", problem, "Keep one line per episode.", "episode_id")
        first.setdefault(record.episode_id, number)


def write_times(
    path: str | Path,
    times: FastestTimes,
    provenance: Provenance | None = None,
    *,
    plan: str = "",
    shard: PartPlan | None = None,
) -> None:
    """Write fastest times to a file; `shard` is what it states if it is a part."""
    columns = (times.episode_ids, times.lower.tolist(), times.upper.tolist(), times.keys or ("",) * len(times))
    records = [
        _Times(name, encode_seconds(lower), encode_seconds(upper), key)
        for name, lower, upper, key in zip(*columns, strict=True)
    ]
    body = msgspec.json.Encoder().encode_lines(records)
    header = Header(itinera="times", provenance=provenance, robot=times.robot, plan=plan)
    header.shard = None if shard is None else replace(shard, digest=digest_bytes(body))
    write_file(Path(path), header, body)


def encode_seconds(seconds: float) -> Seconds:
    """The seconds as JSON can hold them."""
    return "inf" if math.isinf(seconds) else seconds
