"""One storey of a building as an occupancy grid: the ground of a surface or mesh near one level, seen from above."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.worlds.grid import Grid
from itinera.worlds.ground import Ground
from itinera.worlds.mesh import Mesh
from itinera.worlds.surface import Surface

_NO_RADIUS = 1e-6  # metres: only obstacles inside the cell itself block it


def grid_from_mesh(
    mesh: Mesh, level: float, *, height: float, cell: float = 0.05, climb: float = 0.25, slope: float = np.pi / 4
) -> Grid:
    """The storey at a level, for upright robots of this height and any radius.

    A cell is blocked if it has no ground, or contains anything between the climb and the height; `Grid.free_cells`
    accounts for the radius.
    """
    surface = Surface.from_mesh(mesh, radius=_NO_RADIUS, height=height, cell=cell, climb=climb, slope=slope)
    return grid_from_surface(surface, level)


def grid_from_surface(surface: Surface, level: float) -> Grid:
    """The storey at a level: the cells of the surface at most a climb above or below it are free.

    The robot's radius is already accounted for, so use `free_cells(0.0)`: these are exactly the cells of the surface.
    For other robots use `grid_from_mesh`. The grid's frame is that of the surface, seen from above.
    """
    ground = surface.ground
    near = np.flatnonzero(np.abs(ground.heights - level) <= ground.climb)
    if not len(near):
        low, high = ground.heights.min(), ground.heights.max()
        raise BadArgument(
            f"There is no ground within {ground.climb:g} m of level {level:g} m. "
            f"The ground spans {low:.2f} to {high:.2f} m; give the level of a storey."
        )
    blocked = np.ones(ground.shape[::-1], dtype=np.bool_)
    standing = _one_cell_per_column(ground, near, level)
    blocked[ground.columns[standing, 1], ground.columns[standing, 0]] = False
    return Grid(blocked, ground.size, origin=(float(ground.origin[0]), float(ground.origin[1])))


def _one_cell_per_column(ground: Ground, near: NDArray[np.int64], level: float) -> NDArray[np.int64]:
    """Of the cells near a level, the nearest in each column, without those next to a step that is too high."""
    order = near[np.argsort(np.abs(ground.heights[near] - level), kind="stable")]
    wide, tall = ground.shape
    at = np.full(wide * tall, -1, dtype=np.int64)
    columns = ground.columns[:, 0].astype(np.int64) + wide * ground.columns[:, 1]
    at[columns[order[::-1]]] = order[::-1]  # the nearest cell is written last
    chosen = at[at >= 0]
    steep = np.zeros(len(chosen), dtype=np.bool_)
    for direction, offset in enumerate((1, wide, -1, -wide)):
        beside = at[np.clip(columns[chosen] + offset, 0, wide * tall - 1)]
        steep |= (beside >= 0) & (ground.links[chosen, direction] != beside)
    return chosen[~steep]
