"""Cheapest orders found the plain way, and cost matrices to try: what the solver is compared with."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from itinera.worlds import Array


def cost_of(costs: Array, order: tuple[int, ...]) -> float:
    return float(sum(costs[i, j] for i, j in pairwise(order)))


def least_cost(costs: Array) -> float:
    """By trying every order; inf if none is allowed."""
    return min(cost_of(costs, order) for order in permutations(range(len(costs))))


def least_cost_by_subsets(costs: Array) -> float:
    """By the cheapest way through each set of stops to each of its stops (Held and Karp)."""
    n = len(costs)
    best = np.full((1 << n, n), np.inf)
    for i in range(n):
        best[1 << i, i] = 0.0
    for visited in range(1, 1 << n):
        for j in range(n):
            if not visited >> j & 1:
                arrive = (best[visited] + costs[:, j]).min()
                best[visited | 1 << j, j] = min(best[visited | 1 << j, j], arrive)
    return float(best[-1].min())


def matrices(most: int, *, with_inf: bool = False, symmetric: bool = False) -> st.SearchStrategy[Array]:
    """Square costs with few values, so that ties, zeros and equal rows are common, or with any values at all."""
    few = st.sampled_from([0.0, 0.0, 1.0, 2.0, 7.5])
    values = st.one_of(few, st.just(np.inf)) if with_inf else few
    entries = st.sampled_from([values, st.floats(0.0, 40.0), st.floats(-3.0, 3.0)])
    sizes = st.integers(2, most)
    drawn = st.tuples(sizes, entries).flatmap(lambda p: arrays(np.float64, (p[0], p[0]), elements=p[1]))
    return drawn.map(lambda costs: np.minimum(costs, costs.T)) if symmetric else drawn


def journeys(rng: np.random.Generator, count: int, places: int) -> Array:
    """Costs of going from the end of one journey to the start of the next, between few places of a plane."""
    points = rng.uniform(0.0, 20.0, (places, 2))
    ends, starts = rng.integers(places, size=(2, count))
    costs: Array = np.linalg.norm(points[ends][:, None] - points[starts][None], axis=-1)
    return costs
