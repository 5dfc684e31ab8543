"""Sampled paths: what qualifies, how they are spread, and that the seed alone decides."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from itinera.builders.path_sampling import EDGE_FRACTIONS, MIN_LENGTH, sample_paths
from itinera.seeding import generator
from itinera.worlds import NavGraph
from text_worlds import graph


def grid(side: int, step: float = 2.0) -> NavGraph:
    """A square of nodes, each joined with its neighbours; slightly uneven, so that shortest ways are unique."""
    places = {
        f"{x}.{y}": (step * x + 0.01 * y * y, step * y + 0.013 * x * x, 0) for x in range(side) for y in range(side)
    }
    edges = [(f"{x}.{y}", f"{x + 1}.{y}") for x in range(side - 1) for y in range(side)]
    edges += [(f"{x}.{y}", f"{x}.{y + 1}") for x in range(side) for y in range(side - 1)]
    return NavGraph.from_edges(places, edges)


WORLD = grid(8)


def test_paths_are_shortest_long_enough_and_of_four_to_six_edges():
    for path in sample_paths(WORLD, 50, generator(1, "paths")):
        assert len(path) - 1 in EDGE_FRACTIONS
        along = WORLD.along(path).sum()
        assert along == pytest.approx(WORLD.between(path[:1], path[-1:])[0, 0])
        assert along >= MIN_LENGTH


def test_no_two_paths_join_the_same_places():
    ends = [frozenset((path[0], path[-1])) for path in sample_paths(WORLD, 200, generator(1, "paths"))]
    assert len(ends) == len(set(ends)) == 200


def test_lengths_have_the_shares_of_r2r():
    count = Counter(len(path) - 1 for path in sample_paths(WORLD, 400, generator(2, "paths")))
    for edges, share in EDGE_FRACTIONS.items():
        assert count[edges] / 400 == pytest.approx(share, abs=0.07)


def test_paths_are_spread_over_the_place():
    """Drawn blindly, some places of a grid would be passed three times as often as others are at all."""
    passed = Counter(node for path in sample_paths(WORLD, 80, generator(3, "paths")) for node in path)
    assert len(passed) == len(WORLD.nodes)
    counts = np.array(list(passed.values()))
    assert counts.std() / counts.mean() < 0.4


def test_the_seed_alone_decides():
    once, again, other = (sample_paths(WORLD, 20, generator(seed, "paths")) for seed in (1, 1, 2))
    assert once == again
    assert once != other


def test_a_small_place_gives_what_it_has():
    """On a line of six nodes, two metres apart, three pairs have four or five edges between them."""
    line = graph("a-b-c-d-e-f")
    ends = {frozenset((path[0], path[-1])) for path in sample_paths(line, 10, generator(1, "paths"))}
    assert ends == {frozenset("ae"), frozenset("bf"), frozenset("af")}
    assert sample_paths(graph("a-b"), 10, generator(1, "paths")) == ()
