"""A drive: a start pose and moves of constant curvature, and what can be said of it exactly.

Poses, times and contacts come from the arcs themselves, never from samples of them. Everything is in the local frame of
a grid: metres from the low corner of its first cell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from itinera.errors import BadArgument
from itinera.planners.motion.dynamics import Dynamics
from itinera.worlds import Array
from itinera.worlds._grid_kernels import moves_clear
from itinera.worlds.grid import Grid


@dataclass(frozen=True, eq=False)
class Drive:
    """What a robot does, move by move."""

    start: Array  # (3,) x, y in metres, heading in radians
    moves: Array  # (n, 2) metres forward, negative for backward, and radians turned to the left meanwhile

    def __post_init__(self) -> None:
        start = np.array(self.start, dtype=np.float64)
        moves = np.array(self.moves, dtype=np.float64).reshape(-1, 2)
        if start.shape != (3,) or not (np.isfinite(start).all() and np.isfinite(moves).all()):
            raise BadArgument("A drive needs a start (x, y, heading) and moves (metres, radians), all of them finite.")
        for name, values in (("start", start), ("moves", moves)):
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    @cached_property
    def poses(self) -> Array:
        """Where each move begins and the last one ends, (n + 1, 3); headings go on beyond a full turn."""
        headings = self.start[2] + np.concatenate(([0.0], np.cumsum(self.moves[:, 1])))
        steps = chords(headings[:-1], self.moves)
        places = self.start[:2] + np.concatenate((np.zeros((1, 2)), np.cumsum(steps, axis=0)))
        poses = np.column_stack((places, headings))
        poses.setflags(write=False)
        return poses

    @property
    def length(self) -> float:
        """Metres driven, forward and backward."""
        return float(np.abs(self.moves[:, 0]).sum())

    @property
    def turned(self) -> float:
        """Radians turned, to the left and to the right."""
        return float(np.abs(self.moves[:, 1]).sum())

    def times(self, dynamics: Dynamics) -> Array:
        """When each of the poses is reached, (n + 1,) seconds from 0; inf from the first move it cannot make."""
        return np.concatenate(([0.0], np.cumsum(dynamics.seconds(self.moves))))

    def duration(self, dynamics: Dynamics) -> float:
        """Seconds the drive takes; inf if these dynamics cannot drive it."""
        return float(dynamics.seconds(self.moves).sum())

    def sampled(self, dynamics: Dynamics, *, step: float = 0.05, turn: float = math.radians(5)) -> Array:
        """Poses on the way with their times, (m, 4) x, y, heading, seconds: all of `poses` and exact ones between.

        Neighbours are at most `step` metres and `turn` radians apart.
        """
        if not (step > 0 and turn > 0):
            raise BadArgument(f"A drive is sampled every so many metres and radians above 0, not {step} and {turn}.")
        times, rows = self.times(dynamics), [np.append(self.poses[0], 0.0)[None]]
        for k, (metres, angle) in enumerate(self.moves):
            count = max(1, math.ceil(abs(metres) / step - 1e-9), math.ceil(abs(angle) / turn - 1e-9))
            shares = np.arange(1, count + 1)[:, None] / count
            parts = shares * self.moves[k]
            places = self.poses[k, :2] + chords(np.full(count, self.poses[k, 2]), parts)
            when = times[k] + shares[:, 0] * (times[k + 1] - times[k])
            rows.append(np.column_stack((places, self.poses[k, 2] + parts[:, 1], when)))
        return np.concatenate(rows)

    def first_contact(self, grid: Grid, radius: float) -> int | None:
        """The first move that brings a round robot into contact, None if none does; exact, not sampled."""
        found = moves_clear(grid.allowed(radius), grid.resolution, self.start, self.moves)
        return None if found < 0 else int(found)

    def is_clear(self, grid: Grid, radius: float) -> bool:
        """Whether a round robot touches nothing all along."""
        return self.first_contact(grid, radius) is None


def chords(headings: Array, moves: Array) -> Array:
    """From where to where each move leads, (n, 2) metres, begun at these headings."""
    half = 0.5 * moves[:, 1]
    straight = moves[:, 0] * np.sinc(half / np.pi)
    return np.column_stack((straight * np.cos(headings + half), straight * np.sin(headings + half)))
