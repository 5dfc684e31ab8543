"""The checker of new spaces passes ours and names the law a broken one breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.worlds import Euclidean
from itinera.worlds.checks import check_space
from text_worlds import STREET, RowByRow, graph, graphs, points, quick


@quick
@given(graphs())
def test_graphs_keep_the_laws(made):
    check_space(made, made.nodes)


@quick
@given(st.lists(points, min_size=1, max_size=4))
def test_open_space_keeps_the_laws(places):
    check_space(Euclidean(), np.array(places))


@dataclass(frozen=True)
class Bent(RowByRow):
    """The street with its answers tampered with."""

    distances: Any = None
    detour: Any = None

    def between(self, a: Any, b: Any) -> Any:
        honest = self.inner.between(a, b)
        return honest if self.distances is None else self.distances(honest)

    def route(self, start: Any, goal: Any) -> Any:
        honest = self.inner.route(start, goal)
        return honest if self.detour is None else self.detour(honest)


def shortened(distances):
    # Only the longest way of the whole street is tampered with, 4 m from a to c, so that others stay honest.
    return np.where(distances == 4.0, 9.0, distances)


@pytest.mark.parametrize(
    ("distances", "told"),
    [
        (lambda d: d[:1], r"must be square, not \(1, 3\)"),
        (lambda d: -d, "NaN or negative"),
        (lambda d: np.where(d == 4.0, np.nan, d), "NaN or negative"),
        (lambda d: d + 1.0, "not at distance 0 from itself"),
        (shortened, "triangle inequality"),
        (lambda d: np.where(np.eye(len(d), dtype=bool), 0.0, np.inf), r"connects place 0 to 1, but .* inf"),
        (lambda d: d / 2, r"route from place 0 to 1 is not as long as their distance, 1 m"),
    ],
)
def test_broken_distances_are_named(distances, told):
    with pytest.raises(BadArgument, match=told):
        check_space(Bent(graph(STREET), distances=distances), "abc")


def test_a_route_that_ends_elsewhere_is_named():
    with pytest.raises(BadArgument, match="starts or ends at another place"):
        check_space(Bent(graph(STREET), detour=lambda route: route[::-1]), "ab")


def test_a_missing_route_is_named():
    from itinera.errors import NoRoute

    def none(route):
        raise NoRoute("no")

    with pytest.raises(BadArgument, match="Places 0 and 0 are 0 m apart, but route"):
        check_space(Bent(graph(STREET), detour=none), "ab")
