"""Agents in processes of their own: what they are told and shown, and every way in which they can let one down."""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from itinera.agents.agent import ProbabilisticAgent
from itinera.agents.checks import check_agent
from itinera.agents.remote import connect_address, start_program
from itinera.agents.transport import AgentFailure
from itinera.errors import BadArgument
from itinera.hearth.language.scene_description import SceneDescription
from itinera.records import Ending
from itinera.rendering.camera import Frame
from itinera.runs.rollout import rollout
from itinera.seeding import generator
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.simulator import Observation
from itinera.tasks import Instruction, Tour
from itinera.tasks.protocol import IVLN
from itinera.worlds import Pose
from text_worlds import STREET, episode, world

HOUSE = world(STREET)
HOUSE_START = Pose("a")
EXAMPLES = Path(__file__).parents[2] / "examples"
CLIENT = EXAMPLES / "client.py"
OUTSIDER = Path(__file__).parents[1] / "support" / "scripted_process.py"


@pytest.fixture
def player():
    return shlex.join([sys.executable, "-I", "-S", str(OUTSIDER)])


@contextmanager
def called(command, **options):
    agent = start_program(command, **options)
    try:
        yield agent
    finally:
        agent.close()


def walked(agent, *words):
    episodes = tuple(episode(str(k), "ab", instruction=Instruction(word)) for k, word in enumerate(words))
    tour = Tour("tour", "house", tuple(e.id for e in episodes))
    return rollout(agent, GraphSimulator(), HOUSE, tour, episodes, protocol=IVLN, seed=7).trajectories


WRONGS = {
    "crash": "The agent ended (exit code 1). Last line of its stderr: ZeroDivisionError: division by zero\n",
    "leave": "The agent ended (exit code 3).",
    "abort": "The agent ended (signal SIGABRT).",
    "hang": "The agent did not answer within 0.6 s.",
    "nonsense": "answered act with going left: JSON is malformed",
    "no object": "answered act with [1]: Expected `object`, got `array`.",
    "text": 'answered act with {"action": "left"}: Expected `int | null`, got `str` - at `$.action`.',
    "half": "Expected `int | null`, got `float` - at `$.action`.",
    "true": "Expected `int | null`, got `bool` - at `$.action`.",
    "nan": 'answered act with {"action": NaN}: JSON is malformed',
    "nothing": 'answered act without "action".',
    "strange": "contains unknown field `deed`.",
    "far": "The agent chose action 1000000000000000000000000000000; the actions here are 0 to 1.",
    "back": "The agent chose action -1; the actions here are 0 to 1.",
    "twice": "answered act with more than one line",
    "bytes": "answered act with",
    "print": "answered with more than 1048576 bytes instead of a line",
    "complain": "The agent wrote more than 1048576 bytes to stderr for one reply.",
    "kill": "The agent ended (signal SIGKILL).",
    "exit": "The agent ended (exit code 1). Last line of its stderr: enough",
    "close": "The agent closed its input.",
    "sorry": "The agent reports: no model",
}


@pytest.mark.parametrize(("word", "told"), WRONGS.items(), ids=WRONGS)
def test_whatever_goes_wrong_fails_the_episode_with_its_reason_and_no_other(player, word, told):
    with called(player, seconds=0.6 if word == "hang" else 20) as agent:
        before, wrong, after = walked(agent, "stop", word, "stop")
    assert (before.ending, wrong.ending, after.ending) == (Ending.STOPPED, Ending.FAILED, Ending.STOPPED)
    assert told in wrong.notes["failed"]
    assert after.acting_places == ("a",)


def test_answers_to_questions_nobody_asked_are_not_taken_for_others(player):
    with called(player) as agent:
        agent.reset(generator(0))
        agent.start_episode(Instruction("unasked"))
        seen = GraphSimulator().reset(HOUSE, HOUSE_START)
        assert agent.act(seen) == 1
        time.sleep(0.5)
        with pytest.raises(AgentFailure, match="wrote without being asked"):
            agent.act(seen)


def test_to_complain_a_little_is_no_crime(player):
    with called(player) as agent:
        assert [t.ending for t in walked(agent, "mutter", "stop")] == [Ending.STOPPED] * 2


def test_the_same_failure_is_told_the_same_every_time(player):
    def notes():
        with called(player) as agent:
            return [t.notes for t in walked(agent, "crash", "nonsense", "leave", "complain")]

    assert notes() == notes()


def test_only_those_who_can_weigh_are_asked_to(player):
    with called(player) as plain, called(f"{player} weighing") as weighing:
        assert not isinstance(plain, ProbabilisticAgent)
        assert isinstance(weighing, ProbabilisticAgent)
        episodes = (episode("0", "ab", instruction=Instruction("stop")),)
        tour = Tour("t", "house", ("0",))
        found = rollout(
            weighing, GraphSimulator(), HOUSE, tour, episodes, protocol=IVLN, seed=0, record_probabilities=True
        )
        assert found.trajectories[0].action_log.probabilities[0].tolist() == [0.5, 0.5]


ECHO = r"""
import json, sys
log = open(sys.argv[1], "wb")
sys.stdin.buffer.readline()
print(json.dumps({"version": 1, "wants": json.loads(sys.argv[2])} if sys.argv[2] else {"version": 1}), flush=True)
for line in iter(sys.stdin.buffer.readline, b""):
    asked = json.loads(line)
    rest = [sys.stdin.buffer.read(a["bytes"]) for a in asked.get("observation", {}).get("arrays", [])]
    log.write(line + b"".join(rest)); log.flush()
    print('{"action": 0}', flush=True)
"""


def echoing(folder, wants):
    file, log = folder / "echo.py", folder / "log"
    file.write_text(ECHO)
    return shlex.join([sys.executable, "-I", "-S", str(file), str(log), wants]), log


def frame() -> Frame:
    depth = np.arange(12, dtype=np.float32).reshape(3, 4)
    depth[0, 0] = np.inf
    none = np.empty(0, np.uint8)
    return Frame(np.arange(36, dtype=np.uint8).reshape(3, 4, 3)[:, ::-1], depth, none, np.empty(0, np.int32))


def test_arrays_follow_their_line_as_they_are(tmp_path):
    # The first line of the echo answers the hello it has not read yet; what matters is what is sent.
    command, log = echoing(tmp_path, "")
    seen = Observation("hall", np.array([1.5, 2.0, 0.0]), 0.25, 0.0, None, None, frame(), None, True, 3.0)
    with called(command) as agent:
        agent.reset(generator(0))
        agent.start_episode(Instruction("Geh übers „Eck“\n", "de"))
        agent.act(seen)
    lines = log.read_bytes().split(b"\n", 3)
    assert json.loads(lines[0])["ask"] == "reset"
    assert 0 <= json.loads(lines[0])["seed"] < 1 << 31
    assert json.loads(lines[1]) == {"ask": "start_episode", "text": "Geh übers „Eck“\n", "language": "de"}
    told = json.loads(lines[2])["observation"]
    assert told == {
        "world": "hall", "place": [1.5, 2.0, 0.0], "heading": 0.25, "elevation": 0.0, "candidates": None,
        "description": None, "collided": True, "time": 3.0,
        "arrays": [
            {"name": "rgb", "dtype": "|u1", "shape": [3, 4, 3], "bytes": 36},
            {"name": "depth", "dtype": "<f4", "shape": [3, 4], "bytes": 48},
        ],
    }  # fmt: skip
    assert lines[3][:36] == frame().rgb.tobytes()
    np.testing.assert_array_equal(np.frombuffer(lines[3][36:], "<f4").reshape(3, 4), frame().depth)


def test_only_the_arrays_an_agent_wants_are_sent(tmp_path):
    command, log = echoing(tmp_path, '["depth", "views"]')
    seen = Observation("hall", np.zeros(3), 0.0, 0.0, frame=frame())
    with called(command) as agent:
        agent.reset(generator(0))
        agent.act(seen)
    told = json.loads(log.read_bytes().split(b"\n", 2)[1])
    assert [array["name"] for array in told["observation"]["arrays"]] == ["depth"]


def test_what_is_told_in_words_is_sent_to_those_who_want_it(tmp_path):
    seen = Observation("hall", "a", 0.0, 0.0, description=SceneDescription("", "k", (), (), ()))
    for wants, told in (("", {"node": "", "room": "k", "objects": [], "candidates": [], "doors": []}), ("[]", None)):
        command, log = echoing(tmp_path, wants)
        with called(command) as agent:
            agent.reset(generator(0))
            agent.act(seen)
        assert json.loads(log.read_bytes().split(b"\n", 2)[1])["observation"]["description"] == told


def test_the_names_of_columns_come_with_the_hello(tmp_path):
    file = tmp_path / "listen.py"
    write = "with open(sys.argv[1], 'w') as log: log.write(input())"
    file.write_text(f"import sys\n{write}\nprint('{{\"version\": 1}}', flush=True)")
    command = shlex.join([sys.executable, "-I", "-S", str(file), str(tmp_path / "log")])
    for columns, told in ((("sofa", "in kitchen"), {"columns": ["sofa", "in kitchen"]}), ((), {})):
        start_program(command, columns=columns).close()
        assert json.loads((tmp_path / "log").read_text()) == {"ask": "hello", "version": 1, **told}


def test_ways_are_told_in_the_order_of_the_actions(tmp_path):
    command, log = echoing(tmp_path, "[]")
    seen = GraphSimulator().reset(HOUSE, HOUSE_START)
    with called(command) as agent:
        agent.reset(generator(0))
        agent.act(seen)
    told = json.loads(log.read_bytes().split(b"\n", 2)[1])["observation"]
    assert told["place"] == "a"
    assert told["candidates"] == {
        "nodes": ["b"], "headings": [0.0], "elevations": [0.0], "distances": [2.0], "views": [15],
    }  # fmt: skip


def test_large_observations_pass_whole_and_do_not_block_one_who_never_reads(tmp_path, player):
    large = Observation("house", "a", 0.0, 0.0, views=np.zeros((36, 100_000), np.float32))  # 14 MB
    with called(player) as agent:
        agent.reset(generator(0))
        agent.start_episode(Instruction("stop"))
        assert agent.act(large) == 0
    deaf = shlex.join([sys.executable, "-I", "-S", "-c", DEAF])
    with called(deaf, seconds=1) as agent, pytest.raises(AgentFailure, match="did not answer within 1 s"):
        agent.act(large)


DEAF = "import sys, time; sys.stdin.readline(); print('{\"version\": 1}', flush=True); time.sleep(600)"


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("", "command is empty"),
        ("python 'client.py", "No closing quotation"),
        ("no-such-program-here", "cannot be run: no-such-program-here: No such file or directory"),
    ],
)
def test_a_command_that_cannot_be_run_is_refused_at_once(command, told):
    with pytest.raises(BadArgument, match=told):
        start_program(command)


@pytest.mark.parametrize(
    ("hello", "told"),
    [
        ('{"version": 2}', "speaks version 2 of the protocol; expected version 1"),
        ("{}", "speaks version None"),
        ('{"version": 1, "wants": ["smell"]}', "wants smell; it may ask for views, description, rgb, depth"),
        ("Loading model…", "Print to stderr what is not a reply"),
    ],
)
def test_who_does_not_greet_as_agreed_is_refused(hello, told):
    command = shlex.join(
        [sys.executable, "-X", "utf8", "-I", "-S", "-c", f"import sys; sys.stdin.readline(); print({hello!r})"]
    )
    with pytest.raises(AgentFailure, match=told):
        start_program(command)


def test_no_shell_reads_the_command(tmp_path):
    marker = tmp_path / "made"
    with pytest.raises(AgentFailure, match="The agent ended"):
        start_program(f"{sys.executable} -c pass ; touch {marker}")
    assert not marker.exists()


SPAWNING = r"""
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[1], "w").write(f"{os.getpid()} {child.pid}")
sys.stdin.readline()
print('{"version": 1}', flush=True)
time.sleep(600)
"""


def alive(pid: int) -> bool:
    with suppress(OSError):
        # One that has ended but was not yet asked how is no longer alive.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def eventually_gone(pids) -> bool:
    until = time.monotonic() + 20
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(map(alive, pids))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_a_program_is_ended_with_all_it_started(tmp_path):
    file = tmp_path / "pids"
    agent = start_program(shlex.join([sys.executable, "-I", "-S", "-c", SPAWNING, str(file)]))
    pids = [*map(int, file.read_text().split())]
    assert all(map(alive, pids))
    agent.close()
    assert eventually_gone(pids)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_a_program_ends_with_us_even_if_we_are_not_asked(tmp_path):
    file = tmp_path / "pids"
    command = shlex.join([sys.executable, "-I", "-S", "-c", SPAWNING, str(file)])
    code = (
        f"import os; from itinera.agents.remote import start_program as r; a = r({command!r}); os.kill(os.getpid(), 9)"
    )
    subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=False
    )
    assert eventually_gone([*map(int, file.read_text().split())])


def test_the_example_client_keeps_its_promises():
    with called(shlex.join([sys.executable, str(CLIENT)])) as agent:
        check_agent(agent)
        check_agent(agent, body="ground")


def test_the_example_that_sees_goes_where_its_words_lead():
    columns = ("red sofa", "table", "in kitchen", "to kitchen")
    with called(shlex.join([sys.executable, str(EXAMPLES / "landmarks.py")]), columns=columns) as agent:
        check_agent(agent)
        agent.reset(generator(0))
        agent.start_episode(Instruction("Leave by the door, and enter the kitchen."))
        here = GraphSimulator().reset(HOUSE, Pose("b"))
        for number, view in enumerate(here.candidates.views.tolist(), start=1):
            views = np.zeros((36, 4), np.float32)
            views[view, 3] = 1
            assert agent.act(replace(here, views=views)) == number


def test_the_example_client_stays_short():
    assert len(CLIENT.read_text().splitlines()) <= 50


def test_an_agent_can_be_called_at_an_address(player):
    words = shlex.split(player)
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]

    def serve():
        for _ in range(2):
            line, _ = server.accept()
            subprocess.run(words, stdin=line.fileno(), stdout=line.fileno(), stderr=subprocess.DEVNULL, check=False)
            line.close()

    thread = threading.Thread(target=serve)
    thread.start()
    agent = connect_address(f"localhost:{port}")
    trajectories = walked(agent, "stop", "leave", "stop")
    agent.close()
    thread.join(20)
    server.close()
    assert [t.ending for t in trajectories] == [Ending.STOPPED, Ending.FAILED, Ending.STOPPED]
    assert trajectories[1].notes["failed"] == "AgentFailure: The agent ended."


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("localhost", "is HOST:PORT"),
        ("localhost:70000", "is HOST:PORT"),
        ("example.org:5000", "on this machine only"),
        ("10.0.0.1:5000", "on this machine only"),
    ],
)
def test_addresses_elsewhere_are_refused(address, told):
    with pytest.raises(BadArgument, match=told):
        connect_address(address)


def test_nobody_at_the_address_is_told():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(BadArgument, match=f"No agent listens at localhost:{port}"):
        connect_address(f"localhost:{port}")


def test_replies_need_some_time():
    with pytest.raises(BadArgument, match="must be above 0 s"):
        start_program("python", seconds=0)
