"""Where environments play: tasks and worlds given as objects or as files, or a small place of Hearth's."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from itinera.builders.hearth import Home, build_home, ground_world, ground_worlds, tasks_of
from itinera.builders.hearth import Tasks as HearthTasks
from itinera.builders.tours import tour_scene
from itinera.errors import BadArgument
from itinera.formats import catalog, scenes
from itinera.formats.hearth_season import ABOUT, houses_of
from itinera.tasks import PROTOCOLS, Protocol, Split, Tour
from itinera.worlds import World

PATHS = 10  # of the small place; each is told in three ways
KEPT = 2  # such places in memory

# Gymnasium copies what an environment was made with, and sends it to other processes; tasks and worlds hold such views.
copyreg.pickle(MappingProxyType, lambda view: (MappingProxyType, (dict(view),)))

Kind = Literal["episodes", "points", "tours"]
Tasks: TypeAlias = Split | str | PathLike[str]
Worlds: TypeAlias = Mapping[str, World] | str | PathLike[str]


@dataclass(frozen=True, eq=False)
class Playground:
    """Tasks, the worlds they are in, and the rules."""

    split: Split
    worlds: Mapping[str, World]
    protocol: Protocol


def playground(
    kind: Kind,
    tasks: Tasks | None,
    worlds: Worlds | None,
    protocol: Protocol,
    *,
    tours: str | PathLike[str] | None = None,
) -> Playground:
    """What was given, made ready; with nothing given, a small place of Hearth's."""
    if tasks is None or worlds is None:
        if not (tasks is worlds is tours):
            raise BadArgument("Tasks and worlds belong together: give both, or neither for a small place of Hearth's.")
        return hearth_playground(kind, protocol=protocol)
    split = tasks if isinstance(tasks, Split) else catalog.read_tasks(Path(tasks))
    if tours is not None:
        split = split.with_tours(catalog.read_tours(Path(tours), split), str(tours))
    _check(split, kind, protocol)
    found = worlds if isinstance(worlds, Mapping) else _read_worlds(Path(worlds), protocol)
    missing = [world_id for world_id in split.world_ids if world_id not in found]
    if missing:
        raise BadArgument(f"{split.name} is asked in world {missing[0]}, which is not among the worlds given.")
    return Playground(split, found, protocol)


def chosen_protocol(name: str | Protocol) -> Protocol:
    """The protocol, or the one of this name."""
    if isinstance(name, Protocol):
        return name
    if name not in PROTOCOLS:
        near = get_close_matches(name, PROTOCOLS, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise BadArgument(f"There is no protocol {name!r}. There are {', '.join(PROTOCOLS)}.{hint}")
    return PROTOCOLS[name]


def _check(split: Split, kind: Kind, protocol: Protocol) -> None:
    if not split.episodes:
        raise BadArgument(f"{split.name} holds no episodes.")
    if kind == "tours" and not split.tours:
        raise BadArgument(
            f"{split.name} has no tours. Give a file of them as tours=, or make them: itinera build tours."
        )
    on_graph = isinstance(split.episodes[0].start.place, str)
    if on_graph == protocol.on_ground:
        here, there = ("on graphs", "on the ground") if on_graph else ("on the ground", "on graphs")
        raise BadArgument(f"{split.name} is walked {here}, but protocol {protocol.name} is of walks {there}.")


def _read_worlds(path: Path, protocol: Protocol) -> Mapping[str, World]:
    if not protocol.on_ground:
        return catalog.read_worlds(path / "connectivity" if (path / ABOUT).exists() else path)
    radius, height = protocol.robot_radius, protocol.robot_height
    if radius is not None and height is not None and path.is_dir():
        if scenes.scenes_in(path):
            return scenes.read_worlds(path, radius=radius, height=height)
        houses = houses_of(path)
        if houses is not None:
            return ground_worlds(houses, radius=radius, height=height)
    raise BadArgument(
        f"Protocol {protocol.name} walks on the ground, and {path} has none: give a folder of scenes, a season of "
        "Hearth, or worlds with a surface."
    )


def hearth_playground(kind: Kind, *, protocol: Protocol, season: int = 0) -> Playground:
    """A house of Hearth with some tasks in it: a function of the season, made once and kept."""
    tasks = _home(season)[1]
    if kind == "points":
        episodes = tasks.points
    else:
        episodes = tasks.on_ground if protocol.on_ground else tasks.on_graph
    if protocol.on_ground:
        world = _on_ground(season, protocol.robot_radius or 0.0, protocol.robot_height or 0.0)
    else:
        world = _on_graph(season)
    split, worlds = Split(f"hearth-{season}", episodes, protocol=protocol.name), {world.id: world}
    return Playground(_toured(split, worlds) if kind == "tours" else split, worlds, protocol)


@lru_cache(KEPT)
def _home(season: int) -> tuple[Home, HearthTasks]:
    home = build_home(season, 0)
    return home, tasks_of(home, {"train": PATHS})["train"]


@lru_cache(KEPT)
def _on_graph(season: int) -> World:
    home, _ = _home(season)
    return replace(home.world, mesh=home.house.mesh)


@lru_cache(KEPT)
def _on_ground(season: int, radius: float, height: float) -> World:
    return ground_world(season, 0, radius=radius, height=height)


def _toured(split: Split, worlds: Mapping[str, World]) -> Split:
    groups = [group for world_id in split.world_ids for group in tour_scene(split, world_id, worlds)]
    listed = [(group.world_id, ids) for group in groups for ids in group.tours]
    return split.with_tours(tuple(Tour(str(k), world_id, ids) for k, (world_id, ids) in enumerate(listed)))
