from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.stats import tie_groups
from itinera.stats.paired import paired_t_p_value
from itinera.stats.ranking import _holm, _letter, _letters, _maximal_ties


def noise(systems, episodes, seed=0):
    return np.random.default_rng(seed).normal(size=(systems, episodes))


def test_clearly_different_systems_have_letters_of_their_own():
    ranking = tie_groups(noise(3, 60) + np.array([[0.0], [20.0], [10.0]]), clusters=np.repeat(np.arange(12), 5))
    assert ranking.order.tolist() == [1, 2, 0]
    assert ranking.groups == ({"c"}, {"a"}, {"b"})


def test_equal_systems_share_one_letter():
    scores = np.tile(noise(1, 20), (3, 1))
    assert tie_groups(scores).groups == ({"a"}, {"a"}, {"a"})


def test_a_system_between_two_may_be_tied_with_both():
    # Three orthogonal patterns of ±1: every pair differs with standard error 0.2265 on 39 degrees of freedom.
    first, second = np.tile([1.0, -1.0], 20), np.tile([1.0, 1.0, -1.0, -1.0], 10)
    # Neighbours: t = 0.4 / 0.2265 = 1.77, p = 0.085. The outer two: t = 3.53, p = 0.001.
    scores = np.stack([first + 0.8, second + 0.4, first * second])
    ranking = tie_groups(scores)
    assert ranking.p_values[0, 2] < 0.05 < min(ranking.p_values[0, 1], ranking.p_values[1, 2])
    assert ranking.groups == ({"a"}, {"a", "b"}, {"b"})


def test_p_values_are_the_paired_ones_corrected_together():
    scores, scenes = noise(3, 30, seed=1), np.repeat(np.arange(6), 5)
    raw = {(i, j): paired_t_p_value(scores[i], scores[j], clusters=scenes) for i, j in combinations(range(3), 2)}
    found = tie_groups(scores, clusters=scenes).p_values
    smallest = min(raw, key=raw.get)
    assert found[smallest] == pytest.approx(min(1, 3 * raw[smallest]))
    assert (found == found.T).all()
    assert (np.diag(found) == 1).all()


def test_holm_worked_by_hand():
    # Sorted .01 .02 .03 .04 times 4 3 2 1: .04 .06 .06 .04, and never falling: .04 .06 .06 .06.
    assert _holm(np.array([0.04, 0.01, 0.03, 0.02])) == pytest.approx([0.06, 0.04, 0.06, 0.06])


def test_scenes_decide_and_not_episodes():
    # One difference per scene repeated over 50 episodes: sure by episode, unsure over 4 scenes.
    scenes = np.repeat(np.arange(4), 50)
    ahead = np.array([1.0, 2.0, -0.5, 0.8])[scenes]
    scores = np.stack([ahead, np.zeros(200)])
    assert tie_groups(scores).groups == ({"a"}, {"b"})
    assert tie_groups(scores, clusters=scenes).groups == ({"a"}, {"a"})


@given(data=st.data(), systems=st.integers(1, 7))
def test_systems_share_a_letter_if_and_only_if_they_are_not_apart(data, systems):
    pairs = list(combinations(range(systems), 2))
    apart = [pair for pair in pairs if data.draw(st.booleans())]
    letters = _letters(_maximal_ties(systems, apart), np.arange(systems))
    assert all(letters)
    for i, j in pairs:
        assert bool(letters[i] & letters[j]) == ((i, j) not in apart)
    # No letter says only what another one says already.
    members = {}
    for system, own in enumerate(letters):
        for letter in own:
            members.setdefault(letter, set()).add(system)
    assert not any(one < other for one in members.values() for other in members.values())


def test_letters_go_on_after_z():
    assert [_letter(index) for index in (0, 25, 26, 27, 702)] == ["a", "z", "aa", "ab", "aaa"]


def test_one_system_stands_alone():
    ranking = tie_groups([[0.1, 0.2]])
    assert ranking.groups == ({"a"},)


def test_scores_are_a_table():
    with pytest.raises(BadArgument, match="one row per system"):
        tie_groups([1.0, 2.0])


def test_undefined_scores_name_their_system():
    with pytest.raises(BadArgument, match="system 1 holds"):
        tie_groups([[1.0, 2.0], [np.nan, 1.0]])


def test_weights_change_the_order():
    scores = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert tie_groups(scores, weights=[1.0, 3.0, 1.0]).order.tolist() == [1, 0]
    assert tie_groups(scores, weights=[3.0, 1.0, 1.0]).order.tolist() == [0, 1]
