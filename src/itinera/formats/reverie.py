"""REVERIE: short instructions that name a distant object, and the objects visible from every viewpoint.

`read_split` reads the annotations of both versions, `read_objects` the BBox folder; each has its writer beside it.
Result files are R2R submissions with `predObjId`; `r2r.read_predictions` reads them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats.decoding import all_finite, decode, read_list
from itinera.formats.frames import heading_from_r2r, heading_to_r2r
from itinera.formats.io import FaultList, Member, members
from itinera.formats.r2r import parse_id, path_faults, raise_faults, split_name
from itinera.formats.viewpoints import viewpoint_path
from itinera.formats.writing import atomic_write, check_file_name, write_members
from itinera.rendering.panorama import VIEWS
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Pose, VisibleObject

_NOTED = ("id", "objId", "ix", "instructions_l")


class _Record(msgspec.Struct, omit_defaults=True, kw_only=True):
    scan: str
    id: str | int
    path: list[str]
    heading: float
    instructions: list[str]
    path_id: int | str | None = None  # withheld in the test split, as is the object
    objId: int | str | None = None
    distance: float | None = None  # this and what follows: first version only
    ix: int | None = None
    instructions_l: list[str] | None = None  # R2R's instructions for the same path


def read_split(path: str | Path) -> Split:
    """The episodes of a REVERIE file, one per instruction, named "<id>_<i>"; `notes["objId"]` is the object's id."""
    path = Path(path)
    records = read_list(path, _Record)
    faults = chain.from_iterable(path_faults(f"record {i}", record) for i, record in enumerate(records))
    raise_faults(str(path), faults, records, "id")
    return Split(split_name(path), tuple(chain.from_iterable(map(_episodes, records))), protocol="reverie")


def _episodes(record: _Record) -> Iterator[Episode]:
    reference = tuple(record.path)
    # A test split gives the start alone and names no object.
    withheld = len(reference) == 1 and record.objId is None
    notes = {name: value for name in _NOTED if (value := getattr(record, name)) is not None}
    start = Pose(reference[0], heading_from_r2r(record.heading))
    path_id = record.id if record.path_id is None else record.path_id
    for i, instruction in enumerate(record.instructions):
        yield Episode(
            id=f"{record.id}_{i}",
            world_id=record.scan,
            start=start,
            goals=() if withheld else reference[-1:],
            reference=() if withheld else reference,
            instruction=Instruction(instruction),
            path_id=str(path_id),
            stated_distance=record.distance,
            notes=notes,
        )


def write_split(path: str | Path, split: Split) -> None:
    """Write a split of graph episodes in REVERIE's form, the episodes of one path and object together."""
    records: dict[str | int, _Record] = {}
    for episode in split.episodes:
        name = episode.notes.get("id", episode.path_id or episode.id)
        if name in records:
            records[name].instructions.append(episode.instruction.text)
            continue
        noted = {field: episode.notes[field] for field in _NOTED if field in episode.notes}
        records[name] = _Record(
            scan=episode.world_id,
            path=viewpoint_path(episode),
            heading=heading_to_r2r(episode.start.heading),
            instructions=[episode.instruction.text],
            path_id=None if episode.goals_withheld else parse_id(episode.path_id),
            distance=episode.stated_distance,
            **{"id": name, **noted},
        )
    with atomic_write(Path(path)) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(list(records.values())), indent=1))


class _Object(msgspec.Struct):
    name: str
    visible_pos: list[int]
    bbox2d: list[tuple[float, float, float, float]]


class ObjectsByScan(Mapping[str, Mapping[str, tuple[VisibleObject, ...]]]):
    """The objects of a BBox folder or archive by scan and viewpoint, each scan decoded on first access."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not os.path.exists(self.path):
            raise BadFile(str(path), [Fault("", "there is no such file or folder.", "Give the BBox folder.")])
        self._files: dict[str, dict[str, Member]] = {}
        for name, member in members(self.path, ".json").items():
            scan, joint, viewpoint = name.removesuffix(".json").rpartition("_")
            if joint:
                self._files.setdefault(scan, {})[viewpoint] = member
        if not self._files:
            problem = "contains no file named <scan>_<viewpoint>.json."
            raise BadFile(str(path), [Fault("", problem, "Give REVERIE's BBox folder, or an archive of it.")])
        self._read: dict[str, Mapping[str, tuple[VisibleObject, ...]]] = {}

    def __getitem__(self, scan: str) -> Mapping[str, tuple[VisibleObject, ...]]:
        if scan not in self._read:
            self._read[scan] = _read_scan(str(self.path), self._files[scan])
        return self._read[scan]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def read_objects(path: str | Path) -> ObjectsByScan:
    """The objects visible from every viewpoint, by scan, from a BBox folder, .zip or .tar archive.

    Names have spaces: the files write "coffee#table". Objects that are listed but not visible have no views.
    """
    return ObjectsByScan(path)


def _read_scan(source: str, files: Mapping[str, Member]) -> dict[str, tuple[VisibleObject, ...]]:
    found: dict[str, tuple[VisibleObject, ...]] = {}
    faults = FaultList(source)
    for viewpoint, member in files.items():
        try:
            listed = decode(member.read(), dict[str, dict[str, _Object]], member.name)
        except BadFile as error:
            faults += (Fault(member.name, fault.problem, fault.remedy, fault.field) for fault in error.faults)
            continue
        if list(listed) != [viewpoint]:
            problem = f"lists the objects of {', '.join(list(listed)[:5]) or 'no viewpoint'}, not of {viewpoint}."
            faults.append(Fault(member.name, problem, "A file is named after its scan and its one viewpoint."))
            continue
        objects = listed[viewpoint]
        wrong = [fault for id, thing in objects.items() for fault in _faults(member.name, id, thing)]
        faults += wrong
        if not wrong:
            found[viewpoint] = tuple(_object(id, thing) for id, thing in objects.items())
    faults.raise_any()
    return found


def _faults(where: str, id: str, thing: _Object) -> Iterator[Fault]:
    where = f'{where}, object "{id}"'
    if len(thing.visible_pos) != len(thing.bbox2d):
        problem = f"has {len(thing.bbox2d)} boxes for {len(thing.visible_pos)} views."
        yield Fault(where, problem, "Every view that shows an object has one box.", "bbox2d")
    if not all(0 <= view < VIEWS for view in thing.visible_pos):
        yield Fault(where, f"a view is not in 0 … {VIEWS - 1}.", "Views are those of a panorama.", "visible_pos")
    if not all_finite(chain.from_iterable(thing.bbox2d)):
        yield Fault(where, "a box is not finite.", "Boxes are x, y, width, height in pixels.", "bbox2d")


def _object(id: str, thing: _Object) -> VisibleObject:
    return VisibleObject(
        id=id,
        name=thing.name.replace("#", " "),
        views=np.array(thing.visible_pos, dtype=np.int64),
        boxes=np.array(thing.bbox2d, dtype=np.float64).reshape(-1, 4),
    )


def write_objects(path: str | Path, objects: Mapping[str, Mapping[str, tuple[VisibleObject, ...]]]) -> None:
    """Write objects by scan and viewpoint as a BBox folder or archive, a file for each viewpoint."""
    content = {}
    for scan, viewpoints in objects.items():
        for viewpoint, seen in viewpoints.items():
            name = check_file_name(f"{scan}_{viewpoint}.json")
            if not scan or not viewpoint or "_" in viewpoint:
                problem = f"A file cannot be named after scan {scan!r} and viewpoint {viewpoint!r}."
                raise BadArgument(f"{problem} Both need a letter or digit, and _ separates them.")
            listed = {viewpoint: {thing.id: _listed(thing) for thing in seen}}
            content[name] = msgspec.json.encode(listed)
    write_members(Path(path), content)


def _listed(thing: VisibleObject) -> _Object:
    # Pixels are integers in the released files; other boxes may be fractional.
    whole = (thing.boxes == thing.boxes.round()).all()
    boxes = thing.boxes.astype(np.int64) if whole else thing.boxes
    return _Object(thing.name.replace(" ", "#"), thing.views.tolist(), boxes.tolist())
