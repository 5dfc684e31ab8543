"""Experts against shortest paths by networkx and against the reference paths."""

from __future__ import annotations

from dataclasses import replace

import networkx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from itinera.training.experts import reference_path_expert, shortest_path_expert
from text_worlds import networkx_graph, quick
from training.small_models import require_graph, tiny_datasets


def follow_expert(place, expert, *, wandering=(), stays=1, max_steps=40):
    """The path of an expert on the first episode after some wrong moves, and when it stopped, or None.

    `stays` repeats each node of the reference.
    """
    env, rows = place.env, torch.tensor([0])
    batch = place.dataset.batch([0])
    batch = replace(batch, path=batch.path.repeat_interleave(stays, 1), path_lengths=stays * batch.path_lengths)
    at = env.reset(batch.start, batch.view)
    path = [int(at.node)]
    for moves in range(max_steps):
        if moves < len(wandering) and int(env.degree[at.node]):
            action = 1 + wandering[moves] % int(env.degree[at.node])
        else:
            action = int(expert(env, batch, at, rows))
        if action == 0:
            return [env.nodes[n] for n in path], moves
        at = env.step(at, env.observe(at), torch.tensor([action]))
        path.append(int(at.node))
    return [env.nodes[n] for n in path], None


@quick
@given(place=tiny_datasets(connected=True), astray=st.lists(st.integers(0, 50), max_size=4))
def test_the_path_to_the_goal_is_a_shortest_one(place, astray):
    episode = place.episodes[0]
    graph = require_graph(place.worlds[episode.world_id])
    path, stopped = follow_expert(place, shortest_path_expert, wandering=astray)
    assert stopped is not None
    assert path[-1] == episode.reference[-1]
    left = path[min(len(astray), len(path) - 1) :]
    shortest = networkx.dijkstra_path_length(networkx_graph(graph), left[0], left[-1])
    assert graph.along(left).sum() == pytest.approx(shortest)


@quick
@given(place=tiny_datasets(connected=True))
def test_the_reference_path_is_followed(place):
    path, stopped = follow_expert(place, reference_path_expert)
    assert tuple(path) == tuple(place.episodes[0].reference)
    assert stopped == len(path) - 1


@quick
@given(place=tiny_datasets(connected=True), astray=st.lists(st.integers(0, 50), max_size=4), stays=st.integers(1, 4))
def test_an_agent_that_left_the_path_is_sent_to_the_goal(place, astray, stays):
    path, stopped = follow_expert(place, reference_path_expert, wandering=astray, stays=stays)
    assert stopped is not None
    assert path[-1] == place.episodes[0].reference[-1]
