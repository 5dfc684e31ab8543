"""The rows of a score table for other tools: JSON lines, CSV or Parquet, by the suffix of the file.

Fractions and metres in full precision. Ids are texts, and some look like numbers: Parquet knows that they are texts, a
reader of CSV or JSON must be told (`pandas.read_csv(file, dtype={"episode_id": str})`), or "007" becomes 7.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from itinera.errors import MissingExtra
from itinera.formats.bundles import encode_rows
from itinera.formats.writing import atomic_write
from itinera.records import EpisodeInfo, ScoreTable, TourTable

Columns = Mapping[str, Any]  # name -> texts, numbers (NaN where undefined) or booleans, one per row


def write_rows(path: str | Path, table: ScoreTable) -> list[Path]:
    """Write a row per episode, as CSV (.csv), Parquet (.parquet) or else JSON lines; the files written.

    JSON lines have the tours after the episodes; the others have a second file for them, rows-tours.csv.
    """
    path = Path(path)
    encode = {".csv": _to_csv, ".parquet": _to_parquet}.get(path.suffix.lower())
    if encode is None:
        _write(path, encode_rows(table))
        return [path]
    contents = {path: encode(_episode_columns(table))}
    if table.tours is not None:
        contents[path.with_name(f"{path.stem}-tours{path.suffix}")] = encode(_tour_columns(table.tours))
    for target, content in contents.items():
        _write(target, content)
    return list(contents)


def _write(path: Path, content: bytes) -> None:
    with atomic_write(path) as stream:
        stream.write(content)


def _episode_columns(table: ScoreTable) -> Columns:
    columns: dict[str, Any] = {
        "episode_id": table.episode_ids,
        "world_id": table.world_ids,
        "path_id": table.path_ids,
        **{column.name: table.values[column.name] for column in table.columns},
    }
    if table.missing.any():
        columns["missing"] = table.missing
    return columns | ({} if table.episode_info is None else _info_columns(table.episode_info))


def _info_columns(info: EpisodeInfo) -> dict[str, Any]:
    columns: dict[str, Any] = {"goal_distance": info.goal_distances}
    if not np.isnan(info.reference_lengths).all():
        columns["reference_length"] = info.reference_lengths
    if any(info.tour_ids):
        columns |= {"tour": info.tour_ids, "leg": info.tour_positions}
    return columns


def _tour_columns(tours: TourTable) -> Columns:
    names = [column.name for column in tours.columns]
    values = {name: tours.values[name] for name in names}
    weights = {f"weight of {name}": tours.weights[name] for name in names}
    return {"tour_id": tours.tour_ids, "world_id": tours.world_ids, **values, **weights}


def _to_csv(columns: Columns) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    plain = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values()]
    # repr of a float has as many digits as are needed to read the same number again.
    writer.writerows(["" if value != value else value for value in row] for row in zip(*plain, strict=True))
    return out.getvalue().encode("utf-8", "surrogatepass")


def _to_parquet(columns: Columns) -> bytes:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("Parquet files", "pyarrow", "tables") from None
    arrays = {
        name: pyarrow.array(column) if isinstance(column, np.ndarray) else pyarrow.array(column, pyarrow.string())
        for name, column in columns.items()
    }
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(arrays), out)
    return out.getvalue()
