"""Logged positions of any robot as CSV: a line per position, in our conventions (z up, metres, headings, seconds).

The header names the columns, in any order: episode_id, x, y, and where known z, time, heading.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import IO

import numpy as np

from itinera.errors import BadFile, Fault
from itinera.formats._export import acting_part, require_positions
from itinera.formats.io import FaultList, open_stream
from itinera.formats.writing import atomic_write
from itinera.records import Predictions, Trajectory
from itinera.worlds import Array

NEEDED = ("episode_id", "x", "y")
OPTIONAL = ("z", "time", "heading")
_HEADER_REMEDY = f"The first line names the columns: {', '.join(NEEDED)}, and where known {', '.join(OPTIONAL)}."

_Row = tuple[int, str, tuple[float, ...]]  # line, episode, numbers


def read_predictions(path: str | Path) -> Predictions:
    """The trajectories of a CSV log, one per episode, whose lines are consecutive and in order of time.

    Without z all positions have height 0. The cells of an optional column may be empty, but then in the whole
    episode. The format does not say how an
    episode ended; it is read as stopped.
    """
    path = Path(path)
    faults = FaultList(str(path))
    with open_stream(path) as stream:
        lines = csv.reader(_text(stream, str(path)), strict=True)
        try:
            columns = _columns(next(lines, []), str(path))
            rows = list(_rows(lines, columns, faults))
        except csv.Error as error:
            raise BadFile(str(path), [Fault(f"line {lines.line_num}", f"{error}.", "Write plain CSV.")]) from None
    trajectories = tuple(_trajectories(rows, columns, faults))
    faults.raise_any()
    return Predictions.from_trajectories(str(path), trajectories)


def _text(stream: IO[bytes], source: str) -> Iterator[str]:
    for number, line in enumerate(iter(stream.readline, b""), start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise BadFile(source, [Fault(f"line {number}", "is not UTF-8 text.", "Save the file as UTF-8.")]) from None


def _columns(header: list[str], source: str) -> list[str]:
    columns = [name.strip() for name in header]
    lacking = (Fault("line 1", f"has no column {name}.", _HEADER_REMEDY) for name in NEEDED if name not in columns)
    faults = FaultList(source, lacking)
    for i, name in enumerate(columns):
        if name not in NEEDED + OPTIONAL:
            faults.append(Fault("line 1", f'has the unknown column "{name}".', _HEADER_REMEDY))
        elif name in columns[:i]:
            faults.append(Fault("line 1", f"has the column {name} twice.", _HEADER_REMEDY))
    faults.raise_any()
    return columns


def _rows(lines: Iterator[list[str]], columns: Sequence[str], faults: FaultList) -> Iterator[_Row]:
    named = columns.index("episode_id")
    numbers = [i for i in range(len(columns)) if i != named]
    for cells in lines:
        number: int = lines.line_num  # type: ignore[attr-defined]
        if not cells:
            continue
        if len(cells) != len(columns):
            problem = f"has {len(cells)} cells for {len(columns)} columns."
            faults.append(Fault(f"line {number}", problem, "Give every line all cells."))
            continue
        try:
            yield number, _name(cells[named]), tuple([_number(cells[i], columns[i]) for i in numbers])
        except ValueError as error:
            problem, field = error.args
            faults.append(
                Fault(
                    f"line {number}",
                    problem,
                    "Every line names its episode; positions are metres, times seconds.",
                    field,
                )
            )


def _name(cell: str) -> str:
    if not cell.strip():
        raise ValueError("is empty.", "episode_id")
    return cell


def _number(cell: str, column: str) -> float:
    if not cell.strip() and column in OPTIONAL:
        return math.nan
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f'"{cell[:40]}" is not a finite number.', column)
    return value


def _trajectories(rows: Sequence[_Row], columns: Sequence[str], faults: FaultList) -> Iterator[Trajectory]:
    names = [name for name in columns if name != "episode_id"]
    first: dict[str, int] = {}
    for name, run in groupby(rows, key=lambda row: row[1]):
        held = list(run)
        where = f"line {held[0][0]}"
        if name in first:
            problem = f'episode "{name}" comes again after line {first[name]}.'
            faults.append(Fault(where, problem, "The lines of an episode must be consecutive."))
        first.setdefault(name, held[-1][0])
        values = dict(zip(names, np.array([row[2] for row in held], dtype=np.float64).T, strict=True))
        z, times, headings = (_whole(values.get(key), f'{where} (episode "{name}")', key, faults) for key in OPTIONAL)
        if times is not None and (times[1:] < times[:-1]).any():
            at = held[int(np.argmax(times[1:] < times[:-1])) + 1][0]
            faults.append(Fault(f"line {at}", "is earlier than the line before.", "Times must not decrease.", "time"))
        heights = np.zeros(len(held)) if z is None else z
        places = np.stack([values["x"], values["y"], heights], axis=1)
        yield Trajectory(name, places, headings=headings, times=times)


def _whole(values: Array | None, where: str, column: str, faults: FaultList) -> Array | None:
    if values is None or np.isnan(values).all():
        return None
    if np.isnan(values).any():
        faults.append(Fault(where, "is empty in some lines only.", "Fill or empty it in the whole episode.", column))
    return values.copy()


def write_predictions(path: str | Path, predictions: Predictions) -> None:
    """Write continuous trajectories as a CSV log, with the columns that any of them needs."""
    rollouts = [acting_part(trajectory) for trajectory in predictions.trajectories]
    extra = [
        (column, values)
        for column, values in (("time", [w.times for w in rollouts]), ("heading", [w.headings for w in rollouts]))
        if any(value is not None for value in values)
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*NEEDED, "z", *(column for column, _ in extra)])
    for i, rollout in enumerate(rollouts):
        points = require_positions(rollout.places, f'The trajectory of episode "{rollout.episode_id}"')
        names = [rollout.episode_id] * len(points)
        cells = [_cells(values[i], len(points)) for _, values in extra]
        writer.writerows(zip(names, *points.T.tolist(), *cells, strict=True))
    with atomic_write(Path(path)) as stream:
        stream.write(text.getvalue().encode())


def _cells(values: Array | None, count: int) -> Sequence[float | str]:
    return [""] * count if values is None else values.tolist()
