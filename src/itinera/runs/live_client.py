"""The participant's side of a live phase: agents answer the requests of the host. Start with `play_tours`."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from itinera.agents.agent import Agent
from itinera.agents.host import RequestMessage, make_generator, read_observation
from itinera.errors import BadArgument
from itinera.formats.live_turns import TurnHead, TurnLine
from itinera.runs.rollout import LONGEST_REASON, describe_failure
from itinera.runs.tour_loop import IllegalAction, validate_action
from itinera.tasks import Instruction

# Turns -> their replies. It repeats them until the host answers.
Exchange = Callable[[list[TurnLine]], list[tuple[TurnHead, bytes]]]
_decoder = msgspec.json.Decoder(RequestMessage)


def play_tours(
    agents: Sequence[Agent],
    exchange: Exchange,
    *,
    tours: int,
    turns: Mapping[int, int],
    ended: Sequence[int],
    on_tour: Callable[[int], None] = lambda tour: None,
) -> None:
    """Play all tours of a session that are not over, one tour per agent at a time.

    turns: the next turn of each tour that has begun. An agent gets such a tour from its beginning again, with what it
    has answered then. on_tour: called with the number of each tour that is over.
    """
    begun = [tour for tour in turns if tour not in ended]
    waiting = deque([*begun, *(tour for tour in range(tours) if tour not in turns)])
    lanes = [_Lane(agent) for agent in agents]
    while True:
        lines: list[TurnLine] = []
        active: list[_Lane] = []
        for lane in lanes:
            if lane.line is None and waiting:
                tour = waiting.popleft()
                lane.begin(tour, turns.get(tour, 0))
            if lane.line is not None:
                if lane.left is not None:
                    lines.append(TurnLine(lane.left, 0, end=True))
                    lane.left = None
                lines.append(lane.line)
                active.append(lane)
            elif lane.left is not None:
                lines.append(TurnLine(lane.left, 0, end=True))
                lane.left = None
        if not lines:
            return
        replies = [reply for line, reply in zip(lines, exchange(lines), strict=True) if not line.end]
        for lane, (head, payload) in zip(active, replies, strict=True):
            lane.take(head, payload)
            if lane.left is not None:
                on_tour(lane.left)


class _Lane:
    """An agent and the tour that it plays."""

    def __init__(self, agent: Agent) -> None:
        self._player = AgentPlayer(agent)
        self._again = 0  # turns that are still to be repeated to an agent that has lost its memory
        self.line: TurnLine | None = None  # to be sent
        self.left: int | None = None  # the tour that is over, of which the host is to be told

    def begin(self, tour: int, next_turn: int) -> None:
        """Play a tour, of which the turns before `next_turn` have been answered."""
        self._again = next_turn
        self.line = TurnLine(tour, 0, replay=next_turn > 0)

    def take(self, head: TurnHead, payload: bytes) -> None:
        """Let the agent answer the requests of a reply."""
        answer = self._player.answer(payload)
        if self._again:
            self._again -= 1
        if answer is None:
            self.line, self.left = None, head.tour
        elif self._again:
            self.line = TurnLine(head.tour, head.turn, replay=True)  # what it answers now does not count
        elif isinstance(answer, str):
            self.line = TurnLine(head.tour, head.turn, failed=answer)
        else:
            self.line = TurnLine(head.tour, head.turn, action=answer)


class AgentPlayer:
    """Calls an agent as `rollout` does: what it does wrong fails its episode."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._reset_error = self._error = self._episode_error = ""

    def answer(self, payload: bytes) -> int | str | None:
        """The action after these requests, or the reason why there is none; None if the tour is over."""
        for request, observation in _read_requests(payload):
            if request.ask == "reset":
                self._error = ""
                self._reset_error = self._call(self._agent.reset, make_generator(request.state))
            elif request.ask == "observe":
                self._error = self._error or self._call(self._agent.observe, observation)
            elif request.ask == "start_episode":
                said = Instruction(request.text, request.language, request.point_goal)
                self._episode_error = self._reset_error or self._error
                self._episode_error = self._episode_error or self._call(self._agent.start_episode, said)
                self._error = ""
            elif request.ask == "act":
                return self._act(observation)
        return None

    def _act(self, observation: Any) -> int | str:
        if self._episode_error:
            return self._episode_error
        try:
            return validate_action(self._agent.act(observation), 1 << 31)
        except IllegalAction as error:
            return str(error)[:LONGEST_REASON]
        except (Exception, SystemExit) as error:
            return describe_failure(error)["failed"]

    def _call(self, method: Callable[[Any], object], argument: Any) -> str:
        """The reason of a failure of the agent, or nothing."""
        try:
            method(argument)
        except (Exception, SystemExit) as error:
            return describe_failure(error)["failed"]
        return ""


def _read_requests(payload: bytes) -> Iterator[tuple[RequestMessage, Any]]:
    stream = io.BytesIO(payload)
    for line in iter(stream.readline, b""):
        try:
            request = _decoder.decode(line)
            observation = None if request.observation is None else read_observation(request.observation, stream)
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError, TypeError) as error:
            raise BadArgument(f"The server sends what is no request to an agent: {error}.") from None
        yield request, observation
