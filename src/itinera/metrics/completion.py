"""Success weighted by completion time, where the fastest possible time is known between two bounds.

Start with `with_completion`, which adds the columns to a score table; `bounded_sct` is the definition.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadFile, Fault
from itinera.metrics.attempts import Attempts
from itinera.metrics.goal import sct
from itinera.records.scores import Column, ScoreTable
from itinera.records.tables import describe_robot
from itinera.tasks import Protocol
from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot
from itinera.worlds import Array

logger = logging.getLogger("itinera")

NEAR = 1e-6  # metres, metres per second or radians per second
DEFINITION = 1  # increased whenever a definition below changes its values
TimeBound = Literal["high", "low"]  # the bound of T that the value itself uses

COLUMNS = (Column("C", "s", "neither"), Column("SCT"), Column("SCT_low"), Column("SCT_high"))
ACTS = Column("acts", "steps", "neither")
THINKING = (Column("thinking", "s", "neither"), Column("waiting", "s", "neither"))


@dataclass(frozen=True, eq=False)
class BoundedSct:
    """SCT of each attempt and the bounds it lies between, NaN where undefined."""

    value: Array  # (n,)
    low: Array  # (n,) with T as small as it can be
    high: Array  # (n,) with T as large as it can be


def bounded_sct(
    succeeded: Array, completion: Array, low: Array, high: Array, *, fastest: TimeBound = "high"
) -> BoundedSct:
    """Success · T / max(C, T) for a fastest time T between `low` and `high`, all (n,), seconds.

    SCT never decreases in T, so its bounds are its values at the bounds of T. The value itself uses T = high, the
    time of a known trajectory; `fastest="low"` uses the other.

    Where C or a bound is unknown (NaN), all three are undefined, failures included: a mean over the rest must not
    consist of failures. Where the goal is unreachable (low is inf), all are 0. Where no trajectory is known though one
    may exist (high alone is inf), the upper bound of a success is 1, and the value at T = high is undefined.

    >>> found = bounded_sct(np.array([1.0]), np.array([20.0]), np.array([9.0]), np.array([10.0]))
    >>> found.low, found.value, found.high
    (array([0.45]), array([0.5]), array([0.5]))
    """
    unknown = np.isnan(completion) | np.isnan(low) | np.isnan(high)
    least, most = _at(succeeded, completion, low), _at(succeeded, completion, high)
    unknown_best = np.isinf(high) & np.isfinite(low)
    most = np.where(unknown_best, succeeded, most)
    value = least if fastest == "low" else np.where(unknown_best, np.nan, most)
    return BoundedSct(*(np.where(unknown, np.nan, values) for values in (value, least, most)))


def _at(succeeded: Array, completion: Array, seconds: Array) -> Array:
    reached = np.isfinite(seconds)
    return np.where(reached, sct(succeeded, completion, np.where(reached, seconds, 0.0)), 0.0)


def completion_times(groups: Iterable[Attempts], count: int) -> Array:
    """(count,) seconds from the first to the last place of the acting phase, NaN where not timed or missing."""
    taken = np.full(count, np.nan)
    for group in groups:
        taken[group.rows] = group.durations
    return taken


def thinking_columns(groups: Iterable[Attempts], count: int) -> dict[Column, Array]:
    """(count,) the number of actions that agents chose, the seconds in which they chose them (thinking), and those of
    these in which their bodies stood still (waiting). Columns of which no record says anything are left out."""
    values = {column: np.full(count, np.nan) for column in (ACTS, *THINKING)}
    is_known = False
    for group in groups:
        if group.thinking is not None:
            found = (group.thinking.acts, group.thinking.seconds, group.thinking.waiting)
            for column, of_group in zip(values.values(), found, strict=True):
                column[group.rows] = of_group
            is_known = is_known or group.thinking.is_known
    return {c: v for c, v in values.items() if np.isfinite(v).any() and (is_known or c is ACTS)}


def with_completion(
    table: ScoreTable,
    completion: Array,
    times: FastestTimes,
    *,
    fastest: TimeBound = "high",
    thinking: Mapping[Column, Array] | None = None,
) -> ScoreTable:
    """The table with completion times C and SCT with its bounds, by the success the table has.

    `thinking` are further columns, which C includes, see `thinking_columns`.
    The fingerprint then includes the robot, so that results of other dynamics cannot share a table.
    """
    found = _score_times(table, completion, times, fastest)
    credited = (found.value, found.low, found.high)
    definition = [table.fingerprint, DEFINITION, fastest, asdict(times.robot)]
    added = {**(thinking or {}), **dict(zip(COLUMNS, (completion, *credited), strict=True))}
    return replace(
        table,
        columns=(*table.columns, *added),
        values={**table.values, **{column.name: values for column, values in added.items()}},
        fingerprint=hashlib.blake2b(msgspec.json.encode(definition, order="sorted"), digest_size=8).hexdigest(),
        robot=times.robot,
    )


def sct_at_latency(table: ScoreTable, times: FastestTimes, seconds: float) -> Array:
    """(episodes,) SCT if the agent thinks so many seconds before each action, while its body stands still.

    The trajectory is then the same, so nothing is run again: each action takes that much longer. Seconds in which the
    body stood still in the run itself are left out first. NaN where the number of actions is unknown, or where the body
    moved while the agent thought. A table of `with_completion` needs its column `acts`.
    """
    waiting = table.values.get("waiting", np.zeros(len(table)))
    thinking = table.values.get("thinking", waiting)
    stood = np.where(thinking > waiting, np.nan, waiting)
    return _score_times(table, table["C"] - stood + table["acts"] * seconds, times, "high").value


def _score_times(table: ScoreTable, completion: Array, times: FastestTimes, fastest: TimeBound) -> BoundedSct:
    """SCT of these completion times by the success the table has; a missing trajectory has no time and scores 0."""
    low, high = _bounds(table, times)
    found = bounded_sct(table["SR"], completion, low, high, fastest=fastest)
    missing: NDArray[np.bool_] = table.missing & ~np.isnan(low)
    return BoundedSct(*(np.where(missing, 0.0, values) for values in (found.value, found.low, found.high)))


def add_completion(
    table: ScoreTable, attempts: Sequence[Attempts], times: FastestTimes, source: str = "times"
) -> ScoreTable:
    """The table with completion times and SCT of these attempts, with remarks on what they rest on.

    `source` names the times in messages.
    """
    without = episodes_without_times(table, times)
    if len(without) == len(table):
        problem = "contains the fastest time of no episode that was scored."
        raise BadFile(source, [Fault("", problem, "Give the times of these tasks.")])
    if without:
        logger.warning(f'{source} lacks {len(without)} of {len(table)} episodes, such as "{without[0]}".')
    completion = completion_times(attempts, len(table))
    if np.isnan(completion[~table.missing]).any():
        logger.warning("Some trajectories have no times: completion time and SCT are undefined there.")
    faults = list(_robot_faults(table.protocol, times.robot))
    if faults:
        raise BadFile(source, faults)
    logger.info(f"SCT by the fastest times of {describe_robot(times.robot)}.")
    return with_completion(table, completion, times, thinking=thinking_columns(attempts, len(table)))


def _robot_faults(protocol: Protocol, robot: ReferenceRobot) -> Iterator[Fault]:
    """Where the protocol's body could be faster than the reference robot, or is another body: no bound holds for it."""
    remedy = "Plan the times of this robot (itinera fastest-times), or name the protocol and drive of the predictions."
    speeds = (("radius", robot.radius, protocol.robot_radius), ("vmax", robot.vmax, protocol.step_size),
              ("wmax", robot.wmax, protocol.turn_angle))  # fmt: skip
    for name, bound, own in speeds:
        if bound is None or own is None:
            continue
        if own > bound + NEAR or (name == "radius" and own < bound - NEAR):
            yield Fault("line 1", f"is {bound:g}, that of protocol {protocol.label} {own:g}.", remedy, f"robot.{name}")
    if robot.dynamics == "point-turn" and (protocol.drive or "").startswith("unicycle"):
        problem = f"is point-turn, but {protocol.drive} drives curves, which are faster."
        yield Fault("line 1", problem, remedy, "robot.dynamics")


def episodes_without_times(table: ScoreTable, times: FastestTimes) -> tuple[str, ...]:
    """The episodes of a table that have no fastest time."""
    return tuple(episode_id for episode_id in table.episode_ids if episode_id not in times.rows)


def _bounds(table: ScoreTable, times: FastestTimes) -> tuple[Array, Array]:
    """Both bounds for each row of a table, NaN where an episode has no fastest time."""
    rows = np.array([times.rows.get(episode_id, -1) for episode_id in table.episode_ids], dtype=np.int64)
    bounds = np.vstack([np.append(times.lower, np.nan), np.append(times.upper, np.nan)])
    return bounds[0, rows], bounds[1, rows]
