"""Segmentation of a path for an instruction: of all possible clauses, the sequence of least cost (shortest path).

Start with `choose_segments`. Costs have random noise, so that instructions vary between turns and landmarks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from itinera.hearth.language.path_context import PathContext, Segment
from itinera.hearth.language.semantics import Act

AMBIGUITY_COSTS = (0.0, 3.0, 20.0)  # costs of ambiguous clauses
STAIRS_NAME = "stairs"
UNMENTIONED_STAIRS_COST = 3.0  # cost of not mentioning stairs


@dataclass(frozen=True)
class ClauseCosts:
    """The costs of clauses: the lower, the more frequent."""

    acts: Mapping[Act, float]
    segment: float  # per clause
    stretch: float  # per step beyond the first that a clause covers
    turn_first: float  # for an additional turn
    stride: float  # for stating a distance
    negation: float  # for stating where not to go
    contents: float  # for naming a room by an object in it
    repetition: float  # for an act repeated in a row; more for a landmark mentioned twice
    noise: float  # scale of the noise


STEPS = ClauseCosts(
    {
        Act.GO: -1.25,
        Act.TOWARDS: 0.9,
        Act.REACH: 0.5,
        Act.PASS: 0.5,
        Act.ENTER: 0.2,
        Act.LEAVE: 0.2,
        Act.DOOR: 0.2,
        Act.END: 0.5,
        Act.UP: 0.0,
        Act.DOWN: 0.0,
        Act.SEE: 0.7,
        Act.STOP: 0.8,  # without a landmark; 0 with one
    },
    segment=0.2,
    stretch=1.0,
    turn_first=0.1,
    stride=1.4,
    negation=1.3,
    contents=0.8,
    repetition=0.3,
    noise=0.35,
)
ORDINARY = replace(STEPS, acts={**STEPS.acts, Act.GO: -1.75}, segment=1.2, stretch=0.2)


def choose_segments(context: PathContext, rng: np.random.Generator, costs: ClauseCosts) -> list[Segment]:
    """The segments of the path; the last one is a STOP, which may cover steps of its own."""
    ending: list[list[tuple[float, list[Segment]]]] = [
        [] for _ in context.path
    ]  # the cheapest descriptions of each path prefix
    ending[0] = [(0.0, [])]
    whole: list[tuple[float, list[Segment]]] = []
    for i in range(len(context.path)):
        for segment in context.segments(i, rng):
            cost = _segment_cost(segment, costs, rng) + _unmentioned_cost(context, segment)
            before = min(
                ending[i], key=lambda chosen: chosen[0] + _repetition_cost(chosen[1], segment, costs), default=None
            )
            if before is None:
                continue
            chosen = (before[0] + _repetition_cost(before[1], segment, costs) + cost, [*before[1], segment])
            (whole if segment.clause.act is Act.STOP else ending[segment.last]).append(chosen)
    return min(whole, key=lambda chosen: chosen[0])[1]


def _segment_cost(segment: Segment, costs: ClauseCosts, rng: np.random.Generator) -> float:
    clause, steps = segment.clause, max(segment.last - segment.first, 1)
    stairs = clause.act in (Act.UP, Act.DOWN)
    cost = (
        AMBIGUITY_COSTS[segment.ambiguity] + costs.segment + costs.acts[clause.act] + costs.noise * float(rng.gumbel())
    )
    if clause.act is Act.STOP and clause.landmark is not None:
        cost -= costs.acts[Act.STOP]
    if not stairs:  # stairs are described as a whole
        cost += costs.stretch * (steps - 1)
    if clause.turn and clause.act is not Act.GO:
        cost += costs.turn_first
    if clause.stride:
        cost += costs.stride
    if clause.act is Act.ENTER and clause.landmark is not None:
        cost += costs.contents
    if clause.avoid or clause.avoid_side:
        cost += costs.negation
    return round(cost, 6)  # to the precision at which logarithms agree on every machine


def _repetition_cost(before: Sequence[Segment], segment: Segment, costs: ClauseCosts) -> float:
    """The cost of repetition."""
    if not before:
        return 0.0
    last, now = before[-1].clause, segment.clause
    # The distance of a direction is left open, so consecutive directions are hard to follow.
    cost = costs.repetition * (last.act is now.act) * (2.5 if now.act is Act.GO else 1.0)
    if last.landmark is not None and now.landmark is not None and last.landmark.name == now.landmark.name:
        cost += 10 * costs.repetition
    if last.act in (Act.UP, Act.DOWN) and now.landmark is not None and now.landmark.name == STAIRS_NAME:
        cost += 10 * costs.repetition  # "go up the stairs and stop by the stairs"
    return cost


def _unmentioned_cost(context: PathContext, segment: Segment) -> float:
    """The cost of leading up or down stairs without mentioning them."""
    climbs = any(candidate.climb for candidate in context.steps[segment.first : segment.last])
    return UNMENTIONED_STAIRS_COST if climbs and segment.clause.act not in (Act.UP, Act.DOWN) else 0.0
