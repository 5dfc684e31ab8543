"""VLN-CE episodes and dense ground truth: frames worked by hand, round trips, faults, and the official files."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from itinera.errors import BadArgument, BadFile
from itinera.formats import r2r
from itinera.formats.matterport import read_worlds
from itinera.formats.vlnce import read_dense, read_split, with_dense_reference, write_dense, write_split
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import NavGraph, Pose

HALF = math.sqrt(0.5)
# Habitat: x right, y up, -z ahead. The start is 1 m east, 2 m north and 0.5 m up, and faces west (a left turn).
EPISODE: dict[str, Any] = {
    "episode_id": 1,
    "trajectory_id": 4,
    "scene_id": "mp3d/house/house.glb",
    "start_position": [1.0, 0.5, -2.0],
    "start_rotation": [-0.0, HALF, 0.0, HALF],
    "info": {"geodesic_distance": 6.25},
    "goals": [{"position": [4.0, 0.5, -6.0], "radius": 3.0}],
    "instruction": {"instruction_text": "Go on. ", "instruction_tokens": [982, 141, 0, 0]},
    "reference_path": [[1.0, 0.5, -2.0], [4.0, 0.5, -6.0]],
}
HIDDEN = {key: EPISODE[key] for key in EPISODE if key not in ("info", "goals", "reference_path")}
RXR = EPISODE | {
    "episode_id": "12",
    "trajectory_id": "9",
    "instruction": {
        "instruction_text": "Okay.",
        "instruction_id": "77",
        "language": "hi-IN",
        "annotator_id": "3",
        "edit_distance": 0.5,
        "timed_instruction": [{"word": "Okay.", "start_time": 0.5, "end_time": 1.0}, {"word": "Hm"}],
    },
    "info": {"geodesic_distance": 6.25, "role": "guide"},
}
VOCABULARY = {"word_list": ["<pad>", "go"], "num_vocab": 2}
GT: dict[str, Any] = {
    "1": {"locations": [[1.0, 0.5, -2.0], [1.0, 0.5, -2.25]], "actions": [2, 1, 0], "forward_steps": 1}
}


def written(path: Path, content: Any) -> Path:
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def episodes(path: Path, *records: Any) -> Path:
    return written(path, {"episodes": records, "instruction_vocab": VOCABULARY})


def content(path: Path) -> Any:
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def assert_same_file(before: Path, after: Path) -> None:
    """Equal field by field, start rotations up to rounding and the sign that does not turn."""
    a, b = content(before), content(after)
    assert a.get("instruction_vocab") == b.get("instruction_vocab")
    assert len(a["episodes"]) == len(b["episodes"])
    for some, other in zip(a["episodes"], b["episodes"], strict=True):
        turned = np.dot(some.pop("start_rotation"), other.pop("start_rotation"))
        assert abs(turned) == pytest.approx(1.0, abs=1e-12)
        assert some == other


def test_an_episode_stands_in_our_frame(tmp_path: Path) -> None:
    split = read_split(episodes(tmp_path / "val.json.gz", EPISODE))
    assert (split.name, split.protocol) == ("val", "r2r-ce")
    (episode,) = split.episodes
    assert (episode.id, episode.path_id, episode.world_id) == ("1", "4", "house")
    assert np.asarray(episode.start.place).tolist() == [1.0, 2.0, 0.5]
    assert episode.start.heading == pytest.approx(math.pi)  # west
    assert np.asarray(episode.goals).tolist() == [[4.0, 6.0, 0.5]]
    assert np.asarray(episode.reference).tolist() == [[1.0, 2.0, 0.5], [4.0, 6.0, 0.5]]
    assert episode.stated_distance == 6.25
    assert episode.instruction == Instruction("Go on. ", "en")


def test_episodes_of_a_path_share_what_cannot_be_written(tmp_path: Path) -> None:
    first, second = read_split(episodes(tmp_path / "v.json", EPISODE, EPISODE | {"episode_id": 2})).episodes
    assert second.reference is first.reference
    assert isinstance(first.reference, np.ndarray)
    assert not first.reference.flags.writeable


def test_a_hidden_test_tells_no_goal(tmp_path: Path) -> None:
    told = HIDDEN | {"goals": None, "reference_path": []}
    for record in (HIDDEN, told):
        (episode,) = read_split(episodes(tmp_path / "test.json", record)).episodes
        assert episode.goals_withheld
        assert len(episode.reference) == 0
        assert episode.stated_distance is None


def test_rxr_episodes_bring_language_and_timed_words(tmp_path: Path) -> None:
    split = read_split(episodes(tmp_path / "rxr.json", RXR))
    assert split.protocol == "rxr-ce"
    (episode,) = split.episodes
    assert (episode.id, episode.instruction.language) == ("12", "hi-IN")
    assert episode.notes["instruction_id"] == "77"
    assert episode.alignment is not None
    assert episode.alignment.words == ("Okay.", "Hm")
    np.testing.assert_array_equal(episode.alignment.ends, [1.0, np.nan])  # type: ignore[arg-type]


def test_a_nan_among_the_times_is_missing(tmp_path: Path) -> None:
    text = json.dumps({"episodes": [RXR]}).replace('"end_time": 1.0', '"end_time": NaN')
    (episode,) = read_split(written(tmp_path / "rxr.json", text)).episodes
    assert episode.alignment is not None
    assert np.isnan(episode.alignment.ends).all()  # type: ignore[arg-type]


def test_a_file_comes_back_as_it_was(tmp_path: Path) -> None:
    elsewhere = EPISODE | {"episode_id": "b", "scene_id": "gibson/house.glb", "goals": [{"position": [0.0, 0.0, 0.0]}]}
    before = episodes(tmp_path / "a.json", EPISODE, HIDDEN | {"episode_id": 2}, elsewhere)
    write_split(tmp_path / "b.json.gz", read_split(before))
    assert_same_file(before, tmp_path / "b.json.gz")


def test_an_rxr_file_comes_back_as_it_was(tmp_path: Path) -> None:
    before = written(tmp_path / "a.json", {"episodes": [RXR]})
    write_split(tmp_path / "b.json", read_split(before))
    assert_same_file(before, tmp_path / "b.json")


def test_an_episode_moved_elsewhere_is_not_written_with_its_old_notes(tmp_path: Path) -> None:
    record = EPISODE | {"scene_id": "gibson/house.glb", "goals": EPISODE["goals"] * 2}
    (episode,) = read_split(episodes(tmp_path / "a.json", record)).episodes
    moved = Episode(
        "x", "barn", episode.start, np.ones((1, 3)), episode.reference, episode.instruction, notes=episode.notes
    )
    write_split(tmp_path / "b.json", Split("s", (moved,), protocol="r2r-ce"))
    (after,) = content(tmp_path / "b.json")["episodes"]
    assert after["scene_id"] == "mp3d/barn/barn.glb"
    assert after["goals"] == [{"position": [1.0, 1.0, -1.0], "radius": 3.0}]


def test_a_split_of_nodes_cannot_be_continuous(tmp_path: Path) -> None:
    split = Split("s", (Episode("1", "w", Pose("a"), ("b",), ("a", "b"), Instruction("Go.")),))
    with pytest.raises(BadArgument, match='Episode "1" contains nodes'):
        write_split(tmp_path / "s.json", split)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"start_position": [1.0, 2.0]}, "record 0, field start_position"),
        ({"start_position": [1.0, 2.0, float("nan")]}, "start_position"),
        ({"start_rotation": [0.0, 0.0, 0.0, 0.0]}, "must turn about the vertical axis only"),
        ({"start_rotation": [HALF, 0.0, 0.0, HALF]}, 'record 0 ("1"), field start_rotation'),
        ({"scene_id": ""}, "names no scan"),
        ({"goals": []}, "field goals: is empty, but reference_path is not"),
        ({"reference_path": None}, "field reference_path: is empty, but goals is not"),
        ({"goals": [{"radius": 3.0}]}, "position"),
        ({"info": {"geodesic_distance": "far"}}, "must be a number of metres"),
        ({"instruction": {}}, "instruction_text"),
        ({"instruction": {"instruction_text": "a", "timed_instruction": [{"end_time": 1}]}}, "timed_instruction"),
        ({"reference_path": [[0.0, 0.0, "a"]]}, "field reference_path[0][2]"),
        ({"episode_id": None}, "field episode_id"),
    ],
)
def test_a_bad_episode_is_named(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(BadFile) as error:
        read_split(episodes(tmp_path / "a.json", EPISODE | change))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "Expected `object`"),
        ("{}", "episodes"),
        ('{"episodes": {}}', "Expected `array`"),
        ('{"episodes": [NaN', "line 1 column"),
        ('{"episodes": [NaN, Infinity]}', "Infinity is not a JSON number"),
        (json.dumps({"episodes": [EPISODE, EPISODE]}), "1 is also the id of record 0"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadFile) as error:
        read_split(written(tmp_path / "a.json", text))
    assert said in str(error.value)


def test_dense_ground_truth_comes_back_as_it_was(tmp_path: Path) -> None:
    dense = read_dense(written(tmp_path / "gt.json.gz", GT))
    assert dense["1"].positions.tolist() == [[1.0, 2.0, 0.5], [1.0, 2.25, 0.5]]
    assert dense["1"].actions.tolist() == [2, 1, 0]
    write_dense(tmp_path / "again.json", dense)
    assert content(tmp_path / "again.json") == GT


def test_dense_ground_truth_becomes_the_reference(tmp_path: Path) -> None:
    split = read_split(episodes(tmp_path / "a.json", EPISODE))
    dense = read_dense(written(tmp_path / "gt.json", GT))
    (episode,) = with_dense_reference(split, dense).episodes
    assert episode.reference is dense["1"].positions
    assert np.asarray(episode.goals).tolist() == [[4.0, 6.0, 0.5]]
    with pytest.raises(BadFile, match='gt: episode "1": is not in this file'):
        with_dense_reference(split, {}, "gt")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps({"1": {"locations": [], "actions": [0]}}), 'record "1", field locations: is empty'),
        (json.dumps({"1": {"locations": [[0, 0, 0]], "actions": [6]}}), 'record "1", field actions'),
        (json.dumps({"1": {"locations": [[0, 0, 0]], "actions": [-1]}}), 'record "1", field actions'),
        (json.dumps({"1": {"locations": [[0, 0]]}}), 'record "1", field locations[0]'),
        ('{"1": {"locations": [[0, 0, 0]]}, "1": {"locations": [[0, 0, 0]]}}', 'record "1": is given twice'),
        ("[]", "Expected `object`"),
    ],
)
def test_bad_dense_ground_truth_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadFile) as error:
        read_dense(written(tmp_path / "gt.json", text))
    assert said in str(error.value)


OFFICIAL = "vlnce/R2R_VLNCE_v1-3_preprocessed"


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "count", "paths"),
    [("train", 10819, 3603), ("val_seen", 778, 259), ("val_unseen", 1839, 613), ("test", 3408, 1136)],
)
def test_the_official_splits_are_read_whole_and_written_back(
    data: Path, tmp_path: Path, name: str, count: int, paths: int
) -> None:
    split = read_split(data / OFFICIAL / f"{name}.json.gz")
    assert len(split.episodes) == count
    assert len({episode.path_id for episode in split.episodes}) == paths
    assert {episode.goals_withheld for episode in split.episodes} == {name == "test"}
    write_split(tmp_path / "again.json.gz", split)
    assert_same_file(data / OFFICIAL / f"{name}.json.gz", tmp_path / "again.json.gz")


@pytest.mark.real
@pytest.mark.parametrize("name", ["train", "val_seen", "val_unseen", "test"])
def test_official_starts_and_paths_are_those_of_r2r(data: Path, name: str) -> None:
    worlds = read_worlds(data / "connectivity.tar.xz")
    paths = {episode.path_id: episode for episode in r2r.read_split(data / "r2r" / f"R2R_{name}.json.gz").episodes}
    shifts = []
    for episode in read_split(data / OFFICIAL / f"{name}.json.gz").episodes:
        original = paths[episode.path_id]
        graph = worlds[episode.world_id].space
        assert isinstance(graph, NavGraph)
        assert original.world_id == episode.world_id
        turned = math.remainder(episode.start.heading - original.start.heading, math.tau)
        assert abs(turned) <= math.radians(15.0) + 1e-9
        nodes = graph.positions[graph.locate(original.reference or (original.start.place,))]  # type: ignore[arg-type]
        points = np.asarray(episode.reference if len(episode.reference) else [episode.start.place])
        assert len(points) == len(nodes)
        shifts.append(np.linalg.norm(points[:, :2] - nodes[:, :2], axis=1))
        # Episodes lie on the floor, nodes at the height of the camera.
        above = nodes[:, 2] - points[:, 2]
        assert 0.5 < above.min() <= above.max() < 2.5
    moved = np.concatenate(shifts)
    assert np.median(moved) < 1e-5
    assert moved.max() < 1.6


@pytest.mark.real
@pytest.mark.parametrize("name", ["val_seen", "val_unseen"])
def test_official_dense_paths_step_a_quarter_metre_and_end_at_the_goal(data: Path, tmp_path: Path, name: str) -> None:
    split = read_split(data / OFFICIAL / f"{name}.json.gz")
    dense = read_dense(data / OFFICIAL / f"{name}_gt.json.gz")
    steps = np.concatenate([np.diff(way.positions, axis=0) for way in dense.values()])
    assert np.median(np.linalg.norm(steps, axis=1)) == pytest.approx(0.25, abs=1e-4)
    # Over the ground a step stays near its quarter metre; on stairs it also climbs.
    assert np.linalg.norm(steps[:, :2], axis=1).max() < 0.29
    assert np.linalg.norm(steps, axis=1).max() < 0.44
    for episode in with_dense_reference(split, dense).episodes:
        way = dense[episode.id]
        assert len(way.positions) - 1 == way.forward_steps == (way.actions == 1).sum()
        np.testing.assert_array_equal(episode.reference[0], episode.start.place)
        assert np.linalg.norm(np.asarray(episode.reference)[-1] - np.asarray(episode.goals)[0]) < 0.5
    write_dense(tmp_path / "gt.json.gz", dense)
    assert content(tmp_path / "gt.json.gz") == content(data / OFFICIAL / f"{name}_gt.json.gz")
