"""`itinera run`, from tasks to predictions, interrupted and resumed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import typer

import tiny
from itinera.cli.main import app
from itinera.formats.native_predictions import read_predictions
from itinera.runs.resume import ResumableWriter


def arguments(files, out, *more, agent="scripted_agents:Wanderer", workers=0):
    return ["run", "--agent", agent, *files.options, "--out", str(out), "--workers", str(workers), *map(str, more)]


@pytest.fixture
def many(files):
    """The tiny benchmark with more to do: 40 paths told three times each."""
    paths = [tiny.path(k, *(("house", "abcdef"[k % 4 :]), ("hut", "pqrst"[k % 3 :]))[k % 2], 3) for k in range(40)]
    tiny.written(files.tasks, paths)
    return files


def rows(file: Path) -> list[bytes]:
    return file.read_bytes().splitlines()[1:]


def test_a_run_keeps_a_walk_for_each_episode(itinera, files, tmp_path):
    out = tmp_path / "predictions.jsonl"
    done = itinera(*arguments(files, out, agent="scripted_agents:Still"))
    assert done.code == 0
    assert done.out == f"{out}: 5 rollouts, 5 episodes; 5 stopped, 0 out of steps, 0 failed. SR 0.0 % (0.0 – 43.4)\n"
    predictions = read_predictions(out)
    assert [walk.tour_id for walk in predictions.rollouts] == ["1_0", "1_1", "2_0", "3_0", "3_1"]
    assert predictions.protocol.name == "r2r"
    assert predictions.provenance.seed == 0
    assert set(predictions.provenance.digests) == {"tasks", "worlds", "agent"}
    assert not (tmp_path / "predictions.jsonl.partial").exists()
    scored = itinera("score", out, *files.options, "--json")
    assert scored.json["metrics"]["SR"]["mean"] == 0.0


def test_a_run_over_tours_leads_the_agent_between_episodes(itinera, files, tmp_path):
    out = tmp_path / "predictions.jsonl"
    done = itinera(*arguments(files, out, "--tours", files.tours, "--json", agent="scripted_agents:Still"))
    assert done.json == {
        "file": str(out), "rollouts": 3, "episodes": 5, "stopped": 5, "out of steps": 0, "failed": 0,
        "SR": {"mean": 0.0, "low": 0.0, "high": pytest.approx(0.434, abs=1e-3)},
    }  # fmt: skip
    predictions = read_predictions(out)
    assert predictions.protocol.name == "ivln"
    assert [len(walk.trajectories) for walk in predictions.rollouts] == [2, 1, 2]
    assert predictions.rollouts[0].trajectories[0].places == tuple("abc")
    scored = itinera("score", out, *files.options, "--tours", files.tours, "--json")
    assert scored.json["metrics"]["PL"]["mean"] == 0.0


def test_the_first_episodes_can_be_walked_alone(itinera, files, tmp_path):
    out = tmp_path / "predictions.jsonl"
    assert itinera(*arguments(files, out, "--max-episodes", 3)).code == 0
    assert len(rows(out)) == 3
    assert itinera(*arguments(files, tmp_path / "b.jsonl", "--max-episodes", 0)).code == 2


def test_choices_are_kept_if_asked_for(itinera, files, tmp_path):
    out = tmp_path / "predictions.jsonl"
    assert itinera(*arguments(files, out, "--record-probabilities")).code == 0
    assert all(t.action_log is not None for t in read_predictions(out).trajectories)


def test_rows_do_not_depend_on_the_number_of_workers(itinera, itinera_process, many, tmp_path):
    alone = tmp_path / "0.jsonl"
    assert itinera(*arguments(many, alone)).code == 0
    for workers in (1, 2, 4):
        out = tmp_path / f"{workers}.jsonl"
        assert itinera_process(*arguments(many, out, workers=workers)).code == 0
        assert rows(out) == rows(alone)
    assert itinera(*arguments(many, tmp_path / "other.jsonl", "--seed", 1)).code == 0
    assert rows(tmp_path / "other.jsonl") != rows(alone)


def started(command):
    return subprocess.Popen(
        [sys.executable, "-m", "itinera", *command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Ctrl-C is heard, even where these tests run in the background of a shell, which lets nobody there hear it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def test_a_run_killed_halfway_ends_with_the_same_bytes(itinera_process, many, tmp_path):
    command = arguments(many, tmp_path / "predictions.jsonl", agent="scripted_agents:Dawdler", workers=2)
    draft = tmp_path / "predictions.jsonl.partial"
    process = started(command)
    while not draft.exists() or draft.read_bytes().count(b"\n") < 20:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    there = draft.read_bytes().count(b"tour_id")
    assert there < 120
    again = itinera_process(*command)
    assert again.code == 0
    assert "of 120 rollouts exist already; resuming." in again.err
    stopped = (tmp_path / "predictions.jsonl").read_bytes()
    (tmp_path / "predictions.jsonl").unlink()
    assert itinera_process(*command).code == 0
    assert (tmp_path / "predictions.jsonl").read_bytes() == stopped


@pytest.mark.slow
def test_a_run_killed_at_random_moments_ends_with_the_same_rows(many, tmp_path):
    undisturbed = started(arguments(many, tmp_path / "whole.jsonl", agent="scripted_agents:Dawdler", workers=1))
    undisturbed.communicate()
    assert undisturbed.returncode == 0
    rng = np.random.default_rng(11)
    killed = 0
    while True:
        process = started(
            arguments(many, tmp_path / "predictions.jsonl", agent="scripted_agents:Dawdler", workers=1 + killed % 4)
        )
        try:
            process.communicate(timeout=rng.uniform(1.0, 4.0 + killed))
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            killed += 1
    assert killed > 1
    assert process.returncode == 0
    assert rows(tmp_path / "predictions.jsonl") == rows(tmp_path / "whole.jsonl")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_sigterm_keep_what_is_done(many, tmp_path, number, code):
    command = arguments(many, tmp_path / "predictions.jsonl", agent="scripted_agents:Dawdler", workers=2)
    draft = tmp_path / "predictions.jsonl.partial"
    process = started(command)
    while not draft.exists() or draft.read_bytes().count(b"\n") < 10:
        time.sleep(0.01)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code, said
    assert "Run the same again to resume." in said
    assert "Traceback" not in said


def test_a_run_that_is_done_is_left_alone(itinera, files, tmp_path):
    out = tmp_path / "predictions.jsonl"
    first = itinera(*arguments(files, out))
    made = out.read_bytes(), out.stat().st_mtime_ns
    again = itinera(*arguments(files, out, "--workers", 1))
    assert (again.code, again.out) == (0, first.out)
    assert "is complete already" in again.err
    assert (out.read_bytes(), out.stat().st_mtime_ns) == made
    other = itinera(*arguments(files, out, "--seed", 5))
    assert other.code == 2
    assert "comes from another run" in other.err
    assert itinera(*arguments(files, out, "--seed", 5, "--overwrite")).code == 0


def test_a_draft_of_another_run_is_not_mixed_in(itinera, files, tmp_path):
    out = tmp_path / "predictions.jsonl"
    with ResumableWriter(out, "other") as work:
        work.add(0, b"{}")
    refused = itinera(*arguments(files, out))
    assert refused.code == 2
    assert "belongs to another run" in refused.err
    assert itinera(*arguments(files, out, "--overwrite")).code == 0


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("nobody", "There is no agent 'nobody'."),
        ("no_such_module:Agent", "no_such_module cannot be imported"),
        ("scripted_agents:Nobody", "Module scripted_agents has no Nobody."),
        ("scripted_agents:STREETS", "'dict' object is not callable"),
        ("pathlib:Path", "is not an agent: it has no reset, start_episode, act, observe."),
    ],
)
def test_an_agent_that_is_none_is_told_so(itinera, files, tmp_path, agent, said):
    refused = itinera(*arguments(files, tmp_path / "predictions.jsonl", agent=agent, workers=1))
    assert refused.code in (1, 2)
    assert said in refused.err
    assert itinera(*arguments(files, tmp_path / "predictions.jsonl", agent="still")).code == 0  # nothing is in the way


def test_tasks_and_protocol_must_be_of_one_kind(itinera, files, tmp_path):
    refused = itinera(*arguments(files, tmp_path / "predictions.jsonl", "--protocol", "r2r-ce"))
    assert refused.code == 2
    assert "has episodes on graphs, but protocol r2r-ce is for episodes on the ground" in refused.err


def test_hidden_goals_are_not_asked_for(itinera, files, tmp_path):
    hidden = [{**path, "path": path["path"][:1], "distance": None} for path in tiny.PATHS]
    tiny.written(files.tasks, hidden)
    done = itinera(*arguments(files, tmp_path / "predictions.jsonl", "--tours", files.tours, "--json"))
    assert done.code == 0
    assert done.json["SR"] is None
    assert read_predictions(tmp_path / "predictions.jsonl").protocol.name == "ivln-test"


@pytest.mark.parametrize("agent", ["still", "uniform", "random", "forward", "expert"])
def test_agents_go_by_name(itinera, files, tmp_path, agent):
    done = itinera(*arguments(files, tmp_path / "predictions.jsonl", "--tours", files.tours, "--json", agent=agent))
    assert (done.code, done.json["failed"]) == (0, 0)
    if agent == "expert":
        assert done.json["SR"]["mean"] == 1.0


def test_the_reader_asks_for_sights(itinera, files, tmp_path):
    refused = itinera(*arguments(files, tmp_path / "predictions.jsonl", agent="reader"))
    assert refused.code == 2
    assert "give the folder of a Hearth season as --worlds" in refused.err


def test_an_agent_may_be_a_program_of_its_own(itinera, files, tmp_path):
    client = Path(__file__).parents[2] / "examples" / "client.py"
    command = ["run", *files.options, "--out", tmp_path / "predictions.jsonl", "--workers", 0, "--json"]
    done = itinera(*command, "--agent-command", f"{sys.executable} {client}")
    assert (done.code, done.json["failed"]) == (0, 0)
    assert itinera("replay", tmp_path / "predictions.jsonl", *files.options).code == 0
    told = "(--agent or --agent-command), one of them"
    for wrong in ([], ["--agent", "still", "--agent-command", "true"]):
        refused = itinera(*command, *wrong)
        assert refused.code == 2
        assert told in refused.err


def test_walls_are_met_on_the_ground(itinera, tmp_path):
    """From a file of a scene to walks, tours and back again."""
    from itinera.formats.scenes import write_scene
    from worlds.rooms import room

    write_scene(tmp_path / "scenes" / "house.glb", room(8, 6, boxes=[((2, 1, 0), (3, 5, 1.8))]))
    # Habitat's frame: y up, z towards us.
    paths = [[[1.0, 0.0, -3.0], [6.0, 0.0, -3.0]], [[6.0, 0.0, -2.0], [1.0, 0.0, -5.0]]]
    episodes = [tiny.ground_episode(k, "house", path) for k, path in enumerate(paths)]
    tasks = tiny.written(tmp_path / "tasks.json", {"episodes": episodes})
    tours = tiny.written(tmp_path / "tours.json", {"tasks": {"house": [["0", "1"]]}})
    given = ["--tasks", tasks, "--worlds", tmp_path / "scenes"]
    for agent in ("expert", "random"):
        out = tmp_path / f"{agent}.jsonl"
        done = itinera("run", "--agent", agent, *given, "--tours", tours, "--out", out, "--workers", 0, "--json")
        assert (done.code, done.json["failed"]) == (0, 0)
        assert agent == "random" or done.json["SR"]["mean"] == 1.0
        assert read_predictions(out).protocol.name == "ivln-ce"
        assert itinera("replay", out, *given, "--tours", tours).code == 0


@pytest.mark.parametrize("verb", ["run", "replay", "reproduce"])
def test_every_option_is_documented(verb):
    text = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    section = text.split(f"\n## {verb}\n")[1].split("\n## ")[0]
    options = {name for option in typer.main.get_command(app).commands[verb].params for name in option.opts}
    told = set(re.findall(r"--[a-z][a-z-]*", section))
    everywhere = {"--json"}  # on every verb, and told once for all
    assert {name for name in options if name.startswith("--")} - everywhere <= told


def test_a_part_of_a_split_is_run(files, itinera):
    out = files.folder / "part.jsonl"
    run = ("run", "--agent", "expert", *files.options, "--workers", 0, "--out", out, "--episodes")
    done = itinera(*run, "scan=hut")
    assert (done.code, "2 rollouts, 2 episodes" in done.out) == (0, True)
    assert [one.episode_id for one in read_predictions(out)] == ["3_0", "3_1"]
    told = itinera("score", out, *files.options, "--episodes", "answered", "--json").json
    assert (told["episodes"], told["part"]["total"], told["metrics"]["SR"]["mean"]) == (2, 5, 1.0)
    again = itinera(*run, "3_1,3_0")
    assert (again.code, again.out) == (0, done.out)  # the same part, so the same run
    assert "comes from another run" in itinera(*run, "scan=house").err
