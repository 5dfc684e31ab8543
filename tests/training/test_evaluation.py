"""Early scores are those that `score` gives, and asking for them leaves no trace in what is trained."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import NoRoute
from itinera.metrics.score import score
from itinera.metrics.suites import paper
from itinera.records import Ending, Predictions, Trajectory
from itinera.tasks import Split
from itinera.tasks.protocol import R2R
from itinera.training.evaluation import BatchedGraphSpace, evaluate
from itinera.worlds import Ragged
from text_worlds import quick
from training.small_models import require_graph, tiny_datasets, tiny_model


@quick
@given(place=tiny_datasets(), draw=st.data())
def test_all_worlds_together_measure_as_each_alone(place, draw):
    space = BatchedGraphSpace(place.env)
    walks, numbers, worlds = [], [], []
    for _ in range(draw.draw(st.integers(1, 4))):
        world_id = draw.draw(st.sampled_from(sorted(place.worlds)))
        nodes = require_graph(place.worlds[world_id]).nodes
        walk = draw.draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=5))
        worlds.append(require_graph(place.worlds[world_id]))
        walks.append(walk)
        numbers.append(np.array([place.env.node_index[world_id, node] for node in walk]))
    for graph, walk, at in zip(worlds, walks, numbers, strict=True):
        np.testing.assert_allclose(space.between(at, at[::-1]), graph.between(walk, walk[::-1]), rtol=1e-6)
        np.testing.assert_allclose(space.along(at), graph.along(walk), rtol=1e-6)
        first, last = at[0], at[-1]
        if np.isfinite(graph.between(walk[:1], walk[-1:])[0, 0]):
            way = space.route(first, last)
            assert (way[0], way[-1]) == (first, last)
            assert space.along(way).sum() == pytest.approx(graph.between(walk[:1], walk[-1:])[0, 0], rel=1e-5)
        else:
            with pytest.raises(NoRoute):
                space.route(first, last)
    rows, turned = Ragged.from_rows(numbers), Ragged.from_rows([at[::-1] for at in numbers])
    blocks = [graph.between(walk, walk[::-1]).ravel() for graph, walk in zip(worlds, walks, strict=True)]
    np.testing.assert_allclose(space.blocks(rows, turned), np.concatenate(blocks), rtol=1e-6)
    steps = [graph.along(walk) for graph, walk in zip(worlds, walks, strict=True)]
    np.testing.assert_allclose(space.steps(rows), np.concatenate(steps), rtol=1e-6)


@pytest.fixture
def scored(house):
    return evaluate(tiny_model().policy, house.env, house.dataset, max_steps=6)


def test_scores_are_those_of_the_walks(house, scored):
    walks = tuple(
        Trajectory(
            episode.id,
            tuple(house.env.nodes[n] for n in path),
            ending=Ending.STOPPED if stopped else Ending.OUT_OF_STEPS,
        )
        for episode, path, stopped in zip(house.episodes, scored.paths, scored.stopped, strict=True)
    )
    table = score(
        Predictions.from_trajectories("walks.json", walks), Split("house", house.episodes), house.worlds, paper(R2R)
    )
    assert set(scored.columns) == {"PL", "NE", "SR", "OSR", "SPL", "CLS", "nDTW"}
    for name, column in scored.columns.items():
        np.testing.assert_allclose(column, table[name], atol=1e-5, err_msg=name)


def test_means_have_intervals(scored):
    for name in scored.columns:
        found = scored.interval(name)
        assert found.mean == pytest.approx(scored.mean(name))


def test_asking_for_scores_leaves_what_is_trained_as_it_was(house):
    policy = tiny_model().policy.train()
    before = torch.get_rng_state()
    one = evaluate(policy, house.env, house.dataset, max_steps=6)
    assert policy.training
    assert torch.equal(before, torch.get_rng_state())
    policy.eval()
    other = evaluate(policy, house.env, house.dataset, max_steps=6)
    assert one.paths == other.paths
    assert not policy.training
