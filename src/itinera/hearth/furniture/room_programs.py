"""The furniture of each kind of room, by Matterport's letter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from itinera.hearth.furniture import living_rooms, outdoor_rooms, private_rooms, service_rooms
from itinera.hearth.furniture.interior import Interior

RoomProgram = Callable[[Interior], None]  # places the furniture of a room, most important first

ROOM_PROGRAMS: Mapping[str, RoomProgram] = MappingProxyType(
    {
        "a": private_rooms.bathroom,
        "b": private_rooms.bedroom,
        "c": private_rooms.closet,
        "d": living_rooms.dining_room,
        "e": service_rooms.entry,
        "f": living_rooms.family_room,
        "g": service_rooms.garage,
        "h": service_rooms.hall,
        "i": living_rooms.library,
        "j": service_rooms.laundry,
        "k": service_rooms.kitchen,
        "l": living_rooms.living_room,
        "n": living_rooms.lounge,
        "o": living_rooms.office,
        "p": outdoor_rooms.terrace,
        "r": living_rooms.games_room,
        "s": service_rooms.stairs,
        "t": private_rooms.toilet,
        "u": service_rooms.utility_room,
        "v": living_rooms.tv_room,
        "w": private_rooms.gym,
        "x": outdoor_rooms.garden,
        "y": outdoor_rooms.balcony,
        "B": living_rooms.bar,
        "S": private_rooms.spa,
    }
)
"""How to furnish a room, by Matterport's letter."""

REQUIREMENTS: Mapping[str, tuple[frozenset[str], ...]] = MappingProxyType(
    {
        "a": (frozenset({"toilet"}), frozenset({"sink"}), frozenset({"bathtub", "shower"})),
        "b": (frozenset({"bed", "bunk bed"}),),
        "d": (frozenset({"dining table"}),),
        "f": (frozenset({"sofa"}),),
        "k": (frozenset({"sink"}), frozenset({"stove"}), frozenset({"refrigerator"})),
        "l": (frozenset({"sofa"}),),
        "n": (frozenset({"sofa"}),),
        "t": (frozenset({"toilet"}), frozenset({"sink"})),
        "v": (frozenset({"sofa"}), frozenset({"tv"})),
    }
)
"""Requirements of each kind of room: at least one object of each set."""
