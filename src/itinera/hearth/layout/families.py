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

UPPER_TRIES = 12  # for each ground floor

FAMILIES: Mapping[str, float] = MappingProxyType(
    {"villa": 0.36, "row house": 0.24, "L-shaped house": 0.16, "courtyard house": 0.11, "flat": 0.13}
)
"""The fraction of houses of each family."""
STOREYS: Mapping[str, tuple[float, float, float]] = MappingProxyType(
    {
        "villa": (0.0, 0.55, 0.45),
        "row house": (0.0, 0.5, 0.5),
        "L-shaped house": (0.6, 0.4, 0.0),
        "courtyard house": (1.0, 0.0, 0.0),
        "flat": (1.0, 0.0, 0.0),
    }
)
"""The probabilities of one, two and three storeys."""
OPEN_PLAN: Mapping[str, float] = MappingProxyType(
    {"villa": 0.2, "row house": 0.35, "L-shaped house": 0.25, "courtyard house": 0.25, "flat": 0.5}
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
        ("villa", 3): (21, 27),
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
    family = str(rng.choice(list(FAMILIES), p=list(FAMILIES.values())))
    storeys = 1 + int(rng.choice(3, p=STOREYS[family]))
    return HouseType(family, storeys, bool(rng.random() < OPEN_PLAN[family]))


def sketch_house(rng: np.random.Generator, house: HouseType) -> HouseSketch:
    """The rooms of a house of this type; raises InvalidLayout if this draw fails."""
    court, blind = None, ()
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
    if not any(room.kind in "at" and room.owner == NO_ROOM for room in floors[0]):
        raise InvalidLayout("no toilet on the ground floor")
