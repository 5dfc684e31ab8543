"""The shortest path past a list of waypoints in their order, within a radius of each.

On a graph the path is exact. In Euclidean space it is the shortest polyline that touches a ball around each waypoint, a
convex problem solved for many paths at once, to about a tenth of a millimetre.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, NoRoute
from itinera.worlds import Array, Euclidean, NavGraph, Places, Space

# Lengths are smoothed over these distances in turn, metres, each time starting from the last solution.
_SMOOTHING = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
_STEPS = 100  # of descent at each


def shortest_waypoint_paths(space: Space, routes: Sequence[Places], *, radius: float = 0.0) -> list[Places]:
    """For each list of waypoints, the shortest path from the first that comes within `radius` metres of the others.

    Waypoints are passed in order, and the path ends within the radius of the last. Distances are those of the space, so
    in Euclidean space, without walls, no real path is shorter. Radius 0 passes the waypoints themselves and works in
    any space; larger ones work on graphs and in Euclidean space. Raises NoRoute if a waypoint cannot be reached.

    >>> there_and_back = np.array([[0.0, 0.0, 0.0], [5.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> shortest_waypoint_paths(Euclidean(), [there_and_back], radius=1.0)[0][:, 0].round(3).tolist()
    [0.0, 4.0, 1.0]
    """
    if not 0 <= radius < np.inf:
        raise BadArgument(f"radius must be a distance ≥ 0 (got {radius} m).")
    if any(len(route) == 0 for route in routes):
        raise BadArgument("A list of waypoints is empty. It must contain at least its start.")
    if isinstance(space, NavGraph):
        return [_on_graph(space, space.locate(route), radius) for route in routes]
    if radius == 0:
        return [_through_waypoints(space, route) for route in routes]
    if isinstance(space, Euclidean):
        return _in_euclidean_space([space.locate(route) for route in routes], radius)
    raise BadArgument("A radius above 0 is supported on graphs and in Euclidean space. Use radius 0 here.")


def _through_waypoints(space: Space, route: Places) -> Places:
    """The shortest path through the waypoints themselves."""
    if isinstance(space, Euclidean):
        return space.locate(route)
    path = list(route[:1])
    for waypoint in route[1:]:
        path.extend(space.route(path[-1], waypoint)[1:])
    return tuple(cast(list[str], path)) if isinstance(path[0], str) else np.stack(path)


def _on_graph(graph: NavGraph, route: NDArray[np.int64], radius: float) -> tuple[str, ...]:
    """Dynamic programming over the nodes near each waypoint."""
    near = [route[:1], *(np.flatnonzero(graph.distances[:, node] <= radius) for node in route[1:])]
    length, predecessors = np.zeros(1), []
    for before, here in pairwise(near):
        lengths = length[:, None] + graph.distances[np.ix_(before, here)]
        predecessors.append(lengths.argmin(axis=0))
        length = lengths.min(axis=0)
    if not np.isfinite(length.min()):
        raise NoRoute(f"There is no path from {graph.nodes[route[0]]} past {graph.nodes[route[-1]]}.")
    at = int(length.argmin())
    chosen = [near[-1][at]]
    for before, back in zip(reversed(near[:-1]), reversed(predecessors), strict=True):
        at = int(back[at])
        chosen.append(before[at])
    stops = [graph.nodes[i] for i in reversed(chosen)]
    path = stops[:1]
    for stop in stops[1:]:
        path.extend(graph.route(path[-1], stop)[1:])
    return tuple(path)


def _in_euclidean_space(routes: Sequence[Array], radius: float) -> list[Places]:
    """Accelerated projected gradient descent on the smoothed length, all paths in one batch."""
    longest = max((len(route) for route in routes), default=0)
    if longest < 2:
        return list(routes)
    # Routes are padded by repeating their last waypoint: staying there costs nothing.
    padded = np.stack([np.concatenate([r, np.repeat(r[-1:], longest - len(r), axis=0)]) for r in routes])
    start, centres = padded[:, :1], padded[:, 1:]
    best = centres
    for smoothing in _SMOOTHING:
        best = _descend(start, centres, best, radius, smoothing)
    paths = np.concatenate([start, best], axis=1)
    return [path[: len(route)] for path, route in zip(paths, routes, strict=True)]


def _descend(start: Array, centres: Array, points: Array, radius: float, smoothing: float) -> Array:
    ahead, pace = points, np.ones((len(points), 1, 1))
    for _ in range(_STEPS):
        moved = _project(ahead - smoothing / 4 * _gradient(start, ahead, smoothing), centres, radius)
        # Momentum that leads uphill is reset.
        uphill = ((ahead - moved) * (moved - points)).sum(axis=(1, 2), keepdims=True) > 0
        pace = np.where(uphill, 1.0, pace)
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead, points, pace = moved + (pace - 1) / faster * (moved - points), moved, faster
    return points


def _gradient(start: Array, points: Array, smoothing: float) -> Array:
    """(paths, points, 3) the gradient of the smoothed length; its Lipschitz constant is 4 / smoothing."""
    steps = np.diff(points, axis=1, prepend=start)
    slope: Array = steps / np.sqrt((steps**2).sum(axis=2, keepdims=True) + smoothing**2)
    slope[:, :-1] -= slope[:, 1:].copy()
    return slope


def _project(points: Array, centres: Array, radius: float) -> Array:
    """The points, those outside the ball around their centre moved to its surface."""
    offsets = points - centres
    distances = np.linalg.norm(offsets, axis=2, keepdims=True)
    projected: Array = centres + offsets * (radius / np.maximum(distances, radius))
    return projected
