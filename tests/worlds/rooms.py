"""Rooms of a few boxes, for surfaces to be found in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from textwrap import dedent

import numpy as np

from itinera.hearth.geometry.solids import Solids
from itinera.worlds.mesh import Mesh
from itinera.worlds.space import Array
from itinera.worlds.surface import Surface

GREY = (180, 180, 180)
ROBOT = {"radius": 0.1, "height": 1.5}

Box = tuple[Sequence[float], Sequence[float]]  # its low and its high corner


def floor(solids: Solids, low: Sequence[float], high: Sequence[float], z: float = 0.0) -> None:
    (x0, y0), (x1, y1) = low, high
    solids.polygon([(x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z)], "floor", 0, GREY)


def ceiling(solids: Solids, low: Sequence[float], high: Sequence[float], z: float) -> None:
    (x0, y0), (x1, y1) = low, high
    solids.polygon([(x0, y0, z), (x0, y1, z), (x1, y1, z), (x1, y0, z)], "ceiling", 0, GREY)


def walls(solids: Solids, outline: Sequence[tuple[float, float]], low: float, high: float) -> None:
    """Walls seen from inside an outline, counter-clockwise."""
    for (x0, y0), (x1, y1) in pairwise([*outline, outline[0]]):
        solids.polygon([(x0, y0, low), (x0, y0, high), (x1, y1, high), (x1, y1, low)], "wall", 0, GREY)


def room(wide: float, deep: float, *, boxes: Iterable[Box] = (), prisms: Iterable[Array] = ()) -> Mesh:
    """A room from (0, 0) to (wide, deep), 2.5 m high, with boxes and prisms of 2 m in it."""
    solids = Solids()
    floor(solids, (0, 0), (wide, deep))
    ceiling(solids, (0, 0), (wide, deep), 2.5)
    walls(solids, [(0, 0), (wide, 0), (wide, deep), (0, deep)], 0.0, 2.5)
    for low, high in boxes:
        solids.box(low, high, "table", 1, GREY)
    for base in prisms:
        solids.prism(base, 0.0, 2.0, "table", 1, GREY)
    return solids.mesh()


def mapped(drawing: str) -> Surface:
    """The surface of a drawing in cells of one metre: # is in the way, everything else is not; y up."""
    return of_cells(["".join(row) for row in dedent(drawing).strip("\n").splitlines()[::-1]])


def of_cells(rows: Sequence[Sequence[str] | str]) -> Surface:
    """The surface of rows of cells of one metre, # for what is in the way; all around is."""
    wide = max(map(len, rows)) + 2
    ringed = ["#" * wide, *("#" + "".join(row).ljust(wide - 2, "#") + "#" for row in rows), "#" * wide]
    solids = Solids()
    floor(solids, (-1, -1), (wide - 1, len(rows) + 1))
    for y, row in enumerate(ringed, -1):
        for x, mark in enumerate(row, -1):
            if mark == "#":
                solids.box((x + 0.05, y + 0.05, 0.0), (x + 0.95, y + 0.95, 2.0), "table", 1, GREY)
    return Surface.from_mesh(solids.mesh(), radius=0.04, height=1.5, cell=1.0)


def storeys(*, stairs: bool = True, upper: float = 2.7) -> Mesh:
    """Two storeys of 8 x 4 m: from x = 2 to 5, between y = 0 and 1, 15 steps lead up through a hole in the floor."""
    solids = Solids()
    floor(solids, (0, 0), (8, 4))
    walls(solids, [(0, 0), (8, 0), (8, 4), (0, 4)], 0.0, upper + 2.5)
    for low, high in [((0, 1), (8, 4)), ((0, 0), (2, 1)), ((5, 0), (8, 1))]:
        floor(solids, low, high, upper)
        ceiling(solids, low, high, upper - 0.2)
    # The sides of the hole in the floor between the storeys.
    walls(solids, [(2, 0), (5, 0), (5, 1), (2, 1)], upper - 0.2, upper)
    for k in range(15 if stairs else 0):
        top = upper * (k + 1) / 15
        solids.box((2 + 0.2 * k, 0.0, 0.0), (2 + 0.2 * (k + 1), 1.0, top), "stairs", 1, GREY)
    return solids.mesh()


def turned(wide: float, deep: float, center: Sequence[float], angle: float) -> Array:
    """(4, 2) the corners of a rectangle, counter-clockwise."""
    corners = np.array([(-wide, -deep), (wide, -deep), (wide, deep), (-wide, deep)]) / 2
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    moved: Array = corners @ turn + np.asarray(center)
    return moved
