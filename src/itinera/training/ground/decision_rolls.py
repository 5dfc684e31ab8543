"""Rolls: walks by decisions, with the sights and the teacher's label at each decision.

A roll is walked by the agent's own controller in the agent's own simulator, so that training and acting see the same
states. Many rolls of one house are walked together: their views are rendered in one call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from itinera.agents.decisions import BINS, STOP_HERE, Decision, DecisionController, bearing_bin
from itinera.policies.ground.sights import PANORAMA, SightReader, Sights, bin_numbers
from itinera.rendering.camera import Frame
from itinera.rendering.rasterizer import Rasterizer
from itinera.seeding import generator
from itinera.simulators.ground import GroundSimulator, wrap_angle
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.simulator import Observation
from itinera.tasks import Episode, Protocol
from itinera.training.ground.decision_teacher import teach
from itinera.worlds import Array, Pose, World
from itinera.worlds.distance_field import DistanceField, snap_to_ground
from itinera.worlds.surface import Surface

MAX_DECISIONS = 16  # of a roll
NOISE = 0.25  # share of decisions that a noisy roll replaces by a random free bearing
MIN_FREE = 0.6  # metres of free distance that a random bearing needs
NOISY_STEPS = 4  # at most, of a random bearing


@dataclass(frozen=True, eq=False)
class Rolls:
    """Rolls of one house. Row t of the sights belongs to the roll k with starts[k] <= t < starts[k + 1]."""

    world_id: str
    paths: tuple[str, ...]  # (r,) the path of each roll
    starts: NDArray[np.int64]  # (r + 1,)
    bins: NDArray[np.int8]  # (t,) the decision taken
    steps: NDArray[np.int8]  # (t,) 0 to stop
    label_bins: NDArray[np.int8]  # (t,) the teacher's decision
    label_steps: NDArray[np.int8]  # (t,)
    sights: Sights

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.starts)


Choose = Callable[[list[int], Sights, NDArray[np.float32], Sequence[Decision]], Sequence[Decision]]
"""The decisions of some rolls, given by their indices, from their sights, free distances (n, 24, 2) and labels."""


class SightSource:
    """What the rolls of a house see: four views at each decision."""

    def __init__(self, world: World, sensor: CameraSensor = PANORAMA) -> None:
        assert world.mesh is not None
        self._sensor, self._raster, self._reader = sensor, Rasterizer(world.mesh), SightReader.for_world(world)

    def read(self, rolls: Sequence[int], positions: Array, headings: Array) -> tuple[Sights, NDArray[np.float32]]:
        """The sights of some rolls and their free distances."""
        n, views, camera = len(positions), self._sensor.around, self._sensor.camera
        eyes = np.repeat(positions + (0.0, 0.0, self._sensor.height), views, axis=0)
        turned = (headings[:, None] + np.arange(views) * (2 * np.pi / views)).ravel()
        found = self._raster.render_many(camera, eyes, turned, 0.0, channels=self._sensor.channels)
        shape = n, views, camera.height, camera.width
        frames = Frame(found.rgb, *(channel.reshape(shape) for channel in found.channels[1:]))
        return self._reader.read(frames, positions, headings, self._sensor)


@dataclass(eq=False)
class Walker:
    """A roll in progress."""

    episode: Episode
    simulator: GroundSimulator
    controller: DecisionController
    observation: Observation
    origin: Array | None = None  # where the last decision was made
    done: bool = False
    actions: int = 0
    path: list[Array] = field(default_factory=list)  # positions after each primitive action

    @classmethod
    def begin(cls, world: World, episode: Episode, protocol: Protocol) -> Walker:
        simulator = GroundSimulator.for_protocol(protocol)
        observation = simulator.reset(world, episode.start)
        walker = cls(episode, simulator, DecisionController(protocol), observation)
        walker.path.append(np.asarray(observation.place))
        return walker

    @property
    def back(self) -> int:
        """The bin of the place of the last decision; -1 at the first."""
        return back_bin(self.origin, self.observation)

    def carry_out(self, decision: Decision, limit: int | None = None) -> None:
        """Take the primitive actions of a decision, up to `limit` in all."""
        self.origin = np.array(self.observation.place, dtype=np.float64)
        if decision.stops:
            self.done = True
            return
        self.controller.begin(decision)
        while True:
            action = self.controller.act(self.observation)
            if action is None:
                return
            self.observation = self.simulator.step(action)
            self.actions += 1
            self.path.append(np.asarray(self.observation.place))
            if limit is not None and self.actions >= limit:
                self.done = True
                return


def back_bin(origin: Array | None, observation: Observation) -> int:
    """The bin in which an earlier place lies from here; -1 for none, or if it is here."""
    if origin is None:
        return -1
    away = origin - np.asarray(observation.place, dtype=np.float64)
    if float(np.hypot(away[0], away[1])) < 0.05:
        return -1
    return bearing_bin(wrap_angle(float(np.arctan2(away[1], away[0])) - observation.heading))


def walk(
    world: World,
    episodes: Sequence[Episode],
    protocol: Protocol,
    choose: Choose,
    *,
    max_decisions: int = MAX_DECISIONS,
    goal_fields: Sequence[DistanceField] | None = None,
    source: SightSource | None = None,
) -> tuple[list[Walker], Rolls]:
    """The walkers after their last decision, and their rolls; labels are zeros without fields of the goals."""
    assert isinstance(world.space, Surface)
    source = source or SightSource(world)
    walkers = [Walker.begin(world, episode, protocol) for episode in episodes]
    taken: list[list[Decision]] = [[] for _ in walkers]
    labels: list[list[Decision]] = [[] for _ in walkers]
    sights: list[Sights] = []
    owners: list[int] = []
    for _ in range(max_decisions):
        rows = [k for k, walker in enumerate(walkers) if not walker.done]
        if not rows:
            break
        alive = [walkers[k] for k in rows]
        positions = np.array([walker.observation.place for walker in alive], dtype=np.float64)
        headings = np.array([walker.observation.heading for walker in alive])
        seen, free = source.read(rows, positions, headings)
        back = np.array([walker.back for walker in alive])
        blocked = np.array([walker.controller.blocked for walker in alive])
        seen = Sights(seen.starts, seen.cells, seen.labels, seen.weights, bin_numbers(free, back, blocked))
        sights.append(seen)
        owners += rows
        if goal_fields is not None:
            for k, walker in zip(rows, alive, strict=True):
                pose = Pose(walker.observation.place, walker.observation.heading)
                labels[k].append(teach(world.space, goal_fields[k], pose, protocol))
        chosen = choose(rows, seen, free, [labels[k][-1] for k in rows] if goal_fields is not None else [])
        for k, walker, decision in zip(rows, alive, chosen, strict=True):
            taken[k].append(decision)
            walker.carry_out(decision, protocol.step_limit)
    return walkers, _pack(world.id, episodes, taken, labels, sights, owners)


def _pack(
    world_id: str,
    episodes: Sequence[Episode],
    taken: list[list[Decision]],
    labels: list[list[Decision]],
    sights: list[Sights],
    owners: list[int],
) -> Rolls:
    order = np.argsort(np.array(owners), kind="stable")  # by roll, then in time
    starts = np.concatenate([[0], np.cumsum([len(row) for row in taken])]).astype(np.int64)
    flat = [decision for row in taken for decision in row]
    taught = [decision for row in labels for decision in row] or [STOP_HERE] * len(flat)
    return Rolls(
        world_id,
        tuple(episode.path_id or episode.id for episode in episodes),
        starts,
        np.array([d.bin for d in flat], np.int8),
        np.array([d.steps for d in flat], np.int8),
        np.array([d.bin for d in taught], np.int8),
        np.array([d.steps for d in taught], np.int8),
        Sights.concatenate(sights).select(order),
    )


class GoalFields:
    """The distance fields of the goals of a house, each computed once."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._fields: dict[bytes, DistanceField] = {}

    def __getitem__(self, episode: Episode) -> DistanceField:
        goals = np.asarray(episode.goals, dtype=np.float64)
        key = goals.tobytes()
        if key not in self._fields:
            ground = self._surface.ground
            self._fields[key] = DistanceField.compute(ground, snap_to_ground(ground, goals))
        return self._fields[key]


def expert_rolls(
    world: World, episodes: Sequence[Episode], protocol: Protocol, *, seed: int, noise: float = NOISE
) -> Rolls:
    """Two rolls of each path: one as the teacher decides, one with a share of random free bearings.

    The episodes are of different paths. Labels are the teacher's either way.
    """
    assert isinstance(world.space, Surface)
    goal_fields = GoalFields(world.space)
    doubled = [*episodes, *episodes]
    rng = generator(seed, "rolls", world.id)

    def choose(
        rows: list[int], sights: Sights, free: NDArray[np.float32], labels: Sequence[Decision]
    ) -> Sequence[Decision]:
        return [
            random_decision(free[i], rng) if k >= len(episodes) and rng.random() < noise else label
            for i, (k, label) in enumerate(zip(rows, labels, strict=True))
        ]

    wanted = [goal_fields[episode] for episode in doubled]
    return walk(world, doubled, protocol, choose, goal_fields=wanted)[1]


def random_decision(free: NDArray[np.float32], rng: np.random.Generator) -> Decision:
    """Some steps towards a random bearing that is free (24, 2), or towards any if none is."""
    wide = np.flatnonzero(np.nan_to_num(free[:, 0]) >= MIN_FREE)
    bin = int(rng.choice(wide)) if len(wide) else int(rng.integers(BINS))
    return Decision(bin, int(rng.integers(1, NOISY_STEPS + 1)))
