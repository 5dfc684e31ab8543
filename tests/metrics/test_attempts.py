"""What every metric shares: distances, lengths and goals of many attempts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.metrics import attempts as module
from itinera.metrics.suites import paper
from itinera.worlds import Euclidean
from text_worlds import SCENES, STREET, attempts, graph, graph_scenes, quick

CORNER = """
    a-b-c
        |
        d
"""


def test_distance_to_goal_is_to_the_nearest_of_several():
    # From a, b, c the goals a and d are 0 and 6, 2 and 4, 4 and 2 m away; the second attempt has one goal.
    made = attempts(graph(CORNER), ["abc", "ab"], ["abcd", "abcd"], goals=["ad", "d"])
    assert [made.goal_distances[k].tolist() for k in range(2)] == [[0.0, 2.0, 2.0], [6.0, 4.0]]
    assert made.shortest.tolist() == [0.0, 6.0]


def test_lengths_add_the_steps_walked():
    made = attempts(graph(STREET), ["abbc", "a", "cba"], ["abc", "abcd", "c"])
    assert [made.steps[k].tolist() for k in range(3)] == [[2.0, 0.0, 2.0], [], [2.0, 2.0]]
    assert made.lengths.tolist() == [4.0, 0.0, 4.0]
    assert made.reference_lengths.tolist() == [4.0, 6.0, 0.0]


def test_a_step_along_no_edge_is_a_jump_and_so_is_staying():
    assert attempts(graph(STREET), ["abc", "abb", "ac", "a"], ["a"] * 4).leaves_edges.tolist() == [
        False,
        True,
        True,
        False,
    ]


def test_there_are_no_jumps_in_open_space():
    assert not attempts(Euclidean(), [[(0, 0, 0), (9, 0, 0)]], [[(0, 0, 0)]]).leaves_edges.any()


def test_straight_measures_between_positions_not_along_edges():
    # a and d stand 4 m and 2 m apart along the axes: 6 m on foot, sqrt(20) in a straight line.
    made = attempts(graph(CORNER), ["ad"], ["ad"])
    assert made.lengths.tolist() == [6.0]
    assert made.straight.lengths[0] == pytest.approx(np.sqrt(20))


def test_without_repeats_leaves_out_only_those_in_a_row():
    made = attempts(graph(STREET), ["aabba", "b"], ["abc", "b"]).without_repeats
    assert [made.path[k].tolist() for k in range(2)] == [[0, 1, 0], [1]]


@pytest.mark.parametrize("kind", SCENES)
@quick
@given(data=st.data())
def test_names_are_equal_exactly_where_places_are(kind, data):
    scene = data.draw(SCENES[kind])
    made = scene.attempts
    walked, reference = made.place_indices
    for k in range(len(made)):
        for i, p in enumerate(scene.walks[k]):
            for j, r in enumerate(scene.references[k]):
                assert (walked[k][i] == reference[k][j]) == (p == r)


@quick
@given(graph_scenes(), st.randoms(use_true_random=False))
def test_attempts_taken_in_another_order_keep_their_numbers(scene, random):
    order = list(range(len(scene.walks)))
    random.shuffle(order)
    made = scene.attempts
    for metric in paper().metrics:
        np.testing.assert_array_equal(metric.measure(made.take(np.array(order))), metric.measure(made)[order])


def test_chunks_are_cut_only_where_allowed(monkeypatch):
    from itinera.metrics.matching import match
    from text_worlds import predictions, split, world

    walks = dict.fromkeys("12345", "abc")
    (group,) = match(predictions(walks), split(walks), {"house": world(STREET)})
    monkeypatch.setattr(module, "MAX_CHUNK", 10)  # each attempt holds 3 x 3 distances, so every break is taken
    breaks = np.array([True, False, True, False, True])
    cut = [(members.tolist(), len(made)) for members, made in group.chunks(np.arange(5), breaks)]
    assert cut == [([0, 1], 2), ([2, 3], 2), ([4], 1)]
