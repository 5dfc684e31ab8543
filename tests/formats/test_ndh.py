"""Navigation from Dialog History: several goals, two paths to choose from, the dialog as brief."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from json_files import records, written

from itinera.errors import BadFile
from itinera.formats import r2r
from itinera.formats.ndh import Reference, read_split, write_split
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Pose

RECORD: dict[str, Any] = {
    "inst_idx": 5,
    "game_idx": 2,
    "scan": "house",
    "target": "fireplace",
    "start_pano": {"pano": "a", "heading": 3.0, "elevation": 17.5},
    "end_panos": ["d", "e"],
    "planner_path": ["a", "b", "c"],
    "player_path": ["a", "c", "d"],
    "dialog_history": [
        {"nav_idx": 0, "role": "navigator", "message": "Left or right?"},
        {"nav_idx": 0, "role": "oracle", "message": "Right."},
    ],
    "nav_history": ["x", "a"],
    "nav_camera": [{"pano": "x", "heading": 3.1, "elevation": 17.5}],
    "oracle_avg_quality": 4.5,
    "R2R_success": 0,
    "R2R_spl": 0.25,
}
SILENT: dict[str, Any] = RECORD | {"inst_idx": 6, "dialog_history": [], "nav_history": [], "nav_camera": []}
TEST_SPLIT = {
    name: value for name, value in RECORD.items() if name not in ("end_panos", "planner_path", "player_path")
} | {"inst_idx": 7}


def assert_same(some: list[dict[str, Any]], others: list[dict[str, Any]]) -> None:
    assert len(some) == len(others)
    for a, b in zip(some, others, strict=True):
        turned = a["start_pano"]["heading"] - b["start_pano"]["heading"]
        assert abs(math.remainder(turned, math.tau)) < 1e-9
        level = {"start_pano": a["start_pano"] | {"heading": 0}}, {"start_pano": b["start_pano"] | {"heading": 0}}
        assert a | level[0] == b | level[1]


def test_any_of_the_end_panoramas_is_a_goal(tmp_path: Path) -> None:
    split = read_split(written(tmp_path / "val_tiny.json", [RECORD]))
    (episode,) = split.episodes
    assert (split.name, split.protocol) == ("val_tiny", "ndh")
    assert (episode.id, episode.world_id, episode.goals) == ("5", "house", ("d", "e"))
    assert episode.start.place == "a"
    # Three radians clockwise from north; the tool's elevation is no angle and is not used.
    assert episode.start.heading == pytest.approx(math.pi / 2 - 3.0)
    assert episode.start.elevation == 0.0


@pytest.mark.parametrize(
    ("reference", "path"),
    # The player passed c, where the planner's path ends, so its path is trusted.
    [("planner", ("a", "b", "c")), ("player", ("a", "c", "d")), ("trusted", ("a", "c", "d"))],
)
def test_the_reference_is_the_path_asked_for(tmp_path: Path, reference: Reference, path: tuple[str, ...]) -> None:
    (episode,) = read_split(written(tmp_path / "x.json", [RECORD]), reference=reference).episodes
    assert episode.reference == path


def test_the_planners_path_is_trusted_where_the_player_missed_its_end(tmp_path: Path) -> None:
    strayed = RECORD | {"player_path": ["a", "x", "y"]}
    (episode,) = read_split(written(tmp_path / "x.json", [strayed]), reference="trusted").episodes
    assert (episode.reference, episode.notes["player_path"]) == (("a", "b", "c"), ["a", "x", "y"])


def test_the_brief_tells_the_target_and_what_was_said(tmp_path: Path) -> None:
    split = read_split(written(tmp_path / "x.json", [RECORD, SILENT]))
    spoken, silent = (episode.instruction.text for episode in split.episodes)
    assert spoken == "Target: fireplace\nNavigator: Left or right?\nOracle: Right."
    assert silent == "Target: fireplace"


def test_a_test_split_withholds_goals_and_paths(tmp_path: Path) -> None:
    (episode,) = read_split(written(tmp_path / "x.json", [TEST_SPLIT])).episodes
    assert episode.goals_withheld
    assert len(episode.reference) == 0


@pytest.mark.parametrize("reference", ["planner", "player"])
def test_splits_come_back_as_they_were_written(tmp_path: Path, reference: Reference) -> None:
    content = [RECORD, SILENT, TEST_SPLIT]
    before = written(tmp_path / "before.json", content)
    write_split(tmp_path / "after.json.gz", read_split(before, reference=reference))
    assert_same(records(tmp_path / "after.json.gz"), content)


def test_plain_instructions_become_the_oracles_words(tmp_path: Path) -> None:
    episode = Episode("3_0", "house", Pose("a"), ("b",), ("a", "b"), Instruction("Go on. "))
    write_split(tmp_path / "x.json", Split("plain", (episode,)))
    (again,) = read_split(tmp_path / "x.json").episodes
    assert (again.id, again.reference, again.goals) == ("3_0", ("a", "b"), ("b",))
    assert again.instruction.text == "Oracle: Go on. "


FAULTS: dict[str, tuple[Any, list[str]]] = {
    "not a list": ({}, ["Expected `array`"]),
    "no start": ([{"inst_idx": 1, "scan": "house"}], ["record 0", "start_pano"]),
    "no goals": ([RECORD | {"end_panos": []}], ["record 0, field end_panos: is empty"]),
    "an empty path": ([RECORD | {"planner_path": []}], ["record 0, field planner_path: is empty"]),
    "no such path": (
        [{name: value for name, value in RECORD.items() if name != "planner_path"}],
        ["field planner_path: is missing", "planner or player"],
    ),
    "a start elsewhere": ([RECORD | {"planner_path": ["b", "a"]}], ["starts at b, but start_pano is a"]),
    "the same id": ([RECORD, SILENT, RECORD], ["record 2, field inst_idx: 5 is also the id of record 0"]),
    "a message that is text": ([RECORD | {"dialog_history": ["go"]}], ["record 0", "dialog_history[0]"]),
    "several at once": (
        [RECORD | {"end_panos": []}, SILENT | {"planner_path": []}],
        ["record 0, field end_panos", "record 1, field planner_path"],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_bad_file_says_what_is_wrong(tmp_path: Path, name: str) -> None:
    content, fragments = FAULTS[name]
    with pytest.raises(BadFile) as caught:
        read_split(written(tmp_path / "bad.json", content))
    for fragment in fragments:
        assert fragment in str(caught.value)


@pytest.mark.real
@pytest.mark.parametrize("reference", ["planner", "player"])
@pytest.mark.parametrize(("name", "count"), [("val_seen", 382), ("val_unseen", 907)])
def test_official_splits_have_their_counts_and_come_back(
    tmp_path: Path, data: Path, name: str, count: int, reference: Reference
) -> None:
    source = data / "ndh" / f"{name}.json.gz"
    split = read_split(source, reference=reference)
    assert len(split.by_id) == count
    write_split(tmp_path / "after.json", split)
    assert_same(records(tmp_path / "after.json"), records(source))


@pytest.mark.real
@pytest.mark.parametrize(
    ("split", "files", "arrived"),
    [
        ("val_unseen", "baseline_sample*", 48),
        ("val_seen", "*path-40*_val_seen_*", 13),
        ("val_unseen", "*path-40*_val_unseen_*", 55),
        ("val_unseen", "*path-80*_val_unseen_*", 57),
    ],
)
def test_real_submissions_begin_as_the_tasks_say(data: Path, split: str, files: str, arrived: int) -> None:
    known = read_split(data / "ndh" / f"{split}.json.gz").by_id
    (file,) = (data / "predictions" / "ndh").glob(files)
    walks = list(r2r.read_predictions(file).trajectories)
    assert {walk.episode_id for walk in walks} == set(known)
    for walk in walks:
        start = known[walk.episode_id].start
        assert walk.places[0] == start.place
        assert walk.headings is not None
        # Agents begin at the nearest of twelve headings, so the start's heading is read as they read it.
        assert abs(math.remainder(walk.headings[0] - start.heading, math.tau)) < math.radians(15.01)
    assert sum(walk.places[-1] in known[walk.episode_id].goals for walk in walks) == arrived
