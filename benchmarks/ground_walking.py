"""How fast does one walk on the ground? Steps a CPU second in a Hearth house, with and without a camera.

`make bench` runs this. Of a step with a camera, most should be the camera's own: the same views drawn without a body.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from itinera.builders.hearth import ground_world
from itinera.rendering.rasterizer import Camera, Raster
from itinera.seeding import generator
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.simulator import Observation, Simulator
from itinera.simulators.unicycle import UnicycleSimulator, point_turn, unicycle_6, unicycle_15
from itinera.tasks.protocol import POINTNAV, R2R_CE, RXR_CE
from itinera.worlds import Pose, World
from itinera.worlds.surface import Surface
from timing import cpu

STEPS, DRAWN = 50_000, 2_000
SMALL = CameraSensor(Camera(64, 64, math.radians(90)), channels=("depth",))
VLNCE = CameraSensor(Camera(224, 224, math.radians(90)), channels=("rgb", "depth"))


def actions_of(body: Simulator, count: int) -> list[int]:
    """Two of three lead forward where one walks; all alike where one drives."""
    rng = generator(0, "actions", str(body.actions))
    kinds = [1] * 6 + [2, 3, 2] if isinstance(body, GroundSimulator) else range(1, body.actions)
    return rng.choice(kinds, size=count).tolist()  # type: ignore[no-any-return]


def steps(body: Simulator, world: World, start: Pose, count: int = STEPS) -> float:
    """Steps a second, every observation made."""
    actions = actions_of(body, count)

    def stroll() -> None:
        body.reset(world, start)
        for action in actions:
            body.step(action)

    stroll()  # compiled
    return count / cpu(stroll, 5)


def camera_share(eye: CameraSensor, world: World, start: Pose) -> tuple[float, float]:
    """Steps a second with this eye, and which part of the time the same views take without a body."""
    body = GroundSimulator.for_protocol(R2R_CE, eye=eye)
    rate = steps(body, world, start, DRAWN)
    blind = GroundSimulator.for_protocol(R2R_CE)
    shown = [blind.reset(world, start), *map(blind.step, actions_of(blind, DRAWN))]
    assert world.mesh is not None
    raster = Raster(world.mesh)
    return rate, cpu(lambda: _draw(eye, raster, shown), 5) * rate / len(shown)


def _draw(eye: CameraSensor, raster: Raster, shown: Sequence[Observation]) -> None:
    for seen in shown:
        x, y, z = seen.place
        raster.look(eye.camera, (x, y, z + eye.height), seen.heading, channels=eye.channels)


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
    table = Table("what", "steps / CPU second", "of it the camera", "wanted", title="Walking on the ground")
    for what, body in bodies.items():
        table.add_row(what, f"{steps(body, world, start):,.0f}", "", "≥ 50,000/s")
    for what, eye, wanted in (
        ("r2r-ce, depth 64 × 64", SMALL, "camera ≥ 70 %"),
        ("r2r-ce, colour and depth 224 × 224", VLNCE, ""),
    ):
        rate, share = camera_share(eye, world, start)
        table.add_row(what, f"{rate:,.0f}", f"{share:.0%}", wanted)
    console = Console(width=110)
    console.print(table)
    console.print(f"{len(world.mesh.faces):,} triangles, {len(world.space.ground):,} cells.")


if __name__ == "__main__":
    main()
