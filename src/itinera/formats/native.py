"""Our own files: JSON lines, one header with kind, provenance and protocol, then one record per line.

Three kinds: "walks" (a record per walk), "tasks" (a record per episode, then per tour) and "scores", the result
bundle (a record per episode, then per tour). In them undefined is null and infinite is "inf", which JSON cannot hold.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import numpy as np

from itinera.errors import BadFile, Fault
from itinera.formats.decoding import UNDECODABLE, fault_of
from itinera.formats.files import atomic_write, open_stream
from itinera.records import (
    Choices,
    Column,
    Ending,
    Logbook,
    Phase,
    Provenance,
    ScoreTable,
    TourTable,
    Trajectory,
    Walk,
)
from itinera.tasks import PROTOCOLS, Alignment, Brief, Episode, Protocol, Split, Tour
from itinera.worlds import Array, Place, Places, Pose

FORMAT = 1
Kind = Literal["walks", "tasks", "scores"]
Point = tuple[float, float, float]
Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]  # what an array can hold
T = TypeVar("T")


class Header(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The first line of every file of ours."""

    itinera: Kind
    format: int = FORMAT
    provenance: Provenance | None = None
    protocol: Protocol | None = None
    name: str = ""  # tasks: the split
    judged_by: str = ""  # tasks: the name of the protocol
    suite: str = ""  # scores, as all that follows
    fingerprint: str = ""
    source: str = ""
    columns: list[Column] = []
    tour_columns: list[Column] = []
    digest: str = ""  # scores: of every byte of the file but these


def read_header(path: str | Path) -> Header:
    """The header of one of our files."""
    with open_stream(Path(path)) as stream:
        return _header(stream.readline(), str(path))


def _header(line: bytes, source: str, kind: Kind | None = None) -> Header:
    try:
        header = msgspec.json.decode(line, type=Header)
    except UNDECODABLE as error:
        raise BadFile(source, [fault_of(error, "line 1")]) from None
    if header.format > FORMAT:
        problem = f"is of format {header.format}, and this version reads up to {FORMAT}."
        raise BadFile(source, [Fault("line 1", problem, "Install a newer itinera.", "format")])
    if kind is not None and header.itinera != kind:
        raise BadFile(source, [Fault("line 1", f"this file holds {header.itinera}, not {kind}.", "", "itinera")])
    return header


def _records(path: Path, kind: Kind, record: type[T], digest: Any = None) -> tuple[Header, list[T]]:
    decoder = msgspec.json.Decoder(record)
    records: list[T] = []
    faults = []
    with open_stream(path) as stream:
        first = stream.readline()
        header = _header(first, str(path), kind)
        if digest is not None:
            digest.update(_undigested(first, header))
        for number, line in enumerate(iter(stream.readline, b""), start=2):
            if digest is not None:
                digest.update(line)
            try:
                records.append(decoder.decode(line))
            except UNDECODABLE as error:
                faults.append(fault_of(error, f"line {number}"))
    if faults:
        raise BadFile(str(path), faults)
    return header, records


def _undigested(line: bytes, header: Header) -> bytes:
    """The header's line as it was before its digest was known."""
    return line.replace(header.digest.encode(), b"")


def _line(header: Header) -> bytes:
    return msgspec.json.encode(header) + b"\n"


def _write(path: Path, header: Header, body: bytes) -> None:
    with atomic_write(path) as stream:
        stream.write(_line(header))
        stream.write(body)


# Walks


class _Choices(msgspec.Struct):
    candidates: list[list[str]]
    probabilities: list[list[float]]


class _Trajectory(msgspec.Struct, omit_defaults=True, kw_only=True):
    episode_id: str
    places: list[str | Point]
    headings: list[float] | None = None
    elevations: list[float] | None = None
    actions: list[Whole] | None = None
    times: list[float] | None = None
    phases: list[Phase] | None = None
    ending: Ending = Ending.STOPPED
    choices: _Choices | None = None
    notes: dict[str, Any] = {}


class _Walk(msgspec.Struct):
    tour_id: str
    trajectories: list[_Trajectory]


def read_walks(path: str | Path) -> Logbook:
    """The walks of a native file, with their protocol and provenance."""
    path = Path(path)
    header, records = _records(path, "walks", _Walk)
    faults = [
        Fault(f'line {n} (episode "{t.episode_id}")', problem, "Every list is as long as places.", field)
        for n, walk in enumerate(records, start=2)
        for t in walk.trajectories
        for field, problem in _wrong_lengths(t)
    ]
    if faults:
        raise BadFile(str(path), faults)
    walks = tuple(Walk(walk.tour_id, tuple(map(_trajectory, walk.trajectories))) for walk in records)
    return Logbook(str(path), walks, header.protocol, header.provenance)


def _wrong_lengths(t: _Trajectory) -> Iterator[tuple[str, str]]:
    count = len(t.places)
    if len({isinstance(place, str) for place in t.places}) != 1:
        yield "places", "must be node ids or positions, at least one, not both."
    for field in ("headings", "elevations", "times", "phases"):
        values = getattr(t, field)
        if values is not None and len(values) != count:
            yield field, f"has {len(values)} entries for {count} places."
    if t.actions is not None and len(t.actions) != count - 1:
        yield "actions", f"has {len(t.actions)} entries for {count} places; one fewer is expected."


def _trajectory(t: _Trajectory) -> Trajectory:
    return Trajectory(
        episode_id=t.episode_id,
        places=_places(t.places),
        headings=_array(t.headings),
        elevations=_array(t.elevations),
        actions=None if t.actions is None else np.array(t.actions, dtype=np.int64),
        times=_array(t.times),
        phases=None if t.phases is None else tuple(t.phases),
        ending=t.ending,
        choices=None if t.choices is None else _choices(t.choices),
        notes=t.notes,
    )


def _choices(c: _Choices) -> Choices:
    return Choices(tuple(map(tuple, c.candidates)), tuple(np.array(p, dtype=np.float64) for p in c.probabilities))


def _array(values: list[float] | None) -> Array | None:
    return None if values is None else np.array(values, dtype=np.float64)


def _places(places: list[str | Point]) -> Places:
    if places and not isinstance(places[0], str):
        return np.array(places, dtype=np.float64)
    return tuple(str(place) for place in places)


def write_walks(path: str | Path, logbook: Logbook) -> None:
    """Walks as a native file."""
    header = Header(itinera="walks", provenance=logbook.provenance, protocol=logbook.protocol)
    lines = msgspec.json.Encoder().encode_lines([_written_walk(walk) for walk in logbook.walks])
    _write(Path(path), header, lines)


def _written_walk(walk: Walk) -> _Walk:
    return _Walk(walk.tour_id, [_written_trajectory(t) for t in walk.trajectories])


def _written_trajectory(t: Trajectory) -> _Trajectory:
    return _Trajectory(
        episode_id=t.episode_id,
        places=_plain(t.places),
        headings=None if t.headings is None else t.headings.tolist(),
        elevations=None if t.elevations is None else t.elevations.tolist(),
        actions=None if t.actions is None else t.actions.tolist(),
        times=None if t.times is None else t.times.tolist(),
        phases=None if t.phases is None else list(t.phases),
        ending=t.ending,
        choices=None
        if t.choices is None
        else _Choices([list(c) for c in t.choices.candidates], [p.tolist() for p in t.choices.probabilities]),
        notes=dict(t.notes),
    )


def _plain(places: Places) -> list[Any]:
    return list(places.tolist()) if isinstance(places, np.ndarray) else list(places)


# Tasks


class _Alignment(msgspec.Struct, omit_defaults=True):
    words: list[str]
    first: list[Whole]
    last: list[Whole]
    begins: list[float | None] | None = None  # null where not known
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
    header, records = _records(path, "tasks", _Task)
    tours = tuple(Tour(t.tour_id, t.world_id, tuple(t.episode_ids)) for t in records if t.episode_ids)
    faults = list(_protocol_faults(header))
    first: dict[str, int] = {}
    for n, t in enumerate(records, start=2):
        if not t.episode_ids:
            faults += (Fault(f"line {n}", problem, remedy, field) for field, problem, remedy in _wrong_task(t))
            if t.id in first:
                problem = f"{t.id} is also the id of line {first[t.id]}."
                faults.append(Fault(f"line {n}", problem, "Ids must be distinct within a file.", "id"))
            first.setdefault(t.id, n)
    if faults:
        raise BadFile(str(path), faults)
    episodes = tuple(_episode(t) for t in records if not t.episode_ids)
    split = Split(header.name, episodes, protocol=header.judged_by or "r2r")
    return split.with_tours(tours, str(path)) if tours else split


def _protocol_faults(header: Header) -> Iterator[Fault]:
    if header.judged_by and header.judged_by not in PROTOCOLS:
        remedy = f"There are {', '.join(PROTOCOLS)}."
        yield Fault("line 1", f"{header.judged_by} is no protocol known here.", remedy, "judged_by")


def _wrong_task(t: _Task) -> Iterator[tuple[str, str, str]]:
    if not (t.id and t.start):
        yield "", "has no id or no start.", "An episode has both; a tour has episode_ids."
    if len({isinstance(place, str) for place in (t.start, *t.goals, *t.reference)}) != 1:
        yield "", "mixes node ids and positions.", "An episode is on a graph or on the ground."
    if bool(t.goals) != bool(t.reference):
        yield "", "has only one of goals and reference.", "A task tells both, a hidden test neither."
    a = t.alignment
    if a is None:
        return
    lengths = {len(a.words), len(a.first), len(a.last), *(len(times) for times in (a.begins, a.ends) if times)}
    if len(lengths) != 1:
        yield "alignment", "has lists of different lengths.", "Every list is as long as words."
    if not all(-1 <= i < len(t.reference) for i in (*a.first, *a.last)):
        yield "alignment", "points outside the reference.", "Places are indices into it, or -1 where not known."


def _episode(t: _Task) -> Episode:
    start: Place = t.start if isinstance(t.start, str) else np.array(t.start, dtype=np.float64)
    return Episode(
        id=t.id,
        world_id=t.world_id,
        start=Pose(start, t.heading, t.elevation),
        goals=_places(t.goals),
        reference=_places(t.reference),
        brief=Brief(t.text, t.language),
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
    """A split, its tours included, as a native file."""
    header = Header(itinera="tasks", name=split.name, judged_by=split.protocol, provenance=provenance)
    records = [_written_task(episode) for episode in split.episodes]
    records += [_Task(world_id=t.world_id, tour_id=t.id, episode_ids=list(t.episode_ids)) for t in split.tours]
    _write(Path(path), header, msgspec.json.Encoder().encode_lines(records))


def _written_task(e: Episode) -> _Task:
    return _Task(
        id=e.id,
        world_id=e.world_id,
        start=e.start.place if isinstance(e.start.place, str) else tuple(e.start.place.tolist()),
        heading=e.start.heading,
        elevation=e.start.elevation,
        goals=_plain(e.goals),
        reference=_plain(e.reference),
        text=e.brief.text,
        language=e.brief.language,
        path_id=e.path_id,
        alignment=None if e.alignment is None else _written_alignment(e.alignment),
        stated_distance=e.stated_distance,
        notes=dict(e.notes),
    )


def _written_alignment(a: Alignment) -> _Alignment:
    def times(values: Array | None) -> list[float | None] | None:
        return None if values is None else [None if np.isnan(v) else float(v) for v in values]

    return _Alignment(list(a.words), a.first.tolist(), a.last.tolist(), times(a.begins), times(a.ends))


# Scores


def rows(table: ScoreTable) -> bytes:
    """The table as JSON lines: a record per episode, then per tour."""
    names = [column.name for column in table.columns]
    columns = [table.episode_ids, table.world_ids, table.path_ids, *(_told(table.values[name]) for name in names)]
    keys = ["episode_id", "world_id", "path_id", *names]
    if table.missing.any():
        keys.append("missing")
        columns.append(table.missing.tolist())
    # A struct made for these columns is written twice as fast as a dict per row.
    fields = [f"_{i}" for i in range(len(keys))]
    row = msgspec.defstruct("Row", fields, rename=dict(zip(fields, keys, strict=True)), gc=False)
    return msgspec.json.Encoder().encode_lines([*map(row, *columns), *_tour_rows(table.tours)])


def _tour_rows(tours: TourTable | None) -> Iterator[dict[str, Any]]:
    if tours is None:
        return
    names = [column.name for column in tours.columns]
    values = {name: _told(tours.values[name]) for name in names}
    for i, (tour_id, world_id) in enumerate(zip(tours.tour_ids, tours.world_ids, strict=True)):
        weights = {name: float(tours.weights[name][i]) for name in names}
        yield {"tour_id": tour_id, "world_id": world_id, **{n: values[n][i] for n in names}, "weights": weights}


def _told(values: Array) -> list[Any]:
    if np.isfinite(values).all():
        return list(values.tolist())
    return [None if np.isnan(v) else "inf" if np.isinf(v) else float(v) for v in values]


def write_rows(path: str | Path, table: ScoreTable) -> None:
    """The rows of a table alone, for other tools."""
    with atomic_write(Path(path)) as stream:
        stream.write(rows(table))


def write_scores(path: str | Path, table: ScoreTable) -> None:
    """A table with its provenance: a result bundle."""
    body = rows(table)
    header = Header(
        itinera="scores",
        provenance=table.provenance,
        protocol=table.protocol,
        suite=table.suite,
        fingerprint=table.fingerprint,
        source=table.source,
        columns=list(table.columns),
        tour_columns=[] if table.tours is None else list(table.tours.columns),
        digest="pending",
    )
    header.digest = hashlib.blake2b(_undigested(_line(header), header) + body, digest_size=16).hexdigest()
    _write(Path(path), header, body)


Cell = float | str | bool | dict[str, float] | None


def read_scores(path: str | Path) -> ScoreTable:
    """The table of a result bundle; one changed after it was written is refused."""
    path = Path(path)
    state = hashlib.blake2b(digest_size=16)
    header, records = _records(path, "scores", dict[str, Cell], state)
    if header.protocol is None:
        raise BadFile(str(path), [Fault("line 1", "is missing.", "Score again with --out.", "protocol")])
    if header.digest != state.hexdigest():
        problem = "the rows are not those that were written: the file was changed or cut short."
        raise BadFile(str(path), [Fault("", problem, "Score again with --out.")])
    episodes = [r for r in records if "episode_id" in r]
    tours = [r for r in records if "tour_id" in r]
    return ScoreTable(
        episode_ids=_column(episodes, "episode_id"),
        world_ids=_column(episodes, "world_id"),
        path_ids=_column(episodes, "path_id"),
        columns=tuple(header.columns),
        values=_numbers(episodes, header.columns),
        suite=header.suite,
        fingerprint=header.fingerprint,
        protocol=header.protocol,
        missing=np.array([bool(r.get("missing")) for r in episodes], dtype=bool),
        tours=_tour_table(tours, header.tour_columns) if header.tour_columns else None,
        provenance=header.provenance,
        source=header.source,
    )


def _column(records: Iterable[Mapping[str, Cell]], name: str) -> tuple[str, ...]:
    return tuple(str(r.get(name, "")) for r in records)


def _numbers(records: Sequence[Mapping[str, Cell]], columns: Iterable[Column]) -> dict[str, Array]:
    def number(cell: Cell) -> float:
        return float(cell) if isinstance(cell, int | float) or cell == "inf" else float("nan")

    return {c.name: np.array([number(r.get(c.name)) for r in records], dtype=np.float64) for c in columns}


def _tour_table(records: list[dict[str, Cell]], columns: list[Column]) -> TourTable:
    def weight(record: Mapping[str, Cell], name: str) -> float:
        weights = record.get("weights")
        return weights.get(name, 0.0) if isinstance(weights, dict) else 0.0

    return TourTable(
        tour_ids=_column(records, "tour_id"),
        world_ids=_column(records, "world_id"),
        columns=tuple(columns),
        values=_numbers(records, columns),
        weights={c.name: np.array([weight(r, c.name) for r in records], dtype=np.float64) for c in columns},
    )
