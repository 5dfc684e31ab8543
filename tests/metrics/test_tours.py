"""How well did a whole tour go?"""

from __future__ import annotations

from functools import partial
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from itinera.metrics import TourGroups
from itinera.metrics.goal import spl, success
from itinera.metrics.tours import tour_mean, tour_ndtw
from text_worlds import STREET, attempts, distance_in, graph, graph_scenes, open_scenes, quick


def one_tour(count: int, missing: tuple[int, ...] = ()) -> TourGroups:
    return TourGroups(np.zeros(count, dtype=np.int64), np.isin(np.arange(count), missing))


@pytest.mark.parametrize("scenes", [graph_scenes(), open_scenes()], ids=["graph", "open"])
@quick
@given(data=st.data())
def test_blocks_equal_the_full_matrix_of_the_tour(scenes, data):
    scene = data.draw(scenes)
    expected = twins.tour_ndtw(scene.walks, scene.references, distance_in(scene.space))
    got = tour_ndtw(scene.attempts, one_tour(len(scene.walks)), threshold=3.0)
    assert got[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("scenes", [graph_scenes(connected=True), open_scenes()], ids=["graph", "open"])
@quick
@given(data=st.data())
def test_pinned_blocks_equal_the_released_window_over_the_full_matrix(scenes, data):
    scene = data.draw(scenes)
    cost = twins.dtw(twins.tour_window(scene.walks, scene.references, distance_in(scene.space)))
    got = tour_ndtw(scene.attempts, one_tour(len(scene.walks)), threshold=3.0, pinned=True)
    if cost == np.inf:
        assert np.isnan(got[0])
    else:
        assert got[0] == pytest.approx(exp(-cost / (3.0 * sum(map(len, scene.references)))))


@quick
@given(graph_scenes(connected=True))
def test_the_released_window_never_scores_above_the_paper(scene):
    legs = one_tour(len(scene.walks))
    pinned = tour_ndtw(scene.attempts, legs, threshold=3.0, pinned=True)
    assert np.isnan(pinned[0]) or pinned[0] <= tour_ndtw(scene.attempts, legs, threshold=3.0)[0] + 1e-12


def test_costs_and_places_add_up_over_a_tour():
    # DTW 2 (one short of 4 places) and 0 (3 places); the second tour is one perfect episode.
    made = attempts(graph(STREET), ["abc", "def", "ab"], ["abcd", "def", "ab"])
    legs = TourGroups(np.array([0, 0, 1]), np.zeros(3, dtype=bool))
    assert tour_ndtw(made, legs, threshold=3.0).tolist() == pytest.approx([exp(-2 / (3 * 7)), 1.0])


def test_an_episode_never_walked_costs_the_whole_tour():
    made = attempts(graph(STREET), ["abcd", "d"], ["abcd", "def"])
    assert tour_ndtw(made, one_tour(2, missing=(1,)), threshold=3.0).tolist() == [0.0]


def test_episodes_weigh_alike_or_by_how_far_they_strayed():
    # A success over 2 m, and a failure that walked 4 m where 2 would do: weights 1 and 2.
    made = attempts(graph(STREET), ["ab", "cba"], ["ab", "cd"])
    succeeded = partial(success, radius=3.0)
    assert tour_mean(made, one_tour(2), measure=succeeded).tolist() == [0.5]
    assert tour_mean(made, one_tour(2), measure=succeeded, weight="detour").tolist() == pytest.approx([1 / 3])


def test_a_missing_episode_counts_as_a_failure():
    made = attempts(graph(STREET), ["ab", "c"], ["ab", "cd"])  # who stands at c is within 3 m of d, but never walked
    succeeded = partial(success, radius=3.0)
    assert tour_mean(made, one_tour(2), measure=succeeded).tolist() == [1.0]
    assert tour_mean(made, one_tour(2, missing=(1,)), measure=succeeded).tolist() == [0.5]


@pytest.mark.parametrize("walk", ["a", "ab"], ids=["on its goal", "off its goal"])
def test_weighing_by_detour_is_undefined_for_an_episode_that_starts_on_its_goal(walk):
    made = attempts(graph(STREET), ["ab", walk], ["ab", "a"])
    assert np.isnan(tour_mean(made, one_tour(2), measure=partial(spl, radius=3.0), weight="detour")[0])


def test_weighing_by_detour_is_undefined_where_a_jump_has_no_length():
    made = attempts(graph("a-b c-d"), ["abcb"], ["ab"])
    assert np.isnan(tour_mean(made, one_tour(1), measure=partial(success, radius=3.0), weight="detour")[0])


def test_tour_groups_know_which_episodes_open_and_close_their_tour():
    legs = TourGroups(np.array([0, 0, 0, 1, 2, 2]), np.zeros(6, dtype=bool))
    assert legs.first.tolist() == [True, False, False, True, True, False]
    assert legs.last.tolist() == [False, False, True, True, False, True]
    assert legs.sums(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).tolist() == [6.0, 4.0, 11.0]
