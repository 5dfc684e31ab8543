"""A world: a space with an id, and its annotations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from itinera.worlds.mesh import Mesh
from itinera.worlds.regions import Region, locate_regions
from itinera.worlds.space import Array, Space


@dataclass(frozen=True)
class Room:
    """The room that contains a place."""

    label: str  # Matterport's one-letter code, "k" for kitchen
    region_id: str = ""  # which room with that label; empty where unknown


@dataclass(frozen=True, eq=False)
class VisibleObject:
    """An object visible from a place: the views that show it and its bounding box in each."""

    id: str
    name: str
    views: NDArray[np.int64]  # (k,) 0 … 35: twelve headings, clockwise from +y, looking down, level, up
    boxes: NDArray[np.float64]  # (k, 4) x, y, width, height in pixels of a 640 x 480 view
    heading: float = math.nan  # direction of the center of its visible part, radians counter-clockwise from +x
    distance: float = math.nan  # from the camera to the nearest visible point of it, metres


@dataclass(frozen=True)
class Instance:
    """The names of an instance of a mesh: the words people use for an object. Empty where nobody would say one."""

    name: str  # its common name: "coffee table"
    color: str = ""  # "red"
    shape: str = ""  # "round"
    material: str = ""  # "wooden"
    category: str = ""  # one of labels.MPCAT40


@dataclass(frozen=True, eq=False)
class World:
    """A space with an id and, as far as known, the room of each place, the objects visible from it, and the mesh."""

    id: str
    space: Space
    rooms: Mapping[str, Room] = field(default_factory=dict)
    objects: Mapping[str, tuple[VisibleObject, ...]] = field(default_factory=dict)
    mesh: Mesh | None = None  # what cameras render
    instances: Mapping[int, Instance] = field(default_factory=dict)  # by instance of the mesh
    regions: tuple[Region, ...] = ()  # rooms as areas on the ground

    def room_at(self, place: Array) -> Room | None:
        """The room that contains a place (3,) on the ground; None in a scene without regions."""
        if not self.regions:
            return None
        region = self.regions[int(locate_regions(self.regions, np.asarray(place, np.float64).reshape(1, 3))[0])]
        return Room(region.label, region.id)


class Worlds(Mapping[str, World]):
    """Worlds by id, each read or built on first access."""

    def __init__(self, worlds: Mapping[str, World], source: str = "") -> None:
        self._worlds, self.source = worlds, source

    def __getitem__(self, world_id: str) -> World:
        try:
            return self._worlds[world_id]
        except KeyError:
            raise KeyError(f"no world {world_id!r} in {self!r}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._worlds)

    def __contains__(self, world_id: object) -> bool:
        return world_id in self._worlds

    def __len__(self) -> int:
        return len(self._worlds)

    def __repr__(self) -> str:
        example = f", such as {next(iter(self._worlds))!r}" if len(self) else ""
        return f"Worlds({self.source!r}: {len(self)} worlds{example})"
