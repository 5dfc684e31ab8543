"""Alignments: the pairs that dynamic time warping is the sum of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.metrics.alignment import align_places
from text_worlds import SCENES, STREET, attempts, graph, quick


def test_a_detour_meets_the_place_it_leaves():
    found = align_places(attempts(graph(STREET), ["abcbcd"], ["acd"]))
    assert found[0].tolist() == [[0, 0], [1, 0], [2, 1], [3, 1], [4, 1], [5, 2]]


def test_who_stands_still_meets_every_place():
    assert align_places(attempts(graph(STREET), ["a"], ["abc"]))[0].tolist() == [[0, 0], [0, 1], [0, 2]]


def test_no_attempts_have_no_pairs():
    none = attempts(graph(STREET), ["ab"], ["ab"]).take(np.empty(0, dtype=np.int64))
    assert len(align_places(none)) == 0


@pytest.mark.parametrize("kind", SCENES)
@quick
@given(data=st.data())
def test_gaps_along_the_pairs_sum_to_the_warping_cost(kind, data):
    scene = data.draw(SCENES[kind])
    measured = scene.attempts
    pairs = align_places(measured)
    sizes = measured.path.counts * measured.reference.counts
    ends = np.cumsum(sizes)
    for k in range(len(measured)):
        gaps = measured.distances[ends[k] - sizes[k] : ends[k]].reshape(measured.path.counts[k], -1)
        i, j = pairs[k].T
        assert gaps[i, j].sum() == pytest.approx(measured.warping[k])
        # From both starts to both ends, one place on in either or both, never back.
        steps = np.diff(pairs[k], axis=0)
        assert (pairs[k][0] == 0).all()
        assert (pairs[k][-1] == np.array(gaps.shape) - 1).all()
        assert ((steps >= 0) & (steps <= 1)).all()
        assert (steps.sum(axis=1) >= 1).all()
