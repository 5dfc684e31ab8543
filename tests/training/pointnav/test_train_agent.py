"""`train_pointnav`: from houses to a model file, once; the settings of its options; evaluation on other houses."""

import logging
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from itinera.errors import BadArgument
from itinera.policies.checkpoint import build_model, make_card, read_model
from itinera.policies.rcm import RCMConfig
from itinera.policies.tokenizer import Tokenizer
from itinera.tasks import Episode, Instruction, Split
from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot
from itinera.training.pointnav.train_agent import DECAY_SHARE, PointNavOptions, evaluate_model, train_pointnav
from itinera.worlds import Pose, World
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, room

MESHES = {"boxes": room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8))]), "hall": room(5, 5)}
WORLDS = {name: World(name, Surface.from_mesh(mesh, **ROBOT), mesh=mesh) for name, mesh in MESHES.items()}
OPTIONS = PointNavOptions(steps=1024, num_envs=8, rollout_steps=16, goals=3, max_distance=4.0)


def make_split(world_id, count=3):
    rng = np.random.default_rng(1)
    episodes = []
    for k in range(count):
        start, goal = WORLDS[world_id].space.sample(rng, 2).round(4)
        goals = goal[None]
        episodes.append(Episode(f"{world_id}{k}", world_id, Pose(start, 0.5), goals, (), Instruction.to_point(goals)))
    return Split(world_id, tuple(episodes), protocol="pointnav")


BOXES, HALL = make_split("boxes"), make_split("hall")


def weights(agent_or_model):
    policy = getattr(agent_or_model, "policy", None) or agent_or_model._policy
    return torch.cat([value.flatten() for value in policy.state_dict().values()])


def test_a_model_file_is_written_once_and_says_what_it_is(tmp_path):
    out = tmp_path / "driver.safetensors"
    agent = train_pointnav(BOXES, WORLDS, OPTIONS, out=out, tables=tmp_path / "tables")
    model = read_model(out).model
    assert torch.equal(weights(agent), weights(model))
    assert model.card.metadata["drive"] == "point-turn"
    assert model.card.metadata["steps"] == 1024
    assert model.card.pointnav.gate == 0.2
    assert not out.with_name("driver.safetensors.partial").exists()
    assert list((tmp_path / "tables").iterdir())
    before = out.stat().st_mtime_ns
    again = train_pointnav(BOXES, WORLDS, OPTIONS, out=out)
    assert torch.equal(weights(agent), weights(again))
    assert out.stat().st_mtime_ns == before
    with pytest.raises(BadArgument):
        train_pointnav(BOXES, WORLDS, OPTIONS, out=out, seed=1)


def test_equal_seeds_give_equal_weights_and_training_changes_them():
    one, same, other = (train_pointnav(BOXES, WORLDS, OPTIONS, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(weights(one), weights(same))
    assert not torch.equal(weights(one), weights(other))
    rates = replace(OPTIONS, learning_rate=1e-30)
    assert not torch.equal(weights(one), weights(train_pointnav(BOXES, WORLDS, rates, seed=1)))


def test_validation_logs_scores_with_sct_and_gives_the_best_model(caplog):
    ids = tuple(episode.id for episode in HALL.episodes)
    times = FastestTimes(ReferenceRobot(), ids, np.full(3, 5.0), np.full(3, 6.0))
    options = replace(OPTIONS, evaluate_every=512)
    with caplog.at_level(logging.INFO, "itinera"):
        train_pointnav(BOXES, WORLDS, options, validation=HALL, times=times)
    told = [record.getMessage() for record in caplog.records if "hall:" in record.getMessage()]
    assert len(told) == 2
    assert all("SCT" in line and "SPL" in line for line in told)


def test_an_agent_is_evaluated_in_other_houses_with_its_gate_and_sampled():
    agent = train_pointnav(BOXES, WORLDS, OPTIONS)
    card = make_card("pointnav", agent._policy.config, (), Tokenizer(()), pointnav=agent.requirements)
    model = build_model(card)
    model.policy.load_state_dict(agent._policy.state_dict())
    greedy = evaluate_model(model, HALL, WORLDS, drive="point-turn", sliding=True)
    assert greedy.world_ids == ("hall",) * 3
    one, same, other = (
        evaluate_model(model, HALL, WORLDS, drive="point-turn", sliding=True, sample_seed=seed) for seed in (1, 1, 2)
    )
    assert np.array_equal(one.columns["PL"], same.columns["PL"])
    assert not np.array_equal(one.columns["PL"], other.columns["PL"])


def test_training_goes_on_from_a_model():
    agent = train_pointnav(BOXES, WORLDS, OPTIONS)
    card = make_card("pointnav", agent._policy.config, (), Tokenizer(()), pointnav=agent.requirements)
    model = build_model(card)
    model.policy.load_state_dict(agent._policy.state_dict())
    before = weights(model).clone()
    further = train_pointnav(BOXES, WORLDS, replace(OPTIONS, learning_rate=1e-12), start_from=model)
    assert torch.allclose(weights(further), before, atol=1e-6)
    wrong = build_model(make_card("rcm", RCMConfig(), ("a",), Tokenizer(("a",))))
    with pytest.raises(BadArgument, match="rcm"):
        train_pointnav(BOXES, WORLDS, OPTIONS, start_from=wrong)


@pytest.mark.parametrize("drive", ["unicycle-6", "unicycle-15"])
def test_a_unicycle_has_its_actions_and_can_have_a_decaying_reward(drive):
    options = replace(OPTIONS, drive=drive, decaying=True, sensor="none", steps=256)
    agent = train_pointnav(BOXES, WORLDS, options)
    assert agent._policy.config.num_actions == int(drive.split("-")[1])
    assert agent.metadata["decaying"] is True


def test_minutes_are_steps_of_all_processes():
    options = replace(OPTIONS, steps=None, minutes=2.0, sensor="none")
    assert options.ppo_config(1).steps == 2_800_000
    assert options.ppo_config(3).steps == 8_400_000
    assert pytest.approx(80 / 150) == DECAY_SHARE


def test_a_lifted_gate_is_not_on_the_card():
    plain, lifted = OPTIONS, replace(OPTIONS, lift_gate=True)
    assert plain.requirements.gate == 0.2
    assert plain.ppo_config(1).gate.penalty_at(1.0) == 1e9
    assert lifted.requirements.gate is None
    assert lifted.ppo_config(1).gate.penalty_at(1.0) == 0.0
    assert lifted.ppo_config(1).gate.penalty_at(0.4) == 1e9


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"sensor": "sonar"}, "sensor"),
        ({"drive": "tricycle"}, "drive"),
        ({"minutes": 1.0}, "one of them"),
        ({"steps": None}, "one of them"),
        ({"steps": None, "minutes": math.inf}, "minutes"),
        ({"gate": None, "lift_gate": True}, "lift_gate"),
    ],
)
def test_impossible_options_are_refused(changes, word):
    with pytest.raises(BadArgument, match=word):
        replace(OPTIONS, **changes)
