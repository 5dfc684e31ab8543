"""Scene files: what is written is read back with its labels, and what is no scene is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from itinera.errors import BadArgument, BadFile, MissingExtra
from itinera.formats.scenes import read_scene, read_worlds, write_scene
from itinera.hearth.geometry.solids import Solids
from itinera.simulators.ground import GroundSimulator
from itinera.worlds import Pose, World
from itinera.worlds.mesh import Mesh
from itinera.worlds.surface import Surface
from worlds import rooms

pytest.importorskip("trimesh")


def room() -> Mesh:
    """A floor, a table of two colours and a chair."""
    solids = Solids()
    solids.polygon([(0, 0, 0), (4, 0, 0), (4, 3, 0), (0, 3, 0)], "floor", 0, (200, 180, 150))
    solids.box((1, 1, 0.01), (2, 2, 0.7), "table", 1, (120, 60, 20))
    solids.box((1, 1, 0.7), (2, 2, 0.75), "table", 1, (250, 250, 250))
    solids.box((2.5, 1, 0.01), (3, 1.5, 0.9), "chair", 2, (200, 30, 30))
    return solids.mesh()


def triangles(mesh: Mesh) -> list[tuple[float, ...]]:
    """Every face with its corners and labels, whatever the order of faces."""
    rows = np.concatenate(
        [mesh.corners.reshape(-1, 9), mesh.classes[:, None], mesh.instances[:, None], mesh.colors], axis=1
    )
    return sorted(map(tuple, rows.tolist()))


@pytest.mark.parametrize("name", ["room.glb", "room.obj"])
def test_a_mesh_comes_back_with_its_labels_and_colours(tmp_path: Path, name: str) -> None:
    write_scene(tmp_path / name, room())
    assert triangles(read_scene(tmp_path / name)) == triangles(room())


@pytest.mark.parametrize("name", ["room.glb", "room.obj"])
def test_equal_meshes_are_equal_files(tmp_path: Path, name: str) -> None:
    write_scene(tmp_path / name, room())
    before = (tmp_path / name).read_bytes()
    write_scene(tmp_path / name, room())
    assert (tmp_path / name).read_bytes() == before


def test_a_glb_has_y_up_unless_told_otherwise(tmp_path: Path) -> None:
    write_scene(tmp_path / "room.glb", room())
    raw = read_scene(tmp_path / "room.glb", up="z")
    assert raw.vertices[:, 1].min() == 0.0
    assert raw.vertices[:, 1].max() == pytest.approx(0.9)
    assert read_scene(tmp_path / "room.glb").vertices[:, 2].max() == pytest.approx(0.9)


def test_a_building_of_somebody_else_is_grey_and_unnamed(tmp_path: Path) -> None:
    (tmp_path / "hut.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n")
    mesh = read_scene(tmp_path / "hut.obj")
    assert len(mesh.faces) == 2
    assert not mesh.classes.any()
    assert not mesh.instances.any()
    assert (mesh.colors == mesh.colors[0, 0]).all()


PLY = b"""ply
format ascii 1.0
element vertex 3
property float x
property float y
property float z
element face 1
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
3 0 1 2
"""


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.glb", b"nonsense", "cannot be read as a scene"),
        ("a.obj", b"", "contains no triangles|cannot be read as a scene"),
        ("a.obj", b"v 0 0 0\n", "contains no triangles|cannot be read as a scene"),
        ("a.obj", b"v 0 0\nv 1 0\nv 0 1\nf 1 2 3\n", "cannot be read as a scene"),  # two columns
        ("a.obj", b"v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n", "are not finite triples"),
        ("a.ply", PLY.replace(b"3 0 1 2", b"3 0 1 9"), "refer to missing vertices|cannot be read as a scene"),
        ("a.ply", PLY.replace(b"property float z\n", b""), "cannot be read as a scene"),
    ],
)
def test_what_is_no_scene_is_refused(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadFile, match=said):
        read_scene(tmp_path / name)


def test_missing_files_and_other_endings_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="there is no such file"):
        read_scene(tmp_path / "a.glb")
    with pytest.raises(BadArgument, match=r"must end in \.glb, \.gltf, \.obj, \.ply, not '\.fbx'"):
        read_scene(tmp_path / "a.fbx")
    with pytest.raises(BadArgument, match=r"must end in \.glb, \.obj, not '\.ply'"):
        write_scene(tmp_path / "a.ply", room())


def test_a_missing_package_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(MissingExtra, match=r"Scene files need trimesh.*itinera\[scenes\]"):
        write_scene(tmp_path / "a.glb", room())


def test_textures_are_averaged_over_each_face(tmp_path: Path) -> None:
    import trimesh
    from PIL import Image

    painted = np.zeros((60, 60, 3), dtype=np.uint8)
    painted[:, :30], painted[:, 30:] = (200, 0, 0), (0, 0, 100)
    # Three squares: on the red half, on the blue half, and half on each.
    squares, maps = [], []
    for x, (left, right) in enumerate([(0.0, 0.5), (0.5, 1.0), (0.0, 1.0)]):
        squares += [(x, 0, 0), (x + 1, 0, 0), (x + 1, 1, 0), (x, 1, 0)]
        maps += [(left + 0.01, 0.01), (right - 0.01, 0.01), (right - 0.01, 0.99), (left + 0.01, 0.99)]
    faces = [(4 * k, 4 * k + a, 4 * k + b) for k in range(3) for a, b in ((1, 2), (2, 3))]
    material = trimesh.visual.material.PBRMaterial(baseColorTexture=Image.fromarray(painted))
    visual = trimesh.visual.TextureVisuals(uv=np.array(maps), material=material)
    shape = trimesh.Trimesh(np.array(squares, dtype=float), faces, visual=visual, process=False)
    (tmp_path / "wall.glb").write_bytes(trimesh.Scene(shape).export(file_type="glb"))
    colors = read_scene(tmp_path / "wall.glb", up="z").colors.astype(int)
    assert colors[:4].tolist() == [[200, 0, 0]] * 2 + [[0, 0, 100]] * 2
    # A triangle with its right angle below the one half has more of it; both together have as much of each.
    np.testing.assert_allclose(colors[4:].mean(axis=0), (100, 0, 50), atol=1)


def test_a_material_without_a_texture_gives_its_colour(tmp_path: Path) -> None:
    import trimesh

    material = trimesh.visual.material.PBRMaterial(baseColorFactor=[10, 200, 30, 255])
    visual = trimesh.visual.TextureVisuals(material=material)
    shape = trimesh.Trimesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], visual=visual, process=False)
    (tmp_path / "wall.glb").write_bytes(trimesh.Scene(shape).export(file_type="glb"))
    # The factor is linear light, as glTF prescribes; colors are sRGB.
    assert read_scene(tmp_path / "wall.glb").colors.tolist() == [[56, 229, 96]]


BOX_ROOM = rooms.room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8))])


@pytest.mark.parametrize("ending", [".glb", ".obj"])
def test_an_imported_room_walks_as_the_mesh_it_was_written_from(tmp_path: Path, ending: str) -> None:
    write_scene(tmp_path / "deep" / f"room{ending}", BOX_ROOM)
    native = World("room", Surface.from_mesh(BOX_ROOM, **rooms.ROBOT), mesh=BOX_ROOM)
    imported = read_worlds(tmp_path, **rooms.ROBOT)["room"]
    actions = np.random.default_rng(2).choice([1, 1, 1, 2, 3], size=400).tolist()
    walked = []
    for world in (native, imported):
        walk = GroundSimulator()
        shown = [walk.reset(world, Pose(np.array([1.0, 1.0, 0.0]), 0.4)), *map(walk.step, actions)]
        walked.append([(*seen.place, seen.heading, seen.collided) for seen in shown])
    np.testing.assert_allclose(walked[1], walked[0], atol=1e-6)


def test_scenes_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    write_scene(tmp_path / "a.glb", BOX_ROOM)
    write_scene(tmp_path / "a.obj", BOX_ROOM)
    (tmp_path / "broken.glb").write_bytes(b"nonsense")
    write_scene(tmp_path / ".homes" / "kept.glb", BOX_ROOM)
    worlds = read_worlds(tmp_path, **rooms.ROBOT)
    assert list(worlds) == ["a", "broken"]
    assert worlds["a"] is worlds["a"]
    assert worlds["a"].mesh is not None
    with pytest.raises(BadFile, match="cannot be read as a scene"):
        worlds["broken"]


def test_folders_that_hold_no_walkable_scenes_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="contains no scenes"):
        read_worlds(tmp_path, **rooms.ROBOT)
    write_scene(tmp_path / "a.glb", BOX_ROOM)
    with pytest.raises(BadFile, match=r"a\.glb.*fits nowhere in the mesh"):
        read_worlds(tmp_path, radius=3.0, height=1.5)["a"]
    write_scene(tmp_path / "deep" / "a.glb", BOX_ROOM)
    with pytest.raises(BadFile, match="two scenes called a"):
        read_worlds(tmp_path, **rooms.ROBOT)


@pytest.mark.parametrize("columns", [1, 3])
def test_texture_coordinates_of_wrong_shape_are_refused_or_ignored(tmp_path: Path, columns: int) -> None:
    import trimesh
    from PIL import Image

    flat = trimesh.Trimesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], process=False)
    flat.visual = trimesh.visual.TextureVisuals(uv=np.zeros((3, 2)), image=Image.new("RGB", (2, 2)))
    data = flat.export(file_type="glb")
    kinds = {1: b'"SCALAR"', 3: b'"VEC3"'}
    assert b'"VEC2"' in data
    (tmp_path / "a.glb").write_bytes(data.replace(b'"VEC2"', kinds[columns].ljust(6) if columns == 3 else b'"VEC4"'))
    try:
        assert len(read_scene(tmp_path / "a.glb").colors) == 1
    except BadFile as error:
        assert "cannot be read as a scene" in str(error)  # noqa: PT017


@pytest.mark.parametrize("name", ["/dev/zero", "../secret.mtl", "link.mtl"])
def test_a_scene_opens_only_files_of_its_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.mtl").write_text("newmtl a\nKd 1 0 0\n")
    folder = tmp_path / "scenes"
    folder.mkdir()
    (folder / "link.mtl").symlink_to(tmp_path / "secret.mtl")
    text = f"mtllib {name}\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    (folder / "a.obj").write_text(text)
    assert (read_scene(folder / "a.obj").colors != (255, 0, 0)).any()


def test_a_scene_of_kilometres_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1e9 0 0\nv 0 1e9 0\nf 1 2 3\n")
    with pytest.raises(BadFile, match="The mesh has 1e\\+09 x 1e\\+09 m, too much for cells of"):
        read_worlds(tmp_path, **rooms.ROBOT)["a"]
