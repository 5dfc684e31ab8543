"""Open space."""

from __future__ import annotations

import itertools
from math import dist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.worlds import Euclidean
from text_worlds import points, quick

lines = st.lists(points, min_size=1, max_size=5)


@quick
@given(lines, lines)
def test_distances_are_straight_lines(a, b):
    np.testing.assert_allclose(Euclidean().between(a, b), [[dist(p, q) for q in b] for p in a])


@quick
@given(lines)
def test_steps_are_straight_lines(line):
    expected = [dist(p, q) for p, q in itertools.pairwise(line)]
    np.testing.assert_allclose(Euclidean().along(line), expected)


def test_a_route_is_its_two_ends():
    assert Euclidean().route(np.zeros(3), np.ones(3)).tolist() == [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]


@pytest.mark.parametrize("places", [[[0.0, 0.0]], [0.0, 0.0, 0.0], [[0.0, np.nan, 0.0]], [[np.inf, 0.0, 0.0]]], ids=str)
def test_anything_but_finite_triples_is_refused(places):
    with pytest.raises(BadArgument, match=r"finite \(n, 3\) metres"):
        Euclidean().locate(places)


def test_no_places_are_no_places():
    assert Euclidean().locate([]).shape == (0, 3)
