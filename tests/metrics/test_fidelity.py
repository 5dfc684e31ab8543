"""Did it follow the path described?"""

from __future__ import annotations

from functools import partial
from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from itinera.metrics.fidelity import cls, dtw, length_score, ndtw, path_coverage, sdtw, sed, sed_nodes
from itinera.metrics.suites import paper
from text_worlds import SCENES, STREET, attempts, distance_in, graph, quick

TREE = """
    a-b-c-d
      |
      x
"""


@pytest.mark.parametrize("kind", SCENES)
@quick
@given(data=st.data())
def test_the_ten_metrics_equal_their_twins(kind, data):
    scene = data.draw(SCENES[kind])
    distance = distance_in(scene.space)
    pairs = zip(scene.walks, scene.references, strict=True)
    expected = [twins.metrics_by_hand(walk, reference, reference[-1:], distance) for walk, reference in pairs]
    measures = {metric.name: metric.measure for metric in paper().metrics}
    for name in expected[0]:
        got = measures[name](scene.attempts)
        np.testing.assert_allclose(got, [row[name] for row in expected], rtol=1e-9, atol=1e-12, err_msg=name)


def test_warping_of_an_excursion_costs_its_distance():
    # x stands 2 m from b, its nearest reference place: a-a, b-b, x-b, b-b, c-c, d-d = 2 m.
    made = attempts(graph(TREE), ["abxbcd"], ["abcd"])
    assert dtw(made).tolist() == [2.0]
    assert ndtw(made, threshold=3.0)[0] == pytest.approx(exp(-2 / (3 * 4)))


def test_repeats_off_the_path_cost_and_may_be_dropped():
    # Each of two stays on x costs 2 m; dropped, one.
    made = attempts(graph(TREE), ["abxxbcd"], ["abcd"])
    assert dtw(made).tolist() == [4.0]
    assert dtw(made, repeats="drop").tolist() == [2.0]


def test_repeats_on_the_path_cost_nothing():
    assert ndtw(attempts(graph(TREE), ["aabbcccd"], ["abcd"]), threshold=3.0).tolist() == [1.0]


def test_warping_in_straight_lines_cuts_the_corner():
    # a and x: 4 m on foot, sqrt(8) as the crow flies.
    made = attempts(graph(TREE), ["a"], ["x"])
    assert dtw(made).tolist() == [4.0]
    assert dtw(made, distance="straight")[0] == pytest.approx(sqrt(8))


def test_sdtw_is_ndtw_where_the_agent_succeeded():
    # One short is 2 m off and succeeds: DTW 2. Two short is 4 m off and fails.
    made = attempts(graph(STREET), ["abc", "ab"], ["abcd", "abcd"])
    assert sdtw(made, radius=3.0).tolist() == [pytest.approx(exp(-2 / 12)), 0.0]


def test_cls_is_coverage_times_length_score():
    # One short: a, b, c are covered, d lies 2 m away. PC = (3 + e^(-2/3)) / 4, expected length 6 PC, walked 4.
    made = attempts(graph(STREET), ["abc"], ["abcd"])
    covered = (3 + exp(-2 / 3)) / 4
    score = 6 * covered / (6 * covered + abs(6 * covered - 4))
    assert path_coverage(made, threshold=3.0)[0] == pytest.approx(covered)
    assert length_score(made, threshold=3.0)[0] == pytest.approx(score)
    assert cls(made, threshold=3.0)[0] == pytest.approx(covered * score)


def test_a_reference_place_visited_twice_counts_twice():
    # Reference a b x b c d, walked a b c d: of six places only x is missed, by 2 m.
    made = attempts(graph(TREE), ["abcd"], ["abxbcd"])
    assert path_coverage(made, threshold=3.0)[0] == pytest.approx((5 + exp(-2 / 3)) / 6)


@pytest.mark.parametrize("metric", [partial(cls, threshold=3.0), partial(sed, radius=3.0)], ids=["CLS", "SED"])
def test_asked_to_stay_one_for_staying_and_zero_for_moving(metric):
    made = attempts(graph(STREET), ["b", "bb", "bab"], ["b"] * 3)
    assert metric(made).tolist() == [1.0, 1.0, 0.0]


def test_released_cls_is_undefined_for_who_rightly_stood_still():
    made = attempts(graph(STREET), ["b", "bab"], ["b"] * 2)
    scores = cls(made, threshold=3.0, standing_still=np.nan)
    assert np.isnan(scores[0])
    assert scores[1] == 0.0


def test_sed_edits_directed_edges():
    # ab bc cd -> ab bx xb bc cd: two insertions over max(6, 4) - 1 = 5. One short: one deletion of 3.
    # Touchdown edits nodes instead: 2 of 6 and 1 of 4.
    made = attempts(graph(TREE), ["abxbcd", "abc"], ["abcd"] * 2)
    assert sed(made, radius=3.0).tolist() == pytest.approx([1 - 2 / 5, 1 - 1 / 3])
    assert sed_nodes(made, radius=3.0).tolist() == pytest.approx([1 - 2 / 6, 1 - 1 / 4])


def test_the_same_edge_walked_backwards_is_another_edge():
    # Around the goal b: ab, ba, ab against ab: two insertions over 3.
    assert sed(attempts(graph(TREE), ["abab"], ["ab"]), radius=3.0)[0] == pytest.approx(1 / 3)


def test_a_failure_has_no_sed():
    made = attempts(graph(STREET), ["ab"], ["abcdef"])
    assert sed(made, radius=3.0).tolist() == sed_nodes(made, radius=3.0).tolist() == [0.0]


def test_a_reference_over_a_gap_scores_zero_not_nan():
    # No way leads from b to c, so the reference has no length to live up to.
    made = attempts(graph("a-b c-d"), ["ab", "a"], ["abcd", "abcd"])
    for metric in paper().metrics:
        values = metric.measure(made)
        assert not np.isnan(values).any(), metric.name
        assert metric.better != "higher" or metric.name == "PC" or (values == 0).all(), metric.name
