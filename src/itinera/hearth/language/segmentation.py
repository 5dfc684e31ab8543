"""The legs a path is told in: of all that can be said along it, what costs least. Start with `choose_legs`.

Prices vary at random, so that now a turn decides and now a landmark, and no two tellings are alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from itinera.hearth.language.path_context import Leg, Scene
from itinera.hearth.language.semantics import Act

DOUBT = (0.0, 3.0, 20.0)  # prices of saying what may be misunderstood
UNSAID = 3.0  # the price of not telling that the way goes up or down


@dataclass(frozen=True)
class Prices:
    """What it costs to say a clause: the cheaper, the likelier it is said."""

    acts: Mapping[Act, float]
    leg: float  # for each clause
    stretch: float  # for each step beyond the first that a clause covers
    turn_first: float  # for a turn said on top
    stride: float  # for telling how far to go
    again: float  # for an act said twice in a row; more for a thing named twice
    noise: float  # how much prices vary


STEPS = Prices(
    {
        Act.GO: -0.4,
        Act.TOWARDS: 0.9,
        Act.REACH: 0.5,
        Act.PASS: 0.5,
        Act.ENTER: 0.2,
        Act.LEAVE: 0.2,
        Act.DOOR: 0.2,
        Act.END: 0.5,
        Act.UP: 0.0,
        Act.DOWN: 0.0,
        Act.STOP: 0.8,  # bare; nothing at a thing
    },
    leg=0.2,
    stretch=1.0,
    turn_first=0.35,
    stride=1.4,
    again=0.3,
    noise=0.35,
)
ORDINARY = replace(STEPS, leg=1.2, stretch=0.0)


def choose_legs(scene: Scene, rng: np.random.Generator, prices: Prices) -> list[Leg]:
    """The legs of the path, the last of them a STOP, which may cover steps of its own."""
    ending: list[list[tuple[float, list[Leg]]]] = [[] for _ in scene.path]  # the cheapest ways to say each first part
    ending[0] = [(0.0, [])]
    whole: list[tuple[float, list[Leg]]] = []
    for i in range(len(scene.path)):
        for leg in scene.legs(i, rng):
            price = _price(leg, prices, rng) + _unsaid(scene, leg)
            before = min(ending[i], key=lambda said: said[0] + _repeats(said[1], leg, prices), default=None)
            if before is None:
                continue
            said = (before[0] + _repeats(before[1], leg, prices) + price, [*before[1], leg])
            (whole if leg.clause.act is Act.STOP else ending[leg.last]).append(said)
    return min(whole, key=lambda said: said[0])[1]


def _price(leg: Leg, prices: Prices, rng: np.random.Generator) -> float:
    clause, steps = leg.clause, max(leg.last - leg.first, 1)
    stairs = clause.act in (Act.UP, Act.DOWN)
    price = DOUBT[leg.doubt] + prices.leg + prices.acts[clause.act] + prices.noise * float(rng.gumbel())
    if clause.act is Act.STOP and clause.thing is not None:
        price -= prices.acts[Act.STOP]
    if not stairs:  # of which one speaks as a whole
        price += prices.stretch * (steps - 1)
    if clause.turn and clause.act is not Act.GO:
        price += prices.turn_first
    if clause.stride:
        price += prices.stride
    return round(price, 6)  # no farther than every machine's logarithm agrees


def _repeats(before: Sequence[Leg], leg: Leg, prices: Prices) -> float:
    """What it costs to say the same again."""
    if not before:
        return 0.0
    last, now = before[-1].clause, leg.clause
    # How far one goes in a direction is left open, so directions one after the other are hard to follow.
    price = prices.again * (last.act is now.act) * (2.5 if now.act is Act.GO else 1.0)
    if last.thing is not None and now.thing is not None and last.thing.name == now.thing.name:
        price += 10 * prices.again
    return price


def _unsaid(scene: Scene, leg: Leg) -> float:
    """What it costs to lead someone up or down without a word of it."""
    climbs = any(way.climb for way in scene.steps[leg.first : leg.last])
    return UNSAID if climbs and leg.clause.act not in (Act.UP, Act.DOWN) else 0.0
