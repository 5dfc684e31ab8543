"""Continuous submissions: VLN-CE's and RxR-CE's."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from itinera.errors import BadArgument, BadFile
from itinera.formats.vlnce_predictions import (
    read_predictions,
    read_rxr_predictions,
    to_episode_ids,
    to_instruction_ids,
    write_predictions,
    write_rxr_predictions,
)
from itinera.records import Ending, Phase, Predictions, Trajectory
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Pose

# A metre north and half a metre up; then a quarter turn to the left, and stop.
STATES: list[dict[str, Any]] = [
    {"position": [0.0, 0.5, -1.0], "heading": 0.0, "stop": False},
    {"position": [0.0, 0.5, -1.0], "heading": math.pi / 2, "stop": True},
]
UNSTOPPED = [state | {"stop": False} for state in STATES]
LINE: dict[str, Any] = {"instruction_id": 3, "path": [[0.0, 0.5, -1.0], [1.0, 0.5, -1.0]]}


def written(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_states_become_a_trajectory_in_our_frame(tmp_path: Path) -> None:
    (walk,) = read_predictions(written(tmp_path / "w.json", {"7": STATES})).trajectories
    assert walk.episode_id == "7"
    assert np.asarray(walk.places).tolist() == [[0.0, 1.0, 0.5], [0.0, 1.0, 0.5]]
    np.testing.assert_allclose(walk.headings, [math.pi / 2, math.pi])  # type: ignore[arg-type]


def test_only_a_last_state_that_says_so_is_a_stop(tmp_path: Path) -> None:
    predictions = read_predictions(written(tmp_path / "w.json", {"7": STATES, "8": UNSTOPPED}))
    assert [walk.ending for walk in predictions.trajectories] == [Ending.STOPPED, Ending.OUT_OF_STEPS]


def test_a_submission_comes_back_as_it_was(tmp_path: Path) -> None:
    content = {"7": STATES, "8": UNSTOPPED}
    write_predictions(tmp_path / "again.json", read_predictions(written(tmp_path / "w.json", content)))
    again = json.loads((tmp_path / "again.json").read_text())
    assert list(again) == ["7", "8"]
    for name, states in content.items():
        for before, after in zip(states, again[name], strict=True):
            assert after["heading"] == pytest.approx(before["heading"])
            assert after | {"heading": 0} == before | {"heading": 0}


def test_headings_not_known_are_zero_and_led_steps_are_left_out(tmp_path: Path) -> None:
    walk = Trajectory("1", np.arange(6.0).reshape(2, 3), phases=(Phase.GUIDED_TO_START, Phase.ACTING))
    write_predictions(tmp_path / "w.json", Predictions.from_trajectories("x", (walk,)))
    assert json.loads((tmp_path / "w.json").read_text()) == {
        "1": [{"position": [3.0, 5.0, -4.0], "heading": 0.0, "stop": True}]
    }


def test_walks_over_nodes_are_not_continuous(tmp_path: Path) -> None:
    predictions = Predictions.from_trajectories("x", (Trajectory("1", ("a", "b")),))
    for write in (write_predictions, write_rxr_predictions):
        with pytest.raises(BadArgument, match='trajectory of episode "1" contains nodes'):
            write(tmp_path / "w.json", predictions)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"7": []}, 'record "7": is empty'),
        ({"7": [*STATES, STATES[0]]}, "stops at step 1 but goes on for 1"),
        ({"7": [{"position": [0.0, 0.0, 0.0], "heading": 0.0}]}, "stop"),
        ({"7": [{"position": [0.0, 0.0, 0.0], "stop": False}]}, "heading"),
        ({"7": [STATES[0] | {"position": [0.0, 0.0]}]}, 'record "7", field [0].position'),
        ({"7": [STATES[0] | {"position": [0.0, 0.0, float("nan")]}]}, "NaN"),
        ('{"7": [], "7": []}', 'record "7": is given twice'),
        ([], "Expected `object`"),
    ],
)
def test_a_bad_submission_is_refused(tmp_path: Path, content: Any, said: str) -> None:
    with pytest.raises(BadFile) as error:
        read_predictions(written(tmp_path / "w.json", content))
    assert said in str(error.value)


def test_rxr_lines_are_walks_that_stopped(tmp_path: Path) -> None:
    (walk,) = read_rxr_predictions(written(tmp_path / "w.jsonl", LINE)).trajectories
    assert (walk.episode_id, walk.ending) == ("3", Ending.STOPPED)
    assert np.asarray(walk.places).tolist() == [[0.0, 1.0, 0.5], [1.0, 1.0, 0.5]]


def test_rxr_lines_are_written_in_order_without_standing_still(tmp_path: Path) -> None:
    still = np.array([[0.0, 1.0, 0.5], [0.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.0, 1.0, 0.5]])
    walks = tuple(Trajectory(name, still) for name in ("10", "9", "x"))
    write_rxr_predictions(tmp_path / "w.jsonl", Predictions.from_trajectories("x", walks))
    path = [[0.0, 0.5, -1.0], [1.0, 0.5, -1.0], [0.0, 0.5, -1.0]]
    assert lines(tmp_path / "w.jsonl") == [{"instruction_id": name, "path": path} for name in (9, 10, "x")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (LINE | {"path": []}, "line 1, field path: is empty"),
        (LINE | {"path": ["a", "b"]}, "line 1, field path[0]"),
        (LINE | {"path": [[1.0, 2.0]]}, "line 1, field path[0]"),
        (json.dumps(LINE) + "\n" + json.dumps(LINE), "line 2, field instruction_id: 3 is also the id of line 1"),
    ],
)
def test_a_bad_rxr_line_is_named(tmp_path: Path, content: Any, said: str) -> None:
    with pytest.raises(BadFile) as error:
        read_rxr_predictions(written(tmp_path / "w.jsonl", content))
    assert said in str(error.value)


def episode(name: str, **notes: Any) -> Episode:
    return Episode(name, "w", Pose(np.zeros(3)), np.zeros((1, 3)), np.zeros((1, 3)), Instruction("Go."), notes=notes)


def test_instruction_ids_become_episode_ids_and_back() -> None:
    split = Split("s", (episode("1", instruction_id=30), episode("30", instruction_id="7")), protocol="rxr-ce")
    predictions = Predictions.from_trajectories(
        "x", tuple(Trajectory(name, np.zeros((1, 3))) for name in ("30", "7", "unknown"))
    )
    renamed = to_episode_ids(predictions, split)
    assert [walk.tour_id for walk in renamed.rollouts] == ["1", "30", "unknown"]
    assert [t.episode_id for t in to_instruction_ids(renamed, split).trajectories] == ["30", "7", "unknown"]


def test_without_instruction_ids_nothing_is_renamed() -> None:
    predictions = Predictions.from_trajectories("x", (Trajectory("1", np.zeros((1, 3))),))
    assert [t.episode_id for t in to_episode_ids(predictions, Split("s", (episode("1"),))).trajectories] == ["1"]


def test_episodes_that_share_an_instruction_cannot_be_told_apart() -> None:
    split = Split("s", (episode("1", instruction_id=30), episode("2", instruction_id=30)))
    with pytest.raises(BadFile, match="several episodes share an instruction"):
        to_episode_ids(Predictions.from_trajectories("x", ()), split)
