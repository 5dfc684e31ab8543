"""PointNav: from a pose to a point, without instruction. Habitat's episode files, one JSON document, usually .json.gz.

Everything returned is in our frame, not Habitat's (y up). An episode has a goal and no reference path.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from itinera.errors import BadArgument, Fault
from itinera.formats.decoding import decode, decode_list
from itinera.formats.frames import (
    heading_from_habitat,
    heading_to_habitat,
    points_from_habitat,
    quaternion_from_yaw,
    yaw_from_quaternion,
)
from itinera.formats.io import read_bytes
from itinera.formats.r2r import parse_id, raise_faults, split_name
from itinera.formats.vlnce import Point, Rotation, distance_faults, habitat_points, rotation_faults, scan_from_scene
from itinera.formats.writing import atomic_write
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Pose

RADIUS = 0.2  # metres; success radius of Habitat's PointNav


class _Goal(msgspec.Struct):
    position: Point
    radius: float | None = None


class _Record(msgspec.Struct, kw_only=True):
    episode_id: int | str
    scene_id: str
    start_position: Point
    start_rotation: Rotation
    goals: list[_Goal]
    info: dict[str, Any] | None = None
    shortest_paths: Any = None  # Habitat's own cache of actions; kept as null


class _File(msgspec.Struct):
    episodes: msgspec.Raw


def read_split(path: str | Path) -> Split:
    """The episodes of a PointNav file, named by their episode id; their instructions are empty."""
    path = Path(path)
    file = decode(read_bytes(path), _File, str(path))
    records = decode_list(bytes(file.episodes), _Record, str(path))
    raise_faults(str(path), chain.from_iterable(map(_faults, range(len(records)), records)), records, "episode_id")
    return Split(split_name(path), tuple(map(_episode, records)), protocol="pointnav")


def _faults(i: int, record: _Record) -> Iterator[Fault]:
    where = f'record {i} ("{record.episode_id}")'
    if not scan_from_scene(record.scene_id):
        yield Fault(where, "names no scene.", "It should look like hearth/<scene>/<scene>.glb.", "scene_id")
    yield from rotation_faults(where, record.start_rotation)
    if not record.goals:
        yield Fault(where, "is empty.", "A PointNav task needs a goal.", "goals")
    yield from distance_faults(where, record.info)


def _episode(record: _Record) -> Episode:
    kept: dict[str, Any] = {
        "radius": [goal.radius for goal in record.goals],
        "info": {k: v for k, v in (record.info or {}).items() if k != "geodesic_distance"} or None,
        "scene_id": record.scene_id if record.scene_id != f"{scan_from_scene(record.scene_id)}.glb" else None,
        "episode_id": _unusual(record.episode_id),
    }
    goals = points_from_habitat([goal.position for goal in record.goals])
    return Episode(
        id=str(record.episode_id),
        world_id=scan_from_scene(record.scene_id),
        start=Pose(
            points_from_habitat(record.start_position)[0],
            heading_from_habitat(yaw_from_quaternion(record.start_rotation)),
        ),
        goals=goals,
        reference=(),
        instruction=Instruction.to_point(goals),
        stated_distance=(record.info or {}).get("geodesic_distance"),
        notes={name: value for name, value in kept.items() if value is not None},
    )


def _unusual(name: int | str) -> str | None:
    return name if isinstance(name, str) and parse_id(name) != name else None


def write_split(path: str | Path, split: Split) -> None:
    """A split of continuous episodes as a PointNav file: their starts and goals. Words and references are left out."""
    encoded = encode_split(split)
    with atomic_write(Path(path)) as stream:
        stream.write(encoded)


def encode_split(split: Split) -> bytes:
    """The content of the PointNav file of a split."""
    without = next((episode.id for episode in split.episodes if episode.goals_withheld), None)
    if without is not None:
        raise BadArgument(f'Episode "{without}" has no goal, which a PointNav task needs.')
    records = list(map(_record, split.episodes))
    return msgspec.json.encode({"episodes": records})


def _record(episode: Episode) -> _Record:
    notes, whose = episode.notes, f'Episode "{episode.id}"'
    goals = habitat_points(episode.goals, whose)
    radii = notes.get("radius", [])
    if len(radii) != len(goals):
        radii = [RADIUS] * len(goals)
    info = dict(notes.get("info", {}))
    if episode.stated_distance is not None:
        info["geodesic_distance"] = episode.stated_distance
    scene = notes.get("scene_id", "")
    return _Record(
        episode_id=episode.id if notes.get("episode_id") == episode.id else parse_id(episode.id),
        scene_id=scene if scan_from_scene(scene) == episode.world_id else f"{episode.world_id}.glb",
        start_position=habitat_points([episode.start.place], whose)[0],
        start_rotation=quaternion_from_yaw(heading_to_habitat(episode.start.heading)),
        goals=[_Goal(*goal) for goal in zip(goals, radii, strict=True)],
        info=info or None,
    )
