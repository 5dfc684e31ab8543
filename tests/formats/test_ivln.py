"""IVLN tours, walks along them and their targets. All files are made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from itinera.errors import BadArgument, BadFile
from itinera.formats.ivln import (
    read_predictions,
    read_references,
    read_tours,
    with_tour_references,
    write_predictions,
    write_references,
    write_tours,
)
from itinera.records import Ending, Phase, Predictions, Rollout, Trajectory
from itinera.tasks import Episode, Instruction, Split, Tour
from itinera.worlds import Pose

DISCRETE = {"val_seen": {"s1": [["10_0", "10_1"], ["7_2"]], "s2": [["3_0"]]}, "val_unseen": {"u1": [["5_1"]]}}
CONTINUOUS = {"val_unseen": {"s1": [[4, 2], [9]], "s2": [[1]]}}


def step(x: float, phase: str, episode_id: Any) -> dict[str, Any]:
    return {"position": [x, 0.5, -1.0], "phase": phase, "episode_id": episode_id}


# The agent walks episode 4, is led to its goal, then, already in episode 2, to that one's start.
AGENT = {
    "0": [
        step(0, "agent", "4"),
        step(1, "agent", "4"),
        step(2, "oracle_goal", "4"),
        step(3, "oracle_start", "2"),
        step(4, "agent", "2"),
    ],
    "1": [step(9, "agent", "9")],
}
TARGETS = {"val_unseen": {"0": [step(0, "agent", "4"), step(1, "agent", "4"), step(4, "agent", "2")]}}


def written(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def content(path: Path) -> Any:
    return json.loads(path.read_text())


def test_tours_are_numbered_over_all_scans_of_their_split(tmp_path: Path) -> None:
    assert read_tours(written(tmp_path / "t.json", DISCRETE), "val_seen") == (
        Tour("0", "s1", ("10_0", "10_1")),
        Tour("1", "s1", ("7_2",)),
        Tour("2", "s2", ("3_0",)),
    )


def test_continuous_tours_name_their_episodes_as_text(tmp_path: Path) -> None:
    tours = read_tours(written(tmp_path / "t.json", CONTINUOUS))
    assert [tour.episode_ids for tour in tours] == [("4", "2"), ("9",), ("1",)]


@pytest.mark.parametrize("split", ["val_unseen", "R2R_val_unseen", "R2R_val_unseen_enc"])
def test_a_split_is_known_by_a_name_that_holds_its_own(tmp_path: Path, split: str) -> None:
    (tour,) = read_tours(written(tmp_path / "t.json", DISCRETE), split)
    assert tour.world_id == "u1"


def test_the_longest_name_that_fits_is_meant(tmp_path: Path) -> None:
    content = {"train": {"a": [["1"]]}, "joint_train_envdrop": {"b": [["1"]]}}
    (tour,) = read_tours(written(tmp_path / "t.json", content), "joint_train_envdrop")
    assert tour.world_id == "b"


def test_a_file_of_one_split_needs_no_name_and_takes_any(tmp_path: Path) -> None:
    path = written(tmp_path / "t.json", CONTINUOUS)
    assert read_tours(path) == read_tours(path, "mine")


def test_tour_files_come_back_as_they_were(tmp_path: Path) -> None:
    for before in (DISCRETE, CONTINUOUS):
        path = written(tmp_path / "t.json", before)
        write_tours(tmp_path / "again.json", {name: read_tours(path, name) for name in before})
        assert content(tmp_path / "again.json") == before


@pytest.mark.parametrize(
    ("content", "split", "said"),
    [
        (DISCRETE, None, "holds the splits val_seen, val_unseen."),
        (DISCRETE, "test", "holds the splits val_seen, val_unseen, but not test."),
        ({}, "test", "holds no split"),
        ({"a": {"s": [["1"], []]}}, None, 'tour "1" of scan s: is empty'),
        ({"a": {"s": [["1"], ["1"]]}}, None, 'episode "1" is visited by tour "0" already'),
        ({"a": {"s": [["1", 1]]}}, None, 'episode "1" is visited by tour "0" already'),
        ({"a": {"s": [[1.5]]}}, None, 'record "a"'),
        ({"a": {"s": ["1"]}}, None, 'record "a"'),
        ('{"a": {"s": [], "s": []}}', None, 'record "s": is given twice'),
        ([], None, "Expected `object`"),
    ],
)
def test_a_bad_tour_file_is_refused(tmp_path: Path, content: Any, split: str | None, said: str) -> None:
    with pytest.raises(BadFile) as error:
        read_tours(written(tmp_path / "t.json", content), split)
    assert said in str(error.value)


def test_walks_hold_a_trajectory_per_episode_with_the_ways_led(tmp_path: Path) -> None:
    first, second = read_predictions(written(tmp_path / "w.json", AGENT)).rollouts
    assert (first.tour_id, second.tour_id) == ("0", "1")
    four, two = first.trajectories
    assert (four.episode_id, two.episode_id) == ("4", "2")
    assert four.phases == (Phase.ACTING, Phase.ACTING, Phase.GUIDED_TO_GOAL)
    assert two.phases == (Phase.GUIDED_TO_START, Phase.ACTING)
    assert np.asarray(four.acting_places).tolist() == [[0.0, 1.0, 0.5], [1.0, 1.0, 0.5]]
    assert np.asarray(two.acting_places).tolist() == [[4.0, 1.0, 0.5]]
    assert second.trajectories[0].phases is None
    assert four.ending is Ending.STOPPED


def test_an_agent_file_comes_back_as_it_was(tmp_path: Path) -> None:
    write_predictions(tmp_path / "again.json", read_predictions(written(tmp_path / "w.json", AGENT)))
    assert content(tmp_path / "again.json") == AGENT


def test_walks_over_nodes_are_not_continuous(tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match='trajectory of episode "1" contains nodes'):
        write_predictions(tmp_path / "w.json", Predictions("x", (Rollout("0", (Trajectory("1", ("a",)),)),)))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"0": []}, 'tour "0": is empty'),
        ({"0": [step(0, "agent", 1), step(0, "agent", 2), step(0, "agent", 1)]}, 'comes back to episode "1" at step 2'),
        ({"0": [step(0, "led", 1)]}, 'record "0", field [0].phase'),
        ({"0": [step(0, "agent", 1) | {"position": [1.0]}]}, 'record "0", field [0].position'),
        ('{"0": [], "0": []}', 'record "0": is given twice'),
    ],
)
def test_a_bad_agent_file_is_refused(tmp_path: Path, content: Any, said: str) -> None:
    with pytest.raises(BadFile) as error:
        read_predictions(written(tmp_path / "w.json", content))
    assert said in str(error.value)


def test_targets_come_by_tour_and_episode_and_go_back(tmp_path: Path) -> None:
    references = read_references(written(tmp_path / "gt.json", TARGETS))
    assert {tour: list(ways) for tour, ways in references.items()} == {"0": ["4", "2"]}
    assert references["0"]["4"].tolist() == [[0.0, 1.0, 0.5], [1.0, 1.0, 0.5]]
    write_references(tmp_path / "again.json", {"val_unseen": references})
    assert content(tmp_path / "again.json") == TARGETS


def test_only_the_agents_phase_is_a_target(tmp_path: Path) -> None:
    references = read_references(written(tmp_path / "gt.json", {"train": {}, "val": AGENT}), "val")
    assert {name: len(way) for name, way in references["0"].items()} == {"4": 2, "2": 1}


def test_bad_targets_are_refused(tmp_path: Path) -> None:
    returning = [step(0, "agent", 1), step(0, "agent", 2), step(0, "agent", 1)]
    with pytest.raises(BadFile, match='comes back to episode "1"'):
        read_references(written(tmp_path / "gt.json", {"val": {"0": returning}}))
    with pytest.raises(BadFile, match="holds the splits a, b"):
        read_references(written(tmp_path / "gt.json", {"a": {}, "b": {}}))


def test_targets_replace_the_references_of_toured_episodes_alone(tmp_path: Path) -> None:
    own = np.zeros((1, 3))
    split = Split("s", tuple(Episode(n, "w", Pose(own[0]), own, own, Instruction("Go.")) for n in ("2", "4", "5")))
    references = read_references(written(tmp_path / "gt.json", TARGETS))
    two, four, five = with_tour_references(split, references).episodes
    assert (len(two.reference), len(four.reference)) == (1, 2)
    assert five.reference is own
    with pytest.raises(BadFile, match='episode "4": is not in t'):
        with_tour_references(Split("t", split.episodes[:1]), references)
