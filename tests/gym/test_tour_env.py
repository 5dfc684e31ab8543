"""What every environment does: the order of tasks, endings, records, and being led."""

from __future__ import annotations

from dataclasses import replace
from math import cos, pi, sin

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym.playing import GROUNDS, WORLDS, Repeating, on_graph, on_ground, told, walked_by
from itinera.errors import BadArgument
from itinera.gym import GraphVLN, GroundVLN, PointNav, TourVLN
from itinera.gym.task_set import TaskSet
from itinera.records import Phase
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.simulator import STOP
from itinera.simulators.unicycle import UnicycleSimulator, unicycle_15
from itinera.tasks import Tour
from itinera.tasks.protocol import IVLN, IVLN_CE, POINTNAV, R2R, R2R_CE
from scripted_agents import Scripted
from text_worlds import quick, world

ERRANDS = ("abc", "ef", "ab")
TOUR = on_graph(*ERRANDS, tours=["012"])


def played(env, actions):
    """The actions done until the environment says it is over, and what it then says."""
    done = []
    for action in [*actions, *[STOP] * 9]:
        done.append(action)
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            return done, terminated, truncated, info
    raise AssertionError("never over")


def test_stop_terminates_and_the_step_limit_truncates():
    env = GraphVLN(on_graph("abc"), WORLDS, protocol=replace(R2R, step_limit=2))
    env.reset(seed=0)
    assert env.step(1)[2:4] == (False, False)
    assert env.step(STOP)[2:4] == (True, False)
    env.reset()
    env.step(1)
    assert env.step(1)[2:4] == (False, True)


def test_an_action_the_mask_leaves_out_fails_its_episode_and_says_why():
    env = GraphVLN(on_graph("abc"), WORLDS)
    _, info = env.reset(seed=0)
    assert info["action_mask"].tolist() == [1, 1] + 14 * [0]
    *_, terminated, truncated, info = env.step(7)
    assert (terminated, truncated, info["ending"]) == (True, False, "failed")
    assert info["failed"] == "The agent chose action 7; the actions here are 0 to 1."
    assert env.last_rollout.trajectories[0].notes["failed"] == info["failed"]


@pytest.mark.parametrize("action", [16, -1, 1.0, "left", None])
def test_what_is_no_action_is_refused(action):
    env = GraphVLN(on_graph("abc"), WORLDS)
    env.reset(seed=0)
    with pytest.raises(BadArgument, match="is not an action: actions are integers below 16"):
        env.step(action)


def test_after_the_end_and_before_the_beginning_a_reset_is_asked_for():
    env = GraphVLN(on_graph("abc"), WORLDS)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(STOP)
    env.reset(seed=0)
    env.step(STOP)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(STOP)


def order(env, count, **first):
    return [env.reset(**(first if k == 0 else {}))[1]["episode_id"] for k in range(count)]


def test_the_seed_decides_the_order_and_each_comes_once_a_round():
    env = GraphVLN(on_graph(*["abc"] * 8), WORLDS)
    first = order(env, 16, seed=3)
    assert sorted(first[:8]) == sorted(first[8:]) == sorted(map(str, range(8)))
    assert first[:8] != first[8:]
    assert order(env, 16, seed=3) == order(GraphVLN(on_graph(*["abc"] * 8), WORLDS), 16, seed=3) == first
    assert order(env, 16, seed=4) != first


def test_without_a_seed_the_order_is_anyones():
    assert sorted(order(GraphVLN(on_graph(*["abc"] * 8), WORLDS), 8)) == sorted(map(str, range(8)))


def test_an_episode_can_be_asked_for_and_the_order_goes_on():
    env = GraphVLN(on_graph(*["abc"] * 4), WORLDS)
    expected = order(env, 4, seed=1)
    found = [env.reset(seed=1)[1]["episode_id"]]
    assert env.reset(options={"episode": "2"})[1]["episode_id"] == "2"
    assert found + order(env, 3) == expected
    with pytest.raises(BadArgument, match="no episode '9' in drawn"):
        env.reset(options={"episode": "9"})
    with pytest.raises(BadArgument, match="no option 'tour' here, only 'episode'"):
        env.reset(options={"tour": "t0"})
    toured = TourVLN(TOUR, WORLDS)
    assert toured.reset(seed=0, options={"tour": "t0"})[1]["episode_id"] == "0"


def test_a_node_with_more_ways_than_actions_is_refused_at_once():
    star = {"house": world("a-b-c\n  |\n  d")}
    with pytest.raises(BadArgument, match="room for 2: give max_candidates=3"):
        GraphVLN(on_graph("ab"), star, max_candidates=2).reset(seed=0)
    GraphVLN(on_graph("ab"), star, max_candidates=3).reset(seed=0)


# The record is that of a run


@quick
@given(st.lists(st.integers(0, 3), max_size=40), st.booleans())
def test_on_a_graph_the_record_is_that_of_a_run(actions, toured):
    rules = replace(IVLN if toured else R2R, step_limit=6)
    env = TourVLN(TOUR, WORLDS, protocol=rules) if toured else GraphVLN(on_graph("abc"), WORLDS, protocol=rules)
    env.reset(seed=0)
    done, *_ = played(env, [*actions, *[STOP] * 3])
    tour = TOUR.tours[0] if toured else Tour("0", "house", ("0",))
    place = TaskSet(TOUR, WORLDS, rules)
    expected = walked_by(Repeating(done), place, GraphSimulator(), tour)
    assert env.last_rollout.tour_id == expected.tour_id
    assert told(env.last_rollout) == told(expected)


@pytest.mark.parametrize(
    ("make", "body", "rules"),
    [
        (GroundVLN, GroundSimulator.for_protocol(R2R_CE), R2R_CE),
        (PointNav, GroundSimulator.for_protocol(POINTNAV), POINTNAV),
        (
            lambda *given, **more: PointNav(*given, speeds=unicycle_15(), **more),
            UnicycleSimulator(unicycle_15()),
            POINTNAV,
        ),
        (TourVLN, GroundSimulator.for_protocol(IVLN_CE), IVLN_CE),
    ],
    ids=["GroundVLN", "PointNav", "unicycle", "Tour"],
)
def test_on_the_ground_the_record_is_that_of_a_run(make, body, rules):
    split = on_ground((1.0, 5.0), (8.0, 3.0), tours=["01"])
    rules = replace(rules, step_limit=40)
    env = make(split, GROUNDS, protocol=rules, camera=None)
    _, info = env.reset(seed=0)
    tour = split.tours[0] if make is TourVLN else Tour(info["episode_id"], "house", (info["episode_id"],))
    drawn = np.random.default_rng(5).integers(1, 4, size=200).tolist()
    done, *_ = played(env, [*drawn[:20], STOP, *drawn])
    assert told(env.last_rollout) == told(walked_by(Repeating(done), TaskSet(split, GROUNDS, rules), body, tour))


# Tours


def test_a_tour_goes_on_within_a_step_and_hands_over_what_was_seen_on_the_way():
    env = TourVLN(TOUR, WORLDS)
    seen, info = env.reset(seed=0)
    assert (info["episode_id"], seen["instruction"]) == ("0", "To c!")
    env.step(1)
    seen, reward, terminated, truncated, info = env.step(STOP)  # at b: led to c, then to e
    assert (terminated, truncated, reward) == (False, False, 1.0)
    assert (info["ending"], info["episode_id"], seen["instruction"]) == ("stopped", "1", "To f!")
    assert len(info["guided_observations"]) == 3  # c, d, e
    assert all(one in env.observation_space for one in info["guided_observations"])
    assert {one["instruction"] for one in info["guided_observations"]} == {""}
    assert not any(one["action_mask"].any() for one in info["guided_observations"])
    *_, info = env.step(STOP)
    assert len(info["guided_observations"]) == 6  # f, and all the way back
    _, _, terminated, _, info = env.step(STOP)
    assert (terminated, info["guided_observations"]) == (True, ())
    led = [Phase.GUIDED_TO_START] * 3
    assert env.last_rollout.trajectories[1].phases == (*led, Phase.ACTING, Phase.GUIDED_TO_GOAL)


@pytest.mark.parametrize("limit", [15, 2])
def test_what_is_watched_is_what_an_agent_is_shown_in_a_run(limit):
    agent = Scripted({"To c!": "bcd", "To f!": ""})
    rules = replace(IVLN, step_limit=limit)
    walked_by(agent, TaskSet(TOUR, WORLDS, rules), GraphSimulator(), TOUR.tours[0])
    env = TourVLN(TOUR, WORLDS, protocol=rules)
    seen, info = env.reset(seed=0)
    shown, over = [("act", seen)], False
    script = [*"bcd"][:limit]
    while not over:
        candidates = env._state.loop.observation.candidates.nodes
        action = 1 + candidates.index(script.pop(0)) if script else STOP
        seen, _, terminated, truncated, info = env.step(action)
        shown += [("observe", one) for one in info.get("guided_observations", ())] + [("act", seen)]
        over = terminated or truncated
    diary = [(how, place) for how, place in agent.diary if how != "start_episode"]
    assert [how for how, _ in shown[:-1]] == [how for how, _ in diary]  # but for what is seen after the last action
    degree = {"a": 1, "f": 1}
    candidates = [np.count_nonzero(one["candidates"][:, 4]) for _, one in shown[:-1]]
    assert candidates == [degree.get(place, 2) for _, place in diary]


# What is shown


def test_candidates_are_seen_from_where_one_faces():
    env = GraphVLN(on_graph("bcd"), WORLDS)
    seen, _ = env.reset(seed=0)
    facing = env._state.loop.observation.heading
    assert seen["orientation"] == pytest.approx([sin(facing), cos(facing), 0, 1], abs=1e-6)
    candidates = env._state.loop.observation.candidates
    assert sorted(candidates.nodes) == ["a", "c"]
    for node, heading in (("a", pi), ("c", 0.0)):
        row = seen["candidates"][1 + candidates.nodes.index(node)]
        assert row == pytest.approx([sin(heading - facing), cos(heading - facing), 0, 1, 2], abs=1e-6)
    assert not seen["candidates"][[0, *range(3, 16)]].any()
    assert seen["action_mask"].tolist() == [1, 1, 1] + 13 * [0]


def test_the_goal_of_pointnav_is_seen_from_where_one_stands_and_faces():
    env = PointNav(on_ground((2.0, 6.0)), GROUNDS, camera=None)
    seen, _ = env.reset(seed=0)
    assert seen["pointgoal"] == pytest.approx([4, 1, 0], abs=1e-6)
    seen = env.step(2)[0]  # 10 degrees to the left: the goal is to the right
    assert seen["pointgoal"] == pytest.approx([4, cos(pi / 18), -sin(pi / 18)], abs=1e-6)
    env.step(3)
    assert env.step(1)[0]["pointgoal"] == pytest.approx([3.75, 1, 0], abs=1e-6)


def test_a_wall_that_was_met_is_told():
    env = PointNav(on_ground((11.5, 2.0)), GROUNDS, camera=None)  # the wall is at 12, the robot 0.1 m wide each way
    env.reset(seed=0)
    assert [env.step(1)[4]["collided"] for _ in range(2)] == [False, True]
