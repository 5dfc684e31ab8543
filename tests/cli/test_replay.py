"""`itinera replay`: stored actions taken again."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def walks(itinera, files, tmp_path):
    out = tmp_path / "predictions.jsonl"
    command = ["--agent", "scripted_agents:Wanderer", *files.options, "--tours", files.tours, "--workers", 0]
    assert itinera("run", *command, "--out", out).code == 0
    return out


def test_walks_as_they_were_are_found_the_same(itinera, files, walks):
    done = itinera("replay", walks, *files.options, "--tours", files.tours)
    assert (done.code, done.out) == (0, f"{walks}: 5 episodes replayed, all identical.\n")
    assert itinera("replay", walks, *files.options, "--tours", files.tours, "--json").json["differences"] == []


def test_a_tampered_walk_is_pinpointed(itinera, files, walks):
    header, first, *rest = walks.read_text().splitlines()
    record = json.loads(first)
    record["trajectories"][0]["places"][-1] = "f"
    walks.write_text("\n".join([header, json.dumps(record), *rest]) + "\n")
    done = itinera("replay", walks, *files.options, "--tours", files.tours)
    step = len(record["trajectories"][0]["places"]) - 1
    assert done.code == 1
    assert f'{walks}: episode "1_0", step {step}, places: stored f, found ' in done.out
    told = itinera("replay", walks, *files.options, "--tours", files.tours, "--json")
    assert told.code == 1
    assert [d["episode_id"] for d in told.json["differences"]] == ["1_0"]


def test_walks_without_actions_cannot_be_done_again(itinera, files, tmp_path):
    out = tmp_path / "converted.jsonl"
    assert itinera("convert", files.predictions, out, "--to", "native-predictions").code == 0
    refused = itinera("replay", out, *files.options)
    assert refused.code == 1
    assert "has no actions" in refused.err


def test_walks_of_other_tasks_are_refused(itinera, files, walks):
    files.write("R2R_tiny.json", json.loads(files.tasks.read_text())[1:])
    refused = itinera("replay", walks, *files.options, "--protocol", "ivln")
    assert refused.code == 1
    assert 'episode "1_0": is not in R2R_tiny.' in refused.err


def lines(walks):
    return [json.loads(line) for line in walks.read_text().splitlines()]


def rewrite(walks, records):
    walks.write_text("".join(json.dumps(record) + "\n" for record in records))


def test_tours_are_those_of_the_tasks(itinera, files, walks):
    refused = itinera("replay", walks, *files.options)
    assert refused.code == 1
    assert "the predictions carry ivln" in refused.err
    assert "Give the tours of the run: --tours." in refused.err
    assert itinera("replay", walks, *files.options, "--protocol", "ivln").code == 0


def test_missing_episodes_are_counted(itinera, files, walks):
    header, first, *_ = lines(walks)
    rewrite(walks, [header, first])
    done = itinera("replay", walks, *files.options, "--tours", files.tours)
    assert (done.code, done.out) == (0, f"{walks}: 2 episodes replayed, all identical.\n")
    assert "3 of 5 episodes of the tasks have no trajectory." in done.err
    assert itinera("replay", walks, *files.options, "--tours", files.tours, "--json").json["missing"] == 3


def test_episodes_replayed_twice_are_refused(itinera, files, walks):
    header, first, *rest = lines(walks)
    rewrite(walks, [header, first, *rest, first])
    refused = itinera("replay", walks, *files.options, "--tours", files.tours)
    assert refused.code == 1
    assert 'episode "1_0": has two trajectories.' in refused.err


def test_empty_rollouts_are_refused(itinera, files, walks):
    header, *_ = lines(walks)
    rewrite(walks, [header, {"tour_id": "0", "trajectories": []}])
    refused = itinera("replay", walks, *files.options, "--tours", files.tours)
    assert refused.code == 1
    assert "has no trajectories." in refused.err
    rewrite(walks, [header])
    refused = itinera("replay", walks, *files.options, "--tours", files.tours)
    assert (refused.code, "contains no rollouts." in refused.err) == (1, True)
