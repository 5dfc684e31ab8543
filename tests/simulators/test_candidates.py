from __future__ import annotations

import math
from itertools import combinations

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.formats import matterport
from itinera.formats.io import members
from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS
from itinera.simulators.candidates import graph_candidates
from itinera.worlds import NavGraph
from matterport_twin import Simulator, candidates
from text_worlds import thorough

spots = st.tuples(*[st.integers(-3, 3).map(float)] * 2, st.sampled_from([0.0, 0.5, -1.0, 2.6]))


@st.composite
def tall_graphs(draw: st.DrawFn) -> NavGraph:
    """Nodes on a grid, where many angles are equal, on a few heights; any of them may be joined."""
    places = draw(st.lists(spots, min_size=2, max_size=7, unique=True))
    named = {f"n{k}": place for k, place in enumerate(places)}
    return NavGraph.from_edges(named, draw(st.lists(st.sampled_from(list(combinations(named, 2))), unique=True)))


@thorough
@given(tall_graphs())
def test_candidates_are_those_of_a_sweep_over_the_views(graph):
    twin = Simulator(graph)
    for node, listed in graph_candidates(graph).items():
        twin.new_episode(node, 0.0, 0.0)
        found = candidates(twin)
        assert listed.nodes == tuple(one.node for one in found)
        assert listed.views.tolist() == [one.view for one in found]
        assert listed.distances.tolist() == pytest.approx([one.distance for one in found])
        assert listed.elevations.tolist() == pytest.approx([one.elevation for one in found], abs=1e-8)
        turned = [math.remainder(math.pi / 2 - one.heading, math.tau) for one in found]
        assert np.cos(listed.headings - turned).tolist() == pytest.approx([1.0] * len(found))


def test_candidates_at_the_same_distance_from_the_middle_of_a_view_keep_the_order_of_the_graph():
    # Seen from n0 in the view at 150 degrees, -30 up: n1 is 30 aside and 11.57 above the middle, n2 the reverse.
    places = {"n0": (-2, 2, 0), "n1": (-2, -1, -1), "n2": (-1, -1, 0)}
    graph = NavGraph.from_edges(places, [("n0", "n1"), ("n0", "n2")])
    assert graph_candidates(graph)["n0"].nodes == ("n1", "n2")


def test_a_graph_without_edges_has_no_candidates():
    candidates = graph_candidates(NavGraph.from_edges({"a": (0, 0, 0), "b": (1, 0, 0)}, []))
    assert [(node, way.nodes, way.headings.shape) for node, way in candidates.items()] == [
        ("a", (), (0,)),
        ("b", (), (0,)),
    ]


def test_candidates_cannot_be_written_to():
    candidates = graph_candidates(NavGraph.from_edges({"a": (0, 0, 0), "b": (1, 0, 0)}, [("a", "b")]))["a"]
    for column in (candidates.headings, candidates.elevations, candidates.distances, candidates.views):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0


class Reference(msgspec.Struct):
    """What Matterport's simulator says of an edge, in R2R's frame."""

    heading: float
    elevation: float
    ang_dis: float  # from the middle of the nearest view
    distance: float


@pytest.mark.real
def test_every_way_of_the_real_graphs_is_as_matterports_simulator_has_it(data):
    worlds = matterport.read_worlds(data / "connectivity.tar.xz")
    nodes = 0
    for name, member in members(data / "navigable.tar.xz", ".json").items():
        listed = msgspec.json.decode(member.read(), type=dict[str, dict[str, Reference]])
        found = graph_candidates(worlds[name.removesuffix("_navigable.json")].space)
        assert {node: tuple(candidates) for node, candidates in listed.items()} == {
            node: candidates.nodes for node, candidates in found.items()
        }
        nodes += len(listed)
        told = [edge for candidates in listed.values() for edge in candidates.values()]
        ours = [found[node] for node in listed]
        headings, elevations, distances, views = (
            np.concatenate([getattr(candidates, name) for candidates in ours])
            for name in ("headings", "elevations", "distances", "views")
        )
        aside = (headings - VIEW_HEADINGS[views] + math.pi) % math.tau - math.pi
        apart = np.hypot(aside, elevations - VIEW_ELEVATIONS[views])
        # The simulator works in single precision; of very short edges the angles differ most.
        assert np.abs(apart - [edge.ang_dis for edge in told]).max() < 1e-3
        assert np.abs(elevations - [edge.elevation for edge in told]).max() < 1e-3
        assert np.abs(distances - [edge.distance for edge in told]).max() < 1e-5
        turned = np.cos(math.pi / 2 - headings - [edge.heading for edge in told])
        assert turned.min() > math.cos(1e-3)
    assert nodes == 10567
