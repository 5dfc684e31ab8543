"""What agents leaned to: our own file, vln-behave's records, and every fault of either."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import crossing
from itinera.errors import BadFile
from itinera.formats.action_probabilities import (
    ActionProbabilities,
    check_trial_ids,
    read_action_probabilities,
    read_behave,
    trial_numbers,
    write_action_probabilities,
)
from itinera.records.action_probabilities import ActionDistribution

HEADER = {"itinera": "action-probabilities", "agent": "me"}
GOOD = {
    "trial_id": "t",
    "heading": 0.5,
    "nodes": ["a", "b"],
    "headings": [0.1, 0.2],
    "probabilities": [0.5, 0.25, 0.25],
}


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_what_is_written_is_what_is_read(tmp_path):
    trials = crossing.trials(["stop"], paths=1)
    some = (crossing.distribution(trials[0], stop=0.5, l=0.5), ActionDistribution.failure(trials[1].id, "it rained"))
    write_action_probabilities(tmp_path / "a.jsonl", ActionProbabilities("me", some))
    read = read_action_probabilities(tmp_path / "a.jsonl")
    assert read.agent == "me"
    assert [one.trial_id for one in read.distributions] == [one.trial_id for one in some]
    assert read.distributions[0].nodes == some[0].nodes
    assert read.distributions[0].greedy_path == some[0].greedy_path
    np.testing.assert_array_equal(read.distributions[0].probabilities, some[0].probabilities)
    np.testing.assert_array_equal(read.distributions[0].headings, some[0].headings)
    assert read.distributions[1].failed == "it rained"


def test_an_agent_without_a_name_is_called_as_its_file(tmp_path):
    assert (
        read_action_probabilities(lines(tmp_path / "mine.jsonl", {"itinera": "action-probabilities"}, GOOD)).agent
        == "mine"
    )


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ([GOOD | {"probabilities": [0.5, 0.25, 0.2]}], r'\(trial "t"\), field probabilities: sums to 0.95, not to 1'),
        ([GOOD | {"probabilities": [1.5, -0.25, -0.25]}], "contains a value that is not a probability"),
        ([GOOD | {"probabilities": [0.5, 0.5]}], "has 2 entries for 2 nodes; 3 are expected"),
        ([GOOD | {"headings": [0.1]}], "has 1 entries for 2 nodes"),
        ([GOOD | {"nodes": ["a", "a"]}], "names a node twice"),
        ([GOOD, GOOD], 'trial "t" also has a record in line 2'),
        ([{"heading": 0.1}], "line 2"),
    ],
)
def test_every_fault_of_an_answer_is_told(tmp_path, records, told):
    with pytest.raises(BadFile, match=told):
        read_action_probabilities(lines(tmp_path / "a.jsonl", HEADER, *records))


def test_answers_to_unknown_trials_are_refused(tmp_path):
    read = read_action_probabilities(lines(tmp_path / "a.jsonl", HEADER, GOOD))
    with pytest.raises(BadFile, match=r'a.jsonl: trial "t": is not in the study'):
        check_trial_ids("a.jsonl", read.distributions, {})


# vln-behave's. At the crossing one looks east: R2R's heading is a quarter turn. Candidates are b behind, l, f, r.

STUDY = crossing.trials(["room-within-2"], paths=1)
TURN = math.pi / 2
RECORD = {
    "instr_id": "0_0",
    "trajectory": [["a", 0.0, 0.0], ["a", TURN, 0.0], ["b", TURN, 0.0], ["c", TURN, 0.0], ["l", 0.0, 0.0]],
    "stop_prob": [0.1],
    "final_logits": [[0.0, 0.6, 0.2, 0.1, 0.1, 0.0, 0.0], [0.0, 1.0]],
    "candidates": [
        ["c", [
            {"viewpointId": "b", "heading": math.pi, "normalized_heading": 3 * TURN, "elevation": 0.0, "pointId": 3},
            {"viewpointId": "l", "heading": -TURN, "normalized_heading": 0.0, "idx": 1},
            {"viewpointId": "f", "heading": 0.0, "normalized_heading": TURN},
            {"viewpointId": "r", "heading": TURN},
        ]],
        ["l", [{"viewpointId": "c", "heading": 0.0}]],
    ],
    "nav_type": [1, 1, 1, 1, 2, 0, 0],
    "heading": TURN + 0.01,
    "viewIndex": 15,
    "next_pos": "l",
}  # fmt: skip


def behave(path: Path, *records: Any) -> Path:
    path.write_text(json.dumps(list(records)))
    return path


@pytest.mark.parametrize("name", ["0_0", "0", 0, STUDY[0].id])
def test_vln_behaves_records_answer_trials_by_any_of_their_names(tmp_path, name):
    (distribution,) = read_behave(behave(tmp_path / "submit.json", RECORD | {"instr_id": name}), STUDY)
    assert distribution.trial_id == STUDY[0].id
    assert distribution.nodes == ("b", "l", "f", "r")
    assert distribution.probabilities == pytest.approx([0.1, 0.0, 0.6, 0.2, 0.1])
    assert distribution.heading == pytest.approx(0.0)
    assert np.degrees(distribution.relative_headings) == pytest.approx([180, 90, 0, -90])
    assert distribution.greedy_path == ("c", "l")


def test_an_exported_trial_has_a_name_in_both_forms():
    names = trial_numbers(STUDY)
    assert names["3_0"] == names["3_3"] == names["3"] == names[STUDY[3].id] == 3


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"instr_id": "77_0"}, r'record 0 \("77_0"\), field instr_id: is no trial of the study'),
        ({"final_logits": [[0.0, 0.6, 0.2, 0.1, 0.2]], "stop_prob": [0.2]}, "sums to 1.1, not to 1"),
        ({"final_logits": [[0.0, 0.6, 0.4]]}, "has 3 entries for 4 candidates and stopping"),
        ({"final_logits": []}, "contains no step after the guided path"),
        ({"stop_prob": [0.6]}, "is 0.6, but final_logits has 0.1 after its 4 candidates"),
        ({"trajectory": [["a"], ["c"]]}, "does not begin with the path of its trial"),
        ({"candidates": [["b", RECORD["candidates"][0][1]]]}, "are those of b, but the path of the trial ends at c"),
        ({"heading": []}, "Log the agent.s heading"),
        ({"heading": "east"}, "record 0"),
    ],
)
def test_every_fault_of_a_vln_behave_record_is_told(tmp_path, change, told):
    with pytest.raises(BadFile, match=told):
        read_behave(behave(tmp_path / "submit.json", RECORD | change), STUDY)


def test_two_records_of_one_trial_are_refused(tmp_path):
    with pytest.raises(BadFile, match="also has a record in record 0"):
        read_behave(behave(tmp_path / "submit.json", RECORD, RECORD | {"instr_id": "0"}), STUDY)
