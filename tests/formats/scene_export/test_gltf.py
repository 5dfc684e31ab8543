"""glTF files: loaded by trimesh and by our own reader, with materials, textures and labels."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
import trimesh

from itinera.formats.scene_export.gltf import encode_glb, encode_labeled_glb
from itinera.formats.scene_export.parts import Part
from itinera.formats.scenes import read_scene
from itinera.hearth.build import House
from itinera.worlds.labels import MATERIALS


@pytest.fixture(scope="module")
def content(parts: tuple[Part, ...]) -> bytes:
    return encode_glb(parts)


def document(content: bytes) -> dict:
    return msgspec.json.decode(content[20 : 20 + int.from_bytes(content[12:16], "little")])


def test_our_reader_finds_the_triangles_labels_and_colors(content: bytes, house: House, tmp_path: Path) -> None:
    (tmp_path / "house.glb").write_bytes(content)
    read, mesh = read_scene(tmp_path / "house.glb"), house.mesh
    assert len(read.faces) == len(mesh.faces)
    for instance in np.unique(mesh.instances)[1::25]:
        ours, theirs = mesh.instances == instance, read.instances == instance
        assert ours.sum() == theirs.sum()
        np.testing.assert_allclose(
            read.corners[theirs].mean(axis=(0, 1)), mesh.corners[ours].mean(axis=(0, 1)), atol=1e-4
        )
        assert abs(read.colors[theirs].mean() - mesh.colors[ours].mean()) < 16  # trimesh keeps linear factors in bytes
    np.testing.assert_array_equal(np.bincount(read.classes), np.bincount(mesh.classes))


def test_every_material_is_physical_and_textured_as_its_name_says(content: bytes, house: House) -> None:
    gltf = document(content)
    assert {MATERIALS[k] for k in np.unique(house.mesh.materials)} == {
        m["name"].split("_")[0] for m in gltf["materials"]
    }
    for material in gltf["materials"]:
        physical = material["pbrMetallicRoughness"]
        assert all(0 <= value <= 1 for value in physical["baseColorFactor"])
        assert {"metallicFactor", "roughnessFactor"} <= physical.keys()
        assert ("baseColorTexture" in physical) == (not material["name"].startswith("plain"))


def test_accessors_stay_within_their_views_and_the_file(content: bytes) -> None:
    gltf = document(content)
    sizes = {"SCALAR": 4, "VEC2": 8, "VEC3": 12}
    for accessor in gltf["accessors"]:
        view = gltf["bufferViews"][accessor["bufferView"]]
        assert accessor["byteOffset"] + accessor["count"] * sizes[accessor["type"]] <= view["byteLength"]
    assert int.from_bytes(content[8:12], "little") == len(content)


def test_textures_are_in_the_file_and_trimesh_decodes_them(parts: tuple[Part, ...]) -> None:
    textured = _textured(parts)
    scene = trimesh.load_scene(_stream(encode_glb([textured])), file_type="glb")
    images = [shape.visual.material.baseColorTexture for shape in scene.geometry.values()]
    assert any(image is not None and image.size == (256, 256) for image in images)
    outside = document(encode_glb([textured], textures="../textures"))
    assert outside["images"][0]["uri"].startswith("../textures/")


def _textured(parts: tuple[Part, ...]) -> Part:
    """A part with a texture, whether or not the houses have textures."""
    from dataclasses import replace

    first = parts[0]
    return replace(first, surfaces=(replace(first.surfaces[0], material="brick"),))


def _stream(content: bytes):
    import io

    return io.BytesIO(content)


def test_the_same_house_gives_the_same_bytes(content: bytes, parts: tuple[Part, ...]) -> None:
    assert encode_glb(parts) == content


def test_a_semantic_mesh_has_one_color_per_part(parts: tuple[Part, ...]) -> None:
    colors = {part.label: 0x010203 * (i + 1) for i, part in enumerate(parts[:4])}
    scene = trimesh.load_scene(_stream(encode_labeled_glb(parts[:4], colors)), file_type="glb", process=False)
    for i, part in enumerate(parts[:4]):
        (paint,) = np.unique(np.asarray(scene.geometry[part.label].visual.vertex_colors), axis=0)
        assert paint.tolist() == [1 * (i + 1), 2 * (i + 1), 3 * (i + 1), 255]
