"""Annotated view features at one pose: what is near, and what lies farther off in the direction of each view.

`annotated_views` (in `view_features.py`) uses it at every node of a graph, waypoint simulators wherever the body is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.rendering.panorama import TURNS, VIEW_HEADINGS, VIEW_HEIGHT, VIEW_WIDTH, VIEWS
from itinera.simulators.candidates import DIGITS
from itinera.worlds import Array, Room, VisibleObject
from itinera.worlds.labels import ROOM_NAMES

Views = NDArray[np.float32]  # (36, d), or (nodes, 36, d)

HALF_TOWARDS = math.radians(30)  # from the center of a view to either side, the range of "towards"
NUM_ROOMS = len(ROOM_NAMES)
_ROOM_INDEX = {label: k for k, label in enumerate(ROOM_NAMES)}


def room_index(room: Room | None) -> int:
    """The index of the room's type among Matterport's; -1 if it is unknown."""
    return -1 if room is None else _ROOM_INDEX.get(room.label, -1)


@dataclass(frozen=True, eq=False)
class ViewColumns:
    """The columns of annotated views for objects with these names; with a `reach`, metres, also those of directions."""

    names: tuple[str, ...]
    reach: float = 0.0
    index: dict[str, int] = field(init=False)  # of each name
    columns: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        if len(set(self.names)) != len(self.names):
            raise BadArgument("Object names must be different: each has a column of its own.")
        kinds = tuple(ROOM_NAMES.values())
        columns = [*self.names, *(f"in {kind}" for kind in kinds), *(f"to {kind}" for kind in kinds)]
        if self.reach:
            columns += ["to the same room", *(f"towards {item}" for item in (*kinds, *self.names))]
        object.__setattr__(self, "index", {name: k for k, name in enumerate(self.names)})
        object.__setattr__(self, "columns", tuple(columns))

    def near(
        self,
        objects: Iterable[VisibleObject],
        room: int,
        candidate_views: Sequence[int],
        candidate_rooms: Sequence[int],
    ) -> Views:
        """(36, c) the objects visible from here, the room here, and those of the candidates; rooms by `room_index`."""
        table = np.zeros((VIEWS, len(self.names) + 2 * NUM_ROOMS), np.float32)
        for item in objects:
            if item.name in self.index:
                large, k = table[:, self.index[item.name]], item.views
                large[k] = np.maximum(large[k], _apparent_size(item))
        here, ahead = table[:, len(self.names) : -NUM_ROOMS], table[:, -NUM_ROOMS:]
        if room >= 0:
            here[:, room] = 1
        for view, other in zip(candidate_views, candidate_rooms, strict=True):
            if other >= 0:
                ahead[view, other] = 1
        return table

    def contents(self, room: int, names: Iterable[str]) -> NDArray[np.float32]:
        """(c,) the room and the objects of a place, as `direction` takes them."""
        row = np.zeros(NUM_ROOMS + len(self.names), np.float32)
        if room >= 0:
            row[room] = 1
        row[[NUM_ROOMS + self.index[name] for name in names if name in self.index]] = 1
        return row

    def direction(
        self, offsets: Array, visible: NDArray[np.bool_], contents: NDArray[np.float32], same_room_views: Sequence[int]
    ) -> Views:
        """(36, c) what lies farther off: places at offsets (n, 3), their contents (n, c), and whether they are visible.

        `same_room_views` are the views of the candidates in this room.
        """
        table = np.zeros((VIEWS, 1 + contents.shape[1]), np.float32)
        dx, dy, dz = offsets.T
        distance = np.hypot(np.hypot(dx, dy), dz)
        weight = np.where(
            visible & (distance <= self.reach) & (distance > 0), np.exp(-distance / (self.reach / 2)), 0.0
        )
        aside = np.arctan2(dy, dx)[None] - VIEW_HEADINGS[:TURNS, None]  # (turns, places)
        ahead = np.abs((aside + math.pi) % math.tau - math.pi).round(DIGITS) <= round(HALF_TOWARDS, DIGITS)
        towards = (ahead * weight) @ contents
        table[:, 1:] = np.tile(np.minimum(towards, 1.0), (VIEWS // TURNS, 1))
        table[list(same_room_views), 0] = 1
        return table


def _apparent_size(item: VisibleObject) -> NDArray[np.float64]:
    """(k,) the square root of the share of each view that the object's box fills."""
    shares = item.boxes[:, 2] * item.boxes[:, 3] / (VIEW_WIDTH * VIEW_HEIGHT)
    sides: NDArray[np.float64] = np.sqrt(shares.clip(0, 1))
    return sides
