"""Rendering speed: frames per second on one core in the median Hearth house, flat and textured, beside other renderers.

`make bench` runs this. Embree (embreex) only casts the rays, without looking up what they hit. pybullet renders color,
depth and labels with its own CPU renderer. Missing packages are skipped with a message. Renderers take turns, so that a
busy machine slows all of them alike; a ratio is the median over rounds of the ratio within a round.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from itinera.hearth.build import House, build_house
from itinera.rendering.appearance import APPEARANCES, FLAT, Appearance
from itinera.rendering.camera import CHANNELS, Camera, blank_frames
from itinera.rendering.rasterizer import Rasterizer
from itinera.seeding import generator
from itinera.worlds import Array
from itinera.worlds.mesh import Mesh
from itinera.worlds.surface import Surface

HOUSES = 9
VIEWS = 200
FEW = 12  # views of the other renderers
ROUNDS = 9
EYE = 1.5  # meters over the floor
LARGE, SMALL = Camera(256, 256, math.pi / 2), Camera(64, 64, math.pi / 2)

Poses = tuple[Array, Array, Array]  # positions (n, 3), headings (n,), elevations (n,)


def poses(house: House, count: int) -> Poses:
    """Random walkable positions, with random headings and small elevations."""
    rng = generator(0, "poses", house.id)
    places = Surface.from_mesh(house.mesh, radius=0.2, height=1.6).sample(rng, count)
    return places + np.array([0, 0, EYE]), rng.uniform(-math.pi, math.pi, count), rng.uniform(-0.4, 0.3, count)


@dataclass(frozen=True)
class Contender:
    """A renderer at work."""

    name: str
    work: Callable[[], object]
    frames: int  # that one call of `work` renders
    target: str = ""


def measure(contenders: Sequence[Contender], rounds: int = ROUNDS) -> Array:
    """(rounds, n) frames per CPU second, of all contenders in turn."""
    found = np.empty((rounds, len(contenders)))
    for each in contenders:
        each.work()  # compile, and touch every page of memory
    for row in found:
        for k, each in enumerate(contenders):
            begun = time.process_time()
            each.work()
            row[k] = each.frames / (time.process_time() - begun)
    return found


def ours(
    mesh: Mesh, camera: Camera, views: Poses, channels: tuple[str, ...], appearance: Appearance = FLAT
) -> Callable[[], object]:
    raster, frames = Rasterizer(mesh, appearance=appearance), blank_frames(camera, len(views[1]), channels)
    return lambda: raster.render_many(camera, *views, out=frames)


def rays(camera: Camera, heading: float, elevation: float) -> Array:
    """(h * w, 3) the directions through the pixels."""
    ahead, turned = math.cos(elevation), np.array([math.cos(heading), math.sin(heading)])
    forward, right = np.array([*(ahead * turned), math.sin(elevation)]), np.array([turned[1], -turned[0], 0.0])
    down = np.cross(forward, right)
    across, below = (
        (np.arange(n) + 0.5 - 0.5 * n)[:, None] / camera.focal * axis
        for n, axis in ((camera.width, right), (camera.height, down))
    )
    return (forward + below[:, None] + across[None]).reshape(-1, 3)


def embree(mesh: Mesh, camera: Camera, views: Poses) -> Callable[[], object]:
    from embreex import rtcore_scene
    from embreex.mesh_construction import TriangleMesh

    scene = rtcore_scene.EmbreeScene()
    TriangleMesh(scene, mesh.vertices, mesh.faces)
    cast = []
    for position, heading, elevation in zip(*views, strict=True):
        directions = rays(camera, heading, elevation).astype(np.float32)
        cast.append((np.tile(position.astype(np.float32), (len(directions), 1)), directions))
    return lambda: [scene.run(starts, directions) for starts, directions in cast]


def pybullet(mesh: Mesh, camera: Camera, views: Poses) -> Callable[[], object]:
    import pybullet as bullet

    bullet.connect(bullet.DIRECT)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "house.obj"
        lines = [f"v {x} {y} {z}" for x, y, z in mesh.vertices] + [f"f {a} {b} {c}" for a, b, c in mesh.faces + 1]
        file.write_text("\n".join(lines) + "\n")
        shape = bullet.createVisualShape(bullet.GEOM_MESH, fileName=str(file))
        bullet.createMultiBody(baseVisualShapeIndex=shape)
    lens = bullet.computeProjectionMatrixFOV(
        math.degrees(camera.vertical_fov), camera.width / camera.height, camera.near, camera.far
    )

    def draw() -> None:
        for position, heading, elevation in zip(*views, strict=True):
            ahead = math.cos(elevation)
            forward = (ahead * math.cos(heading), ahead * math.sin(heading), math.sin(elevation))
            view = bullet.computeViewMatrix(position.tolist(), (position + forward).tolist(), (0, 0, 1))
            bullet.getCameraImage(camera.width, camera.height, view, lens, renderer=bullet.ER_TINY_RENDERER)

    return draw


def others(mesh: Mesh, views: Poses) -> list[Contender]:
    """The other renderers that are installed, with a message for each that is not."""
    found = []
    for name, package, prepare, target in (
        ("Embree", "embreex", embree, "day ≥ 10×"),
        ("pybullet", "pybullet", pybullet, "day ≥ 50×"),
    ):
        try:
            found.append(Contender(f"256 x 256 {name}", prepare(mesh, LARGE, views), len(views[1]), target))
        except ModuleNotFoundError:
            Console().print(f"{name} is not installed, so it is left out: pip install {package}")
    return found


def main() -> None:
    houses = sorted((build_house(1, index) for index in range(HOUSES)), key=lambda house: len(house.mesh.faces))
    house = houses[HOUSES // 2]
    mesh, views = house.mesh, poses(house, VIEWS)
    few: Poses = (views[0][:FEW], views[1][:FEW], views[2][:FEW])
    contenders = [
        Contender("256 x 256 all channels, flat", ours(mesh, LARGE, views, CHANNELS), VIEWS, "≥ 2,000/s"),
        *(
            Contender(f"256 x 256 all channels, {name}", ours(mesh, LARGE, views, CHANNELS, appearance), VIEWS, target)
            for name, appearance, target in (
                ("day", APPEARANCES["day"], "≥ 0.75 × flat"),
                ("lamps, randomized", Appearance(mood="lamps", randomize=1), "≥ 0.75 × flat"),
            )
        ),
        Contender("256 x 256 depth", ours(mesh, LARGE, views, ("depth",)), VIEWS, "≥ 2,000/s"),
        Contender("64 x 64 depth", ours(mesh, SMALL, views, ("depth",)), VIEWS, "≥ 8,000/s"),
        *others(mesh, few),
    ]
    rates = measure(contenders)
    middle, to_flat, from_day = (np.median(x, axis=0) for x in (rates, rates / rates[:, :1], rates[:, 1:2] / rates))
    table = Table("image", "frames / CPU second", "of flat", "day / this", "target", title="Rendering")
    for k, each in enumerate(contenders):
        table.add_row(each.name, f"{middle[k]:,.0f}", f"{to_flat[k]:.2f}", f"{from_day[k]:.1f}", each.target)
    console = Console(width=120)
    console.print(table)
    counts = ", ".join(f"{len(found.mesh.faces):,}" for found in houses)
    console.print(f"House {house.id}: {len(mesh.faces):,} triangles, the median of {counts}. {ROUNDS} rounds.")


if __name__ == "__main__":
    main()
