"""Isolated agents: the sandbox, the host in it, and what is said where a system cannot isolate."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

import itinera
import tiny
from itinera.agents import isolation, remote, sandbox
from itinera.agents.host import ObservationMessage, read_observation
from itinera.errors import BadArgument, ItineraError
from itinera.hearth.language.scene_description import DescribedObject, SceneDescription
from itinera.rendering.camera import Frame
from itinera.simulators.simulator import Candidates, Observation

CLIENT = Path(__file__).parents[2] / "examples" / "client.py"
needs_landlock = pytest.mark.skipif(not sandbox.landlock_version(), reason="this system has no Landlock")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tiny.on_graphs(tmp_path)


def round_trip(observation):
    arrays = remote._arrays(observation, frozenset(remote.OPTIONAL))
    message = remote._encoder.encode(remote._encode(observation, arrays, with_description=True))
    stream = io.BytesIO(b"".join(array.tobytes() for array in arrays.values()))
    return read_observation(msgspec.json.decode(message, type=ObservationMessage), stream)


def test_an_observation_on_a_graph_arrives_as_it_was():
    numbers = np.array([0.1, 1 / 3]), np.array([0.0, -0.5]), np.array([2.0, 1e-9])
    candidates = Candidates(("b", "c"), *numbers, np.array([3, 35]))
    seen = DescribedObject("sofa", "red", "", 0.5, 2.0, 1.8)
    description = SceneDescription("", "k", (seen,), (), ())
    views = np.arange(72, dtype=np.float32).reshape(36, 2)
    before = Observation("house", "a", 1 / 7, 0.0, candidates, views, description=description)
    after = round_trip(before)
    assert (after.world_id, after.place, after.heading, after.description) == ("house", "a", 1 / 7, description)
    assert after.candidates.nodes == candidates.nodes
    for name in ("headings", "elevations", "distances", "views"):
        found, expected = getattr(after.candidates, name), getattr(candidates, name)
        assert found.dtype == expected.dtype
        assert found.tolist() == expected.tolist()
    assert after.views.dtype == views.dtype
    assert (after.views == views).all()
    assert after.frame is None


def test_an_observation_on_the_ground_arrives_as_it_was():
    depth = np.array([[1.5, np.inf]], dtype=np.float32)
    frame = Frame(np.empty(0, np.uint8), depth, np.empty(0, np.uint8), np.empty(0, np.int32))
    after = round_trip(
        Observation("house", np.array([0.1, 2.0, 1 / 3]), 0.5, 0.0, frame=frame, collided=True, time=2.5)
    )
    assert after.place.tolist() == [0.1, 2.0, 1 / 3]
    assert (after.collided, after.time, after.candidates, after.description) == (True, 2.5, None, None)
    assert after.frame.depth.tolist() == depth.tolist()
    assert [len(channel) for channel in after.frame.channels] == [0, 1, 0, 0]


@needs_landlock
def test_a_command_can_be_isolated(files):
    plain = itinera.run([sys.executable, str(CLIENT)], files.tasks, files.worlds, workers=0)
    alone = itinera.run([sys.executable, str(CLIENT)], files.tasks, files.worlds, workers=0, isolate=True)
    assert [one.places for one in alone.trajectories] == [one.places for one in plain.trajectories]


AGENT = """
from pathlib import Path
import helper

class Agent:
    def __init__(self, path=""): self.path = path or "data.txt"
    def reset(self, rng): pass
    def start_episode(self, instruction): pass
    def act(self, observation): raise RuntimeError(Path(self.path).read_text())
    def observe(self, observation): pass

class Broken:
    def __init__(self): raise ValueError("no weights")
"""


@needs_landlock
def test_an_isolated_agent_reads_its_code_and_declared_files_only(files):
    files.write("my_isolated_agent.py", AGENT)
    files.write("helper.py", "")
    files.write("data.txt", "the content")

    def reason(**options):
        name = "my_isolated_agent:Agent"
        found = itinera.run(name, files.tasks, files.worlds, workers=0, isolate=True, max_episodes=1, **options)
        assert {"my_isolated_agent.py", "helper.py"} <= set(found.provenance.inputs.values())
        return next(iter(found.trajectories)).notes["failed"]

    assert "PermissionError" in reason()
    assert "the content" in reason(agent_files=["data.txt"])
    assert "the content" in reason(agent_options={"path": "data.txt"})


@needs_landlock
@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("my_broken_agent:Broken", "ValueError: no weights"),
        ("my_broken_agent:Nobody", "has no Nobody"),
        ("nowhere:Agent", "nowhere cannot be imported"),
    ],
)
def test_an_agent_that_cannot_be_made_says_why(files, agent, words):
    files.write("my_broken_agent.py", AGENT)
    files.write("helper.py", "")
    with pytest.raises(ItineraError, match=words):
        itinera.run(agent, files.tasks, files.worlds, workers=0, isolate=True)


def make(files, hidden):
    return isolation.make_sandbox("my:Agent", is_command=False, files=[], hidden=hidden)


def test_a_system_that_cannot_hide_the_tasks_says_so(files, monkeypatch):
    monkeypatch.setattr(isolation, "landlock_version", lambda: 0)
    monkeypatch.setattr(isolation, "becomes_nobody", lambda sandbox: False)
    assert "can read the tasks file if it finds it" in isolation.describe_isolation(make(files, [files.tasks]))
    monkeypatch.setattr(isolation, "becomes_nobody", lambda sandbox: True)
    assert "nobody" in isolation.describe_isolation(make(files, []))
    monkeypatch.setattr(isolation, "is_readable_by_others", lambda path: True)
    with pytest.raises(BadArgument, match=r"Every user of this machine can read .*chmod o-rwx"):
        make(files, [files.tasks])


def test_the_environment_names_nothing_of_the_run(monkeypatch, tmp_path):
    monkeypatch.setenv("TASKS", "R2R_val_unseen.json")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    found = sandbox.make_environment(str(tmp_path))
    assert "TASKS" not in found
    assert (found["OMP_NUM_THREADS"], found["HOME"]) == ("1", str(tmp_path))


def test_hidden_files_are_left_out_wherever_they_lie(tmp_path):
    (tmp_path / "package" / "inner").mkdir(parents=True)
    for name in ("package/__init__.py", "package/inner/answers.json", "package/inner/code.py"):
        (tmp_path / name).write_text("")
    os.symlink(tmp_path / "package" / "inner" / "answers.json", tmp_path / "package" / "link")
    hidden = [str(tmp_path / "package" / "inner" / "answers.json")]
    found = {os.path.relpath(path, tmp_path) for path in sandbox._visible(str(tmp_path / "package"), hidden)}
    assert found == {"package/__init__.py", "package/inner/code.py"}
    assert list(sandbox._visible(hidden[0], hidden)) == []


def test_permissions_of_others_are_recognized(tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text("")
    path.chmod(0o600)
    assert not sandbox.is_readable_by_others(str(path))
    assert not sandbox.is_readable_by_others(str(tmp_path / "missing"))
    assert sandbox.is_readable_by_others("/usr")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("nobody", [True, False])
def test_root_loses_its_privileges(tmp_path, nobody):
    secret = tmp_path / "secret"
    secret.write_text("answer")
    os.chown(secret, 1234, 1234)
    secret.chmod(0o600)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            sandbox._take_privileges([(str(tmp_path), sandbox.READ)], nobody=nobody)
            try:
                secret.read_text()
            except PermissionError:
                code = 0 if os.getuid() == (sandbox.NOBODY if nobody else 0) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
