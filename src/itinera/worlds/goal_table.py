"""The distances to a list of goals from everywhere, in two bytes per cell and goal: the first turn of each cell.

A field takes 30 to 40 ms and some megabytes; its row in a table is a tenth of that, can be kept on disk, and gives the
same distances.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.worlds._goal_table_kernels import BEND, MAX_TURNS, encode_field, goal_distances
from itinera.worlds.distance_field import DistanceField, GroundPoints, as_points, snap_to_ground
from itinera.worlds.ground import Ground
from itinera.worlds.space import Array, Places


@dataclass(frozen=True, eq=False)
class GoalTable:
    """The distance fields of some goals on one ground, compact. `starts` say where the rows of a goal begin."""

    goals: Array  # (g, 3) metres, as they were given
    codes: NDArray[np.uint16]  # (g, cells); see `_goal_table_kernels`
    bends: NDArray[np.void]  # (t,) records `BEND`, the turning points of one goal after the other
    bend_starts: NDArray[np.int64]  # (g + 1,)
    rising: NDArray[np.int32]  # (r,) the cells whose distance is listed, in order
    rising_distances: Array  # (r,) in cells
    rising_starts: NDArray[np.int64]  # (g + 1,)

    @classmethod
    def compute(cls, ground: Ground, goals: Places) -> GoalTable:
        """The table of these goals (g, 3); 30 to 40 ms each in a house."""
        points = as_points(goals)
        spots = snap_to_ground(ground, points)
        # One field after the other: a table of many goals should not take the memory of their fields.
        tables = [
            cls.from_fields([DistanceField.compute(ground, spots[k : k + 1])], points[k : k + 1])
            for k in range(len(points))
        ]
        return cls.join(tables, len(ground))

    @classmethod
    def from_fields(cls, fields: Sequence[DistanceField], goals: Array) -> GoalTable:
        """The compact form of whole fields; `goals` names each."""
        tables = [cls._from_field(field, goals[k : k + 1]) for k, field in enumerate(fields)]
        return cls.join(tables, len(fields[0].ground) if fields else 0)

    @classmethod
    def _from_field(cls, field: DistanceField, goals: Array) -> GoalTable:
        if len(field.turns) > MAX_TURNS:
            raise BadArgument(
                f"The ways to goal {goals[0].round(2).tolist()} turn at {len(field.turns):,} points; a goal table has "
                f"room for {MAX_TURNS:,}."
            )
        bends = np.empty(len(field.turns), dtype=BEND)
        for name in BEND.names or ():
            bends[name] = field.turns[name]
        codes = np.empty((1, len(field.turn)), dtype=np.uint16)
        is_rising = np.empty(len(field.turn), dtype=np.bool_)
        encode_field(field.ground.links, field.cell_distances, field.turn, bends, codes[0], is_rising)
        rising = np.flatnonzero(is_rising).astype(np.int32)
        return cls(
            goals, codes, bends, _starts([len(bends)]), rising, field.cell_distances[rising], _starts([len(rising)])
        )

    @classmethod
    def join(cls, tables: Sequence[GoalTable], cells: int) -> GoalTable:
        """The rows of several tables of one ground."""
        return cls(
            np.concatenate([np.empty((0, 3)), *(table.goals for table in tables)]),
            np.concatenate([np.empty((0, cells), np.uint16), *(table.codes for table in tables)]),
            np.concatenate([np.empty(0, BEND), *(table.bends for table in tables)]),
            _starts([n for table in tables for n in np.diff(table.bend_starts)]),
            np.concatenate([np.empty(0, np.int32), *(table.rising for table in tables)]),
            np.concatenate([np.empty(0), *(table.rising_distances for table in tables)]),
            _starts([n for table in tables for n in np.diff(table.rising_starts)]),
        )

    def __len__(self) -> int:
        """The number of goals."""
        return len(self.goals)

    def distances(self, ground: Ground, row: int, points: Places) -> Array:
        """(n,) metres from each point to the goal of a row; inf where it cannot be reached."""
        return self.lookup(ground, row, snap_to_ground(ground, points))

    def lookup(self, ground: Ground, row: int, spots: GroundPoints) -> Array:
        """(n,) metres from each point on the ground to the goal of a row."""
        out = np.empty(len(spots))
        turning = slice(self.bend_starts[row], self.bend_starts[row + 1])
        listed = slice(self.rising_starts[row], self.rising_starts[row + 1])
        goal_distances(
            ground.links,
            ground.slopes,
            self.codes[row],
            self.bends[turning],
            self.rising[listed],
            self.rising_distances[listed],
            spots.cells,
            spots.across,
            out,
        )
        return out * ground.size

    @property
    def nbytes(self) -> int:
        """The bytes of its larger arrays."""
        return sum(array.nbytes for array in (self.codes, self.bends, self.rising, self.rising_distances))


def _starts(counts: Sequence[int]) -> NDArray[np.int64]:
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def digest_ground(ground: Ground) -> str:
    """A digest of what distances depend on: 16 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=8)
    for array in (ground.origin, np.array([ground.size]), ground.links, ground.slopes):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
