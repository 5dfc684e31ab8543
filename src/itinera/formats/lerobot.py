"""LeRobot datasets, versions 2.1 and 3.0, as trajectories: the positions of their frames, episode by episode.

    meta/info.json                            version, frames per second, names of the numbers of each feature
    meta/episodes.jsonl                       2.1: a line per episode
    meta/episodes/chunk-000/file-000.parquet  3.0: a row per episode
    data/chunk-000/episode_000000.parquet     2.1: the frames of an episode
    data/chunk-000/file-000.parquet           3.0: the frames of many

Positions are those of the feature whose `names` contain x and y, in meters with z up, such as `observation.state` of a
robot's base. Videos, actions and pose matrices are not read. Needs the extra `tables` (pyarrow).
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from itinera.errors import BadFile, Fault, MissingExtra
from itinera.formats._export import acting_part, require_positions
from itinera.formats.decoding import decode
from itinera.formats.io import FaultList, read_bytes
from itinera.formats.jsonl import iter_records
from itinera.formats.writing import atomic_write
from itinera.records import Predictions, Trajectory
from itinera.worlds import Array

INFO = Path("meta") / "info.json"
VERSIONS = ("v2.0", "v2.1", "v3.0")
STATE = "observation.state"  # the feature that is written, and looked at first
NAMES = ("x", "y", "z", "heading")
HEADINGS = ("heading", "yaw", "theta")
MOST_FRAMES = 20_000_000  # of one dataset
CHUNK = 1000  # episodes of a folder
_REMEDY = 'Name them in "names" of a feature of meta/info.json, such as ["x", "y", "z", "yaw"].'


class _Feature(msgspec.Struct):
    dtype: str = ""
    shape: list[int] = []
    names: Any = None  # a list, or a list by a name such as "motors" or "axes"


class _Info(msgspec.Struct):
    codebase_version: str
    features: dict[str, _Feature]
    fps: float = 0.0


class _Episode(msgspec.Struct):
    episode_index: int
    episode_id: str | int | None = None  # not of LeRobot: the id in the tasks, where it is not the index


@dataclass(frozen=True)
class _Columns:
    """The feature with positions, and where in it they are; -1 where it has none."""

    feature: str
    x: int
    y: int
    z: int
    heading: int


def read_predictions(path: str | Path) -> Predictions:
    """The trajectories of a dataset. The format does not say how an episode ended; it is read as stopped.

    Episodes are named by `episode_id` of meta/episodes where that is given, else by their index.
    """
    path = Path(path)
    info = decode(read_bytes(path / INFO), _Info, str(path / INFO))
    if info.codebase_version not in VERSIONS:
        problem = f"is of version {info.codebase_version!r}; {', '.join(VERSIONS)} are read."
        raise BadFile(str(path / INFO), [Fault("", problem, "Convert the dataset.", "codebase_version")])
    columns = _find_columns(info, str(path / INFO))
    ids = _episode_ids(path)
    frames = _read_frames(path, columns)
    faults = FaultList(str(path))
    trajectories = []
    for index, rows in sorted(frames.items()):
        problem = _find_problem(rows)
        if problem:
            faults.append(Fault(f"episode {index}", problem, "Record every frame of it."))
            continue
        trajectories.append(_trajectory(ids.get(index, str(index)), rows, columns))
    if not frames:
        faults.append(Fault("data", "contains no frames.", "Give the folder of the dataset, with data/ and meta/."))
    faults.raise_any()
    return Predictions.from_trajectories(str(path), tuple(trajectories))


def _find_columns(info: _Info, source: str) -> _Columns:
    features = sorted(info.features, key=lambda name: (name != STATE, not name.startswith("observation."), name))
    for feature in features:
        names = _flat_names(info.features[feature].names)
        if "x" in names and "y" in names:
            heading = next((names.index(name) for name in HEADINGS if name in names), -1)
            z = names.index("z") if "z" in names else -1
            return _Columns(feature, names.index("x"), names.index("y"), z, heading)
    raise BadFile(source, [Fault("", "has no feature with the positions x and y.", _REMEDY, "features")])


def _flat_names(names: Any) -> list[str]:
    if isinstance(names, dict):
        names = next((found for found in names.values() if isinstance(found, list)), [])
    return [str(name).lower() for name in names] if isinstance(names, list) else []


def _episode_ids(path: Path) -> dict[int, str]:
    """The ids of the episodes that have one."""
    listed = path / "meta" / "episodes.jsonl"
    if listed.is_file():
        faults = FaultList(str(listed))
        records = [record for _, record in iter_records(listed, _Episode, faults)]
        faults.raise_any()
        return {one.episode_index: str(one.episode_id) for one in records if one.episode_id is not None}
    found: dict[int, str] = {}
    for file in sorted((path / "meta" / "episodes").rglob("*.parquet")):
        table = _read_parquet(file, ("episode_index", "episode_id"), optional=("episode_id",))
        if "episode_id" in table:
            pairs = zip(table["episode_index"], table["episode_id"], strict=True)
            found |= {int(index): str(name) for index, name in pairs if name is not None}
    return found


def _read_frames(path: Path, columns: _Columns) -> dict[int, Array]:
    """The frames of each episode: its index, its number and time, and the numbers of the feature."""
    wanted = ("episode_index", "frame_index", "timestamp", columns.feature)
    found: dict[int, list[Array]] = {}
    frames = 0
    for file in sorted((path / "data").rglob("*.parquet")):
        table = _read_parquet(file, wanted)
        rows = _as_rows(table, wanted, columns, file)
        frames += len(rows)
        if frames > MOST_FRAMES:
            raise BadFile(str(path), [Fault("data", f"has more than {MOST_FRAMES:,} frames.", "Split the dataset.")])
        for index in np.unique(rows[:, 0]).tolist():
            found.setdefault(int(index), []).append(rows[rows[:, 0] == index, 1:])
    joined = {index: np.concatenate(parts) for index, parts in found.items()}
    return {index: rows[np.argsort(rows[:, 0], kind="stable")] for index, rows in joined.items()}


def _as_rows(table: Mapping[str, list[Any]], wanted: tuple[str, ...], columns: _Columns, file: Path) -> Array:
    needed = max(columns.x, columns.y, columns.z, columns.heading) + 1
    try:
        states = np.array(table[columns.feature], dtype=np.float64)
        numbers = [np.array(table[name], dtype=np.float64) for name in wanted[:3]]
    except (TypeError, ValueError, OverflowError):
        states, numbers = np.empty(0), []
    if states.ndim != 2 or states.shape[1] < needed or not all(np.isfinite(one).all() for one in (states, *numbers)):
        problem = f"has no {needed} finite numbers of {columns.feature} in every frame."
        raise BadFile(str(file), [Fault("", problem, "Every frame has its position.", columns.feature)])
    return np.column_stack([*numbers, states])


def _find_problem(rows: Array) -> str:
    """Why these frames are no trajectory; empty if they are one."""
    if not np.array_equal(rows[:, 0], np.arange(len(rows))):
        return f"has frames {rows[0, 0]:g} to {rows[-1, 0]:g}, {len(rows)} in all."
    return "has times that decrease." if (np.diff(rows[:, 1]) < 0).any() else ""


def _trajectory(name: str, rows: Array, columns: _Columns) -> Trajectory:
    states = rows[:, 2:]
    height = states[:, columns.z] if columns.z >= 0 else np.zeros(len(rows))
    places = np.stack([states[:, columns.x], states[:, columns.y], height], axis=1)
    headings = states[:, columns.heading] if columns.heading >= 0 else None
    return Trajectory(name, places, headings=headings, times=rows[:, 1])


def _read_parquet(file: Path, columns: tuple[str, ...], *, optional: tuple[str, ...] = ()) -> dict[str, list[Any]]:
    """Columns of a Parquet file as lists; raises BadFile for anything that is none."""
    pyarrow, parquet = _import_pyarrow()
    data = read_bytes(file)  # in memory, so that the limits of every file hold
    try:
        opened = parquet.ParquetFile(io.BytesIO(data))
        names = set(opened.schema_arrow.names)
        values = sum(
            opened.metadata.row_group(group).column(i).num_values
            for group in range(opened.metadata.num_row_groups)
            for i in range(opened.metadata.num_columns)
        )
        if opened.metadata.num_rows > MOST_FRAMES or values > 16 * MOST_FRAMES:
            raise BadFile(str(file), [Fault("", f"has more than {MOST_FRAMES:,} frames.", "Split the dataset.")])
        absent = [name for name in columns if name not in names and name not in optional]
        if absent:
            raise BadFile(str(file), [Fault("", f"has no column {name}.", "", name) for name in absent])
        table = opened.read(columns=[name for name in columns if name in names], use_threads=False)
        found: dict[str, list[Any]] = table.to_pydict()
        return found
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, OverflowError, MemoryError) as error:
        reason = (str(error).splitlines() or ["damaged"])[0][:200]
        problem = f"is no Parquet file that can be read ({reason})."
        raise BadFile(str(file), [Fault("", problem, "Copy or download it again.")]) from None


def _import_pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("LeRobot datasets", "pyarrow", "tables") from None
    return pyarrow, parquet


def write_predictions(path: str | Path, predictions: Predictions) -> None:
    """Write continuous trajectories as a dataset of version 2.1, with x, y, z and heading in `observation.state`.

    Trajectories without times are written at one frame per second; unknown headings are 0.
    """
    path = Path(path)
    episodes = [_episode_rows(one) for one in map(acting_part, predictions.trajectories)]
    start = 0
    lines: dict[str, list[bytes]] = {"episodes": [], "episodes_stats": [], "tasks": []}
    for index, (name, times, states) in enumerate(episodes):
        file = path / "data" / f"chunk-{index // CHUNK:03d}" / f"episode_{index:06d}.parquet"
        _write(file, _encode_frames(index, start, times, states))
        start += len(times)
        entry = {"episode_index": index, "tasks": [name], "length": len(times), "episode_id": name}
        lines["episodes"].append(msgspec.json.encode(entry))
        lines["tasks"].append(msgspec.json.encode({"task_index": index, "task": name}))
        stats = {"episode_index": index, "stats": {STATE: _stats(states), "timestamp": _stats(times[:, None])}}
        lines["episodes_stats"].append(msgspec.json.encode(stats))
    for name, entries in lines.items():
        _write(path / "meta" / f"{name}.jsonl", b"".join(line + b"\n" for line in entries))
    _write(path / INFO, msgspec.json.format(msgspec.json.encode(_describe(len(episodes), start)), indent=2))


def _episode_rows(trajectory: Trajectory) -> tuple[str, Array, Array]:
    points = require_positions(trajectory.places, f'The trajectory of episode "{trajectory.episode_id}"')
    headings = np.zeros(len(points)) if trajectory.headings is None else trajectory.headings
    times = np.arange(len(points), dtype=np.float64) if trajectory.times is None else trajectory.times
    return trajectory.episode_id, times, np.column_stack([points, headings])


def _encode_frames(index: int, start: int, times: Array, states: Array) -> bytes:
    pyarrow, parquet = _import_pyarrow()
    count = len(times)
    columns: dict[str, Any] = {
        STATE: pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(states.ravel()), states.shape[1]),
        "timestamp": pyarrow.array(times),
        "frame_index": pyarrow.array(np.arange(count)),
        "episode_index": pyarrow.array(np.full(count, index)),
        "index": pyarrow.array(np.arange(start, start + count)),
        "task_index": pyarrow.array(np.full(count, index)),
    }
    stream = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), stream)
    return stream.getvalue()


def _stats(values: Array) -> dict[str, list[float]]:
    functions: dict[str, Callable[..., Any]] = {"min": np.min, "max": np.max, "mean": np.mean, "std": np.std}
    return {name: function(values, axis=0).tolist() for name, function in functions.items()} | {"count": [len(values)]}


def _describe(episodes: int, frames: int) -> dict[str, Any]:
    def scalar(dtype: str) -> dict[str, Any]:
        return {"dtype": dtype, "shape": [1], "names": None}

    return {
        "codebase_version": "v2.1",
        "robot_type": None,
        "total_episodes": episodes,
        "total_frames": frames,
        "total_tasks": episodes,
        "total_videos": 0,
        "total_chunks": math.ceil(episodes / CHUNK),
        "chunks_size": CHUNK,
        "fps": 1,
        "splits": {"test": f"0:{episodes}"},
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        "video_path": None,
        "features": {
            STATE: {"dtype": "float64", "shape": [len(NAMES)], "names": list(NAMES)},
            "timestamp": scalar("float64"),
            **{name: scalar("int64") for name in ("frame_index", "episode_index", "index", "task_index")},
        },
    }


def _write(file: Path, content: bytes) -> None:
    with atomic_write(file) as stream:
        stream.write(content)
