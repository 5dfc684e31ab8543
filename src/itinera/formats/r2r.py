"""Room-to-Room and relatives: annotation files (R2R, R4R and longer joins) and the list form of submissions.

Start with `read_split` for tasks and `read_predictions` for predictions; each has a writer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, overload

import msgspec
import numpy as np

from itinera.errors import BadFile, Fault
from itinera.formats._export import acting_part, require_nodes
from itinera.formats.decoding import Fields, decode_list, pause_gc, report_unknown_fields, unknown_fields
from itinera.formats.frames import heading_from_r2r, heading_to_r2r
from itinera.formats.io import FaultList, read_bytes
from itinera.formats.viewpoints import viewpoint_path
from itinera.formats.writing import atomic_write
from itinera.records import Predictions, Rollout, Trajectory
from itinera.records.predictions import TrajectoryBatch
from itinera.tasks import Episode, Instruction, Split
from itinera.tasks.episode import PART_KEYS
from itinera.worlds import Places, Pose

LARGE = 16 << 20  # bytes of a submission: below, decoding takes less time than loading the kernels of the fast scan


class PathRecord(msgspec.Struct, omit_defaults=True, kw_only=True):
    """One path with its instructions, as in R2R; the optional fields are R4R's."""

    scan: str
    path_id: int | str
    path: list[str]
    heading: float
    instructions: list[str]
    distance: float | None = None
    first_path_id: int | str | None = None
    second_path_id: int | str | None = None
    third_path_id: int | str | None = None
    fourth_path_id: int | str | None = None
    shortest_path: list[str] | None = None
    shortest_path_distance: float | None = None


def read_split(path: str | Path) -> Split:
    """The episodes of an R2R-like file, one per instruction, named "<path_id>_<i>"."""
    path = Path(path)
    with pause_gc():
        records = decode_list(read_bytes(path), PathRecord, str(path))
        raise_faults(
            str(path), chain.from_iterable(path_faults(f"record {i}", r) for i, r in enumerate(records)), records
        )
        episodes = tuple(chain.from_iterable(map(_episodes, records)))
    joined = bool(records) and records[0].first_path_id is not None
    return Split(split_name(path), episodes, protocol="r4r" if joined else "r2r")


def split_name(path: Path) -> str:
    """A file's name without its endings."""
    return path.name.split(".json")[0]


def path_faults(where: str, record: Any) -> Iterable[Fault]:
    """The faults of a record's path, instructions and heading."""
    if not record.path:
        yield Fault(where, "is empty.", "A path contains at least its start.", "path")
    if not record.instructions:
        yield Fault(where, "is empty.", "A path needs at least one instruction.", "instructions")
    if not math.isfinite(record.heading):
        yield Fault(where, "is not finite.", "Headings are radians.", "heading")


def raise_faults(source: str, faults: Iterable[Fault], records: Sequence[Any] = (), key: str = "path_id") -> None:
    """Raise BadFile if there are faults, or if records share an id."""
    found = FaultList(source, faults)
    first: dict[Any, int] = {}
    for i, record in enumerate(records):
        name = getattr(record, key)
        if name in first:
            problem = f"{name} is also the id of record {first[name]}."
            found.append(Fault(f"record {i}", problem, "Ids must be distinct within a file.", key))
        first.setdefault(name, i)
    found.raise_any()


def _episodes(record: PathRecord) -> Iterable[Episode]:
    reference = tuple(record.path)
    # A test split has the start only and no distance; a path of one node with a distance is a real one.
    withheld = len(reference) == 1 and record.distance is None
    notes = {name: value for name in (*PART_KEYS, "shortest_path", "shortest_path_distance")
             if (value := getattr(record, name)) is not None}  # fmt: skip
    start = Pose(reference[0], heading_from_r2r(record.heading))
    # The episodes of a path share its places, so that whatever is computed from them is computed once.
    goals, reference = ((), ()) if withheld else (reference[-1:], reference)
    path_id = str(record.path_id)
    for i, instruction in enumerate(record.instructions):
        yield Episode(
            id=f"{path_id}_{i}",
            world_id=record.scan,
            start=start,
            goals=goals,
            reference=reference,
            instruction=Instruction(instruction),
            path_id=path_id,
            stated_distance=record.distance,
            notes=notes,
        )


def write_split(path: str | Path, split: Split) -> None:
    """Write a split of graph episodes in R2R's form, the episodes of one path together."""
    records: dict[str, PathRecord] = {}
    for episode in split.episodes:
        path_id = episode.path_id or episode.id
        if path_id in records:
            records[path_id].instructions.append(episode.instruction.text)
            continue
        records[path_id] = PathRecord(
            scan=episode.world_id,
            path_id=parse_id(path_id),
            path=viewpoint_path(episode),
            heading=heading_to_r2r(episode.start.heading),
            instructions=[episode.instruction.text],
            distance=episode.stated_distance,
            **{name: episode.notes[name] for name in PathRecord.__struct_fields__ if name in episode.notes},
        )
    with atomic_write(Path(path)) as stream:
        stream.write(b"[\n" + b",\n".join(map(msgspec.json.encode, records.values())) + b"\n]\n")


def parse_id(text: str) -> int | str:
    """The id as a number where it was one in its file, else as it is."""
    # Python refuses to parse thousands of digits.
    return int(text) if len(text) <= 100 and text.isdecimal() and str(int(text)) == text else text


class _Step(msgspec.Struct, array_like=True, gc=False):
    viewpoint: str
    heading: float = 0.0
    elevation: float = 0.0


class _Prediction(msgspec.Struct, kw_only=True):
    trajectory: list[_Step]
    instr_id: str | int | None = None
    inst_idx: str | int | None = None  # NDH's name for the same
    predObjId: int | str | None = None  # REVERIE's predicted object
    pred_objid: int | str | None = None  # as DUET and its successors write it

    @property
    def object_id(self) -> str | None:
        found = self.pred_objid if self.predObjId is None else self.predObjId
        return None if found is None else str(found)


class _Segments(msgspec.Struct, kw_only=True):
    """A submission of an agent that plans over a map: each move is the list of nodes it passed."""

    trajectory: list[list[str]]
    instr_id: str | int | None = None
    inst_idx: str | int | None = None
    predObjId: int | str | None = None
    pred_objid: int | str | None = None


def read_predictions(path: str | Path) -> Predictions:
    """The trajectories of a submission: a list of {"instr_id", "trajectory": [[viewpoint, heading, elevation], …]}.

    Steps may also be [viewpoint] alone, or [viewpoint, viewpoint, …] for all nodes passed in one move. The object that
    an agent names is `predObjId` (REVERIE) or `pred_objid` (DUET). Other fields stay in the notes, and are logged.
    """
    path = Path(path)
    data = read_bytes(path)
    if len(data) >= LARGE:
        from itinera.formats.fast_scan import scan

        if (scanned := scan(data)) is not None:
            names, nodes = scanned
            return _make_predictions(
                path, names, nodes, _LazyRollouts(names, lambda: decode_submission(data, str(path)))
            )
    with pause_gc():
        predictions = decode_submission(data, str(path))
        ids = [p.inst_idx if p.instr_id is None else p.instr_id for p in predictions]
        places = [[step.viewpoint for step in p.trajectory] for p in predictions]
        if None in ids or not all(places):
            FaultList(str(path), _unnamed_or_empty(ids, places)).raise_any()
        names = list(map(str, ids))
        others = _other_fields(data, str(path))
    return _make_predictions(path, names, places, _LazyRollouts(names, lambda: predictions, others))


def _other_fields(data: bytes, source: str) -> Sequence[dict[str, Any]]:
    """The fields of each record that the format does not have; empty if no record has any."""
    known = _Prediction.__struct_fields__
    unknown = unknown_fields(decode_list(data, Fields, source), known)
    if not unknown:
        return ()
    report_unknown_fields(source, unknown, stored=True)
    records = decode_list(data, dict[str, Any], source)
    return [{name: record[name] for name in record if name in unknown} for record in records]


def _make_predictions(
    path: Path, names: Sequence[str], places: Sequence[Places], rollouts: Sequence[Rollout]
) -> Predictions:
    """Submissions do not say how an episode ended, nor when: it is read as stopped and untimed."""
    stopped, untimed = np.ones(len(names), dtype=bool), np.full(len(names), np.nan)
    return Predictions(str(path), rollouts, precomputed=TrajectoryBatch(names, places, stopped, untimed))


def _unnamed_or_empty(ids: Sequence[str | int | None], places: Sequence[list[str]]) -> Iterable[Fault]:
    for i, (name, path) in enumerate(zip(ids, places, strict=True)):
        if name is None:
            remedy = "Name the instruction each trajectory answers."
            yield Fault(f"record {i}", "has neither instr_id nor inst_idx.", remedy)
        if not path:
            yield Fault(f'record {i} ("{name}")', "is empty.", "A trajectory must include its start.", "trajectory")


@dataclass(frozen=True, eq=False)
class _LazyRollouts(Sequence[Rollout]):
    """Rollouts made on access: scoring needs none."""

    ids: list[str]
    decode: Callable[[], list[_Prediction]]
    others: Sequence[dict[str, Any]] = ()  # of each record, where any has some

    @cached_property
    def predictions(self) -> list[_Prediction]:
        return self.decode()

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, i: int) -> Rollout: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[Rollout]: ...
    def __getitem__(self, i: int | slice) -> Rollout | Sequence[Rollout]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        prediction = self.predictions[i]
        steps = prediction.trajectory
        trajectory = Trajectory(
            self.ids[i],
            places=tuple(step.viewpoint for step in steps),
            headings=heading_from_r2r(np.array([step.heading for step in steps])),
            elevations=np.array([step.elevation for step in steps]),
            object_id=prediction.object_id,
            notes=self.others[i] if self.others else {},
        )
        return Rollout(self.ids[i], (trajectory,))


def decode_submission(data: bytes, source: str) -> list[_Prediction]:
    """The records of a submission, those of agents that plan over a map with their moves joined."""
    try:
        return decode_list(data, _Prediction, source)
    except BadFile as error:
        try:
            segments = decode_list(data, _Segments, source)
        except BadFile:
            raise error from None
    return [
        _Prediction(
            trajectory=[_Step(node) for node in chain.from_iterable(s.trajectory)],
            instr_id=s.instr_id,
            inst_idx=s.inst_idx,
            predObjId=s.predObjId,
            pred_objid=s.pred_objid,
        )
        for s in segments
    ]


def write_predictions(path: str | Path, predictions: Predictions) -> None:
    """Write graph trajectories in the list form of submissions. Unknown headings are written as 0, and the object that
    an agent names as `predObjId`, which REVERIE's server reads."""
    records = []
    for trajectory in map(acting_part, predictions.trajectories):
        places = require_nodes(trajectory.places, f'The trajectory of episode "{trajectory.episode_id}"')
        count = len(places)
        headings = np.zeros(count) if trajectory.headings is None else heading_to_r2r(trajectory.headings)
        elevations = np.zeros(count) if trajectory.elevations is None else trajectory.elevations
        steps = list(zip(places, headings.tolist(), elevations.tolist(), strict=True))
        named = {} if trajectory.object_id is None else {"predObjId": parse_id(trajectory.object_id)}
        records.append({"instr_id": trajectory.episode_id, "trajectory": steps, **named, **trajectory.notes})
    with atomic_write(Path(path)) as stream:
        stream.write(msgspec.json.encode(records))
