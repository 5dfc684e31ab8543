"""An agent that asks a language model: what it counts, and what happens when an answer names no action."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from itinera.agents.agent import Agent, MeteredAgent, validate_usage
from itinera.agents.services.answers import Answer, Usage
from itinera.agents.services.chat_agent import ChatAgent
from itinera.agents.services.settings import ServiceSettings
from itinera.agents.services.words import WordsStyle
from itinera.agents.transport import AgentFailure
from itinera.errors import BadArgument
from itinera.simulators.simulator import Observation
from itinera.tasks import PROTOCOLS, Instruction

HERE = Observation("room", np.zeros(3), 0.0, 0.0)
SETTINGS = ServiceSettings("http://h", "words", repeats=1)


class Client:
    """Answers from a list."""

    model = "m"

    def __init__(self, *answers: str, estimated: bool = False) -> None:
        self.answers, self.asked, self.estimated = list(answers), [], estimated

    def ask(self, messages):
        self.asked.append(list(messages))
        return Answer(self.answers.pop(0), "served", Usage(100, 10, self.estimated))

    def close(self):
        self.closed = True


def make(client: Client, **changes) -> ChatAgent:
    style = WordsStyle(PROTOCOLS["r2r-ce"], {}, history=2)
    agent = ChatAgent(client, style, replace(SETTINGS, **changes))
    agent.reset(np.random.default_rng(0))
    agent.start_episode(Instruction("go"))
    return agent


def test_an_answer_may_be_several_actions():
    client = Client("move forward 50 cm, turn left 15 degrees", "stop")
    agent = make(client)
    assert [agent.act(HERE) for _ in range(4)] == [1, 1, 2, 0]
    assert len(client.asked) == 2
    assert [message.role for message in client.asked[0]] == ["system", "user"]
    assert isinstance(agent, Agent)


def test_calls_tokens_and_cost_are_counted():
    agent = make(Client("forward", "forward"), price=(10.0, 100.0))
    assert agent.act(HERE) == agent.act(HERE) == 1
    usage = agent.episode_usage()
    assert isinstance(agent, MeteredAgent)
    assert usage == validate_usage(usage)
    assert usage == {
        "calls": 2,
        "prompt_tokens": 200,
        "completion_tokens": 20,
        "unparsable": 0,
        "by_rule": 0,
        "cost": pytest.approx(0.004),
        "model": "served",
    }
    agent.start_episode(Instruction("go"))
    assert agent.episode_usage()["calls"] == 0


def test_estimated_tokens_are_counted_apart():
    agent = make(Client("forward", estimated=True))
    agent.act(HERE)
    assert agent.episode_usage()["estimated"] == 1
    assert "cost" not in agent.episode_usage()


def test_actions_of_an_episode_do_not_go_on_in_the_next():
    agent = make(Client("forward forward forward", "stop"))
    agent.act(HERE)
    agent.start_episode(Instruction("go"))
    assert agent.act(HERE) == 0


def test_a_question_is_repeated_with_what_is_wrong():
    client = Client("I should not stop.", "Action: turn left 30 degrees")
    agent = make(client)
    assert agent.act(HERE) == 2
    again = client.asked[1]
    assert [message.role for message in again] == ["system", "user", "assistant", "user"]
    assert again[2].text == "I should not stop."
    assert "is not a sequence of moves: 'I should not stop.'" in again[3].text
    assert agent.episode_usage()["unparsable"] == 1


def test_by_default_an_unparsable_answer_fails_the_episode():
    agent = make(Client("hm", "no idea"))
    with pytest.raises(AgentFailure, match=r"is not a sequence of moves: 'no idea' \(2 answers"):
        agent.act(HERE)
    assert (agent.episode_usage()["unparsable"], agent.episode_usage()["by_rule"]) == (2, 0)


@pytest.mark.parametrize(("rule", "actions"), [("stop", {0}), ("forward", {1}), ("random", {1, 2, 3})])
def test_a_rule_may_decide_instead(rule, actions):
    agent = make(Client(*["hm"] * 40), unparsable=rule, repeats=0)
    assert {agent.act(HERE) for _ in range(40)} == actions
    assert (agent.episode_usage()["unparsable"], agent.episode_usage()["by_rule"]) == (40, 40)


def test_a_random_rule_depends_on_the_given_generator_alone():
    def run() -> list[int]:
        agent = make(Client(*["hm"] * 20), unparsable="random", repeats=0)
        return [agent.act(HERE) for _ in range(20)]

    assert run() == run()


def test_closing_closes_the_connection():
    client = Client()
    make(client).close()
    assert client.closed


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [1],
        {"calls": float("nan")},
        {"calls": float("inf")},
        {"calls": 1e300},
        {"calls": True},
        {"calls": [1]},
        {1: 1},
        {"model": "x" * 201},
        {str(k): k for k in range(33)},
    ],
)
def test_usage_of_any_other_kind_is_refused(usage):
    with pytest.raises(BadArgument, match=r"episode_usage\(\) returned"):
        validate_usage(usage)
