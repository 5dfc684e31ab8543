"""Probing agents in trials: what they observe, what is recorded, and what goes wrong."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import crossing
import scripted_agents
from itinera.agents.baselines import ForwardBiasedAgent, RandomWalkAgent, StationaryAgent, UniformAgent
from itinera.agents.oracle import GraphExpert
from itinera.agents.rule_based import RuleBasedAgent
from itinera.errors import BadArgument, BadFile, Fault, ItineraError
from itinera.records.action_probabilities import ActionDistribution
from itinera.runs.probing import MAX_MOVES, probe, probe_all
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.simulator import Observation
from itinera.tasks.trial import Trial
from itinera.worlds import Pose


def probed(agent: Any, trial: Trial, *, greedy_rollout: bool = False, seed: int = 0) -> ActionDistribution:
    body = GraphSimulator(descriptions=crossing.SIGHTS)
    return probe(agent, body, crossing.WORLDS[trial.episode.world_id], trial, seed=seed, greedy_rollout=greedy_rollout)


def by_node(distribution: ActionDistribution) -> dict[str, float]:
    return dict(zip(("stop", *distribution.nodes), distribution.probabilities.tolist(), strict=True))


class Diary(scripted_agents.Still):
    """Records its calls, and prefers the last candidate."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def start_episode(self, instruction):
        self.calls.append(("start_episode", instruction.text))

    def observe(self, observation):
        self.calls.append(("observe", observation.place))

    def action_probabilities(self, observation):
        self.calls.append(("action_probabilities", observation.place))
        return np.eye(1 + len(observation.candidates.nodes))[-1]


def test_an_agent_is_led_to_the_last_place_and_asked_there():
    agent = Diary()
    trial = crossing.trial("stop", "intervention")
    distribution = probed(agent, trial)
    assert agent.calls == [
        ("start_episode", trial.episode.instruction.text),
        ("observe", "a"),
        ("observe", "b"),
        ("action_probabilities", "c"),
    ]
    assert distribution.trial_id == trial.id
    assert sorted(distribution.nodes) == ["b", "f", "l", "r"]
    assert distribution.heading == pytest.approx(0.0)
    assert distribution.greedy_path == ()
    towards = dict(zip(distribution.nodes, np.degrees(distribution.relative_headings).round().tolist(), strict=True))
    assert towards == {"l": 90, "f": 0, "r": -90, "b": 180}


def test_it_goes_on_by_its_likeliest_actions_until_it_would_stop():
    trial = crossing.trial("room-within-2", "intervention")
    assert probed(GraphExpert(crossing.GRAPH, ("l",)), trial, greedy_rollout=True).greedy_path == ("c", "l")
    assert probed(StationaryAgent(), trial, greedy_rollout=True).greedy_path == ("c",)


def test_it_makes_twenty_moves_at_most_with_those_it_is_led():
    walked = probed(Diary(), crossing.trial("room-within-2", "intervention"), greedy_rollout=True).greedy_path
    assert len(walked) - 1 == MAX_MOVES - 2
    assert walked[0] == "c"


# Known answers


def test_the_still_agent_stops():
    assert by_node(probed(StationaryAgent(), crossing.trial()))["stop"] == 1


def test_the_uniform_agent_spreads_evenly():
    assert set(by_node(probed(UniformAgent(), crossing.trial())).values()) == {0.2}


def test_the_forward_agent_leans_ahead_by_the_inverse_of_the_angle():
    found = by_node(probed(ForwardBiasedAgent(), crossing.trial()))
    weights = {"f": 1 / 0.1, "l": 1 / (0.1 + np.pi / 2), "r": 1 / (0.1 + np.pi / 2), "b": 1 / (0.1 + np.pi)}
    assert found == pytest.approx({"stop": 0.0} | {k: w / sum(weights.values()) for k, w in weights.items()})


def test_the_random_agent_counts_the_moves_it_is_led():
    assert by_node(probed(RandomWalkAgent([2]), crossing.trial()))["stop"] == 1
    assert by_node(probed(RandomWalkAgent([3]), crossing.trial())) == {
        "stop": 0,
        "l": 0.25,
        "f": 0.25,
        "r": 0.25,
        "b": 0.25,
    }


@pytest.mark.parametrize(
    ("skill", "goes"),
    [("stop", "stop"), ("direction-left", "l"), ("direction-forward", "f"), ("object", "l"), ("room-1", "l")],
)
def test_the_reader_does_as_it_is_told_where_its_words_leave_it(skill, goes):
    assert by_node(probed(RuleBasedAgent(), crossing.trial(skill, "intervention")))[goes] == 1
    assert by_node(probed(RuleBasedAgent(), crossing.trial(skill, "control")))["stop"] == 1


def test_the_reader_goes_on_to_the_room_and_stops_there():
    assert probed(
        RuleBasedAgent(), crossing.trial("room-within-2", "intervention"), greedy_rollout=True
    ).greedy_path == (
        "c",
        "l",
    )


# Chance


class Whimsical(scripted_agents.Still):
    """Leans to whatever it drew when it began."""

    def start_episode(self, instruction):
        self.drawn = self.rng.random()

    def action_probabilities(self, observation):
        return np.array(
            [self.drawn, *[(1 - self.drawn) / len(observation.candidates.nodes)] * len(observation.candidates.nodes)]
        )


def test_a_trial_and_its_twin_draw_the_same_and_other_walks_do_not():
    agent = Whimsical()
    first = probed(agent, crossing.trial("stop", "intervention")).stop
    assert probed(agent, crossing.trial("stop", "control")).stop == first
    assert probed(agent, crossing.trial("stop", "ahead")).stop == first
    assert probed(agent, crossing.trial("stop", "control", n=1)).stop != first
    assert probed(agent, crossing.trial("stop", "control"), seed=1).stop != first


@pytest.mark.parametrize("workers", [1, 2])
def test_answers_do_not_depend_on_how_many_ask(workers):
    study = crossing.trials(["stop", "room-within-2"])
    rollout_skills = frozenset({"room-within-2"})

    def results(count: int) -> list[Any]:
        found = dict(pair for batch in probe_all(partial(crossing.context, UniformAgent), study, seed=3, workers=count,
                                               rollout_skills=rollout_skills) for pair in batch)  # fmt: skip
        assert sorted(found) == list(range(len(study)))
        return [
            (a.trial_id, a.nodes, a.probabilities.tolist(), a.greedy_path) for a in (found[i] for i in sorted(found))
        ]

    assert results(workers) == results(0)


# What goes wrong


class Wrong(scripted_agents.Still):
    """Answers as its instruction does not ask for."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def action_probabilities(self, observation: Observation) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (
            [0.5, 0.1, 0.1, 0.1, 0.1],
            "BadArgument: action_probabilities() returned probabilities that sum to 0.9; they must sum to 1.",
        ),
        (
            [0.5, 0.5],
            "BadArgument: action_probabilities() returned an array of shape (2,); expected (5,), STOP first",
        ),
        ([1.5, -0.5, 0, 0, 0], "expected finite probabilities that are not negative"),
        ([float("nan"), 1, 0, 0, 0], "expected finite probabilities"),
        (RuntimeError("no battery"), "RuntimeError: no battery"),
        (SystemExit("enough"), "SystemExit: enough"),
        ("left", "returned 'left'; expected 5 probabilities"),
    ],
)
def test_a_trial_that_goes_wrong_has_failed_with_the_reason(answer, why):
    distribution = probed(Wrong(answer), crossing.trial())
    assert why in distribution.failed
    assert distribution.nodes == ()


def test_probabilities_off_by_single_precision_are_mended():
    shares = np.full(5, 0.2, dtype=np.float32) * np.float32(1.00003)
    assert probed(Wrong(shares), crossing.trial()).probabilities.sum() == pytest.approx(1.0, abs=1e-12)


def test_an_agent_without_action_probabilities_is_refused_with_what_to_do():
    with pytest.raises(BadArgument, match=r"does not report action probabilities.*itinera study export"):
        probed(scripted_agents.Still(), crossing.trial())


def test_a_path_that_no_edges_join_fails_its_trial():
    trial = crossing.trial(walk=("a", "c"))
    assert "goes from a to c, and there is no such edge" in probed(StationaryAgent(), trial).failed


def test_a_start_that_is_no_place_fails_its_trial():
    trial = crossing.trial()
    trial = replace(trial, episode=replace(trial.episode, start=Pose("z")))
    assert "z is not a node" in probed(StationaryAgent(), trial).failed


def test_an_unknown_world_is_refused():
    trial = crossing.trial()
    trial = replace(trial, episode=replace(trial.episode, world_id="moon"))
    with pytest.raises(BadArgument, match="World moon is not among the worlds given"):
        list(probe_all(partial(crossing.context, StationaryAgent), [trial], seed=0, workers=0))


def test_a_negative_number_of_workers_is_refused():
    with pytest.raises(BadArgument, match="workers must be ≥ 0"):
        list(probe_all(partial(crossing.context, StationaryAgent), [], seed=0, workers=-1))


def unreadable() -> Any:
    raise BadFile("worlds.json", [Fault("", "is empty.")])


@pytest.mark.parametrize(
    ("make_context", "why"), [(scripted_agents.broken_context, "nobody came"), (unreadable, "worlds.json: is empty")]
)
def test_a_worker_that_cannot_begin_says_why(make_context, why):
    with pytest.raises(Exception, match=why):
        list(probe_all(make_context, [crossing.trial()], seed=0, workers=1))


def test_a_worker_that_dies_is_told_with_what_to_do():
    with pytest.raises(ItineraError, match=r"A worker process could not start: .* exit code 5.*workers=0"):
        list(probe_all(scripted_agents.dying_context, [crossing.trial()], seed=0, workers=1))
