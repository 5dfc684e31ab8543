"""From triangles to walkable cells: the pieces of faces in each cell, floor levels, and clearance from obstacles.

Horizontal lengths are in cells, heights in metres. Directions are 0 +x, 1 +y, 2 -x, 3 -y; corner k of a cell lies
between directions k and k + 1.
"""

# mypy: allow-untyped-decorators
from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int32]

WALKABLE, RISING, UPRIGHT, HANGING = 2, 1, 0, -1  # orientation of a face: up and flat enough, up, vertical, down

_TOUCH = 1e-3  # cells; a piece this near a border belongs to the cells on both sides
_SLIVER = 1e-2  # cells; a piece of floor narrower than this supports nothing
_LEVEL = 1e-4  # metres; heights closer than this are equal


@njit(cache=True, nogil=True)
def _cut(piece: Floats, n: int, axis: int, border: float, side: float, out: Floats) -> int:
    """out <- the part of a convex polygon where side * (x[axis] - border) >= 0; returns its number of corners."""
    kept = 0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        here, there = side * (piece[i, axis] - border), side * (piece[j, axis] - border)
        if here >= 0.0:
            for k in range(3):
                out[kept, k] = piece[i, k]
            kept += 1
        if (here > 0.0 and there < 0.0) or (here < 0.0 and there > 0.0):
            part = here / (here - there)
            for k in range(3):
                out[kept, k] = piece[i, k] + part * (piece[j, k] - piece[i, k])
            out[kept, axis] = border
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def pieces_in_cells(corners: Floats, wide: int, cells: Ints, faces: Ints, extents: Singles) -> int:
    """cells, faces, extents <- the piece of each face in each cell; returns the number needed, perhaps more than fit.

    corners: (f, 3, 3) in cells, cells, metres. extents: (n, 6) the bounding box of the piece: low and high x, low and
    high y, from 0 to 1 within its cell, then z. If not all fit, call again with larger arrays.
    """
    triangle, half, row = np.empty((3, 3)), np.empty((9, 3)), np.empty((9, 3))
    left, piece = np.empty((9, 3)), np.empty((9, 3))
    found = 0
    for f in range(len(corners)):
        low_v, high_v = np.inf, -np.inf
        for c in range(3):
            low_v, high_v = min(low_v, corners[f, c, 1]), max(high_v, corners[f, c, 1])
            for k in range(3):
                triangle[c, k] = corners[f, c, k]
        for j in range(int(np.floor(low_v - _TOUCH)), int(np.floor(high_v + _TOUCH)) + 1):
            n = _cut(triangle, 3, 1, j - _TOUCH, 1.0, half)
            n = _cut(half, n, 1, j + 1 + _TOUCH, -1.0, row)
            if n == 0:
                continue
            low_u, high_u = np.inf, -np.inf
            for k in range(n):
                low_u, high_u = min(low_u, row[k, 0]), max(high_u, row[k, 0])
            for i in range(int(np.floor(low_u - _TOUCH)), int(np.floor(high_u + _TOUCH)) + 1):
                m = _cut(row, n, 0, i - _TOUCH, 1.0, left)
                m = _cut(left, m, 0, i + 1 + _TOUCH, -1.0, piece)
                if m == 0:
                    continue
                if found < len(cells):
                    cells[found], faces[found] = i + wide * j, f
                    for k in range(3):
                        low, high = np.inf, -np.inf
                        for c in range(m):
                            low, high = min(low, piece[c, k]), max(high, piece[c, k])
                        if k < 2:
                            offset = float(i if k == 0 else j)
                            low, high = min(max(low - offset, 0.0), 1.0), min(max(high - offset, 0.0), 1.0)
                        extents[found, 2 * k], extents[found, 2 * k + 1] = low, high
                found += 1
    return found


@njit(cache=True, nogil=True)
def gather_by_cell(cells: Ints, starts: Ints, order: Ints) -> None:
    """starts, all 0, order <- the pieces of cell c are order[starts[c]:starts[c + 1]], in their input order."""
    for cell in cells:
        starts[cell] += 1
    for c in range(1, len(starts)):
        starts[c] += starts[c - 1]
    # Each entry is the end of its cell now; filling from the back turns it into the start.
    for k in range(len(cells) - 1, -1, -1):
        starts[cells[k]] -= 1
        order[starts[cells[k]]] = k


@njit(cache=True, nogil=True)
def _is_wide_enough(extent: Singles) -> bool:
    return bool(extent[1] - extent[0] > _SLIVER and extent[3] - extent[2] > _SLIVER)


@njit(cache=True, nogil=True)
def _obstacle(
    z: float, inside: Ints, faces: Ints, extents: Singles, kinds: NDArray[np.int8], reach: Floats, box: Singles
) -> bool:
    """Whether anything in this cell blocks a robot standing at z; box <- the part of the cell that it covers.

    reach: the robot's climb, its height, and the greatest height of a solid's top.
    """
    climb, height, solid = reach
    box[0], box[1], box[2], box[3] = 1.0, 0.0, 1.0, 0.0
    hanging = rising = np.inf
    for k in inside:
        kind, low = kinds[faces[k]], extents[k, 4]
        if kind < 0 and z + climb < low < hanging:
            hanging = low
        if kind > 0 and z + climb < low < rising:
            rising = low
    # The first face overhead is a back face: the space below it is inside a solid, such as a wardrobe or a stair.
    within = rising < hanging - _LEVEL and rising < z + solid
    for k in inside:
        low, high = extents[k, 4], extents[k, 5]
        in_the_way = high > z + climb + _LEVEL and low < z + height - _LEVEL
        if in_the_way or (within and kinds[faces[k]] > 0 and rising <= low < z + solid):
            box[0], box[1] = min(box[0], extents[k, 0]), max(box[1], extents[k, 1])
            box[2], box[3] = min(box[2], extents[k, 2]), max(box[3], extents[k, 3])
    return bool(box[1] >= box[0])


@njit(cache=True, nogil=True)
def find_levels(
    starts: Ints,
    order: Ints,
    faces: Ints,
    extents: Singles,
    kinds: NDArray[np.int8],
    reach: Floats,
    counts: Ints,
    cells: Ints,
    heights: Singles,
    blocked: NDArray[np.bool_],
    boxes: Singles,
) -> int:
    """counts, cells, heights, blocked, boxes <- the floor levels of each cell from low to high; returns their number.

    A level with another one at most a climb above it in the same cell is dropped: a robot stands on the rug or step.
    """
    found = 0
    box = np.empty(4, dtype=np.float32)
    floors = np.empty(len(order) + 1, dtype=np.float32)
    for cell in range(len(starts) - 1):
        inside = order[starts[cell] : starts[cell + 1]]
        n = 0
        for k in inside:
            if kinds[faces[k]] != WALKABLE or not _is_wide_enough(extents[k]):
                continue
            z = np.float32(0.5) * (extents[k, 4] + extents[k, 5])
            at = n
            while at > 0 and floors[at - 1] > z:
                floors[at] = floors[at - 1]
                at -= 1
            floors[at] = z
            n += 1
        counts[cell] = 0
        for i in range(n):
            if i + 1 < n and floors[i + 1] - floors[i] <= reach[0]:
                continue
            cells[found], heights[found] = cell, floors[i]
            blocked[found] = _obstacle(floors[i], inside, faces, extents, kinds, reach, box)
            for k in range(4):
                boxes[found, k] = box[k]
            counts[cell] += 1
            found += 1
    return found


@njit(cache=True, nogil=True)
def _nearest_level(
    starts: Ints, heights: Singles, blocked: NDArray[np.bool_], cell: int, z: float, climb: float
) -> int:
    """The level of a cell reached by a step from z: the nearest within a climb, free ones first; -1 for none."""
    best, gap = -1, climb + _LEVEL
    for n in range(starts[cell], starts[cell + 1]):
        off = abs(heights[n] - z)
        better = best < 0 or (off < gap if blocked[n] == blocked[best] else blocked[best])
        if off <= climb + _LEVEL and better:
            best, gap = n, off
    return best


@njit(cache=True, nogil=True)
def link_levels(
    starts: Ints,
    cells: Ints,
    heights: Singles,
    blocked: NDArray[np.bool_],
    wide: int,
    climb: float,
    links: Ints,
) -> None:
    """links <- (n, 10) the level reached in each direction, then around each corner, -1 for none; then the column.

    Links are symmetric. A corner is passed through either of the two cells beside it.
    """
    far = len(starts) - 1
    offsets = (1, wide, -1, -wide)
    for n in range(len(cells)):
        for k in range(4):
            cell = cells[n] + offsets[k]
            links[n, k] = _nearest_level(starts, heights, blocked, cell, heights[n], climb) if 0 <= cell < far else -1
    for n in range(len(cells)):
        for k in range(4):
            other = links[n, k]
            if other >= 0 and links[other, (k + 2) % 4] != n:
                links[n, k] = -1
    for n in range(len(cells)):
        for k in range(4):
            after = (k + 1) % 4
            one, two = links[n, k], links[n, after]
            corner = links[one, after] if one >= 0 else -1
            if corner < 0 and two >= 0:
                corner = links[two, k]
            links[n, 4 + k] = corner
        links[n, 8], links[n, 9] = cells[n] % wide, cells[n] // wide


@njit(cache=True, nogil=True)
def _mark_clearance(
    source: int,
    i: int,
    j: int,
    box: Singles,
    cells: Ints,
    links: Ints,
    wide: int,
    radius: float,
    mark: int,
    seen: Ints,
    waiting: Ints,
    closed: NDArray[np.bool_],
) -> None:
    """closed <- the levels around a source whose center is nearer than the radius to a box in cell (i, j).

    seen: the mark of the last call that visited each level.
    """
    waiting[0], n = source, 1
    seen[source] = mark
    while n:
        n -= 1
        here = waiting[n]
        u, v = cells[here] % wide + 0.5, cells[here] // wide + 0.5
        du = max(max(i + box[0] - u, u - (i + box[1])), 0.0)
        dv = max(max(j + box[2] - v, v - (j + box[3])), 0.0)
        if here != source and du * du + dv * dv >= radius * radius:
            continue
        if du * du + dv * dv < radius * radius:
            closed[here] = True
        for k in range(4):
            there = links[here, k]
            if there >= 0 and seen[there] != mark:
                seen[there] = mark
                waiting[n] = there
                n += 1


@njit(cache=True, nogil=True)
def close_to_obstacles(
    cells: Ints,
    blocked: NDArray[np.bool_],
    boxes: Singles,
    links: Ints,
    wide: int,
    radius: float,
    closed: NDArray[np.bool_],
) -> None:
    """closed <- the levels where a robot's center may not be: nearer than its radius to an obstacle or an edge.

    closed is all False at first; the radius is in cells. An obstacle closes its own cell for every radius.
    """
    whole = np.zeros(4, dtype=np.float32)
    whole[1] = whole[3] = 1.0
    offsets_x, offsets_y = (1, 0, -1, 0), (0, 1, 0, -1)
    seen, mark = np.zeros(len(cells), dtype=np.int32), 0
    waiting = np.empty(len(cells) + 1, dtype=np.int32)
    # A distance short of the radius by rounding only is enough.
    radius -= 1e-3
    for n in range(len(cells)):
        i, j = cells[n] % wide, cells[n] // wide
        if blocked[n]:
            closed[n] = True
            for k in range(8):
                if links[n, k] >= 0 and not blocked[links[n, k]]:
                    mark += 1
                    _mark_clearance(n, i, j, boxes[n], cells, links, wide, radius, mark, seen, waiting, closed)
                    break
        else:
            for k in range(4):
                if links[n, k] < 0:
                    mark += 1
                    x, y = i + offsets_x[k], j + offsets_y[k]
                    _mark_clearance(n, x, y, whole, cells, links, wide, radius, mark, seen, waiting, closed)


@njit(cache=True, nogil=True)
def smooth_heights(heights: Floats, links: Ints, reach: int, along: int, out: Floats) -> None:
    """out <- heights averaged over equally many cells on both sides, at most `reach`; along x (0) or y (1)."""
    for n in range(len(heights)):
        total, count = heights[n], 1
        one = two = n
        for _ in range(reach):
            one, two = links[one, along], links[two, along + 2]
            if one < 0 or two < 0:
                break
            total += heights[one] + heights[two]
            count += 2
        out[n] = total / count


@njit(cache=True, nogil=True)
def find_slopes(heights: Floats, links: Ints, size: float, least: float, slopes: Singles) -> None:
    """slopes <- (n, 2) the rise per metre along x and y; 0 where the ground is nearly level."""
    for n in range(len(heights)):
        for k in range(2):
            one, two = links[n, k], links[n, k + 2]
            ahead = n if one < 0 else one
            behind = n if two < 0 else two
            cells = (one >= 0) + (two >= 0)
            slopes[n, k] = (heights[ahead] - heights[behind]) / (cells * size) if cells else 0.0
        if np.hypot(slopes[n, 0], slopes[n, 1]) < least:
            slopes[n, 0] = slopes[n, 1] = 0.0


@njit(cache=True, nogil=True)
def find_islands(links: Ints, islands: Ints) -> int:
    """islands, all -1 <- the connected component of each level, in order of discovery; returns their number."""
    found = 0
    waiting = np.empty(len(links), dtype=np.int32)
    for seed in range(len(links)):
        if islands[seed] >= 0:
            continue
        waiting[0], n = seed, 1
        islands[seed] = found
        while n:
            n -= 1
            here = waiting[n]
            for k in range(4):
                there = links[here, k]
                if there >= 0 and islands[there] < 0:
                    islands[there] = found
                    waiting[n] = there
                    n += 1
        found += 1
    return found
