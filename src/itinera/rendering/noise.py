"""Noise that repeats at the edges of a square, for textures: smooth value noise and cells around random points.

Only sums, products and square roots, whose last bits are the same on every machine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itinera.worlds.space import Array

SIZE = 256  # texels along each side
ROWS, COLUMNS = np.mgrid[0:SIZE, 0:SIZE] + 0.5  # centers of the texels; a row is a step along v, a column along u


def value_noise(rng: np.random.Generator, across: int, down: int) -> Array:
    """(SIZE, SIZE) smooth noise in [-1, 1] with this many random values across and down."""
    lattice = rng.uniform(-1.0, 1.0, (down, across))
    rows, row_share = _blend(down)
    columns, column_share = _blend(across)
    along = lattice[:, columns[0]] * (1 - column_share) + lattice[:, columns[1]] * column_share
    noise: Array = along[rows[0]] * (1 - row_share[:, None]) + along[rows[1]] * row_share[:, None]
    return noise


def fractal_noise(rng: np.random.Generator, across: int, down: int, octaves: int = 4) -> Array:
    """(SIZE, SIZE) value noise plus finer and weaker noise, each octave twice as fine and half as strong."""
    total = np.zeros((SIZE, SIZE))
    for octave in range(octaves):
        total += value_noise(rng, min(SIZE, across << octave), min(SIZE, down << octave)) / (1 << octave)
    return total


def cell_noise(rng: np.random.Generator, across: int, down: int) -> tuple[Array, Array, Array]:
    """Cells around points of a jittered grid: distance to the nearest and second nearest point, value of the nearest.

    Distances are in grid steps; values are uniform in [-1, 1].
    """
    jitter = rng.uniform(0.05, 0.95, (down, across, 2))
    values = rng.uniform(-1.0, 1.0, (down, across))
    y, x = ROWS * (down / SIZE), COLUMNS * (across / SIZE)
    first, second, value = np.full(y.shape, 9.0), np.full(y.shape, 9.0), np.zeros(y.shape)
    for shift in np.ndindex(3, 3):
        cy, cx = np.floor(y).astype(int) + shift[0] - 1, np.floor(x).astype(int) + shift[1] - 1
        point = jitter[cy % down, cx % across]
        distance = np.sqrt((cy + point[..., 0] - y) ** 2 + (cx + point[..., 1] - x) ** 2)
        nearer = distance < first
        second = np.where(nearer, first, np.minimum(second, distance))
        value = np.where(nearer, values[cy % down, cx % across], value)
        first = np.where(nearer, distance, first)
    return first, second, value


def _blend(count: int) -> tuple[NDArray[np.int64], Array]:
    """(2, SIZE) the lattice points around each texel, and the smoothed share of the second."""
    place = (np.arange(SIZE) + 0.5) * (count / SIZE)
    low = np.floor(place).astype(np.int64)
    share = place - low
    return np.stack([low, (low + 1) % count]), share * share * (3 - 2 * share)
