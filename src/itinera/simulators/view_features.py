"""View features at the nodes of a graph: a row for each of the 36 views.

A `ViewSource` has them for whole worlds: rendered from a mesh (`rendered_views`), from annotations (`annotated_views`),
or from feature files (`itinera.formats.features`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.rendering.appearance import FLAT, Appearance
from itinera.rendering.camera import Camera, Frame
from itinera.rendering.panorama import TURNS, VIEW_ELEVATIONS, VIEW_FOV, VIEW_HEADINGS, VIEW_HEIGHT, VIEW_WIDTH, VIEWS
from itinera.rendering.rasterizer import Rasterizer
from itinera.simulators.candidates import DIGITS, graph_candidates
from itinera.worlds import NavGraph, VisibleObject, World
from itinera.worlds.labels import MPCAT40, ROOM_NAMES
from itinera.worlds.mesh import Mesh

Views = NDArray[np.float32]  # (36, d), or (nodes, 36, d)

CACHE_BYTES = 128 << 20  # of view features kept in memory, approximately
TYPICAL_NODES = 120  # of a world


class ViewSource(Protocol):
    """Features of the 36 views of nodes."""

    @property
    def size(self) -> int:
        """The number of features of a view."""
        ...

    def at(self, world_id: str, node: str) -> NDArray[Any]:
        """(36, size) the features at a node; not a copy, so do not write to it."""
        ...


class WorldViews:
    """Features that are computed for a whole world on first use; those of the last worlds are cached."""

    def __init__(self, columns: Sequence[str], world: Callable[[str], Mapping[str, Views]]) -> None:
        self.columns = tuple(columns)  # the name of each feature
        self._world = lru_cache(max(1, CACHE_BYTES // (4 * VIEWS * len(columns) * TYPICAL_NODES)))(world)

    @property
    def size(self) -> int:
        return len(self.columns)

    def at(self, world_id: str, node: str) -> Views:
        world = self._world(world_id)
        try:
            return world[node]
        except KeyError:
            raise BadArgument(f"{node} is not a node of world {world_id}, so it has no view features.") from None


def _graph(worlds: Mapping[str, World], world_id: str) -> NavGraph:
    if world_id not in worlds:
        raise BadArgument(f"World {world_id} is not among the worlds of these view features.")
    graph = worlds[world_id].space
    if not isinstance(graph, NavGraph):
        raise BadArgument(f"World {world_id} is not a navigation graph, so it has no nodes with views.")
    return graph


def _by_node(graph: NavGraph, table: Views) -> dict[str, Views]:
    table.flags.writeable = False
    return dict(zip(graph.nodes, table, strict=True))


THIRDS = ("left", "middle", "right")
RENDERED = (
    *(f"share of {name}" for name in MPCAT40),
    *(f"{what}, {third}" for what in ("red", "green", "blue", "depth", "least depth") for third in THIRDS),
)
"""The columns of rendered views: the share of each class in the view; color and depth by thirds; all in 0 … 1."""

MAX_DEPTH = 10.0  # metres; this and larger depths are 1
BATCH_NODES = 8  # rendered at once
_CAMERA = Camera(48, 36, 2 * math.atan(math.tan(VIEW_FOV / 2) * VIEW_WIDTH / VIEW_HEIGHT))


def rendered_views(
    worlds: Mapping[str, World], meshes: Mapping[str, Mesh], *, appearance: Appearance = FLAT
) -> WorldViews:
    """Summaries of images rendered from a world's mesh, with the columns `RENDERED`."""

    def world(world_id: str) -> dict[str, Views]:
        graph = _graph(worlds, world_id)
        if world_id not in meshes:
            raise BadArgument(f"World {world_id} has no mesh to render. Give its scene.")
        return _by_node(graph, _render(graph, Rasterizer(meshes[world_id], appearance=appearance)))

    return WorldViews(RENDERED, world)


def _render(graph: NavGraph, raster: Rasterizer) -> Views:
    table = np.empty((len(graph.nodes), VIEWS, len(RENDERED)), np.float32)
    for first in range(0, len(table), BATCH_NODES):
        positions = graph.positions[first : first + BATCH_NODES]
        angles = (np.tile(view_angles, len(positions)) for view_angles in (VIEW_HEADINGS, VIEW_ELEVATIONS))
        frame = raster.render_many(
            _CAMERA, np.repeat(positions, VIEWS, axis=0), *angles, channels=("rgb", "depth", "classes")
        )
        table[first : first + BATCH_NODES] = _summaries(frame).reshape(len(positions), VIEWS, -1)
    return table


def _summaries(frame: Frame) -> Views:
    """(views, columns). Sums are of integers, so that they are equal on every machine."""
    n, height, width = frame.classes.shape
    classes = frame.classes.reshape(n, -1) + len(MPCAT40) * np.arange(n)[:, None]
    shares = np.bincount(classes.ravel(), minlength=n * len(MPCAT40)).reshape(n, -1) / (height * width)
    thirds = (n, height, len(THIRDS), width // len(THIRDS))
    pixels = height * width / len(THIRDS)
    colors = frame.rgb.reshape(*thirds, 3).sum(axis=(1, 3), dtype=np.int64) / (255 * pixels)  # (n, thirds, 3)
    depths = (np.minimum(frame.depth, MAX_DEPTH) * 1000).round().astype(np.int64).reshape(thirds)
    scale = 1000 * MAX_DEPTH
    mean, least = depths.sum(axis=(1, 3)) / pixels / scale, depths.min(axis=(1, 3)) / scale
    columns = shares, colors.transpose(0, 2, 1).reshape(n, -1), mean, least
    return np.concatenate(columns, axis=1).astype(np.float32)


def annotated_views(worlds: Mapping[str, World], names: Sequence[str], *, reach: float = 0.0) -> WorldViews:
    """Features from annotations of objects with these names, and of rooms.

    Columns: for each name the apparent size of the largest such object (the square root of the share of the view that
    its box fills); for each of Matterport's room types 1 if the node is in one, and for each 1 if a candidate whose
    nearest view is this one is in one. Unknown rooms give zeros.

    With a `reach`, in metres, also features of the direction of the view: whether a candidate is in the same room, and
    "towards" it, the rooms of the visible nodes and the objects visible from them, near ones with larger weights. If a
    graph does not have the visible nodes, the candidates are used.
    """
    if len(set(names)) != len(names):
        raise BadArgument("Object names must be different: each has a column of its own.")
    column = {name: k for k, name in enumerate(names)}
    kinds = tuple(ROOM_NAMES.values())
    columns = [*names, *(f"in {kind}" for kind in kinds), *(f"to {kind}" for kind in kinds)]
    if reach:
        columns += ["to the same room", *(f"towards {item}" for item in (*kinds, *names))]

    def world(world_id: str) -> dict[str, Views]:
        graph = _graph(worlds, world_id)
        near = _annotate(graph, worlds[world_id], column)
        if reach:
            near = np.concatenate([near, _annotate_direction(graph, worlds[world_id], column, reach)], axis=2)
        return _by_node(graph, near)

    return WorldViews(columns, world)


KINDS = ("in", "to", "towards", "share of")  # prefixes of columns that are not about objects visible from the node


def feature_kind(column: str) -> str:
    """The kind of a feature by the prefix of its name; empty for objects visible from the node.

    >>> feature_kind("to kitchen"), feature_kind("sofa")
    ('to', '')
    """
    return next((kind for kind in KINDS if column.startswith(f"{kind} ")), "")


def frequent_names(worlds: Mapping[str, World], max_names: int = 100) -> tuple[str, ...]:
    """The object names that are visible from the most nodes, the most frequent first; ties are alphabetical."""
    count: Counter[str] = Counter()
    for world in worlds.values():
        for seen in world.objects.values():
            count.update({item.name for item in seen if len(item.views)})
    return tuple(sorted(count, key=lambda name: (-count[name], name))[:max_names])


_ROOMS = {label: k for k, label in enumerate(ROOM_NAMES)}


def _annotate(graph: NavGraph, world: World, column: Mapping[str, int]) -> Views:
    table = np.zeros((len(graph.nodes), VIEWS, len(column) + 2 * len(_ROOMS)), np.float32)
    rooms = [_ROOMS.get(world.rooms[node].label) if node in world.rooms else None for node in graph.nodes]
    candidates = graph_candidates(graph)
    for i, node in enumerate(graph.nodes):
        for item in world.objects.get(node, ()):
            if item.name in column:
                large, k = table[i, :, column[item.name]], item.views
                large[k] = np.maximum(large[k], _apparent_size(item))
        here, ahead = table[i, :, len(column) : -len(_ROOMS)], table[i, :, -len(_ROOMS) :]
        room = rooms[i]
        if room is not None:
            here[:, room] = 1
        for other, view in zip(candidates[node].nodes, candidates[node].views.tolist(), strict=True):
            room = rooms[graph.index[other]]
            if room is not None:
                ahead[view, room] = 1
    return table


HALF_TOWARDS = math.radians(30)  # from the center of a view to either side, the range of "towards"


def _annotate_direction(graph: NavGraph, world: World, column: Mapping[str, int], reach: float) -> Views:
    """(nodes, 36, columns) the columns that `reach` adds."""
    n = len(graph.nodes)
    contents = np.zeros((n, len(_ROOMS) + len(column)), np.float32)  # the room and objects of each node
    regions = [world.rooms.get(node) for node in graph.nodes]
    for i, node in enumerate(graph.nodes):
        label = _ROOMS.get(world.rooms[node].label) if node in world.rooms else None
        if label is not None:
            contents[i, label] = 1
        seen = [item.name for item in world.objects.get(node, ()) if len(item.views) and item.name in column]
        contents[i, [len(_ROOMS) + column[name] for name in seen]] = 1

    table = np.zeros((n, VIEWS, 1 + contents.shape[1]), np.float32)
    dx, dy, dz = (graph.positions[None] - graph.positions[:, None]).transpose(2, 0, 1)
    distance = np.hypot(np.hypot(dx, dy), dz)
    visible = graph.adjacency if graph.visible is None else graph.visible | graph.adjacency
    weight = np.where(visible & (distance <= reach) & (distance > 0), np.exp(-distance / (reach / 2)), 0.0)
    aside = np.arctan2(dy, dx)[:, None, :] - VIEW_HEADINGS[:TURNS, None]  # (nodes, turns, nodes)
    ahead = np.abs((aside + math.pi) % math.tau - math.pi).round(DIGITS) <= round(HALF_TOWARDS, DIGITS)
    towards = (ahead * weight[:, None, :]) @ contents
    table[:, :, 1:] = np.tile(np.minimum(towards, 1.0), (1, VIEWS // TURNS, 1))
    for i, candidates in enumerate(graph_candidates(graph).values()):
        for other, view in zip(candidates.nodes, candidates.views.tolist(), strict=True):
            if regions[i] is not None and regions[i] == regions[graph.index[other]]:
                table[i, view, 0] = 1
    return table


def _apparent_size(item: VisibleObject) -> NDArray[np.float64]:
    """(k,) the square root of the share of each view that the object's box fills."""
    shares = item.boxes[:, 2] * item.boxes[:, 3] / (VIEW_WIDTH * VIEW_HEIGHT)
    sides: NDArray[np.float64] = np.sqrt(shares.clip(0, 1))
    return sides
