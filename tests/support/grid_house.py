"""Houses of square rooms in rows with furniture along the walls: fast to build and easy to reason about.

An object is visible unless a wall is in between. Nothing is rendered, so tests of language need no mesh.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from itinera.hearth.build import House
from itinera.hearth.geometry.solids import HouseObject
from itinera.hearth.language.scene_description import SceneDescription, describe_scenes
from itinera.hearth.layout.plan import FloorPlan, Passage, PlannedRoom
from itinera.worlds import Array, NavGraph, Room, VisibleObject
from itinera.worlds.mesh import Mesh

ROWS, COLUMNS, SIDE, WALL = 3, 4, 4.5, 0.14  # rooms, and metres
KINDS = tuple("kldbbahhofeaijbn")
NAMES = (
    *("sofa", "armchair", "chair", "dining table", "coffee table", "desk", "bench", "bed", "nightstand", "dresser"),
    *("wardrobe", "bookshelf", "tv", "floor lamp", "plant", "picture", "mirror", "fireplace", "piano", "office chair"),
)
COLORS = ("red", "blue", "green", "yellow", "brown", "black", "white", "grey", "beige")
SHAPES = ("", "", "", "round", "tall")
FAR = 5.0  # metres, the longest edge

Line = tuple[Array, Array]


@dataclass(frozen=True)
class Seen:
    """Rooms and visible objects of the viewpoints of a house."""

    rooms: dict[str, Room]
    objects: dict[str, tuple[VisibleObject, ...]]


@dataclass(frozen=True)
class Place:
    house: House
    graph: NavGraph
    descriptions: dict[str, SceneDescription]

    def paths(self, count: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
        """Shortest paths of 4 to 6 edges and at least 5 m."""
        found: list[tuple[str, ...]] = []
        while len(found) < count:
            a, b = (self.graph.nodes[k] for k in rng.integers(len(self.graph.nodes), size=2))
            path = self.graph.route(a, b)
            if 5 <= len(path) <= 7 and self.graph.between([a], [b])[0, 0] >= 5:
                found.append(path)
        return found


@cache
def place(seed: int) -> Place:
    """A random house."""
    rng = np.random.default_rng(seed)
    kinds = rng.permutation(KINDS)[: ROWS * COLUMNS].tolist()
    corners = [np.array([column, row]) * SIDE for row in range(ROWS) for column in range(COLUMNS)]
    rooms = tuple(square(k, kind, corner) for k, (kind, corner) in enumerate(zip(kinds, corners, strict=True)))
    passages, walls = _holes(rng)
    items = [_item(number, room, rng) for number, room in enumerate(np.repeat(range(len(rooms)), 6).tolist(), 1)]
    points, regions = _viewpoints(passages, corners, rng)
    return furnished(rooms, passages, walls, items, points, regions)


def furnished(
    rooms: Sequence[PlannedRoom],
    passages: Sequence[Passage],
    walls: Sequence[Line],
    items: Sequence[HouseObject],
    points: Sequence[Array],
    regions: Sequence[int],
) -> Place:
    """The house with these parts, its graph and its scene descriptions."""
    nodes = tuple(f"{number:032x}" for number in range(len(points)))
    graph = NavGraph(nodes, np.array([[*point, 1.5] for point in points]), _edges(points, walls))
    seen = Seen(
        {node: Room(rooms[k].kind, str(k)) for node, k in zip(nodes, regions, strict=True)},
        {
            node: tuple(seen_object(item) for item in items if not hidden(point, item.center[:2], walls))
            for node, point in zip(nodes, points, strict=True)
        },
    )
    mesh = Mesh.from_triangles(np.zeros((0, 3)), np.zeros((0, 3), np.int32))
    house = House("grid", FloorPlan(tuple(rooms), tuple(passages), (), ()), tuple(items), mesh)
    return Place(house, graph, describe_scenes(house, graph, seen))


def square(index: int, kind: str, corner: Array, size: Sequence[float] = (SIDE, SIDE)) -> PlannedRoom:
    """A room from its lower left corner, between the inner faces of its walls."""
    (x, y), (u, v) = corner + WALL / 2, corner + np.asarray(size) - WALL / 2
    return PlannedRoom(index, 0, kind, np.array([(x, y), (u, y), (u, v), (x, v)]), 0.0, 2.7)


def thing(
    index: int, name: str, at: Sequence[float], color: str = "", shape: str = "", *, size: float = 1.0
) -> HouseObject:
    return HouseObject(index, name, "furniture", 0, np.array([*at, 0.5]), np.array([size, 0.5, 0.9]), 0.0, color, shape)


def hidden(a: Array, b: Array, walls: Sequence[Line]) -> bool:
    """Whether a wall stands between two points."""

    def side(p: Array, q: Array, r: Array) -> float:
        return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    return any(side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0 for c, d in walls)


def seen_object(item: HouseObject) -> VisibleObject:
    return VisibleObject(str(item.index), item.name, np.empty(0, np.int64), np.empty((0, 4)))


def _item(index: int, room: int, rng: np.random.Generator) -> HouseObject:
    """A piece of furniture along a wall."""
    low = np.array([room % COLUMNS, room // COLUMNS]) * SIDE + 0.4
    at = low + rng.random(2) * (SIDE - 0.8)
    wall = int(rng.integers(4))
    at[wall % 2] = (low + (SIDE - 0.8) * (wall // 2))[wall % 2]
    name, color, shape = (str(rng.choice(words)) for words in (NAMES, COLORS, SHAPES))
    return thing(index, name, at, color, shape, size=float(rng.uniform(0.4, 2.0)))


def _holes(rng: np.random.Generator) -> tuple[list[Passage], list[Line]]:
    """Doors and openings between the rooms, enough to reach all of them, and the pieces of wall left."""
    joined = list(range(ROWS * COLUMNS))
    passages: list[Passage] = []
    walls: list[Line] = []
    neighbors = [(a, a + 1) for a in joined if (a + 1) % COLUMNS] + [(a, a + COLUMNS) for a in joined[:-COLUMNS]]
    for k in rng.permutation(len(neighbors)).tolist():
        a, b = neighbors[k]
        normal = np.array([1.0, 0.0]) if b == a + 1 else np.array([0.0, 1.0])
        start = np.array([b % COLUMNS, b // COLUMNS]) * SIDE
        end = start + SIDE * normal[::-1]
        if joined[a] == joined[b] and rng.random() > 0.3:
            walls.append((start, end))
            continue
        joined = [joined[b] if room == joined[a] else room for room in joined]
        wide = bool(rng.random() < 0.3)
        width = 1.8 if wide else 0.9
        center = start + normal[::-1] * rng.uniform(width / 2 + 0.3, SIDE - width / 2 - 0.3)
        passages.append(Passage(len(passages), (a, b), wide, center, normal, width, 2.1, WALL, 0.0))
        walls += [(start, center - normal[::-1] * width / 2), (center + normal[::-1] * width / 2, end)]
    return passages, walls


def _viewpoints(
    passages: Sequence[Passage], corners: Sequence[Array], rng: np.random.Generator
) -> tuple[list[Array], list[int]]:
    """Viewpoints on both sides of each passage, and more in each room."""
    points: list[Array] = []
    regions: list[int] = []
    for passage in passages:
        for side, room in zip((-1, 1), passage.rooms, strict=True):
            points.append(passage.center + side * passage.normal * rng.uniform(0.5, 0.9))
            regions.append(room)
    for room, corner in enumerate(corners):
        for _ in range(30):
            point = corner + 0.5 + rng.random(2) * (SIDE - 1.0)
            if all(np.hypot(*(point - other)) > 1.3 for other in points):
                points.append(point)
                regions.append(room)
    return points, regions


def _edges(points: Sequence[Array], walls: Sequence[Line]) -> np.ndarray:
    """Pairs of mutually visible viewpoints without a path through others of about the same length."""
    count = len(points)
    pairs = [(float(np.hypot(*(points[i] - points[j]))), i, j) for i in range(count) for j in range(i)]
    around = np.full((count, count), np.inf)
    np.fill_diagonal(around, 0.0)
    edges = []
    for length, i, j in sorted(pairs):
        if length <= FAR and around[i, j] > 1.04 * length and not hidden(points[i], points[j], walls):
            edges.append((i, j))
            through = np.minimum(around[:, [i]] + length + around[[j]], around[:, [j]] + length + around[[i]])
            around = np.minimum(around, through)
    return np.array(edges)
