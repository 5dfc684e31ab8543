"""An agent that asks a language model what to do. Start with `ChatAgent.act`.

An answer that names no possible action is counted. The question is then repeated with what is wrong, and after the last
repetition a rule decides: the episode fails (the default), or the agent moves at random or ahead, or it stops.
"""

from __future__ import annotations

from collections import Counter, deque

import numpy as np

from itinera.agents.services.bill import USD_DIGITS, cost
from itinera.agents.services.chat_client import ChatClient, Message
from itinera.agents.services.prompts import PromptStyle, Unparsable
from itinera.agents.services.settings import ServiceSettings
from itinera.agents.transport import AgentFailure
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import Instruction

LONGEST_ECHO = 2000  # characters of an unparsable answer that come back to the model
LONGEST_MODEL = 200  # characters of the name that the server gives to its model


class ChatAgent:
    """An agent that asks a language model, in a style of prompts."""

    def __init__(self, client: ChatClient, style: PromptStyle, settings: ServiceSettings) -> None:
        self._client, self._style, self._settings = client, style, settings
        self._rng = np.random.default_rng(0)
        self._forget_episode()

    def reset(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._style.reset()
        self._forget_episode()

    def start_episode(self, instruction: Instruction) -> None:
        self._forget_episode()
        self._style.start_episode(instruction)

    def act(self, observation: Observation) -> int:
        if not self._actions:
            self._actions.extend(self._decide(observation))
        else:
            self._style.observe(observation)
        return self._actions.popleft()

    def observe(self, observation: Observation) -> None:
        self._style.observe(observation)

    def episode_usage(self) -> dict[str, float | int | str]:
        """Calls, tokens, cost and unparsable answers of the episode, wherever the answers came from."""
        usage: dict[str, float | int | str] = {name: self._counts[name] for name in _COUNTED}
        if self._counts["estimated"]:
            usage["estimated"] = self._counts["estimated"]
        if self._settings.price is not None:
            usage["cost"] = round(self._cost, USD_DIGITS)
        return usage | {"model": self._model}

    def close(self) -> None:
        """Close the connection to the server."""
        self._client.close()

    def _decide(self, observation: Observation) -> list[int]:
        """The next actions."""
        question = self._style.ask(observation)
        messages = [Message("system", self._style.system), Message("user", question.text, question.images)]
        problem = ""
        for _ in range(1 + self._settings.repeats):
            answer = self._ask(messages)
            try:
                return list(self._style.parse(answer, observation))
            except Unparsable as error:
                self._counts["unparsable"] += 1
                problem = str(error)
            remark = f"Your answer {problem}. Answer in the required form, and name one possible action."
            messages += [Message("assistant", answer[:LONGEST_ECHO]), Message("user", remark)]
        return [self._fall_back(problem, observation)]

    def _fall_back(self, problem: str, observation: Observation) -> int:
        """The action by rule."""
        rule = self._settings.unparsable
        if rule == "fail":
            times = 1 + self._settings.repeats
            raise AgentFailure(f"The answer {problem} ({times} answers to this question were unparsable).")
        self._counts["by_rule"] += 1
        return STOP if rule == "stop" else self._style.fall_back(rule, observation, self._rng)

    def _ask(self, messages: list[Message]) -> str:
        """The text of the answer, counted."""
        answer = self._client.ask(messages)
        self._counts["calls"] += 1
        self._counts["prompt_tokens"] += answer.usage.prompt_tokens
        self._counts["completion_tokens"] += answer.usage.completion_tokens
        self._counts["estimated"] += answer.usage.estimated
        if self._settings.price is not None:
            self._cost += cost(self._settings.price, answer.usage)
        self._model = answer.model[:LONGEST_MODEL]
        return answer.text

    def _forget_episode(self) -> None:
        self._actions: deque[int] = deque()
        self._counts: Counter[str] = Counter()
        self._cost = 0.0
        self._model = self._client.model[:LONGEST_MODEL]


_COUNTED = ("calls", "prompt_tokens", "completion_tokens", "unparsable", "by_rule")
