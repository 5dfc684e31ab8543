"""Baked light on the texels of charts: daylight through windows, the sun, lamps, reflected light, ambient occlusion.

`bake_light` finds the sources in the mesh: the panes of windows (class window, material glass) and the lamps (objects
of class lighting). Rays run through voxels, so that a house takes about a second. Light that surfaces reflect diffuses
from cell to cell through open space, through doors but not through walls.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from itinera.rendering import _light_kernels as kernels
from itinera.rendering._light_kernels import BLOCK, EMPTY, PANE, SOLID
from itinera.rendering.charts import SPACING, U_AXES, V_AXES, Charts, chart_offsets, make_charts, texel_positions
from itinera.rendering.emitters import Lamps, find_lamps, is_pane, sample_panes
from itinera.worlds.labels import MPCAT40
from itinera.worlds.mesh import Mesh
from itinera.worlds.space import Array

VOXEL = 0.085  # metres
MAX_VOXELS = 24_000_000  # larger scenes get larger voxels
TRANSPARENT = ("window", "lighting", "curtain", "blinds")  # classes that cast no shadow
INSET = 0.1  # metres; texels closer to the border of a chart, or outside it, must be in view of its inside
REFLECTANCE = 0.62  # share of the light that an average surface reflects
CONDUCTION = 1.1  # of light between neighboring cells, against their loss on a full wall
SWEEPS = 50
SMOOTHINGS = 2
GAMMA = 1 / 2.2


@dataclass(frozen=True)
class Mood:
    """Colors and strengths of the light sources, and how bright the picture is exposed."""

    sky: tuple[float, float, float]
    sun: tuple[float, float, float]
    sun_direction: tuple[float, float, float]  # towards the sun, of any length; (0, 0, 0) for none
    lamp: tuple[float, float, float]
    exposure: float  # light on the median surface after exposure
    glow: float  # brightness of lampshades
    lamps_by_day: bool = False  # lamps are off where a window or the sky lights the room
    fill: float = 0.0  # light that reaches every place, as a share of the light on the median surface


MOOD_LIGHT: Mapping[str, Mood] = MappingProxyType(
    {
        "day": Mood(
            (1.0, 1.03, 1.08),
            (5.2, 4.7, 3.9),
            (-0.45, -0.62, 0.72),
            (0.08, 0.073, 0.062),
            0.40,
            1.0,
            lamps_by_day=True,
            fill=0.09,
        ),
        "evening": Mood(
            (0.9, 0.72, 0.78), (3.2, 1.5, 0.55), (0.8, -0.55, 0.2), (0.30, 0.21, 0.12), 0.27, 1.15, fill=0.05
        ),
        "lamps": Mood((0.004, 0.005, 0.009), (0, 0, 0), (0, 0, 0), (1.0, 0.77, 0.50), 0.22, 1.3, fill=0.05),
    }
)
DAYLIT = 0.03  # steradians of windows in view of a lamp that is off by day
SKY_STRENGTH, LAMP_STRENGTH = 1.0, 0.9  # of a window in front of one, and of a lamp a metre away


@dataclass(frozen=True, eq=False)
class Lightmap:
    """The light on the surfaces of a mesh."""

    charts: Charts
    texels: Array  # (n, 4) red, green and blue factors of a surface's color; the fourth is padding
    outdoors: NDArray[np.bool_]  # (f,) whether a face sees the sky; of panes only


def even_light(mesh: Mesh, normals: Array) -> Lightmap:
    """The same light everywhere, a little brighter from above: one texel for each face."""
    count = len(mesh.faces)
    nowhere, one = np.zeros((count, 2)), np.ones((count, 2), dtype=np.int64)
    numbers = np.arange(count)
    charts = Charts(
        numbers,
        normals,
        np.zeros(count, np.int64),
        np.zeros((count, 4)),
        numbers,
        one,
        nowhere,
        nowhere,
        np.ones(count),
        SPACING,
    )
    light = (0.82 + normals @ (0.03, 0.02, 0.065)).round(6)
    return Lightmap(charts, _pad(np.repeat(light[:, None], 3, axis=1), charts), np.zeros(count, dtype=bool))


def bake_light(mesh: Mesh, normals: Array, mood: str) -> Lightmap:
    """The light of a mood on a mesh whose faces have these normals (f, 3)."""
    charts = make_charts(mesh, normals)
    if not len(charts.starts):
        return Lightmap(charts, np.zeros((4, 4)), np.zeros(0, dtype=bool))
    voxels = _Voxels.around(mesh)
    outdoors = _find_outdoors(mesh, normals, voxels)
    windows = _sample_windows(mesh, normals, outdoors, voxels)
    lamps = find_lamps(mesh)
    if MOOD_LIGHT[mood].lamps_by_day:
        lamps = lamps.select(_are_dark(voxels.enter(lamps.positions), windows, voxels))
    texels = _Texels.of_charts(mesh, charts)
    light, starts = _gather(windows, lamps, charts, texels, voxels, MOOD_LIGHT[mood])
    direct = _color(light, MOOD_LIGHT[mood])
    bounced = _bounce(mesh, charts, texels, direct, starts, voxels)
    openness, known = 0.25 + 0.75 * light[:, [kernels.AMBIENT]], np.isfinite(starts[:, 0])
    total = direct + bounced * openness
    total += MOOD_LIGHT[mood].fill * _median_light(total, known, charts, texels.owners) * openness
    for _ in range(SMOOTHINGS):
        smoother = np.empty_like(total)
        kernels.smooth(charts.starts, charts.sizes, known, total, smoother)
        total = smoother
    kernels.fill_gaps(charts.starts, charts.sizes, known, total, 12)
    _fill_hidden(texels, voxels, known, total)
    shown = _expose(total, known, charts, texels.owners, MOOD_LIGHT[mood].exposure)
    _light_lampshades(mesh, lamps, charts, MOOD_LIGHT[mood], shown)
    return Lightmap(charts, _pad(shown, charts), outdoors)


@dataclass(frozen=True, eq=False)
class _Voxels:
    """The voxels of a mesh."""

    origin: Array  # (3,) metres
    size: float  # metres along an edge
    grid: NDArray[np.uint8]  # (x, y, z) EMPTY, SOLID or PANE

    @classmethod
    def around(cls, mesh: Mesh) -> _Voxels:
        low, high = mesh.vertices.min(axis=0).astype(np.float64), mesh.vertices.max(axis=0).astype(np.float64)
        volume = float(np.prod(high - low + 6 * VOXEL))
        size = round(VOXEL * max(1.0, (volume / VOXEL**3 / MAX_VOXELS) ** (1 / 3)), 4)
        origin = low - 3 * size
        shape = (np.ceil((high - origin) / size + 3) / BLOCK).astype(int) * BLOCK + BLOCK
        grid = np.zeros(shape, dtype=np.uint8)
        kinds = np.full(len(mesh.faces), SOLID, dtype=np.uint8)
        kinds[np.isin(mesh.classes, [MPCAT40.index(name) for name in TRANSPARENT])] = EMPTY
        kinds[is_pane(mesh)] = PANE
        kernels.voxelize((mesh.corners - origin) / size, kinds, grid)
        return cls(origin, size, grid)

    @property
    def cells(self) -> tuple[int, ...]:
        """The number of cells of BLOCK voxels along x, y, z."""
        return tuple(side // BLOCK for side in self.grid.shape)

    def enter(self, points: Array) -> Array:
        """Points (…, 3) in voxels instead of metres."""
        return np.ascontiguousarray((points - self.origin) / self.size)


@dataclass(frozen=True, eq=False)
class _Texels:
    owners: NDArray[np.int64]  # (n,) chart of each texel
    points: Array  # (n, 3) metres
    anchors: Array  # (n, 3) the same, moved into the chart

    @classmethod
    def of_charts(cls, mesh: Mesh, charts: Charts) -> _Texels:
        offsets = chart_offsets(charts, mesh)
        owners, points = texel_positions(charts, offsets)
        return cls(owners, points, _anchors(charts, offsets, owners, points))


def _anchors(charts: Charts, offsets: Array, owners: NDArray[np.int64], points: Array) -> Array:
    """(n, 3) the texels, moved at least INSET inside their chart."""
    low, high = charts.bounds[:, :2], charts.bounds[:, 2:]
    inset = np.minimum(INSET, 0.5 * (high - low))
    moved, rows = points.copy(), np.arange(len(points))
    for k, table in enumerate((U_AXES, V_AXES)):
        axis = table[charts.axes[owners]]
        moved[rows, axis] = np.clip(points[rows, axis], (low + inset)[owners, k], (high - inset)[owners, k])
    axis, normals = charts.axes[owners], charts.normals[owners]
    moved[rows, axis] = 0.0
    moved[rows, axis] = (offsets[owners] - np.einsum("ni,ni->n", normals, moved)) / normals[rows, axis]
    still = np.abs(moved - points).max(axis=1) < 1e-6
    moved[still] = points[still]
    return moved


def _find_outdoors(mesh: Mesh, normals: Array, voxels: _Voxels) -> NDArray[np.bool_]:
    """(f,) whether the front of a pane sees the sky."""
    panes = np.flatnonzero(is_pane(mesh))
    outdoors = np.zeros(len(mesh.faces), dtype=bool)
    before = mesh.corners[panes].mean(axis=1) + 4 * voxels.size * normals[panes]
    outdoors[panes] = kernels.escaping_rays(voxels.enter(before), _dome()[:, :3].copy(), voxels.grid) >= 2
    return outdoors


def _sample_windows(mesh: Mesh, normals: Array, outdoors: NDArray[np.bool_], voxels: _Voxels) -> Array:
    """(w, 7) the position, normal and area of points on the inside of panes, in voxels."""
    centers, facing, areas = sample_panes(mesh, normals, is_pane(mesh) & ~outdoors)
    return np.column_stack([voxels.enter(centers), facing, areas / voxels.size**2])


def _are_dark(points: Array, windows: Array, voxels: _Voxels) -> NDArray[np.bool_]:
    """(n,) whether neither windows (w, 7) nor the sky light the points (n, 3), which are in voxels."""
    windowless = kernels.window_light(points, windows, voxels.grid) < DAYLIT
    below = points - (0.0, 0.0, 3.0)  # a bulb may be in the voxels of the ceiling
    indoors: NDArray[np.bool_] = kernels.escaping_rays(below, _dome()[:, :3].copy(), voxels.grid) < 2
    return windowless & indoors


def _gather(
    windows: Array, lamps: Lamps, charts: Charts, texels: _Texels, voxels: _Voxels, mood: Mood
) -> tuple[Array, Array]:
    """(n, 5) the light on each texel by source, and (n, 3) the voxel coordinates where its rays started."""
    points = np.column_stack([voxels.enter(lamps.positions), lamps.strengths / voxels.size**2])
    sun = np.array(mood.sun_direction, dtype=np.float64)
    sun /= max(math.sqrt(float(sun @ sun)), 1e-9)
    light, starts = np.zeros((len(texels.points), 5)), np.zeros((len(texels.points), 3))
    kernels.gather_light(
        voxels.enter(texels.points), texels.owners, voxels.enter(texels.anchors), _frames(charts.normals),
        _hemisphere(), _dome(), sun, windows, points, voxels.grid, np.zeros(voxels.cells, np.uint8), light, starts,
    )  # fmt: skip
    return light, starts


def _color(light: Array, mood: Mood) -> Array:
    """(n, 3) direct light of all sources in their colors."""
    sky = SKY_STRENGTH * light[:, [kernels.SKY]] + light[:, [kernels.WINDOWS]] / math.pi
    lamps = LAMP_STRENGTH * light[:, [kernels.LAMPS]]
    colored: Array = sky * mood.sky + light[:, [kernels.SUN]] * mood.sun + lamps * mood.lamp
    return colored


def _bounce(mesh: Mesh, charts: Charts, texels: _Texels, direct: Array, starts: Array, voxels: _Voxels) -> Array:
    """(n, 3) light reflected by surfaces, once or many times."""
    shape = voxels.cells
    known = np.isfinite(starts[:, 0])
    cells = np.zeros(len(starts), dtype=np.int64)
    places = np.clip((starts[known] / BLOCK).astype(np.int64), 0, np.array(shape) - 1)
    cells[known] = np.ravel_multi_index(tuple(places.T), shape)
    counts = np.bincount(texels.owners[known], minlength=len(charts.starts))
    areas = (charts.areas / np.maximum(counts, 1))[texels.owners] * known
    colors = _chart_colors(mesh, charts)[texels.owners]
    size = math.prod(shape)
    losses = np.bincount(cells, areas * (1 - REFLECTANCE), minlength=size).reshape(shape).astype(np.float64)
    sources = np.zeros((*shape, 3))
    for k in range(3):
        sources[..., k] = np.bincount(cells, areas * colors[:, k] * direct[:, k], minlength=size).reshape(shape)
    shares, glow = np.zeros((3, *shape)), np.zeros((*shape, 3))
    kernels.open_shares(voxels.grid, shares)
    conduction = CONDUCTION * (BLOCK * voxels.size) ** 2
    # Whatever reaches the border of the grid is lost.
    for axis in range(3):
        ends = [slice(None)] * 3
        for end in (0, -1):
            ends[axis] = slice(end, end + 1 or None)
            losses[tuple(ends)] += conduction
    kernels.diffuse(sources, losses, shares, conduction, SWEEPS, glow)
    bounced = np.zeros((len(starts), 3))
    kernels.sample_glow(starts, glow, voxels.grid, bounced)
    return bounced


def _fill_hidden(texels: _Texels, voxels: _Voxels, known: NDArray[np.bool_], total: Array) -> None:
    """total <- charts too close to others for rays get a share of the mean light of their cell, or of all."""
    size = math.prod(voxels.cells)
    places = np.clip((voxels.enter(texels.points) / BLOCK).astype(np.int64), 0, np.array(voxels.cells) - 1)
    cells = np.ravel_multi_index(tuple(places.T), voxels.cells)
    counts = np.bincount(cells[known], minlength=size)
    hidden = ~known
    for channel in range(3):
        sums = np.bincount(cells[known], total[known, channel], minlength=size)
        everywhere = float(sums.sum() / max(counts.sum(), 1))
        means = np.where(counts > 0, sums / np.maximum(counts, 1), 0.5 * everywhere)
        total[hidden, channel] = 0.7 * means[cells[hidden]]


def _chart_colors(mesh: Mesh, charts: Charts) -> Array:
    """(c, 3) the share of the light that each chart reflects, halfway between its color and a gray."""
    colors = np.empty((len(charts.starts), 3))
    colors[charts.faces] = (mesh.colors / 255.0) ** 2  # about linear light
    return 0.5 * colors + 0.5 * REFLECTANCE


def _median_light(total: Array, known: NDArray[np.bool_], charts: Charts, owners: NDArray[np.int64]) -> float:
    """The luminance of the median texel."""
    large = known & (charts.scales[owners] > 0).all(axis=1)
    chosen = total[large if large.any() else slice(None)]
    return float(np.median(chosen @ (0.3, 0.59, 0.11)).round(9)) if len(chosen) else 1.0


def _expose(
    total: Array, known: NDArray[np.bool_], charts: Charts, owners: NDArray[np.int64], exposure: float
) -> Array:
    """(n, 3) light as factors of the colors of a picture: the median surface is as bright as the exposure says."""
    middle = _median_light(total, known, charts, owners)
    factors = np.maximum(total * (exposure / max(middle, 1e-6)), 0.004) ** GAMMA
    over = np.maximum(factors - 0.8, 0.0)
    # Bright light is compressed, so that a patch of sun keeps the texture of the floor.
    exposed: Array = np.minimum(factors, 0.8) + over / (1 + over / 0.38)
    return exposed.round(4)


def _light_lampshades(mesh: Mesh, lamps: Lamps, charts: Charts, mood: Mood, shown: Array) -> None:
    """shown <- the faces around the bulb of a lamp that is switched on, bright by themselves."""
    faces = lamps.glowing_faces
    color = (np.array(mood.lamp) / max(mood.lamp)) ** GAMMA
    for chart in np.unique(charts.faces[faces]).tolist():
        start, (width, height) = int(charts.starts[chart]), charts.sizes[chart].tolist()
        shown[start : start + width * height] = mood.glow * color


def _pad(texels: Array, charts: Charts) -> Array:
    """Texels with a fourth column, and rows that interpolation at the end may read."""
    padded = np.zeros((len(texels) + int(charts.sizes[:, 0].max(initial=1)) + 2, 4))
    padded[: len(texels), :3] = texels
    return padded


def _frames(normals: Array) -> Array:
    """(c, 3, 3) each normal and two directions perpendicular to it and to each other."""
    x, y, z = normals.T
    # Duff et al. 2017, Building an Orthonormal Basis, Revisited.
    sign = np.where(z >= 0, 1.0, -1.0)
    a = -1.0 / (sign + z)
    b = x * y * a
    first = np.column_stack([1 + sign * x * x * a, sign * b, -sign * x])
    second = np.column_stack([b, sign + y * y * a, -y])
    return np.stack([normals, first, second], axis=1).round(12)


def _hemisphere() -> Array:
    """(12, 3) directions around +z, spread as light on a surface is: more of them steep."""
    return _spread_directions(12, lowest=0.12)


def _dome() -> Array:
    """(12, 4) directions to the sky and their weights, which sum to 1 on the ground."""
    directions = _spread_directions(12, lowest=0.15)
    weights = np.full(len(directions), 1 / directions[:, 2].sum())
    return np.column_stack([directions, weights])


def _spread_directions(count: int, lowest: float) -> Array:
    """(count, 3) unit vectors upwards: heights evenly between the lowest and 1, turned by the golden angle."""
    heights = lowest + (1 - lowest) * (np.arange(count) + 0.5) / count
    turns = np.arange(count) * (math.pi * (3 - math.sqrt(5)))
    flat = np.sqrt(1 - heights * heights)
    # Rounded, because the last bit of a sine differs between machines.
    return np.column_stack([flat * np.cos(turns), flat * np.sin(turns), heights]).round(9)
