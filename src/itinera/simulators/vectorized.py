"""Many bodies in many houses in one call: they move, see, and learn what an expert would do, as one by one.

`VectorizedGround` is the stage of training on the ground. Places, headings, collisions and frames equal those of
`GroundSimulator` and `UnicycleSimulator` bit by bit, and the labels equal the actions of `follow_geodesic`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.errors import BadArgument
from itinera.planners.motion.geodesic_follower import ExpertLabels
from itinera.rendering.camera import Frame
from itinera.rendering.rasterizer import Rasterizer, render_meshes
from itinera.simulators._vectorized_kernels import move_bodies, place_bodies
from itinera.simulators.goal_field import GoalField
from itinera.simulators.ground import check_start, wrap_angle
from itinera.simulators.motion import Motion
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.simulator import STOP, Observation, Simulator
from itinera.tasks import Protocol
from itinera.worlds import Array, Place, Pose, World
from itinera.worlds.distance_field import as_points, snap_to_ground
from itinera.worlds.surface import Surface

HOUSES = 64  # kept in memory, about 20 MB each
FIELDS = 128  # of each house, kept in memory: 0.1 to 0.4 MB, or 1 to 3 MB while somebody is going to the goal
Index = NDArray[np.int64]
T = TypeVar("T")


class _Recent(Generic[T]):
    """Values that are slow to make, the last used ones of which are kept."""

    def __init__(self, size: int) -> None:
        self._size, self._kept = size, OrderedDict[Hashable, T]()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        found = self._kept.pop(key, None)
        if found is None:
            while len(self._kept) >= self._size:
                self._kept.popitem(last=False)
            found = make()
        self._kept[key] = found
        return found


@dataclass(frozen=True, eq=False)
class _House:
    """What the stage keeps of a world: the rest of it can be forgotten."""

    surface: Surface
    raster: Rasterizer | None
    fields: _Recent[GoalField]


class VectorizedGround:
    """Bodies on the ground of any number of houses; each is placed by `reset` and moved by `step`."""

    def __init__(
        self,
        worlds: Mapping[str, World],
        num_envs: int,
        *,
        motion: Motion | None = None,  # None: steps of 0.25 m and turns of 15 degrees
        sliding: bool = True,
        camera: CameraSensor | None = None,  # None: nothing to render
        houses: int = HOUSES,
        fields: int = FIELDS,
    ) -> None:
        """`houses`, and `fields` of each, bound the memory; what bodies are using is kept beyond that."""
        if num_envs < 1:
            raise BadArgument(f"num_envs must be at least 1, not {num_envs}.")
        if camera is not None and (camera.panorama or camera.around > 1):
            raise BadArgument("A camera of many bodies renders what is ahead, not panoramas.")
        self._worlds, self._motion, self._sliding, self._sensor = worlds, motion or Motion.steps(), sliding, camera
        self._houses, self._num_fields = _Recent[_House](max(1, houses)), max(1, fields)
        self._number = {world_id: k for k, world_id in enumerate(worlds)}
        n = self.num_envs = num_envs
        self._world_ids = [""] * n
        self._house: list[_House | None] = [None] * n
        self._goals: list[GoalField | None] = [None] * n
        self._cells, self._across = np.zeros(n, dtype=np.int32), np.zeros((n, 2))
        self._starts, self._turned, self._headings = np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros(n)
        self._elevations, self._places, self._times = np.zeros(n), np.zeros((n, 3)), np.zeros(n)
        self._collided = np.zeros(n, dtype=np.bool_)

    @classmethod
    def for_protocol(
        cls,
        protocol: Protocol,
        worlds: Mapping[str, World],
        num_envs: int,
        *,
        camera: CameraSensor | None = None,
        houses: int = HOUSES,
        fields: int = FIELDS,
    ) -> VectorizedGround:
        """The stage of a protocol on the ground."""
        motion, sliding = Motion.for_protocol(protocol), bool(protocol.sliding)
        return cls(worlds, num_envs, motion=motion, sliding=sliding, camera=camera, houses=houses, fields=fields)

    @property
    def actions(self) -> int:
        """The number of actions, STOP included."""
        return len(self._motion)

    @property
    def positions(self) -> Array:
        """(n, 3) metres, at floor height."""
        return self._places.copy()

    @property
    def headings(self) -> Array:
        """(n,) radians in (-pi, pi]."""
        return self._headings.copy()

    @property
    def elevations(self) -> Array:
        """(n,) radians above the horizon, as at the start."""
        return self._elevations.copy()

    @property
    def collided(self) -> NDArray[np.bool_]:
        """(n,) whether the last action of each body hit a wall."""
        return self._collided.copy()

    @property
    def world_ids(self) -> Sequence[str]:
        """The world of each body; empty before its first reset."""
        return tuple(self._world_ids)

    @property
    def world_index(self) -> Index:
        """(n,) the place of each body's world in `worlds`, -1 before its first reset."""
        return np.array([self._number.get(world_id, -1) for world_id in self._world_ids], dtype=np.int64)

    def reset(self, index: ArrayLike, world_ids: Sequence[str], poses: Sequence[Pose]) -> None:
        """Place the bodies `index`, each in a world at a pose. Their goals are forgotten."""
        rows = self._rows(index)
        if not len(rows) == len(world_ids) == len(poses):
            raise BadArgument(
                f"{len(rows)} bodies need as many worlds and poses, not {len(world_ids)} and {len(poses)}."
            )
        for k, world_id, pose in zip(rows.tolist(), world_ids, poses, strict=True):
            house = self._find_house(world_id)
            spots = snap_to_ground(house.surface.ground, as_points(np.asarray(check_start(pose))[None]))
            self._world_ids[k], self._house[k] = world_id, house
            self._set_goal(k, None)
            self._cells[k], self._across[k] = spots.cells[0], spots.across[0]
            self._starts[k] = self._headings[k] = wrap_angle(pose.heading)
            self._elevations[k], self._turned[k], self._times[k], self._collided[k] = pose.elevation, 0, 0.0, False
            self._place(house, np.array([k]))

    def step(self, actions: ArrayLike, index: ArrayLike | None = None) -> NDArray[np.bool_]:
        """(n,) whether each body hit a wall, after one action each; with `index`, of these bodies only."""
        chosen = np.asarray(actions)
        rows = self._rows(index)
        if chosen.shape != rows.shape or chosen.dtype.kind not in "iu":
            raise BadArgument(
                f"{len(rows)} bodies need ({len(rows)},) integer actions, not {chosen.dtype} of {chosen.shape}."
            )
        if len(chosen) and not 0 <= chosen.min() <= chosen.max() < self.actions:
            wrong = chosen[(chosen < 0) | (chosen >= self.actions)][0]
            raise BadArgument(f"action must be 0 to {self.actions - 1}, not {wrong}.")
        chosen = chosen.astype(np.int64)
        for house, members in self._groups(rows):
            ground, motion, which = house.surface.ground, self._motion, rows[members]
            hit = np.empty(len(which), dtype=np.bool_)
            move_bodies(
                ground.links,
                ground.slopes,
                ground.heights,
                ground.origin,
                ground.size,
                self._sliding,
                motion.chords,
                motion.pieces,
                motion.turns,
                motion.turn,
                motion.period,
                which,
                chosen[members],
                self._cells,
                self._across,
                self._starts,
                self._turned,
                self._headings,
                self._places,
                hit,
            )
            self._collided[which] = hit
        self._times[rows[chosen != STOP]] += self._motion.duration
        return self._collided[rows]

    def render(self, index: ArrayLike | None = None, *, out: Frame | None = None) -> Frame:
        """The camera images (n, ...) of all bodies, or of these; with `out` from `blank_frames` rendered into it."""
        sensor, rows = self._require_camera(), self._rows(index)
        rasters = [house.raster for house in map(self._house_at, rows.tolist()) if house.raster is not None]
        return render_meshes(
            rasters,
            sensor.camera,
            self.camera_positions[rows],
            self._headings[rows],
            self._elevations[rows] + sensor.elevation,
            channels=sensor.channels,
            out=out,
        )

    @property
    def camera_positions(self) -> Array:
        """(n, 3) metres, from which `render` looks."""
        above = self._places.copy()
        above[:, 2] += self._require_camera().height
        return above

    def _require_camera(self) -> CameraSensor:
        if self._sensor is None:
            raise BadArgument("There is no camera: give one to the constructor.")
        return self._sensor

    def set_goals(self, index: ArrayLike, goals: Sequence[Place]) -> None:
        """Set the goals of these bodies, to which `expert` leads. Distance fields are kept for bodies with one goal."""
        rows = self._rows(index)
        if len(goals) != len(rows):
            raise BadArgument(f"{len(rows)} bodies need as many goals, not {len(goals)}.")
        for k, goal in zip(rows.tolist(), goals, strict=True):
            house, place = self._house_at(k), np.array(goal, dtype=np.float64)
            self._set_goal(k, house.fields.get(place.tobytes(), partial(GoalField, house.surface, place)))

    def expert(self, radius: float, index: ArrayLike | None = None) -> ExpertLabels:
        """What the expert would do next: it leads within `radius` metres of each goal and stops there."""
        rows, (step, turn) = self._rows(index), self._motion.step_and_turn
        labels = ExpertLabels(np.empty(len(rows), np.int64), np.empty(len(rows), np.int64), np.empty(len(rows)))
        sharing: dict[int, list[int]] = {}
        for place, k in enumerate(rows.tolist()):
            if self._goals[k] is None:
                raise BadArgument(f"Body {k} has no goal: call set_goals after reset.")
            sharing.setdefault(id(self._goals[k]), []).append(place)
        # One house after the other, so that it stays in the processor's cache.
        for places in sorted(sharing.values(), key=lambda places: id(self._house[rows[places[0]]])):
            which = rows[places]
            goal = self._goals[which[0]]
            assert goal is not None
            found = goal.label(
                self._places[which],
                self._headings[which],
                step=step,
                turn=turn,
                radius=radius,
                sliding=self._sliding,
            )
            labels.actions[places], labels.bearings[places] = found.actions, found.bearings
            labels.distances[places] = found.distances
        return labels

    def body(self, k: int) -> Simulator:
        """Body k as a simulator, for a `TourLoop` per body; its observations have no frames."""
        return _Body(self, k)

    def observation(self, k: int) -> Observation:
        """The observation of one body, without a frame."""
        self._house_at(k)
        return Observation(
            self._world_ids[k],
            self._places[k].copy(),
            float(self._headings[k]),
            float(self._elevations[k]),
            collided=bool(self._collided[k]),
            time=float(self._times[k]),
        )

    def _rows(self, index: ArrayLike | None) -> Index:
        """The numbers of the bodies of an index."""
        if index is None:
            return np.arange(self.num_envs)
        rows = np.asarray(index)
        if rows.size == 0:
            return np.empty(0, dtype=np.int64)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or not 0 <= rows.min() <= rows.max() < self.num_envs:
            raise BadArgument(f"An index is a list of bodies, 0 to {self.num_envs - 1}, not {index}.")
        return rows.astype(np.int64)

    def _groups(self, rows: Index) -> list[tuple[_House, Index]]:
        """Each house with the places in `rows` of the bodies in it."""
        found: dict[int, list[int]] = {}
        for place, k in enumerate(rows.tolist()):
            found.setdefault(id(self._house_at(k)), []).append(place)
        return [(self._house_at(int(rows[places[0]])), np.array(places)) for places in found.values()]

    def _house_at(self, k: int) -> _House:
        house = self._house[k]
        if house is None:
            raise BadArgument(f"Body {k} is nowhere: call reset first.")
        return house

    def _place(self, house: _House, which: Index) -> None:
        ground = house.surface.ground
        place_bodies(
            ground.links,
            ground.slopes,
            ground.heights,
            ground.origin,
            ground.size,
            which,
            self._cells,
            self._across,
            self._places,
        )

    def _find_house(self, world_id: str) -> _House:
        def make() -> _House:
            world = self._worlds[world_id]
            if not isinstance(world.space, Surface):
                raise BadArgument(f"World {world.id} has no surface. Use a scene or a house of a Hearth season.")
            if self._sensor is None:
                return _House(world.space, None, _Recent(self._num_fields))
            if world.mesh is None:
                raise BadArgument(f"World {world.id} has no mesh to render. Leave out the camera, or give its scene.")
            raster = Rasterizer(world.mesh, appearance=self._sensor.appearance)
            return _House(world.space, raster, _Recent(self._num_fields))

        return self._houses.get(world_id, make)

    def _set_goal(self, k: int, goal: GoalField | None) -> None:
        before, self._goals[k] = self._goals[k], goal
        if before is not None and all(other is not before for other in self._goals):
            before.pack()


class _Body:
    """One body of the stage as a `Simulator`."""

    def __init__(self, stage: VectorizedGround, k: int) -> None:
        self._stage, self._k = stage, k

    def reset(self, world: World, pose: Pose) -> Observation:
        self._stage.reset([self._k], [world.id], [pose])
        return self._stage.observation(self._k)

    def step(self, action: int) -> Observation:
        self._stage.step([action], [self._k])
        return self._stage.observation(self._k)

    @property
    def pose(self) -> Pose:
        seen = self._stage.observation(self._k)
        return Pose(seen.place, seen.heading, seen.elevation)

    @property
    def actions(self) -> int:
        return self._stage.actions
