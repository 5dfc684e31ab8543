"""USD files, opened with usd-core: one prim per object, colliders, materials, labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from itinera.formats.scene_export.materials import base_color
from itinera.formats.scene_export.parts import Part
from itinera.formats.scene_export.usd import encode_usda, prim_name
from itinera.hearth.build import House

pytest.importorskip("pxr", reason="needs usd-core")


@pytest.fixture(scope="module")
def stage(parts: tuple[Part, ...], tmp_path_factory: pytest.TempPathFactory):
    from dataclasses import replace

    from pxr import Usd

    # One part has a texture, whether or not the houses have textures.
    brick = replace(parts[0], surfaces=(replace(parts[0].surfaces[0], material="brick"), *parts[0].surfaces[1:]))
    file: Path = tmp_path_factory.mktemp("usd") / "house.usda"
    file.write_bytes(encode_usda("house", (brick, *parts[1:]), textures="../textures"))
    return Usd.Stage.Open(str(file))


def test_the_stage_is_z_up_and_in_metres(stage) -> None:
    from pxr import UsdGeom

    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1
    assert stage.GetDefaultPrim().GetPath() == "/World"


def test_every_part_is_a_labeled_prim_with_a_static_collider(stage, parts: tuple[Part, ...]) -> None:
    from pxr import UsdPhysics, UsdSemantics

    for part in parts:
        prim = stage.GetPrimAtPath(f"/World/House/{prim_name(part)}")
        assert prim.IsValid()
        assert list(UsdSemantics.LabelsAPI(prim, "class").GetLabelsAttr().Get()) == [part.category]
        assert prim.GetAttribute("hearth:instance").Get() == part.instance
        mesh = prim.GetChild("Mesh")
        assert mesh.HasAPI(UsdPhysics.CollisionAPI)
        assert UsdPhysics.MeshCollisionAPI(mesh).GetApproximationAttr().Get() == "none"
        assert not prim.HasAPI(UsdPhysics.RigidBodyAPI)  # without a body a collider is static


def test_the_placed_points_are_those_of_the_house(stage, house: House, parts: tuple[Part, ...]) -> None:
    from pxr import UsdGeom

    cache, count = UsdGeom.XformCache(), 0
    for part in parts:
        mesh = UsdGeom.Mesh(stage.GetPrimAtPath(f"/World/House/{prim_name(part)}/Mesh"))
        matrix = np.array(cache.GetLocalToWorldTransform(mesh.GetPrim()))
        points = np.array(mesh.GetPointsAttr().Get(), dtype=np.float64)
        placed = points @ matrix[:3, :3] + matrix[3, :3]
        own = house.mesh.instances == part.instance
        count += len(mesh.GetFaceVertexCountsAttr().Get())
        if part.instance:
            for edge in ("min", "max"):
                wanted = getattr(house.mesh.corners[own].reshape(-1, 3), edge)(axis=0)
                np.testing.assert_allclose(getattr(placed, edge)(axis=0), wanted, atol=1e-4)
    assert count == len(house.mesh.faces)


def test_every_face_is_bound_to_a_preview_surface(stage, parts: tuple[Part, ...]) -> None:
    from pxr import UsdGeom, UsdShade

    for part in parts:
        prim = stage.GetPrimAtPath(f"/World/House/{prim_name(part)}/Mesh")
        subsets = UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets()
        for one in [subset.GetPrim() for subset in subsets] or [prim]:
            material, _ = UsdShade.MaterialBindingAPI(one).ComputeBoundMaterial()
            shader, _, _ = material.ComputeSurfaceSource()
            assert shader.GetIdAttr().Get() == "UsdPreviewSurface"
        if subsets:
            valid, reason = UsdGeom.Subset.ValidateFamily(UsdGeom.Imageable(prim), "face", "materialBind")
            assert valid, reason


def test_a_textured_material_multiplies_its_image_by_the_color(stage, parts: tuple[Part, ...]) -> None:
    from dataclasses import replace

    from pxr import UsdShade

    surface = replace(parts[0].surfaces[0], material="brick")
    texture = UsdShade.Shader(stage.GetPrimAtPath(f"/World/Looks/{surface.name}/Texture"))
    assert texture.GetInput("file").Get().path == "../textures/brick.png"
    np.testing.assert_allclose(texture.GetInput("scale").Get()[:3], base_color(surface), atol=1e-5)
