"""A geodesic distance field: the distance and shortest route from every point of the ground to the nearest goal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, NoRoute
from itinera.worlds._distance_field_kernels import RING, TURN, WAVE, read_field, spread
from itinera.worlds._surface_kernels import nearest_cells
from itinera.worlds.ground import Ground
from itinera.worlds.space import Array, Places

SNAP = 0.5  # metres; a position farther than this from the walkable ground is rejected


@dataclass(frozen=True, eq=False)
class GroundPoints:
    """Points on the ground: the cell of each and its position in the grid."""

    cells: NDArray[np.int32]  # (n,)
    across: Array  # (n, 2) grid coordinates, in cells from the grid's corner

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, which: slice | NDArray[np.int64] | NDArray[np.bool_]) -> GroundPoints:
        return GroundPoints(self.cells[which], self.across[which])


def find_nearest(ground: Ground, places: Places, *, reach: float, island: int = -1) -> tuple[GroundPoints, Array]:
    """The nearest ground points and their distances, metres; cell -1 and inf where none is within reach."""
    points = as_points(places)
    grid = np.column_stack([(points[:, :2] - ground.origin) / ground.size, points[:, 2]])
    spots = GroundPoints(np.empty(len(points), dtype=np.int32), np.empty((len(points), 2)))
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


def snap_to_ground(ground: Ground, places: Places) -> GroundPoints:
    """The ground points nearest to these places; raises BadArgument for a place farther than SNAP from the ground."""
    spots, _ = find_nearest(ground, places, reach=SNAP)
    lost = np.flatnonzero(spots.cells < 0)
    if len(lost):
        point = as_points(places)[lost[0]]
        _, gaps = find_nearest(ground, point[None], reach=ground.extent(point))
        x, y, z = point
        raise BadArgument(
            f"Place {lost[0]}, ({x:.2f}, {y:.2f}, {z:.2f}), is not walkable: the nearest walkable point is "
            f"{gaps[0]:.2f} m away (limit {SNAP:g} m). Check the axes and units: metres, z up."
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


def ground_positions(ground: Ground, spots: GroundPoints) -> Array:
    """(n, 3) metres of ground points, at floor height."""
    middle = ground.columns[spots.cells] + 0.5
    rise = (ground.slopes[spots.cells] * (spots.across - middle)).sum(axis=1) * ground.size
    return np.column_stack([spots.across * ground.size + ground.origin, ground.heights[spots.cells] + rise])


@dataclass(frozen=True, eq=False)
class DistanceField:
    """Geodesic distances to the nearest goal. Shortest paths are chains of straight lines between turning points."""

    ground: Ground
    cell_distances: Array  # (n,) from the center of each cell, in cells; inf where unreachable
    turn: NDArray[np.int32]  # (n,) the first turning point from each cell; -1 where unreachable
    turns: NDArray[np.void]  # (t,) records `TURN`, positions and distances in cells; the goals come first

    @classmethod
    def compute(
        cls, ground: Ground, goals: GroundPoints, *, until: GroundPoints | None = None, margin: float = 0.0
    ) -> DistanceField:
        """The field of these goals. Propagation stops early, `margin` metres beyond the farthest point of `until`."""
        wave = np.empty(len(ground), dtype=WAVE)
        wave[0] = (np.inf, -1, 0, 0, -1, -1, -1, -1, -1, -1)
        wanted = np.zeros(len(ground), dtype=np.bool_)
        if until is not None:
            wanted[until.cells] = True
        waiting, turns = np.full(RING, -1, dtype=np.int32), np.empty(1024, dtype=TURN)
        turns, count = spread(
            ground.links, ground.slopes, goals.cells, goals.across, wanted, margin / ground.size, wave, waiting, turns
        )
        return cls(ground, wave["far"].copy(), wave["turn"].copy(), turns[:count].copy())

    def distances(self, points: Places) -> Array:
        """(n,) metres from each point to the nearest goal; inf where unreachable."""
        return self.lookup(snap_to_ground(self.ground, points))[0]

    def lookup(self, spots: GroundPoints) -> tuple[Array, NDArray[np.int32]]:
        """(n,) metres, and the first turning point of each route: -1 the center of its own cell, -2 unreachable."""
        out, first = np.empty(len(spots)), np.empty(len(spots), dtype=np.int32)
        ground = self.ground
        read_field(
            ground.links,
            ground.slopes,
            self.cell_distances,
            self.turn,
            self.turns,
            spots.cells,
            spots.across,
            out,
            first,
        )
        return out * ground.size, first

    def route(self, spot: GroundPoints) -> GroundPoints:
        """The turning points of the route from one point to the nearest goal, both ends included; raises NoRoute."""
        first = int(self.lookup(spot)[1][0])
        if first == -2:
            raise NoRoute("No route leads to a goal: start and goals are on different islands of the surface.")
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
        return GroundPoints(np.array(cells, dtype=np.int32), np.array(across))
