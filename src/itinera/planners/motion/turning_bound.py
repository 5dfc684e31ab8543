"""A lower bound on the time to a goal that counts the turning at every corner of a path (`TurningBound`).

`value_field.LowerBound` takes the larger of this bound and a simpler one that counts only the first turn. All
coordinates are in the frame of the cells: metres from their corner.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from itinera.planners.motion import _corner_legs_kernels as leg_kernels
from itinera.planners.motion import _turning_bound_kernels as kernels
from itinera.planners.motion.dynamics import Dynamics
from itinera.worlds import Array

MAX_CORNERS = 3000  # of a floor; the number of pairs of corners to check grows with the square
MAX_BYTES = 190_000_000  # for the bounds of all legs: floors with many corners get fewer headings

_HEADINGS, _PIVOT_HEADINGS, _MIN_HEADINGS = 144, 720, 36
_SHORT, _BEND = 0.2, 1.0  # arc radii: shorter legs belong to a bend, and the greatest length of a bend
_INSIDE = 1e-6  # metres: a corner this near to the goal is there
# Shares of driving and tilts in degrees: for legs along one side the first five, tilted ones if the robot changes side.
_SHARES = ((1, 0), (0.9, 0), (0.75, 0), (0.5, 0), (0, 0), (1, 12), (1, 30), (0.75, 20))


@dataclass(frozen=True, eq=False)
class TurningBound:
    """The least times to one goal over the corners of a floor, for a robot that turns at a finite rate."""

    free_cells: NDArray[np.bool_]  # (rows, columns)
    resolution: float  # metres
    dynamics: Dynamics
    corners: Array  # (n, 3) x, y and side, as the kernels find them
    angles: Array  # (n,) the direction from each corner to its blocked cell
    lengths: Array  # (n,) metres from each corner to the goal
    legs: leg_kernels.Legs  # in radii
    shares: kernels.Shares
    ends: Array  # (m, width, j) radians to the goal where each leg ends

    @classmethod
    def solve(
        cls,
        free_cells: NDArray[np.bool_],
        goal_cells: NDArray[np.bool_],
        resolution: float,
        corners: Array,
        lengths: Array,
        goal: Array,
        dynamics: Dynamics,
    ) -> TurningBound:
        """The bound for a goal (x, y, radius), given the corners (n, 3) that it can be reached from and their lengths.

        goal_cells: the free cells and all within the goal's radius of them.
        """
        radius = dynamics.vmax / dynamics.wmax
        angles, begins, states, lines = _find_legs(
            free_cells.shape, free_cells.tobytes(), resolution, corners.tobytes()
        )
        goal_lines = _goal_lines(corners, goal)
        sides = leg_kernels.find_goal_sides(goal_cells, resolution, corners, angles, goal, goal_lines)
        pivots = math.isinf(dynamics.min_radius)
        shares = _make_shares(pivots, len(states))
        legs = leg_kernels.Legs(
            places=corners[:, :2] / radius,
            begins=begins,
            states=states,
            lines=lines / np.array([radius, 1.0]),
            goal_lines=goal_lines / np.array([radius, 1.0, 1.0]),
            goal_sides=sides,
            short=0.0 if pivots else _SHORT,
            bend=_BEND,
            # The whole bend turns by less than half a turn: its first and last headings have no node in common.
            turn=0.5 * math.pi - 6 * math.pi / shares.headings,
        )
        pairs = leg_kernels.find_pairs(legs)
        pairs = np.ascontiguousarray(pairs[np.lexsort((pairs[:, 2], pairs[:, 1]))])
        into = np.searchsorted(pairs[:, 1], np.arange(len(states) + sides.size + 1))
        ends = kernels.solve_ends(legs, shares, pairs, into)
        return cls(free_cells, resolution, dynamics, corners, angles, lengths, legs, shares, ends)

    def at(self, poses: Array, direct: Array) -> Array:
        """(n,) seconds from poses (n, 3); direct (n,): those of the straight way, inf where the goal is not visible."""
        radians: Array = kernels.least_turning_times(
            self.free_cells,
            self.resolution,
            self.dynamics.vmax / self.dynamics.wmax,
            self.corners,
            self.angles,
            self.lengths,
            self.legs,
            self.shares,
            self.ends,
            direct * self.dynamics.wmax,
            poses,
        )
        return radians / self.dynamics.wmax


def _make_shares(pivots: bool, legs: int) -> kernels.Shares:
    """The ways of sharing for a robot that pivots and drives one after the other, or at the same time."""
    shares = np.array(_SHARES[:1] if pivots else _SHARES, dtype=np.float64)
    affordable = int(MAX_BYTES / (4 * len(shares) * max(legs, 1))) // 4 * 4
    headings = min(_PIVOT_HEADINGS if pivots else _HEADINGS, max(_MIN_HEADINGS, affordable))
    rho = np.ascontiguousarray(shares[:, 0])
    return kernels.Shares(rho, np.zeros(1) if pivots else rho, np.radians(shares[:, 1]), headings)


def _goal_lines(corners: Array, goal: Array) -> Array:
    """(n, 3) metres and direction from each corner to the goal's disc, and how much the direction varies over it."""
    offsets = goal[:2] - corners[:, :2]
    apart = np.hypot(offsets[:, 0], offsets[:, 1])
    inside = apart <= goal[2] + _INSIDE
    spread = np.arcsin(np.where(inside, 0.0, goal[2] / np.maximum(apart, _INSIDE)))
    directions = np.arctan2(offsets[:, 1], offsets[:, 0])
    return np.column_stack((np.where(inside, 0.0, apart - goal[2]), directions, spread))


@lru_cache(maxsize=8)
def _find_legs(
    shape: tuple[int, int], cells: bytes, resolution: float, corners: bytes
) -> tuple[Array, NDArray[np.int64], NDArray[np.int64], Array]:
    """Of a floor and its corners: angles, where the legs from each state begin, the states, and the lines in metres."""
    free_cells = np.frombuffer(cells, dtype=np.bool_).reshape(shape).copy()
    places = np.frombuffer(corners, dtype=np.float64).reshape(-1, 3).copy()
    angles = leg_kernels.corner_angles(free_cells, resolution, places)
    states, lines = leg_kernels.find_legs(free_cells, resolution, places, angles)
    order = np.argsort(states[:, 0], kind="stable")
    states, lines = np.ascontiguousarray(states[order]), np.ascontiguousarray(lines[order])
    begins = np.searchsorted(states[:, 0], np.arange(2 * len(places) + 1))
    return angles, begins, states, lines
