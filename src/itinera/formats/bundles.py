"""Score bundles: scores with their provenance, one record per episode, then one per tour.

Undefined is null and infinite is "inf", since JSON has neither NaN nor infinity.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from itinera.errors import BadFile, Fault
from itinera.formats.native import (
    Header,
    header_line,
    header_without_digest,
    read_records,
    write_file,
)
from itinera.records import (
    Column,
    EpisodeInfo,
    ScoreTable,
    TourTable,
)
from itinera.worlds import Array


def encode_rows(table: ScoreTable) -> bytes:
    """The table as JSON lines: a record per episode, then per tour."""
    names = [column.name for column in table.columns]
    columns = [table.episode_ids, table.world_ids, table.path_ids, *(_to_json(table.values[name]) for name in names)]
    keys = ["episode_id", "world_id", "path_id", *names]
    if table.missing.any():
        keys.append("missing")
        columns.append(table.missing.tolist())
    if table.weights:
        keys.append("weights")
        names = list(table.weights)
        rows = zip(*(table.weights[name].tolist() for name in names), strict=True)
        columns.append([dict(zip(names, row, strict=True)) for row in rows])
    for key, column in _info_columns(table.episode_info).items():
        keys.append(key)
        columns.append(column)
    # A struct type for these columns is encoded twice as fast as a dict per row.
    fields = [f"_{i}" for i in range(len(keys))]
    row = msgspec.defstruct("Row", fields, rename=dict(zip(fields, keys, strict=True)), gc=False)
    return msgspec.json.Encoder().encode_lines([*map(row, *columns), *_tour_rows(table.tours)])


def _info_columns(info: EpisodeInfo | None) -> dict[str, list[Any]]:
    """The properties of the episodes that the table has."""
    if info is None:
        return {}
    columns: dict[str, list[Any]] = {"goal_distance": _to_json(info.goal_distances)}
    if not np.isnan(info.reference_lengths).all():
        columns["reference_length"] = _to_json(info.reference_lengths)
    if any(info.tour_ids):
        columns |= {"tour": list(info.tour_ids), "leg": info.tour_positions.tolist()}
    return columns


def _tour_rows(tours: TourTable | None) -> Iterator[dict[str, Any]]:
    if tours is None:
        return
    names = [column.name for column in tours.columns]
    values = {name: _to_json(tours.values[name]) for name in names}
    for i, (tour_id, world_id) in enumerate(zip(tours.tour_ids, tours.world_ids, strict=True)):
        weights = {name: float(tours.weights[name][i]) for name in names}
        yield {"tour_id": tour_id, "world_id": world_id, **{n: values[n][i] for n in names}, "weights": weights}


def _to_json(values: Array) -> list[Any]:
    if np.isfinite(values).all():
        return list(values.tolist())
    return [None if np.isnan(v) else "inf" if np.isinf(v) else float(v) for v in values]


def write_scores(path: str | Path, table: ScoreTable) -> None:
    """Write a table with its provenance: a score bundle."""
    body = encode_rows(table)
    header = Header(
        itinera="scores",
        provenance=table.provenance,
        protocol=table.protocol,
        robot=table.robot,
        suite=table.suite,
        fingerprint=table.fingerprint,
        source=table.source,
        columns=list(table.columns),
        tour_columns=[] if table.tours is None else list(table.tours.columns),
        part=table.part,
        digest="pending",
    )
    header.digest = hashlib.blake2b(
        header_without_digest(header_line(header), header) + body, digest_size=16
    ).hexdigest()
    write_file(Path(path), header, body)


Cell = float | str | bool | dict[str, float] | None


def read_scores(path: str | Path) -> ScoreTable:
    """The table of a score bundle; raises BadFile if it was changed after it was written."""
    path = Path(path)
    state = hashlib.blake2b(digest_size=16)
    header, records = read_records(path, "scores", dict[str, Cell], state)
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
        robot=header.robot,
        episode_info=_episode_info(episodes),
        weights=_weights(episodes),
        part=header.part,
    )


def _weights(records: Sequence[Mapping[str, Cell]], names: Iterable[str] | None = None) -> dict[str, Array]:
    """The weight of each record in the mean of these metrics, or of those that the first record weighs."""
    found = [w if isinstance(w := r.get("weights"), dict) else {} for r in records]
    names = (found[0] if found else ()) if names is None else names
    return {name: np.array([weights.get(name, 0.0) for weights in found], dtype=np.float64) for name in names}


def _episode_info(records: Sequence[Mapping[str, Cell]]) -> EpisodeInfo | None:
    if not any("goal_distance" in r for r in records):
        return None
    numbers = _numbers(records, [Column("goal_distance"), Column("reference_length"), Column("leg")])
    positions = np.nan_to_num(numbers["leg"], nan=-1.0).astype(np.int64)
    return EpisodeInfo(numbers["goal_distance"], numbers["reference_length"], _column(records, "tour"), positions)


def _column(records: Iterable[Mapping[str, Cell]], name: str) -> tuple[str, ...]:
    return tuple(str(r.get(name, "")) for r in records)


def _numbers(records: Sequence[Mapping[str, Cell]], columns: Iterable[Column]) -> dict[str, Array]:
    def number(cell: Cell) -> float:
        return float(cell) if isinstance(cell, int | float) or cell == "inf" else float("nan")

    return {c.name: np.array([number(r.get(c.name)) for r in records], dtype=np.float64) for c in columns}


def _tour_table(records: list[dict[str, Cell]], columns: list[Column]) -> TourTable:
    return TourTable(
        tour_ids=_column(records, "tour_id"),
        world_ids=_column(records, "world_id"),
        columns=tuple(columns),
        values=_numbers(records, columns),
        weights=_weights(records, [c.name for c in columns]),
    )
