"""A mesh in the typed arrays of a walk-through page: nothing but fractions of a millimetre is lost."""

from __future__ import annotations

import base64
import zlib

import numpy as np
import pytest

from itinera.reports.walkthrough.mesh import GLASS, HANGING, TEXELS, WALKABLE, BufferWriter, pack_mesh, pack_textures
from itinera.worlds.labels import MATERIALS, MPCAT40
from itinera.worlds.mesh import Mesh

FLOOR, STAIRS, WALL, CEILING, LAMP, WINDOW, TABLE = map(
    MPCAT40.index, ("floor", "stairs", "wall", "ceiling", "lighting", "window", "table")
)


def scattered(faces: int, *, seed: int = 0) -> Mesh:
    """A mesh of random triangles that share corners, of a few looks."""
    rng = np.random.default_rng(seed)
    vertices = rng.uniform([-20, -9, -1], [15, 12, 8], (max(4, faces // 2), 3)).astype(np.float32)
    corners = rng.integers(0, len(vertices), (faces, 3)).astype(np.int32)
    classes = rng.integers(0, len(MPCAT40), faces).astype(np.uint8)
    colors = rng.integers(0, 6, (faces, 3)).astype(np.uint8) * 51
    materials = rng.integers(0, len(MATERIALS), faces).astype(np.uint8)
    return Mesh(vertices, corners, classes, np.zeros(faces, np.int32), colors, materials)


def array(writer: BufferWriter, view) -> np.ndarray:
    data = zlib.decompress(base64.b64decode(writer.encode()))
    return np.frombuffer(data, np.dtype(view.type).newbyteorder("<"), view.length, view.offset)


@pytest.mark.parametrize("faces", [3, 1000])
def test_the_corners_and_looks_of_a_mesh_come_back(faces):
    mesh, writer = scattered(faces), BufferWriter()
    packed = pack_mesh(mesh, [2.2], writer)
    grid = array(writer, packed.positions).reshape(3, -1).T
    places = np.array(packed.low) + grid / 65535 * packed.size
    corners = array(writer, packed.corners).reshape(-1, 3)
    assert np.abs(places[corners] - mesh.corners).max() < 0.0005
    looks = np.array(packed.looks)[array(writer, packed.look_indices)]
    assert (looks[:, :3] == mesh.colors).all()
    assert (looks[:, 3] == mesh.materials).all()


def test_arrays_begin_where_typed_arrays_can():
    writer = BufferWriter()
    views = [writer.add(np.arange(n, dtype=kind)) for n, kind in ((3, np.uint8), (5, np.uint16), (2, np.uint32))]
    assert [view.offset % 4 for view in views] == [0, 0, 0]
    for view, n in zip(views, (3, 5, 2), strict=True):
        assert array(writer, view).tolist() == list(range(n))


def test_many_corners_need_wider_indices():
    writer = BufferWriter()
    assert pack_mesh(scattered(1000), [2.2], writer).corners.type == "uint16"
    assert pack_mesh(scattered(140_000), [2.2], writer).corners.type == "uint32"


def flat(z: float, *, down: bool = False) -> list[list[float]]:
    corners = [[0, 0, z], [1, 0, z], [0, 1, z]]
    return corners[::-1] if down else corners


def test_flags_tell_ground_glass_and_what_a_cut_removes():
    upright = [[0, 0, 0], [1, 0, 0], [0, 0, 1]]
    cases = [
        (flat(0.0), FLOOR, 0, "plain", WALKABLE),
        (flat(0.2), STAIRS, 1, "plain", WALKABLE),
        (flat(0.0, down=True), FLOOR, 0, "plain", 0),  # the underside
        (flat(0.7), TABLE, 2, "wood", 0),
        (upright, WALL, 0, "plain", 0),
        (upright, WINDOW, 3, "glass", GLASS),
        (upright, WINDOW, 3, "wood", 0),  # its frame
        (flat(2.6, down=True), CEILING, 0, "plain", HANGING),
        ([[0, 0, 1.9], [1, 0, 1.9], [0, 0, 2.6]], LAMP, 4, "plain", HANGING),  # would be cut through
        ([[0, 0, 0.0], [1, 0, 0.0], [0, 0, 1.6]], LAMP, 5, "plain", 0),  # stands on the floor
    ]
    corners = np.array([case[0] for case in cases], np.float32).reshape(-1, 3)
    mesh = Mesh(
        corners, np.arange(len(corners), dtype=np.int32).reshape(-1, 3), np.array([c[1] for c in cases], np.uint8),
        np.array([c[2] for c in cases], np.int32), np.zeros((len(cases), 3), np.uint8),
        np.array([MATERIALS.index(c[3]) for c in cases], np.uint8),
    )  # fmt: skip
    writer = BufferWriter()
    packed = pack_mesh(mesh, [2.2], writer)
    flags = np.array(packed.looks)[array(writer, packed.look_indices), 4]
    assert flags.tolist() == [case[4] for case in cases]


def test_only_textures_of_materials_that_occur_are_packed():
    mesh, writer = scattered(20), BufferWriter()
    textures = pack_textures(mesh, writer)
    assert [one.material for one in textures] == [k for k in np.unique(mesh.materials).tolist() if k]
    for one in textures:
        texels = array(writer, one.texels)
        assert len(texels) == TEXELS**2
        assert abs(texels.mean() - 128) < 2  # as bright as without


def test_a_mesh_without_faces_is_packed():
    writer = BufferWriter()
    empty = Mesh.from_triangles(np.empty((0, 3)), np.empty((0, 3), np.int32))
    assert pack_mesh(empty, [], writer).faces == 0
    assert pack_textures(empty, writer) == []
