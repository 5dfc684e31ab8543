"""Slow, readable twins of the metrics: plain Python, one attempt at a time, over any `distance(a, b)` in metres.

Tests compare the fast code with them; benchmarks report speed relative to them. Start with `metrics_by_hand`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import dist, exp, inf, sqrt
from typing import Any

Distance = Callable[[Any, Any], float]
Point = tuple[float, ...]

straight: Distance = dist  # in open space


def looked_up(distances: Mapping[Hashable, Mapping[Hashable, float]]) -> Distance:
    """The distance held in a dict of dicts; a missing pair is unreachable."""

    def distance(a: Hashable, b: Hashable) -> float:
        return distances[a].get(b, inf)

    return distance


def metrics_by_hand(
    walk: Sequence[Any], reference: Sequence[Any], goals: Sequence[Any], distance: Distance, radius: float = 3.0
) -> dict[str, float]:
    """The ten metrics of one attempt by the formulas of their papers, edge cases by the rules of the suite `paper`."""
    return {
        "PL": path_length(walk, distance),
        "NE": to_nearest(walk[-1], goals, distance),
        "ONE": oracle_error(walk, goals, distance),
        "SR": success(walk, goals, distance, radius),
        "OSR": 1.0 if oracle_error(walk, goals, distance) <= radius else 0.0,
        "SPL": success(walk, goals, distance, radius) and spl_share(walk, goals, distance),
        "SED": success(walk, goals, distance, radius) * edit_share(walk, reference, path_length(walk, distance)),
        "nDTW": ndtw(walk, reference, distance, radius),
        "SDTW": success(walk, goals, distance, radius) * ndtw(walk, reference, distance, radius),
        "CLS": cls(walk, reference, distance, radius),
    }


def to_nearest(place: Any, goals: Sequence[Any], distance: Distance) -> float:
    """Metres to the nearest goal."""
    return min(distance(place, goal) for goal in goals)


def oracle_error(walk: Sequence[Any], goals: Sequence[Any], distance: Distance) -> float:
    """Least distance to the goal along the path, metres."""
    return min(to_nearest(place, goals, distance) for place in walk)


def success(walk: Sequence[Any], goals: Sequence[Any], distance: Distance, radius: float) -> float:
    """1 if the path ends within the radius."""
    return 1.0 if to_nearest(walk[-1], goals, distance) <= radius else 0.0


def spl_share(walk: Sequence[Any], goals: Sequence[Any], distance: Distance) -> float:
    """Shortest path over path length; standing still on the goal counts as the shortest path."""
    shortest, length = to_nearest(walk[0], goals, distance), path_length(walk, distance)
    if shortest == 0 and length == 0:
        return 1.0
    return shortest / max(length, shortest)


def distance_matrix(walk: Sequence[Any], reference: Sequence[Any], distance: Distance) -> list[list[float]]:
    """Metres from each walked place to each reference place."""
    return [[distance(p, r) for r in reference] for p in walk]


def ndtw(walk: Sequence[Any], reference: Sequence[Any], distance: Distance, radius: float) -> float:
    """exp(-DTW / (radius x reference places))."""
    return exp(-dtw(distance_matrix(walk, reference, distance)) / (radius * len(reference)))


def cls(walk: Sequence[Any], reference: Sequence[Any], distance: Distance, radius: float) -> float:
    """Coverage times length score."""
    gaps = distance_matrix(walk, reference, distance)
    lengths = path_length(walk, distance), path_length(reference, distance)
    return coverage(gaps, radius) * length_score(gaps, *lengths, radius)


def path_length(places: Sequence[Any], distance: Distance) -> float:
    """Metres from place to place."""
    return sum(distance(a, b) for a, b in itertools.pairwise(places))


def coverage(gaps: list[list[float]], radius: float) -> float:
    """Mean over reference places of exp(-distance to the nearest walked place / radius)."""
    nearest = [min(column) for column in zip(*gaps, strict=True)]
    return sum(exp(-gap / radius) for gap in nearest) / len(nearest)


def length_score(gaps: list[list[float]], length: float, reference_length: float, radius: float) -> float:
    """How close the path length is to the length expected from its coverage."""
    if reference_length == 0:
        return 1.0 if length == 0 else 0.0
    if reference_length == inf:
        return 0.0
    expected = coverage(gaps, radius) * reference_length
    return expected / (expected + abs(expected - length)) if expected else 0.0


def edit_share(walk: Sequence[Any], reference: Sequence[Any], length: float) -> float:
    """1 minus the share of directed edges that must be edited to turn one path into the other."""
    if len(reference) == 1:
        return 1.0 if length == 0 else 0.0
    return 1.0 - levenshtein(directed_edges(walk), directed_edges(reference)) / (max(len(walk), len(reference)) - 1)


def directed_edges(places: Sequence[Any]) -> list[tuple[Any, Any]]:
    return list(itertools.pairwise(places))


def dtw(gaps: list[list[float]]) -> float:
    """The least sum of gaps over alignments that start at both starts, end at both ends and never go back."""
    rows, cols = len(gaps), len(gaps[0])
    table = [[inf] * (cols + 1) for _ in range(rows + 1)]
    table[0][0] = 0.0
    for i in range(1, rows + 1):
        for j in range(1, cols + 1):
            table[i][j] = gaps[i - 1][j - 1] + min(table[i - 1][j], table[i][j - 1], table[i - 1][j - 1])
    return table[rows][cols]


def pinned(gaps: list[list[float]], first: bool, last: bool) -> list[list[float]]:
    """The gaps where the first (last) reference place may meet only the first (last) walked one."""
    rows, cols = len(gaps), len(gaps[0])

    def allowed(i: int, j: int) -> bool:
        return not ((first and j == 0 and i > 0) or (last and j == cols - 1 and i < rows - 1))

    return [[gaps[i][j] if allowed(i, j) else inf for j in range(cols)] for i in range(rows)]


def tour_gaps(walks: Sequence[Sequence[Any]], references: Sequence[Sequence[Any]], distance: Distance) -> Any:
    """The full matrix over all walks and all references of a tour, inf where episodes differ."""
    walked = [(k, place) for k, walk in enumerate(walks) for place in walk]
    asked = [(k, place) for k, reference in enumerate(references) for place in reference]
    return [[distance(p, r) if k == l else inf for l, r in asked] for k, p in walked]  # noqa: E741


def tour_window(walks: Sequence[Sequence[Any]], references: Sequence[Sequence[Any]], distance: Distance) -> Any:
    """The full matrix of the released window: only places at which an episode ends or starts are restricted."""
    gaps = [[distance(p, r) for reference in references for r in reference] for walk in walks for p in walk]
    row, col = 0, 0
    for k, (walk, reference) in enumerate(zip(walks, references, strict=True)):
        starts, ends = k > 0, k < len(walks) - 1
        for i in range(len(gaps)):
            if starts and i != row:
                gaps[i][col] = inf
            if ends and i != row + len(walk) - 1:
                gaps[i][col + len(reference) - 1] = inf
        row, col = row + len(walk), col + len(reference)
    return gaps


def tour_ndtw(
    walks: Sequence[Sequence[Any]], references: Sequence[Sequence[Any]], distance: Distance, radius: float = 3.0
) -> float:
    """t-nDTW of one tour as the paper writes it: DTW over the full matrix."""
    cost = dtw(tour_gaps(walks, references, distance))
    return exp(-cost / (radius * sum(len(reference) for reference in references)))


def levenshtein(a: Sequence[Any], b: Sequence[Any]) -> int:
    """The fewest insertions, deletions and substitutions that turn a into b."""
    line = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        above, line = line, [i]
        for j, y in enumerate(b, start=1):
            line.append(min(above[j] + 1, line[j - 1] + 1, above[j - 1] + (x != y)))
    return line[-1]


def fastdtw(x: Sequence[Point], y: Sequence[Point], radius: int = 1) -> float:
    """The warping cost of two lines of points, straight-line gaps, refined from coarse to fine."""
    return _refined(list(x), list(y), radius)[0]


def _refined(x: list[Point], y: list[Point], radius: int) -> tuple[float, list[tuple[int, int]]]:
    if len(x) < radius + 2 or len(y) < radius + 2:
        return _within(x, y, [(i, j) for i in range(len(x)) for j in range(len(y))])
    _, coarse = _refined(_halved(x), _halved(y), radius)
    return _within(x, y, _window(coarse, len(x), len(y), radius))


def _halved(points: list[Point]) -> list[Point]:
    """Neighbours averaged in pairs; an odd one at the end is left out."""
    pairs = zip(points[::2], points[1::2], strict=False)
    return [tuple((a + b) / 2 for a, b in zip(p, q, strict=True)) for p, q in pairs]


def _window(coarse: list[tuple[int, int]], rows: int, cols: int, radius: int) -> list[tuple[int, int]]:
    """The finer cells under the coarse alignment widened by the radius, each row one run that never begins before
    the run above it."""
    reach = range(-radius, radius + 1)
    wide = {(i + di, j + dj) for i, j in coarse for di in reach for dj in reach}
    fine = {(2 * i + di, 2 * j + dj) for i, j in wide for di in (0, 1) for dj in (0, 1)}
    cells, begin = [], 0
    for i in range(rows):
        run: list[int] = []
        for j in range(begin, cols):
            if (i, j) in fine:
                run.append(j)
            elif run:
                break
        begin = run[0]
        cells += [(i, j) for j in run]
    return cells


def _within(x: list[Point], y: list[Point], cells: list[tuple[int, int]]) -> tuple[float, list[tuple[int, int]]]:
    """The best alignment inside the cells (given row by row), with its cost; ties prefer moving in x, then in y."""
    cost = {(-1, -1): 0.0}
    before = {}
    for i, j in cells:
        gap = sqrt(sum((a - b) ** 2 for a, b in zip(x[i], y[j], strict=True)))
        ways = [(cost.get(cell, inf) + gap, cell) for cell in ((i - 1, j), (i, j - 1), (i - 1, j - 1))]
        cost[i, j], before[i, j] = min(ways, key=lambda way: way[0])
    path = [(len(x) - 1, len(y) - 1)]
    while path[-1] != (0, 0):
        path.append(before[path[-1]])
    return cost[path[0]], path[::-1]
