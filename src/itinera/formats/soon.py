"""SOON: descriptions of a distant object and its room, with the object's box at every viewpoint that shows it.

The forms are those that the released code of DUET reads and writes: tasks as JSON lines, submissions as a list whose
trajectories point at the object. The original release of the data is arranged differently and is not read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from itinera.errors import Fault
from itinera.formats._export import acting_part, require_nodes
from itinera.formats.decoding import Fields, decode, decode_list, report_unknown_fields, unknown_fields
from itinera.formats.frames import heading_from_r2r, heading_to_r2r
from itinera.formats.io import FaultList, read_bytes
from itinera.formats.jsonl import iter_records
from itinera.formats.r2r import parse_id, split_name
from itinera.formats.rxr import repeated_id_faults
from itinera.formats.viewpoints import viewpoint_path
from itinera.formats.writing import atomic_write
from itinera.records import Predictions, Trajectory
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Pose

START_HEADING = 1.52  # radians clockwise from +y: the tasks state none, and DUET evaluates with this one
CORNERS = ("left_top", "right_top", "right_bottom", "left_bottom")


class _Direction(msgspec.Struct):
    heading: float  # radians clockwise from +y
    elevation: float  # radians


class _Target(msgspec.Struct, kw_only=True):
    left_top: _Direction
    right_top: _Direction
    right_bottom: _Direction
    left_bottom: _Direction
    center: _Direction | None = None


class _Box(msgspec.Struct):
    image_id: str  # the viewpoint
    target: _Target


class _Record(msgspec.Struct, omit_defaults=True, kw_only=True):
    path_id: int | str
    scan: str
    path: list[str]
    instructions: list[dict[str, str]]  # "full", and parts of it under other names
    bboxes: list[_Box] | None = None  # withheld in a test split


def read_split(path: str | Path) -> Split:
    """The episodes of a SOON file, one per instruction, named "<path_id>_<i>"; its text is the one called "full".

    Every viewpoint with a box is a goal, and so is the end of the path. `notes["boxes"]` has the corners of the box at
    each viewpoint, (heading, elevation) in radians.
    """
    path = Path(path)
    faults, known = FaultList(str(path)), dict[str, str]()
    episodes: list[Episode] = []
    for where, record in iter_records(path, _Record, faults):
        wrong = [*_faults(where, record), *repeated_id_faults(where, str(record.path_id), known, "path_id")]
        faults += wrong
        if not wrong:
            episodes += _episodes(record)
    faults.raise_any()
    return Split(split_name(path), tuple(episodes), protocol="soon")


def _faults(where: str, record: _Record) -> Iterator[Fault]:
    if not record.path:
        yield Fault(where, "is empty.", "A path contains at least its start.", "path")
    if not all("full" in texts for texts in record.instructions) or not record.instructions:
        yield Fault(where, 'lacks an instruction "full".', "Every instruction has its whole text.", "instructions")
    for box in record.bboxes or ():
        corners = [getattr(box.target, name) for name in CORNERS]
        if not all(math.isfinite(c.heading) and math.isfinite(c.elevation) for c in corners):
            yield Fault(where, f"the box at {box.image_id} is not finite.", "Corners are radians.", "bboxes")


def _episodes(record: _Record) -> Iterator[Episode]:
    reference = tuple(record.path)
    boxes = {
        box.image_id: [
            [heading_from_r2r(corner.heading), corner.elevation]
            for corner in (getattr(box.target, name) for name in CORNERS)
        ]
        for box in record.bboxes or ()
    }
    withheld = record.bboxes is None
    goals = () if withheld else tuple(dict.fromkeys((*boxes, reference[-1])))
    for i, texts in enumerate(record.instructions):
        parts = {name: text for name, text in texts.items() if name != "full"}
        yield Episode(
            id=f"{record.path_id}_{i}",
            world_id=record.scan,
            start=Pose(reference[0], heading_from_r2r(START_HEADING)),
            goals=goals,
            reference=() if withheld else reference,
            instruction=Instruction(texts["full"]),
            path_id=str(record.path_id),
            notes={**({} if withheld else {"boxes": boxes}), **({"parts": parts} if parts else {})},
        )


def write_split(path: str | Path, split: Split) -> None:
    """Write a split of graph episodes in SOON's form, the episodes of one path together."""
    records: dict[str, _Record] = {}
    for episode in split.episodes:
        texts = {"full": episode.instruction.text, **episode.notes.get("parts", {})}
        name = episode.path_id or episode.id
        if name in records:
            records[name].instructions.append(texts)
            continue
        boxes = [_box(viewpoint, corners) for viewpoint, corners in episode.notes.get("boxes", {}).items()]
        records[name] = _Record(
            path_id=parse_id(name),
            scan=episode.world_id,
            path=viewpoint_path(episode),
            instructions=[texts],
            bboxes=None if episode.goals_withheld else boxes,
        )
    with atomic_write(Path(path)) as stream:
        for record in records.values():
            stream.write(msgspec.json.encode(record) + b"\n")


def _box(viewpoint: str, corners: list[tuple[float, float]]) -> _Box:
    # Not within one turn: a box across heading 0 would be torn apart.
    found = [_Direction(math.pi / 2 - heading, elevation) for heading, elevation in corners]
    center = _Direction(sum(c.heading for c in found) / len(found), sum(c.elevation for c in found) / len(found))
    return _Box(viewpoint, _Target(**dict(zip(CORNERS, found, strict=True)), center=center))


class _Trajectory(msgspec.Struct, kw_only=True):
    path: list[list[str | float]]  # [viewpoint, heading, elevation], or all viewpoints passed in one move
    obj_heading: float | list[float | None] | None = None  # share of a turn, clockwise from +y
    obj_elevation: float | list[float | None] | None = None  # (elevation + pi) / (2 pi)


class _Prediction(msgspec.Struct):
    instr_id: str | int
    trajectory: _Trajectory | list[_Trajectory]  # DUET writes one, the server reads a list of one


def read_predictions(path: str | Path) -> Predictions:
    """The trajectories of a submission: [{"instr_id", "trajectory": {"path", "obj_heading", "obj_elevation"}}, …].

    `trajectory` may also be a list of one such object, which SOON's server reads. The direction of the object, from the
    last place, becomes `Trajectory.object_direction`, in radians.
    """
    path = Path(path)
    data = read_bytes(path)
    records = decode_list(data, _Prediction, str(path))
    faults = FaultList(str(path))
    trajectories = []
    for i, record in enumerate(records):
        where = f'record {i} ("{record.instr_id}")'
        listed = record.trajectory if isinstance(record.trajectory, list) else [record.trajectory]
        if len(listed) != 1:
            remedy = "Keep one trajectory for each instruction."
            faults.append(Fault(where, f"has {len(listed)} trajectories.", remedy, "trajectory"))
            continue
        places = tuple(name for step in listed[0].path for name in step if isinstance(name, str))
        if not places:
            faults.append(Fault(where, "is empty.", "A trajectory must include its start.", "path"))
        direction = _direction(listed[0])
        if direction is not None and not all(map(math.isfinite, direction)):
            faults.append(Fault(where, "points nowhere.", "Directions are finite numbers.", "obj_heading"))
        trajectories.append(Trajectory(str(record.instr_id), places, object_direction=direction))
    faults.raise_any()
    _report_unknown(data, str(path))
    return Predictions.from_trajectories(str(path), trajectories)


def _report_unknown(data: bytes, source: str) -> None:
    records = decode_list(data, Fields, source)
    nested = (fields for record in records for fields in _nested_fields(bytes(record["trajectory"]), source))
    names = unknown_fields(records, _Prediction.__struct_fields__)
    report_unknown_fields(source, names | unknown_fields(nested, _Trajectory.__struct_fields__))


def _nested_fields(data: bytes, source: str) -> list[Fields]:
    return decode(data if data.lstrip().startswith(b"[") else b"[%b]" % data, list[Fields], source)


def _direction(trajectory: _Trajectory) -> tuple[float, float] | None:
    heading, elevation = (_first(value) for value in (trajectory.obj_heading, trajectory.obj_elevation))
    if heading is None or elevation is None:
        return None
    return heading_from_r2r(math.tau * heading), math.tau * elevation - math.pi


def _first(value: float | list[float | None] | None) -> float | None:
    return (value[0] if value else None) if isinstance(value, list) else value


def write_predictions(path: str | Path, predictions: Predictions) -> None:
    """Write graph trajectories as SOON's server reads them: `trajectory` is a list of one object."""
    records = []
    for trajectory in map(acting_part, predictions.trajectories):
        places = require_nodes(trajectory.places, f'The trajectory of episode "{trajectory.episode_id}"')
        content: dict[str, Any] = {"path": [[place] for place in places]}
        if trajectory.object_direction is not None:
            heading, elevation = trajectory.object_direction
            content["obj_heading"] = [heading_to_r2r(heading) / math.tau]
            content["obj_elevation"] = [(elevation + math.pi) / math.tau]
        records.append({"instr_id": trajectory.episode_id, "trajectory": [content]})
    with atomic_write(Path(path)) as stream:
        stream.write(msgspec.json.encode(records))
