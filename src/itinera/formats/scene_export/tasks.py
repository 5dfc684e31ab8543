"""The tasks of a season for its exported houses, in the frame and with the scene names of each simulator.

Tasks are read from the season's folder, never built again: where answers are withheld, they stay withheld.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from itinera.formats import pointnav, vlnce
from itinera.formats.frames import heading_to_habitat, points_to_habitat
from itinera.formats.hearth_season import BOXES, split_files
from itinera.formats.io import members, read_bytes
from itinera.formats.scene_export.habitat import DATASET
from itinera.tasks import Episode
from itinera.worlds import Pose

DATA_FOLDER = "data/scene_datasets/hearth"  # where Habitat's configurations look for scenes
_FRAMES = {
    "z": "z up, metres; yaw in radians counter-clockwise from +x; quaternion w, x, y, z of a robot that faces +x",
    "y": "y up, metres; yaw in radians counter-clockwise from -z; quaternion w, x, y, z of a robot that faces -z",
}


def habitat_tasks(season: Path, splits: Collection[str], houses: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """The PointNav and VLN-CE files of the season, with the scenes of the exported dataset."""
    for split in splits:
        files = split_files(split)
        for kind in ("pointnav", "vlnce"):
            content = _read_json(season / files[kind])
            if content is None:
                continue
            content["episodes"] = [_in_dataset(e) for e in content["episodes"] if _house(e["scene_id"]) in houses]
            yield f"tasks/{files[kind]}", msgspec.json.encode(content)
            dense = _read_json(season / files["dense"]) if kind == "vlnce" else None
            if dense is not None:
                kept = {str(episode["episode_id"]) for episode in content["episodes"]}
                yield f"tasks/{files['dense']}", msgspec.json.encode({k: v for k, v in dense.items() if k in kept})


def _in_dataset(episode: dict[str, Any]) -> dict[str, Any]:
    scene = f"hearth/scenes/{_house(episode['scene_id'])}.scene_instance.json"
    return {**episode, "scene_id": scene, "scene_dataset_config": f"{DATA_FOLDER}/{DATASET}"}


def _house(scene_id: str) -> str:
    return vlnce.scan_from_scene(scene_id)


def plain_tasks(
    season: Path, splits: Collection[str], houses: Collection[str], *, up: str, scene: str
) -> Iterator[tuple[str, bytes]]:
    """PointNav and VLN-CE tasks as plain JSON, for simulators without a task format of their own.

    up: the up axis, "z" or "y". scene: the file of a scene with {id} for its house.
    """
    readers = {"pointnav": pointnav.read_split, "vlnce": vlnce.read_split}
    for split in splits:
        for kind, read in readers.items():
            file = season / split_files(split)[kind]
            if not os.path.exists(file):
                continue
            chosen = [_plain(e, up, scene) for e in read(file).episodes if e.world_id in houses]
            content = {"task": kind, "split": split, "frame": _FRAMES[up], "episodes": chosen}
            yield f"tasks/{kind}_{split}.json", msgspec.json.format(msgspec.json.encode(content), indent=1)


def _plain(episode: Episode, up: str, scene: str) -> Mapping[str, Any]:
    task: dict[str, Any] = {
        "episode_id": episode.id,
        "scene": scene.format(id=episode.world_id),
        "start": _pose(episode.start, up),
        "goals": _points(episode.goals, up),
    }
    if episode.stated_distance is not None:
        task["geodesic_distance"] = episode.stated_distance
    if episode.instruction.text:
        task |= {"instruction": episode.instruction.text, "reference_path": _points(episode.reference, up)}
    return task


def _pose(pose: Pose, up: str) -> Mapping[str, Any]:
    yaw = math.remainder(pose.heading if up == "z" else heading_to_habitat(pose.heading), math.tau)
    cos, sin = round(math.cos(yaw / 2), 9), round(math.sin(yaw / 2), 9)
    turned = [cos, 0.0, 0.0, sin] if up == "z" else [cos, 0.0, sin, 0.0]
    return {"position": _points([pose.place], up)[0], "yaw": round(yaw, 6), "quaternion": turned}


def _points(places: Any, up: str) -> list[list[float]]:
    points = [[float(value) for value in place] for place in places]
    if up == "y" and points:
        points = points_to_habitat(points).tolist()  # type: ignore[arg-type]
    return [[round(value, 5) + 0.0 for value in point] for point in points]


def graph_tasks(season: Path, splits: Collection[str], houses: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """The R2R, RxR and REVERIE files of the season for these scans, and REVERIE's boxes."""
    for split in splits:
        files = split_files(split)
        for kind in ("r2r", "reverie"):
            content = _read_json(season / files[kind])
            if content is not None:
                yield f"tasks/{files[kind]}", msgspec.json.encode([item for item in content if item["scan"] in houses])
        if os.path.exists(season / files["rxr"]):
            lines = read_bytes(season / files["rxr"]).splitlines()
            kept = [line for line in lines if msgspec.json.decode(line, type=_Scan).scan in houses]
            yield f"tasks/{files['rxr']}", b"".join(line + b"\n" for line in kept)
    if os.path.exists(season / BOXES):
        for name, member in members(season / BOXES, ".json").items():
            if name.rpartition("_")[0] in houses:
                yield f"tasks/reverie/BBox/{name}", member.read()


class _Scan(msgspec.Struct):
    scan: str


TaskWriter = Callable[[Path, Collection[str], Collection[str]], Iterator[tuple[str, bytes]]]


def _read_json(file: Path) -> Any:
    """The content of a JSON file of the season; None where the season does not have it."""
    return msgspec.json.decode(read_bytes(file)) if os.path.exists(file) else None
