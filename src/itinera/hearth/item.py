"""A thing in a house: what it is, where it stands, and what one would call it."""

from __future__ import annotations

from dataclasses import dataclass

from itinera.worlds import Array


@dataclass(frozen=True, eq=False)
class Item:
    """One object: furniture, a picture, a door, a window, a flight of stairs. Its instance in the mesh is its index."""

    index: int  # from 1, unique in the house
    name: str  # what a person calls it: "coffee table"
    category: str  # one of labels.MPCAT40
    room: int  # the index of the room it is in; for doors and stairs, of the first of the two
    centre: Array  # (3,) the middle of its box
    size: Array  # (3,) width (along its own x), depth (its own y) and height
    heading: float  # which way its front looks, radians from +x; its own +y axis points there
    colour: str = ""  # "red"; empty where no one would say it
    shape: str = ""  # "round", "long": a word that tells it from others of its kind; empty where there is none
    blocks: bool = True  # whether one must walk round it (a rug, a picture and a lamp above do not block)
