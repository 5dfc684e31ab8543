"""R2R-like annotations and submissions: round trips, faults, and the official files."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from json_files import assert_same_records, records, written

from itinera.errors import BadFile
from itinera.formats.matterport import read_worlds
from itinera.formats.r2r import parse_id, read_predictions, read_split, write_predictions, write_split
from itinera.records import Ending, Predictions, Trajectory
from itinera.worlds import NavGraph

PATH: dict[str, Any] = {
    "scan": "house",
    "path_id": 7,
    "path": ["a", "b", "c"],
    "heading": 0.5,
    "distance": 4.25,
    "instructions": ["Go on. ", "Walk to c. "],
}
JOINED: dict[str, Any] = PATH | {
    "first_path_id": 3,
    "second_path_id": 4,
    "shortest_path": ["a", "c"],
    "shortest_path_distance": 3.0,
}
START: dict[str, Any] = {"scan": "house", "path_id": 9, "path": ["a"], "heading": 6.1, "instructions": ["Leave. "]}
WALK: dict[str, Any] = {"instr_id": "7_0", "trajectory": [["a", 0.0, 0.25], ["b", math.pi / 2, 0.0]]}


def test_each_instruction_is_an_episode_along_the_shared_path(tmp_path: Path) -> None:
    split = read_split(written(tmp_path / "R2R_tiny.json", [PATH]))
    assert (split.name, split.protocol) == ("R2R_tiny", "r2r")
    first, second = split.episodes
    assert (first.id, second.id, first.path_id) == ("7_0", "7_1", "7")
    assert (first.world_id, first.goals, first.reference) == ("house", ("c",), ("a", "b", "c"))
    assert (first.instruction.text, first.stated_distance) == ("Go on. ", 4.25)
    assert second.reference is first.reference


def test_start_headings_are_turned_to_ours(tmp_path: Path) -> None:
    # R2R's quarter turn clockwise from north is east, our 0.
    split = read_split(written(tmp_path / "x.json", [PATH | {"heading": math.pi / 2}]))
    assert split.episodes[0].start.heading == pytest.approx(0.0)
    assert split.episodes[0].start.place == "a"


def test_a_start_alone_withholds_its_goal_unless_a_distance_is_told(tmp_path: Path) -> None:
    withheld, told = (
        read_split(written(tmp_path / "x.json", [record])).episodes[0] for record in (START, START | {"distance": 0.0})
    )
    assert withheld.goals_withheld
    assert len(withheld.reference) == 0
    assert told.goals == ("a",)
    assert told.reference == ("a",)


def test_joined_paths_are_judged_as_r4r(tmp_path: Path) -> None:
    split = read_split(written(tmp_path / "x.json", [JOINED]))
    assert split.protocol == "r4r"
    assert split.episodes[0].notes["second_path_id"] == 4


@pytest.mark.parametrize("content", [[PATH], [JOINED], [START], [PATH, START | {"path_id": "p_10"}], []])
def test_splits_come_back_as_they_were_written(tmp_path: Path, content: list[dict[str, Any]]) -> None:
    before = written(tmp_path / "before.json", content)
    write_split(tmp_path / "after.json.gz", read_split(before))
    assert_same_records(records(tmp_path / "after.json.gz"), content)


SPLIT_FAULTS: dict[str, tuple[Any, list[str]]] = {
    "not JSON": ("[{", ["bad.json"]),
    "not a list": ({"scan": "x"}, ["Expected `array`"]),
    "wrong type": ([PATH | {"path": [1]}], ["record 0", "path[0]", "Expected `str`, got `int`"]),
    "missing field": ([{"scan": "x"}], ["record 0", "missing required field"]),
    "empty path": ([PATH | {"path": []}], ["record 0, field path: is empty"]),
    "no instructions": ([PATH | {"instructions": []}], ["record 0, field instructions: is empty"]),
    "the same id": ([PATH, START, PATH], ["record 2, field path_id: 7 is also the id of record 0"]),
    "an endless heading": ("[" + json.dumps(PATH).replace("0.5", "1e999") + "]", ["record 0"]),
    "several at once": (
        [PATH | {"path": []}, START | {"instructions": []}],
        ["record 0, field path", "record 1, field instructions"],
    ),
    "deep nesting": ("[" * 100_000, ["bad.json", "nested too deeply"]),
}


@pytest.mark.parametrize("name", SPLIT_FAULTS)
def test_a_bad_split_says_what_is_wrong(tmp_path: Path, name: str) -> None:
    content, fragments = SPLIT_FAULTS[name]
    with pytest.raises(BadFile) as caught:
        read_split(written(tmp_path / "bad.json", content))
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_walks_are_read_with_our_headings(tmp_path: Path) -> None:
    predictions = read_predictions(written(tmp_path / "walks.json", [WALK]))
    (walk,) = predictions.trajectories
    assert (walk.episode_id, walk.places, walk.ending) == ("7_0", ("a", "b"), Ending.STOPPED)
    np.testing.assert_allclose(walk.headings, [math.pi / 2, 0.0], atol=1e-12)
    np.testing.assert_array_equal(walk.elevations, [0.25, 0.0])


@pytest.mark.parametrize(
    "trajectory",
    [
        [["a", 0.0, 0.0], ["b", 0.0, 0.0], ["c", 0.0, 0.0]],
        [["a"], ["b"], ["c"]],
        [["a"], ["b", "c"]],
        [["a", "b"], ["c"]],
    ],
)
def test_steps_may_be_poses_nodes_or_moves_over_several_nodes(tmp_path: Path, trajectory: list[Any]) -> None:
    predictions = read_predictions(written(tmp_path / "walks.json", [{"instr_id": "7_0", "trajectory": trajectory}]))
    assert [walk.places for walk in predictions.trajectories] == [("a", "b", "c")]


def test_dialog_and_object_submissions_are_read_too(tmp_path: Path) -> None:
    duet = {"instr_id": "7_1", "trajectory": [["a"], ["b", "c"]], "pred_objid": "13"}
    content = [{"inst_idx": 5, "trajectory": [["a", 0, 0]]}, WALK | {"predObjId": 12}]
    dialog, thing = read_predictions(written(tmp_path / "walks.json", content)).trajectories
    assert (dialog.episode_id, dialog.object_id) == ("5", None)
    assert (thing.object_id, thing.notes) == ("12", {})
    (other,) = read_predictions(written(tmp_path / "duet.json", [duet])).trajectories
    assert (other.places, other.object_id) == (("a", "b", "c"), "13")


def test_fields_that_the_format_lacks_are_named_and_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "itinera")
    content = [WALK | {"details": {"stop": [0.5]}}, {"instr_id": "7_1", "trajectory": [["a"]], "pred_obj": 3}]
    predictions = read_predictions(written(tmp_path / "walks.json", content))
    assert caplog.messages == [
        f"{tmp_path / 'walks.json'}: fields that this format does not have are kept but not scored: details, pred_obj."
    ]
    assert [t.notes for t in predictions] == [{"details": {"stop": [0.5]}}, {"pred_obj": 3}]
    write_predictions(tmp_path / "after.json", predictions)
    assert [r.get("pred_obj") for r in records(tmp_path / "after.json")] == [None, 3]


def test_a_submission_without_other_fields_says_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "itinera")
    read_predictions(written(tmp_path / "walks.json", [WALK | {"predObjId": 12}]))
    assert caplog.messages == []


def test_walks_come_back_as_they_were_written(tmp_path: Path) -> None:
    content = [WALK | {"predObjId": 12}, {"instr_id": "7_1", "trajectory": [["a", 1.0, -0.5]]}]
    write_predictions(tmp_path / "after.json", read_predictions(written(tmp_path / "before.json", content)))
    after = records(tmp_path / "after.json")
    assert [record["instr_id"] for record in after] == ["7_0", "7_1"]
    assert after[0]["predObjId"] == 12
    for one, other in zip(after, content, strict=True):
        for a, b in zip(one["trajectory"], other["trajectory"], strict=True):
            assert a[0] == b[0]
            assert a[1:] == pytest.approx(b[1:])


def test_walks_without_headings_are_written_with_zeros(tmp_path: Path) -> None:
    write_predictions(tmp_path / "walks.json", Predictions.from_trajectories("made", (Trajectory("7_0", ("a", "b")),)))
    assert records(tmp_path / "walks.json") == [{"instr_id": "7_0", "trajectory": [["a", 0.0, 0.0], ["b", 0.0, 0.0]]}]


WALK_FAULTS: dict[str, tuple[Any, list[str]]] = {
    "not a list": ({"7_0": []}, ["Expected `array`"]),
    "no id": ([{"trajectory": [["a"]]}], ["record 0", "neither instr_id nor inst_idx"]),
    "no steps": ([WALK | {"trajectory": []}], ['record 0 ("7_0")', "must include its start"]),
    "an empty step": ([WALK | {"trajectory": [[]]}], ["record 0", "must include its start"]),
    "a heading in words": ([WALK | {"trajectory": [["a", "north", 0]]}], ["trajectory[0]"]),
    "an endless heading": ('[{"instr_id": "7_0", "trajectory": [["a", 1e999, 0]]}]', ["walks.json"]),
    "NaN": ('[{"instr_id": "7_0", "trajectory": [["a", NaN, 0]]}]', ["walks.json"]),
}


@pytest.mark.parametrize("name", WALK_FAULTS)
def test_a_bad_submission_says_what_is_wrong(tmp_path: Path, name: str) -> None:
    content, fragments = WALK_FAULTS[name]
    with pytest.raises(BadFile) as caught:
        read_predictions(written(tmp_path / "walks.json", content))
    for fragment in fragments:
        assert fragment in str(caught.value)


OFFICIAL = {  # split: paths, instructions, scans
    "train": (4675, 14039, 61),
    "val_seen": (340, 1021, 56),
    "val_unseen": (783, 2349, 11),
    "test": (1391, 4173, 18),
}


@pytest.mark.real
@pytest.mark.parametrize("name", OFFICIAL)
def test_official_splits_have_their_counts_and_come_back(tmp_path: Path, data: Path, name: str) -> None:
    source = data / "r2r" / f"R2R_{name}.json.gz"
    split = read_split(source)
    paths, instructions, scans = OFFICIAL[name]
    assert len({episode.path_id for episode in split.episodes}) == paths
    assert len(split.episodes) == len(split.by_id) == instructions
    assert len(split.world_ids) == scans
    assert sum(episode.goals_withheld for episode in split.episodes) == (instructions if name == "test" else 0)
    write_split(tmp_path / "after.json", split)
    assert_same_records(records(tmp_path / "after.json"), records(source))


@pytest.mark.real
def test_the_official_r4r_comes_back(tmp_path: Path, data: Path) -> None:
    source = data / "r4r" / "R4R_val_seen.json.gz"
    split = read_split(source)
    assert (len(split.episodes), split.protocol) == (1035, "r4r")
    write_split(tmp_path / "after.json", split)
    assert_same_records(records(tmp_path / "after.json"), records(source))


@pytest.mark.real
def test_eight_official_paths_are_not_shortest(data: Path) -> None:
    worlds = read_worlds(data / "connectivity.tar.xz")
    split = read_split(data / "r2r" / "R2R_val_unseen.json.gz")
    longer = set()
    for episode in split.episodes:
        graph = worlds[episode.world_id].space
        assert isinstance(graph, NavGraph)
        nodes = graph.locate(episode.reference)
        assert graph.adjacency[nodes[:-1], nodes[1:]].all()
        if graph.along(episode.reference).sum() > graph.distances[nodes[0], nodes[-1]] + 1e-6:
            longer.add(int(episode.path_id))
    assert longer == {601, 1404, 2847, 3090, 3108, 5476, 6939, 7053}


@pytest.mark.real
@pytest.mark.parametrize(
    ("split", "files"),
    [
        ("val_seen", "prevalent_*_val_seen_*"),
        ("val_unseen", "prevalent_*_val_unseen_*"),
        ("val_unseen", "val_unseen_shortest_agent*"),
        ("test", "prevalent_*_test_*"),
    ],
)
def test_real_submissions_answer_every_instruction_from_its_start(data: Path, split: str, files: str) -> None:
    known = read_split(data / "r2r" / f"R2R_{split}.json.gz").by_id
    found = list((data / "predictions" / "r2r").glob(files))
    assert found
    for file in found:
        walks = list(read_predictions(file).trajectories)
        assert len(walks) == len(known)
        assert {walk.episode_id for walk in walks} == set(known)
        for walk in walks:
            start = known[walk.episode_id].start
            assert walk.places[0] == start.place
            assert walk.headings is not None
            # Agents begin at the nearest of twelve headings.
            assert abs(math.remainder(walk.headings[0] - start.heading, math.tau)) < math.radians(15.01)


def test_ids_of_thousands_of_digits_stay_text():
    assert parse_id("9" * 5000) == "9" * 5000
    assert (parse_id("12"), parse_id("012"), parse_id("x")) == (12, "012", "x")
