"""A floor plan: rooms, the doors and openings between them, windows and stairs. All metres, in the world's frame.

Data only. `generate.py` makes floor plans, `geometry/shell.py` builds their walls, `furniture/` furnishes them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from itinera.worlds import Array

OUTSIDE = -1  # in place of a room index


@dataclass(frozen=True, eq=False)
class PlannedRoom:
    """A room: its kind and the polygon of its floor, between the inner faces of its walls."""

    index: int  # its position in the plan's rooms
    storey: int
    kind: str  # Matterport's letter, "k" for kitchen
    outline: Array  # (k, 2) corners, counter-clockwise, the first not repeated; not always a rectangle
    floor: float  # height of the floor, z
    height: float  # from floor to ceiling


@dataclass(frozen=True, eq=False)
class Passage:
    """A passable opening in the wall between two rooms: a door, or a wide opening."""

    index: int  # its position in the plan's passages
    rooms: tuple[int, int]  # the rooms it connects; OUTSIDE for the front door, which stays closed
    wide: bool  # an opening without a door
    center: Array  # (2,) the middle of the opening, halfway through the wall
    normal: Array  # (2,) unit vector through the wall, from rooms[0] to rooms[1]
    width: float  # clear width
    height: float
    depth: float  # thickness of the wall
    floor: float  # z of the threshold
    leaf: Array | None = None  # (4,) x0, y0, x1, y1 of its open leaf, flat along a wall; None without one


@dataclass(frozen=True, eq=False)
class Window:
    """A window in an outside wall of a room."""

    room: int
    center: Array  # (2,) on the inner face of the wall
    normal: Array  # (2,) unit vector, out of the room
    width: float
    sill: float  # z of its lower edge
    top: float  # z of its upper edge


@dataclass(frozen=True, eq=False)
class Flight:
    """A straight flight of stairs from one storey to the next, along a wall of a room of kind "s" on both storeys.

    The upper floor is open above the whole flight, see `stairwell`; a lane beside the flight is free on both storeys.
    """

    rooms: tuple[int, int]  # the room it rises from and the one it arrives in
    foot: Array  # (3,) the middle of the lower edge of the first step
    head: Array  # (3,) the middle of the upper end, on the upper floor
    width: float
    steps: int  # number of rises; the last one is onto the upper floor

    @property
    def stairwell(self) -> Array:
        """(4,) x0, y0, x1, y1: the area the flight covers below, and where the upper floor is open."""
        across = self.width / 2 * (np.abs(self.head - self.foot)[1::-1] > 0.01)
        low, high = np.minimum(self.foot, self.head)[:2], np.maximum(self.foot, self.head)[:2]
        return np.round(np.concatenate([low - across, high + across]), 4)


@dataclass(frozen=True, eq=False)
class FloorPlan:
    """The floor plan of a whole house."""

    rooms: tuple[PlannedRoom, ...]
    passages: tuple[Passage, ...]
    windows: tuple[Window, ...]
    flights: tuple[Flight, ...]

    @property
    def storeys(self) -> int:
        return 1 + max(room.storey for room in self.rooms)
