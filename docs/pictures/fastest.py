"""Draws fastest.png, the fastest drives of three robots through a floor of Hearth; run it from the checkout's top."""

from __future__ import annotations

import math

import numpy as np

from itinera.builders.hearth import build_house
from itinera.planners.motion.dynamics import holonomic, point_turn, unicycle
from itinera.planners.motion.fastest import ToGoal, fastest
from itinera.reports.charts.drives import DrawnDrive, Floor, draw_drives
from itinera.seeding import generator
from itinera.worlds.storey_grid import grid_of_mesh

RADIUS = 0.2

house = build_house(1, 20)
grid = grid_of_mesh(house.mesh, 0.0, height=1.5, cell=0.05, climb=0.25, slope=math.pi / 4)
cells = np.argwhere(grid.parts(RADIUS) == 1 + np.argmax(np.bincount(grid.parts(RADIUS).ravel())[1:]))
rng = generator(3, "picture")
pairs = cells[rng.integers(len(cells), size=(200, 2))]
apart = np.hypot(*(pairs[:, 0] - pairs[:, 1]).T)
begin, end = (pairs[np.argmax(apart)][:, ::-1] + 0.5) * grid.resolution
robots = (unicycle(), point_turn(), holonomic())
answers = [fastest(grid, (*begin, math.pi), end, dynamics=robot, radius=RADIUS) for robot in robots]
drives = [
    DrawnDrive(f"{robot.name}: {found.high:.1f} s, {found.drive.length:.2f} m", found.drive.sampled(robot))
    for robot, found in zip(robots, answers, strict=True)
    if found.drive is not None
]
field = ToGoal(grid, end, robots[0], RADIUS).field.least
draw_drives(
    Floor(grid.blocked, grid.allowed(RADIUS), grid.resolution, seconds=field),
    drives,
    end,
    0.0,
    "docs/pictures/fastest.png",
)
