"""The house seen from outside: facades with their openings, and roofs.

The upper storey of a house has gabled roofs, one for each of the rectangles that make up its plan; where a lower storey
is larger than the one above it, it has a flat roof.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from itinera.hearth.geometry.finishes import Finish, Finishes
from itinera.hearth.geometry.polygons import triangulate
from itinera.hearth.geometry.rectangles import contains
from itinera.hearth.geometry.solids import Solids
from itinera.hearth.geometry.wall_face import Hole, Paint, WallFace
from itinera.hearth.layout.plan import OUTSIDE, Facade, FloorPlan
from itinera.worlds import Array

OUTER_WALL = 0.25  # from the inner to the outer face of an outside wall
ROOF_DROP = 0.02  # metres of a flat roof below the floor of the storey above
PLINTH = 0.3  # metres of facade below the ground floor
PITCH = 1.05  # rise of a roof per metre: steeper than a robot climbs
EAVES, VERGE = 0.24, 0.25  # metres of a roof beyond its walls and its gables; lower eaves would reach the ceilings
THICKNESS = 0.14  # of a roof
MAX_SPAN = 8.5  # metres; a wider rectangle has two roofs side by side
MIN_SPAN = 2.4  # metres; a narrower rectangle has a flat roof
SOFFIT = (236, 234, 228)

Box = tuple[float, float, float, float]  # x0, y0, x1, y1


def build_facades(plan: FloorPlan, finishes: Finishes, solids: Solids) -> None:
    """Add the outer faces of all outside walls, with their openings, and the roofs."""
    for storey, facade in enumerate(plan.facades):
        room = next(room for room in plan.rooms if room.storey == storey)
        low = room.floor - (PLINTH if storey == 0 else ROOF_DROP)
        high = roof_height(plan, storey)
        _build_walls(plan, storey, facade, (low, high), finishes.facade, solids)
        above = plan.facades[storey + 1] if storey + 1 < len(plan.facades) else None
        boxes = roof_boxes(facade.block) if above is None else []
        _build_flat_roofs(facade, above, boxes, high, solids)
        for box in boxes:
            _build_gable(box, facade.block, high, finishes, solids)


def roof_height(plan: FloorPlan, storey: int) -> float:
    """The height of the upper edge of a storey's facade."""
    room = next(room for room in plan.rooms if room.storey == storey)
    return round(room.floor + room.height + 0.3 - ROOF_DROP, 4)


def _build_walls(
    plan: FloorPlan, storey: int, facade: Facade, z: tuple[float, float], finish: Finish, solids: Solids
) -> None:
    paint = Paint("wall", 0, finish.color, finish.material)
    openings = _openings(plan, storey)
    for a, b in zip(facade.outline, np.roll(facade.outline, -1, axis=0), strict=True):
        length = float(np.hypot(*(b - a)))
        ahead = (b - a) / length
        face = WallFace(solids, a, np.array([ahead[1], -ahead[0]]))
        face.wall((0, length), z, _holes(face, length, openings), paint)


def _openings(plan: FloorPlan, storey: int) -> list[tuple[Array, float, float, float]]:
    """The middle on the outer face, the width, and the lower and upper edge of each opening in a storey's facade."""
    found = [
        (window.center + window.normal * OUTER_WALL, window.width, window.sill, window.top)
        for window in plan.windows
        if plan.rooms[window.room].storey == storey
    ]
    for passage in plan.passages:
        outdoors = [k == OUTSIDE or plan.rooms[k].outdoor for k in passage.rooms]
        if sum(outdoors) == 1 and plan.rooms[max(passage.rooms)].storey == storey:
            side = outdoors.index(True) - 0.5
            middle = passage.center + passage.normal * passage.depth * side
            found.append((middle, passage.width, passage.floor, passage.floor + passage.height))
    return found


def _holes(face: WallFace, length: float, openings: Sequence[tuple[Array, float, float, float]]) -> list[Hole]:
    holes = []
    for middle, width, low, high in openings:
        s, d = face.measure(middle)
        if abs(d) < 2e-3 and 0 < s < length:
            holes.append((s - width / 2, s + width / 2, low, high))
    return holes


def roof_boxes(block: Array) -> list[Box]:
    """The large rectangles that make up a rectilinear outline, the largest first."""
    xs, ys = np.unique(block[:, 0]), np.unique(block[:, 1])
    free = _inside_cells(xs, ys, block)
    found: list[Box] = []
    while True:
        best, area = (0, 0, 0, 0), 0.0
        for i in range(len(xs) - 1):
            for j in range(len(ys) - 1):
                for k in range(i + 1, len(xs)):
                    for m in range(j + 1, len(ys)):
                        size = round(float((xs[k] - xs[i]) * (ys[m] - ys[j])), 4)
                        narrow = min(xs[k] - xs[i], ys[m] - ys[j]) < MIN_SPAN
                        if size > area and not narrow and free[i:k, j:m].all():
                            best, area = (i, j, k, m), size
        if area == 0.0:
            return found
        i, j, k, m = best
        free[i:k, j:m] = False
        found.append((float(xs[i]), float(ys[j]), float(xs[k]), float(ys[m])))


def _inside_cells(xs: Array, ys: Array, outline: Array) -> np.ndarray:
    """(x, y) whether each cell between these coordinates lies inside an outline."""
    middles = np.stack(np.meshgrid((xs[:-1] + xs[1:]) / 2, (ys[:-1] + ys[1:]) / 2, indexing="ij"), axis=-1)
    return contains(outline, middles.reshape(-1, 2)).reshape(middles.shape[:2])


def _build_flat_roofs(facade: Facade, above: Facade | None, boxes: Sequence[Box], z: float, solids: Solids) -> None:
    """Add flat roofs where neither the storey above nor a gabled roof covers a storey, bays included."""
    outlines = [above.block] if above is not None else [_corners(box) for box in boxes]
    xs, ys = (np.unique(np.concatenate([facade.block, *outlines])[:, axis]) for axis in (0, 1))
    bare = _inside_cells(xs, ys, facade.block)
    for outline in outlines:
        bare &= ~_inside_cells(xs, ys, outline)
    for i, j in np.argwhere(bare).tolist():
        _add_flat(_corners((xs[i], ys[j], xs[i + 1], ys[j + 1])), z, solids)
    on_block = {tuple(corner) for corner in facade.block.tolist()}
    bays = [corner for corner in facade.outline.tolist() if tuple(corner) not in on_block]
    for k in range(0, len(bays), 4):
        for triangle in triangulate(np.array(bays[k : k + 4])):
            _add_flat(triangle, z, solids)


def _corners(box: Box) -> Array:
    x0, y0, x1, y1 = box
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])


def _add_flat(corners: Array, z: float, solids: Solids) -> None:
    solids.polygon(np.column_stack([corners, np.full(len(corners), z)]), "misc", 0, (158, 152, 142), "gravel")


def _build_gable(box: Box, block: Array, z: float, finishes: Finishes, solids: Solids) -> None:
    """Add the gabled roof of a rectangle, or two of them side by side over a wide one."""
    x0, y0, x1, y1 = box
    if min(x1 - x0, y1 - y0) > MAX_SPAN:
        halves = [(x0, y0, (x0 + x1) / 2, y1), ((x0 + x1) / 2, y0, x1, y1)]
        if x1 - x0 > y1 - y0:
            halves = [(x0, y0, x1, (y0 + y1) / 2), (x0, (y0 + y1) / 2, x1, y1)]
        for half in halves:
            _build_one_gable(half, block, z, finishes, solids)
        return
    _build_one_gable(box, block, z, finishes, solids)


def _build_one_gable(box: Box, block: Array, z: float, finishes: Finishes, solids: Solids) -> None:
    low, high = np.array(box[:2]), np.array(box[2:])
    long = 0 if high[0] - low[0] >= high[1] - low[1] else 1
    half = float(high[1 - long] - low[1 - long]) / 2
    middle = float(high[1 - long] + low[1 - long]) / 2
    ends = [float(low[long]), float(high[long])]
    inner = [_reaches(block, long, middle, end, sign) for end, sign in zip(ends, (-1.0, 1.0), strict=True)]
    roof_ends = [
        end + sign * (half if joined else VERGE) for end, sign, joined in zip(ends, (-1, 1), inner, strict=True)
    ]

    def at(along: float, across: float, height: float) -> tuple[float, float, float]:
        return (along, middle + across, height) if long == 0 else (middle + across, along, height)

    roof, soffit = Paint("misc", 0, finishes.roof.color, "shingles"), Paint("misc", 0, SOFFIT)
    edge = half + EAVES
    ridge, eave = z + PITCH * half, z - PITCH * EAVES
    for side in (-1.0, 1.0):
        lower = [at(roof_ends[0], side * edge, eave), at(roof_ends[1], side * edge, eave)]
        upper = [at(roof_ends[1], 0.0, ridge), at(roof_ends[0], 0.0, ridge)]
        _add_slab([*lower, *upper], solids, roof, soffit)
    wall = Paint("wall", 0, finishes.facade.color, finishes.facade.material)
    for end, sign, joined in zip(ends, (-1.0, 1.0), inner, strict=True):
        if not joined:
            _add_gable_wall([at(end, -half, z), at(end, half, z), at(end, 0.0, ridge)], sign, long, solids, wall)


def _reaches(block: Array, long: int, middle: float, end: float, sign: float) -> bool:
    """Whether a roof meets another part of the house beyond its end."""
    point = np.array([[0.0, 0.0]])
    point[0, long], point[0, 1 - long] = end + 0.3 * sign, middle
    return bool(contains(block, point)[0])


def _add_slab(corners: list[tuple[float, float, float]], solids: Solids, top: Paint, under: Paint) -> None:
    """Add a sloping plate of the roof's thickness over four corners."""
    base = np.array(corners)
    normal = np.cross(base[1] - base[0], base[2] - base[0])
    if normal[2] < 0:
        base = base[::-1]
    over = base + np.array([0.0, 0.0, THICKNESS])
    labels = [(paint.category, paint.instance, paint.color, paint.material) for paint in (top, under)]
    solids.polygon(over, *labels[0])
    solids.polygon(base[::-1], *labels[1])
    for k in range(4):
        solids.polygon([base[k], base[(k + 1) % 4], over[(k + 1) % 4], over[k]], *labels[1])


def _add_gable_wall(
    corners: list[tuple[float, float, float]], sign: float, long: int, solids: Solids, paint: Paint
) -> None:
    points = np.array(corners)
    normal = np.cross(points[1] - points[0], points[2] - points[0])
    if normal[long] * sign < 0:
        points = points[::-1]
    solids.polygon(points, paint.category, paint.instance, paint.color, paint.material)
