"""Rolls: walks by decisions, with the views and the teacher's label at each decision.

A roll is walked by the agent's own controller in the agent's own simulator, so that training and acting see the same
states. Many rolls of one house are walked together: their views are rendered in one call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol as TypingProtocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from itinera.agents.decisions import BINS, STOP_HERE, Decision, DecisionController, back_bin
from itinera.mapping.config import MapLifetime
from itinera.policies.ground.polar_views import FRONT, PANORAMA, PolarReader, PolarViews, bin_numbers
from itinera.policies.ground.remembered_views import RememberedViews
from itinera.rendering.camera import Frame
from itinera.rendering.rasterizer import Rasterizer
from itinera.seeding import generator
from itinera.simulators.ground import GroundSimulator
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
    """Rolls of one house. Row t of the views belongs to the roll k with starts[k] <= t < starts[k + 1]."""

    world_id: str
    paths: tuple[str, ...]  # (r,) the path of each roll
    starts: NDArray[np.int64]  # (r + 1,)
    bins: NDArray[np.int8]  # (t,) the decision taken
    steps: NDArray[np.int8]  # (t,) 0 to stop
    label_bins: NDArray[np.int8]  # (t,) the teacher's decision
    label_steps: NDArray[np.int8]  # (t,)
    views: PolarViews

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(r,) the decisions of each roll."""
        return np.diff(self.starts)

    @classmethod
    def concatenate(cls, parts: Sequence[Rolls]) -> Rolls:
        """The rolls of several parts of one house."""
        lengths = np.concatenate([part.lengths for part in parts])
        columns = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("bins", "steps", "label_bins", "label_steps")
        }
        return cls(
            parts[0].world_id,
            tuple(path for part in parts for path in part.paths),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            views=PolarViews.concatenate([part.views for part in parts]),
            **columns,
        )


Choose = Callable[[list[int], PolarViews, NDArray[np.float32], Sequence[Decision]], Sequence[Decision]]
"""The decisions of some rolls, given by their indices, from their views, free distances (n, 24, 2) and labels."""


class PolarSource(TypingProtocol):
    """What agents in one house see, each of them given by its row."""

    def observe(self, rows: Sequence[int], positions: Array, headings: Array) -> None:
        """Take in what some agents see after a primitive step, or at the start."""

    def read(self, rows: Sequence[int], positions: Array, headings: Array) -> tuple[PolarViews, NDArray[np.float32]]:
        """The views of some agents at a decision, and their free distances (n, 24, 2)."""


class PanoramaSource:
    """Four views at each decision."""

    def __init__(self, renderer: FrameRenderer) -> None:
        self._render = renderer

    def observe(self, rows: Sequence[int], positions: Array, headings: Array) -> None:
        """Nothing is remembered."""

    def read(self, rows: Sequence[int], positions: Array, headings: Array) -> tuple[PolarViews, NDArray[np.float32]]:
        return self._render.reader.read(self._render(positions, headings), positions, headings, PANORAMA)


class MemorySource:
    """A front view at every primitive step, remembered in a rich map."""

    def __init__(self, renderer: FrameRenderer, world: World, lifetime: MapLifetime) -> None:
        self._render, self._world, self._lifetime = renderer, world, lifetime
        self._memory: RememberedViews | None = None

    def observe(self, rows: Sequence[int], positions: Array, headings: Array) -> None:
        if self._memory is None:  # at the start, of all agents
            self._memory = RememberedViews([self._world] * len(rows), self._lifetime)
        frames = self._render(positions, headings)
        one = Frame(*(channel[:, 0] if len(channel) else channel for channel in frames.channels))
        self._memory.insert(one, positions, headings, rows)

    def read(self, rows: Sequence[int], positions: Array, headings: Array) -> tuple[PolarViews, NDArray[np.float32]]:
        assert self._memory is not None
        return self._memory.read(positions, headings, rows)


class FrameRenderer:
    """Renders the views of a sensor in a world from many positions on the floor in one call."""

    def __init__(self, world: World, sensor: CameraSensor) -> None:
        assert world.mesh is not None
        self.reader = PolarReader.for_world(world)
        self._sensor, self._raster = sensor, Rasterizer(world.mesh)

    def __call__(self, positions: Array, headings: Array) -> Frame:
        """(n, views, height, width) channels."""
        n, views, camera = len(positions), self._sensor.around, self._sensor.camera
        eyes = np.repeat(positions + np.array([0.0, 0.0, self._sensor.height]), views, axis=0)
        turned = (headings[:, None] + np.arange(views) * (math.tau / views)).ravel()
        found = self._raster.render_many(camera, eyes, turned, 0.0, channels=self._sensor.channels)
        shape = n, views, camera.height, camera.width
        return Frame(found.rgb, *(channel.reshape(shape) for channel in found.channels[1:]))


class Sources:
    """Makes the sources of agents that see all around, or with a lifetime of those that remember front views."""

    def __init__(self, lifetime: MapLifetime | None = None) -> None:
        self._lifetime = lifetime
        self.max_agents = 512 if lifetime is None else 48  # of a source; the map of an agent takes megabytes
        self._renderers: WeakKeyDictionary[World, FrameRenderer] = WeakKeyDictionary()

    def __call__(self, world: World) -> PolarSource:
        renderer = self._renderers.get(world)
        if renderer is None:
            sensor = PANORAMA if self._lifetime is None else FRONT
            renderer = self._renderers[world] = FrameRenderer(world, sensor)
        return PanoramaSource(renderer) if self._lifetime is None else MemorySource(renderer, world, self._lifetime)


@dataclass(eq=False)
class RollState:
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
    def place(cls, world: World, episode: Episode, protocol: Protocol) -> RollState:
        simulator = GroundSimulator.for_protocol(protocol)
        observation = simulator.reset(world, episode.start)
        agent = cls(episode, simulator, DecisionController(protocol), observation)
        agent.path.append(np.asarray(observation.place))
        return agent

    @property
    def back(self) -> int:
        """The bin of the place of the last decision; -1 at the first."""
        return back_bin(self.origin, self.observation)

    def begin_decision(self, decision: Decision) -> None:
        """Start to carry out a decision; to stop ends the walk."""
        self.origin = np.array(self.observation.place, dtype=np.float64)
        self.controller.start(decision)
        self.done = decision.stops

    def step(self, limit: int | None = None) -> bool:
        """Take the next primitive action of the decision, and return whether there was one."""
        action = None if self.done else self.controller.act(self.observation)
        if action is None:
            return False
        self.observation = self.simulator.step(action)
        self.actions += 1
        self.path.append(np.asarray(self.observation.place))
        self.done = limit is not None and self.actions >= limit
        return True


def walk(
    world: World,
    episodes: Sequence[Episode],
    protocol: Protocol,
    choose: Choose,
    source: PolarSource,
    *,
    max_decisions: int = MAX_DECISIONS,
    goal_fields: Sequence[DistanceField] | None = None,
) -> tuple[list[RollState], Rolls]:
    """The agents after their last decision, and their rolls; labels are zeros without fields of the goals."""
    assert isinstance(world.space, Surface)
    agents = [RollState.place(world, episode, protocol) for episode in episodes]
    taken: list[list[Decision]] = [[] for _ in agents]
    labels: list[list[Decision]] = [[] for _ in agents]
    views: list[PolarViews] = []
    owners: list[int] = []
    source.observe(list(range(len(agents))), *_poses(agents))
    for _ in range(max_decisions):
        rows = [k for k, agent in enumerate(agents) if not agent.done]
        if not rows:
            break
        alive = [agents[k] for k in rows]
        seen, free = source.read(rows, *_poses(alive))
        back = np.array([agent.back for agent in alive])
        blocked = np.array([agent.controller.blocked for agent in alive])
        seen = replace(seen, numbers=bin_numbers(free, back, blocked))
        views.append(seen)
        owners += rows
        if goal_fields is not None:
            for k, agent in zip(rows, alive, strict=True):
                pose = Pose(agent.observation.place, agent.observation.heading)
                labels[k].append(teach(world.space, goal_fields[k], pose, protocol))
        chosen = choose(rows, seen, free, [labels[k][-1] for k in rows] if goal_fields is not None else [])
        for k, decision in zip(rows, chosen, strict=True):
            taken[k].append(decision)
            agents[k].begin_decision(decision)
        while rows:
            rows = [k for k in rows if agents[k].step(protocol.step_limit)]
            if rows:
                source.observe(rows, *_poses([agents[k] for k in rows]))
    return agents, _pack(world.id, episodes, taken, labels, views, owners)


def _poses(agents: Sequence[RollState]) -> tuple[Array, Array]:
    """(n, 3) the positions and (n,) the headings of agents."""
    places = np.array([agent.observation.place for agent in agents], dtype=np.float64).reshape(-1, 3)
    return places, np.array([agent.observation.heading for agent in agents])


def _pack(
    world_id: str,
    episodes: Sequence[Episode],
    taken: list[list[Decision]],
    labels: list[list[Decision]],
    views: list[PolarViews],
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
        PolarViews.concatenate(views).select(order),
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
    world: World,
    episodes: Sequence[Episode],
    protocol: Protocol,
    *,
    seed: int,
    noise: float = NOISE,
    sources: Sources | None = None,
) -> Rolls:
    """Two rolls of each path: one as the teacher decides, one with a share of random free bearings.

    The episodes are of different paths. Labels are the teacher's either way.
    """
    assert isinstance(world.space, Surface)
    goal_fields = GoalFields(world.space)
    rng, sources = generator(seed, "rolls", world.id), sources or Sources()

    def choose_noisily(
        rows: list[int], views: PolarViews, free: NDArray[np.float32], labels: Sequence[Decision]
    ) -> Sequence[Decision]:
        return [
            random_decision(one, rng) if rng.random() < noise else label
            for one, label in zip(free, labels, strict=True)
        ]

    parts = []
    for choose in (follow_teacher, choose_noisily):
        for part in in_parts(episodes, sources.max_agents):
            wanted = [goal_fields[episode] for episode in part]
            parts.append(walk(world, part, protocol, choose, sources(world), goal_fields=wanted)[1])
    return Rolls.concatenate(parts)


def follow_teacher(
    rows: list[int], views: PolarViews, free: NDArray[np.float32], labels: Sequence[Decision]
) -> Sequence[Decision]:
    """The labels."""
    return labels


def in_parts(episodes: Sequence[Episode], size: int) -> list[Sequence[Episode]]:
    """The episodes in consecutive parts of at most this size."""
    return [episodes[k : k + size] for k in range(0, len(episodes), size)]


def random_decision(free: NDArray[np.float32], rng: np.random.Generator) -> Decision:
    """Some steps towards a random bearing that is free (24, 2), or towards any if none is."""
    wide = np.flatnonzero(np.nan_to_num(free[:, 0]) >= MIN_FREE)
    bin = int(rng.choice(wide)) if len(wide) else int(rng.integers(BINS))
    return Decision(bin, int(rng.integers(1, NOISY_STEPS + 1)))
