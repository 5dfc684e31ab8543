"""Long journeys out of short ones: paths joined end to start, as R4R (two), R6R (three) and R8R (four) are.

Two paths join if the way from the end of one to the start of the other is short; the journey is both with that way
between them, and its instructions are theirs, one after the other, in every combination.
Reference: Jain et al. 2019, Stay on the Path; Zhu et al. 2020, BabyWalk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault
from itinera.seeding import generator
from itinera.tasks import Episode, Split
from itinera.worlds import Array, NavGraph, World


@dataclass(frozen=True)
class Joining:
    """Which paths join, and how many journeys are made of them."""

    parts: int = 2  # paths in a journey
    threshold: float = 3.0  # metres from the end of a path to the start of the next, inclusive
    round_trips: bool = True  # keep journeys that end where they start
    sharpest_turn: float | None = None  # radians between leaving one path and going on; None: any
    journeys: int | None = None  # at most so many per scene, drawn at random; None: all
    texts: int | None = None  # at most so many instructions per journey, drawn at random; None: every combination
    seed: int = 0

    def __post_init__(self) -> None:
        if self.parts < 2:
            raise BadArgument(f"A journey of {self.parts} paths joins nothing. Give at least 2.")
        if not self.threshold >= 0:
            raise BadArgument(f"The threshold is {self.threshold} m. Give a distance of 0 or more.")
        for name, most in (("journeys", self.journeys), ("texts", self.texts)):
            if most is not None and most < 1:
                raise BadArgument(f"At most {most} {name} are none. Give at least 1, or leave it out for all.")


@dataclass(frozen=True)
class Journey:
    """Several paths as one."""

    world_id: str
    part_ids: tuple[str, ...]
    path: tuple[str, ...]
    heading: float  # where it starts, ours
    texts: tuple[str, ...]
    length: float  # the parts' stated lengths and the ways between them, metres
    shortest: tuple[str, ...]  # the shortest way from its start to its end
    shortest_length: float


def join(split: Split, worlds: Mapping[str, World], joining: Joining | None = None) -> Iterator[Journey]:
    """Every journey of the split, scene by scene in file order, or the sample that is asked for.

    Within a scene the first path varies slowest. Journeys over the same nodes are kept, as the papers keep them.
    """
    for world_id in split.world_ids:
        yield from join_scene(split, world_id, worlds, joining)


def join_scene(
    split: Split, world_id: str, worlds: Mapping[str, World], joining: Joining | None = None
) -> Iterator[Journey]:
    """The journeys of one scene."""
    joining = joining or Joining()
    scene = _Scene(split, world_id, worlds, joining)
    for parts in scene.chosen():
        yield scene.journey(parts)


class _Scene:
    """The paths of one scene, and which of them join."""

    def __init__(self, split: Split, world_id: str, worlds: Mapping[str, World], joining: Joining) -> None:
        split.ask_for_goals("Journeys are joined from whole paths: take a split with goals.")
        self.joining, self.world_id = joining, world_id
        self.graph = _graph(split, world_id, worlds)
        episodes = [split.episodes[i] for i in split.rows_by_world[world_id]]
        self.legs = _legs(split.name, world_id, episodes, self.graph)
        self.starts = self.graph.locate([leg.path[0] for leg in self.legs])
        self.ends = self.graph.locate([leg.path[-1] for leg in self.legs])
        between = self.graph.distances[np.ix_(self.ends, self.starts)]
        self.joins = between <= joining.threshold
        if joining.sharpest_turn is not None:
            self.joins &= self._turns() <= joining.sharpest_turn
        # Plain lists from here on: they are looked at once for every journey.
        self.gaps = between.tolist()
        self.across = self.graph.distances[np.ix_(self.starts, self.ends)].tolist()
        self.next = [np.flatnonzero(row).tolist() for row in self.joins]
        self.ways: dict[tuple[str, str], tuple[str, ...]] = {}

    def chosen(self) -> Iterator[list[int]]:
        """The paths of each journey, in order; a sample of them if so many are too many."""
        most = self.joining.journeys
        counts = [] if most is None else [int(self._onward(first)[-1][first]) for first in range(len(self.legs))]
        if most is None or sum(counts) <= most:
            for first in range(len(self.legs)):
                yield from self._all([first], self._onward(first)[:-1])
            return
        rng = generator(self.joining.seed, "journeys", self.world_id)
        bounds = np.cumsum(counts)
        for number in np.sort(rng.choice(int(bounds[-1]), size=most, replace=False, shuffle=False)):
            first = int(np.searchsorted(bounds, number, side="right"))
            yield self._ranked(first, int(number - (bounds[first] - counts[first])))

    def _onward(self, first: int) -> list[NDArray[np.int64]]:
        """For 0, 1, … more joins, (paths,) the number of ways to go on from each path so that the journey may end."""
        last = np.ones(len(self.legs), dtype=np.int64)
        if not self.joining.round_trips:
            last[self.ends == self.starts[first]] = 0
        ways = [last]
        for _ in range(self.joining.parts - 1):
            ways.append(self.joins @ ways[-1])
        return ways

    def _all(self, begun: list[int], onward: Sequence[NDArray[np.int64]]) -> Iterator[list[int]]:
        """Every journey that begins so."""
        if not onward:
            yield begun
            return
        for step in self.next[begun[-1]]:
            if onward[-1][step]:
                yield from self._all([*begun, step], onward[:-1])

    def _ranked(self, first: int, rank: int) -> list[int]:
        """The journey of this rank. Ranks count journeys in order, so each branch takes its share."""
        found = [first]
        for ways in reversed(self._onward(first)[:-1]):
            options = self.next[found[-1]]
            bounds = np.cumsum(ways[options])
            branch = int(np.searchsorted(bounds, rank, side="right"))
            rank -= int(bounds[branch - 1]) if branch else 0
            found.append(options[branch])
        return found

    def journey(self, parts: Sequence[int]) -> Journey:
        legs = [self.legs[i] for i in parts]
        path, length = legs[0].path, legs[0].length
        for before, after, leg in zip(parts, parts[1:], legs[1:], strict=False):
            path = path[:-1] + self._way(path[-1], leg.path[0]) + leg.path[1:]
            length += leg.length + self.gaps[before][after]
        return Journey(
            world_id=self.world_id,
            part_ids=tuple([leg.path_id for leg in legs]),
            path=path,
            heading=legs[0].heading,
            texts=self._texts(legs),
            length=length,
            shortest=self._way(path[0], path[-1]),
            shortest_length=self.across[parts[0]][parts[-1]],
        )

    def _way(self, start: str, end: str) -> tuple[str, ...]:
        ends = start, end
        if ends not in self.ways:
            self.ways[ends] = self.graph.route(start, end)
        return self.ways[ends]

    def _texts(self, legs: Sequence[_Leg]) -> tuple[str, ...]:
        texts: list[str] = [""]
        for leg in legs:
            texts = [begun + text for begun in texts for text in (leg.texts if leg is legs[-1] else leg.spaced)]
        most = self.joining.texts
        if most is None or len(texts) <= most:
            return tuple(texts)
        rng = generator(self.joining.seed, "texts", self.world_id, *(leg.path_id for leg in legs))
        return tuple(texts[i] for i in np.sort(rng.choice(len(texts), size=most, replace=False)))

    def _turns(self) -> Array:
        """(paths, paths) the turn between the last move of one path and the next move on the way along the other."""
        turns = np.zeros((len(self.legs), len(self.legs)))
        for i, j in np.argwhere(self.joins):
            way = self.graph.route(self.graph.nodes[self.ends[i]], self.graph.nodes[self.starts[j]])
            onward = (*way, *self.legs[j].path[1:])
            before = self.legs[i].path[-2:]
            if len(onward) > 1 and len(before) > 1:
                change = self.graph.heading(onward[0], onward[1]) - self.graph.heading(before[0], before[1])
                turns[i, j] = abs((change + np.pi) % (2 * np.pi) - np.pi)
        return turns


@dataclass(frozen=True)
class _Leg:
    path_id: str
    path: tuple[str, ...]
    heading: float
    texts: tuple[str, ...]
    length: float

    @cached_property
    def spaced(self) -> tuple[str, ...]:
        """The texts ready for another to follow. R2R's own end in a space, which then separates them."""
        return tuple(text if text[-1:].isspace() else f"{text} " for text in self.texts)


def _graph(split: Split, world_id: str, worlds: Mapping[str, World]) -> NavGraph:
    if world_id not in worlds:
        raise BadFile(split.name, [Fault("", f"world {world_id} is not among the worlds given.", "Check --worlds.")])
    graph = worlds[world_id].space
    if not isinstance(graph, NavGraph):
        raise BadArgument("Journeys are joined on navigation graphs; these tasks are on the ground.")
    return graph


def _legs(source: str, world_id: str, episodes: Sequence[Episode], graph: NavGraph) -> list[_Leg]:
    """The paths of a scene in file order, each with all its instructions."""
    by_path: dict[str, list[Episode]] = {}
    for episode in episodes:
        by_path.setdefault(episode.path_id or episode.id, []).append(episode)
    faults, legs = [], []
    for path_id, group in by_path.items():
        path = tuple(cast(Sequence[str], group[0].reference))
        problem = _problem(path, graph)
        if problem:
            faults.append(Fault(f'path "{path_id}"', f"{problem} (world {world_id}).", "Journeys need whole paths."))
            continue
        stated = group[0].stated_distance
        length = float(graph.along(path).sum()) if stated is None else stated
        legs.append(_Leg(path_id, path, group[0].start.heading, tuple(e.instruction.text for e in group), length))
    if faults:
        raise BadFile(source, faults)
    return legs


def _problem(path: tuple[str, ...], graph: NavGraph) -> str:
    strange = next((node for node in path if node not in graph.index), None)
    if strange is not None:
        return f"node {strange} is not in the graph"
    at = graph.locate(path)
    broken = np.flatnonzero(~graph.adjacency[at[:-1], at[1:]])
    if len(broken):
        return f"no edge joins {path[broken[0]]} and {path[broken[0] + 1]}"
    return ""
