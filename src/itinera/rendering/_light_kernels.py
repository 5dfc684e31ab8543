"""The loops of baked light: voxels of a mesh, rays through them, direct light on texels, and its diffusion in rooms.

Lengths are in voxels unless they say metres. A voxel is EMPTY, SOLID, or a PANE that the sun shines through.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]

EMPTY, SOLID, PANE = 0, 1, 2
UNKNOWN, INDOORS, OUTDOORS = 0, 1, 2
BLOCK = 3  # voxels along an edge of a cell in which light diffuses
AMBIENT, SKY, WINDOWS, SUN, LAMPS = range(5)  # columns of the light on a texel; the first is ambient occlusion
LIFTS = (1.3, 1.9, 2.6)  # tried heights over a surface: the first one in an empty voxel is where rays start
SIDESTEP = 1.3  # tried to the sides where that fails
DARKEST_WINDOW, DARKEST_LAMP = 1e-3, 0.02  # weaker light is left out; subtracted from stronger, so that nothing jumps
AO_RANGE = 9.0  # voxels


@njit(cache=True, nogil=True, error_model="numpy")
def voxelize(corners: Floats, kinds: Bytes, grid: Bytes) -> None:
    """grid (x, y, z) <- the kinds of the faces, whose corners (f, 3, 3) are in voxels; SOLID covers a PANE."""
    for face in range(len(corners)):
        if kinds[face] == EMPTY:
            continue
        ax, ay, az = corners[face, 0, 0], corners[face, 0, 1], corners[face, 0, 2]
        ux, uy, uz = corners[face, 1, 0] - ax, corners[face, 1, 1] - ay, corners[face, 1, 2] - az
        vx, vy, vz = corners[face, 2, 0] - ax, corners[face, 2, 1] - ay, corners[face, 2, 2] - az
        across = int(np.ceil(2.0 * max(abs(ux), abs(uy), abs(uz)))) + 1
        along = int(np.ceil(2.0 * max(abs(vx), abs(vy), abs(vz)))) + 1
        for i in range(across + 1):
            s = i / across
            for j in range(along + 1):
                t = j / along
                if s + t > 1.0 + 1e-9:
                    break
                x, y, z = int(ax + s * ux + t * vx), int(ay + s * uy + t * vy), int(az + s * uz + t * vz)
                if grid[x, y, z] != SOLID:
                    grid[x, y, z] = kinds[face]


@njit(cache=True, nogil=True, error_model="numpy")
def _clear_length(
    x: float, y: float, z: float, dx: float, dy: float, dz: float, length: float, through_panes: bool, grid: Bytes
) -> float:
    """How far a ray gets from a point along a unit direction: the distance to the first obstacle, or its length.

    A ray that leaves the grid gets all of its length.
    """
    i, j, k = int(x), int(y), int(z)
    step_x, step_y, step_z = (1 if dx > 0 else -1), (1 if dy > 0 else -1), (1 if dz > 0 else -1)
    slow = 1e9
    tx_step = 1.0 / abs(dx) if abs(dx) > 1e-9 else slow
    ty_step = 1.0 / abs(dy) if abs(dy) > 1e-9 else slow
    tz_step = 1.0 / abs(dz) if abs(dz) > 1e-9 else slow
    tx = (i + 1 - x if dx > 0 else x - i) * tx_step
    ty = (j + 1 - y if dy > 0 else y - j) * ty_step
    tz = (k + 1 - z if dz > 0 else z - k) * tz_step
    nx, ny, nz = grid.shape
    while True:
        if tx < ty and tx < tz:
            way, i, tx = tx, i + step_x, tx + tx_step
        elif ty < tz:
            way, j, ty = ty, j + step_y, ty + ty_step
        else:
            way, k, tz = tz, k + step_z, tz + tz_step
        if way >= length or i < 0 or j < 0 or k < 0 or i >= nx or j >= ny or k >= nz:
            return length
        found = grid[i, j, k]
        if found == SOLID or (found == PANE and not through_panes):
            return way


@njit(cache=True, nogil=True, error_model="numpy")
def _is_clear(x: float, y: float, z: float, tx: float, ty: float, tz: float, margin: float, grid: Bytes) -> bool:
    """Whether nothing is between two points, but for a margin at the second."""
    dx, dy, dz = tx - x, ty - y, tz - z
    length = np.sqrt(dx * dx + dy * dy + dz * dz)
    if length <= margin:
        return True
    scale = 1.0 / length
    reach = length - margin
    return bool(_clear_length(x, y, z, dx * scale, dy * scale, dz * scale, reach, True, grid) >= reach)


@njit(cache=True, nogil=True, error_model="numpy")
def escaping_rays(points: Floats, directions: Floats, grid: Bytes) -> Longs:
    """(n,) how many of the directions (d, 3) lead from each point (n, 3) out of the grid."""
    found = np.zeros(len(points), np.int64)
    far = 2.0 * (grid.shape[0] + grid.shape[1] + grid.shape[2])
    for n in range(len(points)):
        for d in range(len(directions)):
            dx, dy, dz = directions[d, 0], directions[d, 1], directions[d, 2]
            if _clear_length(points[n, 0], points[n, 1], points[n, 2], dx, dy, dz, far, False, grid) >= far:
                found[n] += 1
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def window_light(points: Floats, windows: Floats, grid: Bytes) -> Floats:
    """(n,) the solid angle of the windows (w, 7), as in `gather_light`, that each point (n, 3) in the air sees."""
    found = np.zeros(len(points))
    for n in range(len(points)):
        for w in range(len(windows)):
            # From in front of the pane: the voxels around it are part of the wall.
            x, y, z = (windows[w, 0] + 2.0 * windows[w, 3], windows[w, 1] + 2.0 * windows[w, 4],
                       windows[w, 2] + 2.0 * windows[w, 5])  # fmt: skip
            dx, dy, dz = points[n, 0] - x, points[n, 1] - y, points[n, 2] - z
            there = dx * windows[w, 3] + dy * windows[w, 4] + dz * windows[w, 5]
            squared = max(dx * dx + dy * dy + dz * dz, 9.0)
            if there > 0.0 and _is_clear(x, y, z, points[n, 0], points[n, 1], points[n, 2], 2.0, grid):
                found[n] += windows[w, 6] * there / (squared * np.sqrt(squared))
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def _start(px: float, py: float, pz: float, frame: Floats, grid: Bytes) -> tuple[float, float, float, bool]:
    """Where rays from a surface start: in an empty voxel over it, or beside that; the last is whether there is one."""
    for side in range(9):
        # Straight up first, then sideways along the surface, then diagonally.
        u = 0.0 if side in (0, 3, 4) else (SIDESTEP if side in (1, 5, 7) else -SIDESTEP)
        v = 0.0 if side in (0, 1, 2) else (SIDESTEP if side in (3, 5, 8) else -SIDESTEP)
        for lift in LIFTS:
            x = px + lift * frame[0, 0] + u * frame[1, 0] + v * frame[2, 0]
            y = py + lift * frame[0, 1] + u * frame[1, 1] + v * frame[2, 1]
            z = pz + lift * frame[0, 2] + u * frame[1, 2] + v * frame[2, 2]
            i, j, k = int(x), int(y), int(z)
            if min(i, j, k) < 0 or i >= grid.shape[0] or j >= grid.shape[1] or k >= grid.shape[2]:
                continue
            if grid[i, j, k] == EMPTY:
                return x, y, z, True
    return px, py, pz, False


@njit(cache=True, nogil=True, error_model="numpy")
def gather_light(
    points: Floats, owners: Longs, anchors: Floats, frames: Floats, around: Floats, dome: Floats, sun: Floats,
    windows: Floats, lamps: Floats, grid: Bytes, outdoors: Bytes, light: Floats, starts: Floats,
) -> None:  # fmt: skip
    """light (n, 5) <- the columns above; starts (n, 3) <- where rays started. A texel in a solid has starts NaN.

    points (n, 3) are texels; owners (n,) their charts; anchors (n, 3) places of the chart that must be visible from
    them; frames (c, 3, 3) normal and two directions on each chart. around (a, 3) are directions over a surface for
    ambient occlusion, dome (d, 4) directions to the sky and their weights, sun (3,) the one to the sun (0: none).
    windows (w, 7) have position, normal and area in square voxels, lamps (m, 4) position and strength in square voxels.
    outdoors (X, Y, Z) is a note, empty at first, of the cells of BLOCK voxels from which the sky is visible.
    """
    far = 2.0 * (grid.shape[0] + grid.shape[1] + grid.shape[2])
    sunny = sun[0] != 0.0 or sun[1] != 0.0 or sun[2] != 0.0
    for n in range(len(points)):
        frame = frames[owners[n]]
        nx, ny, nz = frame[0, 0], frame[0, 1], frame[0, 2]
        x, y, z, free = _start(points[n, 0], points[n, 1], points[n, 2], frame, grid)
        starts[n, 0] = np.nan
        if not free:
            continue
        ax, ay, az = anchors[n, 0], anchors[n, 1], anchors[n, 2]
        if ax != points[n, 0] or ay != points[n, 1] or az != points[n, 2]:
            ax, ay, az, free = _start(ax, ay, az, frame, grid)
            if not (free and _is_clear(ax, ay, az, x, y, z, 0.0, grid)):
                continue
        starts[n, 0], starts[n, 1], starts[n, 2] = x, y, z
        open_share = 0.0
        for a in range(len(around)):
            u, v, w = around[a, 0], around[a, 1], around[a, 2]
            dx = u * frame[1, 0] + v * frame[2, 0] + w * nx
            dy = u * frame[1, 1] + v * frame[2, 1] + w * ny
            dz = u * frame[1, 2] + v * frame[2, 2] + w * nz
            open_share += _clear_length(x, y, z, dx, dy, dz, AO_RANGE, False, grid) / AO_RANGE
        light[n, AMBIENT] = open_share / len(around)
        total = 0.0
        a, b, c = int(x) // BLOCK, int(y) // BLOCK, int(z) // BLOCK
        if outdoors[a, b, c] == UNKNOWN:
            outdoors[a, b, c] = INDOORS
            for d in range(len(dome)):
                if _clear_length(x, y, z, dome[d, 0], dome[d, 1], dome[d, 2], far, False, grid) >= far:
                    outdoors[a, b, c] = OUTDOORS
        for d in range(len(dome) if outdoors[a, b, c] == OUTDOORS else 0):
            cosine = dome[d, 0] * nx + dome[d, 1] * ny + dome[d, 2] * nz
            if cosine > 0.02:
                way = _clear_length(x, y, z, dome[d, 0], dome[d, 1], dome[d, 2], far, False, grid)
                total += cosine * dome[d, 3] if way >= far else 0.0
        light[n, SKY] = total
        cosine = sun[0] * nx + sun[1] * ny + sun[2] * nz
        if sunny and cosine > 0.02:
            hits = 0
            for corner in range(4):
                su, sv = 0.8 * (corner & 1) - 0.4, 0.4 * (corner & 2) - 0.4
                px = x + su * frame[1, 0] + sv * frame[2, 0]
                py = y + su * frame[1, 1] + sv * frame[2, 1]
                pz = z + su * frame[1, 2] + sv * frame[2, 2]
                hits += _clear_length(px, py, pz, sun[0], sun[1], sun[2], far, True, grid) >= far
            light[n, SUN] = 0.25 * hits * cosine
        total = 0.0
        for w in range(len(windows)):
            dx, dy, dz = windows[w, 0] - x, windows[w, 1] - y, windows[w, 2] - z
            here = dx * nx + dy * ny + dz * nz
            there = -(dx * windows[w, 3] + dy * windows[w, 4] + dz * windows[w, 5])
            if here > 0.0 and there > 0.0:
                squared = max(dx * dx + dy * dy + dz * dz, 9.0)
                # Upwards one sees the sky, downwards the ground.
                share = windows[w, 6] * here * there / (squared * squared) * (1.0 if dz > 0.0 else 0.4)
                if share > DARKEST_WINDOW and _is_clear(
                    x, y, z, windows[w, 0], windows[w, 1], windows[w, 2], 1.5, grid
                ):
                    total += share - DARKEST_WINDOW
        light[n, WINDOWS] = total
        total = 0.0
        for m in range(len(lamps)):
            dx, dy, dz = lamps[m, 0] - x, lamps[m, 1] - y, lamps[m, 2] - z
            here = dx * nx + dy * ny + dz * nz
            if here > 0.0:
                squared = max(dx * dx + dy * dy + dz * dz, 12.0)
                share = lamps[m, 3] * here / (squared * np.sqrt(squared))
                if share > DARKEST_LAMP and _is_clear(x, y, z, lamps[m, 0], lamps[m, 1], lamps[m, 2], 2.0, grid):
                    total += share - DARKEST_LAMP
        light[n, LAMPS] = total


@njit(cache=True, nogil=True, error_model="numpy")
def open_shares(grid: Bytes, shares: Floats) -> None:
    """shares (3, X, Y, Z) <- the share of clear columns of voxels between each cell and the next along x, y, z."""
    _, cx, cy, cz = shares.shape
    middle = BLOCK // 2
    for i in range(cx):
        for j in range(cy):
            for k in range(cz):
                for axis in range(3):
                    if (i + 1 >= cx and axis == 0) or (j + 1 >= cy and axis == 1) or (k + 1 >= cz and axis == 2):
                        continue
                    clear = 0
                    for a in range(BLOCK):
                        for b in range(BLOCK):
                            free = True
                            for c in range(middle, middle + BLOCK + 1):
                                u = (c if axis == 0 else a) + BLOCK * i
                                v = (c if axis == 1 else (b if axis == 0 else a)) + BLOCK * j
                                w = (c if axis == 2 else b) + BLOCK * k
                                free = free and grid[u, v, w] == EMPTY
                            clear += free
                    shares[axis, i, j, k] = clear / (BLOCK * BLOCK)


@njit(cache=True, nogil=True, error_model="numpy")
def diffuse(sources: Floats, losses: Floats, shares: Floats, conduction: float, sweeps: int, glow: Floats) -> None:
    """glow (X, Y, Z, 3) <- light in balance: what a cell receives, from sources and its neighbors, it loses.

    Successive over-relaxation, `sweeps` times through all cells.
    """
    cx, cy, cz = glow.shape[:3]
    for _ in range(sweeps):
        for i in range(cx):
            for j in range(cy):
                for k in range(cz):
                    weight = losses[i, j, k]
                    red, green, blue = sources[i, j, k, 0], sources[i, j, k, 1], sources[i, j, k, 2]
                    for side in range(6):
                        a, b, c = i, j, k
                        axis, back = side >> 1, side & 1
                        shift = -1 if back else 1
                        if axis == 0:
                            a += shift
                        elif axis == 1:
                            b += shift
                        else:
                            c += shift
                        if a < 0 or b < 0 or c < 0 or a >= cx or b >= cy or c >= cz:
                            continue
                        share = shares[axis, a, b, c] if back else shares[axis, i, j, k]
                        if share > 0.0:
                            weight += share * conduction
                            red += share * conduction * glow[a, b, c, 0]
                            green += share * conduction * glow[a, b, c, 1]
                            blue += share * conduction * glow[a, b, c, 2]
                    if weight > 0.0:
                        scale = 1.6 / weight
                        glow[i, j, k, 0] += red * scale - 1.6 * glow[i, j, k, 0]
                        glow[i, j, k, 1] += green * scale - 1.6 * glow[i, j, k, 1]
                        glow[i, j, k, 2] += blue * scale - 1.6 * glow[i, j, k, 2]


@njit(cache=True, nogil=True, error_model="numpy")
def sample_glow(starts: Floats, glow: Floats, grid: Bytes, found: Floats) -> None:
    """found (n, 3) <- the light of the cells around each point, of those in view of it, by nearness."""
    cx, cy, cz = glow.shape[:3]
    for n in range(len(starts)):
        x, y, z = starts[n, 0], starts[n, 1], starts[n, 2]
        if np.isnan(x):
            continue
        u, v, w = x / BLOCK - 0.5, y / BLOCK - 0.5, z / BLOCK - 0.5
        i, j, k = int(np.floor(u)), int(np.floor(v)), int(np.floor(w))
        total = 0.0
        for corner in range(8):
            a, b, c = i + (corner & 1), j + (corner >> 1 & 1), k + (corner >> 2)
            if a < 0 or b < 0 or c < 0 or a >= cx or b >= cy or c >= cz:
                continue
            mx, my, mz = (a + 0.5) * BLOCK, (b + 0.5) * BLOCK, (c + 0.5) * BLOCK
            if grid[int(mx), int(my), int(mz)] != EMPTY or not _is_clear(x, y, z, mx, my, mz, 0.0, grid):
                continue
            weight = (1.001 - abs(u - a)) * (1.001 - abs(v - b)) * (1.001 - abs(w - c))
            total += weight
            for channel in range(3):
                found[n, channel] += weight * glow[a, b, c, channel]
        if total > 0.0:
            for channel in range(3):
                found[n, channel] /= total
        else:
            starts[n, 0] = np.nan


@njit(cache=True, nogil=True, error_model="numpy")
def fill_gaps(first: Longs, sizes: Longs, known: NDArray[np.bool_], light: Floats, rounds: int) -> None:
    """light (n, 3) <- texels that are not known get the mean of their known neighbors, `rounds` times."""
    for chart in range(len(first)):
        base, width, height = first[chart], sizes[chart, 0], sizes[chart, 1]
        for _ in range(rounds):
            missing = 0
            fresh = np.zeros(width * height, np.bool_)
            for j in range(height):
                for i in range(width):
                    at = base + j * width + i
                    if known[at]:
                        continue
                    missing += 1
                    count, red, green, blue = 0, 0.0, 0.0, 0.0
                    for b in range(max(j - 1, 0), min(j + 2, height)):
                        for a in range(max(i - 1, 0), min(i + 2, width)):
                            other = base + b * width + a
                            if known[other]:
                                count += 1
                                red += light[other, 0]
                                green += light[other, 1]
                                blue += light[other, 2]
                    if count:
                        light[at, 0], light[at, 1], light[at, 2] = red / count, green / count, blue / count
                        fresh[at - base] = True
            if missing == 0:
                break
            for k in range(width * height):
                known[base + k] = known[base + k] or fresh[k]


@njit(cache=True, nogil=True, error_model="numpy")
def smooth(first: Longs, sizes: Longs, known: NDArray[np.bool_], light: Floats, out: Floats) -> None:
    """out (n, 3) <- the mean of each known texel, twice, and its known neighbors in the chart."""
    for chart in range(len(first)):
        base, width, height = first[chart], sizes[chart, 0], sizes[chart, 1]
        for j in range(height):
            for i in range(width):
                at = base + j * width + i
                count, red, green, blue = 2, 2.0 * light[at, 0], 2.0 * light[at, 1], 2.0 * light[at, 2]
                if known[at]:
                    for b in range(max(j - 1, 0), min(j + 2, height)):
                        for a in range(max(i - 1, 0), min(i + 2, width)):
                            other = base + b * width + a
                            if known[other] and other != at:
                                count += 1
                                red += light[other, 0]
                                green += light[other, 1]
                                blue += light[other, 2]
                out[at, 0], out[at, 1], out[at, 2] = red / count, green / count, blue / count
