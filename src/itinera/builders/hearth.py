"""Hearth: homes from a seed, with everything a navigation task needs, and the tasks in them.

`build_home` makes the place and what is known of it, `tasks_of` the episodes: on the graph, on the ground, and
PointNav. All of it is a function of the seed and the number of the house.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from itinera.builders.ground_tasks import grounded, point_tasks, trails
from itinera.builders.object_goals import finding_tasks
from itinera.builders.path_sampling import sample_paths
from itinera.hearth.annotate import annotate
from itinera.hearth.build import House, build_house
from itinera.hearth.language.generate import DETAILS, describe
from itinera.hearth.language.scene_description import Outlook, outlooks
from itinera.hearth.season import WIDEST, check_radius
from itinera.hearth.viewpoints import place_viewpoints
from itinera.planners.motion.geodesic_follower import Trail
from itinera.rendering.rasterizer import Raster
from itinera.seeding import generator
from itinera.tasks import Alignment, Episode, Instruction
from itinera.tasks.protocol import R2R_CE
from itinera.worlds import NavGraph, Pose, World
from itinera.worlds.lazy import OnDemand
from itinera.worlds.surface import Surface

ROBOT_HEIGHT = 1.5  # metres
PATHS_PER_HOUSE = 1000  # path ids count from so many times the number of the house


@dataclass(frozen=True, eq=False)
class Home:
    """A house, the ground one can walk on, and the world of its viewpoints, with rooms and objects."""

    seed: int
    index: int
    house: House
    surface: Surface  # for the robot of the continuous tasks
    wide: Surface  # for the widest robot, so that every other can go there too
    world: World
    outlooks: Mapping[str, Outlook]  # what is seen from each viewpoint

    @property
    def graph(self) -> NavGraph:
        assert isinstance(self.world.space, NavGraph)
        return self.world.space


@dataclass(frozen=True, eq=False)
class Tasks:
    """What a home gives to one split."""

    on_graph: tuple[Episode, ...]
    stays: Mapping[str, tuple[tuple[str, float], ...]]  # by episode: each node and when its speaker came to stand there
    on_ground: tuple[Episode, ...]  # the same episodes in the same order, under ids of their own
    trails: Mapping[str, Trail]  # by the ids of those: an expert's steps along the reference
    points: tuple[Episode, ...]  # PointNav
    finds: tuple[Episode, ...]  # the same paths, most of them, with an object to find at the end


def build_home(seed: int, index: int, *, id: str = "", radius: float = 0.10) -> Home:
    """The home of this number in the season of this seed; `radius` is that of the robot on the ground, metres."""
    check_radius(radius)
    house, wide, graph = _placed(seed, index, id)
    known = annotate(house, graph, Raster(house.mesh))
    surface = Surface.from_mesh(house.mesh, radius=radius, height=ROBOT_HEIGHT)
    world = World(house.id, graph, known.rooms, known.objects)
    return Home(seed, index, house, surface, wide, world, outlooks(house, graph, known))


def build_place(seed: int, index: int, *, id: str = "") -> tuple[House, NavGraph]:
    """A house and its viewpoints, all that a look at it needs."""
    house, _, graph = _placed(seed, index, id)
    return house, graph


def _placed(seed: int, index: int, id: str) -> tuple[House, Surface, NavGraph]:
    house = build_house(seed, index, id=id)
    wide = Surface.from_mesh(house.mesh, radius=WIDEST, height=ROBOT_HEIGHT)
    return house, wide, place_viewpoints(house, wide, generator(seed, "house", str(index), "viewpoints"))


def ground_world(seed: int, index: int, *, id: str = "", radius: float, height: float) -> World:
    """A house as a robot of this radius and height, metres, can walk it: with its shape, without its viewpoints."""
    check_radius(radius)
    house = build_house(seed, index, id=id)
    return World(house.id, Surface.from_mesh(house.mesh, radius=radius, height=height), mesh=house.mesh)


def ground_worlds(houses: Mapping[str, tuple[int, int]], *, radius: float, height: float) -> Mapping[str, World]:
    """The same of houses known by their ids, each by its seed and number, built when it is first asked for."""

    def house(world_id: str) -> World:
        return ground_world(*houses[world_id], id=world_id, radius=radius, height=height)

    return OnDemand(houses, house)


def tasks_of(home: Home, counts: Mapping[str, int]) -> dict[str, Tasks]:
    """The tasks of a home by split, for so many paths in each; no path is in two splits."""
    paths = paths_in(home.graph, home.seed, home.index, sum(counts.values()))
    told = {}
    first = 0
    for split, count in counts.items():
        ids = range(PATHS_PER_HOUSE * home.index + first, PATHS_PER_HOUSE * home.index + first + count)
        told[split] = _tasks(home, dict(zip(ids, paths[first : first + count], strict=False)), split, count, ids.start)
        first += count
    return told


def paths_in(graph: NavGraph, seed: int, index: int, count: int) -> tuple[tuple[str, ...], ...]:
    """The paths of a home's episodes."""
    return sample_paths(graph, count, generator(seed, "house", str(index), "paths"))


def _tasks(home: Home, paths: Mapping[int, tuple[str, ...]], split: str, count: int, first_id: int) -> Tasks:
    written = [_instructed(home, path_id, path) for path_id, path in paths.items()]
    on_graph = tuple(episode for episodes, _ in written for episode in episodes)
    on_ground = grounded(on_graph, [number_of(episode) for episode in on_graph], home.graph, home.surface)
    rngs = {name: generator(home.seed, "house", str(home.index), name, split) for name in ("points", "finds")}
    return Tasks(
        on_graph,
        {name: stays for _, told in written for name, stays in told.items()},
        on_ground,
        trails(on_ground, home.surface, R2R_CE),
        point_tasks(home.wide, count, rngs["points"], world_id=home.house.id, first_id=first_id),
        finding_tasks(home.house, home.world, on_graph, rngs["finds"]),
    )


def number_of(episode: Episode) -> str:
    """The number of an episode where a format wants one: an RxR instruction id, a VLN-CE episode id."""
    path, _, text = episode.id.partition("_")
    return str(len(DETAILS) * int(path) + int(text))


def _instructed(
    home: Home, path_id: int, path: Sequence[str]
) -> tuple[list[Episode], dict[str, tuple[tuple[str, float], ...]]]:
    """The episodes of a path, one for each level of detail, and the stays of their speakers."""
    rng = generator(home.seed, "house", str(home.index), "words", str(path_id))
    heading = round(float(rng.uniform(0.0, math.tau)), 4)
    length = round(float(home.graph.along(path).sum()), 2)
    episodes, stays = [], {}
    for i, detail in enumerate(DETAILS):
        told = describe(home.outlooks, path, heading, rng, detail=detail)
        name = f"{path_id}_{i}"
        episodes.append(
            Episode(
                id=name,
                world_id=home.house.id,
                start=Pose(path[0], heading),
                goals=tuple(path[-1:]),
                reference=tuple(path),
                instruction=Instruction(told.text),
                path_id=str(path_id),
                alignment=Alignment(told.words, told.first, told.last, told.begins, told.ends),
                stated_distance=length,
            )
        )
        stays[name] = told.stays
    return episodes, stays
