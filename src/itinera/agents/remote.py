"""Agents in processes of their own, in any language, over a protocol of JSON lines.

Every request is answered by one line. The first is {"ask": "hello", "version": 1}, answered by {"version": 1}; it also
contains "columns", the meanings of the numbers of a view, where they are known. Then follow reset, start_episode, act,
observe and, if the answer to hello says so, action_probabilities. A request with an observation lists its arrays in
"arrays"; their bytes follow right after the line, one after another, in C order, little-endian.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from itinera.agents.agent import Agent
from itinera.agents.transport import AgentFailure, Channel, open_process, open_socket
from itinera.errors import BadArgument
from itinera.rendering.camera import CHANNELS
from itinera.simulators.simulator import Candidates, Observation
from itinera.tasks import Instruction
from itinera.worlds import Array

VERSION: Final = 1
OPTIONAL = ("views", "description", *CHANNELS)  # what an agent may ask for; all but the description are arrays
LONGEST_ERROR = 4000  # characters of a reported error
REPLY_SECONDS = 60.0  # time limit of a reply; models take their time to load


class Reply(msgspec.Struct, forbid_unknown_fields=True):
    """Any answer of an agent; which fields are needed depends on the request."""

    error: str = ""  # the reason of a failure
    version: int | None = None
    action_probabilities: bool = False
    wants: list[str] | None = None  # of OPTIONAL; all if left out
    action: int | None = None
    probabilities: list[float] | None = None
    failed: str = ""  # of our own host: the agent's error, after which it can be asked again
    files: dict[str, str] = {}  # of our own host: the digests of the agent's files


_decoder = msgspec.json.Decoder(Reply)
_encoder = msgspec.json.Encoder(enc_hook=lambda array: array.tolist())  # small numpy arrays and numbers


def start_program(command: str, *, seconds: float = REPLY_SECONDS, columns: Sequence[str] = ()) -> Agent:
    """The agent that a command starts, connected by its standard input and output.

    seconds: the time limit of a reply. columns: the meanings of the numbers of its views, sent to it first.
    """
    return connect_agent(lambda: open_process(command), seconds, columns)


def connect_address(address: str, *, seconds: float = REPLY_SECONDS, columns: Sequence[str] = ()) -> Agent:
    """The agent that listens at HOST:PORT on this machine; see `start_program`."""
    return connect_agent(lambda: open_socket(address), seconds, columns)


def connect_agent(
    open_channel: Callable[[], Channel],
    seconds: float,
    columns: Sequence[str],
    *,
    kinds: tuple[type[RemoteAgent], type[ProbabilisticRemoteAgent]] | None = None,
) -> Agent:
    """The agent at the other end of a channel, of the second kind if it reports action probabilities."""
    if not (math.isfinite(seconds) and seconds > 0):
        raise BadArgument(f"The time limit of a reply must be above 0 s (got {seconds}).")
    session = Session(open_channel, seconds, columns)
    probabilistic = session.open().action_probabilities
    plain, with_probabilities = kinds or (RemoteAgent, ProbabilisticRemoteAgent)
    return with_probabilities(session) if probabilistic else plain(session)


def encode_request(
    what: str, observation: Observation | None = None, wants: frozenset[str] = frozenset(), **fields: Any
) -> bytes:
    """The line of a request, and the bytes of the arrays that the agent wants."""
    arrays = {} if observation is None else _arrays(observation, wants)
    message = {"ask": what, **fields}
    if observation is not None:
        message["observation"] = _encode(observation, arrays, with_description="description" in wants)
    return b"".join([_encoder.encode(message), b"\n", *(array.tobytes() for array in arrays.values())])


def encode_instruction(instruction: Instruction) -> dict[str, Any]:
    """The fields of the request start_episode."""
    said: dict[str, Any] = {"text": instruction.text, "language": instruction.language}
    if instruction.point_goal is not None:
        said["point_goal"] = instruction.point_goal
    return said


def encode_generator(rng: np.random.Generator) -> dict[str, Any]:
    """The state of a generator for JSON, where numbers of 128 bits are too large."""
    state: Any = rng.bit_generator.state
    numbers = {name: str(value) for name, value in state["state"].items()}
    return {**numbers, "has_uint32": state["has_uint32"], "uinteger": state["uinteger"]}


class Session:
    """Requests and replies. After a failure, the next episode opens a new channel."""

    def __init__(self, open_channel: Callable[[], Channel], seconds: float, columns: Sequence[str]) -> None:
        self._open_channel, self._seconds, self._columns = open_channel, seconds, list(columns)
        self._channel: Channel | None = None
        self.files: dict[str, str] = {}
        self._wants = frozenset(OPTIONAL)

    @property
    def is_open(self) -> bool:
        return self._channel is not None and self._channel.is_open

    def open(self) -> Reply:
        """Open a channel and say hello."""
        self._channel = self._open_channel()
        columns: dict[str, Any] = {"columns": self._columns} if self._columns else {}
        reply = self.request("hello", None, version=VERSION, **columns)
        if reply.version != VERSION:
            raise self._fail(f"speaks version {reply.version} of the protocol; expected version {VERSION}")
        unknown = sorted(set(reply.wants or ()) - set(OPTIONAL))
        if unknown:
            raise self._fail(f"wants {', '.join(unknown)}; it may ask for {', '.join(OPTIONAL)}")
        self._wants = frozenset(OPTIONAL if reply.wants is None else reply.wants)
        self.files = reply.files
        return reply

    def request(self, what: str, observation: Observation | None = None, **fields: Any) -> Reply:
        """The agent's reply; raises AgentFailure."""
        assert self._channel is not None
        data = encode_request(what, observation, self._wants, **fields)
        return self._parse(self._channel.request(data, seconds=self._seconds), what)

    def require(self, value: Any, name: str, what: str) -> Any:
        """The value of a field that the reply must have."""
        if value is None:
            raise self._fail(f'answered {what} without "{name}"')
        return value

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()

    def _parse(self, line: bytes, what: str) -> Reply:
        if line.count(b"\n") > 1:
            raise self._fail(f"answered {what} with more than one line: {_short(line)}")
        try:
            reply = _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            # A ValidationError names the field that is wrong.
            remedy = "" if isinstance(error, msgspec.ValidationError) else " Print to stderr what is not a reply."
            raise self._fail(f"answered {what} with {_short(line)}: {error}", remedy) from None
        if reply.error:
            self.close()
            raise AgentFailure(f"The agent reports: {reply.error[:LONGEST_ERROR]}")
        if reply.failed:
            raise AgentFailure(reply.failed)
        return reply

    def _fail(self, how: str, remedy: str = "") -> AgentFailure:
        self.close()  # later lines could be replies to anything
        return AgentFailure(f"The agent {how.rstrip('.')}.{remedy}")


class RemoteAgent:
    """An agent in another process. After a failure it is started or connected anew for the next episode."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._seed = 0

    def reset(self, rng: np.random.Generator) -> None:
        self._seed = int(rng.integers(1 << 31))  # fits the integers of any language
        self._reset()

    def start_episode(self, instruction: Instruction) -> None:
        if not self._session.is_open:
            self._reset()
        self._session.request("start_episode", **encode_instruction(instruction))

    def act(self, observation: Observation) -> int:
        reply = self._session.request("act", observation)
        action: int = self._session.require(reply.action, "action", "act")
        return action

    def observe(self, observation: Observation) -> None:
        if self._session.is_open:  # else it has failed, and starts anew with the next episode
            self._session.request("observe", observation)

    def close(self) -> None:
        """Close the connection. A program is ended with every process it started."""
        self._session.close()

    def __del__(self) -> None:
        self._session.close()

    def _reset(self) -> None:
        if not self._session.is_open:
            self._session.open()
        self._session.request("reset", seed=self._seed)


class ProbabilisticRemoteAgent(RemoteAgent):
    """A remote agent that also reports action probabilities."""

    def action_probabilities(self, observation: Observation) -> Array:
        reply = self._session.request("action_probabilities", observation)
        return np.array(
            self._session.require(reply.probabilities, "probabilities", "action_probabilities"), dtype=np.float64
        )


def _arrays(observation: Observation, wanted: frozenset[str]) -> dict[str, NDArray[Any]]:
    """The arrays of an observation that exist and are wanted, as they are sent."""
    found = {"views": observation.views}
    if observation.frame is not None:
        found |= {name: getattr(observation.frame, name) for name in CHANNELS}
    return {
        name: np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        for name, array in found.items()
        if name in wanted and array is not None and len(array)
    }


def _encode(observation: Observation, arrays: dict[str, NDArray[Any]], *, with_description: bool) -> dict[str, Any]:
    return {
        "world": observation.world_id,
        "place": observation.place,
        "heading": observation.heading,
        "elevation": observation.elevation,
        "candidates": _encode_candidates(observation.candidates),
        "description": observation.description if with_description else None,
        "collided": observation.collided,
        "time": observation.time,
        "arrays": [
            {"name": name, "dtype": array.dtype.str, "shape": array.shape, "bytes": array.nbytes}
            for name, array in arrays.items()
        ],
    }


def _encode_candidates(candidates: Candidates | None) -> dict[str, Any] | None:
    if candidates is None:
        return None
    return {
        "nodes": candidates.nodes,
        "headings": candidates.headings,
        "elevations": candidates.elevations,
        "distances": candidates.distances,
        "views": candidates.views,
    }


def _short(line: bytes, max_length: int = 80) -> str:
    text = line.decode(errors="replace").strip()
    return text if len(text) <= max_length else f"{text[:max_length]}…"
