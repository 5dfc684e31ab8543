"""`itinera study`, from tasks to verdicts, here and through an agent elsewhere."""

from __future__ import annotations

import itertools
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import crossing
import scripted_agents
from itinera.errors import BadFile
from itinera.formats import catalog, matterport, native_tasks, rooms
from itinera.formats.action_probabilities import read_action_probabilities
from itinera.formats.trials import read_trials
from itinera.runs.resume import ResumableWriter
from itinera.tasks import Alignment, Episode, Instruction, Split
from itinera.worlds import Pose, Room

WORDS = "Go straight . Go straight . Go straight ."
OUTSIDER = Path(__file__).parents[1] / "support" / "scripted_process.py"


def spoken(world: str, path: str, number: int) -> Episode:
    """From a through the crossing to f; three words for every edge."""
    nodes = ("a", "b", "c", "f")
    edge = np.repeat(np.arange(3), 3)
    times = np.arange(9.0)
    alignment = Alignment(tuple(WORDS.split()), edge, edge, times, times + 0.5)
    return Episode(
        f"{world}{path}_{number}", world, Pose("a", 0.0), nodes[-1:], nodes, Instruction(WORDS), path, alignment
    )


@pytest.fixture
def place(tmp_path) -> Path:
    """Three crossings with their rooms, and tasks whose words are aligned with places."""
    matterport.write_worlds(tmp_path / "connectivity", crossing.WORLDS)
    # Tables of rooms also list places that a graph leaves out, such as a kitchen nobody can get to.
    known = {name: {**world.rooms, "attic": Room("k")} for name, world in crossing.WORLDS.items()}
    rooms.write_table(tmp_path / "rooms.csv", known)
    episodes = [spoken(world, path, n) for world in crossing.SCENES for path in ("p", "q") for n in range(2)]
    native_tasks.write_split(tmp_path / "tasks.jsonl", Split("val", tuple(episodes), protocol="rxr"))
    return tmp_path


@pytest.fixture
def study(itinera, place):
    """The command on those, with trials of most skills designed."""

    def run(verb: str, *arguments: Any):
        return itinera("study", verb, *arguments)

    skills = ("stop", "direction", "room-1", "room-within-2")
    where = ("--worlds", place / "connectivity", "--rooms", place / "rooms.csv")
    done = run("design", *skills, "--tasks", place / "tasks.jsonl", *where, "--out", place / "trials.jsonl", "--json")
    assert done.code == 0, done.err
    run.designed = done.json
    return run


def asked(study, place, agent: str, *more: Any, workers: int = 0):
    out = place / f"{agent.replace(':', '_')}.jsonl"
    done = study("run", "--agent", agent, "--trials", place / "trials.jsonl", "--worlds", place / "connectivity",
                 "--rooms", place / "rooms.csv", "--out", out, "--workers", workers, *more)  # fmt: skip
    assert done.code == 0, done.err
    return out


def test_a_design_counts_every_candidate(study, place):
    counts = study.designed["designed"]
    assert study.designed["trials"] == len(read_trials(place / "trials.jsonl").trials)
    for name, found in counts.items():
        assert found["candidates"] == found["kept"] + sum(found.get("dropped", {}).values()), name
    assert counts["truncation"]["kept"] == 24
    assert counts["direction-right"] == {
        "candidates": 24, "kept": 12, "dropped": {"no neighbour in the direction": 12}, "truncations": 24,
        "truncations_kept": 12,
    }  # fmt: skip
    header = json.loads((place / "trials.jsonl").read_text().splitlines()[0])
    assert set(header["provenance"]["digests"]) == {"tasks", "worlds", "rooms"}


def test_known_agents_get_the_scores_they_must(study, place):
    files = [asked(study, place, agent) for agent in ("still", "forward", "uniform", "expert", "random")]
    done = study("analyse", place / "trials.jsonl", *files, "--json", "--resamples", 100)
    assert done.code == 0, done.err
    table = done.json["table"]
    assert {name: table["still"][name]["mean"] for name in ("stop", "turn", "room")} == {
        "stop": 1,
        "turn": 0,
        "room": 0,
    }
    assert {name: table["expert"][name]["mean"] for name in ("stop", "turn", "room")} == {
        "stop": 1,
        "turn": 1,
        "room": 1,
    }
    ahead = done.json["agents"]["forward"]
    assert ahead["direction-forward"]["score"]["mean"] > 0.7
    assert ahead["direction-right"]["score"]["mean"] < 0.2
    assert ahead["stop"]["score"]["mean"] == 0
    assert done.json["agents"]["expert"]["room-within-2"]["effects"][0]["effect"]["mean"] == pytest.approx(-3.0)


def test_verdicts_are_printed_with_what_was_filtered_out(study, place):
    expert = asked(study, place, "expert")
    done = study("analyse", place / "trials.jsonl", expert, "--resamples", 100, "-v")
    assert (
        "expert, direction-right: probability of the direction 1.000 with the sentence, 0.000 without: +1.000"
        in done.out
    )
    assert "the same in every scene, in the intended direction" in done.out
    assert "direction-right: 12 of 24 candidates kept; dropped: 12 no neighbour in the direction." in done.err
    table = study("analyse", place / "trials.jsonl", expert, "--markdown", "--resamples", 100)
    assert table.out.startswith("| agent | stop % |")
    assert "| expert | 100.0 (100.0 – 100.0) |" in table.out


def test_the_table_of_effects_says_what_an_agent_ignores(study, place):
    agents = [asked(study, place, name) for name in ("expert", "still")]
    done = study("analyse", place / "trials.jsonl", *agents, "--resamples", 100)
    (right,) = [line for line in done.out.splitlines() if "expert, direction-right" in line]
    assert right.split()[-2] == "responds"
    (ignored,) = [line for line in done.out.splitlines() if "still, direction-right" in line]
    assert ignored.rstrip(" │").endswith("no effect")
    assert "probability of the direction" not in done.out  # sentences are for --verbose
    verdicts = study("analyse", place / "trials.jsonl", *agents, "--resamples", 100, "--json").json["agents"]
    assert verdicts["still"]["direction-right"]["effects"][0]["verdict"] == "no effect"


def test_answers_do_not_depend_on_workers(study, place):
    one = asked(study, place, "scripted_agents:Wanderer").read_bytes().splitlines()[1:]
    two = asked(study, place, "scripted_agents:Wanderer", "--overwrite", workers=2).read_bytes().splitlines()[1:]
    assert one == two


@pytest.mark.parametrize("workers", [0, 2])
def test_what_was_stopped_goes_on_and_ends_in_the_same_file(study, place, workers):
    out = asked(study, place, "scripted_agents:Wanderer")
    header, *records = whole = out.read_bytes().splitlines()
    out.unlink()
    with ResumableWriter(out, json.loads(header)["plan"]) as work:
        for number in (200, 7, 0):
            work.add(number, records[number] + b"\n")
    again = asked(study, place, "scripted_agents:Wanderer", workers=workers)
    assert again.read_bytes().splitlines()[1:] == whole[1:]
    assert not work.path.exists()


def test_a_study_that_is_stopped_says_how_to_go_on(study, place, monkeypatch):
    monkeypatch.setattr("itinera.runs.probing.BATCH_SIZE", 10)
    monkeypatch.setattr(
        scripted_agents.Wanderer, "start_episode", stopping_after(25, scripted_agents.Wanderer.start_episode)
    )
    out = place / "walker.jsonl"
    rest = ("--trials", place / "trials.jsonl", "--worlds", place / "connectivity", "--out", out, "--workers", 0)
    done = study("run", "--agent", "scripted_agents:Wanderer", *rest)
    assert done.code == 130
    assert "Interrupted with 20 of 312 trials." in done.err
    assert not out.exists()
    done = study("run", "--agent", "scripted_agents:Wanderer", *rest)
    assert "20 of 312 trials exist already; resuming." in done.err
    assert "312 completed" in done.out
    made = out.stat().st_mtime_ns
    other = study("run", "--agent", "still", *rest)
    assert (other.code, "comes from another run" in other.err, out.stat().st_mtime_ns) == (2, True, made)


def stopping_after(count: int, start_episode: Any) -> Any:
    """The same, with Ctrl-C at one call after so many."""
    calls = itertools.count()

    def stopped(self, instruction):
        if next(calls) == count:
            raise KeyboardInterrupt
        start_episode(self, instruction)

    return stopped


FAR = """
import json, sys
for line in iter(sys.stdin.buffer.readline, b""):
    query = json.loads(line)
    moves = len(query["observation"]["candidates"]["nodes"]) if query["ask"] == "action_probabilities" else 0
    replies = {
        "hello": {"version": 1, "action_probabilities": True, "wants": []},
        "action_probabilities": {"probabilities": [1.0] + [0.0] * moves},
    }
    print(json.dumps(replies.get(query["ask"], {})), flush=True)
"""


def test_an_agent_in_another_process_is_asked(study, place):
    (place / "far.py").write_text(FAR)
    done = study("run", "--agent-command", f"{sys.executable} {place / 'far.py'}", "--name", "far", "--trials",
                 place / "trials.jsonl", "--worlds", place / "connectivity", "--out", place / "far.jsonl",
                 "--workers", 0, "--json")  # fmt: skip
    assert done.code == 0, done.err
    assert done.json["completed"] == done.json["trials"]
    read = read_action_probabilities(place / "far.jsonl")
    assert read.agent == "far"
    assert {distribution.stop for distribution in read.distributions} == {1.0}


def test_an_agent_that_answers_wrongly_fails_its_trials_with_the_reason(study, place):
    done = study("run", "--agent-command", f"{sys.executable} {OUTSIDER} weighs", "--trials", place / "trials.jsonl",
                 "--worlds", place / "connectivity", "--out", place / "far.jsonl", "--workers", 0)  # fmt: skip
    assert done.code == 0
    assert "0 completed, 312 failed, 0 missing." in done.out
    assert "failed: BadArgument: action_probabilities() returned an array of shape (2,); expected (5,)" in done.err
    assert study("analyse", place / "trials.jsonl", place / "far.jsonl").out.count("too few trials") == 7


@pytest.mark.parametrize(
    "agent", [["--agent", "scripted_agents:Still"], ["--agent-command", f"{sys.executable} {OUTSIDER}"]]
)
def test_an_agent_without_action_probabilities_is_refused_with_what_to_do(study, place, agent):
    done = study("run", *agent, "--trials", place / "trials.jsonl", "--worlds", place / "connectivity", "--out",
                 place / "x.jsonl", "--workers", 0)  # fmt: skip
    assert done.code == 2
    assert "does not report action probabilities" in done.err
    assert not (place / "x.jsonl").exists()


def test_success_stands_beside_the_skills(study, itinera, place):
    walks, bundle = place / "walks.jsonl", place / "scores.jsonl"
    where = ["--tasks", place / "tasks.jsonl", "--worlds", place / "connectivity"]
    assert itinera("run", "--agent", "expert", *where, "--out", walks, "--workers", 0).code == 0
    assert itinera("score", walks, *where, "--out", bundle).code == 0
    expert = asked(study, place, "expert")
    done = study("analyse", place / "trials.jsonl", expert, "--scores", bundle, "--json", "--resamples", 100)
    assert done.json["table"]["expert"]["SR"]["mean"] == 1.0
    assert done.json["table"]["expert"]["nDTW"]["mean"] == 1.0
    refused = study("analyse", place / "trials.jsonl", expert, expert, "--scores", bundle)
    assert refused.code == 2
    assert "There are 1 score tables for 2 agents" in refused.err


@pytest.mark.parametrize(("form", "kind"), [("r2r", "r2r"), ("rxr", "rxr")])
def test_trials_leave_as_episodes_and_come_back_as_answers(study, place, form, kind):
    out = place / f"{form}.json"
    assert study("export", place / "trials.jsonl", "--to", form, "--out", out).code == 0
    assert catalog.detect(out).name == kind
    trials = read_trials(place / "trials.jsonl").trials
    split = catalog.read_tasks(out)
    assert [e.instruction.text for e in split.episodes] == [t.episode.instruction.text for t in trials]
    assert [tuple(e.reference) for e in split.episodes] == [tuple(t.episode.reference) for t in trials]
    # As an agent elsewhere would log it: east is a quarter turn, and it always stops.
    records = [
        {
            "instr_id": f"{e.path_id}_{e.id}" if form == "rxr" else e.id,
            "trajectory": [[node, 0.0, 0.0] for node in e.reference],
            "stop_prob": [1.0],
            "final_logits": [[0.0, 1.0]],
            "candidates": [[e.reference[-1], [{"viewpointId": "a", "heading": math.pi, "normalized_heading": 0.0}]]],
            "heading": math.pi / 2,
        }
        for e in split.episodes
    ]
    (place / "submit.json").write_text(json.dumps(records))
    done = study("import", place / "submit.json", "--trials", place / "trials.jsonl", "--name", "HAMT", "--out",
                 place / "hamt.jsonl", "--json")  # fmt: skip
    assert done.json == {
        "file": str(place / "hamt.jsonl"), "trials": len(trials), "completed": len(trials), "failed": 0, "missing": 0,
    }  # fmt: skip
    read = read_action_probabilities(place / "hamt.jsonl")
    assert read.agent == "HAMT"
    assert [a.trial_id for a in read.distributions] == [t.id for t in trials]
    assert {a.stop for a in read.distributions} == {1.0}


def test_our_own_answers_are_imported_and_those_left_out_are_counted(study, place):
    still = asked(study, place, "still")
    lines = still.read_text().splitlines(keepends=True)
    (place / "some.jsonl").write_text("".join(lines[:-2]))
    done = study("import", place / "some.jsonl", "--trials", place / "trials.jsonl", "--out", place / "in.jsonl")
    assert "0 failed, 2 missing." in done.out
    analysed = study("analyse", place / "trials.jsonl", place / "in.jsonl", "--resamples", 50)
    assert analysed.code == 0
    assert "2 missing" in analysed.err


def test_answers_to_another_study_are_refused(study, place):
    still = asked(study, place, "still")
    (place / "other.jsonl").write_text(still.read_text().replace(".stop", ".halt"))
    for arguments in (("import", place / "other.jsonl", "--trials", place / "trials.jsonl", "--out", place / "x.jsonl"),
                      ("analyse", place / "trials.jsonl", place / "other.jsonl")):  # fmt: skip
        refused = study(*arguments)
        assert refused.code == 1
        assert "is not in the study" in refused.err


def test_probabilities_that_do_not_sum_to_one_are_refused_by_line(study, place):
    still = asked(study, place, "still")
    lines = still.read_text().splitlines(keepends=True)
    lines[3] = lines[3].replace("[1.0,", "[0.7,")
    still.write_text("".join(lines))
    refused = study("analyse", place / "trials.jsonl", still)
    assert refused.code == 1
    assert "line 4 (trial" in refused.err
    assert "sums to 0.7, not to 1" in refused.err


def test_a_missing_control_is_refused(study, place):
    lines = (place / "trials.jsonl").read_text().splitlines(keepends=True)
    (place / "trials.jsonl").write_text("".join(line for line in lines if '.stop.control","skill' not in line))
    with pytest.raises(BadFile, match="is missing from the file"):
        read_trials(place / "trials.jsonl")


def test_figures_are_drawn_if_asked_for(study, place):
    pytest.importorskip("matplotlib")
    forward = asked(study, place, "forward")
    done = study("analyse", place / "trials.jsonl", forward, "--figures", place / "figures", "--train",
                 place / "tasks.jsonl", "--resamples", 50)  # fmt: skip
    assert done.code == 0, done.err
    assert {path.name for path in (place / "figures").iterdir()} == {
        "forward-stopping.svg", "forward-turning.svg", "forward-room-changes.svg", "forward-rooms-within.svg",
        "directions.svg", "training.svg",
    }  # fmt: skip


def test_tasks_whose_words_have_no_places_are_refused(itinera, files, tmp_path):
    refused = itinera("study", "design", "stop", *files.options, "--out", tmp_path / "t.jsonl")
    assert refused.code == 2
    assert "are not aligned with places. Give Fine-Grained R2R, an RxR guide file with its pose traces" in refused.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["design", "juggling", "--tasks", "tasks.jsonl", "--worlds", "connectivity", "--out", "x"],
         "'juggling' is not a skill"),
        (["design", "object", "--tasks", "tasks.jsonl", "--worlds", "connectivity", "--out", "x"],
         "has no object annotations"),
        (["design", "room-1", "--tasks", "tasks.jsonl", "--worlds", "connectivity", "--out", "x"],
         "has no room labels"),
        (["design", "stop", "--tasks", "tasks.jsonl", "--worlds", "connectivity", "--variant", "mine", "--out", "x"],
         "variant must be one of paper, released, hearth, not 'mine'"),
        (["design", "stop", "--tasks", "tasks.jsonl", "--worlds", "connectivity", "--alignment", "x", "--out", "x"],
         "is for RxR guide files"),
        (["run", "--trials", "trials.jsonl", "--worlds", "connectivity", "--out", "x"],
         "Give an agent or the command that starts one"),
        (["export", "trials.jsonl", "--to", "yaml", "--out", "x"], "to must be one of r2r, rxr"),
        (["analyse", "trials.jsonl", "trials.jsonl"], "trials, not action-probabilities"),
        (["analyse", "trials.jsonl", "still.jsonl", "--model", "fm9"], "'fm9' is not a mixed model"),
        (["analyse", "trials.jsonl", "still.jsonl", "--train", "tasks.jsonl"], "--train adds a figure"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_words(study, place, monkeypatch, arguments, message):
    monkeypatch.chdir(place)
    asked(study, place, "still")
    refused = study(*arguments)
    assert refused.code in (1, 2)
    assert message in refused.err


def test_a_policy_from_outside_the_package_is_studied_like_the_others(study, place, itinera):
    model = place / "own.safetensors"
    named = ("--policy", "own_policy:GeometryPolicy")
    where = ("--tasks", place / "tasks.jsonl", "--worlds", place / "connectivity")
    assert itinera("train", *named, *where, "--steps", 2, "--batch-size", 4, "--out", model).code == 0
    out = place / "own.jsonl"
    run = ("--agent", model, "--trials", place / "trials.jsonl", "--worlds", place / "connectivity",
           "--rooms", place / "rooms.csv", "--out", out, "--workers", 0)  # fmt: skip
    refused = study("run", *run)
    assert refused.code == 1
    assert "--policy own_policy:GeometryPolicy" in refused.err
    assert study("run", *run, *named).code == 0
    assert not any(one.failed for one in read_action_probabilities(out))
