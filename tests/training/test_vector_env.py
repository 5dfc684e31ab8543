"""Worlds as tables, against the graphs themselves, the simulator and networkx."""

from __future__ import annotations

import math

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from drawn import networkx_graph, quick
from itinera.errors import BadArgument
from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS, nearest_view
from itinera.simulators.candidates import graph_candidates
from itinera.simulators.graph import GraphSimulator
from itinera.training.vector_env import atlas_of, node_numbers
from itinera.worlds import Euclidean, Pose, World
from training.pupils import Numbered, graph_of, schools


@quick
@given(place=schools())
def test_tables_tell_what_the_graphs_do(place):
    atlas = place.atlas
    for world_id, world in place.worlds.items():
        graph = graph_of(world)
        numbers = torch.tensor(node_numbers(atlas, world_id, graph.nodes))
        assert [atlas.nodes[n] for n in numbers] == list(graph.nodes)
        far = atlas.distance(numbers[:, None], numbers)
        np.testing.assert_allclose(far.numpy(), graph.distances, rtol=1e-6)
        for node, candidates in graph_candidates(graph).items():
            at = torch.tensor([atlas.number[world_id, node]])
            rows = atlas.rows(at, atlas.degree[at])
            assert [atlas.nodes[n] for n in atlas.beyond[rows]] == list(candidates.nodes)
            np.testing.assert_array_equal(atlas.headings[rows].numpy(), candidates.headings.astype(np.float32))
            np.testing.assert_array_equal(atlas.view[rows].numpy(), candidates.views)
            np.testing.assert_array_equal(atlas.seen[rows].numpy(), Numbered().at(world_id, node)[candidates.views])


@quick
@given(place=schools())
def test_actions_lead_along_shortest_ways(place):
    atlas = place.atlas
    for world_id, world in place.worlds.items():
        graph = graph_of(world)
        lengths = dict(networkx.all_pairs_dijkstra_path_length(networkx_graph(graph)))
        for a in graph.nodes:
            for b in lengths[a]:
                start, goal = torch.tensor([atlas.number[world_id, a]]), torch.tensor([atlas.number[world_id, b]])
                action = int(atlas.action_to(start, goal))
                assert (action == 0) == (a == b)
                if action:
                    beyond = graph_candidates(graph)[a].nodes[action - 1]
                    step = math.dist(*(graph.positions[graph.index[node]] for node in (a, beyond)))
                    assert step + lengths[beyond][b] == pytest.approx(lengths[a][b])


@quick
@given(place=schools())
def test_an_action_leads_to_a_neighbour_or_there_is_none(place):
    atlas = place.atlas
    for world_id, world in place.worlds.items():
        graph = graph_of(world)
        pairs = [(a, b) for a in graph.nodes for b in graph.nodes]
        ends = [torch.tensor(node_numbers(atlas, world_id, side)) for side in zip(*pairs, strict=True)]
        found = atlas.action_along(*ends).tolist()
        for (a, b), action in zip(pairs, found, strict=True):
            nodes = graph_candidates(graph)[a].nodes
            assert action == (1 + nodes.index(b) if b in nodes else -1)


@quick
@given(place=schools(), heading=st.floats(-9, 9), elevation=st.floats(-1, 1), draw=st.data())
def test_walkers_move_and_face_as_bodies_do(place, heading, elevation, draw):
    atlas = place.atlas
    world_id = draw.draw(st.sampled_from(sorted(place.worlds)))
    graph = graph_of(place.worlds[world_id])
    node = draw.draw(st.sampled_from(graph.nodes))
    body = GraphSimulator()
    body.reset(place.worlds[world_id], Pose(node, heading, elevation))
    at = atlas.put(torch.tensor([atlas.number[world_id, node]]), torch.tensor([nearest_view(heading, elevation)]))
    before = -1
    for moves in range(5):
        view = int(at.view)
        assert (atlas.nodes[int(at.node)], VIEW_HEADINGS[view], VIEW_ELEVATIONS[view]) == (
            body.pose.place,
            body.pose.heading,
            body.pose.elevation,
        )
        assert (int(at.moves), int(at.before)) == (moves, before)
        if body.actions == 1:
            break
        action = draw.draw(st.integers(1, body.actions - 1))
        before = int(at.node)
        at = atlas.move(at, atlas.look(at), torch.tensor([action]))
        body.step(action)


def test_agents_learn_on_graphs_only():
    with pytest.raises(BadArgument, match="World yard is no navigation graph"):
        atlas_of({"yard": World("yard", Euclidean())}, None)


def test_without_views_only_ways_are_seen(house):
    atlas = atlas_of(house.worlds, None)
    seen = atlas.look(atlas.put(torch.tensor([0, 1]), torch.tensor([12, 30])))
    assert (seen.candidates.shape[1], seen.here.shape) == (0, (2, 0))
    assert seen.geometry.isfinite().all()
    assert seen.around is None
