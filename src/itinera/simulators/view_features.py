"""What is seen at the nodes of a graph, as numbers: a row for each of the 36 views around.

A `ViewSource` has them for whole worlds: drawn from a mesh (`rendered_views`), known from annotations
(`annotated_views`), or from somebody's files (`itinera.formats.features`).
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
from itinera.rendering.panorama import TURNS, VIEW_ELEVATIONS, VIEW_FOV, VIEW_HEADINGS, VIEW_HEIGHT, VIEW_WIDTH, VIEWS
from itinera.rendering.rasterizer import Camera, Frame, Raster
from itinera.simulators.candidates import DIGITS, graph_candidates
from itinera.worlds import NavGraph, SeenObject, World
from itinera.worlds.labels import MPCAT40, ROOM_NAMES
from itinera.worlds.mesh import Mesh

Views = NDArray[np.float32]  # (36, d), or (nodes, 36, d)

KEPT = 128 << 20  # bytes of views of worlds kept in memory, about
USUAL = 120  # nodes of a world


class ViewSource(Protocol):
    """Features of the 36 views around nodes."""

    @property
    def size(self) -> int:
        """How many numbers tell of a view."""
        ...

    def at(self, world_id: str, node: str) -> NDArray[Any]:
        """(36, size) what is seen there; not a copy, and not to be written to."""
        ...


class WorldViews:
    """Views that are worked out for a whole world when it is first asked for; the worlds used last are kept."""

    def __init__(self, columns: Sequence[str], world: Callable[[str], Mapping[str, Views]]) -> None:
        self.columns = tuple(columns)  # what each number tells
        self._world = lru_cache(max(1, KEPT // (4 * VIEWS * len(columns) * USUAL)))(world)

    @property
    def size(self) -> int:
        return len(self.columns)

    def at(self, world_id: str, node: str) -> Views:
        world = self._world(world_id)
        try:
            return world[node]
        except KeyError:
            raise BadArgument(f"{node} is not a node of world {world_id}, so nothing is seen there.") from None


def _graph(worlds: Mapping[str, World], world_id: str) -> NavGraph:
    if world_id not in worlds:
        raise BadArgument(f"World {world_id} is not among the worlds whose views were given.")
    graph = worlds[world_id].space
    if not isinstance(graph, NavGraph):
        raise BadArgument(f"World {world_id} is no navigation graph, so it has no nodes to look from.")
    return graph


def _by_node(graph: NavGraph, table: Views) -> dict[str, Views]:
    table.flags.writeable = False
    return dict(zip(graph.nodes, table, strict=True))


THIRDS = ("left", "middle", "right")
RENDERED = (
    *(f"share of {name}" for name in MPCAT40),
    *(f"{what}, {third}" for what in ("red", "green", "blue", "depth", "least depth") for third in THIRDS),
)
"""The columns of rendered views: the share of the view each class fills; by thirds, colour and depth, all in 0 … 1."""

DEEP = 10.0  # metres, the depth that counts as 1; as does whatever is farther
AT_ONCE = 8  # nodes whose views are in memory together
_SMALL = Camera(48, 36, 2 * math.atan(math.tan(VIEW_FOV / 2) * VIEW_WIDTH / VIEW_HEIGHT))


def rendered_views(worlds: Mapping[str, World], meshes: Mapping[str, Mesh]) -> WorldViews:
    """Summaries of what a camera sees of a world's mesh, with the columns `RENDERED`."""

    def world(world_id: str) -> dict[str, Views]:
        graph = _graph(worlds, world_id)
        if world_id not in meshes:
            raise BadArgument(f"World {world_id} has no mesh, so it cannot be drawn. Give its scene.")
        return _by_node(graph, _rendered(graph, Raster(meshes[world_id])))

    return WorldViews(RENDERED, world)


def _rendered(graph: NavGraph, raster: Raster) -> Views:
    table = np.empty((len(graph.nodes), VIEWS, len(RENDERED)), np.float32)
    for first in range(0, len(table), AT_ONCE):
        eyes = graph.positions[first : first + AT_ONCE]
        candidates = (np.tile(angles, len(eyes)) for angles in (VIEW_HEADINGS, VIEW_ELEVATIONS))
        frame = raster.look_many(
            _SMALL, np.repeat(eyes, VIEWS, axis=0), *candidates, channels=("rgb", "depth", "classes")
        )
        table[first : first + AT_ONCE] = _summaries(frame).reshape(len(eyes), VIEWS, -1)
    return table


def _summaries(frame: Frame) -> Views:
    """(views, columns). Sums are of whole numbers, so that they are the same on every machine."""
    n, height, width = frame.classes.shape
    classes = frame.classes.reshape(n, -1) + len(MPCAT40) * np.arange(n)[:, None]
    shares = np.bincount(classes.ravel(), minlength=n * len(MPCAT40)).reshape(n, -1) / (height * width)
    thirds = (n, height, len(THIRDS), width // len(THIRDS))
    pixels = height * width / len(THIRDS)
    colours = frame.rgb.reshape(*thirds, 3).sum(axis=(1, 3), dtype=np.int64) / (255 * pixels)  # (n, thirds, 3)
    depths = (np.minimum(frame.depth, DEEP) * 1000).round().astype(np.int64).reshape(thirds)
    middling, least = depths.sum(axis=(1, 3)) / pixels, depths.min(axis=(1, 3))
    columns = shares, colours.transpose(0, 2, 1).reshape(n, -1), middling / (1000 * DEEP), least / (1000 * DEEP)
    return np.concatenate(columns, axis=1).astype(np.float32)


def annotated_views(worlds: Mapping[str, World], names: Sequence[str], *, reach: float = 0.0) -> WorldViews:
    """What annotations tell of each view: objects of these names, and rooms.

    Columns: for each name how large the largest object so called looks, the square root of the share of the view its
    box fills; for each of Matterport's kinds of rooms 1 if one stands in it, and for each 1 if a node one step away,
    nearest to the middle of this view, lies in it. Rooms that are not known leave zeros.

    With a `reach`, in metres, also what is farther off in the direction of the view: whether a node one step away lies
    in the same room, and, "towards" it, the rooms of the nodes in sight and the objects seen from them, near ones
    counting more. Where a graph does not say which nodes are in sight, those one step away are.
    """
    if len(set(names)) != len(names):
        raise BadArgument("A name is given twice. Each has a column of its own.")
    column = {name: k for k, name in enumerate(names)}
    kinds = tuple(ROOM_NAMES.values())
    columns = [*names, *(f"in {kind}" for kind in kinds), *(f"to {kind}" for kind in kinds)]
    if reach:
        columns += ["to the same room", *(f"towards {thing}" for thing in (*kinds, *names))]

    def world(world_id: str) -> dict[str, Views]:
        graph = _graph(worlds, world_id)
        near = _annotated(graph, worlds[world_id], column)
        if reach:
            near = np.concatenate([near, _farther(graph, worlds[world_id], column, reach)], axis=2)
        return _by_node(graph, near)

    return WorldViews(columns, world)


KINDS = ("in", "to", "towards", "share of")  # how names of columns begin that tell of other things than objects here


def kind_of(column: str) -> str:
    """How the name of a feature begins, where that tells what kind of feature it is.

    >>> kind_of("to kitchen"), kind_of("sofa")
    ('to', '')
    """
    return next((kind for kind in KINDS if column.startswith(f"{kind} ")), "")


def frequent_names(worlds: Mapping[str, World], most: int = 100) -> tuple[str, ...]:
    """So many names of objects, those seen from the most nodes first; equally frequent ones in alphabetical order."""
    count: Counter[str] = Counter()
    for world in worlds.values():
        for seen in world.objects.values():
            count.update({thing.name for thing in seen if len(thing.views)})
    return tuple(sorted(count, key=lambda name: (-count[name], name))[:most])


_ROOMS = {label: k for k, label in enumerate(ROOM_NAMES)}


def _annotated(graph: NavGraph, world: World, column: Mapping[str, int]) -> Views:
    table = np.zeros((len(graph.nodes), VIEWS, len(column) + 2 * len(_ROOMS)), np.float32)
    rooms = [_ROOMS.get(world.rooms[node].label) if node in world.rooms else None for node in graph.nodes]
    candidates = graph_candidates(graph)
    for i, node in enumerate(graph.nodes):
        for thing in world.objects.get(node, ()):
            if thing.name in column:
                large, k = table[i, :, column[thing.name]], thing.views
                large[k] = np.maximum(large[k], _largeness(thing))
        here, ahead = table[i, :, len(column) : -len(_ROOMS)], table[i, :, -len(_ROOMS) :]
        room = rooms[i]
        if room is not None:
            here[:, room] = 1
        for other, view in zip(candidates[node].nodes, candidates[node].views.tolist(), strict=True):
            beyond = rooms[graph.index[other]]
            if beyond is not None:
                ahead[view, beyond] = 1
    return table


ASIDE = math.radians(30)  # from the middle of a view, to either side, what lies towards it


def _farther(graph: NavGraph, world: World, column: Mapping[str, int], reach: float) -> Views:
    """(nodes, 36, columns) the columns that a reach adds."""
    n = len(graph.nodes)
    there = np.zeros((n, len(_ROOMS) + len(column)), np.float32)  # what is at each node
    regions = [world.rooms.get(node) for node in graph.nodes]
    for i, node in enumerate(graph.nodes):
        label = _ROOMS.get(world.rooms[node].label) if node in world.rooms else None
        if label is not None:
            there[i, label] = 1
        seen = [thing.name for thing in world.objects.get(node, ()) if len(thing.views) and thing.name in column]
        there[i, [len(_ROOMS) + column[name] for name in seen]] = 1

    table = np.zeros((n, VIEWS, 1 + there.shape[1]), np.float32)
    dx, dy, dz = (graph.positions[None] - graph.positions[:, None]).transpose(2, 0, 1)
    far = np.hypot(np.hypot(dx, dy), dz)
    description = graph.adjacency if graph.visible is None else graph.visible | graph.adjacency
    weight = np.where(description & (far <= reach) & (far > 0), np.exp(-far / (reach / 2)), 0.0)
    aside = np.arctan2(dy, dx)[:, None, :] - VIEW_HEADINGS[:TURNS, None]  # (nodes, turns, nodes)
    ahead = np.abs((aside + math.pi) % math.tau - math.pi).round(DIGITS) <= round(ASIDE, DIGITS)
    towards = (ahead * weight[:, None, :]) @ there
    table[:, :, 1:] = np.tile(np.minimum(towards, 1.0), (1, VIEWS // TURNS, 1))
    for i, candidates in enumerate(graph_candidates(graph).values()):
        for other, view in zip(candidates.nodes, candidates.views.tolist(), strict=True):
            if regions[i] is not None and regions[i] == regions[graph.index[other]]:
                table[i, view, 0] = 1
    return table


def _largeness(thing: SeenObject) -> NDArray[np.float64]:
    """(k,) the square root of the share of each view that the object's box fills."""
    shares = thing.boxes[:, 2] * thing.boxes[:, 3] / (VIEW_WIDTH * VIEW_HEIGHT)
    sides: NDArray[np.float64] = np.sqrt(shares.clip(0, 1))
    return sides
