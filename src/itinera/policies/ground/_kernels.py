"""Kernels for the first layer of maps: the sum of an embedding of every occupied cell of a patch."""

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
