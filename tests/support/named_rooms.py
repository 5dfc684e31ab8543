"""Two rooms with named things in them, and a few tasks there: a kitchen to the west, a bedroom to the east."""

from __future__ import annotations

from functools import cache

import numpy as np

from itinera.hearth.geometry.solids import Solids
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Instance, Pose, Region, World
from itinera.worlds.surface import Surface

THINGS = {
    1: Instance("dining table", "red", "round", "wooden", "table"),
    2: Instance("bed", "blue", "", "", "bed"),
    3: Instance("plant", "green", "tall", "", "plant"),
}
GOALS = {"table": (0.8, 2.6), "bed": (7.2, 2.4), "plant": (6.8, 0.6), "corner": (0.5, 0.5)}
STARTS = ((2.0, 1.0, 0.0), (6.0, 2.0, 2.5), (3.0, 3.0, -1.5), (5.0, 1.0, 1.0))
TEXTS = ("Go to the {}.", "Walk towards the {} and wait there.", "Turn left, then stop by the {}.")


@cache
def named_world() -> World:
    """Rooms of 4 x 4 m; the wall between them has an opening from y = 1.4 to 2.6."""
    solids = Solids()
    solids.polygon([(0, 0, 0), (8, 0, 0), (8, 4, 0), (0, 4, 0)], "floor", 0, (150, 130, 110))
    for x0, y0, x1, y1 in ((-0.1, -0.1, 8.1, 0), (-0.1, 4, 8.1, 4.1), (-0.1, 0, 0, 4), (8, 0, 8.1, 4)):
        solids.box((x0, y0, 0), (x1, y1, 2.5), "wall", 0, (230, 230, 230))
    for y0, y1 in ((0, 1.4), (2.6, 4)):
        solids.box((3.95, y0, 0), (4.05, y1, 2.5), "wall", 0, (230, 230, 230))
    solids.box((0.4, 3.2, 0), (1.4, 3.8, 0.8), "table", 1, (200, 30, 30))
    solids.box((6.4, 3.0, 0), (7.8, 4.0, 0.5), "bed", 2, (30, 30, 200))
    solids.box((7.3, 0.2, 0), (7.7, 0.6, 1.5), "plant", 3, (30, 200, 30))
    mesh = solids.mesh()
    rooms = (
        Region("0", "k", np.array([(0, 0), (4, 0), (4, 4), (0, 4)], dtype=float), 0.0, 2.5),
        Region("1", "b", np.array([(4, 0), (8, 0), (8, 4), (4, 4)], dtype=float), 0.0, 2.5),
    )
    return World("rooms", Surface.from_mesh(mesh, radius=0.1, height=1.5), mesh=mesh, instances=THINGS, regions=rooms)


@cache
def named_tasks(texts: int = 3) -> Split:
    """A path from every start to every goal, each with some instructions."""
    pairs = enumerate((start, goal) for start in STARTS for goal in GOALS)
    episodes = [_episode(path, k, start, goal) for path, (start, goal) in pairs for k in range(texts)]
    return Split("rooms", tuple(episodes), protocol="r2r-ce")


def _episode(path: int, k: int, start: tuple[float, float, float], goal: str) -> Episode:
    x, y, heading = start
    place = np.array([*GOALS[goal], 0.0])
    return Episode(
        id=f"{path}_{k}",
        world_id="rooms",
        start=Pose(np.array([x, y, 0.0]), heading),
        goals=place[None],
        reference=np.array([(x, y, 0.0), place]),
        instruction=Instruction(TEXTS[k].format(goal)),
        path_id=str(path),
    )
