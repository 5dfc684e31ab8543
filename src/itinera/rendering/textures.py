"""Procedural textures of materials: tiles of luminance that repeat, and where on a tile a point of a surface lies.

`texture(material)` is a square of factors by which the color of a face is multiplied, 128 for 1; their mean is 1, so
that a textured surface is as bright as a plain one. Its columns run along u and its rows along v, both in metres from
`texture_coordinates`; a tile repeats every `TILE_METRES[material]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.errors import BadArgument
from itinera.rendering.noise import COLUMNS, ROWS, SIZE, cell_noise, fractal_noise, value_noise
from itinera.seeding import generator
from itinera.worlds.labels import MATERIALS
from itinera.worlds.space import Array

UNCHANGED = 128  # the value of a texel that leaves the color as it is

TILE_METRES: Mapping[str, float] = MappingProxyType(
    {
        "plain": 1.0,
        "wood": 1.0,
        "planks": 2.4,
        "tile": 1.2,
        "carpet": 0.8,
        "stone": 1.5,
        "brick": 1.0,
        "plaster": 2.0,
        "fabric": 0.3,
        "leather": 0.4,
        "wallpaper": 0.6,
        "grass": 1.2,
        "leaves": 0.8,
        "gravel": 0.8,
        "concrete": 2.5,
        "metal": 0.6,
        "glass": 2.0,
        "ceramic": 1.5,
        "paper": 0.4,
        "shingles": 1.2,
    }
)
"""Edge of one repeating tile of each material, metres."""


@cache
def texture(material: str) -> NDArray[np.uint8]:
    """(256, 256) factors by which the color of a face is multiplied, 128 for 1; opposite edges fit together."""
    if material not in TILE_METRES:
        raise BadArgument(f"A material is one of {', '.join(MATERIALS)}; got {material!r}.")
    factors = np.ones((SIZE, SIZE))
    if material in _PATTERNS:
        factors += _PATTERNS[material](generator(0, "texture", material))
    for _ in range(4):  # clipping moves the mean a little
        factors = np.clip(factors / factors.mean(), 0.05, 255 / UNCHANGED)
    # Rounded first, because the last bit of a mean differs between machines.
    tile = np.floor((UNCHANGED * factors).round(6) + 0.5).astype(np.uint8)
    tile.flags.writeable = False
    return tile


def texture_coordinates(points: ArrayLike, normals: ArrayLike) -> Array:
    """(n, 2) coordinates u, v in metres of points (n, 3) on surfaces with these normals (n, 3), by dominant axis.

    >>> texture_coordinates([[1, 2, 3], [1, 2, 3], [1, 2, 3]], [[0, 0, 1], [-1, 0, 0], [0, 1, 0]]).tolist()
    [[1.0, 2.0], [2.0, 3.0], [1.0, 3.0]]
    """
    places = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    axes = dominant_axes(normals)
    u = np.where(axes == 0, places[:, 1], places[:, 0])
    return np.column_stack([u, np.where(axes == 2, places[:, 1], places[:, 2])])


def dominant_axes(normals: ArrayLike) -> NDArray[np.int64]:
    """(n,) the axis along which each normal (n, 3) is longest; of equal ones z, then x."""
    x, y, z = np.abs(np.asarray(normals, dtype=np.float64).reshape(-1, 3)).T
    return np.where((z >= x) & (z >= y), 2, np.where(x >= y, 0, 1))


# Each pattern below is (SIZE, SIZE) what is added to a factor of 1.


def _wood(rng: np.random.Generator) -> Array:
    """Grain along v: growth rings bent by slow noise, and fine fibers."""
    bent = COLUMNS / SIZE * 13 + 0.8 * value_noise(rng, 4, 2) + 0.3 * value_noise(rng, 16, 4)
    rings = _sawtooth(bent)
    fibers = 0.6 * value_noise(rng, 128, 6) + 0.4 * value_noise(rng, 256, 16)
    return -0.12 * rings**2 + 0.08 * fibers + 0.07 * value_noise(rng, 5, 2)


def _planks(rng: np.random.Generator) -> Array:
    """Boards along v, 15 cm wide and 1.2 m long, each with its own tint and grain."""
    boards, width = 16, SIZE // 16
    column = (COLUMNS // width).astype(int)
    starts = (rng.permutation(boards) * width + rng.integers(0, width, boards))[column]
    along = (ROWS - starts) % SIZE
    half = (along >= SIZE // 2).astype(int)
    tints = rng.uniform(-0.15, 0.15, (2, boards))[half, column]
    # Each board takes its grain from another place of one piece of wood.
    wood = _wood(rng)
    rows, columns = rng.integers(0, SIZE, (2, 2, boards))
    grain = wood[(ROWS.astype(int) + rows[half, column]) % SIZE, (COLUMNS.astype(int) + columns[half, column]) % SIZE]
    gap = np.where(COLUMNS % width < 1, -0.32, 0.0)
    ends = np.where(along % (SIZE // 2) < 1, -0.28, 0.0)
    pattern: Array = tints + 0.8 * grain + np.minimum(gap, ends)
    return pattern


def _tile(rng: np.random.Generator) -> Array:
    """Square tiles of 30 cm with grout between them."""
    side = SIZE // 4
    tints = np.kron(rng.uniform(-0.035, 0.035, (4, 4)), np.ones((side, side)))
    edge = np.minimum(np.minimum(COLUMNS % side, side - COLUMNS % side), np.minimum(ROWS % side, side - ROWS % side))
    glaze = tints + 0.025 * fractal_noise(rng, 6, 6)
    return np.where(edge < 1.1, -0.30 + 0.05 * value_noise(rng, 128, 128), np.where(edge < 2.1, -0.06, 0.02) + glaze)


def _carpet(rng: np.random.Generator) -> Array:
    tufts, _, value = cell_noise(rng, 96, 96)
    return 0.12 * value - 0.16 * tufts + 0.05 * rng.uniform(-1, 1, (SIZE, SIZE)) + 0.05 * fractal_noise(rng, 4, 4)


def _stone(rng: np.random.Generator) -> Array:
    """Clouds and crystals of two sizes."""
    coarse, fine = cell_noise(rng, 60, 60)[2], cell_noise(rng, 120, 120)[2]
    return 0.08 * fractal_noise(rng, 5, 4, 5) + 0.10 * coarse**3 + 0.07 * fine


def _brick(rng: np.random.Generator) -> Array:
    """A running bond of bricks 25 cm x 6 cm with light mortar."""
    row = (ROWS // 16).astype(int)
    x = (COLUMNS + np.where(row % 2 == 1, 32, 0)) % SIZE
    tints = rng.uniform(-0.2, 0.2, (16, 4))[row, (x // 64).astype(int)]
    edge = np.minimum(np.minimum(x % 64, 64 - x % 64), np.minimum(ROWS % 16, 16 - ROWS % 16))
    rough = 0.09 * fractal_noise(rng, 24, 24, 4)
    return np.where(edge < 1.1, 0.24 + 0.06 * value_noise(rng, 128, 128), tints + rough - np.where(edge < 2.1, 0.06, 0))


def _plaster(rng: np.random.Generator) -> Array:
    strokes = value_noise(rng, 24, 40) * value_noise(rng, 5, 5)
    return 0.022 * fractal_noise(rng, 6, 6, 5) + 0.02 * strokes + 0.014 * rng.uniform(-1, 1, (SIZE, SIZE))


def _fabric(rng: np.random.Generator) -> Array:
    """A plain weave: threads over and under each other, of uneven thickness."""
    over = ((COLUMNS // 4).astype(int) + (ROWS // 4).astype(int)) % 2 == 0
    across, along = (_bulge(ROWS / 4 % 1), _bulge(COLUMNS / 4 % 1))
    slubs = np.where(over, value_noise(rng, 12, 64), value_noise(rng, 64, 12))
    return 0.18 * (np.where(over, across, along) - 0.67) + 0.07 * slubs + 0.03 * fractal_noise(rng, 4, 4)


def _leather(rng: np.random.Generator) -> Array:
    first, second, value = cell_noise(rng, 56, 56)
    creases = np.maximum(0, 1 - 4 * (second - first))
    return -0.16 * creases + 0.03 * value + 0.06 * fractal_noise(rng, 3, 3, 4)


def _wallpaper(rng: np.random.Generator) -> Array:
    """Rosettes on a half-drop lattice, fine stems between them, and faint stripes."""
    pattern = np.where((COLUMNS // 16).astype(int) % 2 == 0, 0.012, -0.012)
    for x, y in ((64, 64), (192, 192)):
        pattern = pattern + 0.085 * _rosette(_wrap(COLUMNS - x) / 46, _wrap(ROWS - y) / 62)
    for x, y in ((192, 64), (64, 192)):
        pattern = pattern + 0.06 * _rosette(_wrap(COLUMNS - x) / 22, _wrap(ROWS - y) / 30)
    return pattern + 0.012 * rng.uniform(-1, 1, (SIZE, SIZE))


def _grass(rng: np.random.Generator) -> Array:
    """Blades in many directions, the later ones lighter, over patches."""
    blades = _strokes(rng, 5200, length=11, width=1, spread=0.35)
    return 0.30 * blades + 0.10 * fractal_noise(rng, 3, 3, 3)


def _leaves(rng: np.random.Generator) -> Array:
    leaves = _strokes(rng, 900, length=13, width=6, spread=3.2)
    return 0.36 * leaves + 0.05 * value_noise(rng, 128, 128)


def _gravel(rng: np.random.Generator) -> Array:
    first, second, value = cell_noise(rng, 34, 34)
    gap = np.maximum(0, 1 - 3.5 * (second - first))
    return 0.20 * value - 0.22 * first**2 - 0.28 * gap + 0.06 * value_noise(rng, 128, 128)


def _concrete(rng: np.random.Generator) -> Array:
    pits, _, depth = cell_noise(rng, 48, 48)
    holes = np.where((pits < 0.16) & (depth > 0.3), -0.14, 0.0)
    return 0.05 * fractal_noise(rng, 4, 4, 5) + holes + 0.03 * rng.uniform(-1, 1, (SIZE, SIZE))


def _metal(rng: np.random.Generator) -> Array:
    """Brushed along u."""
    return 0.05 * value_noise(rng, 3, SIZE) + 0.03 * value_noise(rng, 10, 128) + 0.03 * value_noise(rng, 2, 3)


def _glass(rng: np.random.Generator) -> Array:
    return 0.02 * value_noise(rng, 2, 2) + 0.01 * value_noise(rng, 5, 3)


def _ceramic(rng: np.random.Generator) -> Array:
    return 0.02 * value_noise(rng, 3, 3) + 0.01 * value_noise(rng, 9, 9)


def _paper(rng: np.random.Generator) -> Array:
    return 0.025 * fractal_noise(rng, 8, 8, 5) + 0.015 * rng.uniform(-1, 1, (SIZE, SIZE))


def _shingles(rng: np.random.Generator) -> Array:
    """Rows of shingles 15 cm high along v, half a width offset; each row casts a shadow on the one below."""
    row = (ROWS // 32).astype(int)
    x = (COLUMNS + np.where(row % 2 == 1, 21, 0)) % SIZE
    column = np.minimum(x // 42.7, 5).astype(int)
    tints = rng.uniform(-0.14, 0.14, (8, 6))[row, column]
    gap = np.where(x - column * 42.7 < 2, -0.3, 0.0)
    height = ROWS % 32
    shadow = np.where(height > 29, -0.34, 0.0) + 0.10 * (0.5 - height / 32)
    pattern: Array = tints + np.minimum(gap, shadow) + 0.06 * fractal_noise(rng, 64, 16, 3)
    return pattern


_PATTERNS: dict[str, Callable[[np.random.Generator], Array]] = {
    "wood": _wood,
    "planks": _planks,
    "tile": _tile,
    "carpet": _carpet,
    "stone": _stone,
    "brick": _brick,
    "plaster": _plaster,
    "fabric": _fabric,
    "leather": _leather,
    "wallpaper": _wallpaper,
    "grass": _grass,
    "leaves": _leaves,
    "gravel": _gravel,
    "concrete": _concrete,
    "metal": _metal,
    "glass": _glass,
    "ceramic": _ceramic,
    "paper": _paper,
    "shingles": _shingles,
}


def _sawtooth(x: Array) -> Array:
    """A slow rise and a sudden fall once in each unit, smoothed, in [0, 1]."""
    part = x - np.floor(x)
    return np.where(part < 0.85, part / 0.85, (1 - part) / 0.15)


def _bulge(x: Array) -> Array:
    """A parabola over [0, 1] with maximum 1."""
    return 4 * x * (1 - x)


def _wrap(x: Array) -> Array:
    """A distance on the repeating tile, in [-SIZE / 2, SIZE / 2)."""
    return (x + SIZE / 2) % SIZE - SIZE / 2


def _rosette(x: Array, y: Array) -> Array:
    """A flower with eight petals around a center, in about the unit circle; 1 inside, softly 0 outside."""
    squared = np.maximum(x * x + y * y, 1e-9)
    # cos(8 angle) without an angle: the real part of (x + iy) ** 8 over the radius.
    double = (x * x - y * y) / squared
    quadruple = 2 * double * double - 1
    petals = 2 * quadruple * quadruple - 1
    radius = np.sqrt(squared)
    outer = np.clip((0.72 + 0.24 * petals - radius) * 9, 0, 1)
    inner = np.clip((0.44 + 0.10 * petals - radius) * 9, 0, 1)
    return outer - 0.9 * inner + np.clip((0.2 - radius) * 12, 0, 1)


def _strokes(rng: np.random.Generator, count: int, *, length: int, width: int, spread: float) -> Array:
    """(SIZE, SIZE) short strokes over each other in [-1, 1], the later ones lighter, each lighter on one side."""
    canvas = np.full((SIZE, SIZE), -1.0)
    places = rng.uniform(0, SIZE, (count, 2))
    leans = rng.uniform(-spread, spread, count)
    tints = np.linspace(-0.7, 0.8, count) + rng.uniform(-0.25, 0.25, count)
    steps = np.linspace(-1, 1, 2 * length + 1)
    sides = np.linspace(-1, 1, 2 * width + 1)
    along, aside = (grid.ravel() for grid in np.meshgrid(steps, sides, indexing="ij"))
    inside = np.abs(aside) <= 1.0001 - along * along if width > 1 else np.full(along.shape, True)
    along, aside = along[inside], aside[inside]
    for (x, y), lean, tint in zip(places, leans, tints, strict=True):
        # The direction (2t, 1 - tt) / (1 + tt) is on the unit circle for every t.
        cosine, sine = (1 - lean * lean) / (1 + lean * lean), 2 * lean / (1 + lean * lean)
        down = y + 0.5 * (length * along * cosine + width * aside * sine)
        across = x + 0.5 * (length * along * -sine + width * aside * cosine)
        canvas[down.astype(int) % SIZE, across.astype(int) % SIZE] = tint + 0.2 * aside
    return canvas
