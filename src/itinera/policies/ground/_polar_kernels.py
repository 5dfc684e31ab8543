"""Labels of pixels by direction and distance, free distances, and weighted sums of word vectors."""

# mypy: allow-untyped-decorators
from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]

BINS, BANDS = 24, 3
MAX_COLUMNS = 512  # of all views of a place that lie in one bin


@njit(cache=True, nogil=True)
def count_labels(
    depth: Singles,
    instances: NDArray[np.int32],
    classes: NDArray[np.uint8],
    eyes: Floats,
    headings: Floats,
    column_bins: Ints,
    slants: Floats,
    rises: Floats,
    limits: Floats,
    floor_class: int,
    region_offset: int,
    origin: Floats,
    cell: float,
    storey_floors: Floats,
    region_index: NDArray[np.int16],
    band: Floats,
    far: float,
    min_pixels: int,
    starts: Ints,
    cells: NDArray[np.uint8],
    labels: NDArray[np.uint16],
    pixels: NDArray[np.int32],
    free: Singles,
) -> int:
    """starts, cells, labels, pixels, free <- the labels in sight of each place; returns the number of entries.

    depth, instances, classes: (n, v, h, w) of v views at each place. eyes: (n, 3) of the cameras; headings: (n, v) of
    the views. column_bins: (v, w) the bin of each column. slants, rises: (w,), (h,) metres left and up per metre of
    depth. limits: (2,) upper ends of the first distance bands. A label is an instance, or for floor (`floor_class`,
    instance 0) region_offset + its region. Entry k of place i, starts[i] <= k < starts[i + 1], is one label in
    cells[k] = bin * 3 + band with at least min_pixels pixels. free: (n, BINS, 2) the median and the minimum over the
    columns of a bin of the distance to something between band[0] and band[1] metres relative to the eye, at most `far`.
    If the entries do not fit, their number is returned all the same, and the rest is not written.
    """
    places, views, tall, wide = depth.shape
    count_max = region_offset
    for s in range(region_index.shape[0]):
        for i in range(region_index.shape[1]):
            for j in range(region_index.shape[2]):
                count_max = max(count_max, region_offset + region_index[s, i, j])
    width = count_max + 1
    counts = np.zeros(BINS * BANDS * width, dtype=np.int32)
    touched = np.empty(views * tall * wide, dtype=np.int64)
    nearest = np.empty((BINS, MAX_COLUMNS), dtype=np.float32)
    columns = np.empty(BINS, dtype=np.int64)
    total = 0
    for place in range(places):
        starts[place] = total
        n = 0
        columns[:] = 0
        for view in range(views):
            c, s = np.cos(headings[place, view]), np.sin(headings[place, view])
            for u in range(wide):
                bin = column_bins[view, u]
                stretch = np.sqrt(1.0 + slants[u] * slants[u])
                close = far
                for v in range(tall):
                    d = depth[place, view, v, u]
                    if not d < np.inf:
                        continue
                    away = d * stretch
                    up = d * rises[v]
                    if band[0] < up < band[1] and away < close:
                        close = away
                    label = instances[place, view, v, u]
                    if label == 0:
                        if classes[place, view, v, u] != floor_class:
                            continue
                        left = d * slants[u]
                        x = eyes[place, 0] + c * d - s * left
                        y = eyes[place, 1] + s * d + c * left
                        region = find_region(origin, cell, storey_floors, region_index, x, y, eyes[place, 2] + up)
                        if region < 0:
                            continue
                        label = region_offset + region
                    b = 0 if away < limits[0] else (1 if away < limits[1] else 2)
                    at = (bin * BANDS + b) * width + label
                    if counts[at] == 0:
                        touched[n] = at
                        n += 1
                    counts[at] += 1
                if columns[bin] < MAX_COLUMNS:
                    nearest[bin, columns[bin]] = close
                    columns[bin] += 1
        order = np.sort(touched[:n])
        for k in range(n):
            at = order[k]
            if counts[at] >= min_pixels:
                if total < len(cells):
                    cells[total] = at // width
                    labels[total] = at % width
                    pixels[total] = counts[at]
                total += 1
            counts[at] = 0
        for b in range(BINS):
            if columns[b]:
                row = np.sort(nearest[b, : columns[b]])
                free[place, b, 0] = row[columns[b] // 2]
                free[place, b, 1] = row[0]
            else:
                free[place, b, 0] = free[place, b, 1] = np.nan
    starts[places] = total
    return total


@njit(cache=True, nogil=True)
def find_region(
    origin: Floats, cell: float, floors: Floats, index: NDArray[np.int16], x: float, y: float, z: float
) -> int:
    """The region of a place, as `RegionGrid.lookup` finds it; -1 for none."""
    storey = -1
    for k in range(len(floors)):
        if floors[k] <= z + 0.3:
            storey = k
    i, j = int(np.floor((x - origin[0]) / cell)), int(np.floor((y - origin[1]) / cell))
    if storey < 0 or i < 0 or j < 0 or i >= index.shape[1] or j >= index.shape[2]:
        return -1
    return np.int64(index[storey, i, j])  # type: ignore[return-value]


@njit(cache=True, nogil=True)
def expand_words(
    starts: Ints,
    labels: NDArray[np.uint16],
    word_starts: Ints,
    label_words: Ints,
    out_counts: Ints,
    words: Ints,
    entries: Ints,
) -> int:
    """words, entries <- each word of each label with the entry it comes from; returns their number.

    out_counts: (rows,) <- the number of words of each row of entries. If they do not fit, only their number is found.
    """
    total = 0
    for row in range(len(starts) - 1):
        before = total
        for k in range(starts[row], starts[row + 1]):
            label = np.int64(labels[k])
            if label + 1 >= len(word_starts):
                continue
            for m in range(word_starts[label], word_starts[label + 1]):
                if total < len(words):
                    words[total], entries[total] = label_words[m], k
                total += 1
        out_counts[row] = total - before
    return total


@njit(cache=True, nogil=True, fastmath=True)
def sum_rows(table: Singles, words: Ints, weights: Singles, rows: Ints, out: Singles) -> None:
    """out[rows[k]] += weights[k] * table[words[k]] for every k."""
    dim = table.shape[1]
    for k in range(len(words)):
        w, weight, row = words[k], weights[k], rows[k]
        for d in range(dim):
            out[row, d] += weight * table[w, d]


@njit(cache=True, nogil=True, fastmath=True)
def sum_gradients(grad: Singles, words: Ints, weights: Singles, rows: Ints, out: Singles) -> None:
    """out[words[k]] += weights[k] * grad[rows[k]] for every k."""
    dim = grad.shape[1]
    for k in range(len(words)):
        w, weight, row = words[k], weights[k], rows[k]
        for d in range(dim):
            out[w, d] += weight * grad[row, d]


@njit(cache=True, nogil=True)
def label_pixels(
    depth: Singles,
    instances: NDArray[np.int32],
    classes: NDArray[np.uint8],
    eyes: Floats,
    headings: Floats,
    slants: Floats,
    rises: Floats,
    floor_class: int,
    region_offset: int,
    origin: Floats,
    cell: float,
    storey_floors: Floats,
    region_index: NDArray[np.int16],
    labels: NDArray[np.uint16],
    labeled_depth: Singles,
) -> None:
    """labels, labeled_depth <- the label of each pixel (n, h, w) as in `count_labels`; its depth, else inf."""
    places, tall, wide = depth.shape
    for place in range(places):
        c, s = np.cos(headings[place]), np.sin(headings[place])
        for v in range(tall):
            for u in range(wide):
                d = depth[place, v, u]
                label = instances[place, v, u]
                if label == 0 and d < np.inf and classes[place, v, u] == floor_class:
                    left = d * slants[u]
                    x = eyes[place, 0] + c * d - s * left
                    y = eyes[place, 1] + s * d + c * left
                    region = find_region(origin, cell, storey_floors, region_index, x, y, eyes[place, 2] + d * rises[v])
                    label = region_offset + region if region >= 0 else 0
                labels[place, v, u] = label
                labeled_depth[place, v, u] = d if label > 0 else np.inf


@njit(cache=True, nogil=True)
def count_cells(
    maps: NDArray[np.uint16],
    map_cell: float,
    limits: Floats,
    starts: Ints,
    cells: NDArray[np.uint8],
    labels: NDArray[np.uint16],
    counts: NDArray[np.int32],
) -> int:
    """starts, cells, labels, counts <- the labels of egocentric maps (n, size, size) in polar cells.

    The agent is in the middle of a map, ahead are lower rows. Returns the number of entries; if they do not fit, the
    rest is not written.
    """
    places, size = maps.shape[:2]
    keys = np.empty(size * size, dtype=np.int64)
    total = 0
    for place in range(places):
        starts[place] = total
        n = 0
        for i in range(size):
            for j in range(size):
                label = np.int64(maps[place, i, j])
                if label == 0:
                    continue
                ahead, left = (size // 2 - i) * map_cell, (size // 2 - j) * map_cell
                away = np.sqrt(ahead * ahead + left * left)
                bin = np.int64(np.floor(np.arctan2(left, ahead) / (2 * np.pi / BINS) + 0.5)) % BINS
                b = 0 if away < limits[0] else (1 if away < limits[1] else 2)
                keys[n] = (bin * BANDS + b) * 65536 + label
                n += 1
        order = np.sort(keys[:n])
        k = 0
        while k < n:
            end = k
            while end < n and order[end] == order[k]:
                end += 1
            if total < len(cells):
                cells[total], labels[total] = order[k] // 65536, order[k] % 65536
                counts[total] = end - k
            total += 1
            k = end
    starts[places] = total
    return total
