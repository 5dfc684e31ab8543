"""A floor plan: rooms, the doors and openings between them, windows and stairs. All metres, in the world's frame.

Data only. `generate.py` makes floor plans, `geometry/shell.py` builds their walls, `furniture/` furnishes them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from itinera.worlds import Array

OUTSIDE = -1  # in place of a room index
OUTDOOR = "pxy"  # kinds of rooms in the open: terrace, garden, balcony


@dataclass(frozen=True, eq=False)
class PlannedRoom:
    """A room: its kind and the polygon of its floor, between the inner faces of its walls."""

    index: int  # its position in the plan's rooms
    storey: int
    kind: str  # Matterport's letter, "k" for kitchen
    outline: Array  # (k, 2) corners, counter-clockwise, the first not repeated; not always a rectangle
    floor: float  # height of the floor, z
    height: float  # from floor to ceiling; outdoors, to the height of the ceilings beside it

    @property
    def outdoor(self) -> bool:
        """Whether it is a terrace, a garden or a balcony: no ceiling, and a fence or railing in place of walls."""
        return self.kind in OUTDOOR


@dataclass(frozen=True, eq=False)
class Passage:
    """A passable opening in the wall between two rooms: a door, or a wide opening."""

    index: int  # its position in the plan's passages
    rooms: tuple[int, int]  # the rooms it connects; OUTSIDE for the front door and the garage door, which stay closed
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
    """A straight flight of steps, part of a staircase."""

    foot: Array  # (3,) the middle of the lower edge of the first step
    head: Array  # (3,) the middle of the upper end, on a landing or on the upper floor
    width: float
    steps: int  # number of rises; the last one is onto the landing or the upper floor

    @property
    def area(self) -> Array:
        """(4,) x0, y0, x1, y1: the area that the flight covers."""
        across = self.width / 2 * (np.abs(self.head - self.foot)[1::-1] > 0.01)
        low, high = np.minimum(self.foot, self.head)[:2], np.maximum(self.foot, self.head)[:2]
        return np.round(np.concatenate([low - across, high + across]), 4)

    @property
    def up(self) -> Array:
        """(2,) unit vector, the direction of climbing."""
        run = (self.head - self.foot)[:2]
        return np.asarray(np.round(run / np.abs(run).sum(), 6))


@dataclass(frozen=True, eq=False)
class Landing:
    """A level platform between two flights: a quarter landing in an L-shaped staircase, a half landing in a U."""

    area: Array  # (4,) x0, y0, x1, y1
    floor: float  # z


@dataclass(frozen=True, eq=False)
class Staircase:
    """The stairs from one storey to the next, along the walls of a room of kind "s" with the same outline on both.

    The upper floor is open above all flights and landings; beside them both floors have room to walk.
    """

    rooms: tuple[int, int]  # the room it rises from and the one it arrives in
    flights: tuple[Flight, ...]  # from the lowest: one is straight, two are L-shaped or U-shaped
    landings: tuple[Landing, ...]  # between consecutive flights

    @property
    def foot(self) -> Array:
        return self.flights[0].foot

    @property
    def head(self) -> Array:
        return self.flights[-1].head

    @property
    def shape(self) -> str:
        """ "straight", "L" or "U"."""
        if len(self.flights) == 1:
            return "straight"
        return "U" if float(self.flights[0].up @ self.flights[1].up) < -0.5 else "L"

    @property
    def areas(self) -> tuple[Array, ...]:
        """The rectangles of all flights and landings, (4,) each, where the upper floor is open."""
        return (*(flight.area for flight in self.flights), *(landing.area for landing in self.landings))

    @property
    def stairwell(self) -> Array:
        """(4,) x0, y0, x1, y1: the bounding box of the areas."""
        areas = np.array(self.areas)
        return np.concatenate([areas[:, :2].min(axis=0), areas[:, 2:].max(axis=0)])


@dataclass(frozen=True, eq=False)
class Fence:
    """A straight side of a room outdoors where it ends in the open: a fence, a hedge, a wall or a railing."""

    room: int
    start: Array  # (2,) with the room to the left of the line from start to end
    end: Array  # (2,)


@dataclass(frozen=True, eq=False)
class Facade:
    """The outer faces of the outside walls of a storey."""

    outline: Array  # (k, 2) counter-clockwise, with bays
    block: Array  # (j, 2) the same without bays; all sides are axis-aligned


@dataclass(frozen=True, eq=False)
class FloorPlan:
    """The floor plan of a whole house."""

    rooms: tuple[PlannedRoom, ...]
    passages: tuple[Passage, ...]
    windows: tuple[Window, ...]
    staircases: tuple[Staircase, ...]
    facades: tuple[Facade, ...] = ()  # per storey; empty for a house that is seen only from inside
    fences: tuple[Fence, ...] = ()

    @property
    def storeys(self) -> int:
        return 1 + max(room.storey for room in self.rooms)
