"""Kernels for the first layer of maps, the sum of an embedding of every occupied cell, and for smaller images."""

from __future__ import annotations

import numpy as np
from numba import njit

PATCH = 4  # cells of a side of a patch


@njit(cache=True, nogil=True, fastmath=True)
def sum_embeddings(cells: np.ndarray, table: np.ndarray, sums: np.ndarray) -> None:
    """Add to sums (n, rows, columns, dim) the embeddings of the occupied cells of each patch of 4 x 4 cells.

    cells (n, 4 rows, 4 columns) uint8 are 0 where empty, else 1 + class; table (16, 1 + classes, dim) has an
    embedding for every place in a patch and every value of a cell.
    """
    count, height, width = cells.shape
    dim = table.shape[2]
    words = cells.view(np.uint32)  # the four cells of a patch's row at once: most are empty
    for n in range(count):
        for row in range(height):
            for column in range(width // PATCH):
                if words[n, row, column] == 0:
                    continue
                total = sums[n, row // PATCH, column]
                for k in range(PATCH):
                    cell = cells[n, row, column * PATCH + k]
                    if cell:
                        embedding = table[(row % PATCH) * PATCH + k, cell]
                        for d in range(dim):
                            total[d] += embedding[d]


@njit(cache=True, nogil=True, fastmath=True)
def add_embedding_gradients(cells: np.ndarray, gradients: np.ndarray, table: np.ndarray) -> None:
    """Add to the gradient of the table (16, 1 + classes, dim) those of the sums (n, rows, columns, dim)."""
    count, height, width = cells.shape
    dim = table.shape[2]
    words = cells.view(np.uint32)
    for n in range(count):
        for row in range(height):
            for column in range(width // PATCH):
                if words[n, row, column] == 0:
                    continue
                gradient = gradients[n, row // PATCH, column]
                for k in range(PATCH):
                    cell = cells[n, row, column * PATCH + k]
                    if cell:
                        embedding = table[(row % PATCH) * PATCH + k, cell]
                        for d in range(dim):
                            embedding[d] += gradient[d]


@njit(cache=True, nogil=True)
def reduce_depth(depth: np.ndarray, limit: float, codes: np.ndarray) -> None:
    """Set codes (n, rows, columns) uint8 to the nearest depth (n, k rows, l columns) of each pixel.

    255 stands for the limit.
    """
    count, rows, columns = codes.shape
    high, wide = depth.shape[1] // rows, depth.shape[2] // columns
    scale, nearest = np.float32(255 / limit), np.empty(columns, np.float32)
    for n in range(count):
        for row in range(rows):
            nearest[:] = np.float32(limit)
            for k in range(row * high, (row + 1) * high):
                for column in range(columns):
                    value = nearest[column]
                    for m in range(column * wide, (column + 1) * wide):
                        value = min(value, depth[n, k, m])
                    nearest[column] = value
            for column in range(columns):
                codes[n, row, column] = np.uint8(max(nearest[column], np.float32(0)) * scale + np.float32(0.5))


@njit(cache=True, nogil=True)
def reduce_rgb(rgb: np.ndarray, smaller: np.ndarray) -> None:
    """Set smaller (n, 3, rows, columns) uint8 to the means of rgb (n, k rows, l columns, 3)."""
    count, _, rows, columns = smaller.shape
    high, wide = rgb.shape[1] // rows, rgb.shape[2] // columns
    area = high * wide
    for n in range(count):
        for row in range(rows):
            for column in range(columns):
                red, green, blue = 0, 0, 0
                for k in range(row * high, (row + 1) * high):
                    for m in range(column * wide, (column + 1) * wide):
                        red += rgb[n, k, m, 0]
                        green += rgb[n, k, m, 1]
                        blue += rgb[n, k, m, 2]
                smaller[n, 0, row, column] = (2 * red + area) // (2 * area)
                smaller[n, 1, row, column] = (2 * green + area) // (2 * area)
                smaller[n, 2, row, column] = (2 * blue + area) // (2 * area)
