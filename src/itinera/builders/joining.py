"""Joined paths: R4R (two paths), R6R (three) and R8R (four), made of the paths of any split.

Two paths join if the shortest path from the end of one to the start of the other is short; the joined path is both,
with that connection, and its instructions are theirs, concatenated, in every combination.
Reference: Jain et al. 2019, Stay on the Path; Zhu et al. 2020, BabyWalk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import cast

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault
from itinera.seeding import generator
from itinera.tasks import Episode, Split
from itinera.worlds import Array, NavGraph, World

MAX_RANKED = 2**53  # joined paths of a scene that have ranks; nobody can write as many


@dataclass(frozen=True)
class JoinConfig:
    """Which paths join, and how many joined paths are made."""

    parts: int = 2  # paths per joined path
    threshold: float = 3.0  # metres from the end of a path to the start of the next, inclusive
    round_trips: bool = True  # keep joined paths that end where they start
    max_turn: float | None = None  # radians between the last step of one path and the next step; None: any
    max_paths: int | None = None  # maximum per scene, sampled; None: all
    max_instructions: int | None = None  # maximum instructions per joined path, sampled; None: every combination
    seed: int = 0

    def __post_init__(self) -> None:
        if self.parts < 2:
            raise BadArgument(f"parts must be ≥ 2 (got {self.parts}): a joined path consists of several paths.")
        if not self.threshold >= 0:
            raise BadArgument(f"threshold must be ≥ 0 metres (got {self.threshold}).")
        for name, limit in (("max_paths", self.max_paths), ("max_instructions", self.max_instructions)):
            if limit is not None and limit < 1:
                raise BadArgument(f"{name} must be ≥ 1 (got {limit}); omit it for no limit.")


@dataclass(frozen=True)
class JoinedPath:
    """Several paths as one."""

    world_id: str
    part_ids: tuple[str, ...]
    path: tuple[str, ...]
    heading: float  # of the start, radians counter-clockwise from +x
    instructions: tuple[str, ...]
    length: float  # stated lengths of the parts plus connections, metres
    shortest: tuple[str, ...]  # the shortest path from its start to its end
    shortest_length: float


def join_paths(split: Split, worlds: Mapping[str, World], config: JoinConfig | None = None) -> Iterator[JoinedPath]:
    """Every joined path of the split, scene by scene in file order, or a sample of them.

    Within a scene the first part varies slowest. Duplicates (the same nodes) are kept, as in the papers.
    """
    for world_id in split.world_ids:
        yield from join_scene_paths(split, world_id, worlds, config)


def join_scene_paths(
    split: Split, world_id: str, worlds: Mapping[str, World], config: JoinConfig | None = None
) -> Iterator[JoinedPath]:
    """The joined paths of one scene."""
    joiner = SceneJoiner(split, worlds, config or JoinConfig())
    return joiner.join(world_id, 0, joiner.count(world_id))


class SceneJoiner:
    """Joined paths of scenes by their ranks; the scene of the last call is kept."""

    def __init__(self, split: Split, worlds: Mapping[str, World], config: JoinConfig) -> None:
        self._split, self._worlds, self._config = split, worlds, config
        self._scene: _Scene | None = None

    def count(self, world_id: str) -> int:
        """The number of joined paths of a scene."""
        return self._load(world_id).count

    def join(self, world_id: str, start: int, stop: int) -> Iterator[JoinedPath]:
        """The joined paths of a scene from one rank to before another."""
        scene = self._load(world_id)
        for parts in scene.iterate(start, stop):
            yield scene.join(parts)

    def _load(self, world_id: str) -> _Scene:
        if self._scene is None or self._scene.world_id != world_id:
            self._scene = _Scene(self._split, world_id, self._worlds, self._config)
        return self._scene


def preview_scene_paths(
    split: Split, world_id: str, worlds: Mapping[str, World], config: JoinConfig, *, examples: int
) -> tuple[float, list[JoinedPath]]:
    """The number of joined paths of one scene, and some of them at equal distances, to estimate their size."""
    scene = _Scene(split, world_id, worlds, config)
    total = scene.total
    count = total if config.max_paths is None else min(total, config.max_paths)
    if not 0 < total <= MAX_RANKED:
        return count, []
    ranks = np.unique(np.linspace(0, int(total) - 1, examples).astype(np.int64))
    return count, [scene.join(scene.path_at_rank(int(rank))) for rank in ranks]


class _Scene:
    """The paths of one scene, and which of them join."""

    def __init__(self, split: Split, world_id: str, worlds: Mapping[str, World], config: JoinConfig) -> None:
        split.require_goals("Paths are joined from end to start: use a split with goals.")
        self.config, self.world_id = config, world_id
        self.graph = _graph(split, world_id, worlds)
        episodes = [split.episodes[i] for i in split.rows_by_world[world_id]]
        self.groups = _group_paths(split.name, world_id, episodes, self.graph)
        starts, ends = ([group.path[k] for group in self.groups] for k in (0, -1))
        self.starts, self.ends = self.graph.locate(starts), self.graph.locate(ends)
        between = self.graph.between(ends, starts)
        self.joins = between <= config.threshold
        if config.max_turn is not None:
            self.joins &= self._turns() <= config.max_turn
        # Plain lists from here on: they are read once for every joined path.
        self.gaps = between.tolist()
        self.across = self.graph.between(starts, ends).tolist()
        self.next = [np.flatnonzero(row).tolist() for row in self.joins]
        self.connections: dict[tuple[str, str], tuple[str, ...]] = {}

    @property
    def total(self) -> float:
        """The number of joined paths without a limit; exact up to 2^53."""
        onward = np.linalg.matrix_power(self.joins.astype(np.float64), self.config.parts - 1)
        if not self.config.round_trips:
            onward = onward * (self.starts[:, None] != self.ends)
        return float(onward.sum())

    @cached_property
    def count(self) -> int:
        """The number of joined paths, at most the limit."""
        limit, every = self.config.max_paths, sum(self._counts)
        return every if limit is None else min(limit, every)

    def iterate(self, start: int, stop: int) -> Iterator[list[int]]:
        """The parts of joined paths in order, from one to before another; of a sample if there are too many."""
        if self.count < sum(self._counts):
            for rank in self._sample[start:stop]:
                yield self.path_at_rank(int(rank))
            return
        bounds = np.cumsum(self._counts)
        first = int(np.searchsorted(bounds, start, side="right"))
        skipped = start - int(bounds[first - 1]) if first else start
        found = (
            parts
            for k in range(first, len(self.groups))
            for parts in self._extend([k], self._continuations(k)[:-1], skipped if k == first else 0)
        )
        yield from islice(found, stop - start)

    @cached_property
    def _sample(self) -> NDArray[np.int64]:
        rng = generator(self.config.seed, "journeys", self.world_id)
        return np.sort(rng.choice(sum(self._counts), size=self.count, replace=False, shuffle=False))

    @cached_property
    def _counts(self) -> list[int]:
        """(paths,) the number of joined paths that begin with each path."""
        return [int(self._continuations(first)[-1][first]) for first in range(len(self.groups))]

    def _continuations(self, first: int) -> list[NDArray[np.int64]]:
        """For 0, 1, … more joins, (paths,) the number of valid continuations from each path."""
        last = np.ones(len(self.groups), dtype=np.int64)
        if not self.config.round_trips:
            last[self.ends == self.starts[first]] = 0
        counts = [last]
        for _ in range(self.config.parts - 1):
            counts.append(self.joins @ counts[-1])
        return counts

    def _extend(self, prefix: list[int], onward: Sequence[NDArray[np.int64]], skip: int) -> Iterator[list[int]]:
        """Every joined path with this prefix, without the first ones."""
        if not onward:
            yield prefix
            return
        for step in self.next[prefix[-1]]:
            count = int(onward[-1][step])
            if skip >= count:
                skip -= count
                continue
            yield from self._extend([*prefix, step], onward[:-1], skip)
            skip = 0

    def path_at_rank(self, rank: int) -> list[int]:
        """The joined path of this rank. Ranks count in order, so each branch takes its share."""
        bounds = np.cumsum(self._counts)
        first = int(np.searchsorted(bounds, rank, side="right"))
        rank -= int(bounds[first] - self._counts[first])
        found = [first]
        for counts in reversed(self._continuations(first)[:-1]):
            options = self.next[found[-1]]
            bounds = np.cumsum(counts[options])
            branch = int(np.searchsorted(bounds, rank, side="right"))
            rank -= int(bounds[branch - 1]) if branch else 0
            found.append(options[branch])
        return found

    def join(self, parts: Sequence[int]) -> JoinedPath:
        groups = [self.groups[i] for i in parts]
        path, length = groups[0].path, groups[0].length
        for before, after, group in zip(parts, parts[1:], groups[1:], strict=False):
            path = path[:-1] + self._connect(path[-1], group.path[0]) + group.path[1:]
            length += group.length + self.gaps[before][after]
        return JoinedPath(
            world_id=self.world_id,
            part_ids=tuple([group.path_id for group in groups]),
            path=path,
            heading=groups[0].heading,
            instructions=self._combine_texts(groups),
            length=length,
            shortest=self._connect(path[0], path[-1]),
            shortest_length=self.across[parts[0]][parts[-1]],
        )

    def _connect(self, start: str, end: str) -> tuple[str, ...]:
        ends = start, end
        if ends not in self.connections:
            self.connections[ends] = self.graph.route(start, end)
        return self.connections[ends]

    def _combine_texts(self, groups: Sequence[_PathGroup]) -> tuple[str, ...]:
        texts: list[str] = [""]
        for group in groups:
            texts = [
                prefix + text for prefix in texts for text in (group.texts if group is groups[-1] else group.spaced)
            ]
        limit = self.config.max_instructions
        if limit is None or len(texts) <= limit:
            return tuple(texts)
        rng = generator(self.config.seed, "texts", self.world_id, *(group.path_id for group in groups))
        return tuple(texts[i] for i in np.sort(rng.choice(len(texts), size=limit, replace=False)))

    def _turns(self) -> Array:
        """(paths, paths) the angle between the last step of one path and the first step towards the other."""
        turns = np.zeros((len(self.groups), len(self.groups)))
        for i, j in np.argwhere(self.joins):
            path = self.graph.route(self.graph.nodes[self.ends[i]], self.graph.nodes[self.starts[j]])
            onward = (*path, *self.groups[j].path[1:])
            before = self.groups[i].path[-2:]
            if len(onward) > 1 and len(before) > 1:
                change = self.graph.heading(onward[0], onward[1]) - self.graph.heading(before[0], before[1])
                turns[i, j] = abs((change + np.pi) % (2 * np.pi) - np.pi)
        return turns


@dataclass(frozen=True)
class _PathGroup:
    """A path and its instructions."""

    path_id: str
    path: tuple[str, ...]
    heading: float
    texts: tuple[str, ...]
    length: float

    @cached_property
    def spaced(self) -> tuple[str, ...]:
        """The instructions with a separating space. R2R's own end in one."""
        return tuple(text if text[-1:].isspace() else f"{text} " for text in self.texts)


def _graph(split: Split, world_id: str, worlds: Mapping[str, World]) -> NavGraph:
    if world_id not in worlds:
        problem = f"world {world_id} is not among the worlds given."
        raise BadFile(split.name, [Fault("", problem, "Check worlds (--worlds).")])
    graph = worlds[world_id].space
    if not isinstance(graph, NavGraph):
        raise BadArgument("Paths are joined on navigation graphs; these tasks are continuous.")
    return graph


def _group_paths(source: str, world_id: str, episodes: Sequence[Episode], graph: NavGraph) -> list[_PathGroup]:
    """The paths of a scene in file order, each with all its instructions."""
    by_path: dict[str, list[Episode]] = {}
    for episode in episodes:
        by_path.setdefault(episode.path_id or episode.id, []).append(episode)
    faults, groups = [], []
    for path_id, group in by_path.items():
        path = tuple(cast(Sequence[str], group[0].reference))
        problem = _find_problem(path, graph)
        if problem:
            faults.append(Fault(f'path "{path_id}"', f"{problem} (world {world_id}).", "Joining needs complete paths."))
            continue
        stated = group[0].stated_distance
        length = float(graph.along(path).sum()) if stated is None else stated
        groups.append(
            _PathGroup(path_id, path, group[0].start.heading, tuple(e.instruction.text for e in group), length)
        )
    if faults:
        raise BadFile(source, faults)
    return groups


def _find_problem(path: tuple[str, ...], graph: NavGraph) -> str:
    unknown = next((node for node in path if node not in graph.index), None)
    if unknown is not None:
        return f"node {unknown} is not in the graph"
    at = graph.locate(path)
    broken = np.flatnonzero(~graph.are_adjacent(at[:-1], at[1:]))
    if len(broken):
        return f"no edge joins {path[broken[0]]} and {path[broken[0] + 1]}"
    return ""
