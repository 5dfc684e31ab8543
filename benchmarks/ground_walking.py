"""Speed of the simulators on the ground: steps per CPU second in a Hearth house, with and without a camera.

`make bench` runs this. Most of a step with a camera should be rendering: the same views rendered without a simulator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from itinera.hearth.ground import ground_world
from itinera.rendering.camera import Camera
from itinera.rendering.rasterizer import Rasterizer
from itinera.seeding import generator
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.simulator import Observation, Simulator
from itinera.simulators.unicycle import UnicycleSimulator, point_turn, unicycle_6, unicycle_15
from itinera.tasks.protocol import POINTNAV, R2R_CE, RXR_CE
from itinera.worlds import Pose, World
from itinera.worlds.surface import Surface
from timing import cpu

STEPS, RENDERED_STEPS = 50_000, 2_000
SMALL = CameraSensor(Camera(64, 64, math.radians(90)), channels=("depth",))
VLNCE = CameraSensor(Camera(224, 224, math.radians(90)), channels=("rgb", "depth"))


def draw_actions(body: Simulator, count: int) -> list[int]:
    """Random actions: two of three forward for discrete actions, uniform for unicycles."""
    rng = generator(0, "actions", str(body.actions))
    kinds = [1] * 6 + [2, 3, 2] if isinstance(body, GroundSimulator) else range(1, body.actions)
    return rng.choice(kinds, size=count).tolist()  # type: ignore[no-any-return]


def steps(body: Simulator, world: World, start: Pose, count: int = STEPS) -> float:
    """Steps per CPU second; every observation is made."""
    actions = draw_actions(body, count)

    def take_steps() -> None:
        body.reset(world, start)
        for action in actions:
            body.step(action)

    take_steps()  # compiled
    return count / cpu(take_steps, 5)


def camera_share(camera: CameraSensor, world: World, start: Pose) -> tuple[float, float]:
    """Steps per CPU second with this camera, and the share of rendering the same views without a simulator."""
    body = GroundSimulator.for_protocol(R2R_CE, camera=camera)
    rate = steps(body, world, start, RENDERED_STEPS)
    blind = GroundSimulator.for_protocol(R2R_CE)
    observations = [blind.reset(world, start), *map(blind.step, draw_actions(blind, RENDERED_STEPS))]
    assert world.mesh is not None
    raster = Rasterizer(world.mesh)
    return rate, cpu(lambda: _render(camera, raster, observations), 5) * rate / len(observations)


def _render(camera: CameraSensor, raster: Rasterizer, observations: Sequence[Observation]) -> None:
    for observation in observations:
        x, y, z = observation.place
        raster.render(camera.camera, (x, y, z + camera.height), observation.heading, channels=camera.channels)


def main() -> None:
    world = ground_world(1, 0, radius=0.10, height=1.5)
    assert isinstance(world.space, Surface)
    assert world.mesh is not None
    start = Pose(world.space.sample(generator(0, "start"), 1)[0])
    bodies = {
        "r2r-ce, sliding": GroundSimulator.for_protocol(R2R_CE),
        "rxr-ce": GroundSimulator.for_protocol(RXR_CE),
        "pointnav": GroundSimulator.for_protocol(POINTNAV),
        "point turns, 4 actions": UnicycleSimulator(point_turn()),
        "unicycle, 6 actions": UnicycleSimulator(unicycle_6()),
        "unicycle, 15 actions": UnicycleSimulator(unicycle_15()),
    }
    table = Table("simulator", "steps / CPU second", "rendering", "target", title="Simulators on the ground")
    for what, body in bodies.items():
        table.add_row(what, f"{steps(body, world, start):,.0f}", "", "≥ 50,000/s")
    for what, camera, wanted in (
        ("r2r-ce, depth 64 × 64", SMALL, "rendering ≥ 70 %"),
        ("r2r-ce, color and depth 224 × 224", VLNCE, ""),
    ):
        rate, share = camera_share(camera, world, start)
        table.add_row(what, f"{rate:,.0f}", f"{share:.0%}", wanted)
    console = Console(width=110)
    console.print(table)
    console.print(f"{len(world.mesh.faces):,} triangles, {len(world.space.ground):,} cells.")


if __name__ == "__main__":
    main()
