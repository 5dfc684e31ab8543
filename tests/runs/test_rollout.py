"""The loop: what an agent is told, shown and asked, and what becomes of its mistakes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from itinera.records import Ending, Phase
from itinera.runs.rollout import LONGEST_REASON, LONGEST_TRACEBACK, rollout
from itinera.simulators.graph import GraphSimulator
from itinera.tasks import Instruction, Tour
from itinera.tasks.protocol import IVLN, R2R
from scripted_agents import Misbehaving, Scripted, Still, Wanderer
from text_worlds import STREET, episode, world

HOUSE = world(STREET)


def asked(*references, words=()):
    """Episodes along these references, told by these words or by their numbers."""
    told = [*words, *map(str, range(len(words), len(references)))]
    return tuple(
        episode(str(k), reference, instruction=Instruction(text))
        for k, (reference, text) in enumerate(zip(references, told, strict=True))
    )


def walked(agent, episodes, *, protocol=IVLN, seed=7, simulator=None, **options):
    tour = Tour("tour", "house", tuple(e.id for e in episodes))
    return rollout(agent, simulator or GraphSimulator(), HOUSE, tour, episodes, protocol=protocol, seed=seed, **options)


def test_every_observation_is_shown_once_to_act_or_to_watch():
    agent = Scripted({"0": "bc", "1": ""})
    walked(agent, asked("abc", "ef", "ab"))
    assert agent.diary == [
        ("start_episode", "0"), ("act", "a"), ("act", "b"), ("act", "c"),
        ("observe", "d"), ("observe", "e"), ("start_episode", "1"), ("act", "e"),
        ("observe", "f"), ("observe", "e"), ("observe", "d"), ("observe", "c"), ("observe", "b"), ("observe", "a"),
        ("start_episode", "2"), ("act", "a"),
    ]  # fmt: skip


def test_an_agent_out_of_steps_sees_where_it_came_to():
    agent = Scripted({"0": "bcd"})
    walked(agent, asked("abc", "ef"), protocol=replace(IVLN, step_limit=2))
    assert agent.diary[:6] == [
        ("start_episode", "0"), ("act", "a"), ("act", "b"), ("observe", "c"), ("observe", "d"), ("observe", "e"),
    ]  # fmt: skip


def test_without_guidance_nothing_is_watched():
    agent = Scripted({})
    walked(agent, asked("abc", "ef"), protocol=R2R)
    assert agent.diary == [("start_episode", "0"), ("act", "a"), ("start_episode", "1"), ("act", "e")]


def test_neither_of_the_released_leaks_is_there():
    """Standing on the next start must not show the path to the next goal, nor the next start what lies between."""
    agent = Scripted({"0": "bc"})
    walked(agent, asked("abc", "cdef", "ab"))
    second = agent.diary.index(("start_episode", "1"))
    assert {place for _, place in agent.diary[1:second]} == set("abc")
    third = agent.diary.index(("start_episode", "2"))
    shown = [place for how, place in agent.diary[second:third] if how == "observe"]
    assert shown == [*"defedcba"]  # the start is shown when it is reached


def test_the_record_is_of_what_was_shown():
    agent = Scripted({"0": "bc"})
    trajectory = walked(agent, asked("abc")).trajectories[0]
    assert trajectory.places == tuple("abc")
    assert trajectory.headings.tolist() == [seen.heading for seen in agent.seen]
    assert (trajectory.ending, trajectory.phases, trajectory.times) == (Ending.STOPPED, None, None)
    assert len(trajectory.actions) == 2


def test_chance_depends_on_seed_and_tour_alone():
    episodes = asked("abc", "ef", "ab", "cd")
    first, again, other = (walked(Wanderer(), episodes, seed=seed) for seed in (1, 1, 2))
    assert [t.places for t in first.trajectories] == [t.places for t in again.trajectories]
    assert [t.places for t in first.trajectories] != [t.places for t in other.trajectories]


def test_what_an_agent_weighed_is_kept_if_asked_for():
    episodes = asked("abc")
    kept = walked(Wanderer(), episodes, record_probabilities=True).trajectories[0]
    assert kept.action_log.candidates[0] == ("stop", "b")
    assert kept.action_log.probabilities[0].tolist() == [1 / 6, 5 / 6]
    asked_for = len(kept.actions) + (kept.ending is Ending.STOPPED)
    assert len(kept.action_log.candidates) == len(kept.action_log.probabilities) == asked_for
    assert walked(Wanderer(), episodes).trajectories[0].action_log is None
    assert walked(Still(), episodes, record_probabilities=True).trajectories[0].action_log is None


@pytest.mark.parametrize("weights", [[0.5], [np.nan, 1.0], [-1.0, 2.0], "many"])
def test_weights_that_are_none_fail_the_episode(weights):
    class Confused(Wanderer):
        def action_probabilities(self, observation):
            return weights

    assert walked(Confused(), asked("abc"), record_probabilities=True).trajectories[0].ending is Ending.FAILED


REASONS = {
    "crash": "ValueError: <object object at 0x…> is no good",
    "exit": "SystemExit: enough",
    "nonsense": "The agent chose 'left' (str); an action is an integer.",
    "nan": "The agent chose nan (float); an action is an integer.",
    "true": "The agent chose True; an action is an integer, not a boolean.",
    "none": "The agent chose None (NoneType); an action is an integer.",
    "far": f"The agent chose action {10**30}; the actions here are 0 to 1.",
    "back": "The agent chose action -1; the actions here are 0 to 1.",
}


@pytest.mark.parametrize("deed", REASONS)
def test_a_misdeed_fails_its_episode_and_the_tour_goes_on(deed):
    found = walked(Misbehaving(), asked("abc", "abc", "ef", words=("walk", deed, "walk"))).trajectories
    assert [t.ending is Ending.FAILED for t in found] == [False, True, False]
    assert found[1].notes["failed"] == REASONS[deed]
    assert found[1].acting_places == ("a",)
    assert found[1].places[-1] == "c"  # led to the goal all the same
    assert ("traceback" in found[1].notes) == (deed in ("crash", "exit"))


def test_errors_are_told_in_bounds():
    class Verbose(Still):
        def act(self, observation):
            raise ValueError("x" * 10**6)

    notes = walked(Verbose(), asked("abc")).trajectories[0].notes
    assert len(notes["failed"]) == LONGEST_REASON
    assert len(notes["traceback"]) == LONGEST_TRACEBACK


@pytest.mark.parametrize("method", ["reset", "start_episode", "act"])
def test_an_agent_broken_for_good_fails_every_episode(method):
    def broken(self, *_):
        raise RuntimeError(f"no {method}")

    agent = type("Broken", (Still,), {method: broken})()
    found = walked(agent, asked("abc", "ef", "ab")).trajectories
    assert [(t.ending, t.notes["failed"]) for t in found] == [(Ending.FAILED, f"RuntimeError: no {method}")] * 3
    assert [t.acting_places for t in found] == [("a",), ("e",), ("a",)]


def test_an_agent_that_cannot_watch_fails_the_episode_it_is_led_to():
    class Blind(Still):
        def observe(self, observation):
            raise RuntimeError("too dark")

    found = walked(Blind(), asked("abc", "ef")).trajectories
    assert [t.ending is Ending.FAILED for t in found] == [False, True]
    assert found[1].notes["failed"] == "RuntimeError: too dark"


def test_a_start_that_is_nowhere_fails_its_own_episode_only():
    episodes = asked("abc", "ef", "ab")
    broken = replace(episodes[1], start=replace(episodes[1].start, place="nowhere"))
    found = walked(Still(), (episodes[0], broken, episodes[2])).trajectories
    assert [t.ending is Ending.FAILED for t in found] == [False, True, False]
    assert "nowhere is not a node" in found[1].notes["failed"]
    assert found[2].places == ("a",)  # put there, since nobody knew where the body was
    first = walked(Still(), (broken, episodes[2])).trajectories
    assert [t.ending for t in first] == [Ending.FAILED, Ending.STOPPED]
    assert [t.ending for t in walked(Still(), (broken, broken)).trajectories] == [Ending.FAILED] * 2


def test_a_body_that_breaks_fails_the_episode():
    class Fragile(GraphSimulator):
        def step(self, action):
            seen = super().step(action)
            if seen.place == "c":
                raise ZeroDivisionError("broken leg")
            return seen

    found = walked(Scripted({"0": "bc"}), asked("abc", "ab"), simulator=Fragile()).trajectories
    assert [t.ending for t in found] == [Ending.FAILED, Ending.STOPPED]
    assert found[0].notes["failed"] == "ZeroDivisionError: broken leg"
    assert found[0].notes["lost"] is True
    led = walked(Still(), asked("abc", "ab"), simulator=Fragile()).trajectories
    assert [t.ending for t in led] == [Ending.STOPPED] * 2
    assert led[0].notes["guided to goal"] == "gave up: ZeroDivisionError: broken leg"


def test_whoever_listens_is_told_of_every_episode_and_again_when_it_has_grown():
    heard = []
    agent = Scripted({"0": "b", "1": "f"})
    whole = walked(agent, asked("abc", "ef", "ab"), on_episode=lambda number, t: heard.append((number, len(t.places))))
    assert heard == [(0, 2), (0, 3), (1, 5), (2, 7)]
    assert [len(t.places) for t in whole.trajectories] == [3, 5, 7]


def test_only_acting_places_are_judged():
    found = walked(Still(), asked("abc", "ef", "ab")).trajectories
    for trajectory in found:
        acting = [p for p, phase in zip(trajectory.places, trajectory.phases, strict=True) if phase is Phase.ACTING]
        assert tuple(acting) == trajectory.acting_places == (acting[0],)
