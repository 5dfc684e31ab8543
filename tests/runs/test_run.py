"""`itinera.run` from Python: any kind of agent, any number of workers, interrupted and resumed."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

import itinera
import tiny
from itinera.errors import BadArgument
from itinera.formats.native_predictions import encode_rollout, read_predictions
from itinera.metrics.running import RunningScore
from itinera.runs.prepare import choose_start_method, make_jobs
from scripted_agents import Scripted, Wanderer

CLIENT = Path(__file__).parents[2] / "examples" / "client.py"


@pytest.fixture
def files(tmp_path):
    return tiny.on_graphs(tmp_path)


def rows(predictions):
    return [encode_rollout(rollout) for rollout in predictions.rollouts]


def test_an_agent_may_be_an_object_a_class_or_a_name(files):
    named = itinera.run("scripted_agents:Wanderer", files.tasks, files.worlds, seed=3, workers=0)
    assert rows(itinera.run(Wanderer(), files.tasks, files.worlds, seed=3)) == rows(named)
    assert rows(itinera.run(Wanderer, str(files.tasks), str(files.worlds), seed=3)) == rows(named)
    tasks, worlds = itinera.read_tasks(files.tasks), itinera.read_worlds(files.worlds)
    assert rows(itinera.run(Wanderer(), tasks, worlds, seed=3)) == rows(named)
    assert rows(itinera.run(Wanderer(), tasks, dict(worlds), seed=3)) == rows(named)
    assert named.protocol.name == "r2r"
    assert named.provenance.seed == 3


def test_an_agent_may_be_a_command(files):
    words = itinera.run([sys.executable, str(CLIENT)], files.tasks, files.worlds, workers=0)
    line = itinera.run(None, files.tasks, files.worlds, command=f"{sys.executable} {CLIENT}", workers=0)
    assert rows(words) == rows(line)


@pytest.mark.parametrize("workers", [1, 2])
def test_objects_of_this_process_run_in_workers(files, workers):
    class Local(Wanderer):
        """Nothing that another process could import."""

    tasks, worlds = itinera.read_tasks(files.tasks), itinera.read_worlds(files.worlds)
    alone = itinera.run(Local(), tasks, worlds, seed=3)
    assert rows(itinera.run(Local(), tasks, worlds, seed=3, workers=workers)) == rows(alone)
    assert rows(itinera.run(Local, tasks, worlds, seed=3, workers=workers)) == rows(alone)


def test_a_remark_says_how_to_use_several_processes(files, caplog):
    with caplog.at_level(logging.INFO, "itinera"):
        itinera.run(Wanderer(), files.tasks, files.worlds, max_episodes=1)
    assert "workers=N runs it in N processes" in caplog.text


SCRIPT = """
import itinera

class MyAgent:
    def reset(self, rng): self.rng = rng
    def start_episode(self, instruction): pass
    def act(self, observation): return int(self.rng.integers(1 + len(observation.candidates.nodes)))
    def observe(self, observation): pass

for agent in (MyAgent(), MyAgent, "uniform"):
    found = [itinera.run(agent, "R2R_tiny.json", "connectivity", workers=workers, seed=1) for workers in (0, 2)]
    alone, together = ([r.trajectories[0].places for r in one.rollouts] for one in found)
    assert alone == together
    print(len(alone))
"""


def test_an_unguarded_script_uses_workers(files):
    (files.folder / "script.py").write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "error", "script.py"]
    done = subprocess.run(command, cwd=files.folder, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "5\n5\n5\n"), done.stderr


def test_a_run_with_a_file_is_resumed_and_returned_as_written(files, caplog):
    class Failing(Wanderer):
        left = 2

        def reset(self, rng):
            if Failing.left == 0:
                raise KeyboardInterrupt
            Failing.left -= 1
            super().reset(rng)

    out = files.folder / "predictions.jsonl"
    with caplog.at_level(logging.INFO, "itinera"):
        with pytest.raises(KeyboardInterrupt):
            itinera.run(Failing(), files.tasks, files.worlds, out=out)
        assert "Interrupted with 2 of 5 rollouts" in caplog.text
        assert not out.exists()
        Failing.left = 9
        resumed = itinera.run(Failing(), files.tasks, files.worlds, out=out)
        assert "2 of 5 rollouts exist already; resuming." in caplog.text
    assert rows(resumed) == rows(read_predictions(out)) == rows(itinera.run(Wanderer(), files.tasks, files.worlds))
    assert rows(itinera.run(Failing(), files.tasks, files.worlds, out=out)) == rows(resumed)
    with pytest.raises(BadArgument, match="comes from another run"):
        itinera.run(Wanderer(), files.tasks, files.worlds, out=out)
    with pytest.raises(BadArgument, match="comes from another run"):
        itinera.run(Failing(), files.tasks, files.worlds, out=out, seed=1)
    itinera.run(Wanderer(), files.tasks, files.worlds, out=out, overwrite=True)


def test_what_was_given_as_an_object_is_part_of_the_plan(files):
    out = files.folder / "predictions.jsonl"
    tasks, worlds = itinera.read_tasks(files.tasks), itinera.read_worlds(files.worlds)
    itinera.run(Scripted({}), tasks, dict(worlds), out=out)
    assert set(read_predictions(out).provenance.digests) == {"tasks", "worlds", "agent"}
    itinera.run(Scripted({}), tasks, dict(worlds), out=out)
    with pytest.raises(BadArgument, match="comes from another run"):
        itinera.run(Scripted({}), tasks[:3], dict(worlds), out=out)


def test_progress_reports_the_running_score(files):
    seen: list[tuple[int, int]] = []
    scores: list[RunningScore] = []

    def progress(score):
        seen.append((score.episodes, score.total))
        scores.append(score)

    itinera.run("expert", files.tasks, files.worlds, workers=0, progress=progress)
    assert seen == [(done, 5) for done in range(6)]
    assert scores[-1].success().mean == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((object(), "tasks", "worlds"), "object is not an agent: it has no reset, start_episode, act, observe."),
        ((None, "tasks", "worlds"), "Give an agent or the command"),
        (("randam", "tasks", "worlds"), "There is no agent 'randam'"),
        (("random", 3, "worlds"), "tasks must be a Split .* or the path of a file, not int"),
        (("random", "tasks", 3), "worlds must be .* or the path of a file, not int"),
        ((Scripted, "tasks", "worlds"), "Scripted.. failed: .*pass an object"),
    ],
)
def test_wrong_arguments_say_what_to_give(files, arguments, message):
    agent, tasks, worlds = (
        {"tasks": files.tasks, "worlds": files.worlds}.get(a, a) if isinstance(a, str) else a for a in arguments
    )
    with pytest.raises(BadArgument, match=message):
        itinera.run(agent, tasks, worlds, workers=0)


def test_limits_must_be_positive(files):
    with pytest.raises(BadArgument, match="max_episodes must be ≥ 1"):
        make_jobs(itinera.read_tasks(files.tasks), 0)
    with pytest.raises(BadArgument, match="workers must be ≥ 0"):
        itinera.run("random", files.tasks, files.worlds, workers=-1)


def test_fresh_processes_are_preferred(monkeypatch):
    assert choose_start_method(True) == "spawn"  # tests run as a module
    assert choose_start_method(False) == "fork"
    assert choose_start_method(False, "spawn") == "spawn"
    monkeypatch.setattr("multiprocessing.get_all_start_methods", lambda: ["spawn"])
    with pytest.raises(BadArgument, match="module:Class"):
        choose_start_method(False)


def test_a_single_rollout_replay_and_check(files):
    tasks, worlds = itinera.read_tasks(files.tasks), itinera.read_worlds(files.worlds)
    found = itinera.rollout(Wanderer(), tasks[0], worlds, seed=3)
    whole = itinera.run(Wanderer(), tasks, worlds, seed=3)
    assert encode_rollout(found) == rows(whole)[0]
    assert itinera.replay(whole, tasks, worlds).identical
    agent = Wanderer()
    assert itinera.check_agent(agent) is agent
    with pytest.raises(BadArgument, match="random is one of itinera's own agents"):
        itinera.check_agent("random")
