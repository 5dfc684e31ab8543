"""A mesh and its textures as small typed arrays for the browser. Start with `pack_mesh`.

Coordinates become 16-bit integers, less than a millimetre apart in any house. A house of 60,000 triangles takes about
0.6 MB in the page.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from itinera.rendering.emitters import is_pane
from itinera.rendering.textures import TILE_METRES, texture
from itinera.reports.walkthrough.data import ArrayType, BufferView, PackedMesh, Texture
from itinera.worlds.labels import MATERIALS, MPCAT40
from itinera.worlds.mesh import Mesh
from itinera.worlds.space import Array

WALKABLE, GLASS, HANGING = 1, 2, 4  # flags of a face: ground to walk on, pane to look through, hidden when cut open
STEPS = 65535  # of a quantized coordinate
TEXELS = 128  # on the edge of a texture
TEXEL_STEP = 4  # of brightness: coarser texels compress better, and nobody sees it
MIN_UPWARD = 0.7  # z of the unit normal of a face to walk on
_GROUND = tuple(MPCAT40.index(name) for name in ("floor", "stairs"))
_CEILING, _LAMP = (MPCAT40.index(name) for name in ("ceiling", "lighting"))
_TYPES: dict[np.dtype[np.generic], ArrayType] = {
    np.dtype(np.uint8): "uint8",
    np.dtype(np.uint16): "uint16",
    np.dtype(np.uint32): "uint32",
}


class BufferWriter:
    """Collects arrays in one buffer."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, array: NDArray[np.unsignedinteger]) -> BufferView:
        """Append an array; returns where it is."""
        view = BufferView(_TYPES[array.dtype], self._size, array.size)
        data = array.astype(array.dtype.newbyteorder("<")).tobytes()
        padded = data + bytes(-len(data) % 4)  # typed arrays must begin at a multiple of their item's size
        self._parts.append(padded)
        self._size += len(padded)
        return view

    def encode(self) -> str:
        """All arrays, compressed, in base64."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode("ascii")


def pack_mesh(mesh: Mesh, cuts: Sequence[float], writer: BufferWriter) -> PackedMesh:
    """The mesh with its arrays in the writer's buffer; `cuts` are the heights at which its storeys are cut open."""
    vertices, used = _weld(mesh)
    low = vertices.min(axis=0) if len(vertices) else np.zeros(3)
    size = np.maximum((vertices.max(axis=0) if len(vertices) else np.ones(3)) - low, 1e-3)
    grid = ((vertices - low) / size * STEPS).round().astype(np.uint16)
    looks, indices = np.unique(
        np.column_stack([mesh.colors, mesh.materials, _flags(mesh, cuts)]).astype(np.int64), axis=0, return_inverse=True
    )
    return PackedMesh(
        faces=len(mesh.faces),
        low=low.round(6).tolist(),
        size=size.round(6).tolist(),
        looks=looks.tolist(),
        positions=writer.add(np.ascontiguousarray(grid.T)),
        corners=writer.add(narrow_indices(used)),
        look_indices=writer.add(narrow_indices(indices.reshape(-1))),
    )


def pack_textures(mesh: Mesh, writer: BufferWriter) -> list[Texture]:
    """The textures of the materials that the mesh has, without the plain one."""
    return [
        Texture(index, TILE_METRES[MATERIALS[index]], writer.add(_shrink(texture(MATERIALS[index]))))
        for index in np.unique(mesh.materials).tolist()
        if MATERIALS[index] != "plain"
    ]


def _weld(mesh: Mesh) -> tuple[Array, NDArray[np.int64]]:
    """(v, 3) the different positions of the mesh, and (f, 3) their indices."""
    unique, index = np.unique(mesh.vertices.round(4), axis=0, return_inverse=True)
    return unique.astype(np.float64), index.reshape(-1)[mesh.faces]


def narrow_indices(indices: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
    """The indices in 16 bits, if they fit, or else in 32."""
    return indices.astype(np.uint16 if indices.max(initial=0) <= STEPS else np.uint32)


def _flags(mesh: Mesh, cuts: Sequence[float]) -> NDArray[np.int64]:
    """(f,) the flags of each face."""
    corners = mesh.corners.astype(np.float64)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    upward = normals[:, 2] > MIN_UPWARD * np.linalg.norm(normals, axis=1)
    ground = np.isin(mesh.classes, _GROUND) & upward
    hanging = _cut_through(mesh, corners[:, :, 2], cuts)
    flags: NDArray[np.int64] = WALKABLE * ground + GLASS * is_pane(mesh) + HANGING * hanging
    return flags


def _cut_through(mesh: Mesh, heights: Array, cuts: Sequence[float]) -> NDArray[np.bool_]:
    """(f,) whether a face is of a ceiling, or of a lamp that a cut would leave in pieces in the air."""
    count = int(mesh.instances.max(initial=0)) + 1
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, mesh.instances, heights.min(axis=1))
    np.maximum.at(high, mesh.instances, heights.max(axis=1))
    pieces = np.zeros(count, dtype=bool)
    for cut in cuts:
        pieces |= (low > cut - 1.2) & (low < cut) & (high > cut)
    lamps = (mesh.classes == _LAMP) & (mesh.instances > 0)
    return np.asarray((mesh.classes == _CEILING) | (lamps & pieces[mesh.instances]))


def _shrink(tile: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The tile with the edge of a packed texture, its mean unchanged."""
    times = len(tile) // TEXELS
    means = tile.reshape(TEXELS, times, TEXELS, times).mean(axis=(1, 3))
    texels: NDArray[np.uint8] = np.clip((means / TEXEL_STEP).round() * TEXEL_STEP, 0, 255).astype(np.uint8)
    return texels
