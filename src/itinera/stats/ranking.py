"""A ranking of systems by mean, with letters that mark systems whose difference is not significant."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from itinera.errors import BadArgument
from itinera.stats._validation import Floats, Integers, Labels, as_values, as_weights, check_level, cluster_codes
from itinera.stats.paired import paired_t_p_value


@dataclass(frozen=True)
class Ties:
    """The ranking of systems; arrays keep the order in which the systems were given."""

    means: Floats  # (systems,)
    order: Integers  # (systems,) indices, highest mean first
    p_values: Floats  # (systems, systems) two-sided, corrected by Holm's method; 1 on the diagonal
    groups: tuple[frozenset[str], ...]  # (systems,) the letters of each system, "a" being the group of the best


def tie_groups(
    scores: ArrayLike, *, clusters: Labels | None = None, weights: ArrayLike | None = None, level: float = 0.95
) -> Ties:
    """Systems ordered by mean, with groups of those whose difference is not significant.

    `scores` is (systems, episodes), every system on the same episodes. Each pair is compared with the paired
    cluster-robust t-test of the default interval, and the p-values are corrected together by Holm's method, so that
    the chance of calling any equal pair different is at most 1 - level. (Sign flips would not do: with 11 scenes their
    p-values stop at 0.001, and the correction would make every pair of eleven systems a tie.)

    Two systems share a letter if and only if their difference is not significant. Being a tie is not transitive, so
    groups may overlap: letters {a}, {a, b}, {b} say that the second is tied with both, while the first is ahead of the
    third. Higher scores are taken as better; for an error, give its negative.
    """
    check_level(level)
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] == 0:
        raise BadArgument(f"Scores have shape {table.shape}. Give one row per system and one column per episode.")
    rows = [as_values(row, name=f"system {index}") for index, row in enumerate(table)]
    codes = None if clusters is None else cluster_codes(clusters, size=table.shape[1])
    pairs = list(combinations(range(len(rows)), 2))
    corrected = _holm(np.array([paired_t_p_value(rows[i], rows[j], clusters=codes, weights=weights) for i, j in pairs]))
    p_values = np.ones((len(rows), len(rows)))
    for (i, j), p in zip(pairs, corrected, strict=True):
        p_values[i, j] = p_values[j, i] = p
    means = np.average(table, axis=1, weights=as_weights(weights, table.shape[1]))
    order = np.argsort(-means, kind="stable")
    apart = [pair for pair, p in zip(pairs, corrected, strict=True) if p < 1 - level]
    return Ties(means, order, p_values, _letters(_maximal_ties(len(rows), apart), order))


def _holm(p_values: Floats) -> Floats:
    """The p-values after Holm's step-down correction."""
    order = np.argsort(p_values, kind="stable")
    stepped = p_values[order] * (len(p_values) - np.arange(len(p_values)))
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return corrected


def _maximal_ties(systems: int, apart: list[tuple[int, int]]) -> list[frozenset[int]]:
    """The largest sets of systems in which no pair is apart: each pair found apart splits the sets that hold both."""
    groups = {frozenset(range(systems))}
    for i, j in apart:
        split = {group - {one} for group in groups if {i, j} <= group for one in (i, j)}
        kept = {group for group in groups if not {i, j} <= group}
        groups = kept | {group for group in split if not any(group < other for other in kept | split)}
    return list(groups)


def _letters(groups: list[frozenset[int]], order: Integers) -> tuple[frozenset[str], ...]:
    rank = {int(system): place for place, system in enumerate(order)}
    ranked = sorted(groups, key=lambda group: sorted(rank[system] for system in group))
    return tuple(
        frozenset(_letter(index) for index, group in enumerate(ranked) if system in group)
        for system in range(len(order))
    )


def _letter(index: int) -> str:
    """a, b, …, z, aa, ab, … as spreadsheets name their columns."""
    name = ""
    index += 1
    while index > 0:
        index, digit = divmod(index - 1, 26)
        name = chr(ord("a") + digit) + name
    return name
