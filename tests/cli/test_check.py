"""`itinera check`, end to end."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import tiny
from cli.conftest import Command


def test_predictions_alone_are_checked_for_their_shape(files: tiny.Files, itinera: Command) -> None:
    outcome = itinera("check", files.predictions)
    assert (outcome.code, outcome.err) == (0, "")
    assert "5 trajectories" in outcome.out
    assert "No faults." in outcome.out


def test_predictions_are_checked_against_tasks_and_worlds(files: tiny.Files, itinera: Command) -> None:
    told = itinera("check", files.predictions, *files.options, "--json").json
    assert (told["format"], told["kind"]) == ("r2r-submission", "predictions")
    assert (told["trajectories"], told["worlds"]) == (5, 2)
    assert told["with repeated places"] == 0


def test_missing_episodes_may_be_let_pass(files: tiny.Files, itinera: Command) -> None:
    few = files.write("few.json", tiny.predictions({"1_0": "abc"}))
    assert itinera("check", few, *files.options).code == 1
    assert itinera("check", few, *files.options, "--missing", "zero").code == 0
    assert itinera("check", few, *files.options, "--missing", "one").code == 2


def test_tasks_are_checked_against_worlds(files: tiny.Files, itinera: Command) -> None:
    told = itinera("check", files.tasks, "--worlds", files.worlds, "--json").json
    assert (told["episodes"], told["worlds"], told["goals withheld"]) == (5, 2, 0)


BAD_TASKS = {
    "a node of nowhere": (tiny.path(1, "house", "abx"), 'episode "1_0": node x is not in world house'),
    "a jump": (tiny.path(1, "house", "abd"), "the path goes from b to d, which no edge joins"),
    "a world of nowhere": (tiny.path(1, "tent", "abc"), "world tent is not among the worlds given"),
}


@pytest.mark.parametrize(("path", "said"), BAD_TASKS.values(), ids=BAD_TASKS.keys())
def test_tasks_that_leave_their_worlds_are_refused(
    files: tiny.Files, itinera: Command, path: dict[str, Any], said: str
) -> None:
    tasks = files.write("tasks.json", [path, tiny.path(2, "hut", "pqr")])
    outcome = itinera("check", tasks, "--worlds", files.worlds)
    assert outcome.code == 1
    assert f"{tasks}: " in outcome.err
    assert said in outcome.err
    assert itinera("check", tasks).code == 0  # by itself it is a whole R2R file


def test_worlds_are_counted(files: tiny.Files, itinera: Command) -> None:
    told = itinera("check", files.worlds, "--json").json
    assert (told["worlds"], told["nodes"], told["edges"]) == (2, 11, 9)


def test_a_broken_world_is_found(files: tiny.Files, itinera: Command) -> None:
    tiny.written(files.worlds / "hut_connectivity.json", [{"image_id": "p"}])
    outcome = itinera("check", files.worlds)
    assert outcome.code == 1
    assert "hut_connectivity.json: record 0: Object missing required field `pose`" in outcome.err


def test_a_broken_list_of_objects_is_found(tmp_path: Path, itinera: Command) -> None:
    (tmp_path / "BBox").mkdir()
    seen = tiny.written(
        tmp_path / "BBox" / "house_a.json", {"a": {"3": {"name": "x", "visible_pos": [], "bbox2d": []}}}
    )
    assert "1 viewpoint, 1 object" in itinera("check", tmp_path / "BBox").out
    tiny.written(seen, {"a": {"3": {"name": "x", "visible_pos": [99], "bbox2d": [[0, 0, 1, 1]]}}})
    outcome = itinera("check", tmp_path / "BBox")
    assert outcome.code == 1
    assert "a view is not in 0 … 35" in outcome.err


def test_other_files_are_checked_too(files: tiny.Files, itinera: Command) -> None:
    assert "1 entry" in itinera("check", files.tours).out
    assert "2 entries" in itinera("check", files.write("gt.json", tiny.DENSE)).out
    assert "2 episodes" in itinera("check", files.write("ce.json", tiny.GROUND)).out


@pytest.fixture
def bundle(files: tiny.Files, itinera: Command) -> Path:
    out = files.folder / "bundle.jsonl"
    assert itinera("score", files.predictions, *files.options, "--out", out).code == 0
    return out


def test_a_bundle_is_checked_against_itself_and_its_inputs(files: tiny.Files, bundle: Path, itinera: Command) -> None:
    told = itinera("check", bundle, "--json").json
    assert (told["kind"], told["episodes"], told["inputs not found"]) == ("scores", 5, 0)
    files.predictions.unlink()
    assert itinera("check", bundle, "--json").json["inputs not found"] == 1


@pytest.mark.parametrize("changed", ["preds.json", "R2R_tiny.json", "connectivity/hut_connectivity.json"])
def test_a_bundle_whose_inputs_changed_is_refused(
    files: tiny.Files, bundle: Path, itinera: Command, changed: str
) -> None:
    path = files.folder / changed
    path.write_text(json.dumps(json.loads(path.read_text())) + "\n")
    outcome = itinera("check", bundle)
    assert outcome.code == 1
    assert "is not the file these scores were made from" in outcome.err


def test_a_changed_bundle_is_refused(bundle: Path, itinera: Command) -> None:
    bundle.write_text(bundle.read_text().replace('"NE":4.0', '"NE":0.0'))
    outcome = itinera("check", bundle)
    assert outcome.code == 1
    assert "changed or cut short" in outcome.err


def test_an_agent_that_keeps_its_promises_passes(itinera: Command) -> None:
    outcome = itinera("check", "agent", "scripted_agents:Wanderer")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == "scripted_agents:Wanderer: an agent with action probabilities. It keeps the contract.\n"
    assert itinera("check", "agent", "scripted_agents:Still", "--protocol", "r2r-ce", "--json").json == {
        "agent": "scripted_agents:Still", "protocol": "r2r-ce", "action_probabilities": False,
    }  # fmt: skip


def test_an_agent_is_checked_in_the_body_it_is_made_for(itinera: Command) -> None:
    racer = ("check", "agent", "scripted_agents:Racer")
    assert itinera(*racer, "--protocol", "pointnav", "--drive", "unicycle-15").code == 0
    refused = itinera("check", "agent", "scripted_agents:Racer", "--protocol", "pointnav")
    assert refused.code == 2
    assert "act() returned 14; expected an integer from 0 (STOP) to 3." in refused.err


def test_an_agent_in_another_process_is_checked_too(itinera: Command) -> None:
    client = Path(__file__).parents[2] / "examples" / "client.py"
    outcome = itinera("check", "agent", "--agent-command", f"{sys.executable} {client}")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.endswith("client.py: an agent. It keeps the contract.\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["agent"], "Give one agent to check"),
        (["agent", "scripted_agents:Still", "--agent-command", "python"], "Give one agent to check"),
        (["agent", "still"], "still is one of itinera's own agents"),
        (["agent", "scripted_agents:Nobody"], "Module scripted_agents has no Nobody"),
        (["agent", "scripted_agents:Scripted"], "missing 1 required positional argument"),
        (["agent", "pathlib:Path"], "has no reset"),
        (["agent", "scripted_agents:Still", "--protocol", "r3r"], "protocol must be one of"),
        (["agent", "localhost:70000"], "An agent's address is HOST:PORT"),
        (["preds.json", "scripted_agents:Still"], "To check an agent, write: itinera check agent scripted_agents"),
    ],
)
def test_what_is_no_agent_is_told(itinera: Command, arguments: list[str], told: str) -> None:
    outcome = itinera("check", *arguments)
    assert outcome.code == 2
    assert told in outcome.err


def test_a_protocol_is_for_predictions_with_tasks(files, itinera):
    outcome = itinera("check", files.predictions, "--protocol", "rxr")
    assert outcome.code == 2
    assert "give tasks (--tasks)" in outcome.err
    assert itinera("check", files.predictions, *files.options, "--protocol", "rxr").code == 0


def test_a_map_is_checked_with_its_image_and_says_in_one_sentence_what_is_wrong(itinera, tmp_path):
    pytest.importorskip("yaml")
    keys = "resolution: 0.05\norigin: [0, 0, 0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.2\n"
    (tmp_path / "map.yaml").write_text(f"image: gone.pgm\n{keys}")
    refused = itinera("check", tmp_path / "map.yaml")
    assert refused.code == 1
    assert (
        "map.yaml: line 1, field image: is 'gone.pgm', and there is no such file in the folder of the map."
        in refused.err
    )
    (tmp_path / "map.yaml").write_text(f"image: gone.pgm\n{keys.partition(chr(10))[2]}")
    refused = itinera("check", tmp_path / "map.yaml")  # all faults together
    assert "resolution: is missing." in refused.err
    assert "'gone.pgm', and there is no such file" in refused.err
    (tmp_path / "plan.pgm").write_bytes(b"P5 2 2 255\n\xff\xfe\xfd\xff")
    assert "plan.pgm: is an image." in itinera("check", tmp_path / "plan.pgm").err


def test_counts_read_as_english(files: tiny.Files, itinera: Command) -> None:
    walks = files.write("walks.json", tiny.predictions(tiny.WALKS | {"1_0": "aabc", "2_0": "cdd"}))
    said = itinera("check", walks, *files.options).out
    assert "5 trajectories, 2 worlds, 2 with repeated places. No faults." in said
    alone = files.write("alone.json", [tiny.path(1, "house", "abc")])
    assert "; 1 episode, 1 world, 0 goals withheld. No faults." in itinera("check", alone).out
