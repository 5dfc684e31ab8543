"""The pretrained agents that come with Itinera."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.builders.hearth import build_annotated_house, build_tasks
from itinera.hearth.ground import ground_world
from itinera.policies.checkpoint import read_model
from itinera.policies.pretrained import FOLDER, ModelRequirements
from itinera.simulators.view_features import annotated_views
from itinera.tasks import Episode, Instruction, Split
from itinera.training.dataset import EpisodeDataset
from itinera.training.evaluation import evaluate
from itinera.training.pointnav.train_agent import evaluate_model
from itinera.training.vector_env import build_env
from itinera.worlds import Pose
from itinera.worlds.surface import Surface

NAMES = ("envdrop", "follower", "hamt", "rcm", "rcm-fidelity", "rcm-goal", "tour-hamt")
DRIVERS = {"pointnav-point-turn": "point-turn"}  # their robots
RANDOM = 0.06  # the success of a random walk in Hearth's val-unseen houses


def test_they_are_small_files():
    assert {file.stem for file in FOLDER.glob("*.safetensors")} == {*NAMES, *DRIVERS}
    assert sum(file.stat().st_size for file in FOLDER.glob("*.safetensors")) < 10_000_000
    assert sum((FOLDER / f"{name}.safetensors").stat().st_size for name in DRIVERS) < 3_000_000


@pytest.mark.parametrize("name", NAMES)
def test_cards_describe_the_training_and_the_scores(name):
    metadata = read_model(FOLDER / f"{name}.safetensors").model.card.metadata
    assert {"description", "training data", "steps", "seed"} <= metadata.keys()
    assert {"SR", "SPL", "CLS", "nDTW"} <= metadata["val-unseen, %"].keys()


@pytest.fixture(scope="module")
def house():
    """The first val-unseen house, and tasks there."""
    home = build_annotated_house(1, 1)
    return home.world, build_tasks(home, {"val_unseen": 15})["val_unseen"].graph_episodes


@pytest.mark.parametrize("name", NAMES)
def test_they_succeed_in_an_unseen_house(name, house):
    world, episodes = house
    model = read_model(FOLDER / f"{name}.safetensors").model
    objects = ModelRequirements(model.card.views, model.card.columns, model.card.reach).names
    views = annotated_views({world.id: world}, objects, reach=model.card.reach)
    assert views.columns == model.card.columns
    env = build_env({world.id: world}, views)
    scores = evaluate(model.policy, env, EpisodeDataset.from_episodes(episodes, env, model.tokenizer), max_steps=15)
    assert scores.mean("SR") > 5 * RANDOM
    assert scores.stopped.mean() > 0.5


@pytest.mark.parametrize("name", DRIVERS)
def test_cards_of_drivers_describe_their_robot_and_scores(name):
    metadata = read_model(FOLDER / f"{name}.safetensors").model.card.metadata
    assert {"description", "training data", "steps", "seed", "CPU minutes"} <= metadata.keys()
    assert metadata["drive"] == DRIVERS[name]
    assert {"SR", "SPL"} <= metadata["val-unseen, %"].keys()


@pytest.mark.parametrize("name", DRIVERS)
def test_drivers_reach_points_in_an_unseen_house(name):
    world = ground_world(1, 1, radius=0.20)
    rng = np.random.default_rng(0)
    assert isinstance(world.space, Surface)
    starts, goals = world.space.sample(rng, 40), world.space.sample(rng, 40)
    distances = np.diagonal(world.space.between(starts, goals))
    episodes = [
        Episode(str(k), world.id, Pose(starts[k], 0.0), goals[k][None], (), Instruction.to_point(goals[k][None]))
        for k in np.flatnonzero((distances > 2.0) & (distances < 8.0)).tolist()
    ]
    model = read_model(FOLDER / f"{name}.safetensors").model
    split = Split("points", tuple(episodes), protocol="pointnav")
    scores = evaluate_model(model, split, {world.id: world}, drive=DRIVERS[name], sliding=True)
    assert len(episodes) >= 5
    assert scores.mean("SR") >= 0.5
