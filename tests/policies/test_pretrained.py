"""The pretrained agents that come with Itinera."""

from __future__ import annotations

import pytest

from itinera.builders.hearth import build_annotated_house, build_tasks
from itinera.policies.checkpoint import read_model
from itinera.policies.pretrained import FOLDER, ModelRequirements
from itinera.simulators.view_features import annotated_views
from itinera.training.dataset import EpisodeDataset
from itinera.training.evaluation import evaluate
from itinera.training.vector_env import build_env

NAMES = ("envdrop", "follower", "hamt", "rcm", "rcm-fidelity", "rcm-goal", "tour-hamt")
RANDOM = 0.06  # the success of a random walk in Hearth's val-unseen houses


def test_they_are_small_files():
    assert tuple(sorted(file.stem for file in FOLDER.glob("*.safetensors"))) == NAMES
    assert sum(file.stat().st_size for file in FOLDER.glob("*.safetensors")) < 10_000_000


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
