import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.stats import interquartile_mean, joint_success, mean_over_joint, performance_profile

scores = st.lists(st.floats(-10, 10), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([7.0], 7.0),
        ([1, 2, 9], 4.0),
        ([100, 0, 4, 6], 5.0),
        ([0, 0, 1, 2, 3, 4, 50, 99, 100], (1 + 2 + 3 + 4 + 50) / 5),
    ],
    ids=["one", "three: a quarter of three is none", "four", "nine: two off each end"],
)
def test_interquartile_mean_worked_by_hand(values, expected):
    assert interquartile_mean(values) == pytest.approx(expected)


@given(scores)
def test_interquartile_mean_lies_between_the_quartiles(values):
    ranked, cut = np.sort(values), len(values) // 4
    assert ranked[cut] - 1e-9 <= interquartile_mean(values) <= ranked[len(values) - 1 - cut] + 1e-9


def test_a_profile_counts_scores_strictly_above():
    assert performance_profile([0.2, 0.5, 0.5, 0.9], [-1, 0.2, 0.5, 0.7, 1]).tolist() == [1, 0.75, 0.25, 0.25, 0]


@given(values=scores, thresholds=scores)
def test_profiles_never_rise(values, thresholds):
    profile = performance_profile(values, np.sort(thresholds))
    assert (np.diff(profile) <= 0).all()
    assert profile.tolist() == pytest.approx([np.mean(np.array(values) > tau) for tau in np.sort(thresholds)])


def test_a_threshold_that_is_not_a_number_is_refused():
    with pytest.raises(BadArgument, match="not a number"):
        performance_profile([1.0], [np.nan])


SUCCESSES = np.array([[1, 1, 0, 1], [1, 0, 0, 1]])


def test_joint_success_is_what_everybody_solved():
    assert joint_success(SUCCESSES).tolist() == [True, False, False, True]


def test_means_over_joint_successes_look_at_nothing_else():
    spl = np.array([[0.9, 0.5, np.nan, 0.7], [0.6, 0.0, 0.0, 1.0]])
    assert mean_over_joint(spl, SUCCESSES).tolist() == pytest.approx([0.8, 0.8])


def test_an_undefined_value_in_a_joint_success_is_refused():
    with pytest.raises(BadArgument, match="system 1 holds 1 values"):
        mean_over_joint([[1.0, 1.0], [np.nan, 1.0]], [[1, 1], [1, 1]])


def test_no_joint_success_is_said_and_not_averaged():
    with pytest.raises(BadArgument, match="No episode was solved by every system"):
        mean_over_joint([[1.0, 1.0], [1.0, 1.0]], [[1, 0], [0, 1]])


@pytest.mark.parametrize("successes", [[1, 0], [[0.5, 1]], np.empty((0, 3))], ids=["flat", "not 0/1", "no systems"])
def test_successes_are_a_table_of_zeros_and_ones(successes):
    with pytest.raises(BadArgument, match="Give 0 or 1 for each system"):
        joint_success(successes)


def test_tables_of_different_shape_are_refused():
    with pytest.raises(BadArgument, match="must be the same"):
        mean_over_joint([[1.0, 1.0, 1.0]], [[1, 0]])
