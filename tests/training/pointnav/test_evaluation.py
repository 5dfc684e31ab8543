"""Evaluation of PointNav policies: the same paths and scores as runs of one agent, sampled actions, and SCT by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

import itinera
from itinera.policies.checkpoint import Model, build_model, make_card
from itinera.policies.pointnav.policy import SMALL, ActorCriticOutput, PointNavPolicy
from itinera.policies.pointnav.requirements import PointNavRequirements
from itinera.policies.tokenizer import Tokenizer
from itinera.simulators.factory import apply_drive
from itinera.simulators.pointnav.episodes import EpisodeList
from itinera.simulators.pointnav.house_set import PointNavHouses, episode_goals
from itinera.simulators.pointnav.vectorized import VectorizedPointNav
from itinera.tasks import Episode, Instruction, Split
from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot
from itinera.tasks.protocol import POINTNAV
from itinera.training.pointnav.evaluation import choose_actions, evaluate_pointnav
from itinera.worlds import Pose, World
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, room

MESH = room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8))])
WORLDS = {"boxes": World("boxes", Surface.from_mesh(MESH, **ROBOT), mesh=MESH)}
LIMIT = 60
GATE = 0.2


def make_split(count=10):
    rng = np.random.default_rng(3)
    episodes = []
    for k in range(count):
        start, goal = WORLDS["boxes"].space.sample(rng, 2).round(4)
        goals = goal[None]
        start_pose = Pose(start, float(rng.uniform(-3, 3)))
        episodes.append(Episode(str(k), "boxes", start_pose, goals, (), Instruction.to_point(goals)))
    return Split("drawn", tuple(episodes), protocol="pointnav")


SPLIT = make_split()
HOUSES = PointNavHouses.load(WORLDS, episode_goals(SPLIT.episodes), scan=True, depth=True)


def protocol_for(drive, sliding=True):
    return replace(apply_drive(POINTNAV, drive, wmax=math.radians(30)), sliding=sliding, step_limit=LIMIT,
                   robot_radius=ROBOT["radius"])  # fmt: skip


def make_model(sensor, num_actions, policy_class=None):
    torch.manual_seed(2)
    config = replace(SMALL[sensor], num_actions=num_actions)
    needs = PointNavRequirements(sensor, gate=GATE)
    model = build_model(make_card("pointnav", config, (), Tokenizer(()), pointnav=needs))
    with torch.no_grad():
        model.policy.heads.weight.mul_(100.0)  # decided, so that actions differ from step to step
    if policy_class is None:
        return model
    return Model(policy_class((), Tokenizer(()), config), model.card)


class Straight(PointNavPolicy):
    """Turns to the goal, drives there, and turns aside for some steps after a contact."""

    def forward(self, observations, state):
        bearing = observations.pointgoal[..., 1]
        aside = (torch.where(observations.contact > 0, 5.0, state[None, :, 0] - 1)).clamp(min=0.0)
        aside = aside * (1 - observations.starts)
        scores = torch.zeros(*bearing.shape, self.config.num_actions)
        scores[..., 0] = (observations.pointgoal[..., 0] < GATE) * 10.0
        scores[..., 1] = ((bearing.abs() < 0.3) | ((aside > 0) & (aside < 4))) * 3.0
        scores[..., 2] = torch.where(aside >= 4, 5.0, 1.0 + bearing.sign() * 0.5)
        scores[..., 3] = 1.0 - bearing.sign() * 0.5
        return ActorCriticOutput(scores, bearing), torch.cat([aside[0][:, None], state[:, 1:]], dim=1)


def make_stage(protocol, sensor, num_envs=4):
    needs = PointNavRequirements(sensor)
    episodes = EpisodeList(HOUSES, SPLIT.episodes, step_limit=LIMIT)
    return VectorizedPointNav.for_protocol(
        protocol, HOUSES, episodes, num_envs, scan=needs.scan, depth=needs.depth, exact_lengths=True
    )


@pytest.mark.parametrize(
    ("sensor", "drive", "policy_class"),
    [
        ("none", "point-turn", Straight),
        ("none", "unicycle-6", None),
        ("scan", "unicycle-15", None),
        ("pooled-depth", "point-turn", None),
    ],
)
def test_scores_equal_those_of_runs_of_one_agent(sensor, drive, policy_class):
    protocol = protocol_for(drive)
    model = make_model(sensor, {"point-turn": 4, "unicycle-6": 6, "unicycle-15": 15}[drive], policy_class)
    found = evaluate_pointnav(model.policy, make_stage(protocol, sensor), SPLIT.episodes, gate=GATE)
    predictions = itinera.run(model.agent(), SPLIT, WORLDS, protocol=protocol, workers=0)
    table = itinera.score(predictions, SPLIT, WORLDS, suite="pointnav", protocol=protocol)
    for name in ("SR", "SPL", "PL"):
        assert np.allclose(table[name], found.columns[name], atol=1e-4), name
    collided = [int(one.trajectories[0].collided.sum()) for one in predictions.rollouts]
    assert collided == found.columns["contacts"].tolist()
    moves = [len(one.trajectories[0].actions) for one in predictions.rollouts]
    assert moves == found.columns["seconds"].tolist()
    if policy_class is not None:
        assert 0.2 < found.mean("SR") < 1.0


def test_the_number_of_robots_changes_no_row():
    protocol = protocol_for("point-turn")
    model = make_model("scan", 4)
    one, many = (
        evaluate_pointnav(model.policy, make_stage(protocol, "scan", n), SPLIT.episodes, gate=GATE) for n in (1, 7)
    )
    for name, values in one.columns.items():
        assert np.array_equal(values, many.columns[name]), name


def test_sct_is_the_upper_bound_of_the_fastest_time_over_the_time_taken():
    protocol = protocol_for("point-turn")
    model = make_model("none", 4, Straight)
    ids = tuple(episode.id for episode in SPLIT.episodes)
    upper = np.full(len(ids), 5.0)
    upper[1] = np.inf
    times = FastestTimes(ReferenceRobot(), ids[::-1], upper[::-1] / 2, upper[::-1].copy())
    found = evaluate_pointnav(
        model.policy, make_stage(protocol, "none"), SPLIT.episodes, gate=GATE, times=times
    ).columns
    for k in range(len(ids)):
        share = 0.0 if k == 1 else 5.0 / max(5.0, found["seconds"][k])
        assert found["SCT"][k] == pytest.approx(found["SR"][k] * share)
    assert found["SCT"].max() > 0


def test_actions_are_the_most_probable_or_sampled_and_stop_is_gated():
    logits = torch.tensor([[9.0, 1.0, 2.0], [9.0, 1.0, 2.0], [0.0, 3.0, 1.0]])
    distances = torch.tensor([0.1, 0.3, 0.1])
    assert choose_actions(logits, distances).tolist() == [0, 0, 1]
    assert choose_actions(logits, distances, 0.2).tolist() == [0, 2, 1]
    rng = torch.Generator().manual_seed(0)
    drawn: Tensor = torch.stack([choose_actions(logits, distances, 0.2, rng) for _ in range(300)])
    assert 0 not in drawn[:, 1]
    assert {1, 2} == set(drawn[:, 1].tolist())
    assert (drawn[:, 1] == 2).float().mean() == pytest.approx(math.e / (1 + math.e), abs=0.08)


def test_houses_are_the_sample_of_the_interval():
    protocol = protocol_for("point-turn")
    model = make_model("none", 4, Straight)
    found = evaluate_pointnav(model.policy, make_stage(protocol, "none"), SPLIT.episodes, gate=GATE)
    two = replace(found, world_ids=("a",) * 5 + ("b",) * 5)
    assert two.interval("SR").high - two.interval("SR").low > 0
    assert two.format("SR").startswith(f"{100 * two.mean('SR'):.1f} (")
