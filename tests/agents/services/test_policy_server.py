"""Clients of released policy servers: `/reset` and `/act`, and StreamVLN's form."""

from __future__ import annotations

import base64
import json
from email import message_from_bytes

import numpy as np
import pytest

from chat_server import Raw, serving
from itinera.agents.agent import StopRun
from itinera.agents.services.policy_server import PolicyServer
from itinera.agents.transport import AgentFailure
from itinera.errors import BadArgument
from itinera.rendering.camera import Frame
from itinera.simulators.simulator import Observation
from itinera.tasks import PROTOCOLS, Instruction

NONE = np.empty((0, 0, 0))
FRAME = Frame(np.full((2, 3, 3), 9, np.uint8), NONE, NONE, NONE)
HERE = Observation("room", np.zeros(3), 0.0, 0.0, frame=FRAME)


def connect(server, path: str = "") -> PolicyServer:
    agent = PolicyServer(server.url + path, PROTOCOLS["r2r-ce"], seconds=5.0)
    agent.reset(np.random.default_rng(0))
    return agent


def serve(*replies: object):
    """A server whose `/act` gives these replies."""
    left = list(replies)
    return serving(
        lambda request: Raw(json.dumps({"status": "ok"} if "image" not in request else left.pop(0)).encode()), path=""
    )


def test_an_episode_is_reset_and_acted():
    with serve({"action": "forward"}, {"action": "stop"}) as server:
        agent = connect(server)
        agent.start_episode(Instruction("Go to the sofa."))
        assert [agent.act(HERE), agent.act(HERE)] == [1, 0]
    assert server.paths == ["/reset", "/act", "/act"]
    assert server.requests[0] == {"instruction": "Go to the sofa."}
    request = server.requests[1]
    assert base64.b64decode(request["image"]).startswith(b"\x89PNG")
    assert (request["image"], request["image_shape"]) == (request["rgb_base64"], [2, 3, 3])
    assert request["instruction"] == "Go to the sofa."
    assert agent.episode_usage() == {"calls": 2}


@pytest.mark.parametrize(
    ("reply", "actions"),
    [
        ({"action": "Forward"}, [1]),
        ({"action": "left", "source": "model"}, [2]),
        ({"action": "r"}, [3]),
        ({"action": "end"}, [0]),
        ({"action": 3}, [3]),
        ({"action": [1, 1, 2, 0]}, [1, 1, 2, 0]),  # StreamVLN
        ({"actions": ["left", "forward"]}, [2]),  # Uni-NaVid in OmniNavBench: the first
        ({"raw_response": "The next action is turn left 30 degrees."}, [2, 2]),  # NaVILA in OmniNavBench
        ({"action": "move forward 75 cm"}, [1, 1, 1]),
    ],
)
def test_actions_of_released_servers_are_understood(reply, actions):
    with serve(reply) as server:
        agent = connect(server)
        agent.start_episode(Instruction("go"))
        assert [agent.act(HERE) for _ in actions] == actions
    assert server.calls == 2


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"action": "b"},
        {"action": 7},
        {"action": None},
        {"action": []},
        {"actions": []},
        {"action": True},
        {"action": 1.5},
        {"action": {"x": 1}},
        {"raw_response": "I do not know"},
        {"error": "no image"},
        [],
        "stop",
    ],
)
def test_no_other_answer_becomes_an_action(reply):
    with serve(reply) as server:
        agent = connect(server)
        agent.start_episode(Instruction("go"))
        with pytest.raises(AgentFailure, match="server"):
            agent.act(HERE)


def test_an_error_of_the_server_fails_the_episode():
    with (
        serving(lambda request: Raw(b'{"error": "CUDA out of memory"}', 500), path="") as server,
        pytest.raises(AgentFailure, match=r"answered /reset with status 500: .*CUDA"),
    ):
        connect(server).start_episode(Instruction("go"))
    assert server.calls == 1  # never repeated: the server may have moved on


def test_a_server_that_is_gone_stops_the_run():
    with serving(lambda request: "{}", chat=False, path="") as server:
        agent = connect(server)
        agent.start_episode(Instruction("go"))
    with pytest.raises(StopRun, match="refuses connections"):
        agent.act(HERE)


def test_streamvln_receives_a_form():
    with serving(lambda request: Raw(b'{"action": [1, 1, 2, 1]}'), path="") as server:
        agent = connect(server, "/eval_vln")
        agent.start_episode(Instruction("Go to the sofa."))
        assert [agent.act(HERE) for _ in range(5)] == [1, 1, 2, 1, 1]
    assert server.paths == ["/eval_vln"] * 2
    described = []
    for headers, request in zip(server.headers, server.requests, strict=True):
        form = message_from_bytes(f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode() + request["form"])
        parts = {part.get_param("name", header="content-disposition"): part for part in form.get_payload()}
        described.append(json.loads(parts["json"].get_payload(decode=True)))
        assert parts["image"].get_filename() == "rgb.png"
        assert b"PNG" in parts["image"].get_payload(decode=True)[:8]
    assert described == [
        {"reset": True, "instruction": "Go to the sofa."},
        {"reset": False, "instruction": "Go to the sofa."},
    ]


def test_without_an_image_there_is_nothing_to_send():
    with serve() as server:
        agent = connect(server)
        agent.start_episode(Instruction("go"))
        with pytest.raises(BadArgument, match="--camera"):
            agent.act(Observation("room", np.zeros(3), 0.0, 0.0))


def test_graphs_have_no_steps():
    with pytest.raises(BadArgument, match="step and turn"):
        PolicyServer("http://h", PROTOCOLS["r2r"])
