"""Navigation graphs: distances and routes against networkx, and what a graph refuses."""

from __future__ import annotations

import itertools

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument, NoRoute
from itinera.worlds import NavGraph
from text_worlds import STREET, graph, graph_distance, graphs, networkx_graph, quick, thorough, walks_in


@thorough
@given(graphs())
def test_distances_equal_those_of_networkx(made):
    distance = graph_distance(made)
    expected = [[distance(a, b) for b in made.nodes] for a in made.nodes]
    np.testing.assert_allclose(made.between(made.nodes, made.nodes), expected, rtol=1e-12)


@quick
@given(graphs(), st.data())
def test_routes_follow_edges_and_are_as_long_as_networkx_says(made, data):
    start, goal = data.draw(st.sampled_from(made.nodes)), data.draw(st.sampled_from(made.nodes))
    other = networkx_graph(made)
    if not networkx.has_path(other, start, goal):
        with pytest.raises(NoRoute, match=f"from {start} to {goal}"):
            made.route(start, goal)
        return
    route = made.route(start, goal)
    assert route[0] == start
    assert route[-1] == goal
    assert all(other.has_edge(a, b) for a, b in itertools.pairwise(route))
    expected = networkx.shortest_path_length(other, start, goal, weight="weight")
    assert made.along(route).sum() == pytest.approx(expected)


@quick
@given(graphs())
def test_neighbours_equal_those_of_networkx(made):
    other = networkx_graph(made)
    for node in made.nodes:
        assert set(made.neighbors(node)) == set(other.neighbors(node))


@quick
@given(graphs(), st.data())
def test_steps_along_a_walk_are_edge_lengths(made, data):
    walk = data.draw(walks_in(made))
    distance = graph_distance(made)
    expected = [distance(a, b) for a, b in itertools.pairwise(walk)]
    np.testing.assert_allclose(made.along(walk), expected)


def test_a_drawing_is_read_as_drawn():
    made = graph("""
        a---b
            |
        c   d
    """)
    assert made.nodes == ("a", "b", "c", "d")
    assert made.positions[3].tolist() == [4.0, -2.0, 0.0]
    assert {made.nodes[i] + made.nodes[j] for i, j in made.edges} == {"ab", "bd"}


def test_an_isolated_node_stays_and_cannot_be_reached():
    made = graph("a-b c")
    assert "c" in made.nodes
    assert made.neighbors("c") == ()
    assert made.between(["a", "c"], ["c"]).tolist() == [[np.inf], [0.0]]


def test_an_edge_given_twice_is_no_longer_for_it():
    made = NavGraph.from_edges({"a": (0, 0, 0), "b": (2, 0, 0)}, [("a", "b"), ("a", "b")])
    assert made.between("a", "b").tolist() == [[2.0]]


def test_an_edge_between_two_nodes_in_one_spot_has_no_length():
    made = NavGraph.from_edges({"a": (0, 0, 0), "b": (0, 0, 0), "c": (2, 0, 0)}, [("a", "b"), ("b", "c")])
    assert made.between("a", "bc").tolist() == [[0.0, 2.0]]


def test_a_graph_without_nodes_is_a_graph():
    assert NavGraph((), np.empty((0, 3)), np.empty((0, 2))).distances.shape == (0, 0)


def test_node_numbers_are_taken_as_they_are():
    made = graph(STREET)
    assert made.locate("bc").tolist() == made.locate(np.array([1, 2])).tolist() == [1, 2]


def test_unknown_nodes_are_named():
    with pytest.raises(BadArgument, match=r"Not a node of this graph: x, z\."):
        graph(STREET).locate("axz")


def test_ids_must_be_distinct_and_every_node_have_a_position():
    with pytest.raises(BadArgument, match="distinct"):
        NavGraph(("a", "a"), np.zeros((2, 3)), np.empty((0, 2)))
    with pytest.raises(BadArgument, match="2 nodes but 1 positions"):
        NavGraph(("a", "b"), np.zeros((1, 3)), np.empty((0, 2)))


def test_nobody_can_move_a_node_or_shorten_a_distance():
    made = graph(STREET)
    for array in (made.positions, made.edges, made.distances):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_headings_turn_counter_clockwise_from_x_and_elevations_rise():
    made = NavGraph.from_edges({"o": (0, 0, 0), "x": (1, 0, 0), "y": (0, 2, 0), "up": (-1, 0, 1)}, [])
    assert made.heading("o", "x") == 0.0
    assert made.heading("o", "y") == pytest.approx(np.pi / 2)
    assert made.heading("o", "up") == pytest.approx(np.pi)
    assert made.elevation("o", "up") == pytest.approx(np.pi / 4)
    assert made.elevation("up", "o") == pytest.approx(-np.pi / 4)
