"""Windows in outer walls, and bays: a section of wall that projects, with windows around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from itinera.hearth.layout.plan import OUTSIDE, Window
from itinera.hearth.layout.room_grid import StoreyLayout, Wall
from itinera.worlds import Array

WINDOWLESS = "cg"  # kinds without windows
SMALL_WINDOWS = "atujS"  # kinds with small, high windows
BAY_KINDS = "ldfbnk"  # kinds that may have a bay
MAX_BAYS = 2  # on a storey
WINDOW_TOP = 2.1
MARGIN = 0.35  # from a corner to a window, and half of it between windows, metres
SIDELIGHT_GAP, SIDELIGHT_MARGIN = 0.22, 0.26  # metres from a window beside the front door to that, and to a corner
MIN_SIDELIGHT, MAX_SIDELIGHT = 0.3, 0.8  # width, metres


@dataclass(frozen=True, eq=False)
class Bay:
    """Projecting corners in the outline of a room."""

    room: int
    corners: Array  # (4, 2) in the order of the outline; the first and last lie on the wall


@dataclass(frozen=True)
class WallSide:
    """The inner face of an outer wall: positions along it, and outwards from it, in metres."""

    wall: Wall
    half_wall: float

    @property
    def room(self) -> int:
        return max(self.wall.rooms)

    @property
    def sign(self) -> int:
        """1 if the outside lies towards larger x or y."""
        return 1 if self.wall.rooms[0] == self.room else -1

    @property
    def normal(self) -> Array:
        return self.point(0.0, 1.0) - self.point(0.0, 0.0)

    def point(self, along: float, out: float) -> Array:
        across = self.wall.at / 10 + self.sign * (out - self.half_wall)
        return np.array([across, along] if self.wall.upright else [along, across])

    @property
    def forward(self) -> bool:
        """Whether the counter-clockwise outline runs towards larger x or y here."""
        return (self.sign > 0) == self.wall.upright


def place_windows(
    rng: np.random.Generator,
    storey: StoreyLayout,
    pieces: Sequence[Wall],
    *,
    half_wall: float,
    closed: Sequence[Wall] = (),
    for_bays: Sequence[Wall] = (),
    all_rooms: StoreyLayout | None = None,
) -> tuple[list[Window], list[Bay]]:
    """The windows of a storey with its floor at height 0, and its bays; none in the walls listed in `closed`.

    Bays are built only in walls of `for_bays`, and not where `all_rooms`, with those outdoors, has another room.
    """
    windows: list[Window] = []
    bays: list[Bay] = []
    low_rooms = {k: bool(rng.random() < 0.3) for k in range(len(storey.rooms))}
    for wall in pieces:
        side = WallSide(wall, half_wall)
        kind = storey.rooms[side.room].kind
        if OUTSIDE not in wall.rooms or wall.length < 14 or kind in WINDOWLESS or wall in closed:
            continue
        # Along the long walls of a stairwell, the flight would cover the panes.
        if not _is_clear(storey, wall, 15) or (kind == "s" and wall.length > 35):
            continue
        may_have_bay = kind in BAY_KINDS and len(bays) < MAX_BAYS and wall in for_bays
        if may_have_bay and rng.random() < 0.2 and _may_have_bay(all_rooms or storey, wall, bays):
            bay, lights = _bay(rng, side)
            bays.append(bay)
            windows += lights
            continue
        if kind in "tu" and rng.random() < 0.5:
            continue
        windows += _row(rng, side, small=kind in SMALL_WINDOWS, low=low_rooms[side.room] and kind in "ldfbnvi")
    return windows, bays


def _may_have_bay(storey: StoreyLayout, wall: Wall, bays: Sequence[Bay]) -> bool:
    """Whether a bay fits here and does not lengthen a long room."""
    room = max(wall.rooms)
    longish = storey.area(room) * 100 > 1.6 * wall.length**2
    clear = wall.length >= 36 and _is_clear(storey, wall, 30, beside=15)
    return clear and not longish and room not in [bay.room for bay in bays]


def _is_clear(storey: StoreyLayout, wall: Wall, deep: int, *, beside: int = 0) -> bool:
    """Whether nothing is close to the outside of a wall, beyond its ends included."""
    grid, corner = (storey.labels, storey.corner) if wall.upright else (storey.labels.T, storey.corner[::-1])
    at = wall.at - corner[0]
    outside = slice(at, at + deep) if wall.rooms[1] == OUTSIDE else slice(at - deep, at)
    return bool((grid[outside, wall.low - beside - corner[1] : wall.high + beside - corner[1]] == OUTSIDE).all())


def _row(rng: np.random.Generator, side: WallSide, *, small: bool, low: bool) -> list[Window]:
    """Windows of one size, evenly spaced along a wall."""
    count = max(1, round(side.wall.length / (40 if small else 30)))
    each = side.wall.length / count / 10
    width = float(rng.uniform(0.6, 0.9) if small else rng.uniform(1.0, 2.2))
    width = round(min(width, each - 2 * MARGIN), 2)
    sill = 1.4 if small else 0.4 if low else 0.9
    places = [round(side.wall.low / 10 + (k + 0.5) * each, 2) for k in range(count)]
    return [_window(side.room, side.point(place, 0.0), side.normal, width, sill) for place in places]


def place_sidelights(wall: Wall, door_width: float, *, half_wall: float) -> list[Window]:
    """Windows on both sides of a front door in the middle of its wall, where the wall is long enough.

    An entry seldom has another outer wall, and without these no daylight.
    """
    side = WallSide(wall, half_wall)
    middle, beside = (wall.low + wall.high) / 20, (wall.length / 10 - door_width) / 2
    width = round(min(beside - SIDELIGHT_GAP - SIDELIGHT_MARGIN, MAX_SIDELIGHT), 2)
    if width < MIN_SIDELIGHT:
        return []
    away = door_width / 2 + SIDELIGHT_GAP + width / 2
    places = [round(middle + sign * away, 2) for sign in (-1, 1)]
    return [_window(side.room, side.point(place, 0.0), side.normal, width, 0.9) for place in places]


def _window(room: int, center: Array, normal: Array, width: float, sill: float) -> Window:
    return Window(room, np.round(center, 4), np.round(normal, 9), width, sill, WINDOW_TOP)


def _bay(rng: np.random.Generator, side: WallSide) -> tuple[Bay, list[Window]]:
    """A bay in the middle of a wall, slanted or square, with a window in each side that is long enough."""
    wide = min(float(rng.uniform(2.3, 3.0)), side.wall.length / 10 - 1.2)
    deep = round(float(rng.uniform(0.55, 0.7)), 2)
    slant = deep if rng.random() < 0.7 else 0.0
    middle = (side.wall.low + side.wall.high) / 20
    half = round(wide / 2, 2)
    places = [(-half, 0.0), (slant - half, deep), (half - slant, deep), (half, 0.0)]
    corners = np.round([side.point(middle + s, out) for s, out in (places if side.forward else places[::-1])], 2)
    lights = []
    for a, b in pairwise(corners):
        length = float(np.hypot(*(b - a)))
        if length >= 0.75:
            ahead = (b - a) / length
            outwards = np.array([ahead[1], -ahead[0]])
            lights.append(_window(side.room, (a + b) / 2, outwards, round(length - 0.3, 2), 0.6))
    return Bay(side.room, corners), lights


def insert_bays(outlines: Mapping[int, Array], bays: Sequence[Bay]) -> dict[int, Array]:
    """The outlines with the corners of the bays inserted."""
    changed = dict(outlines)
    for bay in bays:
        outline = changed[bay.room]
        ends = np.roll(outline, -1, axis=0)
        on = [k for k in range(len(outline)) if _between(outline[k], ends[k], bay.corners[0])]
        changed[bay.room] = np.insert(outline, on[0] + 1, bay.corners, axis=0)
    return changed


def _between(a: Array, b: Array, p: Array) -> bool:
    across = (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
    return bool(abs(across) < 1e-6 and (p - a) @ (b - p) > 0)
