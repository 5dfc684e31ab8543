"""Tours (IVLN): the paths of a scene in the order that minimizes the distance between consecutive episodes.

Mutually unreachable paths go into separate tours. A tour contains one instruction of each path; as many tours share
an order as every path has instructions, so that none is used twice.
Reference: Krantz et al. 2022, Iterative Vision-and-Language Navigation, section 3 and appendix B.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault
from itinera.planners.tsp.ordering import Ordering, solve_order
from itinera.seeding import generator
from itinera.tasks import Episode, Split
from itinera.worlds import Array, Places, World


@dataclass(frozen=True)
class TourConfig:
    """Parameters of tours."""

    # From the end of one path to the start of the next, or, if goals are hidden, from start to start.
    order: Literal["end-to-start", "start-to-start"] = "end-to-start"
    tours: int | None = None  # per set of paths; None: the minimum number of instructions per path
    single: bool = False  # keep sets of one path, as tours of one episode
    seed: int = 0  # for the assignment of instructions to tours

    def __post_init__(self) -> None:
        if self.tours is not None and self.tours < 1:
            raise BadArgument(f"tours must be ≥ 1 (got {self.tours}); omit it for as many as the instructions allow.")


@dataclass(frozen=True)
class OrderedPaths:
    """Mutually reachable paths of one scene, in the best order found."""

    world_id: str
    path_ids: tuple[str, ...]  # in order
    tours: tuple[tuple[str, ...], ...]  # the episode ids of each tour, in order
    found: Ordering  # cost and bound, metres


Solver = Callable[[Array], Ordering]


def tour_scene(
    split: Split,
    world_id: str,
    worlds: Mapping[str, World],
    config: TourConfig | None = None,
    solver: Solver = solve_order,
) -> tuple[OrderedPaths, ...]:
    """The tours of one scene, one group for each set of mutually reachable paths."""
    config = config or TourConfig()
    if config.order == "end-to-start":
        split.require_goals("Without goals, use the order start-to-start (--order start-to-start).")
    if world_id not in worlds:
        problem = f"world {world_id} is not among the worlds given."
        raise BadFile(split.name, [Fault("", problem, "Check worlds (--worlds).")])
    paths: dict[str, list[Episode]] = {}
    for i in split.rows_by_world[world_id]:
        episode = split.episodes[i]
        paths.setdefault(episode.path_id or episode.id, []).append(episode)
    costs = _guidance_costs([group[0] for group in paths.values()], worlds[world_id], config.order)
    made = []
    for members in _reachable_sets(costs):
        if len(members) > 1 or config.single:
            found = solver(costs[np.ix_(members, members)])
            ids = [list(paths)[members[i]] for i in found.order]
            made.append(OrderedPaths(world_id, tuple(ids), _assign_episodes(world_id, ids, paths, config), found))
    return tuple(made)


def _guidance_costs(
    episodes: Sequence[Episode], world: World, order: Literal["end-to-start", "start-to-start"]
) -> Array:
    """(paths, paths) metres of guidance from each path to each."""
    starts = [episode.start.place for episode in episodes]
    before = starts if order == "start-to-start" else [episode.reference[-1] for episode in episodes]
    return world.space.between(_as_places(before), _as_places(starts))


def _as_places(places: Sequence[object]) -> Places:
    if all(isinstance(place, str) for place in places):
        return cast(Places, places)
    return np.array(places, dtype=np.float64)


def _reachable_sets(costs: Array) -> list[NDArray[np.int64]]:
    """Sets of paths, each in file order, in which every path can follow every other."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    count, labels = connected_components(csr_array(np.isfinite(costs)), directed=True, connection="strong")
    sets = [np.flatnonzero(labels == label) for label in range(count)]
    return sorted(sets, key=lambda members: int(members[0]))


def _assign_episodes(
    world_id: str, ids: Sequence[str], paths: Mapping[str, Sequence[Episode]], config: TourConfig
) -> tuple[tuple[str, ...], ...]:
    """The episode of each path in each tour; no episode is used twice."""
    fewest = min(len(paths[path_id]) for path_id in ids)
    count = fewest if config.tours is None else min(config.tours, fewest)
    drawn = []
    for path_id in ids:
        rng = generator(config.seed, "tours", world_id, path_id)
        chosen = rng.permutation(len(paths[path_id]))[:count]
        drawn.append([paths[path_id][i].id for i in chosen])
    return tuple(zip(*drawn, strict=True))
