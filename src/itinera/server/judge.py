"""From the scores of an entry to the verdict that a server stores: totals, intervals, scenes and coverage."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from itinera.records import ScoreTable
from itinera.records.summary import summarize
from itinera.server.verdicts import Coverage, Verdict


def make_verdict(
    table: ScoreTable, *, badge: Literal["live", "replayed", "scored", "claimed"], stopped: int, failed: int
) -> Verdict:
    """The verdict of a table. A metric that is undefined everywhere or infinite is left out.

    stopped, failed: how many of the answered episodes ended so.
    """
    summary = summarize(table)
    found = {name: one for name, one in summary.intervals.items() if math.isfinite(one.mean)}
    missing = int(table.missing.sum())
    return Verdict(
        badge=badge,
        episodes=len(table),
        missing=missing,
        coverage=Coverage(answered=len(table) - missing, stopped=stopped, failed=failed),
        suite=table.suite,
        protocol=table.protocol.label,
        fingerprint=table.fingerprint,
        scores={name: (one.mean, _bound(one.low), _bound(one.high)) for name, one in found.items()},
        scenes={name: _sum_scenes(table, name) for name in found if name in table},
    )


def _bound(bound: float) -> float | None:
    """The end of an interval; None if it has none, as that of a single episode."""
    return bound if math.isfinite(bound) else None


def _sum_scenes(table: ScoreTable, metric: str) -> dict[str, tuple[float, float]]:
    """Per scene, the sum and the number of the defined values of a metric."""
    values, scenes = table[metric], np.array(table.world_ids)
    sums = {}
    for scene in sorted(set(table.world_ids)):
        defined = values[(scenes == scene) & np.isfinite(values)]
        sums[scene] = (float(defined.sum()), float(len(defined)))
    return sums
