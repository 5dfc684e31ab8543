"""Checks that a space obeys the laws that every metric relies on, in one call."""

from __future__ import annotations

import numpy as np

from itinera.errors import BadArgument, NoRoute
from itinera.worlds.space import Places, Space


def check_space(space: Space, places: Places, *, tolerance: float = 1e-6) -> None:
    """Raise BadArgument, naming the first law broken, unless the distances over these places are consistent.

    Laws: no distance is negative or NaN; a place is at distance 0 from itself; no detour is shorter than the
    distance; a route starts and ends at the given places and is as long as the distance.
    """
    distances = space.between(places, places)
    if distances.shape != (len(places), len(places)):
        raise BadArgument(f"between() of {len(places)} places must be square, not {distances.shape}.")
    if np.isnan(distances).any() or (distances < 0).any():
        raise BadArgument("A distance is NaN or negative; unreachable is inf.")
    if np.abs(np.diagonal(distances)).max(initial=0.0) > tolerance:
        raise BadArgument("A place is not at distance 0 from itself.")
    detours = (distances[:, :, None] + distances[None, :, :]).min(axis=1, initial=np.inf)
    if (distances > detours + tolerance).any():
        raise BadArgument("A detour is shorter than the distance (triangle inequality).")
    for i in range(len(places)):
        for j in range(len(places)):
            _check_route(space, places, i, j, float(distances[i, j]), tolerance)


def _check_route(space: Space, places: Places, i: int, j: int, distance: float, tolerance: float) -> None:
    try:
        route = space.route(places[i], places[j])
    except NoRoute:
        if np.isfinite(distance):
            raise BadArgument(f"Places {i} and {j} are {distance:g} m apart, but route() raised NoRoute.") from None
        return
    if not np.isfinite(distance):
        raise BadArgument(f"route() connects place {i} to {j}, but their distance is inf.")
    if abs(float(space.along(route).sum()) - distance) > tolerance:
        raise BadArgument(f"The route from place {i} to {j} is not as long as their distance, {distance:g} m.")
    ends = space.between([places[i], places[j]], [route[0], route[-1]])
    if ends[0, 0] > tolerance or ends[1, 1] > tolerance:
        raise BadArgument(f"The route from place {i} to {j} starts or ends at another place.")
