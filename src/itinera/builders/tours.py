"""Tours: the paths of a scene put in the order that leads an agent least far from one to the next.

Paths that cannot be reached from one another fall into separate tours. A tour asks one instruction of each path; as
many tours share an order as every path has instructions, so that none is asked twice.
Reference: Krantz et al. 2022, Iterative Vision-and-Language Navigation, section 3 and appendix B.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault
from itinera.planners.tsp.ordering import Ordering, best_order
from itinera.seeding import generator
from itinera.tasks import Episode, Split
from itinera.worlds import Array, Places, World


@dataclass(frozen=True)
class Touring:
    """How tours are made."""

    # From the end of one path to the start of the next, or, where goals are hidden, from start to start.
    order: Literal["end-to-start", "start-to-start"] = "end-to-start"
    tours: int | None = None  # per set of paths; None: as many as the fewest instructions any of its paths has
    single: bool = False  # keep sets of one path, as tours of one episode
    seed: int = 0  # which instruction of a path is asked in which tour

    def __post_init__(self) -> None:
        if self.tours is not None and self.tours < 1:
            raise BadArgument(f"{self.tours} tours are none. Give at least 1, or leave it out.")


@dataclass(frozen=True)
class OrderedPaths:
    """Paths of one scene that can all be reached from one another, in the order found for them."""

    world_id: str
    path_ids: tuple[str, ...]  # in order
    tours: tuple[tuple[str, ...], ...]  # the episodes of each tour, in order
    found: Ordering  # cost and bound, metres


Solver = Callable[[Array], Ordering]


def tour_scene(
    split: Split,
    world_id: str,
    worlds: Mapping[str, World],
    touring: Touring | None = None,
    solver: Solver = best_order,
) -> tuple[OrderedPaths, ...]:
    """The tours of one scene, a group for each set of paths that can be reached from one another."""
    touring = touring or Touring()
    if touring.order == "end-to-start":
        split.ask_for_goals("Without goals, order tours from start to start (--order start-to-start).")
    if world_id not in worlds:
        raise BadFile(split.name, [Fault("", f"world {world_id} is not among the worlds given.", "Check --worlds.")])
    paths: dict[str, list[Episode]] = {}
    for i in split.rows_by_world[world_id]:
        episode = split.episodes[i]
        paths.setdefault(episode.path_id or episode.id, []).append(episode)
    costs = _costs([group[0] for group in paths.values()], worlds[world_id], touring.order)
    made = []
    for members in _reachable_sets(costs):
        if len(members) > 1 or touring.single:
            found = solver(costs[np.ix_(members, members)])
            ids = [list(paths)[members[i]] for i in found.order]
            made.append(OrderedPaths(world_id, tuple(ids), _asked(world_id, ids, paths, touring), found))
    return tuple(made)


def _costs(episodes: Sequence[Episode], world: World, order: Literal["end-to-start", "start-to-start"]) -> Array:
    """(paths, paths) metres an agent is led from each path to each."""
    starts = [episode.start.place for episode in episodes]
    before = starts if order == "start-to-start" else [episode.reference[-1] for episode in episodes]
    return world.space.between(_together(before), _together(starts))


def _together(places: Sequence[object]) -> Places:
    if all(isinstance(place, str) for place in places):
        return cast(Places, places)
    return np.array(places, dtype=np.float64)


def _reachable_sets(costs: Array) -> list[NDArray[np.int64]]:
    """Sets of paths, each in file order, within which every path can follow every other."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    count, labels = connected_components(csr_array(np.isfinite(costs)), directed=True, connection="strong")
    sets = [np.flatnonzero(labels == label) for label in range(count)]
    return sorted(sets, key=lambda members: int(members[0]))


def _asked(
    world_id: str, ids: Sequence[str], paths: Mapping[str, Sequence[Episode]], touring: Touring
) -> tuple[tuple[str, ...], ...]:
    """The episode of each path that each tour asks; no episode is asked twice."""
    fewest = min(len(paths[path_id]) for path_id in ids)
    count = fewest if touring.tours is None else min(touring.tours, fewest)
    drawn = []
    for path_id in ids:
        rng = generator(touring.seed, "tours", world_id, path_id)
        chosen = rng.permutation(len(paths[path_id]))[:count]
        drawn.append([paths[path_id][i].id for i in chosen])
    return tuple(zip(*drawn, strict=True))
