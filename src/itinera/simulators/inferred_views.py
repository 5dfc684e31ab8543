"""Views at any pose on the ground without annotations: everything comes from one panorama.

Objects are the instances it shows. The room of a place is inferred from how near the things of each name are to it, by
a classifier that the caller gives; what lies farther off, from the visible floor, cut into cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from itinera.hearth.viewpoints import EYE_HEIGHT
from itinera.rendering.cube_map import FACE_SIZE, cube_map
from itinera.simulators._waypoint_kernels import map_floor, nearest_things
from itinera.simulators.pose_views import NEAR
from itinera.simulators.simulator import Candidates
from itinera.simulators.surroundings import Surroundings
from itinera.simulators.views_at import NUM_ROOMS, ViewColumns, Views
from itinera.worlds import Array, World

STRIDE = 4  # pixels of a face of the panorama, between those that distances are measured to
NEARNESS_SCALES = (1.0, 3.0)  # metres; nearness is exp(-distance / scale)
FLOOR_TOLERANCE = 0.06  # metres; carpets count as floor
FLOOR_CELL = 0.3  # metres
CELLS_PER_AREA = 7  # along a side: 2.1 m, about the distance between viewpoints
MIN_CELLS = 8  # of visible floor, for an area to be a place
AREA_OBJECTS = 2.4  # metres from the middle of an area within which objects are its own


class RoomClassifier(Protocol):
    """Infers rooms from the nearness of named things."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of things whose nearness it takes."""
        ...

    def classify(self, nearness: NDArray[np.float32]) -> tuple[Array, Array]:
        """The probability of each room type at each place (n, rooms), and that it is the room of the first one (n,).

        `nearness` (n, features) is that of `room_features`; the first place is that of the body.
        """
        ...


class InferredPoseViews:
    """Features with the columns of `AnnotatedPoseViews`, inferred from a panorama of depth and named instances."""

    def __init__(self, classifier: RoomClassifier, names: Sequence[str], *, reach: float = 0.0) -> None:
        self._classifier, self._layout = classifier, ViewColumns(tuple(names), reach)
        self._index = {name: k for k, name in enumerate(classifier.names)}
        self._things: WeakKeyDictionary[World, NDArray[np.int32]] = WeakKeyDictionary()

    @property
    def columns(self) -> tuple[str, ...]:
        return self._layout.columns

    def at(self, surroundings: Surroundings, candidates: Candidates, places: Array) -> Views:
        layout = self._layout
        areas = find_areas(surroundings) if layout.reach else np.empty((0, 3))
        offsets = np.concatenate([np.zeros((1, 3)), places - surroundings.place, areas])
        distances = thing_distances(surroundings, offsets, self._name_instances(surroundings), len(self._index))
        rooms, same = self._classifier.classify(room_features(distances, offsets))
        types = rooms.argmax(axis=1)
        views, number = candidates.views.tolist(), 1 + len(places)
        within = [k for k in range(1, number) if same[k] > 0.5]
        types[within] = types[0]
        near = layout.near(surroundings.visible_objects(NEAR), int(types[0]), views, types[1:number].tolist())
        if not layout.reach:
            return near
        contents = np.zeros((len(areas), NUM_ROOMS + len(layout.names)), np.float32)
        contents[np.arange(len(areas)), types[number:]] = 1
        for name, column in layout.index.items():
            if name in self._index:
                contents[:, NUM_ROOMS + column] = distances[number:, self._index[name]] <= AREA_OBJECTS
        visible = np.ones(len(areas), dtype=bool)
        same_views = [views[k - 1] for k in within]
        return np.concatenate([near, layout.direction(areas, visible, contents, same_views)], axis=1)

    def _name_instances(self, surroundings: Surroundings) -> NDArray[np.int32]:
        world = surroundings.world
        found = self._things.get(world)
        if found is None:
            found = self._things[world] = name_instances(surroundings, self._index)
        return found


def name_instances(surroundings: Surroundings, index: dict[str, int]) -> NDArray[np.int32]:
    """(instances,) the number of the name of each instance of the mesh; -1 where it has none."""
    names = np.full(surroundings.scene.num_instances, -1, np.int32)
    for instance, thing in surroundings.world.instances.items():
        if instance < len(names):
            names[instance] = index.get(thing.name, -1)
    return names


def thing_distances(
    surroundings: Surroundings, offsets: Array, names: NDArray[np.int32], count: int
) -> NDArray[np.float64]:
    """(n, count) metres from each place to the nearest visible thing of each name; inf where none is visible.

    Places are offsets (n, 3) from that of the body; `names` (instances,) numbers the names.
    """
    faces = surroundings.panorama
    pixels = slice(STRIDE // 2, None, STRIDE)
    depths = faces.depth[:, pixels, pixels].ravel()
    rays = cube_map().rays.reshape(-1, FACE_SIZE, FACE_SIZE, 3)[:, pixels, pixels].reshape(-1, 3)
    things = names[faces.instances[:, pixels, pixels].ravel()]
    nearest = np.empty((len(offsets), count))
    nearest_things(depths, rays, EYE_HEIGHT, things, offsets, nearest)
    return np.sqrt(nearest)


def room_features(distances: Array, offsets: Array) -> NDArray[np.float32]:
    """(n, features) what a room classifier takes: the nearness of the things of each name, and of the body."""
    away = np.linalg.norm(offsets, axis=1)[:, None]
    parts = [np.exp(-part / scale) for part in (distances, away) for scale in NEARNESS_SCALES]
    return np.concatenate(parts, axis=1).astype(np.float32)


def find_areas(surroundings: Surroundings, *, reach: float = 10.0) -> Array:
    """(n, 3) the middles of areas of visible floor around the body, as offsets; not the one under it."""
    half_areas = round(reach / (FLOOR_CELL * CELLS_PER_AREA))
    half = half_areas * CELLS_PER_AREA + CELLS_PER_AREA // 2
    floor = np.empty((2 * half + 1, 2 * half + 1), dtype=bool)
    faces = surroundings.panorama
    map_floor(faces.depth.ravel(), cube_map().rays, EYE_HEIGHT, FLOOR_TOLERANCE, FLOOR_CELL, floor)
    i, j = np.nonzero(floor)
    side = 2 * half_areas + 1
    area = i // CELLS_PER_AREA * side + j // CELLS_PER_AREA
    count = np.bincount(area, minlength=side * side)
    sums = [np.bincount(area, weights=(axis - half) * FLOOR_CELL, minlength=side * side) for axis in (i, j)]
    chosen = np.flatnonzero(count >= MIN_CELLS)
    chosen = chosen[chosen != half_areas * side + half_areas]
    middles = [total[chosen] / count[chosen] for total in sums]
    return np.column_stack([*middles, np.zeros(len(chosen))])
