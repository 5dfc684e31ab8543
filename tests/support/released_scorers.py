"""The rules of every scorer in plain Python, one attempt at a time: ours (`paper`) and the released ones.

A function per scorer, written from the behavior of that scorer rather than from our options, so that it can verify the
suites. None stands for undefined: a division of nothing by nothing, an error raised, a file refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, inf
from typing import Any

import twins
from twins import Distance

Values = dict[str, float | None]


@dataclass(frozen=True)
class Attempt:
    walk: Sequence[Any]
    start: Any
    goals: Sequence[Any]
    reference: Sequence[Any]
    distance: Distance  # the world's own
    straight: Distance  # between positions
    joined: Callable[[Any, Any], bool]  # by an edge; always so in the open
    radius: float = 3.0
    stopped: bool = True
    needs_stop: bool = False
    stated: float | None = None

    @property
    def jumps(self) -> bool:
        return any(a != b and not self.joined(a, b) for a, b in pairwise(self.walk))

    @property
    def starts_elsewhere(self) -> bool:
        return self.straight(self.walk[0], self.start) > 0.5

    @property
    def gaps(self) -> list[list[float]]:
        return [[self.distance(p, r) for r in self.reference] for p in self.walk]

    @property
    def length(self) -> float:
        return twins.path_length(self.walk, self.distance)


def over(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def times(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a * b


def refused(names: str) -> Values:
    return dict.fromkeys(names.split())


def paper(a: Attempt) -> Values:
    names = "PL steps NE ONE SR OSR SPL SED SED_nodes DTW nDTW SDTW PC LS CLS"
    if a.jumps or a.starts_elsewhere:
        return refused(names)
    found = twins.metrics_by_hand(a.walk, a.reference, a.goals, a.distance, a.radius)
    edits = twins.levenshtein(a.walk, a.reference)
    found["SED_nodes"] = found["SR"] * (1 - edits / max(len(a.walk), len(a.reference)))
    if a.needs_stop and not a.stopped:
        found |= dict.fromkeys(("SR", "SPL", "SED", "SED_nodes", "SDTW"), 0.0)
    found["steps"] = len(a.walk) - 1
    found["DTW"] = twins.dtw(a.gaps)
    found["PC"] = twins.coverage(a.gaps, a.radius)
    found["LS"] = twins.length_score(a.gaps, a.length, twins.path_length(a.reference, a.distance), a.radius)
    return {name: found[name] for name in names.split()}


def reached(a: Attempt) -> Values:
    """Success as all discrete scorers define it: strictly within the radius of the last reference place."""
    errors = [a.distance(p, a.reference[-1]) for p in a.walk]
    return {
        "PL": a.length,
        "steps": len(a.walk) - 1,
        "NE": errors[-1],
        "ONE": min(errors),
        "SR": float(errors[-1] < a.radius),
        "OSR": float(min(errors) < a.radius),
    }


def m3ds(a: Attempt) -> Values:
    if a.jumps or a.starts_elsewhere:
        return refused("PL steps NE ONE SR OSR SPL")
    found = reached(a)
    shortest = a.distance(a.start, a.reference[-1])
    found["SPL"] = over(shortest, max(a.length, shortest)) if found["SR"] else 0.0
    return found


def envdrop(a: Attempt) -> Values:
    if a.starts_elsewhere:
        return refused("PL steps NE ONE SR OSR SPL")
    found = reached(a)
    shortest = a.distance(a.start, a.reference[-1])
    found["SPL"] = shortest / max(a.length, shortest, 0.01) if found["SR"] else 0.0
    return found


def hamt(a: Attempt) -> Values:
    if a.starts_elsewhere:
        return refused("PL steps NE ONE SR OSR SPL nDTW SDTW CLS")
    found = reached(a)
    loop = twins.path_length(a.reference, a.distance)
    found["SPL"] = loop / max(loop, a.length, 0.01) if found["SR"] else 0.0
    found["nDTW"] = exp(-twins.dtw(a.gaps) / (a.radius * len(a.reference)))
    found["SDTW"] = times(found["SR"], found["nDTW"])
    found["CLS"] = released_cls(a)
    return found


def released_cls(a: Attempt) -> float | None:
    covered = twins.coverage(a.gaps, a.radius)
    expected = covered * twins.path_length(a.reference, a.distance)
    return times(covered, over(expected, expected + abs(expected - a.length)))


def google(a: Attempt) -> Values:
    found = reached(a)
    stuck = any(not a.joined(p, q) for p, q in pairwise(a.walk))  # a repeated node is no edge either
    ndtw = exp(-twins.dtw(a.gaps) / (a.radius * len(a.reference)))
    success = float(found["NE"] <= a.radius)
    return {
        "PL": None if stuck else found["PL"],
        "NE": found["NE"],
        "SR": success,
        "nDTW": ndtw,
        "SDTW": success * ndtw,
        "CLS": None if stuck else released_cls(a),
    }


def vlnce(a: Attempt) -> Values:
    if a.starts_elsewhere:
        return refused("PL steps NE ONE SR OSR SPL nDTW SDTW")
    found = reached(a)
    found["SR"] = float(a.stopped and found["NE"] < a.radius)
    found["PL"] = length = twins.path_length(a.walk, a.straight)
    shortest = a.distance(a.start, a.reference[-1]) if a.stated is None else a.stated
    found["SPL"] = over(shortest, max(shortest, length)) if found["SR"] else 0.0
    found["nDTW"] = exp(-twins.fastdtw(without_repeats(a.walk), a.reference) / (a.radius * len(a.reference)))
    found["SDTW"] = times(found["SR"], found["nDTW"])
    return found


def without_repeats(walk: Sequence[Any]) -> list[Any]:
    return [place for i, place in enumerate(walk) if i == 0 or place != walk[i - 1]]


EPISODES = {
    "paper": paper,
    "m3ds": m3ds,
    "envdrop": envdrop,
    "hamt": hamt,
    "google": google,
    "ivln": hamt,
    "vlnce": vlnce,
    "ivln-ce": vlnce,
}


def tour_paper(tour: Sequence[Attempt]) -> Values:
    if any(a.jumps or a.starts_elsewhere for a in tour):
        return refused("t-nDTW t-SR t-SPL")
    cost = twins.dtw(twins.tour_gaps([a.walk for a in tour], [a.reference for a in tour], tour[0].distance))
    values = [paper(a) for a in tour]
    return {
        "t-nDTW": exp(-cost / (tour[0].radius * sum(len(a.reference) for a in tour))),
        "t-SR": sum(v["SR"] for v in values) / len(tour),
        "t-SPL": sum(v["SPL"] for v in values) / len(tour),
    }


def tour_ivln(tour: Sequence[Attempt]) -> Values:
    weights = [over(max(a.length, far := a.distance(a.start, a.reference[-1])), far) for a in tour]
    values = [hamt(a) for a in tour]
    found = windowed(tour, [a.walk for a in tour], tour[0].distance)
    for name in ("SR", "SPL"):
        shares = [times(weight, value[name]) for weight, value in zip(weights, values, strict=True)]
        found[f"t-{name}"] = None if None in shares else sum(shares) / sum(weights)
    return found


def tour_ivln_ce(tour: Sequence[Attempt]) -> Values:
    return windowed(tour, [without_repeats(a.walk) for a in tour], tour[0].straight)


def windowed(tour: Sequence[Attempt], walks: Sequence[Sequence[Any]], distance: Distance) -> Values:
    cost = twins.dtw(twins.tour_window(walks, [a.reference for a in tour], distance))
    places = sum(len(a.reference) for a in tour)
    return {"t-nDTW": None if cost == inf else exp(-cost / (tour[0].radius * places))}


TOURS = {"paper": tour_paper, "ivln": tour_ivln, "ivln-ce": tour_ivln_ce}


def tour_weight(suite: str, episodes: int) -> int:
    """The weight of a tour in the mean over a split: its episodes, or in IVLN-CE its changes of episode."""
    return episodes - 1 if suite == "ivln-ce" else episodes
