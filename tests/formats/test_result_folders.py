"""Trajectories in the result files of VL-LN, MapGPT, NavBench and OmniNavBench."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from examples import CASE, EXAMPLES, SCENARIO

from itinera.errors import BadArgument, BadFile
from itinera.formats import case_files, catalog, omninavbench, vlln
from itinera.records import Ending, Predictions, Trajectory
from tiny import written

LINE = json.loads(EXAMPLES["vlln"])
MOVES = np.array([[0.0, 1.0, 0.5], [0.25, 1.0, 0.5], [0.5, 1.25, 0.5]])
WALK = Trajectory(
    "7", MOVES, headings=np.array([0.0, 0.5, -1.0]), actions=np.array([1, 2]), times=np.array([0.0, 0.5, 1.5])
)


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


# VL-LN


def test_a_path_of_vlln_is_turned_and_ends_with_its_last_action(tmp_path, caplog):
    caplog.set_level("INFO", "itinera")
    lost = LINE | {"episode_id": 5, "action": [1, 1]}
    found = catalog.read_predictions(written(tmp_path / "progress.json", lines(LINE, lost)))
    one, other = found
    np.testing.assert_array_equal(one.places, [[0, 1, 0.5], [0, 1.25, 0.5]])
    assert (one.episode_id, one.ending, one.actions.tolist()) == ("4", Ending.STOPPED, [1])
    assert other.ending is Ending.OUT_OF_STEPS
    assert "1 episodes did not stop; this format lacks the place after their last action" in caplog.text
    assert one.notes["spl"] == 0.5


def test_vlln_is_written_as_it_was_read(tmp_path):
    vlln.write_predictions(tmp_path / "a", vlln.read_predictions(written(tmp_path / "b", lines(LINE))))
    assert json.loads((tmp_path / "a").read_text()) == LINE


def test_other_trajectories_become_vlln(tmp_path):
    vlln.write_predictions(tmp_path / "a", Predictions.from_trajectories("", [WALK, Trajectory("8", MOVES)]))
    one, other = vlln.read_predictions(tmp_path / "a")
    np.testing.assert_allclose(one.places, MOVES)
    assert one.actions.tolist() == [1, 2]
    assert other.actions is None
    assert other.ending is Ending.STOPPED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"path": [], "action": []}, "line 1, field path: is empty"),
        ({"action": [0]}, "line 1, field action: has 1 actions for 2 positions"),
        ({"action": [0, 1]}, "line 1, field action: stops at position 0 but goes on"),
        ({"action": [10**12, 0]}, "has an action that is no small number"),
        ({"path": [[0, 0, 0], [0, 0]]}, "Expected `array` of length 3"),
    ],
)
def test_faults_of_vlln_are_named(tmp_path, change, message):
    with pytest.raises(BadFile, match=message):
        vlln.read_predictions(written(tmp_path / "a", lines(LINE | change)))


def test_an_episode_of_vlln_is_answered_once(tmp_path):
    with pytest.raises(BadFile, match="line 2"):
        vlln.read_predictions(written(tmp_path / "a", lines(LINE, LINE)))


# MapGPT and NavBench


def folder(tmp_path: Path, **files) -> Path:
    (tmp_path / "preds").mkdir()
    for name, content in files.items():
        written(tmp_path / "preds" / f"{name}.json", content)
    return tmp_path / "preds"


def test_a_folder_of_case_files_is_one_set_of_predictions(tmp_path, caplog):
    caplog.set_level("INFO", "itinera")
    other = CASE | {"instr_id": "12_0", "trajectory": [["x"]]}
    place = folder(tmp_path, case_InstrID_4332_1=CASE, case_InstrID_12_0=other, case_aux_InstrID_9_0=CASE, args={})
    assert catalog.detect(place).name == "case-files"
    found = catalog.read_predictions(place)
    assert {one.episode_id: one.places for one in found} == {"4332_1": ("a", "b", "c"), "12_0": ("x",)}
    assert "1 case files of a second agent (case_aux_…) are not read" in caplog.text


def test_case_files_are_written_for_each_trajectory(tmp_path):
    walks = [Trajectory("1_0", ("a", "b")), Trajectory("1_1", ("a",), object_id="7")]
    case_files.write_predictions(tmp_path / "out", Predictions.from_trajectories("", walks))
    found = case_files.read_predictions(tmp_path / "out")
    assert [(one.episode_id, one.places, one.object_id) for one in found] == [
        ("1_0", ("a", "b"), None),
        ("1_1", ("a",), "7"),
    ]
    with pytest.raises(BadArgument, match="contains positions"):
        case_files.write_predictions(tmp_path / "no", Predictions.from_trajectories("", [WALK]))


def test_faults_of_all_case_files_are_reported_together(tmp_path):
    place = folder(
        tmp_path,
        case_InstrID_1=CASE | {"trajectory": []},
        case_InstrID_2={"trajectory": [["a"]]},
        case_InstrID_3="[1, 2",
        case_InstrID_4="{}, {}",
    )
    with pytest.raises(BadFile) as caught:
        case_files.read_predictions(place)
    said = str(caught.value)
    assert "case_InstrID_1.json, field trajectory: is empty" in said
    assert "case_InstrID_2.json: has neither instr_id nor inst_idx" in said
    assert "case_InstrID_3.json" in said
    assert "case_InstrID_4.json" in said


def test_a_folder_without_case_files_says_what_is_expected(tmp_path):
    with pytest.raises(BadFile, match=r"contains no case files.*\n.*--save_pred"):
        case_files.read_predictions(folder(tmp_path, args={}))


# OmniNavBench


def test_a_scenario_has_positions_headings_times_and_an_ending(tmp_path):
    half = math.radians(30) / 2
    steps = [step | {"orientation": [math.cos(half), 0, 0, math.sin(half)]} for step in SCENARIO["trajectory"]]
    file = written(tmp_path / "a.json", SCENARIO | {"trajectory": steps})
    assert catalog.detect(file).name == "omninavbench"
    (one,) = catalog.read_predictions(file)
    assert (one.episode_id, one.ending) == ("matterport_11", Ending.STOPPED)
    np.testing.assert_array_equal(one.places, [[0, 1, 0.5], [0.25, 1, 0.5]])
    np.testing.assert_allclose(np.degrees(one.headings), [30, 30])
    assert one.times.tolist() == [0, 0.5]
    assert one.notes["source_envset"] == "test/human/a.json"


@pytest.mark.parametrize(
    ("reason", "ending"), [("timeout", Ending.OUT_OF_STEPS), ("stuck", Ending.STUCK), ("fall", Ending.FELL)]
)
def test_an_episode_that_did_not_stop_says_how_it_ended(tmp_path, reason, ending):
    file = written(tmp_path / "a.json", SCENARIO | {"stop_step": -1, "termination_reason": reason})
    (one,) = omninavbench.read_predictions(file)
    assert one.ending is ending


def test_a_folder_of_scenarios_is_read_without_its_summary(tmp_path):
    place = folder(tmp_path, a=SCENARIO, b=SCENARIO | {"scenario_id": "other"}, summary={}, scoring={})
    assert catalog.detect(place).name == "omninavbench-results"
    assert [one.episode_id for one in catalog.read_predictions(place)] == ["matterport_11", "other"]


def test_files_of_the_same_name_are_not_lost(tmp_path):
    place = folder(tmp_path, a=SCENARIO)
    (place / "dog").mkdir()
    written(place / "dog" / "a.json", SCENARIO)
    with pytest.raises(BadFile, match="has files of the same name"):
        omninavbench.read_folder(place)


def test_scenarios_are_written_and_read_again(tmp_path):
    walks = [WALK, Trajectory("8", MOVES, ending=Ending.STUCK)]
    omninavbench.write_folder(tmp_path / "out", Predictions.from_trajectories("", walks))
    one, other = omninavbench.read_folder(tmp_path / "out")
    np.testing.assert_array_equal(one.places, MOVES)
    np.testing.assert_allclose(one.headings, WALK.headings, atol=1e-8)
    assert one.times.tolist() == WALK.times.tolist()
    assert (other.headings, other.times, other.ending) == (None, None, Ending.STUCK)
    with pytest.raises(BadArgument, match=r"one trajectory, not 2\. Write --to omninavbench-results"):
        omninavbench.write_predictions(tmp_path / "a.json", Predictions.from_trajectories("", walks))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trajectory": []}, "trajectory: is empty"),
        ({"coordinate_space": "scene_units"}, 'coordinate_space: is "scene_units"'),
        ({"trajectory": [{"position": [0, 0, 0], "orientation": [2, 0, 0, 0]}]}, "no unit quaternion"),
        (
            {"trajectory": [{"position": [0, 0, 0], "time_s": 1}, {"position": [0, 0, 0], "time_s": 0}]},
            "step 1, field time_s: is earlier than the step before",
        ),
        ({"scenario_id": 3}, "Expected `str`"),
    ],
)
def test_faults_of_a_scenario_are_named(tmp_path, change, message):
    with pytest.raises(BadFile, match=message):
        omninavbench.read_predictions(written(tmp_path / "a.json", SCENARIO | change))
