"""Agents that break a promise are told which."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from itinera.agents.baselines import (
    ForwardBiasedAgent,
    GroundRandomAgent,
    HandcraftedAgent,
    RandomWalkAgent,
    StationaryAgent,
    UniformAgent,
)
from itinera.agents.checks import check_agent
from itinera.agents.rule_based import RuleBasedAgent
from itinera.errors import BadArgument
from itinera.simulators.simulator import STOP
from scripted_agents import Wanderer


@pytest.mark.parametrize(
    "agent",
    [
        StationaryAgent(),
        UniformAgent(),
        RandomWalkAgent([4, 5]),
        ForwardBiasedAgent(),
        ForwardBiasedAgent(stop_once_in=6),
        RuleBasedAgent(),
        Wanderer(),
    ],
    ids=lambda agent: type(agent).__name__,
)
def test_agents_of_ours_keep_their_promises_on_graphs(agent):
    check_agent(agent)


@pytest.mark.parametrize(
    "agent", [StationaryAgent(), UniformAgent(), GroundRandomAgent(), HandcraftedAgent(max_turns=4, steps=5)]
)
def test_agents_of_ours_keep_their_promises_on_the_ground(agent):
    check_agent(agent, body="ground")


class Good:
    """Looks at everything, and stops after three steps."""

    def reset(self, rng: np.random.Generator) -> Any:
        self.rng = rng

    def start_episode(self, instruction: Any) -> Any:
        self.steps = 0

    def act(self, observation: Any) -> Any:
        assert observation.views.shape == (36, 8)
        self.steps += 1
        return STOP if self.steps == 4 else 1

    def observe(self, observation: Any) -> Any:
        pass


class Blind(Good):
    observe = None


class Talkative(Good):
    def observe(self, observation):
        return "nice here"


class Greeting(Good):
    def reset(self, rng):
        return 1


class Undecided(Good):
    def act(self, observation):
        return 1.0


class Yes(Good):
    def act(self, observation):
        return True


class Bold(Good):
    def act(self, observation):
        return 99


class Failing(Good):
    def act(self, observation):
        raise KeyError("left")


class Remembering(Good):
    seen = 0

    def act(self, observation):
        self.seen += 1
        return STOP if self.seen > 20 else 1


class Elsewhere(Good):
    def __init__(self):
        self.own = np.random.default_rng()

    def act(self, observation):
        return int(self.own.integers(len(observation.candidates.nodes) + 1))


class ProbabilisticAgent(Good):
    def action_probabilities(self, observation):
        candidates = len(observation.candidates.nodes)
        return np.full(candidates + 1, 1 / (candidates + 1), dtype=np.float32)


class TooSure(ProbabilisticAgent):
    def action_probabilities(self, observation):
        return 2 * super().action_probabilities(observation)


class Short(ProbabilisticAgent):
    def action_probabilities(self, observation):
        return super().action_probabilities(observation)[1:]


class Hopeless(ProbabilisticAgent):
    def action_probabilities(self, observation):
        return np.nan * super().action_probabilities(observation)


class Wordy(ProbabilisticAgent):
    def action_probabilities(self, observation):
        return "left"


class Fidgety(ProbabilisticAgent):
    def act(self, observation):
        return int(self.rng.integers(len(observation.candidates.nodes) + 1))

    def action_probabilities(self, observation):
        self.rng.random()
        return super().action_probabilities(observation)


BROKEN = {
    Blind: "has no observe()",
    Talkative: "observe() returned 'nice here'; it must return None",
    Greeting: "reset() returned 1",
    Undecided: "act() returned 1.0 (float); expected an integer from 0 (STOP) to 2",
    Yes: "act() returned True",
    Bold: "act() returned 99; expected an integer from 0 (STOP) to 2",
    Failing: "act() failed: KeyError: 'left'",
    Remembering: "reset() must forget",
    Elsewhere: "all randomness must come from the generator",
    TooSure: "sum to 2; they must sum to 1",
    Short: "shape (2,); expected (3,), STOP first",
    Hopeless: "expected finite probabilities that are not negative",
    Wordy: "action_probabilities() returned 'left'; expected 3 probabilities",
    Fidgety: "action_probabilities() changes later actions",
}


def test_a_newcomers_agent_passes():
    check_agent(Good())
    check_agent(ProbabilisticAgent())


@pytest.mark.parametrize(("agent", "told"), BROKEN.items(), ids=[kind.__name__ for kind in BROKEN])
def test_the_first_promise_broken_is_named(agent, told):
    with pytest.raises(BadArgument, match=re.escape(told)):
        check_agent(agent())


def test_a_class_is_not_an_agent():
    with pytest.raises(BadArgument, match="Good is a class; pass an object"):
        check_agent(Good)
