"""`itinera judge`: an entry to a challenge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiny
from cli.conftest import Command


@pytest.fixture
def challenge(files: tiny.Files, itinera: Command) -> Path:
    run = ("run", "--agent", "expert", *files.options, "--workers", 0, "--out", files.folder / "entry.jsonl")
    assert itinera(*run).code == 0
    rules = 'tasks = "R2R_tiny.json"\nworlds = "connectivity"\nprotocol = "r2r"\n'
    return files.write("challenge.toml", rules)


def test_an_entry_is_judged_with_a_table_and_a_badge(files: tiny.Files, itinera: Command, challenge: Path) -> None:
    entry, out = files.folder / "entry.jsonl", files.folder / "scores.jsonl"
    done = itinera("judge", entry, "--challenge", challenge, "--out", out)
    assert done.code == 0
    assert "protocol r2r" in done.out
    assert done.out.splitlines()[-1].startswith("replayed: 5 of 5 episodes replayed under protocol r2r")
    assert itinera("check", out).code == 0
    found = itinera("judge", entry, "--challenge", files.folder, "--json").json
    assert (found["badge"], found["episodes"], found["missing"], found["differences"]) == ("replayed", 5, 0, [])
    assert found["challenge"] == files.folder.name
    assert found["scores"]["metrics"]["SR"]["mean"] == 1.0
    table = itinera("judge", entry, "--challenge", challenge, "--csv")
    assert table.out.startswith("metric,")
    assert "replayed: 5 of 5" in table.err


def test_a_refused_entry_ends_with_code_1(files: tiny.Files, itinera: Command, challenge: Path) -> None:
    refused = itinera("judge", files.predictions, "--challenge", challenge)
    assert (refused.code, refused.out) == (1, "")
    assert "has no actions" in refused.err


def test_differences_are_reported_and_the_replay_is_scored(
    files: tiny.Files, itinera: Command, challenge: Path
) -> None:
    entry = files.folder / "entry.jsonl"
    header, first, *rest = entry.read_text().splitlines()
    record = json.loads(first)
    record["trajectories"][0]["places"][-1] = "f"
    entry.write_text("\n".join([header, json.dumps(record), *rest]) + "\n")
    done = itinera("judge", entry, "--challenge", challenge)
    assert done.code == 0
    assert "1 differ from what the entry claims" in done.out
    assert 'episode "1_0", step 2, places: stored f, found c' in done.err
    assert "│ SR % ↑" in done.out
    assert "100.0" in done.out


def test_a_challenge_that_is_not_there_is_named(files: tiny.Files, itinera: Command) -> None:
    missing = itinera("judge", files.predictions, "--challenge", files.folder / "none")
    assert missing.code == 1
    assert "there is no such file" in missing.err


def test_a_challenge_with_phases_is_judged_by_one_of_them(files: tiny.Files, itinera: Command, challenge: Path) -> None:
    rules = challenge.read_text()
    challenge.write_text(f'[phases.dev]\n{rules}[phases.strict]\n{rules}missing = "fail"\n')
    entry = files.folder / "entry.jsonl"
    done = itinera("judge", entry, "--challenge", challenge, "--phase", "dev", "--json")
    assert done.json["scores"]["metrics"]["SR"]["mean"] == 1.0
    for words, message in (((), "has phases, dev, strict: name one"), (("--phase", "x"), "there is no phase 'x'")):
        refused = itinera("judge", entry, "--challenge", challenge, *words)
        assert refused.code == 2
        assert message in refused.err
    challenge.write_text(rules)
    assert "has no phases" in itinera("judge", entry, "--challenge", challenge, "--phase", "dev").err
