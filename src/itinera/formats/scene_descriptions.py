"""Scene descriptions: what is visible from every viewpoint of a house, for agents that use language and no images.

A file holds one world: its objects once, in a table, and for each node the visible objects, candidates and doors. The
simulator removes the ids before it shows a description to an agent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from itinera.errors import BadFile, Fault
from itinera.formats.decoding import all_finite, decode, refuse_repeated_keys
from itinera.formats.io import FaultList, Member, members, read_bytes
from itinera.formats.writing import atomic_write
from itinera.hearth.language.scene_description import (
    DescribedCandidate,
    DescribedDoor,
    DescribedObject,
    SceneDescription,
)

FORMAT = 2  # 1 had no materials, heights and rooms of objects
CACHE_SIZE = 8  # worlds in memory; one takes a megabyte or two

TableIndex = Annotated[int, msgspec.Meta(ge=0)]


class _ObjectRow(msgspec.Struct, array_like=True, frozen=True):
    name: str
    color: str
    shape: str
    size: float  # metres
    instance: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
    material: str = ""
    height: float = 0.0  # metres


class _VisibleRow(msgspec.Struct, array_like=True):
    row: TableIndex  # of the table of objects
    heading: float  # radians counter-clockwise from +x
    distance: float  # metres
    inside: bool = True  # the room of the viewpoint


class _CandidateRow(msgspec.Struct, array_like=True):
    node: str
    heading: float
    distance: float
    climb: Literal[-1, 0, 1]
    room: str
    exit: Literal["", "door", "opening"]


class _DoorRow(msgspec.Struct, array_like=True):
    heading: float
    distance: float
    room: str
    color: str
    wide: bool


class _NodeRecord(msgspec.Struct):
    room: str
    objects: list[_VisibleRow]
    candidates: list[_CandidateRow]
    doors: list[_DoorRow]


class _File(msgspec.Struct):
    itinera: Literal["scene_descriptions"]
    format: int
    world: str
    objects: list[_ObjectRow]
    nodes: dict[str, _NodeRecord]


def write_descriptions(path: str | Path, world_id: str, descriptions: Mapping[str, SceneDescription]) -> None:
    """Write the description of each node of a world to one file, `scene_descriptions/<world>.json` in a season."""
    table: dict[_ObjectRow, int] = {}
    nodes = {}
    for node, description in descriptions.items():
        visible = [
            _VisibleRow(table.setdefault(_object_row(one), len(table)), one.heading, one.distance, one.inside)
            for one in description.objects
        ]
        candidates = [
            _CandidateRow(one.node, one.heading, one.distance, one.climb, one.room, one.exit)  # type: ignore[arg-type]
            for one in description.candidates
        ]
        doors = [_DoorRow(d.heading, d.distance, d.room, d.color, d.wide) for d in description.doors]
        nodes[node] = _NodeRecord(description.room, visible, candidates, doors)
    with atomic_write(Path(path)) as stream:
        stream.write(msgspec.json.encode(_File("scene_descriptions", FORMAT, world_id, list(table), nodes)))


def _object_row(one: DescribedObject) -> _ObjectRow:
    return _ObjectRow(one.name, one.color, one.shape, one.size, one.instance, one.material, one.height)


class SceneDescriptions(Mapping[str, Mapping[str, SceneDescription]]):
    """The descriptions of each world and node; the file of a world is read on first access."""

    def __init__(self, path: str | Path) -> None:
        path = Path(path)
        if path.suffix == ".json" and os.path.isfile(path):
            files = {path.name: Member(str(path), lambda: read_bytes(path))}
        elif os.path.exists(path):
            files = members(path, ".json")
        else:
            problem = "there is no such file or folder."
            raise BadFile(str(path), [Fault("", problem, "Give the folder of scene descriptions.")])
        self._files = {name.removesuffix(".json"): member for name, member in files.items()}
        self._cached = lru_cache(CACHE_SIZE)(self._read)

    def __getitem__(self, world_id: str) -> Mapping[str, SceneDescription]:
        return self._cached(world_id)

    def _read(self, world_id: str) -> Mapping[str, SceneDescription]:
        return _read_world(self._files[world_id], world_id)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def read_descriptions(path: str | Path) -> SceneDescriptions:
    """Scene descriptions by world and node, from a folder or archive of files named after their worlds, or one file."""
    return SceneDescriptions(path)


def _read_world(member: Member, world_id: str) -> dict[str, SceneDescription]:
    data = member.read()
    file = decode(data, _File, member.name)
    refuse_repeated_keys(data, member.name)
    FaultList(member.name, _faults(file, world_id)).raise_any()
    return {node: _read_node(node, record, file.objects) for node, record in file.nodes.items()}


def _faults(file: _File, world_id: str) -> Iterator[Fault]:
    if file.format > FORMAT:
        problem = f"has format {file.format}, but this version reads only up to {FORMAT}."
        yield Fault("", problem, "Install a newer itinera.", "format")
    if file.world != world_id:
        yield Fault("", f"describes world {file.world}.", "A file must be named after its world.", "world")
    if not all_finite(number for row in file.objects for number in (row.size, row.height)):
        yield Fault("", "a size or height is not finite.", "They are metres.", "objects")
    for node, record in file.nodes.items():
        where = f'node "{node}"'
        if any(visible.row >= len(file.objects) for visible in record.objects):
            problem = "refers to an object that is not in the table."
            yield Fault(where, problem, "Objects are numbered from 0.", "objects")
        for candidate in record.candidates:
            if candidate.node not in file.nodes:
                yield Fault(
                    where, f"has the candidate {candidate.node}, which is no node of the file.", "", "candidates"
                )
        placed: list[_VisibleRow | _CandidateRow | _DoorRow] = [*record.objects, *record.candidates, *record.doors]
        if not all_finite(number for one in placed for number in (one.heading, one.distance)):
            yield Fault(where, "a heading or distance is not finite.", "They are radians and metres.")


def _read_node(node: str, record: _NodeRecord, table: list[_ObjectRow]) -> SceneDescription:
    return SceneDescription(
        node,
        record.room,
        tuple(_read_object(table[visible.row], visible) for visible in record.objects),
        tuple(
            DescribedCandidate(one.node, one.heading, one.distance, one.climb, one.room, one.exit)
            for one in record.candidates
        ),
        tuple(DescribedDoor(door.heading, door.distance, door.room, door.color, door.wide) for door in record.doors),
    )


def _read_object(row: _ObjectRow, visible: _VisibleRow) -> DescribedObject:
    looks = row.name, row.color, row.shape
    placed = visible.heading, visible.distance, row.size
    return DescribedObject(*looks, *placed, row.instance, row.material, row.height, visible.inside)
