"""Our own file of trials: written and read back, and every fault told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import crossing
from itinera.errors import BadFile
from itinera.formats.trials import FilterCounts, Study, read_trials, write_trials
from itinera.records import Provenance

HEADER = {"itinera": "trials"}
CONTROL = {"id": "t.control", "skill": "stop", "arm": "control", "world_id": "one", "heading": 0.5, "path": ["a", "b"],
           "text": "Go."}  # fmt: skip
TOLD = CONTROL | {"id": "t", "arm": "intervention", "control_id": "t.control", "text": "Go. Stop."}


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_what_is_written_is_what_is_read(tmp_path):
    study = crossing.trials()
    filter_counts = {"stop": FilterCounts(5, 3, {"no neighbour": 2}, 4, 3)}
    write_trials(
        tmp_path / "t.jsonl",
        Study(tuple(study), filter_counts, "val", Provenance("1", seed=3, inputs={}, digests={})),
    )
    read = read_trials(tmp_path / "t.jsonl")
    assert read.filter_counts == filter_counts
    assert (read.name, read.provenance.seed) == ("val", 3)
    assert len(read.trials) == len(study)
    for one, other in zip(read.trials, study, strict=True):
        assert (one.id, one.skill, one.arm, one.control_id, one.source) == (
            other.id, other.skill, other.arm, other.control_id, other.source)  # fmt: skip
        assert dict(one.target) == dict(other.target)
        assert one.episode.instruction == other.episode.instruction
        assert one.episode.reference == other.episode.reference
        assert one.episode.goals == other.episode.goals
        assert one.episode.path_id == other.episode.path_id
        assert one.episode.start.heading == other.episode.start.heading


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ([TOLD], r'line 2 \(trial "t"\), field control_id: its control \'t.control\' is missing from the file'),
        ([TOLD | {"control_id": ""}, CONTROL], "field control_id: is missing"),
        ([TOLD, CONTROL | {"path": ["a", "c"]}], "its control t.control has another path"),
        ([TOLD, CONTROL | {"heading": 0.6}], "its control t.control has another path"),
        ([TOLD, TOLD | {"id": "u", "control_id": "t"}, CONTROL], "t is not a control"),
        ([CONTROL | {"control_id": "t"}], "a control has no control of its own"),
        ([CONTROL, CONTROL], "t.control is also the id of line 2"),
        ([CONTROL | {"arm": "left"}], "'left' is not an arm.\n  Use one of intervention, control, ahead"),
        ([CONTROL | {"path": []}], "Give the nodes the agent is guided along"),
        ([CONTROL | {"skill": ""}], "Name the skill of the trial"),
        ([{"id": "x"}], "line 2"),
    ],
)
def test_every_fault_of_a_trial_is_told(tmp_path, records, told):
    with pytest.raises(BadFile, match=told):
        read_trials(lines(tmp_path / "t.jsonl", HEADER, *records))


@pytest.mark.parametrize(
    ("filter_counts", "told"),
    [
        ({"stop": {"candidates": 3, "kept": 1, "dropped": {"x": 1}}}, "3 candidates, but 2 kept or dropped"),
        ({"stop": {"candidates": "many"}}, "field filter_counts"),
    ],
)
def test_counts_that_do_not_add_up_are_refused(tmp_path, filter_counts, told):
    with pytest.raises(BadFile, match=told):
        read_trials(lines(tmp_path / "t.jsonl", HEADER | {"filter_counts": filter_counts}, CONTROL))


def test_faults_are_told_together(tmp_path):
    with pytest.raises(BadFile) as caught:
        read_trials(lines(tmp_path / "t.jsonl", HEADER, TOLD, CONTROL | {"id": "c", "arm": "none"}))
    assert len(caught.value.faults) >= 2
