"""The shortest way past places: by hand, against slower searches, and its laws."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from math import dist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from itinera.analysis.waypoint_paths import shortest_waypoint_paths
from itinera.errors import BadArgument, NoRoute
from itinera.worlds import Array, Euclidean, NavGraph, Places, Space
from text_worlds import RowByRow, graph, graphs, points, quick, thorough, walks_in


def length(space: Space, walk: Places) -> float:
    return float(space.along(walk).sum())


def open_length(way: Sequence[Sequence[float]], radius: float) -> float:
    return length(Euclidean(), shortest_waypoint_paths(Euclidean(), [np.array(way, dtype=float)], radius=radius)[0])


# A corner: 3 m east, then 4 m north.
CORNER = ((0.0, 0.0, 0.0), (3.0, 0.0, 0.0), (3.0, 4.0, 0.0))


def test_radius_0_goes_through_the_places_themselves() -> None:
    np.testing.assert_array_equal(shortest_waypoint_paths(Euclidean(), [np.array(CORNER)])[0], CORNER)
    house = graph("""
        a-b-c
          |
          d
    """)
    assert shortest_waypoint_paths(house, [("a", "c", "d")]) == [("a", "b", "c", "b", "d")]


def test_there_and_back_turns_round_where_the_place_is_near_enough() -> None:
    back = ((0, 0, 0), (5, 0, 0), (0, 0, 0))
    assert open_length(back, 0.0) == pytest.approx(10)
    assert open_length(back, 1.0) == pytest.approx(4 + 3, abs=1e-3)


def test_places_in_a_line_are_passed_on_it() -> None:
    assert open_length(((0, 0, 0), (5, 0, 0), (10, 0, 0)), 1.0) == pytest.approx(9, abs=1e-3)


def test_a_corner_is_cut_where_the_straight_way_passes_near() -> None:
    # The straight way to the goal, 5 m long, passes the corner at 3 * 4 / 5 = 2.4 m.
    assert open_length(CORNER, 2.5) == pytest.approx(5 - 2.5, abs=1e-3)
    assert open_length(CORNER, 2.3) > 5 - 2.3 + 1e-3


def test_ways_of_different_lengths_do_not_disturb_one_another() -> None:
    ways = [np.array(CORNER), np.array(CORNER[:1]), np.array(CORNER[:2])]
    concatenate_coverage = shortest_waypoint_paths(Euclidean(), ways, radius=0.5)
    assert [len(walk) for walk in concatenate_coverage] == [3, 1, 2]
    for walk, way in zip(concatenate_coverage, ways, strict=True):
        alone = shortest_waypoint_paths(Euclidean(), [way], radius=0.5)[0]
        np.testing.assert_allclose(np.asarray(walk), np.asarray(alone), atol=1e-3)


def test_on_a_graph_any_node_near_enough_will_do() -> None:
    # d hangs 2 m below c: within 2 m of it one need not leave the street.
    house = graph("""
        a-b-c-e
            |
            d
    """)
    assert shortest_waypoint_paths(house, [("a", "d", "e")]) == [("a", "b", "c", "d", "c", "e")]
    assert shortest_waypoint_paths(house, [("a", "d", "e")], radius=2.0) == [("a", "b", "c")]


def test_no_ways_are_none() -> None:
    assert shortest_waypoint_paths(Euclidean(), [], radius=1.0) == []
    assert shortest_waypoint_paths(graph("a-b"), []) == []


def test_what_cannot_be_passed_is_refused() -> None:
    with pytest.raises(NoRoute, match="from a past d"):
        shortest_waypoint_paths(graph("a-b c-d"), [("a", "d")], radius=1.0)
    with pytest.raises(BadArgument, match="radius"):
        shortest_waypoint_paths(Euclidean(), [np.array(CORNER)], radius=-1.0)
    with pytest.raises(BadArgument, match="radius"):
        shortest_waypoint_paths(Euclidean(), [np.array(CORNER)], radius=np.nan)
    with pytest.raises(BadArgument, match="at least its start"):
        shortest_waypoint_paths(Euclidean(), [np.empty((0, 3))])
    with pytest.raises(BadArgument, match="Use radius 0"):
        shortest_waypoint_paths(RowByRow(Euclidean()), [np.array(CORNER)], radius=1.0)


@pytest.mark.parametrize("space", [Euclidean(), graph("a-b-c")], ids=["open", "graph"])
def test_radius_0_works_in_any_space(space: Space) -> None:
    way: Places = ("a", "c", "b") if isinstance(space, NavGraph) else np.array(CORNER)
    np.testing.assert_array_equal(
        shortest_waypoint_paths(RowByRow(space), [way])[0], shortest_waypoint_paths(space, [way])[0]
    )


@given(data=st.data(), radius=st.sampled_from([0.0, 2.0, 3.0]))
@thorough
def test_no_choice_of_nodes_near_the_places_is_shorter(data: st.DataObject, radius: float) -> None:
    space = data.draw(graphs(connected=True))
    way = data.draw(walks_in(space))[:5]
    near = [way[:1], *([n for n in space.nodes if space.between([n], [w])[0, 0] <= radius] for w in way[1:])]
    best = min(sum(float(space.between([a], [b])[0, 0]) for a, b in pairwise(chosen)) for chosen in product(*near))
    walk = shortest_waypoint_paths(space, [way], radius=radius)[0]
    assert walk[0] == way[0]
    assert all(space.between([place], walk).min() <= radius for place in way)
    assert length(space, walk) == pytest.approx(best)


def searched(way: Array, radius: float) -> float:
    """The length a general solver finds from the middle of the balls."""
    start, centres = way[0], way[1:]

    def smooth_length(flat: Array) -> float:
        steps = np.diff(np.concatenate([start[None], flat.reshape(-1, 3)]), axis=0)
        return float(np.sqrt((steps**2).sum(axis=1) + 1e-12).sum())

    inside = {"type": "ineq", "fun": lambda flat: radius**2 - ((flat.reshape(-1, 3) - centres) ** 2).sum(axis=1)}
    options = {"maxiter": 500, "ftol": 1e-10}
    found = minimize(smooth_length, centres.ravel(), method="SLSQP", constraints=[inside], options=options)
    return float(found.fun)


def test_a_general_solver_finds_nothing_shorter_in_the_open() -> None:
    rng = np.random.default_rng(3)
    ways = [np.cumsum(rng.normal(scale=(2.0, 2.0, 0.2), size=(rng.integers(2, 8), 3)), axis=0) for _ in range(8)]
    walks = shortest_waypoint_paths(Euclidean(), ways, radius=0.5)
    for way, walk in zip(ways, walks, strict=True):
        assert length(Euclidean(), walk) == pytest.approx(searched(way, 0.5), abs=1e-3)


@given(way=st.lists(points, min_size=1, max_size=6), radii=st.lists(st.floats(0.01, 4.0), min_size=2, max_size=2))
@quick
def test_walks_in_the_open_pass_every_place_and_shorten_as_the_radius_grows(
    way: list[tuple[float, ...]], radii: list[float]
) -> None:
    small, large = sorted(radii)
    places = np.array(way)
    tight, loose = (np.asarray(shortest_waypoint_paths(Euclidean(), [places], radius=r)[0]) for r in (small, large))
    for walk, radius in ((tight, small), (loose, large)):
        np.testing.assert_array_equal(walk[0], places[0])
        assert (np.linalg.norm(walk[1:] - places[1:], axis=1) <= radius + 1e-9).all()
    through = sum(dist(a, b) for a, b in pairwise(way))
    assert length(Euclidean(), loose) <= length(Euclidean(), tight) + 5e-3
    assert length(Euclidean(), tight) <= through + 5e-3
    assert length(Euclidean(), loose) >= dist(way[0], way[-1]) - large - 1e-6
