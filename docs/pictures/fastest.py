"""Draws fastest.png, the fastest drives of three robots through a floor of Hearth; run it from the checkout's top."""

from __future__ import annotations

import math

import numpy as np

import itinera
from itinera.builders.hearth import build_house
from itinera.seeding import generator
from itinera.worlds.storey_grid import grid_from_mesh

RADIUS = 0.2

house = build_house(1, 20)
grid = grid_from_mesh(house.mesh, 0.0, height=1.5, cell=0.05, climb=0.25, slope=math.pi / 4).local
cells = np.argwhere(grid.components(RADIUS) == 1 + np.argmax(np.bincount(grid.components(RADIUS).ravel())[1:]))
rng = generator(3, "picture")
pairs = cells[rng.integers(len(cells), size=(200, 2))]
distances = np.hypot(*(pairs[:, 0] - pairs[:, 1]).T)
start, goal = (pairs[np.argmax(distances)][:, ::-1] + 0.5) * grid.resolution
itinera.fastest(grid, (*start, math.pi), goal, radius=RADIUS, figure="docs/pictures/fastest.png")
