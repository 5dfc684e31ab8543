"""Navigation graphs: distances and routes against networkx, and what a graph refuses."""

from __future__ import annotations

import heapq
import itertools
import math
import subprocess
import sys

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument, NoRoute
from itinera.worlds import NavGraph
from itinera.worlds.ragged import Ragged
from text_worlds import STREET, graph, graph_distance, graphs, networkx_graph, quick, thorough, walks_in


@thorough
@given(graphs())
def test_distances_equal_those_of_networkx(made):
    distance = graph_distance(made)
    expected = [[distance(a, b) for b in made.nodes] for a in made.nodes]
    np.testing.assert_allclose(made.between(made.nodes, made.nodes), expected, rtol=1e-12)


def test_ties_between_routes_go_to_the_nearer_then_the_earlier_node():
    """As with a heap of (distance, node): the first to reach a node is its predecessor."""
    side = 5  # a square lattice is full of ties
    positions = {f"{x},{y}": (x, y, 0) for x in range(side) for y in range(side)}
    edges = [(a, b) for a, b in itertools.combinations(positions, 2) if math.dist(positions[a], positions[b]) == 1]
    lattice = NavGraph.from_edges(positions, edges)
    for source, start in enumerate(lattice.nodes):
        far, before, waiting = {source: 0.0}, {}, [(0.0, source)]
        while waiting:
            gone, at = heapq.heappop(waiting)
            for to in map(lattice.index.__getitem__, lattice.neighbors(lattice.nodes[at])):
                if gone + 1.0 < far.get(to, math.inf):
                    far[to], before[to] = gone + 1.0, at
                    heapq.heappush(waiting, (gone + 1.0, to))
        for goal in range(side * side):
            route = [goal]
            while route[-1] != source:
                route.append(before[route[-1]])
            assert lattice.route(start, lattice.nodes[goal]) == tuple(lattice.nodes[i] for i in reversed(route))


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


# Large graphs


@pytest.fixture
def on_demand(monkeypatch):
    """Treat every graph as a large one."""
    monkeypatch.setattr("itinera.worlds.graph.MAX_DENSE_NODES", 0)
    monkeypatch.setattr("itinera.worlds.graph.MAX_MATRIX_NODES", 0)


@thorough
@given(graphs(), st.data())
def test_distances_on_demand_are_those_of_the_matrix_to_the_last_bit(made, data):
    places = data.draw(st.lists(st.sampled_from(made.nodes), max_size=6))
    rows = [data.draw(st.lists(st.sampled_from(made.nodes), min_size=1, max_size=4)) for _ in range(3)]
    ragged = Ragged.from_rows([made.locate(row) for row in rows])

    def measure(graph: NavGraph):
        return (
            graph.between(places, made.nodes),
            graph.between(made.nodes, places),
            graph.along(places) if places else (),
            graph.blocks(ragged, ragged),
            graph.steps(ragged),
            graph.are_adjacent(*np.indices((len(made.nodes), len(made.nodes))).reshape(2, -1)),
        )

    dense = measure(made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("itinera.worlds.graph.MAX_DENSE_NODES", 0)
        searched = measure(NavGraph(made.nodes, made.positions, made.edges))
    for one, other in zip(dense, searched, strict=True):
        np.testing.assert_array_equal(one, other)


@quick
@given(graphs())
def test_routes_on_demand_are_those_of_the_matrix(made):
    def routes(graph: NavGraph) -> list[tuple[str, ...] | None]:
        found: list[tuple[str, ...] | None] = []
        for start, goal in itertools.product(made.nodes, repeat=2):
            try:
                found.append(graph.route(start, goal))
            except NoRoute:
                found.append(None)
        return found

    dense = routes(made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("itinera.worlds.graph.MAX_DENSE_NODES", 0)
        assert routes(NavGraph(made.nodes, made.positions, made.edges)) == dense


def test_a_large_graph_refuses_a_matrix_with_a_sentence(on_demand):
    made = graph("a-b c")
    for name in ("distances", "adjacency"):
        with pytest.raises(
            BadArgument, match=f"The matrix {name} of a graph with 3 nodes would take .* GiB; .*between"
        ):
            getattr(made, name)
    assert made.neighbors("a") == ("b",)
    assert made.between(["a", "c"], ["c", "b"]).tolist() == [[np.inf, 2.0], [0.0, np.inf]]


def test_an_index_of_no_node_is_refused_in_a_large_graph(on_demand):
    made = graph("a-b c")
    for index in (-1, 3, 2**40):
        with pytest.raises(BadArgument, match="between 0 and 2"):
            made.between(np.array([index]), ["a"])


LARGE = """
import re
from pathlib import Path
import numpy as np
from itinera.worlds import NavGraph
side = 317
at = np.arange(side * side)
xy = np.stack(np.divmod(at, side), axis=1)
edges = np.concatenate([np.stack([at[xy[:, 1] < side - 1], at[xy[:, 1] < side - 1] + 1], axis=1),
                        np.stack([at[: -side], at[: -side] + side], axis=1)])
graph = NavGraph(tuple(map(str, at)), np.column_stack([xy, 0 * at]), edges)
last = str(side * side - 1)
assert graph.between(["0"], [last])[0, 0] == 2 * (side - 1)
assert len(graph.route("0", last)) == 2 * side - 1
assert graph.neighbors("0") == ("1", str(side))
# ru_maxrss would include the process that started this one.
peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())
print(len(graph.nodes), int(peak[1]) // 1024)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak memory from /proc")
def test_a_hundred_thousand_nodes_take_no_gigabyte():
    done = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, check=True)
    nodes, megabytes = map(int, done.stdout.split())
    assert nodes > 100_000
    assert megabytes < 600
