"""Each kernel against its slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from itinera.metrics._kernels import approximate_warping_costs, coverages, edit_distances, warping_costs
from itinera.worlds import Euclidean, Ragged
from text_worlds import attempts, distance_in, graph_scenes, open_scenes, points, quick, thorough

gaps = st.integers(1, 6).flatmap(
    lambda cols: st.lists(
        st.lists(st.floats(0, 9) | st.just(np.inf), min_size=cols, max_size=cols), min_size=1, max_size=6
    )
)
blocks = st.lists(st.tuples(gaps, st.booleans(), st.booleans()), min_size=1, max_size=4)


def laid_out(matrices):
    flat = np.concatenate([np.array(matrix, dtype=float).ravel() for matrix in matrices])
    return flat, np.array([len(m) for m in matrices]), np.array([len(m[0]) for m in matrices])


@thorough
@given(blocks)
def test_warping_costs_equal_the_full_table_pinned_or_not(drawn):
    matrices, first, last = zip(*drawn, strict=True)
    out = np.empty(len(matrices))
    warping_costs(*laid_out(matrices), np.array(first), np.array(last), np.empty(9), out)
    expected = [twins.dtw(twins.pinned(m, f, l)) for m, f, l in drawn]  # noqa: E741
    np.testing.assert_allclose(out, expected, rtol=1e-12)


def test_warping_is_worked_by_hand():
    # Best: (0,0) 1, (1,0) 0, (1,1) 2, (2,2) 1 = 4, going round the 9 in the middle of the top row.
    matrix = [[1.0, 9.0, 9.0], [0.0, 2.0, 9.0], [9.0, 5.0, 1.0]]
    out = np.empty(3)
    flat, rows, cols = laid_out([matrix] * 3)
    warping_costs(flat, rows, cols, np.array([False, True, False]), np.array([False, False, True]), np.empty(3), out)
    # Pinned first: row 1 may not meet column 0, so (0,0) 1, (1,1) 2, (2,2) 1 = 4 as well.
    # Pinned last: only row 2 may meet column 2: the first alignment does so already.
    assert out.tolist() == [4.0, 4.0, 4.0]


def test_a_pinned_pair_of_places_cannot_take_a_third():
    # Two reference places, both pinned: the walked place in the middle has nothing left to meet.
    out = np.empty(1)
    warping_costs(np.zeros(6), np.array([3]), np.array([2]), np.array([True]), np.array([True]), np.empty(2), out)
    assert out.tolist() == [np.inf]


rows_of_numbers = st.lists(st.integers(0, 3), min_size=1, max_size=7)


@thorough
@given(st.lists(st.tuples(rows_of_numbers, rows_of_numbers), min_size=1, max_size=4))
def test_edit_distances_equal_the_twin_over_places_and_over_edges(rows):
    a, b = (Ragged.from_rows(side, dtype=np.int64) for side in zip(*rows, strict=True))
    out = np.empty(len(rows))
    all_of_them, room = np.ones(len(rows), dtype=bool), np.empty(8, dtype=np.int64)
    edit_distances(a.values, a.starts, b.values, b.starts, all_of_them, False, room, out)
    assert out.tolist() == [twins.levenshtein(x, y) for x, y in rows]
    edit_distances(a.values, a.starts, b.values, b.starts, all_of_them, True, room, out)
    assert out.tolist() == [twins.levenshtein(twins.directed_edges(x), twins.directed_edges(y)) for x, y in rows]


def test_the_twin_edits_kitten_into_sitting_in_three():
    assert twins.levenshtein("kitten", "sitting") == 3


@thorough
@given(st.lists(gaps, min_size=1, max_size=4), st.floats(0.5, 5))
def test_coverages_equal_the_twin(matrices, decay):
    out = np.empty(len(matrices))
    coverages(*laid_out(matrices), decay, np.empty(9), out)
    np.testing.assert_allclose(out, [twins.coverage(m, decay) for m in matrices], rtol=1e-12)


lines = st.lists(points, min_size=1, max_size=25)


@thorough
@given(st.lists(st.tuples(lines, lines), min_size=1, max_size=3), st.integers(1, 2))
def test_approximate_warping_costs_equal_the_recursive_twin(pairs, radius):
    a, b = (Ragged.from_rows(side, dtype=np.float64) for side in zip(*pairs, strict=True))
    out = np.empty(len(pairs))
    approximate_warping_costs(a.values, a.starts, b.values, b.starts, radius, out)
    np.testing.assert_allclose(out, [twins.fastdtw(x, y, radius) for x, y in pairs], rtol=1e-12, atol=1e-12)


def test_ties_in_the_coarse_alignment_are_broken_as_in_the_released_code():
    # Many coarse alignments cost the same here; preferring to move in both at once would find a band that costs 10.
    walk, reference = ([(float(x), 0.0, 0.0) for x in xs] for xs in ((0, 2, 2, 0, 0, -2), (0, -2, -2, -2, 0, 2)))
    assert attempts(Euclidean(), [walk], [reference]).approximate_warping.tolist() == [14.0]


@quick
@given(lines, lines)
def test_approximate_warping_never_beats_the_exact_cost(walk, reference):
    made = attempts(Euclidean(), [walk], [reference])
    assert made.approximate_warping[0] >= made.warping[0] - 1e-9


@pytest.mark.parametrize("scenes", [graph_scenes(), open_scenes()], ids=["graph", "open"])
@quick
@given(data=st.data())
def test_gaps_equal_distances_taken_one_by_one(scenes, data):
    scene = data.draw(scenes)
    distance = distance_in(scene.space)
    pairs = zip(scene.walks, scene.references, strict=True)
    expected = [distance(p, r) for walk, reference in pairs for p in walk for r in reference]
    np.testing.assert_allclose(scene.attempts.distances, expected, rtol=1e-12)
