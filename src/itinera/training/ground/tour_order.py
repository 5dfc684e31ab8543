"""Tours to train on, where a split has none: paths one after another, always to the nearest start by straight lines.

`itinera build tours` orders paths by exact distances and proves the order best, which takes minutes for a whole season.
Training needs tours that resemble those, no more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from itinera.seeding import generator
from itinera.tasks import Episode, Split, Tour
from itinera.worlds import Array

STOREY_WEIGHT = 4.0  # metres of detour for a metre of height: stairs lead there


def order_tours(split: Split, *, seed: int = 0) -> Split:
    """The split with tours of every house, as many as its paths have instructions; in the order of one house alike."""
    tours: list[Tour] = []
    for world_id, rows in split.rows_by_world.items():
        paths: dict[str, list[Episode]] = {}
        for row in rows.tolist():
            episode = split.episodes[row]
            paths.setdefault(episode.path_id or episode.id, []).append(episode)
        order = order_paths([group[0] for group in paths.values()])
        chosen = [list(paths)[k] for k in order]
        count = min(len(paths[name]) for name in chosen)
        drawn = [generator(seed, "tours", world_id, name).permutation(len(paths[name]))[:count] for name in chosen]
        for k in range(count):
            ids = tuple(paths[name][int(draw[k])].id for name, draw in zip(chosen, drawn, strict=True))
            tours.append(Tour(f"{world_id}-{k}", world_id, ids))
    return split.with_tours(tuple(tours))


def order_paths(episodes: Sequence[Episode]) -> list[int]:
    """An order of paths in which each starts near the end of the one before; the first comes first."""
    starts = _weighted([episode.start.place for episode in episodes])
    ends = _weighted([episode.goals[0] for episode in episodes])
    left, order = set(range(1, len(episodes))), [0]
    while left:
        candidates = sorted(left)
        far = np.linalg.norm(starts[candidates] - ends[order[-1]], axis=1)
        order.append(candidates[int(far.argmin())])
        left.remove(order[-1])
    return order


def _weighted(places: Sequence[object]) -> Array:
    return np.array(places, dtype=np.float64) * [1.0, 1.0, STOREY_WEIGHT]
