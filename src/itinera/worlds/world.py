"""A world: a space with a name, and what is known to stand in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from itinera.worlds.mesh import Mesh
from itinera.worlds.space import Space


@dataclass(frozen=True)
class Room:
    """The room a place lies in."""

    label: str  # Matterport's one-letter code, "k" for kitchen
    region_id: str = ""  # which room of that kind; empty where unknown


@dataclass(frozen=True, eq=False)
class SeenObject:
    """An object seen from a place: the views that show it and its box in each."""

    id: str
    name: str
    views: NDArray[np.int64]  # (k,) 0 … 35: twelve headings, clockwise from +y, looking down, level, up
    boxes: NDArray[np.float64]  # (k, 4) x, y, width, height in pixels of a 640 x 480 view
    heading: float = math.nan  # where the middle of what is seen of it lies, radians counter-clockwise from +x
    distance: float = math.nan  # from the eye to the nearest point seen of it, metres


@dataclass(frozen=True, eq=False)
class World:
    """A space with a name, the room of each place, the objects seen from it and its shape, as far as they are known."""

    id: str
    space: Space
    rooms: Mapping[str, Room] = field(default_factory=lambda: MappingProxyType({}))
    objects: Mapping[str, tuple[SeenObject, ...]] = field(default_factory=lambda: MappingProxyType({}))
    mesh: Mesh | None = None  # what a camera sees
