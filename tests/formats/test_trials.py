"""Our own file of trials: written and read back, and every fault told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import crossing
from itinera.errors import BadFile
from itinera.formats.trials import Counts, TrialFile, read_trials, write_trials
from itinera.records import Provenance

HEADER = {"itinera": "trials"}
CONTROL = {"id": "t.control", "skill": "stop", "arm": "control", "world_id": "one", "heading": 0.5, "path": ["a", "b"],
           "text": "Go."}  # fmt: skip
TOLD = CONTROL | {"id": "t", "arm": "intervention", "twin": "t.control", "text": "Go. Stop."}


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_what_is_written_is_what_is_read(tmp_path):
    study = crossing.trials()
    tallies = {"stop": Counts(5, 3, {"no neighbour": 2}, 4, 3)}
    write_trials(
        tmp_path / "t.jsonl", TrialFile(tuple(study), tallies, "val", Provenance("1", seed=3, inputs={}, digests={}))
    )
    read = read_trials(tmp_path / "t.jsonl")
    assert read.tallies == tallies
    assert (read.name, read.provenance.seed) == ("val", 3)
    assert len(read.trials) == len(study)
    for one, other in zip(read.trials, study, strict=True):
        assert (one.id, one.skill, one.arm, one.twin, one.source) == (
            other.id, other.skill, other.arm, other.twin, other.source)  # fmt: skip
        assert dict(one.target) == dict(other.target)
        assert one.episode.instruction == other.episode.instruction
        assert one.episode.reference == other.episode.reference
        assert one.episode.goals == other.episode.goals
        assert one.episode.path_id == other.episode.path_id
        assert one.episode.start.heading == other.episode.start.heading


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ([TOLD], r'line 2 \(trial "t"\), field twin: its twin \'t.control\' is missing from the file'),
        ([TOLD | {"twin": ""}, CONTROL], "names no twin"),
        ([TOLD, CONTROL | {"path": ["a", "c"]}], "its twin t.control is of another walk"),
        ([TOLD, CONTROL | {"heading": 0.6}], "its twin t.control is of another walk"),
        ([TOLD, TOLD | {"id": "u", "twin": "t"}, CONTROL], "its twin t is no control"),
        ([CONTROL | {"twin": "t"}], "a control has no twin of its own"),
        ([CONTROL, CONTROL], "t.control is also the id of line 2"),
        ([CONTROL | {"arm": "left"}], "'left' is no arm.\n  There are intervention, control, ahead"),
        ([CONTROL | {"path": []}], "A path holds at least the node where the agent is asked"),
        ([CONTROL | {"skill": ""}], "A trial asks for a skill"),
        ([{"id": "x"}], "line 2"),
    ],
)
def test_every_fault_of_a_trial_is_told(tmp_path, records, told):
    with pytest.raises(BadFile, match=told):
        read_trials(lines(tmp_path / "t.jsonl", HEADER, *records))


@pytest.mark.parametrize(
    ("tallies", "told"),
    [
        ({"stop": {"candidates": 3, "kept": 1, "dropped": {"x": 1}}}, "3 candidates, but 2 kept or dropped"),
        ({"stop": {"candidates": "many"}}, "field tallies"),
    ],
)
def test_counts_that_do_not_add_up_are_refused(tmp_path, tallies, told):
    with pytest.raises(BadFile, match=told):
        read_trials(lines(tmp_path / "t.jsonl", HEADER | {"tallies": tallies}, CONTROL))


def test_faults_are_told_together(tmp_path):
    with pytest.raises(BadFile) as caught:
        read_trials(lines(tmp_path / "t.jsonl", HEADER, TOLD, CONTROL | {"id": "c", "arm": "none"}))
    assert len(caught.value.faults) >= 2
