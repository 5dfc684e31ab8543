"""Student's t against scipy's."""

from __future__ import annotations

import math

import pytest
from scipy.special import ndtri, stdtr, stdtrit

from itinera.stats._t_distribution import quantile, upper_tail

DEGREES = [0.05, 0.1, 0.7, 1, 1.99, 2.01, 2.5, 5, 10, 33.3, 60, 199, 500, 1e3, 9999, 1e4, 1e6, 1e8, 1e10, 1e12]


@pytest.mark.parametrize("df", DEGREES)
def test_tails_and_quantiles_are_scipys(df):
    for level in (0.5, 0.6, 0.9, 0.95, 0.975, 0.995, 0.9999):
        assert quantile(level, df) == pytest.approx(float(stdtrit(df, level)), rel=1e-9, abs=1e-12)
    for t in (0.0, 1e-3, 0.1, 1.0, 2.0, 5.0, 30.0):
        assert upper_tail(t, df) == pytest.approx(float(stdtr(df, -t)), rel=1e-9, abs=1e-200)


def test_infinite_degrees_of_freedom_are_the_normal_distribution():
    assert quantile(0.975, math.inf) == pytest.approx(float(ndtri(0.975)), rel=1e-12)
    assert upper_tail(1.96, math.inf) == pytest.approx(float(stdtr(math.inf, -1.96)), rel=1e-9)


def test_a_quantile_undoes_the_tail():
    assert upper_tail(quantile(0.95, 7.3), 7.3) == pytest.approx(0.05, rel=1e-10)
