"""The batched environment against the graphs themselves, the simulator and networkx."""

from __future__ import annotations

import math

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS, nearest_view
from itinera.simulators.candidates import graph_candidates
from itinera.simulators.graph import GraphSimulator
from itinera.training.vector_env import build_env, node_indices
from itinera.worlds import Euclidean, Pose, World
from text_worlds import networkx_graph, quick
from training.small_models import NumberedViews, require_graph, tiny_datasets


@quick
@given(place=tiny_datasets())
def test_tables_tell_what_the_graphs_do(place):
    env = place.env
    for world_id, world in place.worlds.items():
        graph = require_graph(world)
        numbers = torch.tensor(node_indices(env, world_id, graph.nodes))
        assert [env.nodes[n] for n in numbers] == list(graph.nodes)
        far = env.distance(numbers[:, None], numbers)
        np.testing.assert_allclose(far.numpy(), graph.distances, rtol=1e-6)
        for node, candidates in graph_candidates(graph).items():
            at = torch.tensor([env.node_index[world_id, node]])
            rows = env.edge_rows(at, env.degree[at])
            assert [env.nodes[n] for n in env.edge_target[rows]] == list(candidates.nodes)
            np.testing.assert_array_equal(env.headings[rows].numpy(), candidates.headings.astype(np.float32))
            np.testing.assert_array_equal(env.edge_view[rows].numpy(), candidates.views)
            expected = NumberedViews().at(world_id, node)[candidates.views]
            np.testing.assert_array_equal(env.edge_features[rows].numpy(), expected)


@quick
@given(place=tiny_datasets())
def test_actions_lead_along_shortest_ways(place):
    env = place.env
    for world_id, world in place.worlds.items():
        graph = require_graph(world)
        lengths = dict(networkx.all_pairs_dijkstra_path_length(networkx_graph(graph)))
        for a in graph.nodes:
            for b in lengths[a]:
                start, goal = torch.tensor([env.node_index[world_id, a]]), torch.tensor([env.node_index[world_id, b]])
                action = int(env.shortest_path_action(start, goal))
                assert (action == 0) == (a == b)
                if action:
                    beyond = graph_candidates(graph)[a].nodes[action - 1]
                    step = math.dist(*(graph.positions[graph.index[node]] for node in (a, beyond)))
                    assert step + lengths[beyond][b] == pytest.approx(lengths[a][b])


@quick
@given(place=tiny_datasets())
def test_an_action_leads_to_a_neighbour_or_there_is_none(place):
    env = place.env
    for world_id, world in place.worlds.items():
        graph = require_graph(world)
        pairs = [(a, b) for a in graph.nodes for b in graph.nodes]
        ends = [torch.tensor(node_indices(env, world_id, side)) for side in zip(*pairs, strict=True)]
        found = env.neighbor_action(*ends).tolist()
        for (a, b), action in zip(pairs, found, strict=True):
            nodes = graph_candidates(graph)[a].nodes
            assert action == (1 + nodes.index(b) if b in nodes else -1)


@quick
@given(place=tiny_datasets(), heading=st.floats(-9, 9), elevation=st.floats(-1, 1), draw=st.data())
def test_walkers_move_and_face_as_bodies_do(place, heading, elevation, draw):
    env = place.env
    world_id = draw.draw(st.sampled_from(sorted(place.worlds)))
    graph = require_graph(place.worlds[world_id])
    node = draw.draw(st.sampled_from(graph.nodes))
    body = GraphSimulator()
    body.reset(place.worlds[world_id], Pose(node, heading, elevation))
    at = env.reset(torch.tensor([env.node_index[world_id, node]]), torch.tensor([nearest_view(heading, elevation)]))
    before = -1
    for moves in range(5):
        view = int(at.view)
        assert (env.nodes[int(at.node)], VIEW_HEADINGS[view], VIEW_ELEVATIONS[view]) == (
            body.pose.place,
            body.pose.heading,
            body.pose.elevation,
        )
        assert (int(at.moves), int(at.previous_node)) == (moves, before)
        if body.actions == 1:
            break
        action = draw.draw(st.integers(1, body.actions - 1))
        before = int(at.node)
        at = env.step(at, env.observe(at), torch.tensor([action]))
        body.step(action)


def test_agents_learn_on_graphs_only():
    with pytest.raises(BadArgument, match="World yard is not a navigation graph"):
        build_env({"yard": World("yard", Euclidean())}, None)


def test_without_views_only_ways_are_seen(house):
    env = build_env(house.worlds, None)
    seen = env.observe(env.reset(torch.tensor([0, 1]), torch.tensor([12, 30])))
    assert (seen.candidates.shape[1], seen.place.shape) == (0, (2, 0))
    assert seen.geometry.isfinite().all()
    assert seen.panorama is None
