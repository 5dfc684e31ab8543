"""A world from above, as a replay draws it: a house of ours with its rooms and things, any other place as it is known.

Of a surface the ground one can stand on is drawn, of a graph its nodes and edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from itinera.hearth.room_lookup import STEP
from itinera.reports.replay.data import Drawing, Label, Place, Storey, Track
from itinera.reports.storeys import NAMES, RoomName, Shape, floors_of, names_of, shapes_of
from itinera.worlds import Array, NavGraph, Places, World
from itinera.worlds.ground import Ground
from itinera.worlds.labels import ROOM_NAMES
from itinera.worlds.surface import Surface

if TYPE_CHECKING:
    from itinera.hearth.build import House

MARGIN = 0.6  # metres around what is drawn
APART = 2.0  # metres at least between two storeys
FEW = 0.05  # of all places; a level with fewer is a landing, not a storey
GROUND = "#e9e6df"


@dataclass(frozen=True, eq=False)
class Levels:
    """Which storey a place is on, by its height."""

    heights: Array  # (storeys,) of the floors, or of the eyes above them, the lowest first
    reach: float  # metres below a level that still belong to it

    @classmethod
    def of(cls, world: World, house: House | None, walked: Array) -> Levels:
        """The storeys of a house, or else the heights that many places of the world, or of the walks, (n, 3), share."""
        graph = isinstance(world.space, NavGraph)
        if house is not None:
            from itinera.hearth.viewpoints import EYE_HEIGHT  # takes a while, and only houses of ours need it

            return cls(floors_of(house.plan) + (EYE_HEIGHT if graph else 0.0), STEP)
        if isinstance(world.space, NavGraph):
            heights = world.space.positions[:, 2]
        else:
            heights = world.space.ground.heights if isinstance(world.space, Surface) else walked[:, 2]
        return cls(_shared(heights), 0.5)

    def at(self, heights: Array) -> NDArray[np.int64]:
        """(n,) the storey of each height."""
        found = np.searchsorted(self.heights - self.reach, heights, side="right") - 1
        return np.clip(found, 0, len(self.heights) - 1)

    def track(self, points: Array) -> Track:
        """Points, (n, 3) metres, as they are drawn."""
        flat = whole(points[:, :2])
        return Track(flat[:, 0].tolist(), flat[:, 1].tolist(), self.at(points[:, 2]).tolist())


def _shared(heights: Array) -> Array:
    """(storeys,) the heights that most lie near, far enough from each other, the lowest first."""
    steps, counts = np.unique((heights / 0.25).round(), return_counts=True)
    chosen: list[float] = []
    for k in np.argsort(-counts, kind="stable"):
        level = 0.25 * float(steps[k])
        if counts[k] >= FEW * len(heights) and all(abs(level - other) >= APART for other in chosen):
            chosen.append(level)
    return np.array(sorted(chosen) or [0.0])


def whole(metres: Array) -> NDArray[np.int64]:
    """Metres as whole centimetres."""
    return np.round(100 * np.asarray(metres, dtype=np.float64)).astype(np.int64)


def positions_of(world: World, places: Places) -> Array:
    """(n, 3) metres, of nodes or of what are positions already."""
    if isinstance(world.space, NavGraph):
        return world.space.positions[world.space.locate(places)]
    return np.asarray(places, dtype=np.float64).reshape(-1, 3)


def place_of(world: World, levels: Levels, *, house: House | None, walked: Array) -> Place:
    """The world as it is drawn; `walked` (n, 3) is all that is shown upon it."""
    graph = world.space if isinstance(world.space, NavGraph) else NavGraph.from_edges({}, [])
    storeys = []
    for k in range(len(levels.heights)):
        shapes, names = _drawn(world, levels, house, k)
        name = "ground floor" if k == 0 and len(levels.heights) > 1 else f"storey {k + 1}"
        storeys.append(Storey(name, [_drawing(shape) for shape in shapes], [_label(name) for name in names]))
    corners = [
        np.array(ring).reshape(-1, 2) for one in storeys for drawing in one.drawings for ring in drawing.outlines
    ]
    bounds = _bounds([*corners, whole(graph.positions[:, :2]), whole(walked[:, :2])])
    return Place(world.id, bounds, storeys, levels.track(graph.positions), graph.edges.ravel().tolist())


def _drawn(world: World, levels: Levels, house: House | None, storey: int) -> tuple[Iterable[Shape], list[RoomName]]:
    if house is not None:
        return shapes_of(house, storey), names_of(house.plan, storey)
    if isinstance(world.space, Surface):
        return [_ground(world.space.ground, levels, storey)], []
    return [], _known_rooms(world, levels, storey)


def _ground(ground: Ground, levels: Levels, storey: int) -> Shape:
    """Where one can stand on a storey: a thick line for each run of cells in a row."""
    # A table can be stood on too, but is an island of its own, high above the floor.
    on_floor = (ground.islands == 0) | (np.abs(ground.heights - levels.heights[storey]) < levels.reach)
    cells = ground.columns[on_floor & (levels.at(ground.heights) == storey)].astype(np.int64)
    cells = cells[np.lexsort((cells[:, 0], cells[:, 1]))]
    ends = np.flatnonzero((np.diff(cells[:, 0]) != 1) | (np.diff(cells[:, 1]) != 0))
    first, last = cells[np.append(0, ends + 1)[: len(cells)]], cells[np.append(ends, len(cells) - 1)[: len(cells)]]
    edges = first + np.array([0.0, 0.5]), last + np.array([1.0, 0.5])
    runs = np.stack(edges, axis=1) * ground.size + ground.origin[:2]
    # A little wider than a row, so that no seam shows between two.
    return Shape(list(runs), line=GROUND, width=1.3 * ground.size)


def _known_rooms(world: World, levels: Levels, storey: int) -> list[RoomName]:
    """The rooms of a graph's nodes, each named in the middle of its own."""
    if not isinstance(world.space, NavGraph) or not world.rooms:
        return []
    regions: dict[tuple[str, str], list[Array]] = {}
    for node, at, level in zip(world.space.nodes, world.space.positions, _levels(world.space, levels), strict=True):
        room = world.rooms.get(node)
        if room is not None and room.region_id and level == storey:
            regions.setdefault((room.label, room.region_id), []).append(at[:2])
    return [
        RoomName(NAMES.get(kind, ROOM_NAMES.get(kind, "")), np.mean(spots, axis=0), 4.0, 2.0)
        for (kind, _), spots in regions.items()
    ]


def _levels(graph: NavGraph, levels: Levels) -> list[int]:
    found: list[int] = levels.at(graph.positions[:, 2]).tolist()
    return found


def _drawing(shape: Shape) -> Drawing:
    return Drawing(
        shape.fill, shape.line, int(whole(np.array(shape.width))), [whole(o).ravel().tolist() for o in shape.outlines]
    )


def _label(name: RoomName) -> Label:
    x, y = whole(name.at).tolist()
    return Label(name.text, x, y, round(100 * name.wide), round(100 * name.tall))


def _bounds(points: Sequence[NDArray[np.int64]]) -> list[int]:
    found = np.concatenate([part for part in points if len(part)] or [np.zeros((1, 2), dtype=np.int64)])
    margin = round(100 * MARGIN)
    return [*(found.min(axis=0) - margin).tolist(), *(found.max(axis=0) + margin).tolist()]
