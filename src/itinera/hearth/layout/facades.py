"""Outlines in metres: rooms between their walls, terraces and gardens up to the facade, and the facade itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from itinera.hearth.layout.plan import OUTDOOR, OUTSIDE, Facade, Fence
from itinera.hearth.layout.room_grid import NO_ROOM, StoreyLayout, Wall, find_walls, trace_outline
from itinera.hearth.layout.windows import Bay, insert_bays
from itinera.worlds import Array

HALF_WALL = 0.07
OUTER_WALL = 0.25  # from the inner face of an outside wall to its outer face
CLADDING = OUTER_WALL - HALF_WALL  # from the center line of an outside wall to its outer face


def inset_outline(corners: Sequence[tuple[int, int]]) -> Array:
    """The outline between the inner faces of the walls, from the one along their center lines; metres."""
    return _inset(corners, [HALF_WALL] * len(corners))


def _inset(corners: Sequence[tuple[int, int]], by: Sequence[float]) -> Array:
    """The outline with side k, from corner k to the next, moved inwards by `by[k]`; metres."""
    points = np.array(corners, dtype=np.float64) / 10
    ahead = np.sign(np.roll(points, -1, axis=0) - points)
    moves = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1) * np.array(by)[:, None]
    return np.asarray(np.round(points + moves + np.roll(moves, 1, axis=0), 2))


def inset_outdoor(room: int, indoor: int, pieces: Sequence[Wall]) -> Array:
    """The outline of a room outdoors: up to the facade where it touches the house; rooms below `indoor` are inside."""
    corners = trace_outline(room, pieces)
    house = [wall for wall in pieces if room in wall.rooms and 0 <= min(wall.rooms) < indoor]
    sides = zip(corners, [*corners[1:], corners[0]], strict=True)
    return _inset(corners, [CLADDING if any(_lies_on(wall, a, b) for wall in house) else 0.0 for a, b in sides])


def _lies_on(wall: Wall, a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether a wall is part of the side from a to b."""
    across, along = (0, 1) if wall.upright else (1, 0)
    low, high = sorted((a[along], b[along]))
    return a[across] == b[across] == wall.at and low <= wall.low and wall.high <= high


def trace_facade(indoors: StoreyLayout, bays: Sequence[Bay]) -> Facade:
    """The outer faces of the outside walls of a storey."""
    labels = np.where(indoors.labels == NO_ROOM, NO_ROOM, 0).astype(np.int16)
    whole = StoreyLayout(indoors.rooms[:1], labels, indoors.corner)
    inner = {0: inset_outline(trace_outline(0, find_walls(whole)))}
    with_bays = insert_bays(inner, [Bay(0, bay.corners) for bay in bays])[0]
    outline, block = (np.round(_offset_outwards(loop, OUTER_WALL), 4) for loop in (with_bays, inner[0]))
    return Facade(outline, block)


def _offset_outwards(outline: Array, by: float) -> Array:
    """The counter-clockwise outline with every side moved outwards, and its corners extended."""
    ahead = np.roll(outline, -1, axis=0) - outline
    ahead = ahead / np.linalg.norm(ahead, axis=1, keepdims=True)
    out = np.stack([ahead[:, 1], -ahead[:, 0]], axis=1)
    before = np.roll(out, 1, axis=0)
    share = by / (1.0 + (out * before).sum(axis=1))
    moved: Array = outline + (out + before) * share[:, None]
    return moved


def place_fences(storey: StoreyLayout, pieces: Sequence[Wall]) -> list[Fence]:
    """The sides of rooms outdoors that end in the open."""
    fences = []
    for wall in pieces:
        room = max(wall.rooms)
        if OUTSIDE not in wall.rooms or storey.rooms[room].kind not in OUTDOOR:
            continue
        low, high = wall.low / 10, wall.high / 10
        ends = [[wall.at / 10, z] if wall.upright else [z, wall.at / 10] for z in (low, high)]
        # With the room on the left: up its right side, down its left side, rightwards below it, leftwards above it.
        forward = (wall.rooms[0] == room) == wall.upright
        start, end = ends if forward else ends[::-1]
        fences.append(Fence(room, np.array(start), np.array(end)))
    return fences
