"""The process of an isolated agent: it makes the agent and answers requests by calling its methods.

It reads its configuration and then the requests of `remote.py` from its standard input. What the agent prints goes to
stderr. An error of the agent is reported and does not end the process.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import IO, Any

import msgspec
import numpy as np

from itinera.agents.agent import Agent, ProbabilisticAgent
from itinera.agents.loading import OptionValue, digest_agent, import_class, instantiate
from itinera.errors import ItineraError
from itinera.rendering.camera import CHANNELS, Frame
from itinera.simulators.simulator import Candidates, Observation
from itinera.tasks import Instruction

LONGEST_ERROR = 4000  # characters, the last ones
_EMPTY = {"rgb": "<u1", "depth": "<f4", "classes": "<u1", "instances": "<i4"}


class HostConfig(msgspec.Struct):
    """Which agent to make: module:Class, its keyword arguments, and where modules are found."""

    agent: str
    options: dict[str, OptionValue]
    path: list[str]


class GeneratorState(msgspec.Struct):
    """The state of a PCG64 generator; numbers of 128 bits in words."""

    state: str
    inc: str
    has_uint32: int
    uinteger: int


class _Candidates(msgspec.Struct):
    nodes: tuple[str, ...]
    headings: list[float]
    elevations: list[float]
    distances: list[float]
    views: list[int]


class _Array(msgspec.Struct):
    name: str
    dtype: str
    shape: list[int]
    bytes: int


class ObservationMessage(msgspec.Struct):
    """An observation without the bytes of its arrays."""

    world: str
    place: str | list[float]
    heading: float
    elevation: float
    candidates: _Candidates | None
    description: msgspec.Raw
    collided: bool
    time: float
    arrays: list[_Array]


class RequestMessage(msgspec.Struct):
    """A request of the protocol."""

    ask: str
    version: int = 0
    columns: list[str] = []
    state: GeneratorState | None = None
    text: str = ""
    language: str = ""
    point_goal: tuple[float, float, float] | None = None
    observation: ObservationMessage | None = None


def encode_config(config: HostConfig) -> bytes:
    """The line that a host reads first."""
    return msgspec.json.encode(config) + b"\n"


def main() -> None:
    """Serve the agent that the first line describes."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what the agent prints is no reply
    config = msgspec.json.decode(requests.readline(), type=HostConfig)
    sys.path[:] = list(dict.fromkeys([*config.path, *sys.path]))
    host = _Host(config)
    for line in iter(requests.readline, b""):
        request = msgspec.json.decode(line, type=RequestMessage)
        observation = None if request.observation is None else read_observation(request.observation, requests)
        replies.write(msgspec.json.encode(host.answer(request, observation)) + b"\n")
        replies.flush()


class _Host:
    """The agent, made at the first request, so that its errors are answers."""

    def __init__(self, config: HostConfig) -> None:
        self._config = config
        self._agent: Any = None

    def answer(self, request: RequestMessage, observation: Observation | None) -> dict[str, Any]:
        """The reply to a request; an error of the agent is reported in it."""
        answers: dict[str, Callable[[], dict[str, Any] | None]] = {
            "hello": lambda: self._hello(request.version),
            "reset": lambda: self._agent.reset(make_generator(request.state)),
            "start_episode": lambda: self._agent.start_episode(
                Instruction(request.text, request.language, request.point_goal)
            ),
            "act": lambda: {"action": _as_integer(self._agent.act(observation))},
            "observe": lambda: self._agent.observe(observation),
            "action_probabilities": lambda: {
                "probabilities": np.array(self._agent.action_probabilities(observation), dtype=np.float64).tolist()
            },
        }
        try:
            found = answers[request.ask]()
        except ItineraError as error:
            return {"failed" if self._agent is not None else "error": str(error)[-LONGEST_ERROR:]}
        except BaseException as error:
            # Also SystemExit and KeyboardInterrupt: an agent has no right to end the host.
            lines = "".join(traceback.format_exception(error))[-LONGEST_ERROR:]
            reason = f"{type(error).__name__}: {error}".removesuffix(": ")[:300]
            return {"failed" if self._agent is not None else "error": f"{reason}\n{lines}"}
        return found if isinstance(found, dict) and request.ask in ("hello", "act", "action_probabilities") else {}

    def _hello(self, version: int) -> dict[str, Any]:
        before = tuple(sys.modules)
        agent: Agent = instantiate(import_class(self._config.agent), self._config.options)
        self._agent = agent
        probabilistic = isinstance(agent, ProbabilisticAgent)
        return {
            "version": version,
            "action_probabilities": probabilistic,
            "files": digest_agent(agent, imported_before=before),
        }


def _as_integer(action: Any) -> int:
    """The action as an integer, or as something that is no action and is refused as such."""
    if isinstance(action, bool | np.bool_) or not hasattr(action, "__index__"):
        kind = type(action).__name__
        raise TypeError(f"The agent chose {repr(action)[:80]} ({kind}); an action is an integer.")
    return int(action.__index__())


def make_generator(state: GeneratorState | None) -> np.random.Generator:
    """The generator of a state."""
    bits = np.random.PCG64()
    if state is not None:
        bits.state = {
            "bit_generator": "PCG64",
            "state": {"state": int(state.state), "inc": int(state.inc)},
            "has_uint32": state.has_uint32,
            "uinteger": state.uinteger,
        }
    return np.random.Generator(bits)


def read_observation(message: ObservationMessage, requests: IO[bytes]) -> Observation:
    """The observation as the simulator made it; the bytes of its arrays follow the request."""
    arrays = {
        array.name: np.frombuffer(requests.read(array.bytes), dtype=array.dtype).reshape(array.shape)
        for array in message.arrays
    }
    frame = None
    if arrays.keys() & set(CHANNELS):
        frame = Frame(*(arrays.get(name, np.empty(0, dtype=_EMPTY[name])) for name in CHANNELS))
    candidates = None
    if message.candidates is not None:
        found = message.candidates
        candidates = Candidates(
            found.nodes,
            headings=np.array(found.headings),
            elevations=np.array(found.elevations),
            distances=np.array(found.distances),
            views=np.array(found.views, dtype=np.int64),
        )
    return Observation(
        message.world,
        message.place if isinstance(message.place, str) else np.array(message.place),
        message.heading,
        message.elevation,
        candidates=candidates,
        views=arrays.get("views"),
        frame=frame,
        description=_read_description(message.description),
        collided=message.collided,
        time=message.time,
    )


def _read_description(raw: msgspec.Raw) -> Any:
    if bytes(raw) == b"null":
        return None
    from itinera.hearth.language.scene_description import SceneDescription

    return msgspec.json.decode(raw, type=SceneDescription)
