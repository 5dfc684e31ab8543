"""A run knows its agent: by its modules, the files it declares and its options. Nothing of another agent is reused."""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import dataclass

import pytest

import itinera
import tiny
from itinera.__main__ import main
from itinera.errors import BadArgument, ItineraError
from itinera.formats.native_predictions import encode_rollout, read_predictions

AGENT = """
import helper
from pathlib import Path

class Agent:
    files = ["weights.txt"]

    def __init__(self, moves=""):
        self.moves = int(moves or Path("weights.txt").read_text()) * helper.FACTOR
    def reset(self, rng): pass
    def start_episode(self, instruction): self.left = self.moves
    def act(self, observation):
        self.left -= 1
        return int(self.left >= 0)
    def observe(self, observation): pass
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = tiny.on_graphs(tmp_path)
    files.write("my_agent.py", AGENT)
    files.write("helper.py", "FACTOR = 1\n")
    files.write("weights.txt", "1")
    return files


@dataclass(frozen=True)
class Done:
    """What the command left behind."""

    returncode: int
    stderr: str


@pytest.fixture
def run(files, monkeypatch, capsys):
    """The command, with the modules of the agent imported anew, as after a change of its code."""

    def run(*more, workers=0, agent="my_agent:Agent") -> Done:
        words = ["run", "--agent", agent, *files.options, "--out", "preds.jsonl", "--workers", str(workers), *more]
        monkeypatch.setattr(sys, "argv", ["itinera", *words])
        monkeypatch.setattr(sys, "path", [str(files.folder), *sys.path])
        importlib.invalidate_caches()
        for name in ("my_agent", "helper"):
            sys.modules.pop(name, None)
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as left:
            code = left.code
        said = capsys.readouterr().err
        assert "Traceback" not in said or "stopped; correct the agent" in said, said
        return Done(code, said)

    return run


@pytest.mark.parametrize("changed", ["weights.txt", "helper.py", "my_agent.py"])
def test_a_changed_agent_is_another_run(run, files, changed):
    assert run().returncode == 0
    again = run()
    assert again.returncode == 0
    assert "is complete already" in again.stderr
    compared = "Unchanged by digest: tasks .*R2R_tiny.json, worlds .*, agent my_agent.py, agent 2 helper.py, agent 3 we"
    assert re.search(compared, again.stderr)
    with (files.folder / changed).open("a") as stream:
        stream.write("\n")
    refused = run()
    assert refused.returncode == 2
    assert "comes from another run" in refused.stderr


def test_the_digests_do_not_depend_on_the_number_of_workers(run, files):
    assert run(workers=2).returncode == 0
    assert "is complete already" in run(workers=0).stderr
    provenance = read_predictions("preds.jsonl").provenance
    found = {role: name for role, name in provenance.inputs.items() if role.startswith("agent")}
    assert found == {"agent": "my_agent.py", "agent 2": "helper.py", "agent 3": "weights.txt"}


def test_options_and_given_files_are_part_of_the_run(run, files):
    files.write("more.bin", "1")
    given = ["--agent-option", "moves=2", "--agent-file", "more.bin"]
    assert run(*given).returncode == 0
    assert {len(one.places) for one in read_predictions("preds.jsonl").trajectories} == {3}
    assert "is complete already" in run(*given).stderr
    assert run("--agent-option", "moves=1", "--agent-file", "more.bin").returncode == 2
    files.write("more.bin", "2")
    assert run(*given).returncode == 2


def test_files_that_options_name_are_part_of_the_run(run, files):
    files.write("ckpt.txt", "x")
    files.write("my_agent.py", AGENT.replace('moves=""', 'moves="", ckpt=""'))
    assert run("--agent-option", "ckpt=ckpt.txt").returncode == 0
    files.write("ckpt.txt", "y")
    assert run("--agent-option", "ckpt=ckpt.txt").returncode == 2


def test_an_object_is_known_by_the_files_it_declares(files):
    class Agent:
        files = ("weights.txt",)

        def reset(self, rng):
            pass

        def start_episode(self, instruction):
            pass

        def act(self, observation):
            return 0

        def observe(self, observation):
            pass

    itinera.run(Agent(), files.tasks, files.worlds, out="preds.jsonl")
    itinera.run(Agent(), files.tasks, files.worlds, out="preds.jsonl")
    files.write("weights.txt", "2")
    with pytest.raises(BadArgument, match="comes from another run"):
        itinera.run(Agent(), files.tasks, files.worlds, out="preds.jsonl")


def test_an_agent_that_changes_during_the_run_ends_it(run, files):
    changing = AGENT.replace(
        "self.left = self.moves", "self.left = self.moves; Path('helper.py').write_text('FACTOR = 2')"
    )
    files.write("my_agent.py", changing)
    done = run()
    assert done.returncode == 1
    assert "The files of the agent changed during the run: helper.py" in done.stderr
    assert not (files.folder / "preds.jsonl").exists()


def test_a_worker_with_another_agent_ends_the_run(run, files):
    # The first worker changes the weights and dies: the next one would be another agent.
    dying = "import os; Path('weights.txt').write_text('2'); os._exit(3)"
    files.write("my_agent.py", AGENT.replace("self.left = self.moves", dying))
    done = run(workers=1)
    assert done.returncode == 1
    assert "The files of the agent changed during the run: weights.txt" in done.stderr


FAILING = AGENT.replace("self.left = self.moves", "raise KeyError('no such word')")


def test_equal_failures_stop_the_run_with_the_traceback(run, files):
    many = files.write("many.json", [tiny.path(k, "house", "abc", 2) for k in range(10)])
    files.write("my_agent.py", FAILING)
    words = ["--tasks", str(many)]
    stopped = run(*words)
    assert stopped.returncode == 1
    assert "failed in the same way in all of 5 episodes" in stopped.stderr
    assert "my_agent.py" in stopped.stderr
    assert "KeyError: 'no such word'" in stopped.stderr
    assert not list(files.folder.glob("preds.jsonl*"))  # what failed is not kept
    files.write("my_agent.py", AGENT)
    assert run(*words).returncode == 0


def test_a_run_goes_on_if_asked_to(run, files):
    many = files.write("many.json", [tiny.path(k, "house", "abc", 2) for k in range(10)])
    files.write("my_agent.py", FAILING)
    assert run("--tasks", str(many), "--keep-going").returncode == 0
    assert len(read_predictions("preds.jsonl").rollouts) == 20


class Failing:
    """Fails in the episodes it is told to, always at the same line."""

    def __init__(self, failing):
        self.failing, self.episode = failing, -1

    def reset(self, rng):
        self.episode += 1

    def start_episode(self, instruction):
        if self.episode in self.failing:
            raise RuntimeError("not this one")

    def act(self, observation):
        return 0

    def observe(self, observation):
        pass


def test_one_success_is_enough_to_go_on(files):
    tasks = files.write("many.json", [tiny.path(k, "house", "abc", 2) for k in range(10)])
    found = itinera.run(Failing({0, 1, 2, 3, *range(5, 20)}), tasks, files.worlds, out="preds.jsonl")
    assert len(found.rollouts) == 20
    assert [encode_rollout(one) for one in read_predictions("preds.jsonl").rollouts] == [
        encode_rollout(one) for one in found.rollouts
    ]
    with pytest.raises(ItineraError, match="in all of 5 episodes"):
        itinera.run(Failing(range(20)), tasks, files.worlds)
    assert len(itinera.run(Failing(range(20)), tasks, files.worlds, keep_going=True).rollouts) == 20


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--seed", "-1"], r"Invalid value for .--seed.: .* greater than or equal to 0"),
        (["--agent-file", "missing.pt"], "missing.pt is named as a file of the agent and does not exist"),
        (["--agent-option", "moves"], "--agent-option is NAME=VALUE"),
        (["--out", "weights.txt/preds.jsonl"], "cannot be written"),
    ],
)
def test_bad_options_are_told_in_one_sentence(run, files, more, message):
    done = run(*more)
    assert done.returncode in (1, 2)
    assert re.search(message, done.stderr), done.stderr


@pytest.mark.parametrize("workers", [0, 1])
def test_a_syntax_error_is_told_in_one_sentence(run, files, workers):
    files.write("my_agent.py", "class Agent(\n")
    done = run(workers=workers)
    assert done.returncode == 2
    assert "my_agent.py, line 1, is not Python" in done.stderr


def test_options_are_for_classes(files):
    with pytest.raises(BadArgument, match="passes arguments to a class of yours"):
        itinera.run("random", files.tasks, files.worlds, agent_options={"moves": 1})
    with pytest.raises(BadArgument, match="strings, numbers and booleans"):
        itinera.run("my_agent:Agent", files.tasks, files.worlds, agent_options={"moves": [1]})
    with pytest.raises(BadArgument, match="starts the agent itself"):
        itinera.run(Failing(()), files.tasks, files.worlds, isolate=True)
