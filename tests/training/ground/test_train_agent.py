"""`itinera.train` on continuous tasks: what it writes, what it refuses, and in which words."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import itinera
from itinera.errors import BadArgument
from itinera.mapping.config import MapLifetime
from itinera.policies.checkpoint import read_model
from itinera.training.ground.train_agent import GroundOptions, train_on_ground
from itinera.training.trainer import NonFiniteLoss

SMALL = {"word_dim": 6, "text_dim": 8, "hidden_dim": 8}
SHORT = {"steps": 2, "iterations": 0, "max_steps": 10, "batch_size": 2, "config": SMALL}


def test_a_policy_is_trained_and_its_card_says_how(ground, tmp_path):
    out = tmp_path / "map.safetensors"
    agent = itinera.train(
        "map-cma", ground.split, ground.worlds, map_lifetime="iterative", out=out, verbose=False, **SHORT
    )
    card = read_model(out).model.card
    assert card.kind == "map-cma"
    assert card.ground.lifetime is MapLifetime.ITERATIVE
    assert card.config["hidden_dim"] == 8
    assert card.metadata["steps"] == 2
    assert agent.lifetime is MapLifetime.ITERATIVE
    again = itinera.train(
        "map-cma", ground.split, ground.worlds, map_lifetime="iterative", out=out, verbose=False, **SHORT
    )
    assert again.fingerprint == agent.fingerprint
    with pytest.raises(BadArgument, match="comes from another training run"):
        itinera.train("map-cma", ground.split, ground.worlds, out=out, verbose=False, **SHORT)


def test_validation_keeps_the_best_weights(ground, tmp_path):
    few = ground.split[:2]
    agent = itinera.train(
        "cma", ground.split, ground.worlds, validation=few, evaluate_every=1, monitor="NE", verbose=False, **SHORT
    )
    assert agent.metadata["monitor"] == "NE"
    assert agent.metadata["best_step"] in (1, 2)
    found = itinera.score(itinera.run(agent, few, ground.worlds, workers=0), few, ground.worlds)
    assert found.mean("NE") == agent.metadata["score"]


def test_a_loss_that_is_not_a_number_is_one_sentence(ground):
    model = ground.model("cma")
    with torch.no_grad():
        model.policy.action_head.weight[0, 0] = np.nan
    with pytest.raises(NonFiniteLoss, match=r"Training cma stopped at step 0: the loss is nan") as error:
        train_on_ground(model, ground.split, ground.worlds, GroundOptions(steps=2, iterations=0, max_steps=8))
    assert "lower learning_rate" in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"policy": "map-cma", "reward": "goal"}, "reward is for training on graphs"),
        ({"policy": "map-cma", "views": "annotations"}, "views is for training on graphs"),
        ({"policy": "rcm"}, "train on graph tasks"),
        ({"policy": "map-cma", "map_lifetime": "eternal"}, "map_lifetime"),
        ({"policy": "tour-cma", "iterations": 2}, "iterations must be 0"),
        ({"policy": "map-cma", "steps": None}, "as steps=… or as minutes=…"),
        ({"policy": "map-cma", "steps": 3, "iterations": 6}, "too few for 6 iterations"),
        ({"policy": "map-cma", "evaluate_every": 3}, "need episodes to evaluate on"),
        ({"policy": "map-cma", "monitor": "FPS"}, "monitor"),
        ({"policy": "a.module:Policy"}, "graph tasks only"),
    ],
)
def test_options_that_do_not_fit_are_named(ground, arguments, words):
    given = {"steps": 2, "verbose": False} | arguments
    policy = given.pop("policy")
    with pytest.raises(BadArgument, match=words):
        itinera.train(policy, ground.split, ground.worlds, **given)


def test_options_of_the_ground_are_refused_on_graphs(season):
    tasks = season / "r2r" / "R2R_val_unseen.json"
    with pytest.raises(BadArgument, match="rollouts is for training on the ground"):
        itinera.train("rcm", tasks, season, steps=1, rollouts=3)


def test_worlds_that_are_missing_are_named(ground):
    with pytest.raises(BadArgument, match="is not among the worlds given"):
        itinera.train("cma", ground.split, {}, steps=1, iterations=0, verbose=False)
