"""Hearth's tasks: episodes in procedural houses, as pure functions of the season's seed and the index of the house.

`build_annotated_house` makes a house with its graph and annotations, `build_tasks` its episodes: on the graph, on the
ground, PointNav, and object goals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from itinera.builders.ground_tasks import follow_references, project_episodes, sample_pointnav
from itinera.builders.object_goals import sample_object_goals
from itinera.builders.path_sampling import sample_paths
from itinera.hearth.annotate import annotate
from itinera.hearth.build import House, build_house
from itinera.hearth.ground import ROBOT_HEIGHT
from itinera.hearth.language.generate import DETAILS, LANGUAGES, Detail, Language, generate_instruction
from itinera.hearth.language.scene_description import SceneDescription, describe_scenes
from itinera.hearth.season import MAX_ROBOT_RADIUS, check_radius
from itinera.hearth.viewpoints import place_viewpoints
from itinera.planners.motion.geodesic_follower import FollowedPath
from itinera.rendering.rasterizer import Rasterizer
from itinera.seeding import generator
from itinera.tasks import Alignment, Episode, Instruction
from itinera.tasks.protocol import R2R_CE
from itinera.worlds import NavGraph, Pose, World
from itinera.worlds.surface import Surface

Arrivals: TypeAlias = tuple[tuple[str, float], ...]
PATHS_PER_HOUSE = 1000  # the path ids of house k start at k times this
LANGUAGE_IDS = 1_000_000_000  # between the RxR ids of one language and those of the next


@dataclass(frozen=True, eq=False)
class AnnotatedHouse:
    """A house with its surfaces, its navigation graph with rooms and objects, and its scene descriptions."""

    seed: int
    index: int
    house: House
    surface: Surface  # for the robot of the continuous tasks
    wide_surface: Surface  # for the widest robot, so that every other robot can go there too
    world: World
    descriptions: Mapping[str, SceneDescription]  # by viewpoint

    @property
    def graph(self) -> NavGraph:
        assert isinstance(self.world.space, NavGraph)
        return self.world.space


@dataclass(frozen=True, eq=False)
class HouseTasks:
    """The episodes that a house contributes to a split."""

    graph_episodes: tuple[Episode, ...]
    rxr_episodes: tuple[Episode, ...]  # the same episodes in the same order, with numeric ids; then other languages
    arrivals: Mapping[str, Arrivals]  # by the ids of those: each node and the speaker's arrival time there
    ground_episodes: tuple[Episode, ...]  # the same again
    expert_trails: Mapping[str, FollowedPath]  # by the ids of those: the expert's actions along the reference
    pointnav: tuple[Episode, ...]
    object_goals: tuple[Episode, ...]  # most of the same paths, with an object to find at the end


def build_annotated_house(seed: int, index: int, *, id: str = "", radius: float = 0.10) -> AnnotatedHouse:
    """The house of this index in the season of this seed; `radius` is that of the robot on the ground, metres."""
    check_radius(radius)
    house, wide_surface, graph = _build_graph(seed, index, id)
    annotations = annotate(house, graph, Rasterizer(house.mesh))
    surface = Surface.from_mesh(house.mesh, radius=radius, height=ROBOT_HEIGHT)
    world = World(house.id, graph, annotations.rooms, annotations.objects)
    descriptions = describe_scenes(house, graph, annotations)
    return AnnotatedHouse(seed, index, house, surface, wide_surface, world, descriptions)


def build_house_graph(seed: int, index: int, *, id: str = "") -> tuple[House, NavGraph]:
    """A house and its navigation graph, without annotations."""
    house, _, graph = _build_graph(seed, index, id)
    return house, graph


def _build_graph(seed: int, index: int, id: str) -> tuple[House, Surface, NavGraph]:
    house = build_house(seed, index, id=id)
    wide_surface = Surface.from_mesh(house.mesh, radius=MAX_ROBOT_RADIUS, height=ROBOT_HEIGHT)
    rng = generator(seed, "house", str(index), "viewpoints")
    return house, wide_surface, place_viewpoints(house, wide_surface, rng)


def build_tasks(
    annotated: AnnotatedHouse,
    counts: Mapping[str, int],
    *,
    languages: Sequence[Language] = ("en",),
    faults: float = 0.0,
) -> dict[str, HouseTasks]:
    """The tasks of a house by split, for this number of paths in each; no path is in two splits.

    RxR's episodes have instructions in all the languages, the others in English. `faults` is that of
    `generate_instruction`.
    """
    paths = sample_house_paths(annotated.graph, annotated.seed, annotated.index, sum(counts.values()))
    tasks = {}
    first = 0
    for split, count in counts.items():
        first_id = PATHS_PER_HOUSE * annotated.index + first
        numbered = dict(zip(range(first_id, first_id + count), paths[first : first + count], strict=False))
        tasks[split] = _build_split(annotated, numbered, split, count, first_id, languages, faults)
        first += count
    return tasks


def sample_house_paths(graph: NavGraph, seed: int, index: int, count: int) -> tuple[tuple[str, ...], ...]:
    """The paths of a house's episodes."""
    return sample_paths(graph, count, generator(seed, "house", str(index), "paths"))


def _build_split(
    annotated: AnnotatedHouse,
    paths: Mapping[int, tuple[str, ...]],
    split: str,
    count: int,
    first_id: int,
    languages: Sequence[Language],
    faults: float,
) -> HouseTasks:
    spoken_languages = [language for language in LANGUAGES if language == "en" or language in languages]
    instructed, *others = (
        [pair for path_id, path in paths.items() for pair in _instruct_path(annotated, path_id, path, language, faults)]
        for language in spoken_languages
    )
    on_graph = tuple(episode for episode, _ in instructed)
    ids = [numeric_id(episode) for episode in on_graph]
    on_ground = project_episodes(on_graph, ids, annotated.graph, annotated.surface)
    spoken = [
        (replace(episode, id=str(LANGUAGE_IDS * k + int(numeric_id(episode)))), arrivals)
        for k, pairs in enumerate([instructed, *others])
        for episode, arrivals in pairs
    ]
    rngs = {name: generator(annotated.seed, "house", str(annotated.index), name, split) for name in ("points", "finds")}
    return HouseTasks(
        on_graph,
        tuple(episode for episode, _ in spoken),
        {episode.id: arrivals for episode, arrivals in spoken},
        on_ground,
        follow_references(on_ground, annotated.surface, R2R_CE),
        sample_pointnav(annotated.wide_surface, count, rngs["points"], world_id=annotated.house.id, first_id=first_id),
        sample_object_goals(annotated.house, annotated.world, on_graph, rngs["finds"]),
    )


def numeric_id(episode: Episode) -> str:
    """The number of an episode, for formats that need one: an RxR instruction id, a VLN-CE episode id."""
    path, _, text = episode.id.partition("_")
    return str(len(DETAILS) * int(path) + int(text))


def _instruct_path(
    annotated: AnnotatedHouse, path_id: int, path: Sequence[str], language: Language, faults: float
) -> Iterator[tuple[Episode, Arrivals]]:
    """The episodes of a path, one for each level of detail, and the arrival times of their speakers."""
    names = annotated.seed, "house", str(annotated.index), "words", str(path_id)
    rng = generator(*names)
    heading = round(float(rng.uniform(0.0, math.tau)), 4)  # the same in every language
    if language != "en":
        rng = generator(*names, language)
    for i, detail in enumerate(DETAILS):
        name = f"{path_id}_{i}"
        yield instruct(
            annotated, name, str(path_id), path, heading, rng, detail=detail, language=language, faults=faults
        )


def instruct(
    annotated: AnnotatedHouse,
    name: str,
    path_id: str,
    path: Sequence[str],
    heading: float,
    rng: np.random.Generator,
    *,
    detail: Detail,
    language: Language = "en",
    faults: float = 0.0,
) -> tuple[Episode, Arrivals]:
    """The episode of a path with an instruction of this detail, and the arrival times of its speaker."""
    generated = generate_instruction(
        annotated.descriptions, path, heading, rng, detail=detail, language=language, faults=faults
    )
    episode = Episode(
        id=name,
        world_id=annotated.house.id,
        start=Pose(path[0], heading),
        goals=tuple(path[-1:]),
        reference=tuple(path),
        instruction=Instruction(generated.text, "en" if language == "en" else generated.language),
        path_id=path_id,
        alignment=Alignment(generated.words, generated.first, generated.last, generated.begins, generated.ends),
        stated_distance=round(float(annotated.graph.along(path).sum()), 2),
    )
    return episode, generated.arrivals
