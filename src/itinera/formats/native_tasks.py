"""Itinera's own tasks file: one record per episode, then one per tour."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from itinera.errors import Fault
from itinera.formats._export import require_reference
from itinera.formats.io import FaultList
from itinera.formats.native import (
    Header,
    Point,
    Whole,
    encode_places,
    parse_places,
    read_records,
    write_file,
)
from itinera.records import (
    Provenance,
)
from itinera.tasks import PROTOCOLS, Alignment, Episode, Instruction, Split, Tour
from itinera.worlds import Array, Place, Pose


class _Alignment(msgspec.Struct, omit_defaults=True):
    words: list[str]
    first: list[Whole]
    last: list[Whole]
    begins: list[float | None] | None = None  # null where unknown
    ends: list[float | None] | None = None


class _Task(msgspec.Struct, omit_defaults=True, kw_only=True):
    """An episode, or a tour if it has `episode_ids`."""

    world_id: str
    id: str = ""
    start: str | Point = ""
    heading: float = 0.0
    elevation: float = 0.0
    goals: list[str | Point] = []
    reference: list[str | Point] = []
    text: str = ""
    language: str = "en"
    path_id: str = ""
    alignment: _Alignment | None = None
    stated_distance: float | None = None
    notes: dict[str, Any] = {}
    tour_id: str = ""
    episode_ids: list[str] = []


def read_split(path: str | Path) -> Split:
    """The tasks of a native file: its episodes and the tours through them."""
    path = Path(path)
    header, records = read_records(path, "tasks", _Task)
    tours = tuple(Tour(t.tour_id, t.world_id, tuple(t.episode_ids)) for t in records if t.episode_ids)
    faults = FaultList(str(path), _protocol_faults(header))
    first: dict[str, int] = {}
    for n, t in enumerate(records, start=2):
        if not t.episode_ids:
            faults += (Fault(f"line {n}", problem, remedy, field) for field, problem, remedy in _wrong_task(t))
            if t.id in first:
                problem = f"{t.id} is also the id of line {first[t.id]}."
                faults.append(Fault(f"line {n}", problem, "Ids must be distinct within a file.", "id"))
            first.setdefault(t.id, n)
    faults.raise_any()
    episodes = tuple(_episode(t) for t in records if not t.episode_ids)
    split = Split(header.name, episodes, protocol=header.judged_by or "r2r")
    return split.with_tours(tours, str(path)) if tours else split


def _protocol_faults(header: Header) -> Iterator[Fault]:
    if header.judged_by and header.judged_by not in PROTOCOLS:
        remedy = f"There are {', '.join(PROTOCOLS)}."
        yield Fault("line 1", f"{header.judged_by} is not a known protocol.", remedy, "judged_by")


def _wrong_task(t: _Task) -> Iterator[tuple[str, str, str]]:
    if not (t.id and t.start):
        yield "", "has no id or no start.", "An episode has both; a tour has episode_ids."
    if len({isinstance(place, str) for place in (t.start, *t.goals, *t.reference)}) != 1:
        yield "", "mixes node ids and positions.", "An episode is on a graph or continuous."
    if bool(t.goals) != bool(t.reference):
        yield "", "has only one of goals and reference.", "A task has both, a hidden test neither."
    a = t.alignment
    if a is None:
        return
    lengths = {len(a.words), len(a.first), len(a.last), *(len(times) for times in (a.begins, a.ends) if times)}
    if len(lengths) != 1:
        yield "alignment", "has lists of different lengths.", "Every list is as long as words."
    if not all(-1 <= i < len(t.reference) for i in (*a.first, *a.last)):
        yield "alignment", "points outside the reference.", "Places are indices into it, or -1 where unknown."


def _episode(t: _Task) -> Episode:
    start: Place = t.start if isinstance(t.start, str) else np.array(t.start, dtype=np.float64)
    return Episode(
        id=t.id,
        world_id=t.world_id,
        start=Pose(start, t.heading, t.elevation),
        goals=parse_places(t.goals),
        reference=parse_places(t.reference),
        instruction=Instruction(t.text, t.language),
        path_id=t.path_id,
        alignment=None if t.alignment is None else _alignment(t.alignment),
        stated_distance=t.stated_distance,
        notes=t.notes,
    )


def _alignment(a: _Alignment) -> Alignment:
    def times(values: list[float | None] | None) -> Array | None:
        return None if values is None else np.array([np.nan if v is None else v for v in values], dtype=np.float64)

    first, last = np.array(a.first, dtype=np.int64), np.array(a.last, dtype=np.int64)
    return Alignment(tuple(a.words), first, last, times(a.begins), times(a.ends))


def write_split(path: str | Path, split: Split, provenance: Provenance | None = None) -> None:
    """Write a split, its tours included, as a native file."""
    header = Header(itinera="tasks", name=split.name, judged_by=split.protocol, provenance=provenance)
    write_file(Path(path), header, encode_tasks(split))


def encode_tasks(split: Split) -> bytes:
    """The lines of a native file after its header: the episodes, then the tours."""
    records = [_task_record(episode) for episode in split.episodes]
    records += [_Task(world_id=t.world_id, tour_id=t.id, episode_ids=list(t.episode_ids)) for t in split.tours]
    return msgspec.json.Encoder().encode_lines(records)


def _task_record(e: Episode) -> _Task:
    require_reference(e)
    return _Task(
        id=e.id,
        world_id=e.world_id,
        start=e.start.place if isinstance(e.start.place, str) else tuple(e.start.place.tolist()),
        heading=e.start.heading,
        elevation=e.start.elevation,
        goals=encode_places(e.goals),
        reference=encode_places(e.reference),
        text=e.instruction.text,
        language=e.instruction.language,
        path_id=e.path_id,
        alignment=None if e.alignment is None else _alignment_record(e.alignment),
        stated_distance=e.stated_distance,
        notes=dict(e.notes),
    )


def _alignment_record(a: Alignment) -> _Alignment:
    def times(values: Array | None) -> list[float | None] | None:
        return None if values is None else [None if np.isnan(v) else float(v) for v in values]

    return _Alignment(list(a.words), a.first.tolist(), a.last.tolist(), times(a.begins), times(a.ends))
