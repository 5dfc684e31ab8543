"""From a chain of waypoints to a fast drive that is clear: drop waypoints, move the others, check every candidate.

Whatever way is found, by field or by random tree, ends here: `polish` joins the waypoints by the fastest legs, or by
pivots and straight lines where those hit something, so a chain that is clear as straight lines always becomes a drive.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.planners.motion._local_search_kernels import chain_moves, improve, nearest_corner, needed, shortcut
from itinera.planners.motion.drive import Drive
from itinera.planners.motion.dynamics import Dynamics
from itinera.seeding import generator
from itinera.worlds import Array
from itinera.worlds._grid_kernels import moves_clear, point_clear

_TRIALS, _TRIES = 15000, 3  # candidates weighed by one polish, and in how many independent searches
_HOPEFUL = 1.02  # times the best after one search: what is slower is not searched on
_PATIENCE = 60  # trials per waypoint before the steps shrink
_MOST = 48  # waypoints of a chain, unless it begins with more
_STATIONS = 15  # parts of the chain, at the ends of which the first, thorough look chooses places
_ASIDE = (0.0, -0.3, 0.3, -0.6, 0.6, -1.0, 1.0)  # metres to the side of the chain
_SIGHT = 0.2  # metres of the chain, either way, that tell where its sides are
_CORNER = 0.3  # metres: as near to a waypoint a corner is looked for


def polish(
    allowed: NDArray[np.bool_],
    resolution: float,
    dynamics: Dynamics,
    start: Array,
    goal: Array,
    goal_radius: float,
    *ways: Array,
) -> Drive | None:
    """The fastest drive found near chains of waypoints (n, 2), from a pose into a disc; None if no chain is clear.

    The waypoints lead from the start to the goal, both left out or not. With `goal_radius` 0 the drive ends on the
    point. A chain that is clear as straight lines always gives a drive, if the robot can pivot. Of several chains,
    those that a first search makes much slower than the best are given up.
    """
    start, goal = np.asarray(start, dtype=np.float64), np.asarray(goal, dtype=np.float64)
    if start.shape != (3,) or goal.shape != (2,):
        raise BadArgument(f"A polish needs a pose (x, y, heading) and a goal (x, y), not {start} and {goal}.")
    allowed = frozen(allowed)
    if np.hypot(*(goal - start[:2])) <= goal_radius:
        return Drive(start, np.empty((0, 2)))
    disc = np.append(goal, goal_radius)
    begun = [_ending_in(goal, goal_radius, np.concatenate((start[None, :2], way.reshape(-1, 2)))) for way in ways]
    found = [_shortcut(allowed, resolution, dynamics, start, chain) for chain in begun]
    first = [(one, _improved(allowed, resolution, dynamics, start, disc, one, 0)) for one in found if one is not None]
    least = min((improved[0] for _, improved in first), default=math.inf)
    chains = [improved for _, improved in first]
    for one, improved in first:
        if improved[0] <= _HOPEFUL * least:
            chains += [_improved(allowed, resolution, dynamics, start, disc, one, k) for k in range(1, _TRIES)]
    drives = [_drive(dynamics, start, *chain[1:]) for chain in sorted(chains, key=lambda chain: chain[0])]
    # Checked once more from move to move, as others will: rounding adds up that the search does not see.
    return next((drive for drive in drives if moves_clear(allowed, resolution, drive.start, drive.moves) < 0), None)


def _improved(
    allowed: NDArray[np.bool_],
    resolution: float,
    dynamics: Dynamics,
    start: Array,
    disc: Array,
    chain: tuple[Array, Array],
    number: int,
) -> tuple[float, Array, Array]:
    """Seconds, waypoints and shapes of a chain after one search; each number searches differently."""
    count = len(chain[0])
    points, shapes = np.zeros((max(_MOST, count), 2)), np.zeros((max(_MOST, count), 2))
    points[:count], shapes[:count] = chain
    state = generator(number, "polish").integers(1, 2**63, size=1, dtype=np.uint64)
    bends, trials = _bends(dynamics), _TRIALS // _TRIES
    seconds, count = improve(
        allowed, resolution, start, disc, points, shapes, count, dynamics.motion, bends, state, trials, _PATIENCE
    )
    return seconds, points[:count], shapes[:count]


def _shortcut(
    allowed: NDArray[np.bool_], resolution: float, dynamics: Dynamics, start: Array, chain: Array
) -> tuple[Array, Array] | None:
    """Waypoints (n, 2) and shapes (n, 2) of the fastest chain through some of the waypoints."""
    candidates = _candidates(allowed, resolution, chain)
    seconds, chosen, shapes = shortcut(allowed, resolution, start, candidates, dynamics.motion, _bends(dynamics))
    return (candidates[chosen], shapes) if math.isfinite(seconds) else None


def _candidates(allowed: NDArray[np.bool_], resolution: float, chain: Array) -> Array:
    """(n, 2) places to choose from, in order: those the line needs, corners near them, and others beside the line.

    The last make room for wide arcs, and for ways on the other side of something small.
    """
    keep = needed(allowed, resolution, chain)
    gone = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(chain, axis=0).T))))
    reach = max(1, round(_CORNER / resolution))
    corners = [nearest_corner(allowed, resolution, x, y, reach) for x, y in chain[keep][1:-1]]
    marks = np.repeat(np.linspace(0.0, gone[-1], _STATIONS)[1:-1], len(_ASIDE))
    beside = _beside(chain, gone, marks)
    free = np.array([point_clear(allowed, resolution, x, y) for x, y in beside])
    places = np.concatenate((chain[keep], np.array(corners).reshape(-1, 2), beside[free]))
    order = np.concatenate((gone[keep], gone[keep][1:-1], marks[free]))
    return np.ascontiguousarray(places[np.argsort(order, kind="stable")])


def _beside(chain: Array, gone: Array, marks: Array) -> Array:
    """Places after so many metres of a chain, in turn on it and to its sides."""

    def along(metres: Array) -> Array:
        return np.column_stack([np.interp(metres, gone, chain[:, axis]) for axis in (0, 1)])

    ahead = along(marks + _SIGHT) - along(marks - _SIGHT)
    ahead /= np.maximum(np.hypot(*ahead.T), 1e-9)[:, None]
    aside = np.tile(_ASIDE, len(marks) // len(_ASIDE))
    places: Array = along(marks) + aside[:, None] * np.column_stack((-ahead[:, 1], ahead[:, 0]))
    return places


def _ending_in(goal: Array, goal_radius: float, chain: Array) -> Array:
    """The chain up to where it first enters the goal's disc, and no further."""
    if goal_radius == 0:
        last = chain[-1]
        return chain if np.array_equal(last, goal) else np.concatenate((chain, goal[None]))
    inside = np.hypot(*(chain - goal).T) <= goal_radius
    if not inside.any():
        chain, inside = np.concatenate((chain, goal[None])), np.append(inside, True)
    first = int(np.argmax(inside))
    before, after = chain[first - 1], chain[first]
    share = _entering(before - goal, after - before, goal_radius)
    return np.concatenate((chain[:first], (before + share * (after - before))[None]))


def _entering(offset: Array, step: Array, radius: float) -> float:
    """The share of a step after which it is within the radius of the origin, having begun outside of it."""
    a, b, c = float(step @ step), float(offset @ step), float(offset @ offset) - (radius * (1 - 1e-9)) ** 2
    return min(1.0, (-b - math.sqrt(max(b * b - a * c, 0.0))) / a)


def _drive(dynamics: Dynamics, start: Array, points: Array, shapes: Array) -> Drive:
    moves = chain_moves(start, np.ascontiguousarray(points), np.ascontiguousarray(shapes), dynamics.motion)
    return Drive(start, moves[(moves != 0).any(axis=1)])


def _bends(dynamics: Dynamics) -> bool:
    """Whether there are shapes of legs to choose from."""
    return dynamics.pivots and dynamics.curve > 0


def frozen(allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The same cells, read-only: kernels are compiled for one kind of array only."""
    cells = np.ascontiguousarray(allowed, dtype=np.bool_).view()
    cells.flags.writeable = False
    return cells
