"""glTF 2.0 binary files (.glb) with materials for physically based rendering: color, roughness, metalness, textures.

glTF is y-up: our (x, y, z) is (x, z, -y) there. A node per part has the part's pose, its name ("12 chair") and, in
`extras`, its instance, category and common name.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from itinera.formats.frames import points_to_habitat
from itinera.formats.scene_export.materials import PHYSICAL, UNTEXTURED, base_color, texture_names, texture_png
from itinera.formats.scene_export.parts import Part, Surface

_MAGIC, _JSON, _BIN = 0x46546C67, 0x4E4F534A, 0x004E4942
_FLOAT, _UINT, _BYTE = 5126, 5125, 5121
_VERTICES, _INDICES = 34962, 34963  # targets of buffer views
_REPEAT = 10497


def encode_glb(parts: Sequence[Part], *, textures: str | None = None, posed: bool = True) -> bytes:
    """A .glb file of the parts.

    textures: the folder of the texture images relative to the file; by default they are within the file.
    posed: place the parts in the world; else each is in its own frame.
    """
    surfaces = [surface for part in parts for surface in part.surfaces]
    views = _Buffer()
    accessors, primitives = _geometry(surfaces, views)
    materials = {surface.name: surface for surface in surfaces}
    numbers = {name: i for i, name in enumerate(sorted(materials))}
    images = _images(texture_names(parts), textures, views)
    meshes, nodes, first = [], [], 0
    for i, part in enumerate(parts):
        drawn = range(first, first + len(part.surfaces))
        filled = [{**primitives[k], "material": numbers[surfaces[k].name], "mode": 4} for k in drawn]
        meshes.append({"name": part.label, "primitives": filled})
        nodes.append(_node(part, i, posed=posed))
        first += len(part.surfaces)
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "itinera"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(nodes)))}],
        "nodes": nodes,
        "meshes": meshes,
        "materials": [_material(materials[name], list(images)) for name in numbers],
        "accessors": accessors,
        "bufferViews": views.views,
        "buffers": [{"byteLength": len(views.content)}],
    }
    if images:
        document["images"] = list(images.values())
        document["textures"] = [{"source": i, "sampler": 0} for i in range(len(images))]
        document["samplers"] = [{"wrapS": _REPEAT, "wrapT": _REPEAT, "magFilter": 9729, "minFilter": 9987}]
    return _assemble(msgspec.json.encode(document), bytes(views.content))


def encode_labeled_glb(parts: Sequence[Part], colors: Mapping[str, int]) -> bytes:
    """A .glb file of the parts in the frame of the world, each in one color, 0xRRGGBB, by its label.

    Colors are those of vertices: a semantic mesh, from which simulators read labels.
    """
    views, nodes, meshes, accessors = _Buffer(), [], [], []
    for i, part in enumerate(parts):
        points = np.concatenate(
            [points_to_habitat(part.place(surface.points.astype(np.float64))) for surface in part.surfaces]
        )
        starts = np.cumsum([0, *(len(surface.points) for surface in part.surfaces[:-1])])
        faces = np.concatenate([s.faces + start for s, start in zip(part.surfaces, starts, strict=True)])
        tint = colors[part.label]
        paint = np.tile(np.array([tint >> 16, tint >> 8 & 255, tint & 255, 255], np.uint8), (len(points), 1))
        columns = (
            (points.astype(np.float32), _FLOAT, "VEC3", _VERTICES),
            (paint, _BYTE, "VEC4", _VERTICES),
            (faces.astype(np.uint32).reshape(-1), _UINT, "SCALAR", _INDICES),
        )
        for array, component, kind, target in columns:
            accessors += _accessors([array], kind, component, views.add(_joined([array]), target))
        low, high = columns[0][0].min(axis=0), columns[0][0].max(axis=0)
        accessors[3 * i] |= {"min": low.tolist(), "max": high.tolist()}
        accessors[3 * i + 1] |= {"normalized": True}
        attributes = {"POSITION": 3 * i, "COLOR_0": 3 * i + 1}
        primitive = {"attributes": attributes, "indices": 3 * i + 2, "mode": 4}
        meshes.append({"name": part.label, "primitives": [primitive]})
        nodes.append({"name": part.label, "mesh": i})
    document = {
        "asset": {"version": "2.0", "generator": "itinera"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(nodes)))}],
        "nodes": nodes,
        "meshes": meshes,
        "accessors": accessors,
        "bufferViews": views.views,
        "buffers": [{"byteLength": len(views.content)}],
    }
    return _assemble(msgspec.json.encode(document), bytes(views.content))


class _Buffer:
    """The binary content of a file, and the views into it."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.views: list[dict[str, int]] = []

    def add(self, data: bytes, target: int | None = None) -> int:
        """The index of a new view of these bytes."""
        self.content += bytes(-len(self.content) % 4)
        view = {"buffer": 0, "byteOffset": len(self.content), "byteLength": len(data)}
        self.views.append(view if target is None else {**view, "target": target})
        self.content += data
        return len(self.views) - 1


def _geometry(surfaces: Sequence[Surface], views: _Buffer) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The accessors of all surfaces, and attributes and indices of each as a primitive; one view for each attribute."""
    points = [points_to_habitat(surface.points.astype(np.float64)).astype(np.float32) for surface in surfaces]
    normals = [points_to_habitat(surface.normals.astype(np.float64)).astype(np.float32) for surface in surfaces]
    # glTF counts v from the top of an image, whose first row is v = 0 of ours: the same.
    coordinates = [surface.coordinates for surface in surfaces]
    faces = [surface.faces.astype(np.uint32) for surface in surfaces]
    columns = (("POSITION", points, "VEC3"), ("NORMAL", normals, "VEC3"), ("TEXCOORD_0", coordinates, "VEC2"))
    accessors: list[dict[str, Any]] = []
    primitives: list[dict[str, Any]] = [{"attributes": {}} for _ in surfaces]
    for name, arrays, kind in columns:
        for i, accessor in enumerate(_accessors(arrays, kind, _FLOAT, views.add(_joined(arrays), _VERTICES))):
            if name == "POSITION":
                accessor |= {"min": arrays[i].min(axis=0).tolist(), "max": arrays[i].max(axis=0).tolist()}
            primitives[i]["attributes"][name] = len(accessors)
            accessors.append(accessor)
    for i, accessor in enumerate(_accessors(faces, "SCALAR", _UINT, views.add(_joined(faces), _INDICES))):
        primitives[i]["indices"] = len(accessors)
        accessors.append(accessor | {"count": faces[i].size})
    return accessors, primitives


def _joined(arrays: Sequence[NDArray[Any]]) -> bytes:
    return b"".join(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes() for array in arrays)


def _accessors(arrays: Sequence[NDArray[Any]], kind: str, component: int, view: int) -> list[dict[str, Any]]:
    found, offset = [], 0
    for array in arrays:
        found.append(
            {"bufferView": view, "byteOffset": offset, "componentType": component, "count": len(array), "type": kind}
        )
        offset += array.nbytes
    return found


def _images(names: Sequence[str], folder: str | None, views: _Buffer) -> dict[str, dict[str, Any]]:
    if folder is not None:
        return {name: {"name": name, "uri": f"{folder}/{name}.png"} for name in names}
    return {name: {"name": name, "mimeType": "image/png", "bufferView": views.add(texture_png(name))} for name in names}


def _material(surface: Surface, images: Sequence[str]) -> Mapping[str, Any]:
    roughness, metalness = PHYSICAL[surface.material]
    physical: dict[str, Any] = {
        "baseColorFactor": [*base_color(surface), 1.0],
        "metallicFactor": metalness,
        "roughnessFactor": roughness,
    }
    if surface.material != UNTEXTURED:
        physical["baseColorTexture"] = {"index": images.index(surface.material)}
    return {"name": surface.name, "pbrMetallicRoughness": physical}


def _node(part: Part, mesh: int, *, posed: bool) -> dict[str, Any]:
    extras = {"instance": part.instance, "category": part.category, "name": part.name}
    node: dict[str, Any] = {"name": part.label, "mesh": mesh, "extras": extras}
    if posed and part.instance:
        node["translation"] = [round(value, 5) for value in points_to_habitat(part.origin)[0].tolist()]
        half = part.turn / 2
        node["rotation"] = [0.0, round(math.sin(half), 9), 0.0, round(math.cos(half), 9)]
    return node


def _assemble(document: bytes, content: bytes) -> bytes:
    document += b" " * (-len(document) % 4)
    content += bytes(-len(content) % 4)
    length = 12 + 8 + len(document) + 8 + len(content)
    return b"".join(
        [
            struct.pack("<III", _MAGIC, 2, length),
            struct.pack("<II", len(document), _JSON),
            document,
            struct.pack("<II", len(content), _BIN),
            content,
        ]
    )
