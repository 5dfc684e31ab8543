"""Training on engines: roll-outs in other processes or on a cluster end with the same weights, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.mapping.config import MapLifetime
from itinera.runs.engines.processes import ProcessEngine
from itinera.runs.engines.ray_cluster import RayEngine
from itinera.training.distributed import ALONE
from itinera.training.ground.train_agent import GroundOptions, train_on_ground
from itinera.training.pointnav.ranks import train_on_engine
from itinera.training.pointnav.train_agent import train_pointnav
from training.ground.small_ground import weights
from training.pointnav.test_train_agent import BOXES, OPTIONS, WORLDS

UPDATES = 20
# Teacher forcing, then two iterations whose roll-outs the engine walks.
DAGGER = GroundOptions(steps=UPDATES, iterations=2, rollouts=4, teacher_forcing_share=0.5, batch_size=3, max_steps=12)


@pytest.fixture(scope="module")
def cluster():
    if find_spec("ray") is None:  # not importorskip: Ray reads the environment when it is imported
        pytest.skip("needs Ray")
    with RayEngine(workers=2) as engine:
        yield engine


def train_boxes(ranks) -> bytes:
    """The model file of 20 updates, from the first rank."""
    steps = UPDATES * OPTIONS.num_envs * OPTIONS.rollout_steps * ranks.size
    with TemporaryDirectory() as folder:
        out = Path(folder) / "driver.safetensors"
        train_pointnav(BOXES, WORLDS, replace(OPTIONS, steps=steps), out=out, ranks=ranks, seed=3)
        return out.read_bytes() if ranks.is_first else b""


def train_dagger(ground, engine):
    model = ground.model("map-cma", lifetime=MapLifetime.EPISODIC)
    train_on_ground(model, ground.split, ground.worlds, DAGGER, season=ground.season, seed=5, engine=engine)
    return weights(model)


@pytest.fixture(scope="module")
def walked_here(ground):
    return train_dagger(ground, "processes")


@pytest.mark.slow
def test_one_rank_of_ppo_on_a_cluster_has_the_weights_of_this_process(cluster):
    assert train_on_engine(cluster, 1, train_boxes, []) == train_boxes(ALONE)


@pytest.mark.slow
def test_two_ranks_of_ppo_have_the_same_weights_in_processes_and_on_a_cluster(cluster):
    here = train_on_engine(ProcessEngine(2), 2, train_boxes, [])
    assert train_on_engine(cluster, 2, train_boxes, []) == here
    assert here != train_boxes(ALONE)


def test_ranks_without_room_are_refused():
    with pytest.raises(BadArgument, match="2 ranks train at the same time, but the engine has 1 worker"):
        train_on_engine(ProcessEngine(1), 2, train_boxes, [])


@pytest.mark.slow
def test_roll_outs_of_dagger_in_processes_end_with_the_same_weights(ground, walked_here):
    found = train_dagger(ground, ProcessEngine(2))
    assert found.keys() == walked_here.keys()
    assert all(np.array_equal(found[name], walked_here[name]) for name in found)


@pytest.mark.slow
def test_roll_outs_of_dagger_on_a_cluster_end_with_the_same_weights(ground, walked_here, cluster):
    found = train_dagger(ground, cluster)
    assert all(np.array_equal(found[name], walked_here[name]) for name in walked_here)
