"""Hostile agents: none exceeds what its actions deserve, none outlives the run, and isolated none reads an answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import crossing
import hostile_agents
import itinera
import tiny
from itinera.agents.sandbox import landlock_version
from itinera.records import Ending, Predictions
from itinera.runs.engines import worker_pool
from itinera.runs.probing import probe_all
from itinera.tasks import Instruction

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
ALLOWED_SECONDS = 8.0  # for an episode; most agents are ended long before


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run an agent on episodes in the street a-b-c-d-e-f, from a to c, one for each instruction."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOSTILE_FILE", str(tmp_path / "left_behind"))
    files = tiny.on_graphs(tmp_path)

    def run(agent: str, instructions: Sequence[str], **options) -> Predictions:
        tasks = files.write("R2R_hostile.json", [tiny.path(1, "house", "abc") | {"instructions": list(instructions)}])
        options = {"workers": 1, "limit_seconds": ALLOWED_SECONDS, "keep_going": True} | options
        return itinera.run(f"hostile_agents:{agent}", tasks, files.worlds, start_method="spawn", **options)

    run.files = files
    return run


def reasons(predictions: Predictions) -> dict[str, str]:
    """The reason of each failure, or how else the episode ended, by the number of the instruction."""
    found = [(one.episode_id, one.ending, one.notes.get("failed", "")) for one in predictions.trajectories]
    return {name.partition("_")[2]: reason or ending.value for name, ending, reason in found}


def test_a_worker_has_no_answers(run):
    """What an agent finds in its own process; the disk is another matter, for which there is isolation."""
    tricks = ["gc", "frames", "arguments"]
    assert list(reasons(run("Spy", tricks)).values()) == [f"NothingFound: {trick}" for trick in tricks]


def test_the_same_tricks_find_the_answers_in_this_process(run):
    """The tricks work, or the tests above would show nothing: a run in this process is as honest as its agent."""
    found = reasons(run("Spy", ["gc", "frames", "disk"], workers=0, limit_seconds=None)).values()
    assert all(reason.startswith("Found: ") for reason in found), found


@pytest.mark.skipif(not landlock_version(), reason="this system has no Landlock")
@pytest.mark.parametrize("workers", [0, 1])
def test_an_isolated_agent_reads_no_answer(run, workers):
    tricks = list(hostile_agents.SEARCHES)
    found = reasons(run("Spy", tricks, workers=workers, isolate=True, reply_seconds=60.0, limit_seconds=None))
    assert [reason.splitlines()[0] for reason in found.values()] == [
        f"AgentFailure: NothingFound: {trick}" for trick in tricks
    ]


@pytest.mark.skipif(not landlock_version(), reason="this system has no Landlock")
def test_isolation_changes_no_row(run):
    tasks, worlds = run.files.tasks, run.files.worlds
    plain = itinera.run("scripted_agents:Wanderer", tasks, worlds, seed=3, workers=0, record_probabilities=True)
    alone = itinera.run(
        "scripted_agents:Wanderer", tasks, worlds, seed=3, workers=0, record_probabilities=True, isolate=True
    )
    assert [one.places for one in alone.trajectories] == [one.places for one in plain.trajectories]
    for one, other in zip(alone.trajectories, plain.trajectories, strict=True):
        found = [[p.tolist() for p in each.action_log.probabilities] for each in (one, other)]
        assert found[0] == found[1]


ENDINGS = {
    "stay": "stopped",
    "memory": "The agent chose '900'",  # if memory runs out, Linux ends the worker rather than the run
    "pickle": "RuntimeError: boom",
    "pickle in the pipe": "the worker process sent what it should not",
    "garbage": "the worker process sent what it should not",
    "half a message": "time limit",
    "hang": "time limit",
    "stop": "time limit",
    "close": "the process closed its connection.",
    "leave": "the process ended with exit code 0.",
    "fork": "",  # the child keeps the pipes open: it is noticed by the end of the worker, or by the time limit
    "interrupt": "the process ended with exit code 1.",
    "exit": "SystemExit: 3",
    "print": "the agent printed more than",
    "stdout": "stopped",
    "forge a jump": "a trajectory that moves where no edge leads",
    "forge a start": "a trajectory that does not begin at the start",
    "forge another": "a trajectory that belongs to another episode",
    "forge lengths": "no trajectory",
    "float": "an action is an integer",
    "nan": "an action is an integer",
    "true": "an action is an integer",
    "none": "an action is an integer",
    "text": "an action is an integer",
    "list": "an action is an integer",
    "huge": "The agent chose action",
    "negative": "The agent chose action",
}
QUICK = [word for word, reason in ENDINGS.items() if not reason.startswith(("time", "the process closed")) and reason]


def check_endings(run, words):
    found = reasons(run("Hostile", words))
    wrong = {word: reason for word, reason in zip(words, found.values(), strict=True) if ENDINGS[word] not in reason}
    assert not wrong
    assert not Path(os.environ["HOSTILE_FILE"]).exists()  # nothing was unpickled


def test_hostile_agents_lose_their_episode_and_no_more(run):
    check_endings(run, QUICK)


@pytest.mark.slow
def test_agents_that_can_only_be_killed_lose_their_episode_and_no_more(run):
    check_endings(run, [word for word in ENDINGS if word not in QUICK])


def test_a_patched_simulator_gains_nothing(run):
    found = reasons(run("Walker", ["teleport"]))
    assert "moves where no edge leads" in found["0"]


@pytest.mark.parametrize("workers", [1, 2])
def test_no_process_of_an_agent_survives_the_run(run, workers):
    words = ["child", "detached child", "detached child, then leave", "stay"]
    run("Hostile", words, workers=workers)
    started = Path(os.environ["HOSTILE_FILE"]).read_text().split()
    assert len(started) == 3
    assert [pid for pid in started if Path(f"/proc/{pid}").exists()] == []


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["reset", "start_episode"])
def test_every_phase_has_a_time_limit(run, monkeypatch, phase):
    monkeypatch.setenv("HOSTILE_PHASE", phase)
    assert "time limit" in reasons(run("Hostile", ["stay"]))["0"]


@pytest.mark.slow
def test_making_an_agent_has_a_time_limit(run, monkeypatch):
    monkeypatch.setattr(worker_pool, "START_SECONDS", 1.0)
    with pytest.raises(itinera.errors.ItineraError, match="time limit: loading the agent took longer"):
        run("Slow", ["stay"])


@pytest.mark.slow
def test_the_guided_phase_has_a_time_limit(run):
    tasks, worlds = run.files.tasks, run.files.worlds
    found = itinera.run(
        "hostile_agents:HangingObserver", tasks, worlds, tours=run.files.tours, workers=1, limit_seconds=ALLOWED_SECONDS
    )
    endings = [one.ending for one in found.trajectories]
    assert Ending.FAILED in endings
    assert len(endings) == 5


@pytest.mark.skipif(not landlock_version(), reason="this system has no Landlock")
@pytest.mark.slow
@pytest.mark.parametrize(
    "word", ["hang", "stop", "close", "leave", "garbage", "fork", "exit", "print", "detached child"]
)
def test_isolated_agents_lose_their_episode_and_no_more(run, word):
    found = reasons(run("Hostile", [word, "stay"], isolate=True, reply_seconds=15.0, limit_seconds=None))
    assert found["1"] == "stopped"
    assert found["0"] != "stopped" or word in ("print", "detached child", "garbage")
    assert not [name for name in os.listdir("/tmp") if name.startswith("itinera-agent-")]


@pytest.mark.parametrize("isolate", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_false_probabilities_fail_their_episode(run, isolate):
    words = ["nan", "negative", "many", "text", "pickle", "leave"]
    options = {"isolate": True, "limit_seconds": None} if isolate else {}
    found = run("FalseProbabilities", words, record_probabilities=True, **options)
    assert [one.ending for one in found.trajectories] == [Ending.FAILED] * len(words)
    assert not Path(os.environ["HOSTILE_FILE"]).exists()


def test_the_worker_of_a_study_has_no_targets_and_survives_its_agents(monkeypatch, tmp_path):
    monkeypatch.setenv("HOSTILE_FILE", str(tmp_path / "left_behind"))
    trials = crossing.trials(["stop", "room-within-2"])[:4]
    assert any(trial.target for trial in trials)
    words = ["look", "leave", "garbage", "look"]
    trials = [
        replace(trial, episode=replace(trial.episode, instruction=Instruction(word)))
        for trial, word in zip(trials, words, strict=True)
    ]
    make = partial(crossing.context, hostile_agents.StudySpy)
    found = dict(pair for batch in probe_all(make, trials, seed=0, workers=1) for pair in batch)
    reasons = [found[k].failed for k in range(4)]
    assert reasons[0] == reasons[3] == "NothingFound: target"
    assert reasons[1] == "the process ended with exit code 4."
    assert reasons[2].startswith("the worker process sent what it should not")
    assert not (tmp_path / "left_behind").exists()


def test_a_program_leaves_no_process_behind(run):
    program = run.files.write(
        "program.py",
        "import json, os, subprocess, sys\n"
        "words = [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(600)']\n"
        "child = subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)\n"
        "open('child', 'w').write(str(child.pid))\n"
        "for line in sys.stdin:\n"
        "    answers = {'hello': {'version': 1, 'wants': []}, 'act': {'action': 0}}\n"
        "    print(json.dumps(answers.get(json.loads(line)['ask'], {})), flush=True)\n",
    )
    words = [sys.executable, "-I", str(program)]
    found = itinera.run(words, run.files.tasks, run.files.worlds, workers=0)
    assert {one.ending for one in found.trajectories} == {Ending.STOPPED}
    assert not Path(f"/proc/{Path('child').read_text()}").exists()
