"""LeRobot datasets of both versions as trajectories."""

from __future__ import annotations

import builtins
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from itinera.errors import BadArgument, BadFile, MissingExtra
from itinera.formats import catalog, lerobot
from itinera.records import Predictions, Trajectory
from tiny import written

PLACES = np.array([[0.0, 0.0, 0.1], [0.25, 0.0, 0.1], [0.5, 0.25, 0.1]])
WALKS = [
    Trajectory("4332_1", PLACES, headings=np.array([0.0, 0.5, -1.0]), times=np.array([0.0, 0.4, 1.0])),
    Trajectory("7", PLACES[:1], headings=np.zeros(1), times=np.zeros(1)),
]


@pytest.fixture
def dataset(tmp_path):
    lerobot.write_predictions(tmp_path / "dataset", Predictions.from_trajectories("", WALKS))
    return tmp_path / "dataset"


def table(states, episodes, **more):
    frames = [k - episodes.index(e) for k, e in enumerate(episodes)]
    return pa.table({
        "observation.state": states, "timestamp": [0.5 * k for k in frames], "frame_index": frames,
        "episode_index": episodes, **more,
    })  # fmt: skip


def put(folder: Path, name: str, content: pa.Table) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(content, folder / name)


def make_v3(folder: Path, names=("x", "y", "yaw"), states=((1, 2, 0.5), (2, 2, 0.5), (5, 5, 0))) -> Path:
    """Three frames of two episodes in two files of the same name, as version 3.0 has them."""
    (folder / "meta").mkdir(parents=True)
    info = {"codebase_version": "v3.0", "fps": 2, "features": {
        "action": {"dtype": "float32", "shape": [2], "names": ["v", "w"]},
        "observation.state": {"dtype": "float32", "shape": [3], "names": {"axes": list(names)}},
    }}  # fmt: skip
    written(folder / "meta/info.json", info)
    put(folder, "data/chunk-000/file-000.parquet", table([list(one) for one in states[:2]], [0, 0]))
    put(folder, "data/chunk-001/file-000.parquet", table([list(one) for one in states[2:]], [1]))
    put(folder, "meta/episodes/chunk-000/file-000.parquet", pa.table({"episode_index": [0, 1], "length": [2, 1]}))
    return folder


def test_a_dataset_is_recognized_and_read_as_it_was_written(dataset):
    assert catalog.detect(dataset).name == "lerobot"
    found = catalog.read_predictions(dataset)
    for one, walk in zip(found, WALKS, strict=True):
        assert one.episode_id == walk.episode_id
        np.testing.assert_array_equal(one.places, walk.places)
        np.testing.assert_array_equal(one.headings, walk.headings)
        np.testing.assert_array_equal(one.times, walk.times)


def test_what_is_written_describes_itself(dataset):
    info = json.loads((dataset / "meta/info.json").read_text())
    assert (info["codebase_version"], info["total_episodes"], info["total_frames"]) == ("v2.1", 2, 4)
    assert info["features"]["observation.state"]["names"] == ["x", "y", "z", "heading"]
    frames = parquet.read_table(dataset / "data/chunk-000/episode_000001.parquet").to_pylist()
    assert frames[0]["index"] == 3
    stats = json.loads((dataset / "meta/episodes_stats.jsonl").read_text().splitlines()[0])
    assert stats["stats"]["observation.state"]["max"] == [0.5, 0.25, 0.1, 0.5]


def test_version_3_has_many_episodes_in_a_file_and_files_of_one_name(tmp_path):
    one, other = lerobot.read_predictions(make_v3(tmp_path / "d"))
    assert (one.episode_id, other.episode_id) == ("0", "1")
    np.testing.assert_array_equal(one.places, [[1, 2, 0], [2, 2, 0]])
    assert one.headings.tolist() == [0.5, 0.5]
    assert one.times.tolist() == [0, 0.5]
    np.testing.assert_array_equal(other.places, [[5, 5, 0]])


def test_ids_of_episodes_are_read_from_version_3_too(tmp_path):
    folder = make_v3(tmp_path / "d")
    put(
        folder,
        "meta/episodes/chunk-000/file-000.parquet",
        pa.table({"episode_index": [0, 1], "episode_id": ["a", "b"]}),
    )
    assert [one.episode_id for one in lerobot.read_predictions(folder)] == ["a", "b"]


def test_frames_may_be_stored_in_any_order(tmp_path):
    folder = make_v3(tmp_path / "d")
    turned = table([[1, 2, 0.5], [2, 2, 0.5]], [0, 0]).take([1, 0])
    put(folder, "data/chunk-000/file-000.parquet", turned)
    np.testing.assert_array_equal(lerobot.read_predictions(folder)[0].places, [[1, 2, 0], [2, 2, 0]])


def spoil_version(folder):
    text = (folder / "meta/info.json").read_text()
    (folder / "meta/info.json").write_text(text.replace("v3.0", "v9"))


def spoil_names(folder):
    text = (folder / "meta/info.json").read_text()
    (folder / "meta/info.json").write_text(text.replace('"x"', '"q"'))


SPOILED = {
    "version": (spoil_version, "codebase_version: is of version 'v9'; v2.0, v2.1, v3.0 are read"),
    "names": (spoil_names, "has no feature with the positions x and y"),
    "no Parquet": (
        lambda d: (d / "data/chunk-000/file-000.parquet").write_bytes(b"PAR1"), "is no Parquet file that can be read",
    ),
    "a column less": (
        lambda d: put(d, "data/chunk-000/file-000.parquet", pa.table({"episode_index": [0]})),
        "has no column timestamp",
    ),
    "a frame less": (
        lambda d: put(d, "data/chunk-001/file-000.parquet", table([[1, 2, 0]] * 2, [1, 1]).take([1])),
        "episode 1: has frames 1 to 1, 1 in all",
    ),
    "text": (
        lambda d: put(d, "data/chunk-001/file-000.parquet", table([["a", "b", "c"]], [1])),
        "has no 3 finite numbers of observation.state in every frame",
    ),
    "too few numbers": (
        lambda d: put(d, "data/chunk-001/file-000.parquet", table([[1, 2]], [1])), "has no 3 finite numbers",
    ),
    "not finite": (
        lambda d: put(d, "data/chunk-001/file-000.parquet", table([[1, 2, float("nan")]], [1])), "has no 3 finite",
    ),
    "no data": (
        lambda d: [file.unlink() for file in (d / "data").rglob("*.parquet")], "data: contains no frames",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "message"), SPOILED.values(), ids=SPOILED.keys())
def test_damage_is_named(tmp_path, spoil, message):
    folder = make_v3(tmp_path / "d")
    spoil(folder)
    with pytest.raises(BadFile, match=message):
        lerobot.read_predictions(folder)


def test_too_many_frames_are_refused_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(lerobot, "MOST_FRAMES", 1)
    with pytest.raises(BadFile, match="has more than 1 frames"):
        lerobot.read_predictions(make_v3(tmp_path / "d"))


def test_nodes_cannot_be_written(tmp_path):
    with pytest.raises(BadArgument, match="contains nodes"):
        lerobot.write_predictions(tmp_path / "d", Predictions.from_trajectories("", [Trajectory("1", ("a",))]))


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    folder = make_v3(tmp_path / "d")
    real = builtins.__import__

    def without(name, *more, **kwargs):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *more, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"LeRobot datasets need pyarrow.*itinera\[tables\]"):
        lerobot.read_predictions(folder)
