"""The shortest way past a list of places in their order, where coming near each of them is enough.

On a graph the way is exact. In the open it is the shortest string of straight lines that touches a ball around each
place, a convex problem solved for many ways at once, to a tenth of a millimetre or so.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, NoRoute
from itinera.worlds import Array, Euclidean, NavGraph, Places, Space

# Lengths are smoothed over these distances in turn, metres, each time from where the last left off.
_SMOOTHING = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
_ROUNDS = 100  # descents at each


def shortest_past(space: Space, ways: Sequence[Places], *, radius: float = 0.0) -> list[Places]:
    """For each way, the shortest walk from its first place that comes within `radius` metres of every other in order.

    It ends within the radius of the last. Distances are the space's own, so in the open, where walls are not known, no
    real walk is shorter. Radius 0 asks for the places themselves and works in any space; more works on graphs and in
    the open. Raises NoRoute where a place cannot be reached.

    >>> there_and_back = np.array([[0.0, 0.0, 0.0], [5.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> shortest_past(Euclidean(), [there_and_back], radius=1.0)[0][:, 0].round(3).tolist()
    [0.0, 4.0, 1.0]
    """
    if not 0 <= radius < np.inf:
        raise BadArgument(f"The radius is {radius} m. Give a distance of 0 or more.")
    if any(len(way) == 0 for way in ways):
        raise BadArgument("A way without places leads nowhere. It must hold at least its start.")
    if isinstance(space, NavGraph):
        return [_on_graph(space, space.locate(way), radius) for way in ways]
    if radius == 0:
        return [_through(space, way) for way in ways]
    if isinstance(space, Euclidean):
        return _in_the_open([space.locate(way) for way in ways], radius)
    raise BadArgument("Passing near a place is known on graphs and in the open only. Here, give radius 0.")


def _through(space: Space, way: Places) -> Places:
    """The shortest walk through the places themselves."""
    if isinstance(space, Euclidean):
        return space.locate(way)
    walk = list(way[:1])
    for stop in way[1:]:
        walk.extend(space.route(walk[-1], stop)[1:])
    return tuple(cast(list[str], walk)) if isinstance(walk[0], str) else np.stack(walk)


def _on_graph(graph: NavGraph, way: NDArray[np.int64], radius: float) -> tuple[str, ...]:
    """Dynamic programming over the nodes near each place: the best way to each is the best by any near the last."""
    near = [way[:1], *(np.flatnonzero(graph.distances[:, place] <= radius) for place in way[1:])]
    length, came = np.zeros(1), []
    for before, here in pairwise(near):
        by = length[:, None] + graph.distances[np.ix_(before, here)]
        came.append(by.argmin(axis=0))
        length = by.min(axis=0)
    if not np.isfinite(length.min()):
        raise NoRoute(f"No way leads from {graph.nodes[way[0]]} past {graph.nodes[way[-1]]}.")
    at = int(length.argmin())
    chosen = [near[-1][at]]
    for before, back in zip(reversed(near[:-1]), reversed(came), strict=True):
        at = int(back[at])
        chosen.append(before[at])
    stops = [graph.nodes[i] for i in reversed(chosen)]
    walk = stops[:1]
    for stop in stops[1:]:
        walk.extend(graph.route(walk[-1], stop)[1:])
    return tuple(walk)


def _in_the_open(ways: Sequence[Array], radius: float) -> list[Places]:
    """Accelerated projected descent on the smoothed length, all ways side by side."""
    longest = max((len(way) for way in ways), default=0)
    if longest < 2:
        return list(ways)
    # Ways are made equally long by repeating their last place: staying costs nothing.
    padded = np.stack([np.concatenate([way, np.repeat(way[-1:], longest - len(way), axis=0)]) for way in ways])
    start, centres = padded[:, :1], padded[:, 1:]
    best = centres
    for smoothing in _SMOOTHING:
        best = _descended(start, centres, best, radius, smoothing)
    walks = np.concatenate([start, best], axis=1)
    return [walk[: len(way)] for walk, way in zip(walks, ways, strict=True)]


def _descended(start: Array, centres: Array, points: Array, radius: float, smoothing: float) -> Array:
    ahead, pace = points, np.ones((len(points), 1, 1))
    for _ in range(_ROUNDS):
        moved = _within(ahead - smoothing / 4 * _slope(start, ahead, smoothing), centres, radius)
        # A way whose momentum leads uphill gathers it anew.
        uphill = ((ahead - moved) * (moved - points)).sum(axis=(1, 2), keepdims=True) > 0
        pace = np.where(uphill, 1.0, pace)
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead, points, pace = moved + (pace - 1) / faster * (moved - points), moved, faster
    return points


def _slope(start: Array, points: Array, smoothing: float) -> Array:
    """(ways, places, 3) how the smoothed length grows as each point moves; no steeper than 4 / smoothing times that."""
    steps = np.diff(points, axis=1, prepend=start)
    slope: Array = steps / np.sqrt((steps**2).sum(axis=2, keepdims=True) + smoothing**2)
    slope[:, :-1] -= slope[:, 1:].copy()
    return slope


def _within(points: Array, centres: Array, radius: float) -> Array:
    """The points, those farther than the radius from their centres brought to it."""
    away = points - centres
    far = np.linalg.norm(away, axis=2, keepdims=True)
    nearer: Array = centres + away * (radius / np.maximum(far, radius))
    return nearer
