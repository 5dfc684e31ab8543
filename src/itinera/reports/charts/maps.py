"""An occupancy grid as a picture in the map's frame, with marked positions. Needs the extra `figures`.

Start with `draw_map`. Large maps are reduced so that thin walls stay visible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itinera.reports.charts.datasets import COLORS, figure_file
from itinera.worlds import Array
from itinera.worlds.grid import Grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_CELLS = 1600  # drawn on a side; about the pixels of the picture
LONG_SIDE = 8.0  # inches
LEGEND_COLUMN = 2.7  # inches that the longest entry of a legend takes
FREE, OTHER_REGION, UNKNOWN, TOO_CLOSE, BLOCKED = range(5)  # where several cells share a pixel, the last one wins
LAYERS = (
    ("#ffffff", "free"),
    ("#c9dff2", "free, not connected to the rest"),
    ("#b9b6b0", "unknown"),
    ("#e7ddc9", "too close for the robot"),
    ("#33312e", "obstacle"),
)


@dataclass(frozen=True, eq=False)
class MapMark:
    """A position marked on a map, such as the start of a drive."""

    name: str  # as in the legend
    point: Array  # (2,) metres, in the map's frame
    symbol: str = "o"
    heading: float | None = None  # radians, drawn as an arrow
    nearest: Array | None = None  # (2,) a free point near it, joined to it by a line


def draw_map(
    grid: Grid,
    path: str | Path,
    *,
    title: str = "",
    radius: float = 0.0,
    unknown: NDArray[np.bool_] | None = None,
    marks: Sequence[MapMark] = (),
    component: int | None = None,
    unit: str = "metres",
) -> None:
    """Draw a map with axes in metres of its frame, and the marks, which may be outside it.

    radius: of a robot; cells where its center may not be are shaded. `component` of its free cells counts as connected,
    by default the largest.
    unknown: (rows, columns) blocked cells about which nothing is known.
    unit: of the axes, for a map without a scale.
    """
    low, high = _window(grid, [mark.point for mark in marks])
    layers = classify_cells(grid, radius=radius, unknown=unknown, component=component)
    width, height = LONG_SIDE * (high - low) / (high - low).max()
    with figure_file(path, width=max(width, 3.4) + 0.7, height=max(height, 2.0) + 0.9) as figure:
        ax = figure.add_subplot()
        draw_layers(ax, layers, grid)
        for number, mark in enumerate(marks):
            _draw_mark(ax, _move_inside(mark, low, high), COLORS[1 - number % 2], float((high - low).max()))
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xlabel=f"x, {unit}", ylabel=f"y, {unit}")
        ax.set_title(title)
        ax.grid(visible=False)
        ax.set_facecolor("#f4f4f2")
        columns = max(1, int(figure.get_figwidth() / LEGEND_COLUMN))
        handles = [*_swatches(layers), *ax.get_legend_handles_labels()[0]]
        figure.legend(handles=handles, loc="outside lower center", ncols=columns)


def classify_cells(
    grid: Grid, *, radius: float = 0.0, unknown: NDArray[np.bool_] | None = None, component: int | None = None
) -> NDArray[np.uint8]:
    """(rows, columns) the layer of each cell, as an index of LAYERS."""
    labels = grid.components(radius)
    sizes = np.bincount(labels.ravel())
    sizes[0] = 0
    connected = component or int(np.argmax(sizes))
    layers = np.full(grid.blocked.shape, OTHER_REGION, dtype=np.uint8)
    layers[labels == connected] = FREE
    layers[labels == 0] = TOO_CLOSE
    layers[grid.blocked] = BLOCKED
    if unknown is not None:
        layers[unknown & grid.blocked] = UNKNOWN
    return layers


def draw_layers(ax: Axes, layers: NDArray[np.uint8], grid: Grid) -> None:
    """Draw classified cells where the grid lies in the map's frame."""
    from matplotlib.colors import to_rgb
    from matplotlib.transforms import Affine2D

    reduced, step = _reduce(layers)
    picture = np.array([to_rgb(color) for color, _ in LAYERS])[reduced]
    rows, columns = np.array(reduced.shape) * step * grid.resolution
    image = ax.imshow(picture, origin="lower", extent=(0.0, columns, 0.0, rows), interpolation="nearest")
    x, y = grid.origin
    image.set_transform(Affine2D().rotate(grid.rotation).translate(x, y) + ax.transData)


def _reduce(layers: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], int]:
    """The layers of a large map in squares of so many cells, each with the last of its layers."""
    step = math.ceil(max(layers.shape) / MAX_CELLS)
    if step == 1:
        return layers, 1
    rows, columns = (math.ceil(size / step) for size in layers.shape)
    padded = np.zeros((rows * step, columns * step), dtype=np.uint8)
    padded[: layers.shape[0], : layers.shape[1]] = layers
    return padded.reshape(rows, step, columns, step).max(axis=(1, 3)), step


def _swatches(layers: NDArray[np.uint8]) -> list[Any]:
    """Legend entries of the layers that occur."""
    from matplotlib.patches import Patch

    return [Patch(facecolor=LAYERS[k][0], edgecolor="#8a8782", label=LAYERS[k][1]) for k in np.unique(layers)]


def _window(grid: Grid, points: Sequence[Array]) -> tuple[Array, Array]:
    """The corners of the area drawn: the map, and points outside that are at most half its size away."""
    low, high = grid.bounds
    size = float((high - low).max())
    for point in points:
        if (point > low - size / 2).all() and (point < high + size / 2).all():
            low, high = np.minimum(low, point), np.maximum(high, point)
    margin = 0.03 * float((high - low).max())
    return low - margin, high + margin


def _move_inside(mark: MapMark, low: Array, high: Array) -> MapMark:
    """The mark, or one at the edge of the picture in its place."""
    border = 0.01 * (high - low)
    point = np.clip(mark.point, low + border, high - border)
    if np.array_equal(point, mark.point):
        return mark
    return replace(mark, point=point, name=f"{mark.name}, beyond the picture", heading=None)


def _draw_mark(ax: Axes, mark: MapMark, color: str, size: float) -> None:
    x, y = mark.point.tolist()
    size_points = 13 if mark.symbol == "*" else 9  # a star looks smaller
    ax.plot(
        [x],
        [y],
        mark.symbol,
        color=color,
        markeredgecolor="white",
        mew=0.8,
        ms=size_points,
        zorder=6,
        label=mark.name,
        ls="",
    )
    if mark.heading is not None:
        ahead = 0.05 * size * np.array([math.cos(mark.heading), math.sin(mark.heading)])
        ax.annotate(
            "", (x + ahead[0], y + ahead[1]), (x, y), arrowprops={"arrowstyle": "->", "color": color, "lw": 1.6}
        )
    if mark.nearest is not None:
        near_x, near_y = mark.nearest.tolist()
        ax.plot([x, near_x], [y, near_y], ":", color=color, lw=1.2, zorder=5)
        label = f"nearest free point: ({near_x:g}, {near_y:g})"
        ax.plot(
            [near_x],
            [near_y],
            mark.symbol,
            color="white",
            markeredgecolor=color,
            mew=1.4,
            ms=0.8 * size_points,
            zorder=6,
            label=label,
            ls="",
        )
