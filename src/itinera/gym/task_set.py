"""The tasks and worlds of an environment: given as objects or files, or a small built-in Hearth house."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from itinera.builders.hearth import AnnotatedHouse, HouseTasks, build_annotated_house, build_tasks
from itinera.builders.tours import tour_scene
from itinera.errors import BadArgument
from itinera.hearth.ground import ground_world
from itinera.runs.config import load_tasks, load_worlds, require_matching
from itinera.tasks import Protocol, Split, Tour
from itinera.worlds import World

PATHS = 10  # of the built-in house; each has three instructions
CACHE_SIZE = 2  # built-in houses in memory

# Gymnasium copies the arguments of an environment and sends them to other processes; tasks and worlds contain views.
copyreg.pickle(MappingProxyType, lambda view: (MappingProxyType, (dict(view),)))

Kind = Literal["episodes", "points", "tours"]
Tasks: TypeAlias = Split | str | PathLike[str]
Worlds: TypeAlias = Mapping[str, World] | str | PathLike[str]


@dataclass(frozen=True, eq=False)
class TaskSet:
    """Tasks, the worlds they are in, and their protocol."""

    split: Split
    worlds: Mapping[str, World]
    protocol: Protocol


def load_task_set(
    kind: Kind,
    tasks: Tasks | None,
    worlds: Worlds | None,
    protocol: Protocol,
    *,
    tours: str | PathLike[str] | None = None,
) -> TaskSet:
    """The tasks and worlds given, checked; a small built-in Hearth house if none are."""
    if tasks is None or worlds is None:
        if not (tasks is worlds is tours):
            raise BadArgument("Give both tasks and worlds, or neither for a built-in Hearth house.")
        return hearth_task_set(kind, protocol=protocol)
    split = load_tasks(tasks if isinstance(tasks, Split) else Path(tasks), None if tours is None else Path(tours))
    if not split.episodes:
        raise BadArgument(f"{split.name} contains no episodes.")
    if kind == "tours" and not split.tours:
        raise BadArgument(f"{split.name} has no tours. Give a file as tours=, or make one: itinera build tours.")
    require_matching(protocol, split)
    found = load_worlds(worlds if isinstance(worlds, Mapping) else Path(worlds), protocol)
    missing = [world_id for world_id in split.world_ids if world_id not in found]
    if missing:
        raise BadArgument(f"World {missing[0]} of {split.name} is not among the worlds given.")
    return TaskSet(split, found, protocol)


def hearth_task_set(kind: Kind, *, protocol: Protocol, season: int = 0) -> TaskSet:
    """A Hearth house with some tasks in it: a function of the season, built once and cached."""
    tasks = _house(season)[1]
    if kind == "points":
        episodes = tasks.pointnav
    else:
        episodes = tasks.ground_episodes if protocol.on_ground else tasks.graph_episodes
    if protocol.on_ground:
        world = _ground_world(season, protocol.robot_radius or 0.0, protocol.robot_height or 0.0)
    else:
        world = _graph_world(season)
    split, worlds = Split(f"hearth-{season}", episodes, protocol=protocol.name), {world.id: world}
    return TaskSet(_add_tours(split, worlds) if kind == "tours" else split, worlds, protocol)


@lru_cache(CACHE_SIZE)
def _house(season: int) -> tuple[AnnotatedHouse, HouseTasks]:
    house = build_annotated_house(season, 0)
    return house, build_tasks(house, {"train": PATHS})["train"]


@lru_cache(CACHE_SIZE)
def _graph_world(season: int) -> World:
    house, _ = _house(season)
    return replace(house.world, mesh=house.house.mesh)


@lru_cache(CACHE_SIZE)
def _ground_world(season: int, radius: float, height: float) -> World:
    return ground_world(season, 0, radius=radius, height=height)


def _add_tours(split: Split, worlds: Mapping[str, World]) -> Split:
    groups = [group for world_id in split.world_ids for group in tour_scene(split, world_id, worlds)]
    listed = [(group.world_id, ids) for group in groups for ids in group.tours]
    return split.with_tours(tuple(Tour(str(k), world_id, ids) for k, (world_id, ids) in enumerate(listed)))
