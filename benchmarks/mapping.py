"""Maps per second of processor time: render depth and classes, insert, read; and the slow twin of the tests.

python benchmarks/mapping.py         # a house of Hearth season 1, cameras of 64, 128 and 256 pixels
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from itinera.hearth.ground import ground_world
from itinera.mapping.egocentric_map import SemanticMaps
from itinera.mapping.known_map import known_map
from itinera.mapping.labels import paper_table
from itinera.rendering.camera import Camera, blank_frames
from itinera.rendering.rasterizer import Rasterizer
from itinera.simulators.ground import FORWARD, LEFT, RIGHT, GroundSimulator
from itinera.worlds import Pose, World

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from mapping.twin import PointCloudTwin

HOUSE, RADIUS = 3, 0.1
STEPS, TWIN_STEPS, ROUNDS = 400, 3, 5
LIFT = np.array([0.0, 0.0, 1.25])
CHANNELS = ("depth", "classes")
TARGET = 2500  # rendered, inserted and read maps per second


def walk(world: World) -> tuple[np.ndarray, np.ndarray]:
    """The positions and headings of a body that drives about and turns at walls."""
    rng = np.random.default_rng(0)
    body = GroundSimulator()
    seen = body.reset(world, Pose(world.space.sample(rng, 1)[0], 0.0))
    places, headings = [], []
    for _ in range(STEPS):
        turn = seen.collided or rng.random() < 0.2
        seen = body.step(int(rng.choice([LEFT, RIGHT])) if turn else FORWARD)
        places.append(seen.place)
        headings.append(seen.heading)
    return np.array(places), np.array(headings)


def best(work: Callable[[], object]) -> float:
    """Processor seconds of the fastest of a few rounds."""
    times = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def measure(world: World, size: int) -> float:
    """Print the times of a camera of this size; the rendered, inserted and read maps per second."""
    camera, raster = Camera(size, size, math.radians(90)), Rasterizer(world.mesh)
    places, headings = walk(world)
    eyes, lanes = places + LIFT, np.zeros(STEPS, dtype=int)
    maps, table = SemanticMaps([world]), paper_table()
    frames = blank_frames(camera, STEPS, CHANNELS)

    def render() -> None:
        raster.render_many(camera, eyes, headings, channels=CHANNELS, out=frames)

    def insert() -> None:
        maps.clear()
        maps.insert(frames.depth, frames.classes, eyes, headings, camera, lanes, table=table)

    def read() -> None:
        maps.read(eyes, headings, lanes)

    full = SemanticMaps([world])
    full.load([0], [known_map(world)])

    def read_known() -> None:
        full.read(eyes, headings, lanes)

    def step_by_step() -> None:
        maps.clear()
        for k in range(STEPS):
            one = slice(k, k + 1)
            frame = raster.render(camera, eyes[k], headings[k], channels=CHANNELS)
            maps.insert(frame.depth[None], frame.classes[None], eyes[one], headings[k], camera, table=table)
            maps.read(eyes[one], headings[k])

    seconds = {work.__name__: best(work) / STEPS for work in (render, insert, read, read_known, step_by_step)}
    rate = 1 / sum(seconds[name] for name in ("render", "insert", "read_known"))
    parts = ", ".join(
        f"{name} {1e6 * seconds[name]:.0f} µs" for name in ("render", "insert", "read", "read_known")
    ).replace("_", " ")
    print(f"{size:3d} x {size}: {parts}")
    print(f"  {rate:,.0f} maps a second, read from a full map; step by step {1 / seconds['step_by_step']:,.0f}")
    if size == 128:
        mapping = seconds["insert"] + seconds["read"]
        print(
            f"  slow twin: {time_twin(frames, eyes, headings, camera) / mapping:,.0f} times slower, without rendering"
        )
    return rate


def time_twin(frames: object, eyes: np.ndarray, headings: np.ndarray, camera: Camera) -> float:
    """Processor seconds of the twin per inserted and read view."""
    twin = PointCloudTwin((2.0,))
    begin = time.process_time()
    for k in range(TWIN_STEPS):
        twin.insert(frames.depth[k], frames.classes[k], eyes[k], headings[k], camera.focal)  # type: ignore[attr-defined]
        twin.read(eyes[k], headings[k])
    return (time.process_time() - begin) / TWIN_STEPS


def main() -> None:
    world = ground_world(1, HOUSE, radius=RADIUS)
    rates = {size: measure(world, size) for size in (64, 128, 256)}
    known_map(world)  # compiles
    columns = SemanticMaps([world]).columns(0)
    megabytes = (columns.heights.nbytes + columns.labels.nbytes) / 1e6
    print(f"known map of the house: {1e3 * best(lambda: known_map(world)):.0f} ms")
    print(f"memory: {megabytes:.2f} MB for {len(columns.grids.floors)} storeys")
    print(f"128 x 128: {rates[128]:,.0f} maps a second; the target is {TARGET:,}")


if __name__ == "__main__":
    main()
