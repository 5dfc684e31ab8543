"""The phases of a tour, place by place."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument, NoRoute
from itinera.records import Ending, Phase
from itinera.records.trajectory import NO_ACTION
from itinera.runs.guidance import make_guide
from itinera.runs.tour_loop import IllegalAction, TourLoop, validate_action
from itinera.simulators.graph import GraphSimulator
from itinera.tasks import PROTOCOLS, Guidance
from itinera.tasks.protocol import IVLN, IVLN_TEST, R2R
from itinera.worlds import Pose, World
from text_worlds import STREET, episode, graphs, quick, world

A, G, S = Phase.ACTING, Phase.GUIDED_TO_GOAL, Phase.GUIDED_TO_START

# On the street a-b-c-d-e-f, 2 m apart: to c, then from e to f, then from a to b.
ERRANDS = (episode("1", "abc"), episode("2", "ef"), episode("3", "ab"))


def on_street(protocol=IVLN, episodes=ERRANDS, **options):
    loop = TourLoop(GraphSimulator(), world(STREET), episodes, protocol=protocol, **options)
    loop.reset()
    return loop


def go(loop, *nodes):
    for node in nodes:
        loop.act(1 + loop.observation.candidates.nodes.index(node))


def led(loop):
    """Where the agent is led until it is to act again."""
    seen = []
    while loop.phase is not Phase.ACTING and not loop.done:
        loop.guide()
        seen.append(loop.observation.place)
    return "".join(seen)


def told(trajectory):
    phases = trajectory.phases or (A,) * len(trajectory.places)
    return [(place, phase) for place, phase in zip(trajectory.places, phases, strict=True)]


def test_a_tour_leads_past_the_missed_goal_and_to_the_next_start():
    loop = on_street()
    go(loop, "b")
    loop.act(0)
    assert (loop.phase, loop.episode_index) == (G, 0)
    loop.guide()
    assert (loop.phase, loop.episode_index, loop.observation.place) == (S, 1, "c")
    assert led(loop) == "dee"  # the second time turned to face as the episode asks
    assert (loop.phase, loop.is_first, loop.episode.id) == (A, True, "2")
    go(loop, "f")
    loop.act(0)
    assert loop.phase is S  # it reached the goal
    led(loop)
    loop.act(0)
    assert loop.done
    first, second, third = loop.trajectories
    assert told(first) == [("a", A), ("b", A), ("c", G)]
    assert told(second) == [("c", S), ("d", S), ("e", S), ("e", A), ("f", A)]
    assert told(third) == [("f", S), ("e", S), ("d", S), ("c", S), ("b", S), ("a", S), ("a", A)]
    assert [t.ending for t in loop.trajectories] == [Ending.STOPPED] * 3
    assert second.actions.tolist()[2] == NO_ACTION
    assert [t.collided for t in loop.trajectories] == [None] * 3  # nothing to hit on a graph
    assert "".join(first.acting_places + second.acting_places + third.acting_places) == "abefa"


def test_the_test_splits_rule_never_leads_to_the_goal():
    loop = on_street(IVLN_TEST, tuple(replace(e, goals=(), reference=()) for e in ERRANDS))
    loop.act(0)
    assert (loop.phase, loop.episode_index) == (S, 1)
    assert led(loop) == "bcdee"
    assert told(loop.trajectories[0]) == [("a", A)]


def test_goals_that_are_withheld_cannot_be_led_to():
    hidden = tuple(replace(e, goals=(), reference=()) for e in ERRANDS)
    with pytest.raises(BadArgument, match=r"withhold their goals.*such as ivln-test"):
        on_street(episodes=hidden)


def test_without_guidance_the_next_episode_simply_begins():
    loop = on_street(R2R)
    loop.act(0)
    assert led(loop) == "e"
    assert (loop.episode_index, loop.is_first) == (1, True)
    assert not loop.is_guided


def test_nobody_is_led_after_the_last_episode():
    loop = on_street(episodes=ERRANDS[:1])
    loop.act(0)
    assert loop.done
    assert told(loop.trajectories[0]) == [("a", A)]


@pytest.mark.parametrize(("within", "phase"), [(2.0, S), (1.9, G)])
def test_a_goal_near_enough_counts_as_seen(within, phase):
    loop = on_street(replace(IVLN, guidance=Guidance(goal_distance=within)))
    go(loop, "b")
    loop.act(0)
    assert loop.phase is phase


def test_of_several_goals_the_nearest_is_led_to():
    both = replace(ERRANDS[0], goals=("f", "b"))
    loop = on_street(episodes=(both, *ERRANDS[1:]))
    loop.act(0)
    led(loop)
    assert told(loop.trajectories[0]) == [("a", A), ("b", G)]


def test_an_exact_start_faces_as_asked_and_a_led_one_as_it_came():
    facing = replace(ERRANDS[1], start=Pose("e", pi))
    exact = on_street(episodes=(ERRANDS[0], facing))
    loose = on_street(replace(IVLN, guidance=Guidance(exact_start=False)), (ERRANDS[0], facing))
    for loop in (exact, loose):
        loop.act(0)
        led(loop)
        loop.act(0)
    assert exact.observation.heading == pytest.approx(pi)
    assert loose.observation.heading == pytest.approx(0)
    assert told(loose.trajectories[1]) == [("c", S), ("d", S), ("e", A)]
    assert NO_ACTION not in loose.trajectories[1].actions


def test_standing_on_the_next_start_leads_nowhere_and_shows_nothing_of_the_next_path():
    """The released code replays the whole next reference here."""
    loop = on_street(episodes=(episode("1", "abc"), episode("2", "cdef")))
    go(loop, "b", "c")
    loop.act(0)
    assert led(loop) == "c"
    assert (loop.phase, loop.is_first, loop.episode_index) == (A, True, 1)
    loop.act(0)
    assert told(loop.trajectories[1]) == [("c", A)]


def test_nothing_is_seen_from_the_next_start_before_the_walk_to_it():
    """The released code resets to the next start, looks, and goes back."""
    loop = on_street()
    loop.act(0)
    seen = [loop.observation.place, *led(loop)]
    assert seen == [*"abcdee"]


def test_out_of_steps_ends_the_episode_where_it_is():
    loop = on_street(replace(R2R, step_limit=3), ERRANDS[:1])
    go(loop, "b", "c")
    assert not loop.done
    go(loop, "d")
    assert loop.done
    assert loop.trajectories[0].ending is Ending.OUT_OF_STEPS
    assert loop.trajectories[0].places == tuple("abcd")


def test_stopping_with_the_last_step_allowed_counts_as_stopping():
    loop = on_street(replace(R2R, step_limit=2), ERRANDS[:1])
    go(loop, "b")
    loop.act(0)
    assert loop.trajectories[0].ending is Ending.STOPPED


ISLANDS = """
    a-b-c   d-e-f
"""


def test_a_leader_without_a_way_gives_up_at_the_goal_and_places_at_the_start():
    loop = TourLoop(GraphSimulator(), world(ISLANDS), (episode("1", "af"), episode("2", "ef")), protocol=IVLN)
    loop.reset()
    loop.act(0)
    assert led(loop) == "e"
    assert (loop.phase, loop.episode_index) == (A, 1)
    loop.act(0)
    first, second = loop.trajectories
    assert first.notes["guided to goal"] == "gave up: No route leads from a to f."
    assert second.notes["guided to start"] == "placed: No route leads from a to e."
    assert told(second) == [("e", A)]


def test_a_leader_that_takes_too_long_is_stuck():
    loop = on_street(replace(IVLN, guidance=Guidance(step_limit=2)))
    loop.act(0)
    led(loop)
    loop.act(0)
    first, second = loop.trajectories
    assert told(first) == [("a", A), ("b", G), ("c", G)]  # two steps are enough
    assert told(second) == [("c", S), ("d", S), ("e", S), ("e", A)]
    loop = on_street(replace(IVLN, guidance=Guidance(step_limit=1)))
    loop.act(0)
    led(loop)
    loop.act(0)
    first, second = loop.trajectories
    assert told(first) == [("a", A), ("b", G)]
    assert first.notes["guided to goal"] == "gave up: not there after 1 steps."
    assert told(second) == [("b", S), ("c", S), ("e", A)]
    assert second.actions.tolist()[1:] == [NO_ACTION]


def test_a_leader_that_breaks_is_stuck_not_fatal():
    def leader(world, target, *, facing):
        def way(observation):
            raise NoRoute("lost.") if observation.place == "b" else ZeroDivisionError

        return way

    loop = on_street(guide=leader)
    loop.act(0)
    assert led(loop) == "e"
    assert loop.trajectories[0].notes["guided to goal"] == "gave up: ZeroDivisionError: "


def test_a_failed_episode_keeps_what_was_walked_and_the_tour_goes_on():
    loop = on_street()
    go(loop, "b")
    loop.fail({"failed": "why"})
    led(loop)
    assert (loop.episode_index, loop.observation.place) == (1, "e")
    assert loop.trajectories[0].ending is Ending.FAILED
    assert loop.trajectories[0].notes == {"failed": "why"}
    assert told(loop.trajectories[0]) == [("a", A), ("b", A), ("c", G)]


def test_a_body_that_is_lost_is_put_at_the_next_start():
    loop = on_street()
    go(loop, "b")
    loop.fail({"failed": "why"}, lost=True)
    assert led(loop) == "e"
    loop.act(0)
    assert told(loop.trajectories[1]) == [("e", A)]


def test_a_failure_on_the_way_to_the_goal_leaves_the_episode_as_it_ended():
    loop = on_street()
    loop.act(0)
    loop.fail({"failed": "broke"}, lost=True)
    assert led(loop) == "e"
    assert loop.trajectories[0].ending is Ending.STOPPED
    assert loop.trajectories[0].notes["guided to goal"] == "gave up: broke"


def test_a_tour_without_episodes_is_refused():
    with pytest.raises(BadArgument, match="at least one episode"):
        on_street(episodes=())


@pytest.mark.parametrize("action", [True, 1.0, float("nan"), None, "1", -1, 3, 10**30, [1], np.array([1, 2])])
def test_what_is_no_action_is_refused_and_changes_nothing(action):
    loop = on_street()
    go(loop, "b")
    with pytest.raises(IllegalAction):
        loop.act(action)
    assert (loop.steps, loop.observation.place, loop.phase) == (1, "b", A)


@pytest.mark.parametrize("action", [np.int64(2), np.uint8(2), np.array(2), 2])
def test_whole_numbers_of_any_make_are_actions(action):
    assert validate_action(action, 3) == 2


def test_protocols_that_lead_are_those_of_tours():
    assert {name for name, p in PROTOCOLS.items() if p.guidance} == {"ivln", "ivln-test", "ivln-ce", "ivln-ce-test"}


@given(data=st.data())
@quick
def test_a_perfect_leader_makes_every_tour_one_unbroken_way(data):
    graph = data.draw(graphs(connected=True))
    nodes = st.sampled_from(graph.nodes)
    tasks = data.draw(st.lists(st.tuples(nodes, nodes), min_size=1, max_size=4))
    episodes = [episode(str(k), [a, b]) for k, (a, b) in enumerate(tasks)]
    loop = TourLoop(GraphSimulator(), World("house", graph), episodes, protocol=IVLN, guide=make_guide(IVLN))
    loop.reset()
    while not loop.done:
        if loop.phase is A:
            loop.act(data.draw(st.integers(0, loop.num_actions - 1)))
        else:
            loop.guide()
    places = [place for t in loop.trajectories for place in t.places]
    assert np.isfinite(graph.along(places)).all()
    for t, e in zip(loop.trajectories, episodes, strict=True):
        at = graph.locate(t.places)
        joined = (at[1:] == at[:-1]) | graph.adjacency[at[1:], at[:-1]]
        assert joined.all()
        assert t.acting_places[0] == e.start.place
        assert len(t.actions) == len(t.places) - 1
        assert e is episodes[-1] or t.places[-1] == e.goals[0]
