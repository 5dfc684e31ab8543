"""Habitat scene datasets: every file has the documented fields, every name leads to a file, every id to a label.

habitat-sim is not installed here; the schema below states the fields of its page "Using JSON Files to configure
Attributes" and of its semantic configurations, with their types.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest

from itinera.formats.frames import points_to_habitat
from itinera.formats.scene_export.habitat import (
    DATASET,
    NAVMESH,
    encode_dataset,
    encode_scene,
    semantic_color,
    semantic_ids,
)
from itinera.formats.scene_export.parts import Part
from itinera.hearth.build import House
from itinera.worlds.labels import MPCAT40, ROOM_NAMES

VECTOR = "vector"
STAGE = {
    "render_asset": str, "collision_asset": str, "semantic_asset": str, "nav_asset": str,
    "semantic_descriptor_filename": str, "up": VECTOR, "front": VECTOR, "semantic_up": VECTOR,
    "semantic_front": VECTOR, "origin": VECTOR, "scale": VECTOR, "gravity": VECTOR, "is_collidable": bool,
    "force_flat_shading": bool, "shader_type": str, "margin": float, "friction_coefficient": float,
    "restitution_coefficient": float, "units_to_meters": float, "user_defined": dict,
}  # fmt: skip
OBJECT = {
    "render_asset": str, "collision_asset": str, "collision_asset_size": VECTOR, "up": VECTOR, "front": VECTOR,
    "scale": VECTOR, "is_collidable": bool, "margin": float, "friction_coefficient": float,
    "rolling_friction_coefficient": float, "spinning_friction_coefficient": float, "restitution_coefficient": float,
    "units_to_meters": float, "force_flat_shading": bool, "shader_type": str, "mass": float, "inertia": VECTOR,
    "COM": VECTOR, "use_bounding_box_for_collision": bool, "join_collision_meshes": bool, "semantic_id": int,
    "user_defined": dict,
}  # fmt: skip
SCENE = {
    "stage_instance": dict, "object_instances": list, "articulated_object_instances": list, "default_lighting": str,
    "navmesh_instance": str, "semantic_scene_instance": str, "user_defined": dict,
}  # fmt: skip
INSTANCE = {
    "template_name": str, "translation": VECTOR, "rotation": "quaternion", "motion_type": str,
    "uniform_scale": float, "non_uniform_scale": VECTOR, "translation_origin": str,
}  # fmt: skip
SEMANTICS = {
    "semantic_descriptor_filename": str, "semantic_asset": str, "semantic_up": VECTOR, "semantic_front": VECTOR,
    "has_semantic_textures": bool, "region_annotations": list, "user_defined": dict,
}  # fmt: skip
REGION = {
    "name": str, "label": str, "floor_height": float, "extrusion_height": float, "min_bounds": VECTOR,
    "max_bounds": VECTOR, "poly_loop": list, "user_defined": dict,
}  # fmt: skip
DATASET_SCHEMA = dict.fromkeys(
    ("stages", "objects", "articulated_objects", "light_setups", "scene_instances",
     "semantic_scene_descriptor_instances", "navmesh_instances"), dict,
)  # fmt: skip


def check(value: dict[str, Any], schema: dict[str, Any]) -> None:
    unknown = value.keys() - schema.keys()
    assert not unknown, f"undocumented fields: {unknown}"
    for name, field in value.items():
        kind = schema[name]
        if kind in (VECTOR, "quaternion"):
            assert len(field) == (3 if kind == VECTOR else 4), name
            assert all(isinstance(number, int | float) for number in field), name
        elif kind is float:
            assert isinstance(field, int | float), name
        else:
            assert isinstance(field, kind), name


@pytest.fixture(scope="module")
def files(house: House, parts: tuple[Part, ...]) -> dict[str, bytes]:
    return encode_scene(house, parts)


def decode(files: dict[str, bytes], name: str) -> Any:
    return msgspec.json.decode(files[name])


def test_the_schema_refuses_misspelled_fields_and_wrong_types() -> None:
    with pytest.raises(AssertionError, match="undocumented"):
        check({"render_assets": "a.glb"}, OBJECT)
    with pytest.raises(AssertionError):
        check({"up": [0, 1]}, OBJECT)


def test_every_configuration_has_documented_fields_only(files: dict[str, bytes], house: House) -> None:
    check(decode(encode_dataset(0.1), DATASET), DATASET_SCHEMA)
    check(decode(files, f"stages/{house.id}.stage_config.json"), STAGE)
    scene = decode(files, f"scenes/{house.id}.scene_instance.json")
    check(scene, SCENE)
    for instance in scene["object_instances"]:
        check(instance, INSTANCE)
        assert instance["motion_type"] in ("STATIC", "KINEMATIC", "DYNAMIC")
        assert instance["translation_origin"] in ("COM", "asset_local")
    for name in files:
        if name.endswith(".object_config.json"):
            check(decode(files, name), OBJECT)
    semantics = decode(files, f"semantics/{house.id}.semantic_config.json")
    check(semantics, SEMANTICS)
    for region in semantics["region_annotations"]:
        check(region, REGION)


def test_every_name_leads_to_a_file(files: dict[str, bytes], house: House) -> None:
    scene = decode(files, f"scenes/{house.id}.scene_instance.json")
    assert f"{scene['stage_instance']['template_name']}.stage_config.json" in files
    templates = [instance["template_name"] for instance in scene["object_instances"]]
    assert len(set(templates)) == len(templates)
    for template in templates:
        config = decode(files, f"{template}.object_config.json")
        assert f"objects/{house.id}/{config['render_asset']}" in files
    stage = decode(files, f"stages/{house.id}.stage_config.json")
    for key in ("render_asset", "collision_asset", "semantic_asset"):
        assert f"stages/{stage[key]}" in files
    assert stage["semantic_descriptor_filename"].replace("../", "") in files
    assert f"semantics/{scene['semantic_scene_instance']}" in files


def test_stage_and_objects_together_are_the_house(
    files: dict[str, bytes], house: House, parts: tuple[Part, ...]
) -> None:
    scene = decode(files, f"scenes/{house.id}.scene_instance.json")
    assert len(scene["object_instances"]) == sum(not part.fixed for part in parts) > 20
    furniture = {part.instance: part for part in parts if not part.fixed}
    for instance in scene["object_instances"]:
        part = furniture[int(instance["template_name"].split("_")[1])]
        np.testing.assert_allclose(instance["translation"], points_to_habitat(part.origin)[0], atol=1e-4)
        w, x, y, z = instance["rotation"]
        assert (x, z) == (0, 0)
        assert math.remainder(2 * math.atan2(y, w) - part.turn, math.tau) == pytest.approx(0, abs=1e-6)


def test_every_semantic_id_has_a_category_a_color_and_a_room(
    files: dict[str, bytes], house: House, parts: tuple[Part, ...]
) -> None:
    header, *lines = files[f"semantics/{house.id}.semantic.txt"].decode().splitlines()
    assert header == "HM3D Semantic Annotations"
    rows = [line.split(",") for line in lines]
    assert [int(row[0]) for row in rows] == list(range(1, len(parts) + 1))
    assert len({row[1] for row in rows}) == len(rows)
    assert {row[2].strip('"') for row in rows} <= set(MPCAT40)
    assert {int(row[3]) for row in rows} <= {-1, *range(len(house.plan.rooms))}
    ids = semantic_ids(parts)
    for part in parts:
        assert rows[ids[part.label] - 1][1] == f"{semantic_color(ids[part.label]):06X}"
        if not part.fixed:
            name = f"objects/{house.id}/{house.id}_{part.instance:04d}_{part.category}.object_config.json"
            assert decode(files, name)["semantic_id"] == part.instance


def test_regions_are_the_rooms_in_habitats_frame(files: dict[str, bytes], house: House) -> None:
    regions = decode(files, f"semantics/{house.id}.semantic_config.json")["region_annotations"]
    for region, room in zip(regions, house.plan.rooms, strict=True):
        assert region["label"] == ROOM_NAMES[room.kind]
        loop = np.array(region["poly_loop"])
        np.testing.assert_allclose(loop[:, 0], room.outline[:, 0], atol=1e-4)
        np.testing.assert_allclose(loop[:, 2], -room.outline[:, 1], atol=1e-4)
        assert (np.array(region["min_bounds"]) <= loop.min(axis=0) + 1e-4).all()
        assert (np.array(region["max_bounds"]) >= loop.max(axis=0) - 1e-4).all()


def test_the_navmesh_settings_have_the_radius_of_the_tasks() -> None:
    assert decode(encode_dataset(0.17), NAVMESH)["agent_radius"] == 0.17
