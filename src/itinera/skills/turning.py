"""Turning: told a direction, does an agent choose a way that lies there?

Six directions share the circle around where it faces. It faces one of the twelve headings of a panorama, the one in
which the node it was walked to was seen best, as Matterport's simulator has it.
Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents, section 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from itinera.errors import BadArgument
from itinera.records.action_probabilities import Leaning
from itinera.rendering.panorama import STEP, TURNS, VIEW_HEADINGS
from itinera.skills.filter_counts import Dropped
from itinera.skills.trials import Candidate, Draws, Skill, ask, graph_of, mass_on
from itinera.skills.truncation import Cut
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
"""Degrees to the right of where one faces, in (-180, 180]: more than the first and up to the second."""

_TURN = {"left": "right", "right": "left"}  # once turned around, what was back left lies to the right
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


def _composed(direction: str) -> tuple[str, ...]:
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
"""The sentences that the paper quotes, one for each direction."""

RELEASED: Mapping[str, tuple[str, ...]] = MappingProxyType({direction: _composed(direction) for direction in RANGES})
"""Those of the released script, 5 or 35 for each direction."""

SENTENCES = {"paper": PAPER, "released": RELEASED}

Orders: TypeAlias = Mapping[str, Mapping[str, Sequence[str]]]
"""By world and node, the nodes one step away in the order an agent is shown them."""


def turning(direction: str, sentences: Sequence[str] | None = None, *, orders: Orders | None = None) -> Skill:
    """The skill of going in a direction. Kept are cuts with a neighbour there and at least two elsewhere.

    A target is {"direction", "heading", "nodes"}: where the agent faces, radians counter-clockwise from +x, and the
    neighbours that lie in the direction. The released filter counts neighbours elsewhere only until it meets the first
    that lies there; it is the filter where `orders` say in which order they are met.
    """
    if direction not in RANGES:
        raise BadArgument(f"{direction!r} is no direction. There are {', '.join(RANGES)}.")
    drawn = tuple(PAPER[direction] if sentences is None else sentences)
    name = f"direction-{direction.replace(' ', '-')}"
    plan = partial(_design, name, direction, drawn, orders)
    return Skill(name, drawn, plan, mass_in_direction, measures="probability of the direction")


def _design(
    name: str, direction: str, sentences: Sequence[str], orders: Orders | None, cut: Cut, world: World, rng: Draws
) -> Iterator[Candidate]:
    graph, at = graph_of(world), cut.nodes[-1]
    facing = faced(graph, *cut.nodes[-2:])
    around = graph.neighbours(at) if orders is None else tuple(orders[world.id][at])
    inside = [lies(direction, rightward(graph.heading(at, node), facing)) for node in around]
    if not any(inside):
        yield Dropped("no neighbour in the direction")
    elif inside.count(False) < 2:
        yield Dropped("fewer than two neighbours elsewhere")
    elif orders is not None and inside.index(True) < 2:
        yield Dropped("fewer than two neighbours elsewhere are met first")
    else:
        nodes = [node for node, there in zip(around, inside, strict=True) if there]
        yield ask(cut, name, sentences, {"direction": direction, "heading": facing, "nodes": nodes}, rng)


def mass_in_direction(trial: Trial, leaning: Leaning, world: World) -> float:
    """How likely the agent was to go to a neighbour in the direction; to stop is none."""
    return mass_on(trial, leaning)


def faced(graph: NavGraph, before: str, at: str) -> float:
    """Where one faces after walking from one node to the next, radians counter-clockwise from +x.

    Half way between two of the twelve headings it is the one of lower number, clockwise from +y.
    """
    clockwise = math.pi / 2 - graph.heading(before, at)
    # Rounded, because the last bit of an arctangent must not choose between two headings.
    aside = [round(abs(math.remainder(clockwise - STEP * turn, math.tau)), 9) for turn in range(TURNS)]
    return float(VIEW_HEADINGS[aside.index(min(aside))])


def rightward(heading: float, facing: float) -> float:
    """How far a heading lies to the right of the one faced, degrees in (-180, 180]."""
    degrees = round(math.degrees(math.remainder(facing - heading, math.tau)), 9)
    return 180.0 if degrees == -180 else degrees


def lies(direction: str, degrees: float) -> bool:
    """Whether something so far to the right lies in a direction.

    >>> [direction for direction in RANGES if lies(direction, 165)], lies("backward", 180)
    (['back right'], True)
    """
    low, high = RANGES[direction]
    if low < high:
        return low < degrees <= high
    return degrees > low or degrees <= high
