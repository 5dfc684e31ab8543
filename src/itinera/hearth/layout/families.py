"""Families of houses: villas around a hall with stairs, row houses, L-shaped houses, courtyard houses and flats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from itinera.hearth.layout.courtyards import sketch_courtyard_house
from itinera.hearth.layout.room_grid import NO_ROOM, InvalidLayout, Point, Rect, RoomSketch
from itinera.hearth.layout.row_houses import sketch_row_house
from itinera.hearth.layout.storeys import HallStyle, Spine, randint, sketch_ground_floor, sketch_upper_floor
from itinera.seeding import generator

UPPER_TRIES = 12  # for each ground floor
PLASTIC = 1.324717957244746  # the real root of x^3 = x + 1

FAMILIES: Mapping[str, float] = MappingProxyType(
    {"flat": 0.12, "courtyard house": 0.1, "row house": 0.25, "villa": 0.37, "L-shaped house": 0.16}
)
"""The fraction of houses of each family."""
STOREYS: Mapping[str, tuple[float, float, float]] = MappingProxyType(
    {
        "villa": (0.0, 0.5, 0.5),
        "row house": (0.0, 0.2, 0.8),
        "L-shaped house": (0.55, 0.45, 0.0),
        "courtyard house": (1.0, 0.0, 0.0),
        "flat": (1.0, 0.0, 0.0),
    }
)
"""The probabilities of one, two and three storeys."""
OPEN_PLAN: Mapping[str, float] = MappingProxyType(
    {"villa": 0.12, "row house": 0.25, "L-shaped house": 0.15, "courtyard house": 0.15, "flat": 0.3}
)
"""The probability that kitchen, dining room and living room are joined by openings as wide as their walls."""

STYLES: Mapping[str, HallStyle] = MappingProxyType(
    {
        "villa": HallStyle((20, 32), (0, 56), 0.0),
        "L-shaped house": HallStyle((15, 21), (36, 70), 1.0),
        "flat": HallStyle((15, 20), (36, 80), 0.0, (44, 56)),
    }
)
ROOMS: Mapping[tuple[str, int], tuple[int, int]] = MappingProxyType(
    {
        ("villa", 2): (17, 22),
        ("villa", 3): (23, 27),
        ("row house", 2): (13, 18),
        ("row house", 3): (17, 25),
        ("L-shaped house", 1): (14, 19),
        ("L-shaped house", 2): (18, 24),
        ("courtyard house", 1): (9, 19),
        ("flat", 1): (10, 15),
    }
)
"""The least and the most rooms, without those outdoors, by family and number of storeys."""


@dataclass(frozen=True)
class HouseSketch:
    """The rooms of a house on the grid."""

    family: str
    floors: Sequence[Sequence[RoomSketch]]
    open_plan: bool
    court: Rect | None = None  # an open space that the house encloses on three sides
    blind: tuple[Point, ...] = ()  # directions of walls without windows and doors, as neighbors stand there


@dataclass(frozen=True)
class HouseType:
    """The family of a house and what is decided before its rooms are drawn."""

    family: str
    storeys: int
    open_plan: bool


def draw_house_type(rng: np.random.Generator) -> HouseType:
    """A random family, number of storeys, and whether the plan is open."""
    family, storeys, opened = rng.random(3).tolist()
    return _house_type(family, storeys, opened)


def season_house_type(seed: int, index: int) -> HouseType:
    """The type of a house of a season: every long run of houses has the families and storeys in their fractions.

    Independent draws would give some seasons no flats. This is a sequence of low discrepancy in two dimensions,
    shifted by the seed (Roberts 2018, The Unreasonable Effectiveness of Quasirandom Sequences).
    """
    shift = generator(seed, "house types").random(2)
    family, storeys = ((shift + (index + 1) * np.array([1 / PLASTIC, 1 / PLASTIC**2])) % 1.0).tolist()
    return _house_type(family, storeys, float(generator(seed, "house", str(index), "type").random()))


def _house_type(family: float, storeys: float, opened: float) -> HouseType:
    """The type at these quantiles, from 0 to 1, of the families, the numbers of storeys and open plans."""
    kind = list(FAMILIES)[_find_share(list(FAMILIES.values()), family)]
    return HouseType(kind, 1 + _find_share(STOREYS[kind], storeys), opened < OPEN_PLAN[kind])


def _find_share(shares: Sequence[float], quantile: float) -> int:
    """The index of the share at a quantile of their sum, which is one."""
    return min(int(np.searchsorted(np.cumsum(shares).round(9), quantile, side="right")), len(shares) - 1)


def sketch_house(rng: np.random.Generator, house: HouseType) -> HouseSketch:
    """The rooms of a house of this type; raises InvalidLayout if this draw fails."""
    court: Rect | None = None
    blind: tuple[Point, ...] = ()
    floors: Sequence[Sequence[RoomSketch]]
    if house.family == "row house":
        floors, blind = sketch_row_house(rng, house.storeys), ((0, -1), (0, 1))
    elif house.family == "courtyard house":
        rooms, court = sketch_courtyard_house(rng)
        floors = [rooms]
    else:
        floors = _sketch_along_hall(rng, house)
    _check_rooms(floors, ROOMS[house.family, house.storeys])
    return HouseSketch(house.family, floors, house.open_plan, court, blind)


def _sketch_along_hall(rng: np.random.Generator, house: HouseType) -> list[list[RoomSketch]]:
    """The storeys of a villa, an L-shaped house or a flat."""
    rooms = randint(rng, *ROOMS[house.family, house.storeys])
    style, upper_floors = STYLES[house.family], house.storeys - 1
    ground, spine = sketch_ground_floor(rng, style, rooms=rooms, upper_floors=upper_floors)
    _check_toilet(ground)
    floors = [ground]
    for level in range(upper_floors):
        left = rooms - sum(map(len, floors))
        upper, spine = _find_upper_floor(rng, spine, floors, rooms=left // (upper_floors - level))
        floors.append(upper)
    return floors


def _find_upper_floor(
    rng: np.random.Generator, spine: Spine, below: Sequence[Sequence[RoomSketch]], *, rooms: int
) -> tuple[list[RoomSketch], Spine]:
    """An upper floor that suits the floors below it."""
    taken = [room.kind for floor in below for room in floor]
    for _ in range(UPPER_TRIES):
        try:
            upper, above = sketch_upper_floor(rng, spine, taken, rooms=rooms)
        except InvalidLayout:
            continue
        kinds = [room.kind for room in upper]
        if "b" in kinds and "a" in kinds:
            return upper, above
    raise InvalidLayout("no upper floor")


def _check_rooms(floors: Sequence[Sequence[RoomSketch]], count: tuple[int, int]) -> None:
    """Raise InvalidLayout for a house with unsuitable rooms, or too few or too many of them."""
    kinds = [room.kind for floor in floors for room in floor]
    beds, baths = kinds.count("b"), kinds.count("a")
    if not count[0] <= len(kinds) <= count[1]:
        raise InvalidLayout("too few or too many rooms")
    if not (beds >= 1 and 1 <= baths <= beds + 1 and beds <= 2 * baths + 1):
        raise InvalidLayout("bedrooms and baths do not match")
    _check_toilet(floors[0])


def _check_toilet(ground: Sequence[RoomSketch]) -> None:
    """Raise InvalidLayout for a ground floor whose only toilets belong to bedrooms."""
    if not any(room.kind in "at" and room.owner == NO_ROOM for room in ground):
        raise InvalidLayout("no toilet on the ground floor")
