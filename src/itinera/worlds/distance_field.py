"""A distance field: how far it is from anywhere on the ground to the nearest of some goals, and which way to go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, NoRoute
from itinera.worlds._distance_field_kernels import RING, TURN, WAVE, read_field, spread
from itinera.worlds._surface_kernels import nearest_cells
from itinera.worlds.ground import Ground
from itinera.worlds.space import Array, Places

SNAP = 0.5  # metres; a place further than this from where the robot may stand is not taken for one


@dataclass(frozen=True, eq=False)
class Spots:
    """Places on the ground: the cell each lies in, and where across the grid."""

    cells: NDArray[np.int32]  # (n,)
    across: Array  # (n, 2) in cells from the grid's corner

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, which: slice | NDArray[np.int64] | NDArray[np.bool_]) -> Spots:
        return Spots(self.cells[which], self.across[which])


def nearest(ground: Ground, places: Places, *, reach: float, island: int = -1) -> tuple[Spots, Array]:
    """The nearest places on the ground and how far off they are: cell -1 and inf where none is within reach."""
    points = as_points(places)
    grid = np.column_stack([(points[:, :2] - ground.origin) / ground.size, points[:, 2]])
    spots = Spots(np.empty(len(points), dtype=np.int32), np.empty((len(points), 2)))
    gaps = np.empty(len(points))
    nearest_cells(
        ground.starts,
        ground.heights,
        ground.islands,
        ground.shape[0],
        ground.size,
        island,
        ground.climb,
        grid,
        float(reach),
        spots.cells,
        spots.across,
        gaps,
    )
    return spots, gaps


def stand(ground: Ground, places: Places) -> Spots:
    """The places on the ground nearest to these; further than SNAP from any, they are refused."""
    spots, _ = nearest(ground, places, reach=SNAP)
    lost = np.flatnonzero(spots.cells < 0)
    if len(lost):
        point = as_points(places)[lost[0]]
        _, gaps = nearest(ground, point[None], reach=ground.extent(point))
        x, y, z = point
        raise BadArgument(
            f"Place {lost[0]}, ({x:.2f}, {y:.2f}, {z:.2f}), is not walkable: the nearest place that is lies "
            f"{gaps[0]:.2f} m away; up to {SNAP:g} m are allowed. Are its axes and units right (metres, z up)?"
        )
    return spots


def as_points(places: Places) -> Array:
    """Places as finite (n, 3) metres."""
    points = np.ascontiguousarray(places, dtype=np.float64)
    if points.size == 0:
        return points.reshape(0, 3)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise BadArgument(f"Positions must be finite (n, 3) metres, not an array of shape {points.shape}.")
    return points


def positions(ground: Ground, spots: Spots) -> Array:
    """(n, 3) metres of places on the ground, at walking height."""
    middle = ground.columns[spots.cells] + 0.5
    rise = (ground.slopes[spots.cells] * (spots.across - middle)).sum(axis=1) * ground.size
    return np.column_stack([spots.across * ground.size + ground.origin, ground.heights[spots.cells] + rise])


@dataclass(frozen=True, eq=False)
class DistanceField:
    """Distances from everywhere on the ground to the nearest goal, as chains of straight lines between turns."""

    ground: Ground
    far: Array  # (n,) from the middle of each cell, in cells; inf where no way leads
    turn: NDArray[np.int32]  # (n,) the first turn of the way from each cell; -1 where no way leads
    turns: NDArray[np.void]  # (t,) records `TURN`, across the grid and distances in cells; the goals first

    @classmethod
    def towards(cls, ground: Ground, goals: Spots, *, until: Spots | None = None) -> DistanceField:
        """The field of these goals; it may end, to save time, once it has reached the places of `until`."""
        wave = np.empty(len(ground), dtype=WAVE)
        wave[0] = (np.inf, -1, 0, 0, -1, -1, -1, -1, -1, -1)
        wanted = np.zeros(len(ground), dtype=np.bool_)
        if until is not None:
            wanted[until.cells] = True
        waiting, turns = np.full(RING, -1, dtype=np.int32), np.empty(1024, dtype=TURN)
        turns, count = spread(ground.links, ground.slopes, goals.cells, goals.across, wanted, wave, waiting, turns)
        return cls(ground, wave["far"].copy(), wave["turn"].copy(), turns[:count].copy())

    def at(self, points: Places) -> Array:
        """(n,) metres from each point to the nearest goal; inf where no way leads."""
        return self.read(stand(self.ground, points))[0]

    def read(self, spots: Spots) -> tuple[Array, NDArray[np.int32]]:
        """(n,) metres, and the first turn of each way: -1 the middle of the place's own cell, -2 no way."""
        out, first = np.empty(len(spots)), np.empty(len(spots), dtype=np.int32)
        ground = self.ground
        read_field(ground.links, ground.slopes, self.far, self.turn, self.turns, spots.cells, spots.across, out, first)
        return out * ground.size, first

    def way(self, spot: Spots) -> Spots:
        """The bends of the way from one place to the nearest goal, both ends included; raises NoRoute."""
        first = int(self.read(spot)[1][0])
        if first == -2:
            raise NoRoute("No way leads from there to a goal: they are on different islands of the surface.")
        cells, across = [int(spot.cells[0])], [spot.across[0]]
        if first == -1:
            cells.append(cells[0])
            across.append(self.ground.columns[cells[0]] + 0.5)
            first = int(self.turn[cells[0]])
        while first >= 0:
            bend = self.turns[first]
            cells.append(int(bend["cell"]))
            across.append(np.array([bend["u"], bend["v"]]))
            first = int(bend["onward"])
        return Spots(np.array(cells, dtype=np.int32), np.array(across))
