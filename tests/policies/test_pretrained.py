"""The trained agents in the box."""

from __future__ import annotations

from pathlib import Path

import pytest

import itinera as package
from itinera.builders.hearth import build_home, tasks_of
from itinera.policies.checkpoint import read_model
from itinera.policies.pretrained import Learned
from itinera.simulators.view_features import annotated_views
from itinera.training.dataset import lessons_of
from itinera.training.evaluation import evaluate
from itinera.training.vector_env import atlas_of

BOX = Path(package.__file__).parent / "agents" / "neural" / "trained"
NAMES = ("envdrop", "follower", "hamt", "rcm", "rcm-fidelity", "rcm-goal", "tour-hamt")
RANDOM = 0.06  # the success of a random walk in Hearth's val-unseen houses


def test_the_box_is_small():
    assert tuple(sorted(file.stem for file in BOX.glob("*.safetensors"))) == NAMES
    assert sum(file.stat().st_size for file in BOX.glob("*.safetensors")) < 10_000_000


@pytest.mark.parametrize("name", NAMES)
def test_cards_tell_what_an_agent_is_and_does(name):
    told = read_model(BOX / f"{name}.safetensors").model.card.told
    assert {"what", "learned on", "steps", "seed"} <= told.keys()
    assert {"SR", "SPL", "CLS", "nDTW"} <= told["val-unseen, %"].keys()


@pytest.fixture(scope="module")
def school():
    """A house that nobody has learned in, the first of the val-unseen ones, and tasks there."""
    home = build_home(1, 1)
    return home.world, tasks_of(home, {"val_unseen": 15})["val_unseen"].on_graph


@pytest.mark.parametrize("name", NAMES)
def test_they_find_their_way_in_a_new_house(name, school):
    world, episodes = school
    model = read_model(BOX / f"{name}.safetensors").model
    objects = Learned(model.card.views, model.card.columns, model.card.reach).names
    views = annotated_views({world.id: world}, objects, reach=model.card.reach)
    assert views.columns == model.card.columns
    atlas = atlas_of({world.id: world}, views)
    scores = evaluate(model.policy, atlas, lessons_of(episodes, atlas, model.vocabulary), limit=15)
    assert scores.mean("SR") > 5 * RANDOM
    assert scores.stopped.mean() > 0.5
