"""The houses of a stage, one after the other in the same arrays, with the distances to their goals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.rendering.rasterizer import Rasterizer
from itinera.seeding import generator
from itinera.simulators.pointnav.storeys import StoreyMaps
from itinera.tasks import Episode
from itinera.worlds import Array, World
from itinera.worlds._goal_table_kernels import BEND, UNREACHED
from itinera.worlds.goal_table import GoalTable
from itinera.worlds.ground import Ground
from itinera.worlds.surface import Surface

FindTable: TypeAlias = Callable[[str, Ground, Array], GoalTable]
"""Finds the goal table of a world, by its id, ground and goals: computed, or read from a file."""


Ints: TypeAlias = NDArray[np.int32]
Longs: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.uint16]


class HouseMaps(NamedTuple):
    """The maps of all storeys of all houses, one after the other."""

    maps: NDArray[np.uint8]
    first_map: Longs  # (h,) where those of a house begin
    map_sizes: Longs  # (h,) cells of each map of a house
    columns: Longs  # (h,) of its maps
    storeys: NDArray[np.uint8]  # the storey of each cell of all grounds

    @classmethod
    def join(cls, houses: list[StoreyMaps]) -> HouseMaps:
        """The maps of these houses."""
        return cls(
            np.concatenate([house.maps.ravel() for house in houses]),
            _starts(house.maps.size for house in houses)[:-1],
            np.array([house.maps[0].size for house in houses]),
            np.array([house.maps.shape[2] for house in houses]),
            np.concatenate([house.storey for house in houses]),
        )


class HouseArrays(NamedTuple):
    """What the kernels of a stage need of all houses, in their order."""

    links: Ints
    slopes: NDArray[np.float32]
    heights: Array
    first_cell: Longs
    origins: Array
    sizes: Array
    codes: Codes
    first_code: Longs
    bends: NDArray[np.void]
    first_bend: Longs
    rising: Ints
    rising_distances: Array
    first_rising: Longs
    house: Longs
    goals: Array


class GoalArrays(NamedTuple):
    """What `choose_start` needs of one goal and its house."""

    links: Ints
    slopes: NDArray[np.float32]
    heights: Array
    codes: Codes
    bends: NDArray[np.void]
    rising: Ints
    rising_distances: Array


def reachable(table: GoalTable) -> NDArray[np.bool_]:
    """(cells,) whether any goal of a table can be reached from a cell."""
    found: NDArray[np.bool_] = (table.codes != UNREACHED).any(axis=0)
    return found


def compute_table(world_id: str, ground: Ground, goals: Array) -> GoalTable:
    """The goal table of a ground, computed: 30 to 40 ms a goal."""
    return GoalTable.compute(ground, goals)


class PointNavHouses:
    """Houses and their goals. Make one with `load`; stages and episode sources share it."""

    def __init__(
        self,
        world_ids: tuple[str, ...],
        grounds: list[Ground],
        tables: list[GoalTable],
        *,
        storeys: list[StoreyMaps] | None = None,  # for scans
        rasters: list[Rasterizer] | None = None,  # for depth images
    ) -> None:
        """Arrays by house: `first_cell`, `origins`, `sizes`; by goal: `house`, `goals` and where its rows begin."""
        if not grounds or not any(map(len, tables)):
            raise BadArgument("A stage needs at least one house with a goal.")
        self.world_ids = world_ids
        self.first_cell = _starts(map(len, grounds))
        self.links, self.slopes, self.heights = (
            np.concatenate([getattr(ground, name) for ground in grounds]) for name in ("links", "slopes", "heights")
        )
        self.origins = np.array([ground.origin for ground in grounds], dtype=np.float64)
        self.sizes = np.array([ground.size for ground in grounds])
        # Views instead of the arrays of their own: each house is in memory once.
        self.grounds = [
            replace(ground, links=self.links[own], slopes=self.slopes[own], heights=self.heights[own])
            for ground, own in zip(grounds, self._cells_by_house(), strict=True)
        ]
        counts = [len(table) for table in tables]
        self.house = np.repeat(np.arange(len(grounds)), counts)
        self.goals = np.concatenate([table.goals for table in tables])
        self.first_code = _starts(len(grounds[h]) for h in self.house)
        self.codes = np.concatenate([table.codes.ravel() for table in tables])
        self.bends = np.concatenate([table.bends for table in tables]).astype(BEND, copy=False)
        self.first_bend = _starts(n for table in tables for n in np.diff(table.bend_starts))
        self.rising = np.concatenate([table.rising for table in tables])
        self.rising_distances = np.concatenate([table.rising_distances for table in tables])
        self.first_rising = _starts(n for table in tables for n in np.diff(table.rising_starts))
        self.rasters = rasters
        self.scan_maps = None if storeys is None else HouseMaps.join(storeys)
        self.line_maps = HouseMaps.join(
            [StoreyMaps.for_lines(ground, reachable(table)) for ground, table in zip(grounds, tables, strict=True)]
        )
        self._goal_rows = {
            (world_ids[h], place.tobytes()): row
            for row, (h, place) in enumerate(zip(self.house, self.goals, strict=True))
        }

    @classmethod
    def load(
        cls,
        worlds: Mapping[str, World],
        goals: Mapping[str, Array],
        *,
        scan: bool = False,
        depth: bool = False,
        height: float = 1.5,
        find_table: FindTable = compute_table,
    ) -> PointNavHouses:
        """The houses of these goals (g, 3), by world id, with what a scan sensor or a depth sensor needs.

        `find_table` may keep tables on disk, as `formats.goal_tables.GoalTableFolder` does. `height` is the robot's.
        """
        grounds, tables, storeys, rasters = [], [], [], []
        for world_id, places in goals.items():
            world = worlds[world_id]
            if not isinstance(world.space, Surface):
                raise BadArgument(f"World {world_id} has no surface. Use a scene or a house of a Hearth season.")
            if (scan or depth) and world.mesh is None:
                raise BadArgument(f"World {world_id} has no mesh, which the sensors need. Give its scene.")
            ground = world.space.ground
            table = find_table(world_id, ground, np.asarray(places, dtype=np.float64).reshape(-1, 3))
            grounds.append(ground)
            tables.append(table)
            if scan:
                storeys.append(StoreyMaps.compute(world, ground, reachable(table), height=height))
            if depth:
                assert world.mesh is not None
                rasters.append(Rasterizer(world.mesh))
        return cls(tuple(goals), grounds, tables, storeys=storeys if scan else None, rasters=rasters if depth else None)

    def find_goal(self, world_id: str, place: Array) -> int:
        """The row of a goal; raises BadArgument for a goal that was not loaded."""
        row = self._goal_rows.get((world_id, np.asarray(place, dtype=np.float64).tobytes()))
        if row is None:
            raise BadArgument(f"Goal {np.round(place, 2).tolist()} in world {world_id} was not loaded with the houses.")
        return row

    def goal_arrays(self, goal: int) -> GoalArrays:
        """The arrays of a goal and its house, as views."""
        h = self.house[goal]
        own, bent, risen = (
            slice(first[k], first[k + 1])
            for first, k in ((self.first_cell, h), (self.first_bend, goal), (self.first_rising, goal))
        )
        code = self.codes[self.first_code[goal] : self.first_code[goal + 1]]
        field = self.bends[bent], self.rising[risen], self.rising_distances[risen]
        return GoalArrays(self.links[own], self.slopes[own], self.heights[own], code, *field)

    @property
    def arrays(self) -> HouseArrays:
        """The arrays of all houses and goals."""
        return HouseArrays(*(getattr(self, name) for name in HouseArrays._fields))

    def _cells_by_house(self) -> list[slice]:
        return [slice(a, b) for a, b in zip(self.first_cell[:-1], self.first_cell[1:], strict=True)]


def sample_goals(worlds: Mapping[str, World], count: int, seed: int) -> dict[str, Array]:
    """`count` goals anywhere on the largest island of each world, the same for the same seed."""
    found = {}
    for world_id, world in worlds.items():
        if not isinstance(world.space, Surface):
            raise BadArgument(f"World {world_id} has no surface. Use a scene or a house of a Hearth season.")
        found[world_id] = world.space.sample(generator(seed, "pointnav goals", world_id), count).round(4)
    return found


def episode_goals(episodes: Iterable[Episode]) -> dict[str, Array]:
    """The goals of these episodes by world id, each once; an episode has one goal."""
    found: dict[str, dict[bytes, Array]] = {}
    for episode in episodes:
        if len(episode.goals) != 1:
            raise BadArgument(f"Episode {episode.id} has {len(episode.goals)} goals; a stage needs episodes with one.")
        place = np.asarray(episode.goals, dtype=np.float64)[0]
        found.setdefault(episode.world_id, {})[place.tobytes()] = place
    return {world_id: np.array(list(places.values())) for world_id, places in found.items()}


def _starts(counts: Iterable[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(list(counts), dtype=np.int64)]).astype(np.int64)
