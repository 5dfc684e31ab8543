"""Success weighted by completion time, where the fastest possible time is known between two bounds.

Start with `with_completion`, which adds the columns to a table of scores; `bounded_sct` is the definition.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from itinera.metrics.efficiency import sct
from itinera.metrics.matching import Pairs
from itinera.records.scores import Column, ScoreTable
from itinera.tasks.fastest_times import FastestTimes
from itinera.worlds import Array

DEFINITION = 1  # raised whenever a definition below changes what it returns
Fastest = Literal["high", "low"]  # which bound of T the value itself takes

COLUMNS = (Column("C", "s", "neither"), Column("SCT"), Column("SCT_low"), Column("SCT_high"))


@dataclass(frozen=True, eq=False)
class BoundedSct:
    """SCT of each attempt and the bounds it lies between, NaN where undefined."""

    value: Array  # (n,)
    low: Array  # (n,) with T as small as it can be
    high: Array  # (n,) with T as large as it can be


def bounded_sct(
    succeeded: Array, completion: Array, low: Array, high: Array, *, fastest: Fastest = "high"
) -> BoundedSct:
    """Success · T / max(C, T) for a fastest time T between `low` and `high`, all (n,), seconds.

    SCT never falls as T grows, so its bounds are its values at the bounds of T. The value itself takes T = high, the
    time of a drive that is known and can be shown; `fastest="low"` takes the other.

    Where C or a bound is not known (NaN), all three are undefined, failures included: a mean over the rest must not
    consist of failures. Where no way leads (low is inf), all are 0. Where no drive is known though one may exist (high
    alone is inf), nothing is between a success and 1, and a value at T = high is undefined.

    >>> found = bounded_sct(np.array([1.0]), np.array([20.0]), np.array([9.0]), np.array([10.0]))
    >>> found.low, found.value, found.high
    (array([0.45]), array([0.5]), array([0.5]))
    """
    unknown = np.isnan(completion) | np.isnan(low) | np.isnan(high)
    least, most = _at(succeeded, completion, low), _at(succeeded, completion, high)
    unproved = np.isinf(high) & np.isfinite(low)
    most = np.where(unproved, succeeded, most)
    value = least if fastest == "low" else np.where(unproved, np.nan, most)
    return BoundedSct(*(np.where(unknown, np.nan, values) for values in (value, least, most)))


def _at(succeeded: Array, completion: Array, seconds: Array) -> Array:
    reached = np.isfinite(seconds)
    return np.where(reached, sct(succeeded, completion, np.where(reached, seconds, 0.0)), 0.0)


def completion_times(groups: Iterable[Pairs], count: int) -> Array:
    """(count,) seconds from the first to the last place of the acting phase, NaN where not timed or never walked."""
    taken = np.full(count, np.nan)
    for group in groups:
        taken[group.rows] = group.durations
    return taken


def with_completion(
    table: ScoreTable, completion: Array, times: FastestTimes, *, fastest: Fastest = "high"
) -> ScoreTable:
    """The table with completion times C and SCT with its bounds, by the success the table has.

    The fingerprint then tells the robot as well, so that results by other dynamics cannot share a table.
    """
    low, high = _of_episodes(table, times)
    found = bounded_sct(table["SR"], completion, low, high, fastest=fastest)
    # Whoever never walked has no time, and no credit.
    absent: NDArray[np.bool_] = table.missing & ~np.isnan(low)
    credited = [np.where(absent, 0.0, values) for values in (found.value, found.low, found.high)]
    told = [table.fingerprint, DEFINITION, fastest, asdict(times.robot)]
    return replace(
        table,
        columns=(*table.columns, *COLUMNS),
        values={**table.values, **{c.name: v for c, v in zip(COLUMNS, (completion, *credited), strict=True)}},
        fingerprint=hashlib.blake2b(msgspec.json.encode(told, order="sorted"), digest_size=8).hexdigest(),
        robot=times.robot,
    )


def untimed(table: ScoreTable, times: FastestTimes) -> tuple[str, ...]:
    """The episodes of a table whose fastest time is not told."""
    return tuple(episode_id for episode_id in table.episode_ids if episode_id not in times.rows)


def _of_episodes(table: ScoreTable, times: FastestTimes) -> tuple[Array, Array]:
    """Both bounds for each row of a table, NaN where an episode is not among the times."""
    rows = np.array([times.rows.get(episode_id, -1) for episode_id in table.episode_ids], dtype=np.int64)
    bounds = np.vstack([np.append(times.low, np.nan), np.append(times.high, np.nan)])
    return bounds[0, rows], bounds[1, rows]
