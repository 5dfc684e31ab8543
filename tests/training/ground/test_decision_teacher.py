"""The teacher of decisions in two rooms."""

from __future__ import annotations

import math

import numpy as np

from itinera.agents.decisions import STOP_HERE, Decision
from itinera.tasks.protocol import R2R_CE
from itinera.training.ground.decision_rolls import RollState, expert_rolls, follow_teacher
from itinera.training.ground.decision_teacher import straight_length, teach
from itinera.worlds import Pose
from named_rooms import named_tasks, named_world

WORLD = named_world()


def decide(x, y, heading, goal):
    field = WORLD.space.field([(*goal, 0.0)])
    return teach(WORLD.space, field, Pose(np.array([x, y, 0.0]), heading), R2R_CE)


def test_a_goal_in_sight_is_approached_straight_for_at_most_two_metres():
    assert decide(0.5, 2.0, 0.0, (3.4, 2.0)) == Decision(0, 8)
    assert decide(0.5, 2.0, math.pi / 2, (3.4, 2.0)) == Decision(18, 8)


def test_near_the_goal_the_steps_are_as_many_as_the_way_has():
    assert decide(1.0, 2.0, 0.0, (2.25, 2.0)) == Decision(0, 4)  # the expert stops a step before the goal


def test_within_three_quarters_of_a_metre_the_teacher_stops():
    assert decide(1.0, 2.0, 0.0, (1.7, 2.0)) == STOP_HERE
    assert not decide(1.0, 2.0, 0.0, (1.8, 2.0)).stops


def test_the_distance_to_stop_at_is_that_of_walking():
    assert not decide(3.8, 1.0, 0.0, (4.2, 1.0)).stops  # a wall is between


def test_around_a_corner_the_teacher_points_at_the_opening():
    decision = decide(3.0, 0.5, 0.0, (5.5, 0.5))
    bearing = decision.bin * 15
    assert 30 <= bearing <= 75
    assert decision.steps < 8


def test_a_way_is_straight_up_to_the_place_before_which_it_bends():
    ahead = [(0.25 * k, 0.0) for k in range(1, 5)]
    bent = np.array([*ahead, (1.0, 0.25), (1.0, 0.5)])
    assert straight_length(bent, 2.0) == 3
    assert straight_length(np.array(ahead * 1), 0.6) == 1


def test_following_the_teacher_leads_to_the_goal_of_every_task():
    for episode in named_tasks(1).episodes:
        field = WORLD.space.field(episode.goals)
        agent = RollState.place(WORLD, episode, R2R_CE)
        for _ in range(16):
            pose = Pose(agent.observation.place, agent.observation.heading)
            agent.begin_decision(teach(WORLD.space, field, pose, R2R_CE))
            while agent.step():
                pass
            if agent.done:
                break
        assert agent.done
        assert field.distances(np.asarray(agent.observation.place)[None])[0] <= 0.75


def test_noisy_rolls_have_the_labels_of_the_teacher_and_other_decisions():
    episodes = named_tasks(1).episodes[:6]
    rolls = expert_rolls(WORLD, episodes, R2R_CE, seed=0, noise=0.5)
    assert len(rolls) == 2 * len(episodes)
    clean = slice(0, int(rolls.starts[len(episodes)]))
    noisy = slice(int(rolls.starts[len(episodes)]), None)
    np.testing.assert_array_equal(rolls.bins[clean], rolls.label_bins[clean])
    assert (rolls.bins[noisy] != rolls.label_bins[noisy]).any()
    assert follow_teacher([], None, None, ["label"]) == ["label"]
