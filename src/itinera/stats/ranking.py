"""A ranking of systems by mean, with letters that mark systems whose difference is not significant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from itinera.errors import BadArgument
from itinera.stats._validation import Floats, Integers, Labels, as_runs, as_weights, check_level, cluster_codes
from itinera.stats.paired import paired_t_p_value
from itinera.stats.runs import difference_p_value


@dataclass(frozen=True)
class Ties:
    """The ranking of systems; arrays keep the order in which the systems were given."""

    means: Floats  # (systems,)
    order: Integers  # (systems,) indices, highest mean first
    p_values: Floats  # (systems, systems) two-sided, corrected by Holm's method; 1 on the diagonal
    groups: tuple[frozenset[str], ...]  # (systems,) the letters of each system, "a" being the group of the best


def tie_groups(
    scores: ArrayLike | Sequence[ArrayLike],
    *,
    clusters: Labels | None = None,
    weights: ArrayLike | None = None,
    extra: Sequence[Sequence[tuple[float, float]]] | None = None,
    level: float = 0.95,
) -> Ties:
    """Systems ordered by mean, with groups of those whose difference is not significant.

    `scores` has an entry per system, all on the same episodes: (episodes,), or (runs, episodes) for a system with
    several runs, whose variation then counts. `extra` has further variances of each system's mean with their degrees of
    freedom, as in `estimate_over_runs`. Each pair is compared with the paired
    cluster-robust t-test of the default interval, and the p-values are corrected together by Holm's method, so that
    the chance of calling any equal pair different is at most 1 - level. (Sign flips would not do: with 11 scenes their
    p-values stop at 0.001, and the correction would make every pair of eleven systems a tie.)

    Two systems share a letter if and only if their difference is not significant. Being a tie is not transitive, so
    groups may overlap: letters {a}, {a, b}, {b} say that the second is tied with both, while the first is ahead of the
    third. Higher scores are taken as better; for an error, give its negative.
    """
    check_level(level)
    systems = [as_runs(system, name=f"system {k}") for k, system in enumerate(_list_systems(scores))]
    episodes = {system.shape[1] for system in systems}
    if len(episodes) > 1:
        raise BadArgument(f"Systems have {sorted(episodes)} episodes. Give the scores of all on the same episodes.")
    codes = None if clusters is None else cluster_codes(clusters, size=episodes.pop())

    def p_value(i: int, j: int) -> float:
        a, b = systems[i], systems[j]
        more = () if extra is None else (*extra[i], *extra[j])
        if len(a) == len(b) == 1 and not more:
            return paired_t_p_value(a[0], b[0], clusters=codes, weights=weights)
        return difference_p_value(a, b, clusters=codes, weights=weights, extra=more)

    pairs = list(combinations(range(len(systems)), 2))
    corrected = _holm(np.array([p_value(i, j) for i, j in pairs]))
    p_values = np.ones((len(systems), len(systems)))
    for (i, j), p in zip(pairs, corrected, strict=True):
        p_values[i, j] = p_values[j, i] = p
    weight = as_weights(weights, systems[0].shape[1])
    means = np.array([np.average(system.mean(axis=0), weights=weight) for system in systems])
    order = np.argsort(-means, kind="stable")
    apart = [pair for pair, p in zip(pairs, corrected, strict=True) if p < 1 - level]
    return Ties(means, order, p_values, _letters(_maximal_ties(len(systems), apart), order))


def _list_systems(scores: ArrayLike | Sequence[ArrayLike]) -> list[Floats]:
    systems = [np.asarray(system, dtype=np.float64) for system in scores] if np.iterable(scores) else []
    if not systems or any(system.ndim == 0 for system in systems):
        raise BadArgument("Scores need one row per system and one column per episode.")
    return systems


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
