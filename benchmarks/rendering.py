"""Rendering speed: frames per second on one core in the median Hearth house, compared with Embree and pybullet.

`make bench` runs this. Embree (embreex) only casts the rays, without looking up what they hit. pybullet renders color,
depth and labels with its own CPU renderer. Missing packages are skipped with a message.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from itinera.hearth.build import House, build_house
from itinera.rendering.camera import CHANNELS, Camera, blank_frames
from itinera.rendering.rasterizer import Rasterizer
from itinera.seeding import generator
from itinera.worlds import Array
from itinera.worlds.mesh import Mesh
from itinera.worlds.surface import Surface

HOUSES = 9
VIEWS = 200
EYE = 1.5  # meters over the floor
LARGE, SMALL = Camera(256, 256, math.pi / 2), Camera(64, 64, math.pi / 2)

Poses = tuple[Array, Array, Array]  # positions (n, 3), headings (n,), elevations (n,)


def poses(house: House, count: int) -> Poses:
    """Random walkable positions, with random headings and small elevations."""
    rng = generator(0, "poses", house.id)
    places = Surface.from_mesh(house.mesh, radius=0.2, height=1.6).sample(rng, count)
    return places + np.array([0, 0, EYE]), rng.uniform(-math.pi, math.pi, count), rng.uniform(-0.4, 0.3, count)


def rate(work: Callable[[], object], frames: int, repeats: int = 7) -> float:
    """Frames per CPU second, the best of several runs."""
    best = math.inf
    for _ in range(repeats):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return frames / best


def ours(mesh: Mesh, camera: Camera, views: Poses, channels: tuple[str, ...]) -> float:
    raster, frames = Rasterizer(mesh), blank_frames(camera, len(views[1]), channels)
    raster.render_many(camera, *views, out=frames)  # compile, and touch every page of memory
    return rate(lambda: raster.render_many(camera, *views, out=frames), len(views[1]))


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


def embree(mesh: Mesh, camera: Camera, views: Poses) -> float:
    from embreex import rtcore_scene
    from embreex.mesh_construction import TriangleMesh

    scene = rtcore_scene.EmbreeScene()
    TriangleMesh(scene, mesh.vertices, mesh.faces)
    cast = []
    for position, heading, elevation in zip(*views, strict=True):
        directions = rays(camera, heading, elevation).astype(np.float32)
        cast.append((np.tile(position.astype(np.float32), (len(directions), 1)), directions))
    return rate(lambda: [scene.run(starts, directions) for starts, directions in cast], len(cast), 3)


def pybullet(mesh: Mesh, camera: Camera, views: Poses) -> float:
    import pybullet as bullet

    client = bullet.connect(bullet.DIRECT)
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

    found = rate(draw, len(views[1]), 2)
    bullet.disconnect(client)
    return found


def other(name: str, package: str, measure: Callable[[Mesh, Camera, Poses], float], mesh: Mesh, views: Poses) -> float:
    """The frames per second of another renderer; NaN, with a message, if it is not installed."""
    try:
        return measure(mesh, LARGE, views)
    except ModuleNotFoundError:
        Console().print(f"{name} is not installed, so it is left out: pip install {package}")
        return math.nan


def main() -> None:
    houses = sorted((build_house(1, index) for index in range(HOUSES)), key=lambda house: len(house.mesh.faces))
    house = houses[HOUSES // 2]
    views = poses(house, VIEWS)
    few: Poses = (views[0][:12], views[1][:12], views[2][:12])
    full = ours(house.mesh, LARGE, views, CHANNELS)
    rows = [
        ("256 x 256 color, depth, class, instance", full, 1.0, "≥ 2,000/s"),
        ("256 x 256 depth", ours(house.mesh, LARGE, views, ("depth",)), math.nan, "≥ 2,000/s"),
        ("64 x 64 depth", ours(house.mesh, SMALL, views, ("depth",)), math.nan, "≥ 8,000/s"),
    ]
    for name, package, measure, wanted in (
        ("Embree", "embreex", embree, "ours ≥ 10×"),
        ("pybullet", "pybullet", pybullet, "ours ≥ 50×"),
    ):
        theirs = other(name, package, measure, house.mesh, few)
        rows.append((f"256 x 256 {name}", theirs, full / theirs, wanted))
    table = Table("image", "frames / CPU second", "ours / theirs", "target", title="Rendering")
    for what, frames, ratio, wanted in rows:
        table.add_row(
            what, *("–" if math.isnan(x) else f"{x:{f}}" for x, f in ((frames, ",.0f"), (ratio, ",.1f"))), wanted
        )
    console = Console(width=120)
    console.print(table)
    counts = ", ".join(f"{len(found.mesh.faces):,}" for found in houses)
    console.print(f"House {house.id}: {len(house.mesh.faces):,} triangles, the median of {counts}.")


if __name__ == "__main__":
    main()
