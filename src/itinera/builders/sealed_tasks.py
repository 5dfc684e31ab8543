"""Tasks of a sealed split: episodes of which none helps to answer another, decided by the season's sealing key.

Every path belongs to one task of one kind and has one instruction. No two tasks of a house share a start or a goal.
Ids are keyed hashes, so neither an id nor the order of ids tells of a path, a house or a kind of instruction.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from itinera.builders.ground_tasks import follow_references, project_episodes, sample_pointnav
from itinera.builders.hearth import AnnotatedHouse, Arrivals, HouseTasks, instruct
from itinera.builders.object_goals import sample_object_goals
from itinera.builders.path_sampling import sample_paths_with_distinct_ends
from itinera.hearth.language.generate import DETAILS
from itinera.tasks import Episode
from itinera.tasks.protocol import R2R_CE

KINDS = 4  # R2R, RxR, VLN-CE and REVERIE, which share the paths of a house
ID_BYTES = 6  # of an id: two of a million tasks collide with probability 0.002, and JSON numbers are exact


def build_sealed_tasks(annotated: AnnotatedHouse, count: int, key: bytes, *, faults: float = 0.0) -> HouseTasks:
    """The tasks of a house in a sealed split: up to `count` paths, and as many PointNav episodes.

    A path is a task of R2R, RxR, VLN-CE or REVERIE, in turn; its instruction is short, ordinary or step by step by
    chance. REVERIE has fewer, for some paths end without a suitable object. All are in English.
    """
    house_id, graph = annotated.house.id, annotated.graph
    paths = sample_paths_with_distinct_ends(graph, count, _keyed_generator(key, house_id, "paths"))
    instructed = [_instruct_path(annotated, path, key, faults) for path in paths]
    on_graph, spoken, grounded, found = (instructed[kind::KINDS] for kind in range(KINDS))
    on_ground = [replace(episode, id=episode.path_id) for episode, _ in grounded]
    ground_episodes = project_episodes(on_ground, [e.id for e in on_ground], graph, annotated.surface)
    pointnav = sample_pointnav(
        annotated.wide_surface, count, _keyed_generator(key, house_id, "points"), world_id=house_id, first_id=0
    )
    return HouseTasks(
        tuple(episode for episode, _ in on_graph),
        tuple(replace(episode, id=episode.path_id) for episode, _ in spoken),
        {episode.path_id: arrivals for episode, arrivals in spoken},
        ground_episodes,
        follow_references(ground_episodes, annotated.surface, R2R_CE),
        tuple(replace(episode, id=_keyed_id(key, house_id, "point", episode.id)) for episode in pointnav),
        _object_goals(annotated, [episode for episode, _ in found], _keyed_generator(key, house_id, "finds")),
    )


def _instruct_path(
    annotated: AnnotatedHouse, path: Sequence[str], key: bytes, faults: float
) -> tuple[Episode, Arrivals]:
    rng = _keyed_generator(key, annotated.house.id, "words", *path)
    heading = round(float(rng.uniform(0.0, math.tau)), 4)
    detail = DETAILS[int(rng.integers(len(DETAILS)))]
    number = _keyed_id(key, annotated.house.id, "path", *path)
    return instruct(annotated, f"{number}_0", number, path, heading, rng, detail=detail, faults=faults)


def _object_goals(
    annotated: AnnotatedHouse, episodes: Sequence[Episode], rng: np.random.Generator
) -> tuple[Episode, ...]:
    """The first instruction of each object goal; an object is the goal of one task only."""
    goals: dict[int, Episode] = {}
    for episode in sample_object_goals(annotated.house, annotated.world, episodes, rng):
        if episode.id.endswith("_0"):
            goals.setdefault(episode.notes["objId"], episode)
    return tuple(goals.values())


def _keyed_generator(key: bytes, *names: str) -> np.random.Generator:
    """A generator with a seed of its own: what a published text tells of its stream tells nothing of another."""
    return np.random.default_rng(int.from_bytes(_keyed_hash(key, names, 32), "little"))


def _keyed_id(key: bytes, *names: str) -> str:
    return str(int.from_bytes(_keyed_hash(key, ("id", *names), ID_BYTES), "little"))


def _keyed_hash(key: bytes, names: Sequence[str], size: int) -> bytes:
    return hashlib.blake2b("\x1f".join(names).encode(), key=key, digest_size=size).digest()
