"""A floor plan: rooms, the doors and openings that join them, windows and stairs. All metres, in the world's frame.

Only data. `layout.py` draws plans, `shell.py` raises their walls, `furnish.py` fills their rooms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from itinera.worlds import Array

OUTSIDE = -1  # in place of a room index


@dataclass(frozen=True, eq=False)
class PlannedRoom:
    """A room: its kind and the polygon of its floor, between the inner faces of its walls."""

    index: int  # its place in the plan's rooms
    storey: int
    kind: str  # Matterport's letter, "k" for kitchen
    outline: Array  # (k, 2) corners, counter-clockwise, the first not repeated; not always a rectangle
    floor: float  # height of the floor, z
    height: float  # from floor to ceiling


@dataclass(frozen=True, eq=False)
class Passage:
    """A hole in the wall between two rooms that one can walk through: a door, or a wide opening."""

    index: int  # its place in the plan's passages
    rooms: tuple[int, int]  # the rooms it joins; OUTSIDE for the front door, which stays shut
    wide: bool  # an opening without a door
    centre: Array  # (2,) the middle of the hole, halfway through the wall
    normal: Array  # (2,) unit vector through the wall, from rooms[0] to rooms[1]
    width: float  # clear width
    height: float
    depth: float  # how thick the wall is
    floor: float  # z of the threshold
    leaf: Array | None = None  # (4,) x0, y0, x1, y1 where its open leaf stands, flat before a wall; None without one


@dataclass(frozen=True, eq=False)
class Window:
    """A window in an outside wall of a room."""

    room: int
    centre: Array  # (2,) on the inner face of the wall
    normal: Array  # (2,) unit vector, out of the room
    width: float
    sill: float  # z of its lower edge
    top: float  # z of its upper edge


@dataclass(frozen=True, eq=False)
class Flight:
    """Stairs, straight up from one storey to the next, along a wall of a room of kind "s" that both storeys have.

    The upper floor is open over the whole flight, see `stairwell`; beside the flight one walks past on both storeys.
    """

    rooms: tuple[int, int]  # the room it rises from and the one it arrives in
    foot: Array  # (3,) the middle of the lower edge of the first step
    head: Array  # (3,) the middle of the upper end, on the upper floor
    width: float
    steps: int  # how often it rises; the last rise is the one onto the upper floor

    @property
    def stairwell(self) -> Array:
        """(4,) x0, y0, x1, y1: what the flight covers below, and where the upper floor is open."""
        across = self.width / 2 * (np.abs(self.head - self.foot)[1::-1] > 0.01)
        low, high = np.minimum(self.foot, self.head)[:2], np.maximum(self.foot, self.head)[:2]
        return np.round(np.concatenate([low - across, high + across]), 4)


@dataclass(frozen=True, eq=False)
class Plan:
    """A whole house on paper."""

    rooms: tuple[PlannedRoom, ...]
    passages: tuple[Passage, ...]
    windows: tuple[Window, ...]
    flights: tuple[Flight, ...]

    @property
    def storeys(self) -> int:
        return 1 + max(room.storey for room in self.rooms)
