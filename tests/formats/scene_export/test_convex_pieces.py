"""Convex pieces: boxes are found, hulls are convex, and together they cover every face."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.formats.scene_export.convex_pieces import SLAB, Box, Hull, Piece, find_pieces
from itinera.hearth.build import House
from itinera.hearth.geometry import shapes
from itinera.hearth.geometry.solids import Solids
from itinera.worlds.mesh import Mesh

RED = (200, 0, 0)


def solid(*pieces: np.ndarray) -> Mesh:
    solids = Solids()
    for piece in pieces:
        solids.triangles(piece, "table", 1, RED)
    return solids.mesh()


def is_covered(mesh: Mesh, piece: Piece) -> bool:
    """Whether the corners of the faces that a piece represents are on it."""
    corners = mesh.corners[list(piece.faces)].reshape(-1, 3).astype(np.float64)
    if isinstance(piece.shape, Box):
        local = np.abs((corners - piece.shape.center) @ piece.shape.axes.T)
        return bool((local <= piece.shape.half + 1e-3).all())
    away = np.linalg.norm(corners[:, None] - piece.shape.points, axis=2).min(axis=1)
    low, high = piece.shape.points.min(axis=0) - 1e-3, piece.shape.points.max(axis=0) + 1e-3
    return bool(((away < 1e-3) | ((corners >= low) & (corners <= high)).all(axis=1)).all())


@settings(max_examples=25)
@given(st.floats(0, math.tau), st.floats(0.02, 3), st.floats(0.02, 3), st.floats(0.02, 3))
def test_a_box_is_found_however_it_is_turned(turn: float, width: float, depth: float, height: float) -> None:
    (piece,) = find_pieces(solid(shapes.rotate(shapes.block(width, depth, 0.0, height), turn)))
    assert isinstance(piece.shape, Box)
    np.testing.assert_allclose(np.sort(2 * piece.shape.half), np.sort([width, depth, height]), atol=1e-3)
    assert np.linalg.det(piece.shape.axes) == pytest.approx(1, abs=2e-2)
    assert len(piece.faces) == 12


def test_boxes_that_share_corners_stay_two_boxes() -> None:
    stacked = find_pieces(solid(shapes.block(1, 1, 0, 1), shapes.block(1, 1, 1, 3)))
    assert [type(piece.shape) for piece in stacked] == [Box, Box]


def test_a_tube_is_one_hull_and_a_slanted_block_is_no_box() -> None:
    (tube,) = find_pieces(solid(shapes.tube(0.3, 0, 1)))
    (slanted,) = find_pieces(solid(shapes.slanted_block(1, 0.1, 0, 1, over=0.3)))
    assert isinstance(tube.shape, Hull)
    assert len(tube.shape.points) == 20
    assert isinstance(slanted.shape, Hull)


def test_a_sheet_becomes_a_thin_box_behind_its_surface() -> None:
    solids = Solids()
    solids.polygon([(0, 0, 0), (4, 0, 0), (4, 3, 0), (0, 3, 0)], "floor", 0, RED)
    (piece,) = find_pieces(solids.mesh())
    assert isinstance(piece.shape, Box)
    assert piece.shape.center.tolist() == pytest.approx([2, 1.5, -SLAB / 2])
    assert sorted(2 * piece.shape.half) == pytest.approx([SLAB, 3, 4])


def test_a_wall_with_a_door_leaves_the_door_open() -> None:
    solids = Solids()
    for x0, x1, z0, z1 in ((0, 1, 0, 2), (2, 3, 0, 2), (0, 1, 2, 3), (1, 2, 2, 3), (2, 3, 2, 3)):
        solids.polygon([(x0, 0, z0), (x1, 0, z0), (x1, 0, z1), (x0, 0, z1)], "wall", 0, RED)
    pieces = find_pieces(solids.mesh())
    assert sum(len(piece.faces) for piece in pieces) == 10
    inside = np.array([1.5, SLAB / 2, 1.0])
    for piece in pieces:
        points = piece.shape.points if isinstance(piece.shape, Hull) else _corners(piece.shape)
        assert not ((points.min(axis=0) < inside) & (inside < points.max(axis=0))).all()


def _corners(box: Box) -> np.ndarray:
    signs = np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T
    return box.center + (signs * box.half) @ box.axes


def test_every_face_of_a_house_is_in_exactly_one_piece(house: House) -> None:
    pieces = find_pieces(house.mesh)
    corners = house.mesh.corners.astype(np.float64)
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    used = np.bincount([face for piece in pieces for face in piece.faces], minlength=len(areas))
    assert (used[areas > 1e-8] == 1).all()
    assert all(is_covered(house.mesh, piece) for piece in pieces[::7])
    for piece in pieces[::7]:
        assert (house.mesh.instances[list(piece.faces)] == piece.instance).all()
    assert sum(isinstance(piece.shape, Box) for piece in pieces) > len(pieces) / 2
