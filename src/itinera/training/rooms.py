"""Training of the room classifier: panoramas along the edges of houses' graphs, labeled by the floor plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from itinera.hearth.build import build_house
from itinera.hearth.ground import house_regions, name_instances
from itinera.hearth.viewpoints import EYE_HEIGHT
from itinera.policies.checkpoint import Model
from itinera.simulators import inferred_views
from itinera.simulators.pose_views import rooms_at
from itinera.simulators.surroundings import Scene, Surroundings
from itinera.simulators.views_at import room_index
from itinera.simulators.waypoints import DepthWaypoints
from itinera.training.trainer import Schedule, train_model
from itinera.worlds import Array, NavGraph, World

BATCH_SIZE = 48  # panoramas


@dataclass(frozen=True, eq=False)
class RoomSamples:
    """Places around observers: features, room types (-1 unknown), same room or not, and the observer's row of each."""

    features: NDArray[np.float32]  # (n, f)
    rooms: NDArray[np.int64]  # (n,)
    same: NDArray[np.bool_]  # (n,)
    observers: NDArray[np.int64]  # (n,) the first row of each panorama


def house_scene(world: World, seed: int, index: int) -> World:
    """The house of a graph with its mesh, instances and regions."""
    house = build_house(seed, index, id=world.id)
    return World(world.id, world.space, mesh=house.mesh, instances=name_instances(house), regions=house_regions(house))


def collect_room_samples(
    world: World, names: Sequence[str], rng: np.random.Generator, *, panoramas: int
) -> RoomSamples:
    """Samples of one house (`house_scene`): the place of the observer, waypoints around it, and areas of floor."""
    graph = world.space
    assert isinstance(graph, NavGraph)
    scene, index, source = Scene(world), {name: k for k, name in enumerate(names)}, DepthWaypoints()
    parts: list[tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.bool_]]] = []
    for place in _places_on_edges(graph, rng, panoramas):
        surroundings = Surroundings(scene, place)
        ways = source.find(surroundings).places - place
        offsets = np.concatenate([np.zeros((1, 3)), ways, inferred_views.find_areas(surroundings)])
        things = inferred_views.name_instances(surroundings, index)
        distances = inferred_views.thing_distances(surroundings, offsets, things, len(names))
        found = rooms_at(world, place + offsets)
        same = np.array([room is not None and room == found[0] for room in found])
        labels = np.array([room_index(room) for room in found])
        parts.append((inferred_views.room_features(distances, offsets), labels, same))
    counts = np.array([len(part[1]) for part in parts])
    observers = np.repeat(np.cumsum(counts) - counts, counts)
    features, rooms, same = (np.concatenate(column) for column in zip(*parts, strict=True))
    return RoomSamples(features, rooms, same, observers)


def _places_on_edges(graph: NavGraph, rng: np.random.Generator, count: int) -> Array:
    """(count, 3) places on the ground, anywhere on the edges of a graph."""
    edges = graph.edges[rng.integers(len(graph.edges), size=count)]
    share = rng.random((count, 1))
    eyes = graph.positions[edges[:, 0]] * (1 - share) + graph.positions[edges[:, 1]] * share
    places: Array = eyes - np.array([0.0, 0.0, EYE_HEIGHT])
    return places


def join_samples(parts: Sequence[RoomSamples]) -> RoomSamples:
    """The samples of several houses as one."""
    starts = np.cumsum([0, *(len(part.rooms) for part in parts[:-1])])
    return RoomSamples(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.rooms for part in parts]),
        np.concatenate([part.same for part in parts]),
        np.concatenate([part.observers + start for part, start in zip(parts, starts, strict=True)]),
    )


def train_room_classifier(model: Model, samples: RoomSamples, schedule: Schedule, *, seed: int) -> Model:
    """The model after training; batches are whole panoramas."""
    first = np.unique(samples.observers)
    ends = np.append(first[1:], len(samples.rooms))
    features, rooms = torch.from_numpy(samples.features), torch.from_numpy(samples.rooms)
    same = torch.from_numpy(samples.same).float()

    def loss_fn(step: int, rng: torch.Generator) -> Tensor:
        chosen = torch.randint(len(first), (BATCH_SIZE,), generator=rng).tolist()
        rows = torch.cat([torch.arange(int(first[k]), int(ends[k])) for k in chosen])
        counts = torch.tensor([int(ends[k] - first[k]) for k in chosen])
        observers = torch.repeat_interleave(counts.cumsum(0) - counts, counts)
        logits, pairs = model.policy(features[rows], observers)
        of_room = cross_entropy(logits, rooms[rows], ignore_index=-1)
        return of_room + binary_cross_entropy_with_logits(pairs, same[rows])

    return train_model(model, loss_fn, schedule, seed=seed, name="room-classifier")


@dataclass(frozen=True)
class RoomScores:
    """The share of right answers of a room classifier: at the observer's place, and elsewhere by what is there."""

    here: float
    elsewhere: float
    other_room: float  # elsewhere, in another room than the observer's
    same: float


def score_room_classifier(model: Model, samples: RoomSamples) -> RoomScores:
    """The scores of a classifier on samples of houses it has not seen."""
    model.policy.eval()
    with torch.no_grad():
        logits, pairs = model.policy(torch.from_numpy(samples.features), torch.from_numpy(samples.observers))
    right = logits.argmax(dim=1).numpy() == samples.rooms
    known, here = samples.rooms >= 0, samples.observers == np.arange(len(samples.rooms))
    same = (pairs.numpy() > 0) == samples.same
    return RoomScores(
        float(right[known & here].mean()),
        float(right[known & ~here].mean()),
        float(right[known & ~here & ~samples.same].mean()),
        float(same[~here].mean()),
    )
