"""The contents of a walk-through page as plain values: mesh, storeys, rooms, navigation graph, episodes.

Lengths are metres in the world's frame, z up; headings are radians counter-clockwise from +x. Large arrays are in one
buffer, compressed and in base64; `BufferView` names the part of it that belongs to an array.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from itinera.reports.replay.data import TextSpan

ArrayType = Literal["uint8", "uint16", "uint32"]


class BufferView(msgspec.Struct, frozen=True, array_like=True):
    """An array within the buffer."""

    type: ArrayType
    offset: int  # bytes, a multiple of 4
    length: int  # number of elements


class PackedMesh(msgspec.Struct, frozen=True):
    """A mesh with quantized corners; its arrays are in the buffer.

    Faces of one look (color, material, flags) share a row of `looks`.
    """

    faces: int
    low: list[float]  # the corner of the bounding box at which every coordinate is 0
    size: list[float]  # its extent, at which a coordinate is 65535
    looks: list[list[int]]  # red, green, blue, index of the material, flags of `mesh.py`
    positions: BufferView  # x of all vertices, then y, then z
    corners: BufferView  # vertex indices, three for each face
    look_indices: BufferView  # into `looks`, one for each face


class PackedMood(msgspec.Struct, frozen=True):
    """The light of one mood, and the colors outside, 0 to 255."""

    name: str
    zenith: list[float]
    horizon: list[float]
    lawn: list[float]
    texels: BufferView  # see `light.encode_texels`


class PackedLight(msgspec.Struct, frozen=True):
    """Baked light: faces in one plane share a chart, a grid of texels; its arrays are in the buffer."""

    spacing: float  # metres between texels
    charts: BufferView  # the chart of each face
    sizes: BufferView  # texels along u of all charts, then along v; along a direction with one, light is even
    origins: BufferView  # of the grid along u, then v, in texels, plus 32768
    axes: BufferView  # dominant axis of each chart
    moods: list[PackedMood]


class Texture(msgspec.Struct, frozen=True):
    """A tile of brightness that repeats; 128 leaves the color as it is."""

    material: int
    metres: float  # edge of the tile
    texels: BufferView  # rows of the square


class Storey(msgspec.Struct, frozen=True):
    """A floor of the house."""

    name: str
    floor: float  # z
    cut: float  # z at which the house is cut open to look into this storey


class WalkthroughRoom(msgspec.Struct, frozen=True):
    """A room, and where its name is drawn."""

    name: str
    storey: int
    outline: list[float]  # x, y, x, y, …
    floor: float
    x: float
    y: float
    width: float  # of the floor around that point, along x
    viewpoint: int  # from which to look at it; -1 if it has none
    heading: float  # at this viewpoint


class WalkthroughGraph(msgspec.Struct, frozen=True):
    """The navigation graph."""

    ids: list[str]
    x: list[float]
    y: list[float]
    z: list[float]  # of the ground below each viewpoint
    edges: list[int]  # indices of viewpoints, two per edge


class WalkthroughEpisode(msgspec.Struct, frozen=True):
    """An episode; its path is empty where it is withheld."""

    id: str
    group: str  # the data set and split it belongs to
    language: str
    instruction: list[TextSpan]  # words with the indices of the path they are aligned with
    start: int  # viewpoint
    heading: float
    path: list[int]  # viewpoints, start and goal included


class Walkthrough(msgspec.Struct, frozen=True):
    """Everything a walk-through page contains."""

    title: str
    eye_height: float
    buffer: str  # zlib-compressed bytes, base64
    mesh: PackedMesh
    textures: list[Texture]
    light: PackedLight | None  # None if no light is baked
    storeys: list[Storey]  # the lowest first
    rooms: list[WalkthroughRoom]
    graph: WalkthroughGraph
    episodes: list[WalkthroughEpisode]

    def __repr__(self) -> str:
        return f"Walkthrough({self.title!r})"
