"""The parts of a house for other simulators: one per object and per category of the building, split by material.

A part has its own frame, as a simulator places it: the middle of its footprint at the origin, its lowest point at z = 0
and its front facing +y. The building is in the frame of the world.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.hearth.build import House
from itinera.hearth.language.scene_description import BUILDING_CATEGORIES
from itinera.rendering.textures import TILE_METRES, texture_coordinates
from itinera.worlds import Array
from itinera.worlds.labels import MATERIALS, MPCAT40
from itinera.worlds.mesh import Mesh

FIXED = BUILDING_CATEGORIES | {"stairs"}  # objects of these categories belong to the building, as a stage does


@dataclass(frozen=True, eq=False)
class Surface:
    """The faces of a part with one material and one color, with flat normals and texture coordinates."""

    material: str  # one of labels.MATERIALS
    color: tuple[int, int, int]  # sRGB
    points: NDArray[np.float32]  # (v, 3) metres, z up, in the frame of the part
    normals: NDArray[np.float32]  # (v, 3)
    coordinates: NDArray[np.float32]  # (v, 2) in tiles of the material; rows of the texture run along the second
    faces: NDArray[np.int32]  # (f, 3)

    @property
    def name(self) -> str:
        """The name of its material and color: "wood_a87c52"."""
        return f"{self.material}_{''.join(f'{part:02x}' for part in self.color)}"


@dataclass(frozen=True, eq=False)
class Part:
    """An object, or everything of one category that belongs to the building itself."""

    instance: int  # of the mesh; 0 for the building itself
    category: str  # one of labels.MPCAT40
    name: str  # its common name: "coffee table"
    room: int | None  # the index of its room in the floor plan
    origin: Array  # (3,) metres, the origin of its frame in the world
    turn: float  # radians, the rotation of its frame about the vertical axis
    surfaces: tuple[Surface, ...]

    @property
    def fixed(self) -> bool:
        """Whether it belongs to the building: walls, floors, doors, windows, stairs."""
        return self.instance == 0 or self.category in FIXED

    @property
    def label(self) -> str:
        """The name that the reader of scenes understands: "12 chair"."""
        return f"{self.instance} {self.category}"

    def place(self, points: Array) -> Array:
        """Points (n, 3) of its own frame in the frame of the world."""
        return _turn(np.asarray(points, dtype=np.float64), self.turn) + self.origin


def split_house(house: House) -> tuple[Part, ...]:
    """The parts of a house: the building by category first, then the objects in the order of their instances."""
    mesh = house.mesh
    labels = mesh.instances.astype(np.int64) * len(MPCAT40) + mesh.classes
    splitter = _Splitter(mesh)
    whole = [_building_part(mesh, rows, splitter) for rows in _groups(labels) if mesh.instances[rows[0]] == 0]
    objects = [_object_part(house, rows, splitter) for rows in _groups(mesh.instances) if mesh.instances[rows[0]] > 0]
    return (*whole, *objects)


def _building_part(mesh: Mesh, rows: NDArray[np.int64], splitter: _Splitter) -> Part:
    category, nowhere = MPCAT40[mesh.classes[rows[0]]], np.zeros(3)
    return Part(0, category, category, None, nowhere, 0.0, tuple(splitter.surfaces(rows, nowhere, 0.0)))


def _object_part(house: House, rows: NDArray[np.int64], splitter: _Splitter) -> Part:
    item = house.object(int(house.mesh.instances[rows[0]]))
    turn = round(item.heading - math.pi / 2, 6)
    origin = np.array([*item.center[:2], house.mesh.corners[rows][..., 2].min()]).round(4)
    surfaces = tuple(splitter.surfaces(rows, origin, turn))
    return Part(item.index, item.category, item.name, item.room, origin, turn, surfaces)


class _Splitter:
    """A mesh with the normal and the look of each face, to be split into surfaces."""

    def __init__(self, mesh: Mesh) -> None:
        self._mesh = mesh
        self._normals = face_normals(mesh.corners)
        steps = np.round(self._normals * 1e4).astype(np.int64) + (1 << 14)
        directions = np.unique((steps[:, 0] << 32) | (steps[:, 1] << 16) | steps[:, 2], return_inverse=True)[1]
        # A corner of a surface is a vertex with a normal.
        self._keys = mesh.faces.astype(np.int64) * len(mesh.faces) + directions.reshape(-1, 1)
        paint = (mesh.colors.astype(np.int64) * (1 << 16, 1 << 8, 1)).sum(axis=1)
        self._looks = (mesh.materials.astype(np.int64) << 24) + paint

    def surfaces(self, rows: NDArray[np.int64], origin: Array, turn: float) -> Iterator[Surface]:
        """The surfaces of these faces in the frame of a part."""
        for chosen in _groups(self._looks[rows]):
            yield self._surface(rows[chosen], origin, turn)

    def _surface(self, rows: NDArray[np.int64], origin: Array, turn: float) -> Surface:
        mesh = self._mesh
        material = MATERIALS[mesh.materials[rows[0]]]
        red, green, blue = mesh.colors[rows[0]].tolist()
        kept, first, where = np.unique(self._keys[rows].ravel(), return_index=True, return_inverse=True)
        points = mesh.vertices[kept // len(mesh.faces)].astype(np.float64)
        normals = self._normals[rows[first // 3]]
        # The texture is fixed to the world, as in our own images.
        coordinates = texture_coordinates(points, normals) / TILE_METRES[material]
        return Surface(
            material,
            (red, green, blue),
            _turn(points - origin, -turn).round(5).astype(np.float32),
            _turn(normals, -turn).round(6).astype(np.float32),
            coordinates.round(5).astype(np.float32),
            where.reshape(-1, 3).astype(np.int32),
        )


def face_normals(corners: NDArray[np.float32]) -> Array:
    """(f, 3) unit normals of faces (f, 3, 3); straight up for those without area."""
    wide = corners.astype(np.float64)
    cross = np.cross(wide[:, 1] - wide[:, 0], wide[:, 2] - wide[:, 0])
    length = np.linalg.norm(cross, axis=1, keepdims=True)
    # Rounded, because the last bit of a quotient may differ between machines.
    unit: Array = np.where(length > 1e-12, cross / np.maximum(length, 1e-12), (0.0, 0.0, 1.0)).round(9)
    return unit


def _turn(points: Array, turn: float) -> Array:
    """Points rotated counter-clockwise about the vertical axis."""
    cos, sin = round(math.cos(turn), 9), round(math.sin(turn), 9)
    x, y, z = points[:, 0], points[:, 1], points[:, 2]
    return np.stack([x * cos - y * sin, x * sin + y * cos, z], axis=1)


def _groups(keys: NDArray[np.int64] | NDArray[np.int32]) -> list[NDArray[np.int64]]:
    """The positions of equal keys, in the order of the keys."""
    order = np.argsort(keys, kind="stable")
    return [rows for rows in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if len(rows)]
