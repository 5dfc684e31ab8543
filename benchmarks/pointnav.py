"""Speed of the PointNav stage: steps of 128 robots in eight Hearth houses per CPU second, by sensor.

`make bench` runs this. Robots take random actions, seven of ten of them forward, and slide; starts are drawn up to 12 m
from their goals. Beside it: the environment of one robot on the same houses, goal tables, and goals that are new to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import gymnasium
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import itinera.gym
from itinera.hearth.ground import ground_world
from itinera.rendering.camera import Camera
from itinera.seeding import generator
from itinera.simulators.motion import Motion
from itinera.simulators.pointnav.episodes import TrainingStarts
from itinera.simulators.pointnav.house_set import PointNavHouses, sample_goals
from itinera.simulators.pointnav.sensors import DepthSensor, ScanSensor
from itinera.simulators.pointnav.vectorized import VectorizedPointNav
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.unicycle import unicycle_6
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Array, Pose, World
from itinera.worlds.goal_table import GoalTable
from itinera.worlds.surface import Surface
from timing import cpu

ROBOTS, HOUSES, GOALS = 128, 8, 8
STEPS, DEPTH_STEPS, SINGLE_STEPS = 200, 12, 400
SMALL = Camera(64, 64, math.radians(90))
Actions = NDArray[np.int64]


class Setting:
    """Houses and goals, and random actions."""

    def __init__(self) -> None:
        self.worlds: Mapping[str, World] = {str(k): ground_world(1, k, radius=0.20) for k in range(HOUSES)}
        self.goals = sample_goals(self.worlds, GOALS, 0)
        self.houses = PointNavHouses.load(self.worlds, self.goals, scan=True, depth=True)
        self.rng = generator(0, "pointnav benchmark")

    def actions(self, steps: int, count: int) -> Actions:
        """(steps, robots) forward most of the time, and STOP now and then."""
        chances = np.array([0.01, 0.69, *[0.30 / (count - 2)] * (count - 2)])
        return self.rng.choice(count, size=(steps, ROBOTS), p=chances)

    def rate(
        self,
        *,
        scan: ScanSensor | None = None,
        depth: DepthSensor | None = None,
        motion: Motion | None = None,
        steps: int = STEPS,
    ) -> float:
        """Steps of one robot per CPU second."""
        starts = TrainingStarts(self.houses, max_distance=12.0, steps_per_metre=14.0)
        stage = VectorizedPointNav(
            self.houses, starts, ROBOTS, motion=motion, sliding=True, scan=scan, depth=depth, seed=1
        )
        stage.reset()
        actions = self.actions(steps, stage.num_actions)

        def work() -> None:
            for chosen in actions:
                stage.step(chosen)

        work()  # compiled
        return steps * ROBOTS / cpu(work, 3)

    def single_rate(self, camera: CameraSensor | None, *, episodes: int, repeats: int = 3) -> float:
        """Steps of the environment of one robot per CPU second; with one repeat, every goal is new to it."""
        env = gymnasium.make("itinera/PointNav-v0", tasks=self.split(episodes), worlds=self.worlds, camera=camera)
        env.reset(seed=0)
        stop = 0.25 if repeats == 1 else 0.01
        actions = self.rng.choice(4, size=SINGLE_STEPS, p=[stop, 0.8 - stop, 0.1, 0.1])

        def work() -> None:
            for action in actions:
                *_, terminated, truncated, _ = env.step(action)
                if terminated or truncated:
                    env.reset()

        if repeats > 1:
            work()
        return SINGLE_STEPS / cpu(work, repeats)

    def split(self, episodes: int) -> Split:
        """Episodes with a goal each, over all houses."""
        found = []
        for k in range(episodes):
            world_id = str(k % HOUSES)
            start, goal = surface(self.worlds[world_id]).sample(self.rng, 2)
            found.append(Episode(str(k), world_id, Pose(start), goal[None], (), Instruction("")))
        return Split("benchmark", tuple(found), protocol="pointnav")


def surface(world: World) -> Surface:
    assert isinstance(world.space, Surface)
    return world.space


def main() -> None:
    assert itinera.gym  # registers the environment
    setting = Setting()
    table = Table(f"{ROBOTS} robots in {HOUSES} houses", "steps / CPU second", "target")
    drive = Motion.speeds(unicycle_6())
    pooled, plain = DepthSensor(SMALL, pool=(4, 4)), DepthSensor(SMALL)
    rows: tuple[tuple[str, str, dict[str, object]], ...] = (
        ("no sensor", "", {}),
        ("no sensor, unicycle-6", "", {"motion": drive}),
        ("scan of 32 rays", "≥ 100,000/s", {"scan": ScanSensor(32)}),
        ("scan of 64 rays", "", {"scan": ScanSensor(64)}),
        ("scan of 32 rays, unicycle-6", "≥ 100,000/s", {"scan": ScanSensor(32), "motion": drive}),
        ("depth 64 × 64", "≥ 7,000/s", {"depth": plain, "steps": DEPTH_STEPS}),
        ("depth 64 × 64 pooled to 16 × 16", "≥ 7,000/s", {"depth": pooled, "steps": DEPTH_STEPS}),
    )
    for name, target, options in rows:
        table.add_row(name, f"{setting.rate(**options):,.0f}", target)  # type: ignore[arg-type]
    depth = CameraSensor(SMALL, channels=("depth",))
    table.add_row("one robot: no sensor", f"{setting.single_rate(None, episodes=8):,.0f}", "")
    table.add_row("one robot: depth 64 × 64", f"{setting.single_rate(depth, episodes=8):,.0f}", "")
    new = setting.single_rate(None, episodes=200, repeats=1)
    table.add_row("one robot: no sensor, all goals new", f"{new:,.0f}", "")
    console = Console(width=110)
    console.print(table)
    ground = surface(setting.worlds["0"]).ground
    goals: Array = setting.goals["0"]
    seconds = cpu(lambda: GoalTable.compute(ground, goals)) / GOALS
    size = GoalTable.compute(ground, goals).nbytes / GOALS
    cost = f"{1e3 * seconds:.0f} ms once, and {size / 1e3:.0f} kB"
    console.print(f"A goal of a table takes {cost} in a house of {len(ground):,} cells.")


if __name__ == "__main__":
    main()
