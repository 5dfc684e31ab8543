"""A Habitat scene dataset: the building of a house as a stage, its furniture as objects, with semantic labels.

Habitat is y-up: our (x, y, z) is (x, z, -y) there. Field names are those of habitat-sim's page "Using JSON Files to
configure Attributes". Objects are placed in the frame of their asset, which faces -z.

The semantic id of an object is its instance in our mesh; the parts of the building are numbered after the objects. The
semantic mesh of the stage has a color per id, which the descriptor (.semantic.txt, of HM3D's kind) maps to a category
and a room; the rooms themselves are in the semantic configuration.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from itinera.formats.frames import points_to_habitat
from itinera.formats.scene_export.gltf import encode_glb, encode_labeled_glb
from itinera.formats.scene_export.materials import texture_names, texture_png
from itinera.formats.scene_export.parts import Part
from itinera.hearth.build import House
from itinera.hearth.layout.plan import PlannedRoom
from itinera.worlds.labels import ROOM_NAMES

DATASET = "hearth.scene_dataset_config.json"
UP, FRONT = [0, 1, 0], [0, 0, -1]
NAVMESH = "navmesh_settings.json"


def encode_dataset(robot_radius: float) -> dict[str, bytes]:
    """The files of the whole dataset by name."""
    config = {
        "stages": {"paths": {".json": ["stages"]}},
        "objects": {"paths": {".json": ["objects/*"]}},
        "scene_instances": {"default_attributes": {"default_lighting": ""}, "paths": {".json": ["scenes"]}},
        "semantic_scene_descriptor_instances": {"paths": {".json": ["semantics"]}},
    }
    # The robot of the tasks, as arguments of habitat_sim.NavMeshSettings.
    settings = {
        "cell_size": 0.05,
        "cell_height": 0.05,
        "agent_height": 1.5,
        "agent_radius": robot_radius,
        "agent_max_climb": 0.25,
        "agent_max_slope": 45.0,
        "include_static_objects": True,
    }
    return {DATASET: _json(config), NAVMESH: _json(settings)}


def encode_scene(house: House, parts: Sequence[Part]) -> dict[str, bytes]:
    """The files of a house by name, relative to the folder of the dataset."""
    stage = [part for part in parts if part.fixed]
    furniture = [part for part in parts if not part.fixed]
    ids = semantic_ids(parts)
    colors = {part.label: semantic_color(ids[part.label]) for part in stage}
    files = {
        f"scenes/{house.id}.scene_instance.json": _json(_scene_instance(house.id, furniture)),
        f"stages/{house.id}.stage_config.json": _json(_stage(house.id)),
        f"stages/{house.id}.glb": encode_glb(stage, textures="../textures"),
        f"stages/{house.id}.semantic.glb": encode_labeled_glb(stage, colors),
        f"semantics/{house.id}.semantic.txt": _descriptor(parts, ids),
        f"semantics/{house.id}.semantic_config.json": _json(_semantic_config(house)),
    }
    for part in furniture:
        name = f"objects/{house.id}/{_template(house.id, part)}"
        files[f"{name}.object_config.json"] = _json(_object(house.id, part, ids[part.label]))
        files[f"{name}.glb"] = encode_glb([part], textures="../../textures", posed=False)
    return files | {f"textures/{name}.png": texture_png(name) for name in texture_names(parts)}


def semantic_ids(parts: Sequence[Part]) -> dict[str, int]:
    """The semantic id of each part by its label: the instance of objects, then numbers for the building."""
    last = max((part.instance for part in parts), default=0)
    building = [part for part in parts if part.instance == 0]
    return {part.label: part.instance for part in parts if part.instance} | {
        part.label: last + 1 + i for i, part in enumerate(building)
    }


def semantic_color(number: int) -> int:
    """A color for each semantic id below 2 to the 24, as 0xRRGGBB: distinct, and far apart for neighboring ids."""
    return number * 0x9E3779 & 0xFFFFFF  # an odd factor, so no two ids have one color


def _template(house_id: str, part: Part) -> str:
    return f"{house_id}_{part.instance:04d}_{part.category}"


def _stage(house_id: str) -> Mapping[str, Any]:
    return {
        "render_asset": f"{house_id}.glb",
        "collision_asset": f"{house_id}.glb",
        "semantic_asset": f"{house_id}.semantic.glb",
        "semantic_descriptor_filename": f"../semantics/{house_id}.semantic.txt",
        "up": UP,
        "front": FRONT,
        "semantic_up": UP,
        "semantic_front": FRONT,
        "origin": [0, 0, 0],
        "scale": [1, 1, 1],
        "gravity": [0, -9.8, 0],
        "units_to_meters": 1.0,
        "is_collidable": True,
        "shader_type": "pbr",
    }


def _object(house_id: str, part: Part, semantic_id: int) -> Mapping[str, Any]:
    return {
        "render_asset": f"{_template(house_id, part)}.glb",
        "collision_asset": f"{_template(house_id, part)}.glb",
        "up": UP,
        "front": FRONT,
        "scale": [1, 1, 1],
        "units_to_meters": 1.0,
        "is_collidable": True,
        "use_bounding_box_for_collision": False,
        "join_collision_meshes": False,
        "shader_type": "pbr",
        "semantic_id": semantic_id,
        "user_defined": {"category": part.category, "name": part.name, "instance": part.instance},
    }


def _scene_instance(house_id: str, furniture: Sequence[Part]) -> Mapping[str, Any]:
    return {
        "stage_instance": {"template_name": f"stages/{house_id}"},
        "default_lighting": "",
        "object_instances": [
            {
                "template_name": f"objects/{house_id}/{_template(house_id, part)}",
                "motion_type": "STATIC",
                "translation_origin": "asset_local",
                "translation": _vector(part.origin),
                "rotation": [round(math.cos(part.turn / 2), 9), 0.0, round(math.sin(part.turn / 2), 9), 0.0],
            }
            for part in furniture
        ],
        "semantic_scene_instance": f"{house_id}.semantic_config.json",
    }


def _descriptor(parts: Sequence[Part], ids: Mapping[str, int]) -> bytes:
    lines = ["HM3D Semantic Annotations"]
    for part in sorted(parts, key=lambda part: ids[part.label]):
        number, room = ids[part.label], -1 if part.room is None else part.room
        lines.append(f'{number},{semantic_color(number):06X},"{part.category}",{room}')
    return "".join(f"{line}\n" for line in lines).encode()


def _semantic_config(house: House) -> Mapping[str, Any]:
    return {
        "semantic_descriptor_filename": f"{house.id}.semantic.txt",
        "semantic_asset": f"../stages/{house.id}.semantic.glb",
        "semantic_up": UP,
        "semantic_front": FRONT,
        "has_semantic_textures": False,
        "region_annotations": [_region(room) for room in house.plan.rooms],
    }


def _region(room: PlannedRoom) -> Mapping[str, Any]:
    name = ROOM_NAMES[room.kind]
    low, high = room.outline.min(axis=0), room.outline.max(axis=0)
    floor, top = float(room.floor), float(room.floor + room.height)
    return {
        "name": f"{name}_{room.index}",
        "label": name,
        "floor_height": round(floor, 4),
        "extrusion_height": round(float(room.height), 4),
        "min_bounds": [round(float(low[0]), 4), round(floor, 4), round(float(-high[1]), 4)],
        "max_bounds": [round(float(high[0]), 4), round(top, 4), round(float(-low[1]), 4)],
        "poly_loop": [_vector([*corner, floor]) for corner in room.outline.tolist()],
    }


def _vector(point: Any) -> list[float]:
    return [round(value, 4) + 0.0 for value in points_to_habitat(point)[0].tolist()]


def _json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2)
