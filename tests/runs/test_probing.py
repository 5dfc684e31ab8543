"""Agents are led along trials and asked: what they are shown, what comes out, and what goes wrong."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import crossing
import players
from itinera.agents.baselines import ForwardBiased, RandomWalk, Still, Uniform
from itinera.agents.oracle import GraphExpert
from itinera.agents.rule_based import Reader
from itinera.errors import BadArgument, BadFile, Fault
from itinera.records.action_probabilities import Leaning
from itinera.runs.probing import MOST_MOVES, ask, ask_all
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.simulator import Observation
from itinera.tasks.trial import Trial
from itinera.worlds import Pose


def asked(agent: Any, trial: Trial, *, onward: bool = False, seed: int = 0) -> Leaning:
    body = GraphSimulator(sights=crossing.SIGHTS)
    return ask(agent, body, crossing.WORLDS[trial.episode.world_id], trial, seed=seed, onward=onward)


def by_node(leaning: Leaning) -> dict[str, float]:
    return dict(zip(("stop", *leaning.nodes), leaning.probabilities.tolist(), strict=True))


class Diary(players.Still):
    """Keeps what it is told and shown, and then leans to the last way there is."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def start_episode(self, instruction):
        self.told.append(("start_episode", instruction.text))

    def observe(self, observation):
        self.told.append(("observe", observation.place))

    def action_probabilities(self, observation):
        self.told.append(("action_probabilities", observation.place))
        return np.eye(1 + len(observation.candidates.nodes))[-1]


def test_an_agent_is_led_to_the_last_place_and_asked_there():
    agent = Diary()
    trial = crossing.trial("stop", "intervention")
    leaning = asked(agent, trial)
    assert agent.told == [
        ("start_episode", trial.episode.instruction.text),
        ("observe", "a"),
        ("observe", "b"),
        ("action_probabilities", "c"),
    ]
    assert leaning.trial_id == trial.id
    assert sorted(leaning.nodes) == ["b", "f", "l", "r"]
    assert leaning.heading == pytest.approx(0.0)
    assert leaning.walked == ()
    towards = dict(zip(leaning.nodes, np.degrees(leaning.relative).round().tolist(), strict=True))
    assert towards == {"l": 90, "f": 0, "r": -90, "b": 180}


def test_it_goes_on_by_its_likeliest_actions_until_it_would_stop():
    trial = crossing.trial("room-within-2", "intervention")
    assert asked(GraphExpert(crossing.GRAPH, ("l",)), trial, onward=True).walked == ("c", "l")
    assert asked(Still(), trial, onward=True).walked == ("c",)


def test_it_makes_twenty_moves_at_most_with_those_it_is_led():
    walked = asked(Diary(), crossing.trial("room-within-2", "intervention"), onward=True).walked
    assert len(walked) - 1 == MOST_MOVES - 2
    assert walked[0] == "c"


# Known answers


def test_the_still_agent_stops():
    assert by_node(asked(Still(), crossing.trial()))["stop"] == 1


def test_the_uniform_agent_spreads_evenly():
    assert set(by_node(asked(Uniform(), crossing.trial())).values()) == {0.2}


def test_the_forward_agent_leans_ahead_by_the_inverse_of_the_angle():
    found = by_node(asked(ForwardBiased(), crossing.trial()))
    weights = {"f": 1 / 0.1, "l": 1 / (0.1 + np.pi / 2), "r": 1 / (0.1 + np.pi / 2), "b": 1 / (0.1 + np.pi)}
    assert found == pytest.approx({"stop": 0.0} | {k: w / sum(weights.values()) for k, w in weights.items()})


def test_the_random_agent_counts_the_moves_it_is_led():
    assert by_node(asked(RandomWalk([2]), crossing.trial()))["stop"] == 1
    assert by_node(asked(RandomWalk([3]), crossing.trial())) == {"stop": 0, "l": 0.25, "f": 0.25, "r": 0.25, "b": 0.25}


@pytest.mark.parametrize(
    ("skill", "goes"),
    [("stop", "stop"), ("direction-left", "l"), ("direction-forward", "f"), ("object", "l"), ("room-1", "l")],
)
def test_the_reader_does_as_it_is_told_where_its_words_leave_it(skill, goes):
    assert by_node(asked(Reader(), crossing.trial(skill, "intervention")))[goes] == 1
    assert by_node(asked(Reader(), crossing.trial(skill, "control")))["stop"] == 1


def test_the_reader_goes_on_to_the_room_and_stops_there():
    assert asked(Reader(), crossing.trial("room-within-2", "intervention"), onward=True).walked == ("c", "l")


# Chance


class Whimsical(players.Still):
    """Leans to whatever it drew when it began."""

    def start_episode(self, instruction):
        self.drawn = self.rng.random()

    def action_probabilities(self, observation):
        return np.array(
            [self.drawn, *[(1 - self.drawn) / len(observation.candidates.nodes)] * len(observation.candidates.nodes)]
        )


def test_a_trial_and_its_twin_draw_the_same_and_other_walks_do_not():
    agent = Whimsical()
    first = asked(agent, crossing.trial("stop", "intervention")).stop
    assert asked(agent, crossing.trial("stop", "control")).stop == first
    assert asked(agent, crossing.trial("stop", "ahead")).stop == first
    assert asked(agent, crossing.trial("stop", "control", n=1)).stop != first
    assert asked(agent, crossing.trial("stop", "control"), seed=1).stop != first


@pytest.mark.parametrize("workers", [1, 2])
def test_answers_do_not_depend_on_how_many_ask(workers):
    study = crossing.trials(["stop", "room-within-2"])
    onward = frozenset({"room-within-2"})

    def told(count: int) -> list[Any]:
        found = dict(pair for batch in ask_all(partial(crossing.panel, Uniform), study, seed=3, workers=count,
                                               onward=onward) for pair in batch)  # fmt: skip
        assert sorted(found) == list(range(len(study)))
        return [(a.trial_id, a.nodes, a.probabilities.tolist(), a.walked) for a in (found[i] for i in sorted(found))]

    assert told(workers) == told(0)


# What goes wrong


class Wrong(players.Still):
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
            "BadArgument: action_probabilities() gave probabilities that sum to 0.9; they must sum to 1.",
        ),
        (
            [0.5, 0.5],
            "BadArgument: action_probabilities() gave an array of shape (2,); expected (5,) probabilities, STOP first",
        ),
        ([1.5, -0.5, 0, 0, 0], "expected (5,) probabilities, STOP first, finite and not negative"),
        ([float("nan"), 1, 0, 0, 0], "finite and not negative"),
        (RuntimeError("no battery"), "RuntimeError: no battery"),
        (SystemExit("enough"), "SystemExit: enough"),
        ("left", "ValueError: could not convert string to float"),
    ],
)
def test_a_trial_that_goes_wrong_has_failed_with_the_reason(answer, why):
    leaning = asked(Wrong(answer), crossing.trial())
    assert why in leaning.failed
    assert leaning.nodes == ()


def test_probabilities_off_by_single_precision_are_mended():
    shares = np.full(5, 0.2, dtype=np.float32) * np.float32(1.00003)
    assert asked(Wrong(shares), crossing.trial()).probabilities.sum() == pytest.approx(1.0, abs=1e-12)


def test_an_agent_that_cannot_weigh_is_refused_with_what_to_do():
    with pytest.raises(BadArgument, match=r"Still cannot weigh: .*weigh\(observation\).*itinera study export"):
        asked(players.Still(), crossing.trial())


def test_a_path_that_no_edges_join_fails_its_trial():
    trial = crossing.trial(walk=("a", "c"))
    assert "goes from a to c, which no edge joins" in asked(Still(), trial).failed


def test_a_start_that_is_no_place_fails_its_trial():
    trial = crossing.trial()
    trial = replace(trial, episode=replace(trial.episode, start=Pose("z")))
    assert "z is not a node" in asked(Still(), trial).failed


def test_an_unknown_world_is_refused():
    trial = crossing.trial()
    trial = replace(trial, episode=replace(trial.episode, world_id="moon"))
    with pytest.raises(BadArgument, match="World moon is not among the worlds given"):
        list(ask_all(partial(crossing.panel, Still), [trial], seed=0, workers=0))


def test_a_negative_number_of_workers_is_refused():
    with pytest.raises(BadArgument, match="There cannot be -1 workers"):
        list(ask_all(partial(crossing.panel, Still), [], seed=0, workers=-1))


def unreadable() -> Any:
    raise BadFile("worlds.json", [Fault("", "is empty.")])


@pytest.mark.parametrize(("recipe", "why"), [(players.no_crew, "nobody came"), (unreadable, "worlds.json: is empty")])
def test_a_worker_that_cannot_begin_says_why(recipe, why):
    with pytest.raises(Exception, match=why):
        list(ask_all(recipe, [crossing.trial()], seed=0, workers=1))


def test_a_worker_that_dies_is_told_with_what_to_do():
    with pytest.raises(BadArgument, match=r"A worker ended in the middle of its trials.*--workers 0"):
        list(ask_all(players.dying_crew, [crossing.trial()], seed=0, workers=1))
