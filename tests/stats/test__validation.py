import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.stats._validation import as_values, as_weights, check_level, cluster_codes


@pytest.mark.parametrize(
    "labels",
    [
        ["oak", "elm", "oak", "ash"],
        np.array(["oak", "elm", "oak", "ash"]),
        [("oak", 1), ("elm", 1), ("oak", 1), ("oak", 2)],
        np.array([7, -3, 7, 10**12]),
        np.array([1, 3, 1, 2]),
        np.array([0.5, 1.5, 0.5, 2.5]),
    ],
    ids=["list", "strings", "tuples", "wide integers", "integers with a gap", "floats"],
)
def test_equal_labels_and_only_they_share_a_code(labels):
    assert cluster_codes(labels).tolist() == [0, 1, 0, 2]


def test_codes_are_returned_as_they_are():
    assert cluster_codes(np.array([2, 0, 1, 2])).tolist() == [2, 0, 1, 2]


def test_a_label_is_needed_for_every_value():
    with pytest.raises(BadArgument, match="2 cluster labels for 3 values"):
        cluster_codes(["a", "b"], size=3)


def test_labels_in_a_table_are_refused():
    with pytest.raises(BadArgument, match=r"shape \(2, 2\)"):
        cluster_codes(np.zeros((2, 2), dtype=int))


@pytest.mark.parametrize("undefined", [np.nan, np.inf, -np.inf])
def test_undefined_values_are_named_and_refused(undefined):
    with pytest.raises(BadArgument, match=r"SPL holds 1 values that are not finite, the first at index 1 .* drop them"):
        as_values([0.5, undefined, 0.1], name="SPL")


@pytest.mark.parametrize("values", [[], [[1.0]], 3.0], ids=["none", "table", "scalar"])
def test_values_are_one_number_per_episode(values):
    with pytest.raises(BadArgument, match="one number per episode"):
        as_values(values)


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [0.0, 0.0]], ids=["too few", "negative", "all zero"])
def test_senseless_weights_are_refused(weights):
    with pytest.raises(BadArgument, match=r"[Ww]eight"):
        as_weights(weights, 2)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, np.nan])
def test_a_level_is_a_fraction(level):
    with pytest.raises(BadArgument, match=r"For 95 % give 0\.95"):
        check_level(level)
