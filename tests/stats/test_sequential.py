"""Confidence sequences for a finite population: valid at every look, exact at the end."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.stats.sequential import ConfidenceSequence


def follow(values, half_width=0.05, level=0.95):
    """The intervals after each value."""
    sequence = ConfidenceSequence(len(values), half_width=half_width, level=level)
    found = []
    for value in values:
        sequence.add(value)
        found.append(sequence.interval())
    return found


def test_intervals_only_shrink_and_end_at_the_mean():
    values = np.random.default_rng(3).random(150)
    found = follow(values)
    assert all(b.low >= a.low and b.high <= a.high for a, b in pairwise(found))
    assert found[-1].low == pytest.approx(values.mean())
    assert found[-1].high == pytest.approx(values.mean())


def test_counting_alone_bounds_the_mean():
    sequence = ConfidenceSequence(10, half_width=0.1)
    for value in (1.0, 1.0, 1.0, 0.0):
        sequence.add(value)
    assert sequence.interval().low >= 0.3
    assert sequence.interval().high <= 0.9


@pytest.mark.parametrize("rate", [0.05, 0.5, 0.9])
def test_the_mean_is_seldom_missed_at_any_moment(rate):
    """Sixty orders; an interval for a fixed number of episodes, looked at after each, misses in most of them."""
    rng, values, missed, naive = np.random.default_rng(7), (np.arange(200) < rate * 200).astype(float), 0, 0
    for _ in range(60):
        order = rng.permutation(values)
        missed += any(not one.low - 1e-9 <= values.mean() <= one.high + 1e-9 for one in follow(order))
        count = np.arange(1, 201)
        means = np.cumsum(order) / count
        reach = 1.96 * np.sqrt(means * (1 - means) / count * (1 - count / 200))
        naive += bool((abs(means - values.mean()) > reach)[10:-1].any())
    assert missed <= 8  # 5 % of 60, and three standard deviations
    assert naive > 15


def test_it_stops_well_before_the_end():
    values = np.random.default_rng(5).permutation((np.arange(2000) < 1000).astype(float))
    sequence = ConfidenceSequence(2000, half_width=0.05)
    while not sequence.is_done:
        sequence.add(values[sequence.count])
    # A sample of fixed size needs 322 episodes for ± 5 points.
    assert 322 < sequence.count < 600
    assert sequence.interval().high - sequence.interval().low <= 0.1


def test_the_excluded_means_are_those_of_fortunes_computed_one_by_one():
    """A twin: for a few candidate means, the two fortunes as products of bets, and whether either was ever too much."""
    values, size, width = np.random.default_rng(11).random(40), 60, 0.1
    sequence = ConfidenceSequence(size, half_width=width)
    ever = dict.fromkeys((0.1, 0.3, 0.5, 0.7, 0.9), False)
    fortunes = {mean: [1.0, 1.0] for mean in ever}
    for t, value in enumerate(values):
        before = values[:t]
        shifted = np.concatenate([before, [0.0, 1.0]])
        bet = width * size / (size - t) / max(shifted.var(), 1e-3)
        for mean, pair in fortunes.items():
            fair = (size * mean - before.sum()) / (size - t)
            if not 0 <= fair <= 1:
                ever[mean] = True
                continue
            pair[0] *= 1 + min(bet, 0.5 / fair) * (value - fair)
            pair[1] *= 1 - min(bet, 0.5 / (1 - fair)) * (value - fair)
            ever[mean] |= max(pair) >= 2 / 0.05
        sequence.add(value)
    found = sequence.interval()
    for mean, excluded in ever.items():
        assert (not found.low - 1 / 2000 <= mean <= found.high + 1 / 2000) == excluded


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ConfidenceSequence(0, half_width=0.1), "at least one episode"),
        (lambda: ConfidenceSequence(9, half_width=0.5), "between 0 and 0.5"),
        (lambda: ConfidenceSequence(9, half_width=0.1).add(1.5), "not between 0 and 1"),
        (lambda: follow([1.0]) and ConfidenceSequence(9, half_width=0.1, level=2), "level"),
    ],
)
def test_impossible_values_are_refused(call, message):
    with pytest.raises(BadArgument, match=message):
        call()


def test_no_value_is_taken_after_the_last():
    sequence = ConfidenceSequence(1, half_width=0.1)
    sequence.add(1.0)
    with pytest.raises(BadArgument, match="All 1 values"):
        sequence.add(1.0)
