"""Suites of single benchmarks: Habitat's navigation, NDH, REVERIE and SOON. `suites.py` imports this file on demand.

`ndh`, `reverie` and `soon` are ours, with every edge case decided; the others reproduce released scorers, with quirks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from itinera.metrics.attempts import Attempts
from itinera.metrics.goal import (
    goal_progress,
    navigation_error,
    oracle_error,
    oracle_success,
    path_length,
    soft_spl,
    spl,
    success,
)
from itinera.metrics.grounding import (
    grounding_spl,
    grounding_success,
    match_directions,
    match_objects,
    object_spl,
    object_success,
    oracle_object_success,
    released_oracle_error,
    released_oracle_success,
)
from itinera.metrics.matching import MatchingRules
from itinera.metrics.suites import GOAL_METRICS, NE, ONE, PL, STEPS, Metric, Suite, paper
from itinera.tasks.protocol import Protocol
from itinera.worlds import Array, Ragged

GP = Metric("GP", goal_progress, "m", "higher")


def habitat(protocol: Protocol) -> Suite:
    """Habitat's measures of navigation to a point: straight lines per step, STOP required, SoftSPL."""
    arrived: dict[str, Any] = {"radius": protocol.success_radius, "inclusive": False, "needs_stop": True}
    stated: dict[str, Any] = {"optimum": "stated", "straight": True, "standing_still": np.nan}
    return Suite(
        "habitat",
        "habitat-lab habitat-lab/habitat/tasks/nav/nav.py",
        (
            Metric("PL", partial(path_length, straight=True), "m", "neither"),
            STEPS,
            NE,
            Metric("SR", partial(success, **arrived)),
            Metric("SPL", partial(spl, **arrived, **stated)),
            Metric("SoftSPL", partial(soft_spl, **stated)),
        ),
        needs_reference=False,
    )


def ndh(protocol: Protocol) -> Suite:
    """The papers' definitions and goal progress; each of `end_panos` is a goal."""
    suite = paper(protocol)
    about = "the papers' definitions and goal progress"
    return replace(suite, name="ndh", about=about, metrics=(*suite.metrics, GP), protocols=("ndh",))


def at_reference_end(attempts: Attempts, *, measure: Callable[[Attempts], Array]) -> Array:
    """The metric with the end of the reference path as the only goal."""
    ends = Ragged.from_counts(attempts.reference.lasts(), np.ones(len(attempts), dtype=np.int64))
    return measure(replace(attempts, goals=ends))


def cvdn(protocol: Protocol) -> Suite:
    """CVDN's own scorer: GP by the goals, everything else by the end of the reference path."""
    radius = protocol.success_radius
    near: dict[str, Any] = {"radius": radius, "inclusive": False}
    return Suite(
        "cvdn",
        "CVDN tasks/NDH/eval.py",
        (
            PL,
            Metric("NE", partial(at_reference_end, measure=navigation_error), "m", "lower"),
            Metric("ONE", partial(at_reference_end, measure=oracle_error), "m", "lower"),
            Metric("SR", partial(at_reference_end, measure=partial(success, **near))),
            Metric("OSR", partial(at_reference_end, measure=partial(oracle_success, **near))),
            Metric("SPL", partial(at_reference_end, measure=partial(spl, **near))),
            GP,
        ),
        protocols=("ndh",),
    )


def reverie(protocol: Protocol) -> Suite:
    """REVERIE's definitions: success is to see the target object from the last place, RGS to name it there."""
    return Suite(
        "reverie",
        "REVERIE's definitions, every edge case decided",
        (
            PL,
            STEPS,
            NE,
            ONE,
            Metric("SR", object_success),
            Metric("OSR", oracle_object_success),
            Metric("SPL", object_spl),
            Metric("RGS", grounding_success),
            Metric("RGSPL", grounding_spl),
        ),
        protocols=("reverie",),
        add_targets=match_objects,
        needs_objects=True,
    )


def duet_reverie(protocol: Protocol) -> Suite:
    """DUET's scorer of REVERIE: only boxes decide on success, RGS needs no arrival, L is the reference's length."""
    weighed: dict[str, Any] = {"optimum": "reference", "floor": 0.01}
    return Suite(
        "duet-reverie",
        "VLN-DUET map_nav_src/reverie/env.py",
        (
            PL,
            STEPS,
            Metric("SR", partial(object_success, goals_count=False)),
            Metric("OSR", partial(oracle_object_success, goals_count=False)),
            Metric("SPL", partial(object_spl, goals_count=False, **weighed)),
            Metric("RGS", partial(grounding_success, needs_arrival=False)),
            Metric("RGSPL", partial(grounding_spl, needs_arrival=False, **weighed)),
        ),
        rules=MatchingRules(jumps="measure"),
        protocols=("reverie",),
        add_targets=match_objects,
        needs_objects=True,
    )


def soon(protocol: Protocol) -> Suite:
    """The papers' goal metrics with every viewpoint of the target as a goal, GP, and pointing at the target."""
    return Suite(
        "soon",
        "SOON's definitions, every edge case decided",
        (
            *(metric for metric in paper(protocol).metrics if metric.name in GOAL_METRICS),
            GP,
            Metric("det-SR", partial(grounding_success, needs_arrival=False)),
            Metric("det-SPL", partial(grounding_spl, needs_arrival=False)),
        ),
        protocols=("soon",),
        add_targets=match_directions,
    )


def duet_soon(protocol: Protocol) -> Suite:
    """DUET's scorer of SOON: one goal, which is the last place if it has a box; OSR mixes two goals."""
    near: dict[str, Any] = {"radius": protocol.success_radius, "inclusive": False}
    return Suite(
        "duet-soon",
        "VLN-DUET map_nav_src/soon/env.py",
        (
            PL,
            STEPS,
            NE,
            Metric("ONE", released_oracle_error, "m", "lower"),
            Metric("SR", partial(success, **near)),
            Metric("OSR", partial(released_oracle_success, radius=protocol.success_radius)),
            Metric("SPL", partial(spl, **near, floor=0.01)),
            GP,
            Metric("det-SR", partial(grounding_success, needs_arrival=False)),
            Metric("det-SPL", partial(grounding_spl, needs_arrival=False, floor=0.01)),
        ),
        rules=MatchingRules(jumps="measure"),
        protocols=("soon",),
        add_targets=partial(match_directions, released=True),
    )
