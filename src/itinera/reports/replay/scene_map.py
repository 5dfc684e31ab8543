"""Scene maps for replays: a Hearth house with rooms and furniture, a surface's navigable ground, a graph's edges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from itinera.reports.replay.data import Drawing, Label, SceneMap, StoreyMap, Track
from itinera.reports.storeys import ROOM_LABELS, RoomLabel, Shape, draw_storey, floor_heights, label_rooms
from itinera.skills.objects import object_heading
from itinera.worlds import Array, NavGraph, Places, World
from itinera.worlds.ground import Ground
from itinera.worlds.labels import ROOM_NAMES
from itinera.worlds.regions import STEP
from itinera.worlds.surface import Surface

if TYPE_CHECKING:
    from itinera.hearth.build import House

MARGIN = 0.6  # metres around what is drawn
MIN_STOREY_HEIGHT = 2.0  # metres between two storeys
MIN_STOREY_SHARE = 0.05  # of all positions; a level with fewer is a landing, not a storey
NEAR_PATHS = 3.0  # metres from a path, of objects that are drawn
MIN_PARALLAX = 0.01  # mean squared sine of the angles between directions that tell a position
GROUND_COLOR = "#e9e6df"


@dataclass(frozen=True, eq=False)
class StoreyLevels:
    """The storey of a position, by its height."""

    heights: Array  # (storeys,) of the floors, or of the viewpoints above them, the lowest first
    reach: float  # metres below a level that still belong to its storey

    @classmethod
    def of(cls, world: World, house: House | None, drawn: Array) -> StoreyLevels:
        """The storeys of a house, or else the heights shared by many positions of the world or of `drawn`, (n, 3)."""
        graph = isinstance(world.space, NavGraph)
        if house is not None:
            from itinera.hearth.viewpoints import EYE_HEIGHT  # slow to import, and only Hearth needs it

            return cls(floor_heights(house.plan) + (EYE_HEIGHT if graph else 0.0), STEP)
        if isinstance(world.space, NavGraph):
            heights = world.space.positions[:, 2]
        else:
            heights = world.space.ground.heights if isinstance(world.space, Surface) else drawn[:, 2]
        return cls(_frequent_heights(heights), 0.5)

    def at(self, heights: Array) -> NDArray[np.int64]:
        """(n,) index of the storey at each height."""
        found = np.searchsorted(self.heights - self.reach, heights, side="right") - 1
        return np.clip(found, 0, len(self.heights) - 1)

    def track(self, points: Array) -> Track:
        """Positions, (n, 3) metres, as a track."""
        flat = to_centimeters(points[:, :2])
        return Track(flat[:, 0].tolist(), flat[:, 1].tolist(), self.at(points[:, 2]).tolist())


def _frequent_heights(heights: Array) -> Array:
    """(storeys,) the most frequent heights, far enough from each other, the lowest first."""
    steps, counts = np.unique((heights / 0.25).round(), return_counts=True)
    chosen: list[float] = []
    for k in np.argsort(-counts, kind="stable"):
        level = 0.25 * float(steps[k])
        if counts[k] >= MIN_STOREY_SHARE * len(heights) and all(
            abs(level - other) >= MIN_STOREY_HEIGHT for other in chosen
        ):
            chosen.append(level)
    return np.array(sorted(chosen) or [0.0])


def to_centimeters(meters: Array) -> NDArray[np.int64]:
    """Metres as whole centimetres."""
    return np.round(100 * np.asarray(meters, dtype=np.float64)).astype(np.int64)


def to_positions(world: World, places: Places) -> Array:
    """(n, 3) metres: the positions of nodes, or the places themselves."""
    if isinstance(world.space, NavGraph):
        return world.space.positions[world.space.locate(places)]
    return np.asarray(places, dtype=np.float64).reshape(-1, 3)


def make_scene_map(world: World, levels: StoreyLevels, *, house: House | None, drawn: Array) -> SceneMap:
    """The map of a world; `drawn` (n, 3) are the positions drawn on it."""
    graph = world.space if isinstance(world.space, NavGraph) else NavGraph.from_edges({}, [])
    storeys = []
    for k in range(len(levels.heights)):
        shapes, labels = _draw(world, levels, house, k)
        name = "ground floor" if k == 0 and len(levels.heights) > 1 else f"storey {k + 1}"
        objects = [_label(label) for label in _label_objects(world, levels, k, drawn)] if house is None else []
        storeys.append(
            StoreyMap(name, [_drawing(shape) for shape in shapes], [_label(label) for label in labels], objects)
        )
    corners = [
        np.array(ring).reshape(-1, 2) for one in storeys for drawing in one.drawings for ring in drawing.outlines
    ]
    bounds = _bounds([*corners, to_centimeters(graph.positions[:, :2]), to_centimeters(drawn[:, :2])])
    return SceneMap(world.id, bounds, storeys, levels.track(graph.positions), graph.edges.ravel().tolist())


def _draw(
    world: World, levels: StoreyLevels, house: House | None, storey: int
) -> tuple[Iterable[Shape], list[RoomLabel]]:
    if house is not None:
        return draw_storey(house, storey), label_rooms(house.plan, storey)
    if isinstance(world.space, Surface):
        return [_ground(world.space.ground, levels, storey)], []
    return [], _label_regions(world, levels, storey)


def _ground(ground: Ground, levels: StoreyLevels, storey: int) -> Shape:
    """The navigable ground of a storey: a thick line for each run of cells in a row."""
    # The top of a table is navigable too, but is an island of its own above the floor.
    on_floor = (ground.islands == 0) | (np.abs(ground.heights - levels.heights[storey]) < levels.reach)
    cells = ground.columns[on_floor & (levels.at(ground.heights) == storey)].astype(np.int64)
    cells = cells[np.lexsort((cells[:, 0], cells[:, 1]))]
    ends = np.flatnonzero((np.diff(cells[:, 0]) != 1) | (np.diff(cells[:, 1]) != 0))
    first, last = cells[np.append(0, ends + 1)[: len(cells)]], cells[np.append(ends, len(cells) - 1)[: len(cells)]]
    edges = first + np.array([0.0, 0.5]), last + np.array([1.0, 0.5])
    runs = np.stack(edges, axis=1) * ground.size + ground.origin[:2]
    # A little wider than a row, so that no seam is visible between two.
    return Shape(list(runs), line=GROUND_COLOR, width=1.3 * ground.size)


def _label_regions(world: World, levels: StoreyLevels, storey: int) -> list[RoomLabel]:
    """The labels of a graph's regions, each at the mean position of its nodes."""
    if not isinstance(world.space, NavGraph) or not world.rooms:
        return []
    regions: dict[tuple[str, str], list[Array]] = {}
    for node, at, level in zip(
        world.space.nodes, world.space.positions, _node_storeys(world.space, levels), strict=True
    ):
        room = world.rooms.get(node)
        if room is not None and room.region_id and level == storey:
            regions.setdefault((room.label, room.region_id), []).append(at[:2])
    return [
        RoomLabel(ROOM_LABELS.get(kind, ROOM_NAMES.get(kind, "").split("/")[0]), np.mean(spots, axis=0), 4.0, 2.0)
        for (kind, _), spots in regions.items()
    ]


def _label_objects(world: World, levels: StoreyLevels, storey: int, drawn: Array) -> Iterator[RoomLabel]:
    """The names of a graph's objects near the drawn positions, each where the directions to it meet, nearest first."""
    if not isinstance(world.space, NavGraph) or not world.objects or not len(drawn):
        return
    graph, sightings = world.space, defaultdict[tuple[str, str], list[tuple[Array, float]]](list)
    for node, level in zip(graph.nodes, _node_storeys(graph, levels), strict=True):
        for item in world.objects.get(node, ()) if level == storey else ():
            if len(item.views):
                at = graph.positions[graph.index[node]][:2]
                sightings[item.id, item.name].append((at, object_heading(item)))
    paths = drawn[levels.at(drawn[:, 2]) == storey, :2]
    found = []
    for (_, name), rays in sightings.items():
        position = _intersect_rays(rays)
        if position is not None and len(paths):
            distance = float(np.hypot(*(paths - position).T).min())
            found.append((distance, name, position))
    for distance, name, position in sorted(found, key=lambda one: (one[0], one[1])):
        if distance <= NEAR_PATHS:
            yield RoomLabel(name, position, 0.5, 0.3)


def _intersect_rays(rays: Sequence[tuple[Array, float]]) -> Array | None:
    """(2,) the point with the least squared distances to the rays from positions at headings; None if undefined.

    Directions of a single place do not tell the distance; nor do directions that are almost parallel.
    """
    matrix, vector = np.zeros((2, 2)), np.zeros(2)
    for at, heading in rays:
        across = np.array([-np.sin(heading), np.cos(heading)])
        matrix += np.outer(across, across)
        vector += across * (across @ at)
    if np.linalg.eigvalsh(matrix)[0] < MIN_PARALLAX * len(rays):
        return None
    return np.asarray(np.linalg.solve(matrix, vector), dtype=np.float64)


def _node_storeys(graph: NavGraph, levels: StoreyLevels) -> list[int]:
    found: list[int] = levels.at(graph.positions[:, 2]).tolist()
    return found


def _drawing(shape: Shape) -> Drawing:
    return Drawing(
        shape.fill,
        shape.line,
        int(to_centimeters(np.array(shape.width))),
        [to_centimeters(o).ravel().tolist() for o in shape.outlines],
    )


def _label(label: RoomLabel) -> Label:
    x, y = to_centimeters(label.position).tolist()
    return Label(label.text, x, y, round(100 * label.width), round(100 * label.height))


def _bounds(points: Sequence[NDArray[np.int64]]) -> list[int]:
    found = np.concatenate([part for part in points if len(part)] or [np.zeros((1, 2), dtype=np.int64)])
    margin = round(100 * MARGIN)
    return [*(found.min(axis=0) - margin).tolist(), *(found.max(axis=0) + margin).tolist()]
