"""View features at the nodes of a graph: a row for each of the 36 views.

A `ViewSource` has them for whole worlds: rendered from a mesh (`rendered_views`), from annotations (`annotated_views`),
or from feature files (`itinera.formats.features`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.rendering.appearance import FLAT, Appearance
from itinera.rendering.camera import Camera, Frame
from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_FOV, VIEW_HEADINGS, VIEW_HEIGHT, VIEW_WIDTH, VIEWS
from itinera.rendering.rasterizer import Rasterizer
from itinera.simulators.candidates import graph_candidates
from itinera.simulators.views_at import NUM_ROOMS, ViewColumns, Views, room_index
from itinera.worlds import NavGraph, VisibleObject, World
from itinera.worlds.labels import MPCAT40
from itinera.worlds.mesh import Mesh

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
    columns = ViewColumns(tuple(names), reach)

    def world(world_id: str) -> dict[str, Views]:
        graph = _graph(worlds, world_id)
        return _by_node(graph, _annotate(graph, worlds[world_id], columns))

    return WorldViews(columns.columns, world)


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


def visible_names(objects: Iterable[VisibleObject]) -> list[str]:
    """The names of those objects that some view shows."""
    return [item.name for item in objects if len(item.views)]


def _annotate(graph: NavGraph, world: World, columns: ViewColumns) -> Views:
    table = np.empty((len(graph.nodes), VIEWS, len(columns.columns)), np.float32)
    places = [world.rooms.get(node) for node in graph.nodes]
    rooms = [room_index(room) for room in places]
    candidates = graph_candidates(graph)
    ends = [[graph.index[other] for other in candidates[node].nodes] for node in graph.nodes]
    split = len(columns.names) + 2 * NUM_ROOMS
    for i, node in enumerate(graph.nodes):
        views = candidates[node].views.tolist()
        table[i, :, :split] = columns.near(world.objects.get(node, ()), rooms[i], views, [rooms[k] for k in ends[i]])
    if columns.reach:
        contents = graph_contents(graph, world, columns)
        visible = graph.adjacency if graph.visible is None else graph.visible | graph.adjacency
        for i, node in enumerate(graph.nodes):
            views = candidates[node].views.tolist()
            same = [view for view, k in zip(views, ends[i], strict=True) if places[i] and places[i] == places[k]]
            offsets = graph.positions - graph.positions[i]
            table[i, :, split:] = columns.direction(offsets, visible[i], contents, same)
    return table


def graph_contents(graph: NavGraph, world: World, columns: ViewColumns) -> NDArray[np.float32]:
    """(nodes, c) the room and the visible objects of each node."""
    rows = [
        columns.contents(room_index(world.rooms.get(node)), visible_names(world.objects.get(node, ())))
        for node in graph.nodes
    ]
    return np.stack(rows)
