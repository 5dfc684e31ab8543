"""The log of a real robot, one file for one episode: CSV with a line per moment, or a TUM trajectory.

Both contain times, in seconds, so such trajectories have a completion time. Positions are metres with z up, headings
counter-clockwise from +x, as in ROS. An episode is named after its file.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from types import MappingProxyType

import numpy as np

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats._export import acting_part, require_positions
from itinera.formats.decoding import report_unknown_fields
from itinera.formats.io import FaultList, members, read_bytes
from itinera.formats.writing import atomic_write, write_members
from itinera.records import Predictions, Trajectory
from itinera.worlds import Array

NAMES = MappingProxyType(
    {
        "time": ("time", "t", "timestamp", "time_s", "seconds"),
        "x": ("x", "x_m", "tx", "pos_x", "position_x"),
        "y": ("y", "y_m", "ty", "pos_y", "position_y"),
        "z": ("z", "z_m", "tz", "pos_z", "position_z"),
        "heading": ("heading", "yaw", "theta", "heading_rad", "yaw_rad"),
        "degrees": ("heading_deg", "yaw_deg", "theta_deg"),
    }
)
"""The names of each column, in upper or lower case; other columns are named in a remark and not read."""

NEEDED = ("time", "x", "y")
TUM = ("time", "x", "y", "z", "qx", "qy", "qz", "qw")
SUFFIXES = (".csv", ".tum")  # of the logs in a folder
LATEST = 1e11  # seconds; beyond the clock of the next three thousand years, but below milliseconds since 1970
DIGITS = 9  # of written quaternions; the last digits of a sine differ between machines
_CSV_REMEDY = (
    "The first line names the columns: time (s), x and y (m), and where known z and heading (rad) or heading_deg."
)
_TUM_REMEDY = "A line has eight numbers, separated by blanks: timestamp tx ty tz qx qy qz qw."

_Rows = list[tuple[int, tuple[float, ...]]]  # the number of each line, and its values
_Parse = Callable[[str, FaultList], tuple[Sequence[str], _Rows]]


def looks_like_csv(text: str) -> bool:
    """Whether a text begins like a robot's CSV log."""
    return set(NEEDED) <= set(_roles(text.lstrip().split("\n", 1)[0].split(",")))


def looks_like_tum(text: str) -> bool:
    """Whether a text begins like a TUM trajectory, comments aside."""
    return re.match(r"\s*(#[^\n]*\n\s*)*(-?[\d.]+([eE][-+]?\d+)?[ \t]+){7}-?[\d.]", text) is not None


def read_csv(path: str | Path) -> Predictions:
    """The trajectory of a CSV log. The format does not say how it ended; it is read as stopped."""
    return _read(Path(path), _csv_rows)


def read_tum(path: str | Path) -> Predictions:
    """The trajectory of a TUM file in a frame with z up. The format has no ending; it is read as stopped."""
    return _read(Path(path), _tum_rows)


def _read(path: Path, parse: _Parse) -> Predictions:
    faults = FaultList(str(path))
    data = read_bytes(path)
    trajectory = _trajectory(data, _named(path), parse, "", faults)
    if faults or trajectory is None:
        raise BadFile(str(path), faults)
    report_unknown_fields(str(path), _ignored_columns(data, parse))
    return Predictions.from_trajectories(str(path), (trajectory,))


def read_folder(path: str | Path) -> Predictions:
    """The trajectories of a folder or archive of logs, CSV or TUM, an episode for each file ending in .csv or .tum."""
    path = Path(path)
    found = {name: member for suffix in SUFFIXES for name, member in members(path, suffix).items()}
    faults = FaultList(str(path))
    if not found:
        faults.append(Fault("", "contains no logs.", f"Give a folder of files ending in {' or '.join(SUFFIXES)}."))
    rollouts = []
    ignored: set[str] = set()
    for name in sorted(found):
        data = found[name].read()
        parse = _tum_rows if looks_like_tum(data[: 1 << 16].decode("utf-8-sig", "replace")) else _csv_rows
        rollouts.append(_trajectory(data, _named(PurePath(name)), parse, f"{name}, ", faults))
        ignored |= _ignored_columns(data, parse)
    faults.raise_any()
    report_unknown_fields(str(path), ignored)
    return Predictions.from_trajectories(str(path), tuple(rollout for rollout in rollouts if rollout is not None))


def _named(path: PurePath) -> str:
    return PurePath(re.sub(r"\.(gz|xz)$", "", path.name)).stem


def _trajectory(data: bytes, name: str, parse: _Parse, where: str, faults: FaultList) -> Trajectory | None:
    """The trajectory of a log, or None and at least one more fault."""
    own = FaultList(f"{faults.source}, {where}".removesuffix(", "))
    try:
        columns, rows = parse(data.decode("utf-8-sig"), own)
    except UnicodeDecodeError:
        columns, rows = (), []
        own.append(Fault("", "is not UTF-8 text.", "Save the file as UTF-8."))
    if not own and not rows:
        own.append(Fault("", "contains no positions.", "A trajectory has at least one."))
    own += _wrong_times(columns, rows) if not own else []
    faults += [replace(fault, where=(where + fault.where).removesuffix(", ")) for fault in own]
    if own:
        return None
    held = dict(zip(columns, np.array([values for _, values in rows], dtype=np.float64).T, strict=True))
    places = np.stack([held["x"], held["y"], held.get("z", np.zeros(len(rows)))], axis=1)
    return Trajectory(name, places, headings=_headings(held), times=held["time"])


def _headings(held: dict[str, Array]) -> Array | None:
    if "qw" in held:
        x, y, z, w = (held[name] for name in TUM[4:])
        return np.asarray(np.arctan2(2 * (w * z + x * y), w * w + x * x - y * y - z * z))
    if "degrees" in held:
        return np.asarray(np.radians(held["degrees"]))
    return held.get("heading")


def _wrong_times(columns: Sequence[str], rows: _Rows) -> Iterator[Fault]:
    at = columns.index("time")
    before = -math.inf
    for number, values in rows:
        if values[at] < before:
            yield Fault(f"line {number}", "is earlier than the line before.", "Times must not decrease.", "time")
        elif abs(values[at]) > LATEST:
            yield Fault(f"line {number}", f"{values[at]:g} is not a time in seconds.", "Divide it by its unit.", "time")
        before = values[at]


def _csv_rows(text: str, faults: FaultList) -> tuple[Sequence[str], _Rows]:
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(lines, [])
        columns = _columns(header, faults)
        rows = [] if faults else list(_csv_numbers(lines, columns, faults))
    except csv.Error as error:
        faults.append(Fault(f"line {lines.line_num}", f"{error}.", "Write plain CSV."))
        return (), []
    return tuple(columns.values()), rows


def _roles(header: Sequence[str]) -> list[str]:
    """The role of each column, empty for ignored columns."""
    meant = {name: role for role, names in NAMES.items() for name in names}
    return [meant.get(cell.strip().lower(), "") for cell in header]


def _ignored_columns(data: bytes, parse: _Parse) -> set[str]:
    """The names of the columns that are not read."""
    if parse is _tum_rows:
        return set()
    header = data.decode("utf-8-sig", "replace").lstrip().split("\n", 1)[0].split(",")
    return {cell.strip() for cell, role in zip(header, _roles(header), strict=True) if not role and cell.strip()}


def _columns(header: Sequence[str], faults: FaultList) -> dict[int, str]:
    """The roles of the columns that are read."""
    roles = _roles(header)
    faults += [Fault("line 1", f"has no column for {role}.", _CSV_REMEDY) for role in NEEDED if role not in roles]
    several = {role: roles.count(role) for role in NAMES if roles.count(role) > 1}
    faults += [Fault("line 1", f"has {n} columns for {role}.", _CSV_REMEDY) for role, n in several.items()]
    if {"heading", "degrees"} <= set(roles):
        faults.append(Fault("line 1", "has headings in radians and in degrees.", "Keep one of the columns."))
    return {i: role for i, role in enumerate(roles) if role}


def _csv_numbers(
    lines: Iterator[list[str]], columns: dict[int, str], faults: FaultList
) -> Iterator[tuple[int, tuple[float, ...]]]:
    for cells in lines:
        number: int = lines.line_num  # type: ignore[attr-defined]
        if not cells:
            continue
        if len(cells) <= max(columns):
            faults.append(Fault(f"line {number}", f"has {len(cells)} cells only.", "Give every line all cells."))
            continue
        values = tuple(_number(cells[i]) for i in columns)
        wrong = list(_not_numbers(number, columns.values(), [cells[i] for i in columns], values))
        faults += wrong
        if not wrong:
            yield number, values


def _tum_rows(text: str, faults: FaultList) -> tuple[Sequence[str], _Rows]:
    rows: _Rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        cells = line.split()
        if not cells or cells[0].startswith("#"):
            continue
        values = tuple(map(_number, cells))
        if len(values) != len(TUM):
            faults.append(Fault(f"line {number}", f"has {len(values)} numbers.", _TUM_REMEDY))
            continue
        wrong = list(_not_numbers(number, TUM, cells, values))
        if not wrong and not abs(math.hypot(*values[4:]) - 1) < 0.01:
            wrong.append(Fault(f"line {number}", "the rotation is no unit quaternion.", _TUM_REMEDY))
        faults += wrong
        rows.append((number, values))
    return TUM, rows


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _not_numbers(number: int, columns: Iterable[str], cells: Sequence[str], values: Sequence[float]) -> Iterator[Fault]:
    for column, cell, value in zip(columns, cells, values, strict=True):
        if not math.isfinite(value):
            yield Fault(f"line {number}", f'"{cell[:40]}" is not a finite number.', "", column)


def rename_episode(predictions: Predictions, episode_id: str) -> Predictions:
    """Predictions of a single trajectory, for another episode."""
    rollouts = list(predictions.trajectories)
    if len(rollouts) != 1:
        raise BadArgument(
            f"{predictions.source} contains {len(rollouts)} trajectories: episode (--episode) is for a file of one."
        )
    return replace(
        Predictions.from_trajectories(predictions.source, (replace(rollouts[0], episode_id=episode_id),)),
        protocol=predictions.protocol,
    )


def write_csv(path: str | Path, predictions: Predictions) -> None:
    """Write predictions of a single trajectory as a CSV log."""
    with atomic_write(Path(path)) as stream:
        stream.write(_as_csv(_only(predictions)))


def write_tum(path: str | Path, predictions: Predictions) -> None:
    """Write predictions of a single trajectory as a TUM file."""
    rollout = _only(predictions)
    times, points = _moments(rollout)
    if rollout.headings is None:
        raise BadArgument(f"The trajectory of episode {rollout.episode_id!r} has no headings.")
    half = rollout.headings / 2
    quaternions = np.stack([np.zeros(len(half)), np.zeros(len(half)), np.sin(half), np.cos(half)], axis=1)
    table = np.column_stack([times, points, quaternions.round(DIGITS) + 0.0])
    lines = ["# timestamp tx ty tz qx qy qz qw", *(" ".join(map(repr, row)) for row in table.tolist())]
    with atomic_write(Path(path)) as stream:
        stream.write(("\n".join(lines) + "\n").encode())


def write_folder(path: str | Path, predictions: Predictions) -> None:
    """Write every trajectory as a CSV log of its own, in a folder or archive."""
    logs = {f"{rollout.episode_id}.csv": _as_csv(acting_part(rollout)) for rollout in predictions.trajectories}
    write_members(Path(path), logs)


def _only(predictions: Predictions) -> Trajectory:
    rollouts = list(predictions.trajectories)
    if len(rollouts) != 1:
        remedy = "Write --to positions, or --to robot-logs for a file each."
        raise BadArgument(f"A robot log has one trajectory, not {len(rollouts)}. {remedy}")
    return acting_part(rollouts[0])


def _moments(rollout: Trajectory) -> tuple[Array, Array]:
    points = require_positions(rollout.places, f'The trajectory of episode "{rollout.episode_id}"')
    if rollout.times is None:
        raise BadArgument(f"The trajectory of episode {rollout.episode_id!r} has no times.")
    return rollout.times, points


def _as_csv(rollout: Trajectory) -> bytes:
    times, points = _moments(rollout)
    columns = [times, *points.T] if rollout.headings is None else [times, *points.T, rollout.headings]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["time", "x", "y", "z", "heading"][: len(columns)])
    writer.writerows(np.column_stack(columns).tolist())
    return text.getvalue().encode()
