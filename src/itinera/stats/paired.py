"""Paired comparison of two systems on the same episodes: the difference, its interval and a permutation test.

Start with `paired_difference`. Every difference here is a minus b: positive means a is higher.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from itinera.errors import BadArgument
from itinera.stats._t_distribution import upper_tail
from itinera.stats._validation import Floats, Labels, as_runs, as_values, as_weights, cluster_codes, cluster_sums
from itinera.stats.intervals import UNBOUNDED, Interval, interval
from itinera.stats.means import estimate_mean

_EXACT_UP_TO = 14  # clusters: 2**14 sign patterns are tried in a millisecond or so
_SIGNS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Difference:
    """The difference of two systems on the same episodes."""

    interval: Interval  # of the mean of a - b
    p_value: float  # two-sided
    exact: bool  # whether every sign pattern was tried, instead of a random sample of them
    episodes: int
    clusters: int  # how many could be flipped on their own; the episodes when no clusters were given
    test: Literal["sign flips", "t"] = "sign flips"  # which gave the p-value; t if a system has several runs


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    *,
    rng: np.random.Generator,
    clusters: Labels | None = None,
    weights: ArrayLike | None = None,
    permutations: int = 10_000,
    level: float = 0.95,
) -> Difference:
    """The mean of a - b over the same episodes, with an interval and a permutation test.

    The interval is the default one on the differences. The test asks how often a difference at least as large would
    come up if the two systems were interchangeable in every scene: the differences of a scene change sign together.
    Up to 14 scenes every pattern is tried and the answer is exact; beyond, `permutations` random ones are, counting the
    observed one as well. With few scenes the p-value cannot be small: the smallest is 2 / 2**scenes, which is 0.001
    at 11 scenes and 0.06 at 5, whatever the number of episodes.
    """
    differences = _differences(a, b)
    codes = np.arange(len(differences)) if clusters is None else cluster_codes(clusters, size=len(differences))
    if permutations < 1:
        raise BadArgument(f"permutations must be ≥ 1 (got {permutations}); 10000 is usual.")
    totals = cluster_sums(codes, differences * as_weights(weights, len(differences)))
    p_value, exact = _sign_flip_test(totals, permutations, rng)
    estimate = interval(differences, clusters=clusters, weights=weights, bounds=UNBOUNDED, level=level)
    return Difference(estimate, p_value, exact, len(differences), len(totals))


def probability_of_improvement(
    a: ArrayLike,
    b: ArrayLike,
    *,
    clusters: Labels | None = None,
    weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Interval:
    """How often a beats b on the same episode, ties counting half, with the default interval.

    It compares episode by episode, P(a > b) + P(a = b) / 2, and not every episode of one system with every episode of
    the other. 0.5 means neither is ahead. Systems may have several runs, (runs, episodes): every run of a is then
    compared with every run of b, and the interval is for these runs.
    """
    ahead = np.mean([(np.sign(_differences(x, y)) + 1) / 2 for x in as_runs(a) for y in as_runs(b)], axis=0)
    return interval(ahead, clusters=clusters, weights=weights, bounds=(0.0, 1.0), level=level)


def paired_t_p_value(
    a: ArrayLike, b: ArrayLike, *, clusters: Labels | None = None, weights: ArrayLike | None = None
) -> float:
    """The two-sided p-value of the cluster-robust t-test that belongs to the default interval.

    Unlike sign flips it has no smallest value, so it can be corrected for many comparisons. Where the differences do
    not vary between clusters, t is undefined, and the result is that of the sign flips, 2 / 2**clusters (or 1 if there
    is no difference).
    """
    differences = _differences(a, b)
    estimate = estimate_mean(differences, clusters=clusters, weights=weights)
    if estimate.mean == 0 or len(differences) == 1:
        return 1.0
    if estimate.standard_error == 0:
        return float(2.0 ** (1 - (estimate.clusters or len(differences))))
    return 2 * upper_tail(abs(estimate.mean) / estimate.standard_error, estimate.df)


def _differences(a: ArrayLike, b: ArrayLike) -> Floats:
    first, second = as_values(a, name="a"), as_values(b, name="b")
    if len(first) != len(second):
        raise BadArgument(
            f"a has {len(first)} values and b has {len(second)}. "
            "A paired comparison needs both on the same episodes, in the same order."
        )
    return first - second


def _sign_flip_test(totals: Floats, permutations: int, rng: np.random.Generator) -> tuple[float, bool]:
    """The share of sign patterns with a total as far from 0 as the observed one, and whether all were tried."""
    moving = totals[totals != 0]  # flipping a zero changes nothing
    # Totals that would be equal in exact arithmetic must count as equal.
    threshold = abs(moving.sum()) - 1e-9 * np.abs(moving).sum()
    if len(moving) <= _EXACT_UP_TO:
        # A pattern and its opposite are equally far from 0, so the last sign stays as it is.
        free = max(0, len(moving) - 1)
        signs = 1.0 - 2.0 * (np.arange(2**free)[:, None] >> np.arange(len(moving)) & 1)
        return float(np.mean(np.abs(signs @ moving) >= threshold)), True
    extreme, batch = 0, max(1, _SIGNS_AT_ONCE // len(moving))
    for done in range(0, permutations, batch):
        kept = _random_bits(min(batch, permutations - done), len(moving), rng)
        extreme += int(np.count_nonzero(np.abs(2 * (kept @ moving) - moving.sum()) >= threshold))
    return (extreme + 1) / (permutations + 1), False


def _random_bits(rows: int, columns: int, rng: np.random.Generator) -> Floats:
    """Zeros and ones, (rows, columns), eight from each random byte."""
    drawn = np.frombuffer(rng.bytes(-(-rows * columns // 8)), dtype=np.uint8)
    return np.unpackbits(drawn, count=rows * columns).reshape(rows, columns).astype(np.float64)
