"""Parts of a house: together they are the house, each in its own frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itinera.formats.scene_export.parts import Part
from itinera.hearth.build import House
from itinera.rendering.textures import TILE_METRES, texture_coordinates
from itinera.worlds.labels import MPCAT40


def triangles(part: Part) -> NDArray[np.float64]:
    """(n, 3, 3) the triangles of a part in the frame of the world."""
    return np.concatenate([part.place(surface.points)[surface.faces] for surface in part.surfaces])


def test_the_placed_parts_are_the_triangles_of_the_house(house: House, parts: tuple[Part, ...]) -> None:
    mesh = house.mesh
    assert len({part.label for part in parts}) == len(parts)
    assert sum(len(triangles(part)) for part in parts) == len(mesh.faces)
    for part in parts:
        own = mesh.instances == part.instance
        if part.instance == 0:
            own &= mesh.classes == MPCAT40.index(part.category)
        np.testing.assert_array_equal(tenths(triangles(part)), tenths(mesh.corners[own].astype(np.float64)))


def tenths(corners: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n, 9) corners in tenths of a millimetre, to which houses are rounded, sorted."""
    rows = np.round(corners.reshape(-1, 9) * 1e4).astype(np.int64)
    return rows[np.lexsort(rows.T)]


def test_an_object_stands_on_the_origin_of_its_frame_and_faces_its_y_axis(
    house: House, parts: tuple[Part, ...]
) -> None:
    for part in parts:
        if part.instance:
            item = house.object(part.instance)
            assert min(surface.points[:, 2].min() for surface in part.surfaces) == 0
            front = part.place(np.array([[0.0, 1.0, 0.0]]))[0] - part.origin
            np.testing.assert_allclose(front[:2], (np.cos(item.heading), np.sin(item.heading)), atol=1e-5)


def test_textures_are_fixed_to_the_world_as_in_our_images(parts: tuple[Part, ...]) -> None:
    for part in parts[::20]:
        for surface in part.surfaces:
            normals = part.place(surface.normals.astype(np.float64)) - part.origin
            clear = np.sort(np.abs(normals), axis=1)[:, 2] - np.sort(np.abs(normals), axis=1)[:, 1] > 1e-3
            wanted = texture_coordinates(part.place(surface.points), normals) / TILE_METRES[surface.material]
            np.testing.assert_allclose(surface.coordinates[clear], wanted[clear], atol=1e-3)


def test_normals_point_to_the_front_of_their_faces(parts: tuple[Part, ...]) -> None:
    for part in parts[::10]:
        for surface in part.surfaces:
            corners = surface.points[surface.faces].astype(np.float64)
            cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            assert (np.einsum("fi,fi->f", cross, surface.normals[surface.faces[:, 0]]) >= -1e-9).all()


def test_doors_and_stairs_belong_to_the_stage_and_chairs_do_not(parts: tuple[Part, ...]) -> None:
    fixed = {part.category for part in parts if part.fixed}
    loose = {part.category for part in parts if not part.fixed}
    assert {"wall", "floor", "door", "window"} <= fixed
    assert {"chair", "table"} <= loose
    assert fixed & loose <= {"misc"}  # trim of the building, and belongings
