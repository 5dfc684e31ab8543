"""Scene files, .glb and .obj, through trimesh: writes our meshes for other simulators, and reads other scenes.

Every object has its own name, instance and category ("12 chair"), so labels survive a round trip. glTF is y-up and is
converted; .obj and .ply files do not say and are read as z-up.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault, MissingExtra
from itinera.formats.frames import points_from_habitat, points_to_habitat
from itinera.formats.io import read_bytes
from itinera.formats.writing import atomic_write
from itinera.worlds import World
from itinera.worlds.labels import MPCAT40
from itinera.worlds.lazy import LazyMapping
from itinera.worlds.mesh import Mesh
from itinera.worlds.surface import Surface

if TYPE_CHECKING:
    from types import ModuleType

Up = Literal["y", "z"]
_UP: dict[str, Up] = {".glb": "y", ".gltf": "y", ".obj": "z", ".ply": "z"}
_WRITTEN = (".glb", ".obj")
# Ten points spread evenly over a triangle, in barycentric coordinates.
_WITHIN = np.array([(3 * i + 1, 3 * j + 1, 10 - 3 * i - 3 * j) for i in range(4) for j in range(4 - i)]) / 12
MAX_VALUES = 1 << 25  # vertices and triangles of a scene; the largest of Matterport have 10 M
_NAMED = re.compile(r"(\d{1,9})[ _](\w+?)(?:_\d+)?(?!\w)")  # trimesh numbers the materials of an object: "12 chair_1"


def read_scene(path: str | Path, *, up: Up | None = None) -> Mesh:
    """The mesh of a .glb, .gltf, .obj or .ply file; with labels if its objects are named as ours are, else 0.

    `up` overrides the up axis of files that break the convention of their format: Matterport's .glb files are z-up.
    """
    path = Path(path)
    upward = up or _UP[_ending(path, tuple(_UP))]
    content = read_bytes(path)
    trimesh = require_trimesh()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy's, on numbers that are not finite
            parts = list(_parts(_load(trimesh, path, content)))
            count = sum(len(faces) for _, _, faces, _ in parts)
            mesh = _joined(parts, upward) if count else None
    except BadFile:
        raise
    except Exception as error:  # trimesh's parsers raise all kinds of exceptions on broken files
        remedy = "Open it in a viewer, and export or copy it again."
        raise BadFile(str(path), [Fault("", f"cannot be read as a scene ({error}).", remedy)]) from None
    if mesh is None:
        raise BadFile(str(path), [Fault("", "contains no triangles.", "Export the scene with its meshes.")])
    return mesh


def read_worlds(folder: str | Path, *, radius: float, height: float, up: Up | None = None) -> Mapping[str, World]:
    """The scenes in a folder and its subfolders, as worlds for a robot of this radius and height, metres.

    A world has the name of its file. It is read, and its surface computed, on first access. If a scene exists in
    several formats, the first of .glb, .gltf, .obj, .ply is used.
    """
    files = find_scenes(folder)
    if not files:
        problem = f"contains no scenes: no file in it ends in {', '.join(_UP)}."
        raise BadFile(str(folder), [Fault("", problem, "Give the folder with the scenes.")])

    return LazyMapping(files, lambda name: read_world(files[name], radius=radius, height=height, up=up))


def read_world(path: str | Path, *, radius: float, height: float, up: Up | None = None) -> World:
    """The scene of one file as a world for a robot of this radius and height, metres, named after the file."""
    mesh = read_scene(path, up=up)
    try:
        return World(Path(path).stem, Surface.from_mesh(mesh, radius=radius, height=height), mesh=mesh)
    except BadArgument as error:
        remedy = "Check the up axis, and that units are metres."
        raise BadFile(str(path), [Fault("", str(error), remedy)]) from None


def find_scenes(folder: str | Path) -> dict[str, Path]:
    """The scene files in a folder and its subfolders, by the names of their worlds."""
    found: dict[str, Path] = {}
    for ending in _UP:
        for file in sorted(Path(folder).rglob(f"*{ending}")):
            if any(part.startswith(".") for part in file.relative_to(folder).parts):
                continue  # internal files of a build
            other = found.setdefault(file.stem, file)
            if other != file and other.suffix == ending:
                problem = f"contains two scenes called {file.stem}: {other} and {file}."
                raise BadFile(str(folder), [Fault("", problem, "Give a folder in which every scene has its own name.")])
    return dict(sorted(found.items()))


def _ending(path: Path, known: tuple[str, ...]) -> str:
    if path.suffix not in known:
        raise BadArgument(f"A scene file must end in {', '.join(known)}, not {path.suffix or 'nothing'!r}: {path}.")
    return path.suffix


def require_trimesh() -> ModuleType:
    """The trimesh module; raises MissingExtra, which names the extra to install."""
    try:
        import trimesh
    except ImportError:
        raise MissingExtra("Scene files", "trimesh", "scenes") from None
    return trimesh


def _load(trimesh: ModuleType, path: Path, content: bytes) -> Any:
    # Objects of an .obj file are separated by name; materials would split them further.
    options = {"split_objects": True, "group_material": False} if path.suffix == ".obj" else {}
    _check_counts(path, content)
    folder = path.parent.resolve()

    class NeighborFiles(trimesh.resolvers.FilePathResolver):  # type: ignore[misc,name-defined]
        """Textures and buffers that a scene names: regular files of its folder, and none elsewhere."""

        def get(self, name: str) -> bytes:
            found = (folder / name.strip()).resolve()
            if not found.is_relative_to(folder):
                raise ValueError(f"{name[:200]!r} is outside the folder of the scene")
            return read_bytes(found)

    source = io.BytesIO(content)
    return trimesh.load_scene(
        source, file_type=path.suffix[1:], resolver=NeighborFiles(str(path)), process=False, **options
    )


def _check_counts(path: Path, content: bytes) -> None:
    """Refuse a glTF file that asks for more values than a scene has: a count takes memory, whatever the file's size."""
    if path.suffix not in (".glb", ".gltf"):
        return
    document = content[20 : 20 + int.from_bytes(content[12:16], "little")] if path.suffix == ".glb" else content
    counts = [accessor.count for accessor in msgspec.json.decode(document.rstrip(b"\0 "), type=_Gltf).accessors]
    if min(counts, default=0) < 0 or sum(counts) > MAX_VALUES:
        problem = f"asks for {sum(counts):,} values; at most {MAX_VALUES:,} are allowed."
        raise BadFile(str(path), [Fault("accessors", problem, "Split the scene, or simplify its meshes.")])


class _Accessor(msgspec.Struct):
    count: int


class _Gltf(msgspec.Struct):
    accessors: list[_Accessor] = []


def _parts(scene: Any) -> Iterator[tuple[str, NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Name, (v, 3) vertices, (f, 3) faces and (f, 3) colors of each object, in scene coordinates."""
    total = 0
    for node in scene.graph.nodes_geometry:
        turned, name = scene.graph[node]
        shape = scene.geometry[name]
        if getattr(shape, "faces", None) is None:
            continue  # points and lines
        vertices = np.asarray(shape.vertices, dtype=np.float64) @ turned[:3, :3].T + turned[:3, 3]
        faces = np.asarray(shape.faces)
        total += len(vertices) + len(faces)
        if total > MAX_VALUES:  # an object may be placed a million times
            raise ValueError(f"it has more than {MAX_VALUES:,} vertices and triangles")
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
            raise ValueError(f"the vertices of {name} are not finite triples")
        if faces.ndim != 2 or faces.shape[1] != 3 or not ((faces >= 0) & (faces < len(vertices))).all():
            raise ValueError(f"the triangles of {name} refer to missing vertices")
        yield str(name), vertices, faces, _face_colors(shape)


def _face_colors(shape: Any) -> NDArray[Any]:
    visual = shape.visual
    if visual.kind == "texture":
        return _textured(visual, np.asarray(shape.faces))
    if not visual.defined:
        return np.full((len(shape.faces), 3), 180, dtype=np.uint8)
    return np.asarray(visual.face_colors)[:, :3]


def _textured(visual: Any, faces: NDArray[Any]) -> NDArray[Any]:
    """(f, 3) the texture averaged over each face; the color of the material where there is no texture."""
    material = visual.material
    if hasattr(material, "baseColorTexture"):  # glTF's materials; the others are .obj's
        image, factor = material.baseColorTexture, material.baseColorFactor
    else:
        image, factor = getattr(material, "image", None), None
    if image is None or visual.uv is None:
        color = np.asarray(material.main_color, dtype=np.uint8)[:3]
        return np.tile(color if factor is None else _srgb(color).round().astype(np.uint8), (len(faces), 1))
    to_color = require_trimesh().visual.color.uv_to_color
    corners = np.asarray(visual.uv, dtype=np.float64)[faces]
    total = sum(to_color(np.einsum("fcx,c->fx", corners, at), image)[:, :3].astype(np.int64) for at in _WITHIN)
    tint = np.ones(3) if factor is None else _srgb(np.asarray(factor)[:3]) / 255
    return np.asarray((total / len(_WITHIN) * tint).round(), dtype=np.uint8)


def _srgb(factor: NDArray[Any]) -> NDArray[np.float64]:
    """The color, from 0 to 255, of a factor of glTF from 0 to 255, which is linear light."""
    linear = np.asarray(factor, dtype=np.float64) / 255
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055) * 255


def _joined(parts: list[tuple[str, NDArray[Any], NDArray[Any], NDArray[Any]]], up: Up) -> Mesh:
    vertices, faces, classes, instances, colors = [], [], [], [], []
    first = 0
    for name, points, triangles, painted in parts:
        instance, kind = _labels(name)
        vertices.append(points_from_habitat(points) if up == "y" else points)
        faces.append(triangles + first)
        instances.append(np.full(len(triangles), instance))
        classes.append(np.full(len(triangles), kind))
        colors.append(painted)
        first += len(points)
    return Mesh(*(np.concatenate(pieces) for pieces in (vertices, faces, classes, instances, colors)))


def _labels(name: str) -> tuple[int, int]:
    found = _NAMED.match(name)
    return (int(found[1]), MPCAT40.index(found[2])) if found and found[2] in MPCAT40 else (0, 0)


def write_scene(path: str | Path, mesh: Mesh) -> None:
    """Write a mesh as a .glb (y-up, as glTF requires) or .obj (z-up) file, one object per instance and category."""
    path = Path(path)
    kind = _ending(path, _WRITTEN)
    trimesh = require_trimesh()
    scene = trimesh.Scene()
    for name, vertices, faces, colors in _objects(mesh):
        placed = points_to_habitat(vertices) if _UP[kind] == "y" else vertices
        shape = trimesh.Trimesh(placed, faces, vertex_colors=colors, process=False)
        scene.add_geometry(shape, geom_name=name, node_name=name)
    content = scene.export(file_type=kind[1:])
    with atomic_write(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


def _objects(mesh: Mesh) -> Iterator[tuple[str, NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Name, vertices, faces and vertex colors of each instance and category.

    These formats color vertices, not faces, so a corner between two colors becomes two vertices.
    """
    labels = mesh.instances.astype(np.int64) * len(MPCAT40) + mesh.classes
    paint = (mesh.colors.astype(np.int64) * (1 << 16, 1 << 8, 1)).sum(axis=1)
    order = np.argsort(labels, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        if not len(rows):
            continue
        corners = mesh.faces[rows].astype(np.int64) * (1 << 24) + paint[rows, None]
        kept, where = np.unique(corners, return_inverse=True)
        shades = np.stack([kept >> 16 & 255, kept >> 8 & 255, kept & 255], axis=1).astype(np.uint8)
        name = f"{mesh.instances[rows[0]]} {MPCAT40[mesh.classes[rows[0]]]}"
        yield name, mesh.vertices[kept >> 24].astype(np.float64), where.reshape(-1, 3), shades
