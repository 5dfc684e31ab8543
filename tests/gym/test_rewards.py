"""Rewards against numbers worked by hand, on the street a-b-c-d-e-f, 2 m from node to node."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import numpy as np
import pytest

from gym.playing import GROUNDS, HALL, WORLDS, on_graph, on_ground
from itinera.errors import BadArgument
from itinera.gym import (
    DecayingReward,
    GraphVLN,
    PointNav,
    fidelity_oriented_reward,
    goal_oriented_reward,
    shaped_reward,
)
from itinera.gym.rewards import distance_to_goal
from itinera.tasks import Split
from itinera.tasks.protocol import R2R
from itinera.worlds.distance_field import DistanceField
from text_worlds import episode, world


def earned(reward, nodes, *, reference="abc", stop=True, protocol=R2R):
    """The reward of every step along these nodes, and of stopping at the last."""
    env = GraphVLN(on_graph(reference), WORLDS, protocol=protocol, reward=reward)
    env.reset(seed=0)

    def go(node):
        return env.step(1 + env._state.loop.observation.candidates.nodes.index(node))[1]

    return [*map(go, nodes[1:])] + ([env.step(0)[1]] if stop else [])


def test_the_goal_oriented_reward_is_the_way_gained_then_success():
    assert earned(goal_oriented_reward, "abc") == pytest.approx([2, 2, 1])
    assert earned(goal_oriented_reward, "abcdef") == pytest.approx([2, 2, -2, -2, -2, 0])
    assert earned(goal_oriented_reward, "ab") == pytest.approx([2, 1])  # 2 m before the goal is near enough


def test_out_of_steps_the_last_step_earns_its_way_and_the_success():
    short = replace(R2R, step_limit=2)
    assert earned(goal_oriented_reward, "abc", stop=False, protocol=short) == pytest.approx([2, 3])
    strict = replace(short, needs_stop=True)
    assert earned(goal_oriented_reward, "abc", stop=False, protocol=strict) == pytest.approx([2, 2])


def test_the_fidelity_oriented_reward_comes_at_the_end():
    assert earned(fidelity_oriented_reward, "abc") == pytest.approx([0, 0, 2])
    # Of the reference's three places c is 2 m away; 2 m were walked of the 4 PC to be expected.
    coverage = (1 + 1 + exp(-2 / 3)) / 3
    expected = coverage * 4
    cls = coverage * expected / (expected + abs(expected - 2))
    assert earned(fidelity_oriented_reward, "ab") == pytest.approx([0, 1 + cls])
    # Back at the start it is no success, but it has been everywhere; twice as long as it should.
    assert earned(fidelity_oriented_reward, "abcba") == pytest.approx([0, 0, 0, 0, 4 / (4 + 4)])


def test_the_shaped_reward_takes_a_little_for_every_step():
    assert earned(shaped_reward, "abc") == pytest.approx([1.99, 1.99, 2.49])
    assert earned(shaped_reward, "abcdef") == pytest.approx([1.99, 1.99, -2.01, -2.01, -2.01, -0.01])


def test_the_decaying_reward_forgets_the_way():
    reward = DecayingReward(4)
    assert earned(reward, "abcde") == pytest.approx([1.99, 1.49, -1.01, -0.51, -0.01])
    assert reward.taken == 5
    assert earned(reward, "abc") == pytest.approx([-0.01, -0.01, 2.49])
    with pytest.raises(BadArgument, match="steps must be ≥ 1"):
        DecayingReward(0)


def test_nothing_is_earned_by_failing():
    for reward in (goal_oriented_reward, fidelity_oriented_reward):
        env = GraphVLN(on_graph("abc"), WORLDS, reward=reward)
        env.reset(seed=0)
        assert env.step(9)[1:3] == (0.0, True)
    env = GraphVLN(on_graph("a"), WORLDS)
    env.reset(seed=0)
    assert env.step(9)[1] == 0.0  # even at the goal


def test_an_unreachable_goal_is_never_nearer():
    apart = {"house": world("a-b c-d")}
    env = GraphVLN(Split("apart", (episode("1", "ab", goals="d"),)), apart)
    env.reset(seed=0)
    assert env.step(1)[1] == 0.0
    assert env.step(0)[1] == 0.0


def test_without_a_goal_only_a_reward_that_asks_for_none_can_be_given():
    hidden = Split("test", tuple(replace(e, goals=(), reference=()) for e in on_graph("abc").episodes))
    env = GraphVLN(hidden, WORLDS)
    env.reset(seed=0)
    with pytest.raises(BadArgument, match="The goal of episode 0 is withheld"):
        env.step(1)
    env = GraphVLN(hidden, WORLDS, reward=lambda transition: -1.0)
    env.reset(seed=0)
    assert (env.step(1)[1], env.step(0)[1]) == (-1.0, -1.0)


def test_without_a_reference_there_is_no_fidelity():
    env = GraphVLN(
        Split("bare", (replace(on_graph("abc").episodes[0], reference=()),)), WORLDS, reward=fidelity_oriented_reward
    )
    env.reset(seed=0)
    with pytest.raises(BadArgument, match="Episode 0 has no reference"):
        env.step(0)


def test_distances_on_the_ground_are_the_worlds_own():
    asked = on_ground((1.0, 9.0)).episodes[0]
    far, places = distance_to_goal(HALL, asked), HALL.space.sample(np.random.default_rng(0), 20)
    expected = HALL.space.between(places, asked.goals)[:, 0]
    assert [far(place) for place in places] == pytest.approx(expected.tolist(), abs=1e-9)


def test_a_reward_is_told_what_happened():
    heard = []
    env = GraphVLN(on_graph("abc"), WORLDS, reward=lambda transition: heard.append(transition) or 0.0)
    env.reset(seed=0)
    env.step(1)
    assert (heard[0].action, heard[0].previous_place, list(heard[0].places), heard[0].ending) == (
        1,
        "a",
        ["a", "b"],
        None,
    )
    assert (heard[0].episode.id, heard[0].world.id, heard[0].protocol) == ("0", "house", R2R)
    env.step(0)
    assert (heard[1].action, heard[1].previous_place, heard[1].ending.value) == (0, "b", "stopped")


# Distances on the ground


def test_rewards_by_goal_tables_in_a_folder_are_the_same(tmp_path):
    tasks = on_ground((1.0, 5.0), (8.0, 3.0))
    envs = [PointNav(tasks, GROUNDS, camera=None, goal_tables=folder) for folder in (None, tmp_path, tmp_path)]
    for name in ("0", "1"):
        for env in envs:
            env.reset(options={"episode": name})
        for action in (1, 1, 2, 1, 0):
            rewards = [env.step(action)[1] for env in envs]
            assert rewards[0] == rewards[1] == rewards[2] != 0.0
    assert [path.name for path in tmp_path.iterdir()] == ["house.goals.npz"]


def test_a_goal_that_was_measured_before_is_not_measured_again(monkeypatch):
    computed = []
    compute = DistanceField.compute
    monkeypatch.setattr(DistanceField, "compute", lambda *given, **more: computed.append(1) or compute(*given, **more))
    places = [(1.0 + 0.25 * k, 10.9 - 0.25 * k) for k in range(32)]  # more goals than fields would fit into memory
    env = PointNav(on_ground(*places), GROUNDS, camera=None)
    for _ in range(2):
        for k in range(32):
            env.reset(options={"episode": str(k)})
            env.step(1)
    assert len(computed) == 32
