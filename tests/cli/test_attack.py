"""`itinera attack`: the table, JSON and exit code, with scorers that are commands."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import tiny
from cli.conftest import Command

# Scores the last place of whatever answers there are.
CARELESS = """
import json, sys
goals = {"1_0": "c", "1_1": "c", "2_0": "e", "3_0": "r", "3_1": "r"}
try:
    records = json.load(open(sys.argv[1]))
    rows = [r["trajectory"][-1][0] == goals[r["instr_id"]] for r in records]
    print(json.dumps({"success": sum(rows) / max(1, len(rows))}))
except (ValueError, LookupError, TypeError, RecursionError) as error:
    sys.exit(type(error).__name__)
"""


def test_a_careless_scorer_is_found_out(files: tiny.Files, itinera: Command, tmp_path: Path):
    script = tiny.written(tmp_path / "scorer.py", CARELESS)
    command = f"{sys.executable} -S -I {script} {{file}}"
    found = itinera("attack", command, *files.options, "--json")
    assert found.code == 1
    assert found.json["passed"] is False
    assert found.json["controls"]["the expert"] == {"SR": 1.0}
    by_name = {result["forgery"]: result for result in found.json["results"]}
    assert by_name["a start at the goal"]["verdict"] == "beats"
    assert by_name["deep JSON"]["verdict"] == "refused"
    assert by_name["an answer twice"]["verdict"] == "accepted"


def test_a_command_without_its_placeholder_is_refused(files: tiny.Files, itinera: Command):
    done = itinera("attack", "score entry.json", *files.options)
    assert done.code == 2
    assert "has no {file}" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["judge", "score"])
def test_our_own_commands_withstand(files: tiny.Files, itinera: Command, verb: str):
    files.write("challenge.toml", 'tasks = "R2R_tiny.json"\nworlds = "connectivity"\nprotocol = "r2r"\n')
    ours = f"{sys.executable} -m itinera --quiet"
    command = {
        "judge": f"{ours} judge {{file}} --challenge {files.folder} --json",
        "score": f"{ours} score {{file}} --tasks {{tasks}} --worlds {{worlds}} --missing zero --json",
    }[verb]
    options = ["--format", "native"] if verb == "judge" else []
    done = itinera("attack", command, *files.options, *options, "--json", "--seconds", 300)
    assert done.code == 0
    assert {result["verdict"] for result in done.json["results"]} == {"refused", "no better"}


@pytest.mark.slow
def test_a_house_is_built_for_scorers_without_tasks(itinera: Command):
    command = (
        f"{sys.executable} -m itinera -q score {{file}} --tasks {{tasks}} --worlds {{worlds}} --missing zero --json"
    )
    done = itinera("attack", command, "--seconds", 300, "--json")
    assert done.code == 0
    assert done.json["controls"]["the expert"]["SR"] == 1.0
