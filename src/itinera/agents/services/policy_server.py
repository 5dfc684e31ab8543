"""Clients of released policies behind HTTP: `/reset` and `/act`, as in OmniNavBench, and StreamVLN's `/eval_vln`.

`POST /reset {"instruction"}` begins an episode. `POST /act` has the instruction and the camera image (PNG, base64) as
"image" and "rgb_base64"; the reply has "action" (a word, a number as in VLN-CE, or a list of them, taken one after
another), "actions" (a list, of which the first is taken), or "raw_response" (moves in words). These servers keep the
state of one episode, so no request is repeated: a server that is gone stops the run, and its episode is run again.
"""

from __future__ import annotations

import base64
import secrets
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from itinera.agents.agent import StopRun
from itinera.agents.services.connection import HttpConnection, HttpFailure, HttpReply
from itinera.agents.services.prompts import Unparsable
from itinera.agents.services.words import parse_moves
from itinera.agents.transport import AgentFailure
from itinera.errors import BadArgument
from itinera.rendering.png import encode_png
from itinera.simulators.ground import FORWARD, LEFT, RIGHT
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import Instruction, Protocol

REPLY_SECONDS = 60.0
STREAMVLN = "/eval_vln"
# The words of the released servers, besides moves in words.
ACTIONS: Mapping[str, int] = {
    **dict.fromkeys(("stop", "end", "0"), STOP),
    **dict.fromkeys(("forward", "moveahead", "move_forward", "m", "1"), FORWARD),
    **dict.fromkeys(("left", "rotateleft", "turn_left", "l", "2"), LEFT),
    **dict.fromkeys(("right", "rotateright", "turn_right", "r", "3"), RIGHT),
}


class _Reply(msgspec.Struct):
    action: str | int | list[str | int] | None = None
    actions: list[str | int] | None = None
    raw_response: str | None = None


_decoder = msgspec.json.Decoder(_Reply)


class PolicyServer:
    """The agent behind a policy server."""

    def __init__(self, url: str, protocol: Protocol, *, seconds: float = REPLY_SECONDS) -> None:
        if protocol.step_size is None or protocol.turn_angle is None:
            raise BadArgument(f"Policy servers step and turn on the ground; protocol {protocol.name} does not.")
        is_streamvln = url.rstrip("/").endswith(STREAMVLN)
        self._connection = HttpConnection(url, seconds=seconds, keep_alive=False)
        self._protocol = protocol
        self._client = _StreamVLN(self) if is_streamvln else _ResetAct(self)
        self._forget_episode()

    def reset(self, rng: np.random.Generator) -> None:
        self._forget_episode()

    def start_episode(self, instruction: Instruction) -> None:
        self._forget_episode()
        self._client.start_episode(instruction)

    def act(self, observation: Observation) -> int:
        if not self._actions:
            if observation.frame is None or observation.frame.rgb.ndim != 3 or not len(observation.frame.rgb):
                raise BadArgument("A policy server needs one camera image: give --camera, with the channel rgb.")
            self._counts["calls"] += 1
            self._actions.extend(self._client.act(encode_png(observation.frame.rgb), observation.frame.rgb.shape))
        return self._actions.popleft()

    def observe(self, observation: Observation) -> None:
        """Nothing: these servers have no request for it."""

    def episode_usage(self) -> dict[str, float | int | str]:
        """The calls of the episode."""
        return {"calls": self._counts["calls"]}

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def post(self, path: str, body: bytes, content_type: str = "application/json") -> HttpReply:
        """The reply to a request that the server accepts; raises StopRun if there is none."""
        try:
            reply = self._connection.post(path, body, content_type)
        except HttpFailure as failure:
            raise StopRun(f"The run stopped because the server at {self._connection.url} {failure}.") from None
        if reply.status != 200:
            raise AgentFailure(f"The server answered {path or 'a request'} with status {reply.status}: {reply.quote()}")
        return reply

    def parse(self, reply: HttpReply) -> list[int]:
        """The actions of a reply, at least one; raises AgentFailure."""
        try:
            found = _decoder.decode(reply.body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise AgentFailure(
                f"The server answered with something that is no action ({error}): {reply.quote()}"
            ) from None
        actions = self._list_actions(found, reply)
        try:
            return [action for one in actions for action in self._parse_action(one)]
        except Unparsable as error:
            raise AgentFailure(f"The answer of the server {error}.") from None

    def _list_actions(self, found: _Reply, reply: HttpReply) -> Sequence[str | int]:
        if found.action is not None:
            several = found.action if isinstance(found.action, list) else [found.action]
        elif found.actions is not None:
            several = found.actions[:1]
        else:
            several = [] if found.raw_response is None else [found.raw_response]
        if not several:
            raise AgentFailure(f"The server answered without an action: {reply.quote()}")
        return several

    def _parse_action(self, action: str | int) -> list[int]:
        known = ACTIONS.get(str(action).strip().lower())
        return parse_moves(str(action), self._protocol) if known is None else [known]

    def _forget_episode(self) -> None:
        self._actions: deque[int] = deque()
        self._counts: Counter[str] = Counter()


class _ResetAct:
    """The servers of OmniNavBench."""

    def __init__(self, server: PolicyServer) -> None:
        self._server, self._text = server, ""

    def start_episode(self, instruction: Instruction) -> None:
        self._text = instruction.text
        self._server.post("/reset", _encode({"instruction": self._text}))

    def act(self, image: bytes, shape: tuple[int, ...]) -> list[int]:
        encoded = base64.b64encode(image).decode("ascii")
        request = {"instruction": self._text, "image": encoded, "rgb_base64": encoded, "image_shape": list(shape)}
        return self._server.parse(self._server.post("/act", _encode(request)))


class _StreamVLN:
    """The server of StreamVLN: a form with an image and a JSON text, in which "reset" begins an episode."""

    def __init__(self, server: PolicyServer) -> None:
        self._server, self._text, self._is_first = server, "", True

    def start_episode(self, instruction: Instruction) -> None:
        self._text, self._is_first = instruction.text, True

    def act(self, image: bytes, shape: tuple[int, ...]) -> list[int]:
        described = _encode({"reset": self._is_first, "instruction": self._text})
        self._is_first = False
        boundary = secrets.token_hex(16)
        body = b"".join(
            [
                f'--{boundary}\r\nContent-Disposition: form-data; name="json"\r\n\r\n'.encode() + described,
                f'\r\n--{boundary}\r\nContent-Disposition: form-data; name="image"; filename="rgb.png"\r\n'.encode(),
                b"Content-Type: image/png\r\n\r\n" + image + f"\r\n--{boundary}--\r\n".encode(),
            ]
        )
        return self._server.parse(self._server.post("", body, f"multipart/form-data; boundary={boundary}"))


def _encode(message: dict[str, Any]) -> bytes:
    return msgspec.json.encode(message)
