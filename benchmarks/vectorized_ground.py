"""Speed of the vectorized ground: steps of 64 bodies in four Hearth houses per CPU second, beside one by one.

`make bench` runs this. Half of the actions are the expert's and half are random, as in DAgger. "One by one" steps a
`GroundSimulator` per body and asks `follow_geodesic` for each action.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from itinera.hearth.ground import ground_world
from itinera.planners.motion.geodesic_follower import follow_geodesic
from itinera.rendering.camera import Camera, blank_frames
from itinera.rendering.pooling import pool_frames
from itinera.seeding import generator
from itinera.simulators.goal_field import GoalField
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.vectorized import VectorizedGround
from itinera.tasks.protocol import R2R_CE
from itinera.worlds import Array, Pose, World
from itinera.worlds.surface import Surface
from timing import cpu

BODIES, HOUSES, STEPS, SLOW_STEPS = 64, 4, 40, 3
CHANNELS = ("depth", "classes")
RADIUS = 0.5  # metres from the goal where the expert stops


class Setting:
    """Bodies of the stage, and simulators, at the same starts in the same houses."""

    def __init__(self, side: int) -> None:
        rng = generator(0, "vectorized ground")
        worlds = {str(k): ground_world(1, k, radius=0.10, height=1.5) for k in range(HOUSES)}
        self.ids = [str(k % HOUSES) for k in range(BODIES)]
        self.worlds = [worlds[world_id] for world_id in self.ids]
        self.surfaces = [_surface(world) for world in self.worlds]
        self.starts = [Pose(_sample(s, rng), float(rng.uniform(-math.pi, math.pi))) for s in self.surfaces]
        self.goals = [_sample(surface, rng) for surface in self.surfaces]
        self.camera = CameraSensor(Camera(side, side, math.radians(90)), channels=CHANNELS)
        self.stage = VectorizedGround.for_protocol(R2R_CE, worlds, BODIES, camera=self.camera)
        self.blind, self.seeing = (
            [GroundSimulator.for_protocol(R2R_CE, camera=camera) for _ in range(BODIES)]
            for camera in (None, self.camera)
        )
        self.frames = blank_frames(self.camera.camera, BODIES, CHANNELS)
        self.fields = [s.field(goal[None]) for s, goal in zip(self.surfaces, self.goals, strict=True)]
        self.place()
        self.actions = [self._act(rng) for _ in range(STEPS)]

    def _act(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """The next actions, which the stage takes: the expert's or random ones."""
        random = rng.random(BODIES) < 0.5
        actions = np.where(random, rng.choice([1, 1, 2, 3], size=BODIES), self.stage.expert(RADIUS).actions)
        self.stage.step(actions)
        return actions

    def place(self) -> None:
        """Put everybody at the start."""
        self.stage.reset(range(BODIES), self.ids, self.starts)
        self.stage.set_goals(range(BODIES), self.goals)
        for bodies in (self.blind, self.seeing):
            for body, world, start in zip(bodies, self.worlds, self.starts, strict=True):
                body.reset(world, start)

    def walk(self, *, see: bool = False, ask: bool = False, steps: int = STEPS) -> None:
        """Steps of the stage."""
        for actions in self.actions[:steps]:
            self.stage.step(actions)
            if see:
                pool_frames(self.stage.render(out=self.frames), 2)
            if ask:
                self.stage.expert(RADIUS)

    def walk_one_by_one(self, *, see: bool = False, ask: bool = False, steps: int = SLOW_STEPS) -> None:
        """The same steps of simulators."""
        for actions in self.actions[:steps]:
            for k, body in enumerate(self.seeing if see else self.blind):
                seen = body.step(int(actions[k]))
                if ask:
                    pose = Pose(seen.place, seen.heading)
                    follow_geodesic(self.surfaces[k], pose, self.fields[k], radius=RADIUS, max_actions=500)


def _surface(world: World) -> Surface:
    assert isinstance(world.space, Surface)
    return world.space


def _sample(surface: Surface, rng: np.random.Generator) -> Array:
    place: Array = surface.sample(rng, 1)[0]
    return place


def rate(setting: Setting, work: Callable[[], None], steps: int) -> float:
    """Steps of one body per CPU second."""
    setting.place()
    work()  # compiled
    setting.place()
    return steps * BODIES / cpu(work, 3)


def main() -> None:
    setting, fine = Setting(128), Setting(256)
    table = Table("64 bodies in 4 houses", "steps / CPU second", "one by one", "ratio", "target")
    for what, chosen, options, wanted in (
        ("move", setting, {}, ""),
        ("move, expert", setting, {"ask": True}, "≥ 20,000/s"),
        ("move, see 128 × 128", setting, {"see": True}, "≥ 4,000/s"),
        ("move, see 128 × 128, expert", setting, {"see": True, "ask": True}, ""),
        ("move, see 256 × 256", fine, {"see": True}, ""),
    ):
        many = rate(chosen, lambda s=chosen, o=options: s.walk(**o), STEPS)  # type: ignore[misc]
        alone = rate(chosen, lambda s=chosen, o=options: s.walk_one_by_one(**o), SLOW_STEPS)  # type: ignore[misc]
        table.add_row(what, f"{many:,.0f}", f"{alone:,.0f}", f"{many / alone:.1f}", wanted)
    console = Console(width=110)
    console.print(table)
    whole = cpu(lambda: [s.field(g[None]) for s, g in zip(setting.surfaces, setting.goals, strict=True)]) / BODIES
    near = cpu(lambda: make_fields(setting)) / BODIES
    console.print("Seeing is depth and classes, pooled to half the side. Fields exist already:")
    console.print(f"one as far as a body takes {1e3 * near:.0f} ms, a whole one {1e3 * whole:.0f} ms.")


def make_fields(setting: Setting) -> None:
    """The fields that the expert needs at the starts."""
    for surface, goal, start in zip(setting.surfaces, setting.goals, setting.starts, strict=True):
        place = np.asarray(start.place, dtype=np.float64)[None]
        GoalField(surface, goal).label(
            place, np.zeros(1), step=0.25, turn=math.radians(15), radius=RADIUS, sliding=True
        )


if __name__ == "__main__":
    main()
