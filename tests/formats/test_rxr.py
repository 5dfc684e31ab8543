"""RxR guide and follower files, submissions, and words tied to places. All files are made here."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from itinera.errors import BadArgument, BadFile
from itinera.formats.pose_traces import PoseTrace, write_trace
from itinera.formats.rxr import (
    first_followers,
    read_followers,
    read_predictions,
    read_split,
    with_alignment,
    write_followers,
    write_predictions,
    write_split,
)
from itinera.records import Phase, Predictions, Trajectory
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Pose

GUIDE: dict[str, Any] = {
    "path_id": 11,
    "split": "val_seen",
    "scan": "house",
    "heading": math.pi / 2,
    "path": ["a", "b", "c"],
    "instruction_id": 26,
    "annotator_id": 19,
    "language": "en-IN",
    "instruction": "Okay, walk on.",
    "timed_instruction": [
        {"word": "Okay,", "start_time": 0.4, "end_time": 1.0},
        {"word": "walk", "start_time": 1.0, "end_time": 2.5},
        {"word": "on."},
    ],
    "edit_distance": 0.125,
}
HINDI = GUIDE | {"instruction_id": 27, "language": "hi-IN", "instruction": "आगे बढ़ो।", "timed_instruction": []}
TEST: dict[str, Any] = {
    "scan": "house",
    "heading": 0.0,
    "path": ["a"],
    "instruction_id": 5,
    "language": "te-IN",
    "instruction": "…",
}
FOLLOWER: dict[str, Any] = {
    "demonstration_id": 31,
    "instruction_id": 26,
    "annotator_id": 43,
    "path": ["a", "d", "b"],
    "metrics": {"ne": 0, "sr": 1.0, "spl": 0.9, "dtw": 1.5, "ndtw": 0.9, "sdtw": 0.9},
}
WALK: dict[str, Any] = {"instruction_id": 26, "path": ["a", "b"]}


def lines(path: Path, *records: Any) -> Path:
    text = "".join((r if isinstance(r, str) else json.dumps(r, ensure_ascii=False)) + "\n" for r in records)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def records(path: Path) -> list[dict[str, Any]]:
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    return [json.loads(line) for line in text.splitlines()]


def test_a_guide_line_is_an_episode_named_by_its_instruction(tmp_path: Path) -> None:
    split = read_split(lines(tmp_path / "rxr_val_seen_guide.jsonl.gz", GUIDE, HINDI))
    assert (split.name, split.protocol) == ("rxr_val_seen_guide", "rxr")
    first, second = split.episodes
    assert (first.id, first.path_id, first.world_id) == ("26", "11", "house")
    assert (first.reference, first.goals) == (("a", "b", "c"), ("c",))
    assert first.start.place == "a"
    assert first.start.heading == pytest.approx(0.0)  # R2R's pi/2 is east, our 0
    assert first.instruction == Instruction("Okay, walk on.", "en-IN")
    assert second.instruction == Instruction("आगे बढ़ो।", "hi-IN")
    assert second.reference is first.reference
    assert second.alignment is None


def test_words_come_with_their_times_and_no_places_yet(tmp_path: Path) -> None:
    (episode,) = read_split(lines(tmp_path / "g.jsonl", GUIDE)).episodes
    words = episode.alignment
    assert words is not None
    assert words.words == ("Okay,", "walk", "on.")
    np.testing.assert_array_equal(words.begins, [0.4, 1.0, np.nan])  # type: ignore[arg-type]
    np.testing.assert_array_equal(words.ends, [1.0, 2.5, np.nan])  # type: ignore[arg-type]
    assert words.first.tolist() == words.last.tolist() == [-1, -1, -1]


@pytest.mark.parametrize("gap", ["NaN", "null"])
def test_times_given_as_nothing_are_missing(tmp_path: Path, gap: str) -> None:
    text = json.dumps(GUIDE).replace("2.5", gap)
    (episode,) = read_split(lines(tmp_path / "g.jsonl", text)).episodes
    assert episode.alignment is not None
    np.testing.assert_array_equal(episode.alignment.ends, [1.0, np.nan, np.nan])  # type: ignore[arg-type]


@pytest.mark.parametrize("extra", [{}, {"path_id": 3, "split": "test_standard"}])
def test_a_test_file_tells_the_start_alone(tmp_path: Path, extra: dict[str, Any]) -> None:
    (episode,) = read_split(lines(tmp_path / "t.jsonl", TEST | extra)).episodes
    assert episode.goals_withheld
    assert len(episode.reference) == 0
    assert episode.start.place == "a"


def test_a_path_of_one_node_that_is_no_test_is_a_path(tmp_path: Path) -> None:
    (episode,) = read_split(lines(tmp_path / "g.jsonl", GUIDE | {"path": ["a"]})).episodes
    assert (episode.goals, episode.reference) == (("a",), ("a",))


def test_a_guide_file_comes_back_as_it_was(tmp_path: Path) -> None:
    named = GUIDE | {"instruction_id": "x7", "path_id": "p"}
    before = lines(tmp_path / "g.jsonl", GUIDE, HINDI | {"timed_instruction": None}, TEST, named)
    write_split(tmp_path / "again.jsonl.gz", read_split(before))
    after = records(tmp_path / "again.jsonl.gz")
    for a, b in zip(records(before), after, strict=True):
        assert b.pop("heading") == pytest.approx(a.pop("heading"))
        assert {key: value for key, value in a.items() if value is not None} == b


def test_a_split_of_positions_cannot_be_a_guide_file(tmp_path: Path) -> None:
    here = np.zeros(3)
    split = Split("s", (Episode("1", "w", Pose(here), np.zeros((1, 3)), np.zeros((2, 3)), Instruction("Go.")),))
    with pytest.raises(BadArgument, match='Episode "1"'):
        write_split(tmp_path / "g.jsonl", split)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (GUIDE | {"path": []}, "line 1, field path: is empty"),
        (GUIDE | {"path": [7]}, "field path[0]"),
        (GUIDE | {"path": None}, "field path"),
        (GUIDE | {"heading": "north"}, "field heading"),
        ({k: v for k, v in GUIDE.items() if k != "instruction"}, "instruction"),
        (GUIDE | {"timed_instruction": [{"start_time": 1.0}]}, "word"),
        (json.dumps(GUIDE) + "\n" + json.dumps(GUIDE), "line 2, field instruction_id: 26 is also the id of line 1"),
        (json.dumps(GUIDE).replace("2.5", "Infinity"), "line 1"),
        (json.dumps(GUIDE)[:-9], "line 1"),
        ("[]", "line 1"),
    ],
)
def test_a_bad_guide_line_is_named(tmp_path: Path, record: Any, said: str) -> None:
    with pytest.raises(BadFile) as error:
        read_split(lines(tmp_path / "g.jsonl", record))
    assert said in str(error.value)


def test_all_bad_lines_are_named_together(tmp_path: Path) -> None:
    with pytest.raises(BadFile) as error:
        read_split(lines(tmp_path / "g.jsonl", "{", GUIDE, GUIDE | {"path": [], "instruction_id": 1}, GUIDE))
    assert [fault.where for fault in error.value.faults] == ["line 1", "line 3", "line 4"]


def guide_trace(folder: Path, name: str = "000026") -> None:
    trace = PoseTrace(np.array(["a", "a", "b", "c"]), np.array([0.0, 1.0, 2.0, 3.0]))
    write_trace(folder / "rxr_val_seen" / f"{name}_guide_pose_trace.npz", trace)


def test_traces_tie_words_to_the_path(tmp_path: Path) -> None:
    split = read_split(lines(tmp_path / "g.jsonl", GUIDE, HINDI, TEST))
    guide_trace(tmp_path / "traces")
    aligned = with_alignment(split, tmp_path / "traces")
    words = aligned.episodes[0].alignment
    assert words is not None
    assert words.first.tolist() == [0, 0, -1]
    assert words.last.tolist() == [0, 1, -1]
    assert words.words == ("Okay,", "walk", "on.")
    assert aligned.episodes[1:] == split.episodes[1:]


def test_an_episode_without_its_trace_stays_as_it_is(tmp_path: Path) -> None:
    split = read_split(lines(tmp_path / "g.jsonl", GUIDE, GUIDE | {"instruction_id": 28}))
    guide_trace(tmp_path / "traces")
    assert with_alignment(split, tmp_path / "traces").episodes[1] is split.episodes[1]


def test_a_folder_with_no_trace_of_the_split_is_refused(tmp_path: Path) -> None:
    split = read_split(lines(tmp_path / "g.jsonl", GUIDE))
    guide_trace(tmp_path / "traces", "000027")
    with pytest.raises(BadFile, match=r"no pose trace of any episode of g\.(?s:.)*000026_guide_pose_trace\.npz"):
        with_alignment(split, tmp_path / "traces")


def test_every_bad_trace_is_named(tmp_path: Path) -> None:
    split = read_split(lines(tmp_path / "g.jsonl", GUIDE | {"path": ["x", "y"]}, GUIDE | {"instruction_id": 28}))
    guide_trace(tmp_path / "traces")
    (tmp_path / "traces" / "000028_guide_pose_trace.npz").write_bytes(b"PK")
    with pytest.raises(BadFile) as error:
        with_alignment(split, tmp_path / "traces")
    assert [fault.where for fault in error.value.faults] == [
        "000026_guide_pose_trace.npz",
        "000028_guide_pose_trace.npz",
    ]
    assert 'never stands on the path of episode "26"' in str(error.value)


def test_followers_are_walks_named_by_their_demonstration(tmp_path: Path) -> None:
    predictions = read_followers(lines(tmp_path / "f.jsonl.gz", FOLLOWER))
    (walk,) = predictions.rollouts
    (trajectory,) = walk.trajectories
    assert (walk.tour_id, trajectory.episode_id, trajectory.places) == ("31", "26", ("a", "d", "b"))
    assert trajectory.notes["metrics"]["spl"] == 0.9


def test_a_second_follower_is_kept_until_one_is_asked_for(tmp_path: Path) -> None:
    second = FOLLOWER | {"demonstration_id": 32, "path": ["a"]}
    third = FOLLOWER | {"demonstration_id": 33, "instruction_id": 1}
    predictions = read_followers(lines(tmp_path / "f.jsonl", FOLLOWER, second, third))
    assert [walk.tour_id for walk in predictions.rollouts] == ["31", "32", "33"]
    assert [walk.tour_id for walk in first_followers(predictions).rollouts] == ["31", "33"]


def test_a_follower_file_comes_back_as_it_was(tmp_path: Path) -> None:
    bare = {key: FOLLOWER[key] for key in ("demonstration_id", "instruction_id", "path")} | {"demonstration_id": 40}
    before = lines(tmp_path / "f.jsonl", FOLLOWER, bare)
    write_followers(tmp_path / "again.jsonl", read_followers(before))
    assert records(tmp_path / "again.jsonl") == records(before)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (FOLLOWER | {"path": []}, "line 1, field path: is empty"),
        (FOLLOWER | {"demonstration_id": 1.5}, "field demonstration_id"),
        (FOLLOWER | {"metrics": {"ne": "far"}}, "field metrics"),
        (json.dumps(FOLLOWER) + "\n" + json.dumps(FOLLOWER), "31 is also the id of line 1"),
    ],
)
def test_a_bad_follower_line_is_named(tmp_path: Path, record: Any, said: str) -> None:
    with pytest.raises(BadFile) as error:
        read_followers(lines(tmp_path / "f.jsonl", record))
    assert said in str(error.value)


def test_a_submission_comes_back_as_it_was(tmp_path: Path) -> None:
    before = lines(tmp_path / "w.jsonl", WALK, WALK | {"instruction_id": "z"})
    predictions = read_predictions(before)
    assert [t.episode_id for t in predictions.trajectories] == ["26", "z"]
    write_predictions(tmp_path / "again.jsonl.gz", predictions)
    assert records(tmp_path / "again.jsonl.gz") == records(before)


def test_a_submission_holds_only_what_the_agent_walked_itself(tmp_path: Path) -> None:
    led = Trajectory("1", ("a", "b"), phases=(Phase.GUIDED_TO_START, Phase.ACTING))
    write_predictions(tmp_path / "w.jsonl", Predictions.from_trajectories("x", (led,)))
    assert records(tmp_path / "w.jsonl") == [{"instruction_id": 1, "path": ["b"]}]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (WALK | {"path": []}, "line 1, field path: is empty"),
        (WALK | {"path": [[1.0, 2.0, 3.0]]}, "field path[0]"),
        ({"path": ["a"]}, "instruction_id"),
        (json.dumps(WALK) + "\n" + json.dumps(WALK), "26 is also the id of line 1"),
    ],
)
def test_a_bad_submission_line_is_named(tmp_path: Path, record: Any, said: str) -> None:
    with pytest.raises(BadFile) as error:
        read_predictions(lines(tmp_path / "w.jsonl", record))
    assert said in str(error.value)
