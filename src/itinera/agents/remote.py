"""Agents in processes of their own, in any language: they are asked in lines of JSON and answer in lines of JSON.

Every message gets one line for an answer. The first is {"ask": "hello", "version": 1}, answered by {"version": 1}; it
also tells "columns", what the numbers of a view stand for, where that is known. Then come reset, start_episode, act, observe and,
if its hello says so, action_probabilities. A message with an observation names its arrays in "arrays"; their bytes
follow right after the line, one after another, in C order, little-endian.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from itinera.agents.agent import Agent
from itinera.agents.transport import AgentFailed, Line, call_address, call_program
from itinera.errors import BadArgument
from itinera.rendering.rasterizer import CHANNELS
from itinera.simulators.simulator import Candidates, Observation
from itinera.tasks import Instruction
from itinera.worlds import Array

VERSION: Final = 1
SHOWN = ("views", "description", *CHANNELS)  # what an agent can want to be sent; all but sight are arrays
SECONDS = 60.0  # a reply may take; models take their time to load


class Reply(msgspec.Struct, forbid_unknown_fields=True):
    """Whatever an agent may answer; which fields are needed depends on what it was asked."""

    error: str = ""  # what went wrong, where something did
    version: int | None = None
    action_probabilities: bool = False
    wants: list[str] | None = None  # of SHOWN; all if left out
    action: int | None = None
    probabilities: list[float] | None = None


_decoder = msgspec.json.Decoder(Reply)
_encoder = msgspec.json.Encoder(enc_hook=lambda array: array.tolist())  # numpy's arrays and numbers, small ones only


def remote_program(command: str, *, seconds: float = SECONDS, columns: Sequence[str] = ()) -> Agent:
    """The agent that a command starts, spoken to over its standard input and output.

    seconds: it may take for a reply. columns: it is told what each number of the views it will be shown tells.
    """
    return _called(lambda: call_program(command), seconds, columns)


def remote_address(address: str, *, seconds: float = SECONDS, columns: Sequence[str] = ()) -> Agent:
    """The agent that listens at HOST:PORT on this machine; see `remote_program`."""
    return _called(lambda: call_address(address), seconds, columns)


def _called(call: Callable[[], Line], seconds: float, columns: Sequence[str]) -> Agent:
    if not (math.isfinite(seconds) and seconds > 0):
        raise BadArgument(f"An agent needs more than 0 s for a reply, not {seconds}.")
    conversation = _Conversation(call, seconds, columns)
    weighs = conversation.open().action_probabilities
    return WeighingRemote(conversation) if weighs else Remote(conversation)


class _Conversation:
    """Questions and answers, with a new line for the next episode after one that broke."""

    def __init__(self, call: Callable[[], Line], seconds: float, columns: Sequence[str]) -> None:
        self._call, self._seconds, self._columns = call, seconds, list(columns)
        self._line: Line | None = None
        self._wants = frozenset(SHOWN)

    @property
    def is_open(self) -> bool:
        return self._line is not None and self._line.is_open

    def open(self) -> Reply:
        """Call, and say hello."""
        self._line = self._call()
        columns: dict[str, Any] = {"columns": self._columns} if self._columns else {}
        reply = self.ask("hello", None, version=VERSION, **columns)
        if reply.version != VERSION:
            raise self._broken(f"speaks version {reply.version} where version {VERSION} was expected")
        unknown = sorted(set(reply.wants or ()) - set(SHOWN))
        if unknown:
            raise self._broken(f"wants {', '.join(unknown)}; there are {', '.join(SHOWN)}")
        self._wants = frozenset(SHOWN if reply.wants is None else reply.wants)
        return reply

    def ask(self, what: str, observation: Observation | None = None, **fields: Any) -> Reply:
        """What the agent answers, or AgentFailed."""
        assert self._line is not None
        arrays = {} if observation is None else _arrays(observation, self._wants)
        message = {"ask": what, **fields}
        if observation is not None:
            message["observation"] = _told(observation, arrays, with_description="description" in self._wants)
        data = b"".join([_encoder.encode(message), b"\n", *(array.tobytes() for array in arrays.values())])
        return self._understood(self._line.ask(data, seconds=self._seconds), what)

    def need(self, value: Any, name: str, what: str) -> Any:
        """The value, which must be there."""
        if value is None:
            raise self._broken(f'answered {what} without "{name}"')
        return value

    def close(self) -> None:
        if self._line is not None:
            self._line.close()

    def _understood(self, line: bytes, what: str) -> Reply:
        if line.count(b"\n") > 1:
            raise self._broken(f"answered {what} with more than one line: {_short(line)}")
        try:
            reply = _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            # MessagePack's and JSON's errors are one kind; a ValidationError tells which field is wrong.
            remedy = "" if isinstance(error, msgspec.ValidationError) else " What is not an answer belongs on stderr."
            raise self._broken(f"answered {what} with {_short(line)}: {error}", remedy) from None
        if reply.error:
            self.close()
            raise AgentFailed(f"The agent reports: {reply.error[:1000]}")
        return reply

    def _broken(self, how: str, remedy: str = "") -> AgentFailed:
        self.close()  # whatever comes next could answer anything
        return AgentFailed(f"The agent {how.rstrip('.')}.{remedy}")


class Remote:
    """An agent at the other end of a line. One that failed is called again for the next episode, as if new here."""

    def __init__(self, conversation: _Conversation) -> None:
        self._conversation = conversation
        self._seed = 0

    def reset(self, rng: np.random.Generator) -> None:
        self._seed = int(rng.integers(1 << 31))  # fits whatever language it is drawn in
        self._come_in()

    def start_episode(self, instruction: Instruction) -> None:
        if not self._conversation.is_open:
            self._come_in()
        self._conversation.ask("start_episode", text=instruction.text, language=instruction.language)

    def act(self, observation: Observation) -> int:
        reply = self._conversation.ask("act", observation)
        action: int = self._conversation.need(reply.action, "action", "act")
        return action

    def observe(self, observation: Observation) -> None:
        if self._conversation.is_open:  # else there is nobody to look
            self._conversation.ask("observe", observation)

    def close(self) -> None:
        """Hang up. A program is ended with all it started."""
        self._conversation.close()

    def __del__(self) -> None:
        self._conversation.close()

    def _come_in(self) -> None:
        if not self._conversation.is_open:
            self._conversation.open()
        self._conversation.ask("reset", seed=self._seed)


class WeighingRemote(Remote):
    """One that can also say how much it would like each action."""

    def action_probabilities(self, observation: Observation) -> Array:
        reply = self._conversation.ask("action_probabilities", observation)
        return np.array(
            self._conversation.need(reply.probabilities, "probabilities", "action_probabilities"), dtype=np.float64
        )


def _arrays(observation: Observation, wanted: frozenset[str]) -> dict[str, NDArray[Any]]:
    """The arrays of an observation that are there and wanted, as they are sent."""
    found = {"views": observation.views}
    if observation.frame is not None:
        found |= {name: getattr(observation.frame, name) for name in CHANNELS}
    return {
        name: np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        for name, array in found.items()
        if name in wanted and array is not None and len(array)
    }


def _told(observation: Observation, arrays: dict[str, NDArray[Any]], *, with_description: bool) -> dict[str, Any]:
    return {
        "world": observation.world_id,
        "place": observation.place,
        "heading": observation.heading,
        "elevation": observation.elevation,
        "candidates": _ways(observation.candidates),
        "description": observation.description if with_description else None,
        "collided": observation.collided,
        "time": observation.time,
        "arrays": [
            {"name": name, "dtype": array.dtype.str, "shape": array.shape, "bytes": array.nbytes}
            for name, array in arrays.items()
        ],
    }


def _ways(candidates: Candidates | None) -> dict[str, Any] | None:
    if candidates is None:
        return None
    return {
        "nodes": candidates.nodes,
        "headings": candidates.headings,
        "elevations": candidates.elevations,
        "distances": candidates.distances,
        "views": candidates.views,
    }


def _short(line: bytes, most: int = 80) -> str:
    text = line.decode(errors="replace").strip()
    return text if len(text) <= most else f"{text[:most]}…"
