"""A storey seen from above: what stands in the way on it, for robots of any radius."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from itinera.errors import BadArgument
from itinera.hearth.geometry.solids import Solids
from itinera.worlds.grid import Grid
from itinera.worlds.storey_grid import grid_from_mesh, grid_from_surface
from itinera.worlds.surface import Surface
from worlds.rooms import GREY, floor, room, storeys

TABLE = ((2.0, 1.0, 0.0), (3.0, 2.0, 0.8))


def is_allowed(grid: Grid, x: float, y: float, radius: float = 0.0) -> bool:
    return bool(grid.component_at([(x, y)], radius)[0])


def test_a_table_and_the_walls_block_and_the_rest_is_free() -> None:
    grid = grid_from_mesh(room(4.0, 3.0, boxes=[TABLE]), 0.0, height=1.5)
    assert grid.resolution == 0.05
    assert is_allowed(grid, 1.0, 1.5)
    assert not is_allowed(grid, 2.5, 1.5)
    assert not is_allowed(grid, 4.5, 1.5)
    assert (~grid.blocked).sum() * 0.05**2 == pytest.approx(4.0 * 3.0 - 1.0, abs=1.0)


def test_what_is_over_ones_head_does_not_block() -> None:
    shelf = ((2.0, 1.0, 1.2), (3.0, 2.0, 1.3))
    assert is_allowed(grid_from_mesh(room(4.0, 3.0, boxes=[shelf]), 0.0, height=1.0), 2.5, 1.5)
    assert not is_allowed(grid_from_mesh(room(4.0, 3.0, boxes=[shelf]), 0.0, height=1.5), 2.5, 1.5)


@pytest.mark.parametrize("radius", [0.1, 0.2, 0.35])
def test_any_radius_agrees_with_the_surface_of_that_robot_to_a_cell(radius: float) -> None:
    mesh = room(4.0, 3.0, boxes=[TABLE])
    allowed = grid_from_mesh(mesh, 0.0, height=1.5).free_cells(radius)
    surface = grid_from_surface(Surface.from_mesh(mesh, radius=radius, height=1.5), 0.0).free_cells(0.0)
    # A cell that is touched is blocked as a whole, and whole cells are kept off, so the grid is on the safe side.
    assert not (allowed & ~surface).any()
    assert not (ndimage.binary_erosion(surface, np.ones((3, 3)), iterations=2) & ~allowed).any()


def test_a_surface_gives_its_own_cells_in_its_own_frame() -> None:
    surface = Surface.from_mesh(room(4.0, 3.0, boxes=[TABLE]), radius=0.2, height=1.5)
    grid = grid_from_surface(surface, 0.0)
    on_the_floor = np.abs(surface.ground.heights) < 0.1  # the top of the table is ground as well
    assert grid.free_cells(0.0).sum() == on_the_floor.sum()
    points = surface.sample(np.random.default_rng(0), 200)
    assert (grid.component_at(points[:, :2], 0.0) > 0).all()


def test_each_storey_has_its_own_grid() -> None:
    surface = Surface.from_mesh(storeys(), radius=0.1, height=1.5)
    below, above = grid_from_surface(surface, 0.0), grid_from_surface(surface, 2.7)
    assert is_allowed(below, 7.0, 0.5)
    assert not is_allowed(below, 3.0, 0.5)  # the stairs, higher than a climb
    assert is_allowed(below, 3.0, 2.0)
    assert is_allowed(above, 1.0, 0.5)
    assert not is_allowed(above, 3.0, 0.5)  # the hole the stairs come up through
    with pytest.raises(BadArgument, match=r"no ground within 0\.25 m of level 9 m.* spans 0\.00 to 2\.70 m"):
        grid_from_surface(surface, 9.0)


def test_a_ledge_too_high_to_step_over_is_not_crossed() -> None:
    solids = Solids()
    floor(solids, (0, 0), (4, 2), z=-0.2)
    solids.box((2.0, 0.0, -0.2), (4.0, 2.0, 0.2), "floor", 0, GREY)
    grid = grid_from_mesh(solids.mesh(), 0.0, height=1.5)
    low, high = grid.component_at([(1.0, 1.0), (3.0, 1.0)], 0.0)
    assert low > 0
    assert high > 0
    assert low != high
