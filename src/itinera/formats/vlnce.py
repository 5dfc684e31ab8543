"""VLN in continuous environments: R2R-CE and RxR-CE episodes and their dense ground truth.

Everything returned is in our frame, not Habitat's (y up). Submissions are in `vlnce_predictions.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadFile, Fault
from itinera.formats._export import require_positions, require_reference
from itinera.formats.decoding import UNDECODABLE, decode, decode_dict, decode_list
from itinera.formats.frames import (
    heading_from_habitat,
    heading_to_habitat,
    points_from_habitat,
    points_to_habitat,
    quaternion_from_yaw,
    yaw_from_quaternion,
)
from itinera.formats.io import FaultList, read_bytes
from itinera.formats.jsonl import replace_nan
from itinera.formats.r2r import parse_id, raise_faults, split_name
from itinera.formats.rxr import TimedWord, alignment_to_words, words_to_alignment
from itinera.formats.writing import atomic_write
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Array, Pose

Point: TypeAlias = tuple[float, float, float]
Rotation: TypeAlias = tuple[float, float, float, float]

_ABSENT = msgspec.Raw()
_TILT = 1e-3  # tilt of a start rotation above which it has no heading


class _Goal(msgspec.Struct, omit_defaults=True):
    position: Point
    radius: float | None = None


class _Instruction(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The instruction of an episode; the fields between text and tokens are RxR's."""

    instruction_text: str
    instruction_id: int | str | None = None
    language: str | None = None
    annotator_id: int | str | None = None
    edit_distance: float | None = None
    timed_instruction: msgspec.Raw = _ABSENT  # decoded by episode: the words of a file would fill the memory
    instruction_tokens: list[int | str] | None = None


class _Record(msgspec.Struct, omit_defaults=True, kw_only=True):
    episode_id: int | str
    trajectory_id: int | str | None = None
    scene_id: str
    start_position: Point
    start_rotation: Rotation
    info: dict[str, Any] | None = None
    goals: list[_Goal] | None = None
    instruction: _Instruction
    reference_path: list[Point] | None = None


class _File(msgspec.Struct, omit_defaults=True):
    episodes: msgspec.Raw
    instruction_vocab: dict[str, Any] | None = None


def read_split(path: str | Path) -> Split:
    """The episodes of an R2R-CE or RxR-CE file, named by their episode id; the goals of a test file are withheld.

    The protocol is "rxr-ce" where instructions name their language or id, else "r2r-ce". RxR-CE submissions name
    instructions, not episodes: see `vlnce_predictions.to_episode_ids`.
    """
    path = Path(path)
    data = read_bytes(path)
    try:
        records, vocabulary = _decoded(data, str(path))
    except BadFile:
        if b"NaN" not in data:
            raise
        records, vocabulary = _decoded(_without_nan(data, str(path)), str(path))
    raise_faults(str(path), chain.from_iterable(map(_faults, range(len(records)), records)), records, "episode_id")
    rxr = any(r.instruction.language is not None or r.instruction.instruction_id is not None for r in records)
    episodes = tuple(_episodes(records, vocabulary, str(path)))
    return Split(split_name(path), episodes, protocol="rxr-ce" if rxr else "r2r-ce")


def _decoded(data: bytes, source: str) -> tuple[list[_Record], dict[str, Any] | None]:
    file = decode(data, _File, source)
    return decode_list(bytes(file.episodes), _Record, source), file.instruction_vocab


def _without_nan(data: bytes, source: str) -> bytes:
    try:
        return replace_nan(data)
    except (ValueError, RecursionError) as error:
        raise BadFile(source, [Fault("", f"{error}.", "Write missing values as null.")]) from None


def _faults(i: int, record: _Record) -> Iterator[Fault]:
    where = f'record {i} ("{record.episode_id}")'
    if not scan_from_scene(record.scene_id):
        yield Fault(where, "names no scan.", "It should look like mp3d/<scan>/<scan>.glb.", "scene_id")
    yield from rotation_faults(where, record.start_rotation)
    if bool(record.goals) != bool(record.reference_path):
        given, lacking = ("goals", "reference_path") if record.goals else ("reference_path", "goals")
        yield Fault(where, f"is empty, but {given} is not.", "A task has both, a hidden test neither.", lacking)
    yield from distance_faults(where, record.info)


def rotation_faults(where: str, rotation: Rotation) -> Iterator[Fault]:
    """A fault if a start is turned about anything but the vertical axis."""
    x, y, z, w = rotation
    size = math.hypot(x, y, z, w)
    if size < 0.5 or math.hypot(x, z) > _TILT * size:
        problem = "must turn about the vertical axis only."
        yield Fault(where, problem, "It is a quaternion [x, y, z, w] in Habitat's frame, y up.", "start_rotation")


def distance_faults(where: str, info: Mapping[str, Any] | None) -> Iterator[Fault]:
    """A fault if the stated distance is not a number."""
    distance = (info or {}).get("geodesic_distance")
    if distance is not None and not isinstance(distance, int | float):
        yield Fault(where, "must be a number of metres.", field="info.geodesic_distance")


def scan_from_scene(scene_id: str) -> str:
    """The scan of a scene as Habitat names it: "mp3d/<scan>/<scan>.glb"."""
    return scene_id.rsplit("/", 1)[-1].split(".")[0]


def _scene(scan: str) -> str:
    return f"mp3d/{scan}/{scan}.glb"


def _episodes(records: Sequence[_Record], vocabulary: dict[str, Any] | None, source: str) -> Iterator[Episode]:
    starts = points_from_habitat([record.start_position for record in records])
    starts.flags.writeable = False
    paths = _shared(tuple(record.reference_path or ()) for record in records)
    goals = _shared(tuple(goal.position for goal in record.goals or ()) for record in records)
    faults = FaultList(source)
    for i, (record, start) in enumerate(zip(records, starts, strict=True)):
        instruction = record.instruction
        yield Episode(
            id=str(record.episode_id),
            world_id=scan_from_scene(record.scene_id),
            start=Pose(start, heading_from_habitat(yaw_from_quaternion(record.start_rotation))),
            goals=goals[tuple(goal.position for goal in record.goals or ())],
            reference=paths[tuple(record.reference_path or ())],
            instruction=Instruction(instruction.instruction_text, instruction.language or "en"),
            path_id="" if record.trajectory_id is None else str(record.trajectory_id),
            alignment=words_to_alignment(_words(instruction, f"record {i}", faults)),
            stated_distance=(record.info or {}).get("geodesic_distance"),
            # The vocabulary is the file's: the first episode keeps it for writing.
            notes=_notes(record, None if i else vocabulary),
        )
    faults.raise_any()


def _shared(rows: Iterable[tuple[Point, ...]]) -> dict[tuple[Point, ...], Array]:
    """Our (n, 3) positions of each distinct row, all of them views of one read-only array."""
    distinct = dict.fromkeys(rows)
    flat = points_from_habitat(list(chain.from_iterable(distinct)))
    flat.flags.writeable = False
    ends = np.cumsum([len(row) for row in distinct]).tolist()
    return {row: flat[end - len(row) : end] for row, end in zip(distinct, ends, strict=True)}


def _words(instruction: _Instruction, where: str, faults: FaultList) -> list[TimedWord] | None:
    if instruction.timed_instruction is _ABSENT:
        return None
    try:
        return msgspec.json.decode(instruction.timed_instruction, type=list[TimedWord] | None)
    except UNDECODABLE as error:
        problem = f"{error}."
        faults.append(Fault(where, problem, "It is a list of timed words.", "instruction.timed_instruction"))
        return None


def _notes(record: _Record, vocabulary: dict[str, Any] | None) -> dict[str, Any]:
    instruction = record.instruction
    kept: dict[str, Any] = {
        "instruction_id": instruction.instruction_id,
        "annotator_id": instruction.annotator_id,
        "edit_distance": instruction.edit_distance,
        "instruction_tokens": instruction.instruction_tokens,
        "instruction_vocab": vocabulary,
        "radius": [goal.radius for goal in record.goals] if record.goals else None,
        "info": {k: v for k, v in (record.info or {}).items() if k != "geodesic_distance"} or None,
        # Only where writing would give something else:
        "scene_id": record.scene_id if record.scene_id != _scene(scan_from_scene(record.scene_id)) else None,
        "episode_id": _unusual(record.episode_id),
        "trajectory_id": _unusual(record.trajectory_id),
    }
    return {name: value for name, value in kept.items() if value is not None}


def _unusual(name: int | str | None) -> str | None:
    return name if isinstance(name, str) and parse_id(name) != name else None


def write_split(path: str | Path, split: Split) -> None:
    """Write a split of continuous episodes in VLN-CE's form; its readers expect .json.gz."""
    records = [_record(episode, rxr=split.protocol == "rxr-ce") for episode in split.episodes]
    noted = (episode.notes["instruction_vocab"] for episode in split.episodes if "instruction_vocab" in episode.notes)
    file = _File(msgspec.Raw(msgspec.json.encode(records)), next(noted, None))
    with atomic_write(Path(path)) as stream:
        stream.write(msgspec.json.encode(file))


def _record(episode: Episode, *, rxr: bool) -> _Record:
    notes, whose = episode.notes, f'Episode "{episode.id}"'
    words = alignment_to_words(episode.alignment)
    scene = notes.get("scene_id", "")
    goals = habitat_points(episode.goals, whose)
    require_reference(episode)
    radii = notes.get("radius", [])
    if len(radii) != len(goals):
        radii = [3.0] * len(goals)
    info = dict(notes.get("info", {}))
    if episode.stated_distance is not None:
        info["geodesic_distance"] = episode.stated_distance
    return _Record(
        episode_id=_named(episode.id, notes.get("episode_id")),
        trajectory_id=_named(episode.path_id, notes.get("trajectory_id")) if episode.path_id else None,
        scene_id=scene if scan_from_scene(scene) == episode.world_id else _scene(episode.world_id),
        start_position=habitat_points([episode.start.place], whose)[0],
        start_rotation=quaternion_from_yaw(heading_to_habitat(episode.start.heading)),
        info=info or None,
        goals=[_Goal(*goal) for goal in zip(goals, radii, strict=True)] or None,
        instruction=_Instruction(
            instruction_text=episode.instruction.text,
            instruction_id=notes.get("instruction_id"),
            language=episode.instruction.language if rxr else None,
            annotator_id=notes.get("annotator_id"),
            edit_distance=notes.get("edit_distance"),
            timed_instruction=_ABSENT if words is None else msgspec.Raw(msgspec.json.encode(words)),
            instruction_tokens=notes.get("instruction_tokens"),
        ),
        reference_path=habitat_points(episode.reference, whose) or None,
    )


def _named(name: str, note: str | None) -> int | str:
    return name if note == name else parse_id(name)


def habitat_points(places: Any, whose: str) -> list[Point]:
    """Our positions as Habitat's, for writing."""
    return list(map(tuple, points_to_habitat(require_positions(places, whose)).tolist()))


@dataclass(frozen=True, eq=False)
class DensePath:
    """The steps of the expert in one episode, from `{split}_gt.json.gz`."""

    positions: Array  # (n, 3) metres; turns add none
    actions: NDArray[np.int64]  # 0 stop, 1 forward, 2 left, 3 right, 4 look up, 5 look down
    forward_steps: int | None = None


class _Dense(msgspec.Struct, omit_defaults=True):
    locations: list[Point]
    actions: list[int] = []
    forward_steps: int | None = None


def read_dense(path: str | Path) -> dict[str, DensePath]:
    """The dense ground truth of a split by episode id."""
    path = Path(path)
    records = decode_dict(read_bytes(path), _Dense, str(path))
    remedy = "Take the official file."
    faults = FaultList(str(path))
    for name, record in records.items():
        if not record.locations:
            faults.append(Fault(f'record "{name}"', "is empty.", remedy, "locations"))
        if record.actions and not 0 <= min(record.actions) <= max(record.actions) <= 5:
            faults.append(Fault(f'record "{name}"', "must be numbers from 0 to 5.", remedy, "actions"))
    faults.raise_any()
    return {
        name: DensePath(points_from_habitat(r.locations), np.array(r.actions, dtype=np.int64), r.forward_steps)
        for name, r in records.items()
    }


def write_dense(path: str | Path, dense: Mapping[str, DensePath]) -> None:
    """Write dense ground truth in VLN-CE's form."""
    records = {
        name: _Dense(habitat_points(path.positions, f'Episode "{name}"'), path.actions.tolist(), path.forward_steps)
        for name, path in dense.items()
    }
    with atomic_write(Path(path)) as stream:
        stream.write(msgspec.json.encode(records))


def with_dense_reference(split: Split, dense: Mapping[str, DensePath], source: str = "dense ground truth") -> Split:
    """The split with the expert's steps as reference paths, as in the released VLN-CE scorer."""
    missing = [episode.id for episode in split.episodes if episode.id not in dense]
    if missing:
        remedy = f"Give the file that belongs to {split.name}."
        faults = (Fault(f'episode "{name}"', "is not in this file.", remedy) for name in missing)
        FaultList(source, faults).raise_any()
    return replace(split, episodes=tuple(replace(e, reference=dense[e.id].positions) for e in split.episodes))
