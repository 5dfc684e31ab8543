"""Robot dynamics (unicycle, point-turn, holonomic) and drives: sequences of moves that a robot can make.

All dynamics share one law of time. A move of constant curvature takes as long as the slower of its two parts: its
metres at `vmax` or its radians at `wmax`. Dynamics differ in the moves they can make at all; a car, which cannot pivot,
is `Dynamics("car", vmax, wmax, min_radius=5.0, can_pivot=False)`. Poses, times and collisions of a `Drive` are exact:
they come from the arcs themselves, not from samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from itinera.errors import BadArgument, validate_choice
from itinera.planners.motion._steering_kernels import Motion, fastest_legs
from itinera.worlds import Array
from itinera.worlds._grid_kernels import moves_clear
from itinera.worlds.grid import Grid

VMAX, WMAX = 0.25, math.radians(10)  # m/s and rad/s, from Yokoyama et al. 2021, Success Weighted by Completion Time
RADIUS = 0.2  # metres, of the robot
DYNAMICS = ("unicycle", "point-turn", "holonomic")

_NO_TURN = 1e-12  # radians: smaller turns are rounding errors


@dataclass(frozen=True)
class Dynamics:
    """The speed limits of a robot and the moves it can make."""

    name: str
    vmax: float  # metres per second
    wmax: float  # radians per second; inf where turning takes no time
    min_radius: float = 0.0  # metres, the smallest turning radius; inf for straight lines only
    can_pivot: bool = True  # whether it turns in place
    reverse: bool = False  # whether it drives backwards; unicycles only

    def __post_init__(self) -> None:
        if not (math.isfinite(self.vmax) and self.vmax > 0):
            raise BadArgument(f"vmax must be finite and above 0 m/s, not {self.vmax}.")
        if not self.wmax > 0:
            raise BadArgument(f"wmax must be above 0 rad/s, not {self.wmax}.")
        if not self.min_radius >= 0:
            raise BadArgument(f"min_radius must be at least 0 m, not {self.min_radius}.")
        if not self.can_pivot and not 0 < self.min_radius < math.inf:
            raise BadArgument(f"{self.name} cannot pivot, so it needs a finite min_radius above 0 m.")
        if self.reverse and not (self.can_pivot and self.min_radius == 0):
            raise BadArgument(f"Only a unicycle can drive backwards: leave out reverse for {self.name}.")

    @property
    def arc_radius(self) -> float:
        """The radius of the arcs it drives by choice, metres: vmax at wmax; 0 where it pivots instead."""
        return 0.0 if math.isinf(self.min_radius) else max(self.min_radius, self.vmax / self.wmax)

    @property
    def motion(self) -> Motion:
        """The limits as the compiled kernels take them."""
        return Motion(float(self.vmax), float(self.wmax), float(self.arc_radius), self.can_pivot, self.reverse)

    def durations(self, moves: Array) -> Array:
        """(n,) seconds of each of the moves (n, 2), metres forward and radians left; inf for impossible moves."""
        metres, turns = np.abs(moves[:, 0]), np.abs(moves[:, 1])
        times = np.maximum(metres / self.vmax, turns / self.wmax)
        if not self.can_pivot:
            times[(metres == 0) & (turns > _NO_TURN)] = np.inf
        if self.min_radius > 0:
            # Compare turns, not radii: rounding spoils the radius of a small turn.
            allowed = 0.0 if math.isinf(self.min_radius) else metres / self.min_radius
            times[(metres > 0) & (turns > allowed + _NO_TURN)] = np.inf
        if not self.reverse:
            times[moves[:, 0] < 0] = np.inf
        return times


def unicycle(vmax: float = VMAX, wmax: float = WMAX, *, reverse: bool = False) -> Dynamics:
    """A robot that drives and turns at once, and pivots; it drives arcs tighter than vmax / wmax more slowly."""
    return Dynamics("unicycle", vmax, wmax, reverse=reverse)


def point_turn(vmax: float = VMAX, wmax: float = WMAX) -> Dynamics:
    """A robot that either drives straight or pivots, never both at once."""
    return Dynamics("point-turn", vmax, wmax, min_radius=math.inf)


def holonomic(vmax: float = VMAX) -> Dynamics:
    """A robot that moves in any direction without turning: its fastest path is the shortest path."""
    return Dynamics("holonomic", vmax, math.inf)


def make_dynamics(name: str, vmax: float = VMAX, wmax: float = WMAX, *, reverse: bool = False) -> Dynamics:
    """The dynamics with this name; `wmax` is in radians per second, and a holonomic robot ignores it."""
    if name not in DYNAMICS:
        validate_choice("dynamics", name, DYNAMICS)
    if reverse and name != "unicycle":
        raise BadArgument(f"Only a unicycle can drive backwards, not {name}: leave out reverse.")
    if name == "unicycle":
        return unicycle(vmax, wmax, reverse=reverse)
    return point_turn(vmax, wmax) if name == "point-turn" else holonomic(vmax)


def plan_leg(dynamics: Dynamics, pose: ArrayLike, point: ArrayLike) -> Array:
    """(k, 2) the moves, at most 3, of the fastest leg from a pose (x, y, heading) to a point in free space.

    A unicycle pivots until its heading is within 90 degrees of the last straight, drives an arc of the smallest radius,
    and goes straight; a point closer than √2 radii is reached by the arc alone. For small radii this becomes the
    point-turn's leg, for large turning speeds the straight line. Its time is `dynamics.durations(moves).sum()`.

    >>> plan_leg(point_turn(), (0, 0, 0), (0, 2)).round(3).tolist()
    [[0.0, 1.571], [2.0, 0.0]]
    """
    moves, _ = plan_legs(dynamics, np.atleast_2d(pose), np.atleast_2d(point))
    used: Array = moves[0][(moves[0] != 0).any(axis=1)]
    return used


def plan_legs(dynamics: Dynamics, poses: ArrayLike, points: ArrayLike) -> tuple[Array, Array]:
    """Moves (n, 3, 2) and seconds (n,) of the fastest legs from poses (n, 3) to points (n, 2); unused moves are 0."""
    poses = np.ascontiguousarray(poses, dtype=np.float64)
    points = np.ascontiguousarray(points, dtype=np.float64)
    if poses.ndim != 2 or poses.shape[1] != 3 or points.shape != (len(poses), 2):
        raise BadArgument(f"Legs need poses (n, 3) and points (n, 2), not shapes {poses.shape} and {points.shape}.")
    moves, seconds = fastest_legs(poses, points, dynamics.motion)
    return moves, seconds


@dataclass(frozen=True, eq=False)
class Drive:
    """A start pose and moves of constant curvature. Poses are in the frame of the start."""

    start: Array  # (3,) x, y in metres, heading in radians
    moves: Array  # (n, 2) metres forward (negative: backward) and radians turned left meanwhile

    def __post_init__(self) -> None:
        start = np.array(self.start, dtype=np.float64)
        moves = np.array(self.moves, dtype=np.float64).reshape(-1, 2)
        if start.shape != (3,) or not (np.isfinite(start).all() and np.isfinite(moves).all()):
            raise BadArgument("A drive needs a start (x, y, heading) and moves (metres, radians), all of them finite.")
        for name, values in (("start", start), ("moves", moves)):
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    def __repr__(self) -> str:
        start, end = self.poses[0], self.poses[-1]
        ends = f"from ({start[0]:.2f}, {start[1]:.2f}) to ({end[0]:.2f}, {end[1]:.2f})"
        return f"Drive({ends}, {self.length:.2f} m, {len(self.moves)} moves)"

    @cached_property
    def poses(self) -> Array:
        """(n + 1, 3) the start of each move and the end of the last; headings continue beyond a full turn."""
        headings = self.start[2] + np.concatenate(([0.0], np.cumsum(self.moves[:, 1])))
        steps = displacements(headings[:-1], self.moves)
        places = self.start[:2] + np.concatenate((np.zeros((1, 2)), np.cumsum(steps, axis=0)))
        poses = np.column_stack((places, headings))
        poses.setflags(write=False)
        return poses

    @property
    def length(self) -> float:
        """Metres driven, forward and backward."""
        return float(np.abs(self.moves[:, 0]).sum())

    def times(self, dynamics: Dynamics) -> Array:
        """(n + 1,) seconds from 0 at which each pose is reached; inf from the first move the robot cannot make."""
        return np.concatenate(([0.0], np.cumsum(dynamics.durations(self.moves))))

    def duration(self, dynamics: Dynamics) -> float:
        """Seconds the drive takes; inf if these dynamics cannot drive it."""
        return float(dynamics.durations(self.moves).sum())

    def sample(self, dynamics: Dynamics, *, step: float = 0.05, turn: float = math.radians(5)) -> Array:
        """(m, 4) x, y, heading, seconds along the drive: all of `poses`, and exact poses between them.

        Consecutive samples are at most `step` metres and `turn` radians apart.
        """
        if not (step > 0 and turn > 0):
            raise BadArgument(f"step and turn must be above 0, not {step} m and {turn} rad.")
        times, rows = self.times(dynamics), [np.append(self.poses[0], 0.0)[None]]
        for k, (metres, angle) in enumerate(self.moves):
            count = max(1, math.ceil(abs(metres) / step - 1e-9), math.ceil(abs(angle) / turn - 1e-9))
            shares = np.arange(1, count + 1)[:, None] / count
            parts = shares * self.moves[k]
            places = self.poses[k, :2] + displacements(np.full(count, self.poses[k, 2]), parts)
            when = times[k] + shares[:, 0] * (times[k + 1] - times[k])
            rows.append(np.column_stack((places, self.poses[k, 2] + parts[:, 1], when)))
        return np.concatenate(rows)

    def first_collision(self, grid: Grid, radius: float) -> int | None:
        """The index of the first move in which a round robot collides; None if there is none. Exact, not sampled.

        The drive is in the map's frame of the grid.
        """
        start = grid.to_local(self.start)
        start.setflags(write=False)  # kernels are compiled for one kind of array
        found = moves_clear(grid.free_cells(radius), grid.resolution, start, self.moves)
        return None if found < 0 else int(found)

    def is_collision_free(self, grid: Grid, radius: float) -> bool:
        """Whether a round robot drives all of it without collision."""
        return self.first_collision(grid, radius) is None


def displacements(headings: Array, moves: Array) -> Array:
    """(n, 2) metres from the start to the end of each move begun at these headings."""
    half = 0.5 * moves[:, 1]
    chord = moves[:, 0] * np.sinc(half / np.pi)
    return np.column_stack((chord * np.cos(headings + half), chord * np.sin(headings + half)))
