"""Suites for other tasks than following a path: several goals in one task, robots that fall, moving targets.

None needs reference paths. Read each one as a table, as those of `suites.py`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from itinera.metrics.goal import in_plan, navigation_error, oracle_success, path_length, spl, success
from itinera.metrics.matching import MatchingRules
from itinera.metrics.step_events import (
    any_collision,
    collision_count,
    collision_rate,
    fall,
    stuck,
    tracked_steps,
    tracking_rate,
)
from itinera.metrics.subtasks import (
    completion_success,
    composite_success,
    conditional_success,
    soft_success,
    target_approach,
)
from itinera.metrics.suites import NE, PL, STEPS, Metric, Suite, TourMetric, pointnav
from itinera.metrics.tours import tour_mean
from itinera.metrics.usage import call_weights, calls, completion_tokens, cost, prompt_tokens, unparsable_rate
from itinera.tasks.protocol import R2R, Protocol


def goat_bench(protocol: Protocol = R2R) -> Suite:
    """GOAT-Bench's measures: the legs of a tour are its sub-tasks, and each begins where the one before ended."""
    arrived: dict[str, Any] = {"radius": protocol.success_radius, "inclusive": False, "needs_stop": True}
    succeeded = partial(success, **arrived)
    efficient = partial(spl, **arrived, straight=True, standing_still=np.nan)
    return Suite(
        "goat-bench",
        "GOAT-Bench goat_bench/measurements/nav.py",
        (Metric("PL", partial(path_length, straight=True), "m", "neither"), STEPS, NE, Metric("SR", succeeded),
         Metric("SPL", efficient)),
        (
            TourMetric("composite_success", partial(composite_success, success=succeeded), weight="tours"),
            TourMetric("partial_success", partial(tour_mean, measure=succeeded), weight="tours"),
            TourMetric("composite_SPL", partial(tour_mean, measure=efficient), weight="tours"),
        ),
        MatchingRules(starts="continue"),
        needs_reference=False,
    )  # fmt: skip


def lh_vln(protocol: Protocol = R2R) -> Suite:
    """LH-VLN's metrics: the legs of a tour are its sub-tasks, and a success counts for more after a success."""
    radius = protocol.success_radius
    succeeded = partial(success, radius=radius, inclusive=False, needs_stop=True)
    conditional = partial(conditional_success, success=succeeded)
    return Suite(
        "lh-vln",
        "LH-VLN utils/metrics.py",
        (PL, STEPS, NE, Metric("SR", succeeded),
         Metric("OSR", partial(oracle_success, radius=radius, inclusive=False)),
         Metric("TAR", partial(target_approach, radius=radius))),
        (
            TourMetric("composite_success", partial(composite_success, success=succeeded), weight="tours"),
            TourMetric("ISR", partial(tour_mean, measure=succeeded)),
            TourMetric("CSR_conditional", conditional, weight="tours"),
            TourMetric("CGT", partial(conditional_success, success=succeeded, weight="distance"), weight="tours"),
        ),
        MatchingRules(starts="continue"),
        needs_reference=False,
    )  # fmt: skip


def omninavbench(protocol: Protocol = R2R) -> Suite:
    """OmniNavBench's metrics in plan: the legs of a tour are one path that must reach their goals in order."""
    radius = protocol.success_radius
    return Suite(
        "omninavbench",
        "OmniNavBench bench/evaluator/offline_test.py, with one radius for all sub-tasks",
        _plan_metrics(partial(success, radius=radius, needs_stop=True), radius, inclusive=True),
        (
            TourMetric("CSR_completion", partial(completion_success, radius=radius), weight="tours"),
            TourMetric("SoftSR", partial(soft_success, radius=radius), weight="tours"),
        ),
        MatchingRules(starts="continue"),
        needs_reference=False,
    )


def _plan_metrics(succeeded: Any, radius: float, *, inclusive: bool) -> tuple[Metric, ...]:
    """The goal metrics of scorers that ignore heights."""
    reached = partial(oracle_success, radius=radius, inclusive=inclusive)
    return (
        Metric("PL", partial(in_plan, measure=path_length), "m", "neither"),
        STEPS,
        Metric("NE", partial(in_plan, measure=navigation_error), "m", "lower"),
        Metric("SR", partial(in_plan, measure=succeeded)),
        Metric("OSR", partial(in_plan, measure=reached)),
    )


FR = Metric("FR", fall, better="lower")
STR = Metric("StR", stuck, better="lower")
COLLISIONS = Metric("collisions", collision_count, "steps", "lower")
CR_STEPS = Metric("CR_steps", collision_rate, better="lower")
CR_EPISODES = Metric("CR_episodes", any_collision, better="lower")


def vln_pe(protocol: Protocol = R2R) -> Suite:
    """VLN-PE's metrics: straight lines in plan, falls and stuck endings."""
    radius = protocol.success_radius
    efficient = partial(spl, radius=radius, inclusive=False, optimum="stated", standing_still=0.0)
    return Suite(
        "vln-pe",
        "InternNav internnav/env/utils/internutopia_extension/metrics/vln_pe_metrics.py",
        (*_plan_metrics(partial(success, radius=radius, inclusive=False), radius, inclusive=False),
         Metric("SPL", partial(in_plan, measure=efficient)), FR, STR),
        needs_reference=False,
    )  # fmt: skip


def evt_bench(protocol: Protocol = R2R) -> Suite:
    """EVT-Bench's tracking rate, pooled over steps, and collision rate; the goal is where the target ended."""
    return Suite(
        "evt-bench",
        "TrackVLA analyze_results.py",
        (STEPS, Metric("SR", partial(success, radius=protocol.success_radius, needs_stop=protocol.needs_stop)),
         Metric("TR", tracking_rate, weight=tracked_steps), CR_EPISODES),
        needs_reference=False,
    )  # fmt: skip


def safety(protocol: Protocol = R2R) -> Suite:
    """The papers' goal metrics beside collisions, falls and stuck endings, for robots with and without bodies."""
    metrics = (*pointnav(protocol).metrics, COLLISIONS, CR_STEPS, CR_EPISODES, FR, STR)
    return Suite("safety", "goal metrics, collisions, falls and stuck endings", metrics, needs_reference=False)


def usage(protocol: Protocol = R2R) -> Suite:
    """The papers' goal metrics beside calls, tokens and cost of a language model, and its unparsable answers."""
    took = (
        Metric("calls", calls, "calls", better="neither"),
        Metric("prompt_tokens", prompt_tokens, "tokens", better="neither"),
        Metric("completion_tokens", completion_tokens, "tokens", better="neither"),
        Metric("cost", cost, "USD", "lower"),
        Metric("unparsable", unparsable_rate, better="lower", weight=call_weights),
    )
    return Suite(
        "usage", "goal metrics, calls, tokens and cost", (*pointnav(protocol).metrics, *took), needs_reference=False
    )
