"""Turning: given a direction, does an agent choose a candidate that lies in it?

Six directions divide the circle around the agent's heading. The agent faces one of the twelve headings of a panorama:
the one whose view showed the current node best, as in Matterport's simulator.
Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents, section 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from itinera.errors import BadArgument
from itinera.records.action_probabilities import ActionDistribution
from itinera.rendering.panorama import STEP, TURNS, VIEW_HEADINGS
from itinera.skills.filter_counts import RejectedTrial
from itinera.skills.trials import DesignOutcome, Skill, TrialRng, make_trial_pair, require_graph, target_probability
from itinera.skills.truncation import Truncation
from itinera.tasks.trial import Trial
from itinera.worlds import NavGraph, World

RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "forward": (-15, 15),
        "right": (15, 90),
        "back right": (90, 165),
        "backward": (165, -165),
        "back left": (-165, -90),
        "left": (-90, -15),
    }
)
"""Degrees to the right of the agent's heading, in (-180, 180]: more than the first and up to the second."""

_TURN = {"left": "right", "right": "left"}  # after turning around, back left is to the right
_AHEAD = ("Move forward", "Go forward", "Move ahead", "Walk ahead", "Go ahead")
_ASIDE = (
    "Turn to your {}",
    "Take a {}",
    "Go to your {}",
    "Go {}",
    "Turn to the {}",
    "Make a {}",
    "Take {}",
)


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _compose_sentences(direction: str) -> tuple[str, ...]:
    ahead = [_lower(words) for words in _AHEAD]
    if direction == "forward":
        return tuple(f"{words}." for words in _AHEAD)
    if direction == "backward":
        return tuple(f"Turn around and {on}." for on in ahead)
    if direction in _TURN:
        return tuple(f"{aside.format(direction)} and {on}." for aside in _ASIDE for on in ahead)
    side = _TURN[direction.removeprefix("back ")]
    return tuple(f"Turn around and {_lower(aside.format(side))}, {on}." for aside in _ASIDE for on in ahead)


PAPER: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "forward": ("Walk forward.",),
        "right": ("Turn right and walk forward.",),
        "back right": ("Turn around and go to your left.",),
        "backward": ("Turn around and walk forward.",),
        "back left": ("Turn around and go to your right.",),
        "left": ("Turn left and walk forward.",),
    }
)
"""The sentences the paper quotes, one for each direction."""

RELEASED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {direction: _compose_sentences(direction) for direction in RANGES}
)
"""The sentences of the released script, 5 or 35 for each direction."""

SENTENCES = {"paper": PAPER, "released": RELEASED}

NeighborOrders: TypeAlias = Mapping[str, Mapping[str, Sequence[str]]]
"""By world and node, the neighbouring nodes in the order in which an agent observes them."""


def direction_skill(
    direction: str, sentences: Sequence[str] | None = None, *, orders: NeighborOrders | None = None
) -> Skill:
    """The skill of going in a direction. Kept are truncations with a neighbour in it and at least two elsewhere.

    A target is {"direction", "heading", "nodes"}: the agent's heading, radians counter-clockwise from +x, and the
    neighbours that lie in the direction. The released filter counts the neighbours elsewhere only up to the first one
    that lies in the direction; give `orders` to apply it.
    """
    if direction not in RANGES:
        raise BadArgument(f"{direction!r} is not a direction. Use one of {', '.join(RANGES)}.")
    choices = tuple(PAPER[direction] if sentences is None else sentences)
    name = f"direction-{direction.replace(' ', '-')}"
    design = partial(_design, name, direction, choices, orders)
    return Skill(name, choices, design, direction_response, response_name="probability of the direction")


def _design(
    name: str,
    direction: str,
    sentences: Sequence[str],
    orders: NeighborOrders | None,
    truncation: Truncation,
    world: World,
    rng: TrialRng,
) -> Iterator[DesignOutcome]:
    graph, node = require_graph(world), truncation.nodes[-1]
    heading = panorama_heading(graph, *truncation.nodes[-2:])
    neighbors = graph.neighbors(node) if orders is None else tuple(orders[world.id][node])
    inside = [is_in_direction(direction, degrees_right(graph.heading(node, other), heading)) for other in neighbors]
    if not any(inside):
        yield RejectedTrial("no neighbour in the direction")
    elif inside.count(False) < 2:
        yield RejectedTrial("fewer than two neighbours elsewhere")
    elif orders is not None and inside.index(True) < 2:
        yield RejectedTrial("fewer than two neighbours elsewhere come first")
    else:
        nodes = [other for other, is_inside in zip(neighbors, inside, strict=True) if is_inside]
        target = {"direction": direction, "heading": heading, "nodes": nodes}
        yield make_trial_pair(truncation, name, sentences, target, rng)


def direction_response(trial: Trial, distribution: ActionDistribution, world: World) -> float:
    """The probability of going to a neighbour in the direction; STOP is not one."""
    return target_probability(trial, distribution)


def panorama_heading(graph: NavGraph, previous: str, node: str) -> float:
    """The agent's heading after moving from one node to the next, radians counter-clockwise from +x.

    One of the twelve headings of a panorama; half way between two, the one with the lower index, clockwise from +y.
    """
    clockwise = math.pi / 2 - graph.heading(previous, node)
    # Rounded, because the last bit of an arctangent must not choose between two headings.
    offsets = [round(abs(math.remainder(clockwise - STEP * turn, math.tau)), 9) for turn in range(TURNS)]
    return float(VIEW_HEADINGS[offsets.index(min(offsets))])


def degrees_right(heading: float, agent_heading: float) -> float:
    """How far a heading lies to the right of the agent's heading, degrees in (-180, 180]."""
    degrees = round(math.degrees(math.remainder(agent_heading - heading, math.tau)), 9)
    return 180.0 if degrees == -180 else degrees


def is_in_direction(direction: str, degrees: float) -> bool:
    """Whether an angle, degrees to the right, lies in a direction.

    >>> [direction for direction in RANGES if is_in_direction(direction, 165)], is_in_direction("backward", 180)
    (['back right'], True)
    """
    low, high = RANGES[direction]
    if low < high:
        return low < degrees <= high
    return degrees > low or degrees <= high
