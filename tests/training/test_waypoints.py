"""Imitation on the ground: the teacher reaches goals, and unrolled losses are those of one rollout at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from itinera.policies import rcm
from itinera.policies.agent import PolicyAgent
from itinera.policies.tokenizer import Tokenizer
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.simulator import STOP
from itinera.simulators.waypoint_drivers import straight_driver
from itinera.simulators.waypoint_simulator import WaypointSimulator
from itinera.simulators.waypoints import DepthWaypoints
from itinera.tasks import Episode, Instruction
from itinera.tasks.protocol import R2R_CE
from itinera.training.trainer import seed_torch
from itinera.training.waypoints import LAST_DISTANCE, WaypointTeacher, collect_waypoint_rollout, waypoint_imitation_loss
from itinera.worlds import Pose, World
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, room

MESH = room(12, 8, boxes=[((4, 0, 0), (4.5, 5.5, 2)), ((8, 2.5, 0), (8.5, 8, 2))])
HALL = World("hall", Surface.from_mesh(MESH, **ROBOT), mesh=MESH)
STARTS = [(1, 1), (2, 6), (6, 2), (11, 7)]
GOAL = np.array([11.0, 1.0, 0.0])
WORDS = Tokenizer.fit(["go to the far corner and stop", "stop there"])


def simulator() -> WaypointSimulator:
    return WaypointSimulator(GroundSimulator.for_protocol(R2R_CE), DepthWaypoints(), straight_driver(R2R_CE))


def agent() -> PolicyAgent:
    seed_torch(0, "rollouts")
    return PolicyAgent(rcm.RCM((), WORDS, rcm.SMALL).eval(), WORDS, ())


def episode(x: float, y: float) -> Episode:
    return Episode("1", "hall", Pose(np.array([x, y, 0.0]), 0.0), (GOAL,), (), Instruction("stop there"))


def rollouts(noise: float = 0.3):
    rng = np.random.default_rng(5)
    return [collect_waypoint_rollout(simulator(), HALL, episode(*start), agent(), rng, noise=noise) for start in STARTS]


def test_the_teacher_stops_at_the_goal_and_prefers_near_and_new_waypoints():
    teacher = WaypointTeacher(HALL.space, GOAL)
    assert teacher.action(GOAL, GOAL + np.array([[1.0, 0, 0]]), np.array([False])) == STOP
    away = GOAL - np.array([2.0, 0, 0])
    assert teacher.action(away, away - np.array([[1.0, 0, 0]]), np.array([False])) == STOP  # none leads nearer
    assert math.dist(away, GOAL) <= LAST_DISTANCE
    both = np.array([GOAL, away + np.array([1.0, 0, 0])])
    assert teacher.action(away, both, np.zeros(2, dtype=bool)) == 1
    assert teacher.action(away, both, np.array([True, False])) == 2
    assert np.isinf(teacher.distances(np.array([[50.0, 50.0, 0.0]]))).all()


@pytest.mark.parametrize("start", STARTS)
def test_who_follows_the_teacher_stops_near_the_goal(start):
    walker = simulator()
    rollout = collect_waypoint_rollout(walker, HALL, episode(*start), agent(), np.random.default_rng(0), noise=0.0)
    assert rollout.labels[-1] == STOP
    assert HALL.space.between([walker.body.place], [GOAL])[0, 0] <= LAST_DISTANCE


def test_decisions_are_encoded_as_an_acting_agent_encodes_them():
    walker, actor = simulator(), agent()
    rollout = collect_waypoint_rollout(walker, HALL, episode(1, 1), agent(), np.random.default_rng(0), noise=0.0)
    actor.reset(np.random.default_rng(0))
    actor.start_episode(Instruction("stop there"))
    observation = walker.reset(HALL, episode(1, 1).start)
    for encoded, label in zip(rollout.observations, rollout.labels.tolist(), strict=True):
        actor.act(observation)
        for name in ("candidates", "geometry", "place", "place_geometry", "previous", "previous_geometry"):
            assert torch.equal(getattr(encoded, name), getattr(actor._last_tensors, name)), name
        observation = walker.step(label)


def test_the_loss_of_a_batch_is_that_of_its_walks_one_at_a_time():
    policy, found = agent()._policy, rollouts()
    encoded = [torch.from_numpy(WORDS.encode(text)) for text in ("go to the far corner", "stop", "far", "go stop")]
    lengths = torch.tensor([len(words) for words in encoded])
    words = torch.nn.utils.rnn.pad_sequence(encoded, batch_first=True)
    together = waypoint_imitation_loss(policy, found, words, lengths)
    total, decisions = 0.0, 0
    for rollout, own in zip(found, encoded, strict=True):
        state = policy.encode_instruction(own[None], torch.tensor([len(own)]))
        for observation, label in zip(rollout.observations, rollout.labels, strict=True):
            state, output = policy(state, observation)
            total += cross_entropy(output.logits, label[None], reduction="sum").item()
            decisions += 1
    assert len({len(rollout.labels) for rollout in found}) > 1
    assert together.item() == pytest.approx(total / decisions, rel=1e-5)
