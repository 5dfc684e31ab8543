"""What is seen from every viewpoint of a house, in a file of its own: the words a rule-based reader needs.

A file holds one world: its things once, in a table, and for each node which of them one sees and where, the ways on
and the doors. Whoever is shown a sight is not shown the names in it; that is the simulator's care.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from itinera.errors import BadFile, Fault
from itinera.formats.decoding import decode, finite, refuse_repeated_keys
from itinera.formats.io import Member, atomic_write, members
from itinera.hearth.language.scene_description import Doorway, Outlook, Thing, Way

FORMAT = 1
KEPT = 8  # worlds in memory; one takes a megabyte or two

Numbered = Annotated[int, msgspec.Meta(ge=0)]


class _Thing(msgspec.Struct, array_like=True, frozen=True):
    name: str
    colour: str
    shape: str
    size: float  # metres
    instance: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


class _Seen(msgspec.Struct, array_like=True):
    thing: Numbered  # which of the table
    heading: float  # radians counter-clockwise from +x
    distance: float  # metres


class _Way(msgspec.Struct, array_like=True):
    node: str
    heading: float
    distance: float
    climb: Literal[-1, 0, 1]
    room: str
    through: Literal["", "door", "opening"]


class _Door(msgspec.Struct, array_like=True):
    heading: float
    distance: float
    room: str
    colour: str
    wide: bool


class _Sight(msgspec.Struct):
    room: str
    things: list[_Seen]
    candidates: list[_Way]
    doors: list[_Door]


class _File(msgspec.Struct):
    itinera: Literal["sights"]
    format: int
    world: str
    things: list[_Thing]
    sights: dict[str, _Sight]


def write_sights(path: str | Path, world_id: str, outlooks: Mapping[str, Outlook]) -> None:
    """What is seen from each node of a world, as one file: `sights/<world>.json` in a folder of many."""
    table: dict[_Thing, int] = {}
    sights = {}
    for node, outlook in outlooks.items():
        seen = [_Seen(table.setdefault(_known(t), len(table)), t.heading, t.distance) for t in outlook.things]
        candidates = [_Way(w.node, w.heading, w.distance, w.climb, w.room, w.through) for w in outlook.candidates]  # type: ignore[arg-type]
        doors = [_Door(d.heading, d.distance, d.room, d.colour, d.wide) for d in outlook.doors]
        sights[node] = _Sight(outlook.room, seen, candidates, doors)
    with atomic_write(Path(path)) as stream:
        stream.write(msgspec.json.encode(_File("sights", FORMAT, world_id, list(table), sights)))


def _known(thing: Thing) -> _Thing:
    return _Thing(thing.name, thing.colour, thing.shape, thing.size, thing.instance)


class Sights(Mapping[str, Mapping[str, Outlook]]):
    """What is seen in each world and from each node, a world's file read when it is asked for."""

    def __init__(self, path: str | Path) -> None:
        path = Path(path)
        if path.is_file() and path.suffix == ".json":
            files = {path.name: Member(str(path), path.read_bytes)}
        elif path.exists():
            files = members(path, ".json")
        else:
            raise BadFile(str(path), [Fault("", "there is no such file or folder.", "Give the folder of sights.")])
        self._files = {name.removesuffix(".json"): member for name, member in files.items()}
        self._kept = lru_cache(KEPT)(self._read)

    def __getitem__(self, world_id: str) -> Mapping[str, Outlook]:
        return self._kept(world_id)

    def _read(self, world_id: str) -> Mapping[str, Outlook]:
        return _outlooks(self._files[world_id], world_id)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def read_sights(path: str | Path) -> Sights:
    """What is seen, by world and node, from a folder or archive of files named after their worlds, or one of them."""
    return Sights(path)


def _outlooks(member: Member, world_id: str) -> dict[str, Outlook]:
    data = member.read()
    file = decode(data, _File, member.name)
    refuse_repeated_keys(data, member.name)
    faults = list(_faults(file, world_id))
    if faults:
        raise BadFile(member.name, faults)
    return {node: _outlook(node, sight, file.things) for node, sight in file.sights.items()}


def _faults(file: _File, world_id: str) -> Iterator[Fault]:
    if file.format > FORMAT:
        problem = f"is of format {file.format}, and this version reads up to {FORMAT}."
        yield Fault("", problem, "Install a newer itinera.", "format")
    if file.world != world_id:
        yield Fault("", f"tells of {file.world}.", "A file is named after its world.", "world")
    if not finite(thing.size for thing in file.things):
        yield Fault("", "a size is not finite.", "Sizes are metres.", "things")
    for node, sight in file.sights.items():
        where = f'node "{node}"'
        if any(seen.thing >= len(file.things) for seen in sight.things):
            yield Fault(where, "sees a thing that is not in the table.", "Things are numbered from 0.", "things")
        for way in sight.candidates:
            if way.node not in file.sights:
                yield Fault(where, f"a way leads to {way.node}, which is no node of the file.", "", "candidates")
        placed: list[_Seen | _Way | _Door] = [*sight.things, *sight.candidates, *sight.doors]
        if not finite(number for one in placed for number in (one.heading, one.distance)):
            yield Fault(where, "a heading or distance is not finite.", "They are radians and metres.")


def _outlook(node: str, sight: _Sight, table: list[_Thing]) -> Outlook:
    return Outlook(
        node,
        sight.room,
        tuple(_thing(table[seen.thing], seen) for seen in sight.things),
        tuple(Way(way.node, way.heading, way.distance, way.climb, way.room, way.through) for way in sight.candidates),
        tuple(Doorway(door.heading, door.distance, door.room, door.colour, door.wide) for door in sight.doors),
    )


def _thing(known: _Thing, seen: _Seen) -> Thing:
    return Thing(known.name, known.colour, known.shape, seen.heading, seen.distance, known.size, known.instance)
