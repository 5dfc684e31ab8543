"""Scenes from above, a panel for each storey or scene: houses of Hearth, navigation graphs, meshes.

Needs the extra `figures`. Make panels with `house_panels`, `graph_panels` and `surface_panels`; `draw_panels` draws
them at one scale into one file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from itinera.reports.charts.datasets import COLORS, figure_file
from itinera.reports.charts.floor_plans import draw_shape
from itinera.reports.replay.scene_map import StoreyLevels
from itinera.reports.storeys import WALL, draw_storey
from itinera.worlds import Array, NavGraph, World
from itinera.worlds.surface import Surface

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

    from itinera.hearth.build import House
    from itinera.rendering.rasterizer import Rasterizer

MARGIN = 0.6  # metres around a scene
LARGEST_PANEL, LARGEST_PAGE = 5.0, 24.0  # inches
MAX_PIXELS = 1000  # on a side of a rendered storey
CUT = 1.9  # metres above the floor at which a building is cut open
BELOW = 0.3  # metres below the floor that are rendered, for steps and sunken floors
WALL_THICKNESS = 0.15  # metres: gaps of this width beside what is rendered are drawn as walls
WALKABLE, CUT_OFF = (0.1, 0.75, 0.45, 0.3), (0.85, 0.2, 0.0, 0.5)  # red, green, blue, opacity
UNEVEN = 2.5  # if the largest scene is so many times the median one, each gets its own scale


@dataclass(frozen=True)
class ViewImage:
    """A picture file, and what it shows."""

    file: Path
    kind: str  # "house", "season", "map", "scenes" or "graphs"
    names: tuple[str, ...]  # ids of what is drawn
    counts: Mapping[str, float]  # sizes by name, such as rooms
    summary: str  # names and sizes as text

    def __str__(self) -> str:
        return f"{self.file}: {self.summary}."


@dataclass(frozen=True, eq=False)
class ScenePanel:
    """A part of a picture: its title, the area it shows, and the function that draws it."""

    title: str
    low: Array  # (2,) metres
    high: Array  # (2,) metres
    draw: Callable[[Axes, float], None]  # gets the axes and the scale, inches per metre
    legend: Mapping[str, tuple[float, float, float, float]] = field(default_factory=dict)  # colors by meaning


def draw_panels(panels: Sequence[ScenePanel], path: str | Path) -> None:
    """Draw panels in rows, at one scale, or each at its own if their sizes are very different; with scale bars."""
    sizes = np.array([panel.high - panel.low for panel in panels]) + 2 * MARGIN
    uneven = sizes.max() > UNEVEN * np.median(sizes.max(axis=1))
    boxes = (
        np.repeat(sizes.max(axis=1, keepdims=True), 2, axis=1)
        if uneven
        else np.tile(sizes.max(axis=0), (len(sizes), 1))
    )
    aspect = boxes[0, 1] / boxes[0, 0]
    columns = min(len(panels), max(1, round(math.sqrt(1.3 * len(panels) * aspect))))
    rows = math.ceil(len(panels) / columns)
    # Inches: the width and height of a panel, the title above it, the legend below all.
    wide = min(LARGEST_PANEL / max(1.0, aspect), LARGEST_PAGE / columns, LARGEST_PAGE / (rows * aspect))
    tall, head, foot = wide * aspect, 0.22, 0.3 if panels[0].legend else 0.0
    height = rows * (tall + head) + foot
    with figure_file(path, width=columns * wide, height=height) as figure:
        figure.set_layout_engine("none")
        for k, (panel, box) in enumerate(zip(panels, boxes, strict=True)):
            row, column = divmod(k, columns)
            bottom = height - (row + 1) * (tall + head)
            ax = figure.add_axes((column / columns, bottom / height, 1 / columns, tall / height))
            low = (panel.low + panel.high - box) / 2
            ax.set(xlim=(low[0], low[0] + box[0]), ylim=(low[1], low[1] + box[1]), aspect="equal")
            ax.set_axis_off()
            ax.set_title(panel.title, fontsize=min(9.0, 1.2 * 72 * wide / max(12, len(panel.title))), pad=3)
            panel.draw(ax, wide / box[0])
            if k == 0 or uneven:
                _draw_scale_bar(ax, panel.low, box[0])
        if panels[0].legend:
            figure.legend(handles=_swatches(panels[0].legend), loc="lower left", ncols=2)


def house_panels(house: House) -> list[ScenePanel]:
    """The storeys of a house with their rooms and furniture."""
    corners = np.concatenate([room.outline for room in house.plan.rooms])

    def panel(storey: int) -> ScenePanel:
        def draw(ax: Axes, scale: float) -> None:
            for order, shape in enumerate(draw_storey(house, storey)):
                draw_shape(ax, shape, order, scale=scale)

        title = house.id if storey == 0 else f"{house.id}, storey {storey + 1}"
        return ScenePanel(title, corners.min(axis=0), corners.max(axis=0), draw)

    return [panel(storey) for storey in range(house.plan.storeys)]


def graph_panels(world: World, *, together: bool = False) -> list[ScenePanel]:
    """The storeys of a navigation graph; `together` in one panel, with a color for each."""
    graph = world.space
    assert isinstance(graph, NavGraph)
    levels = StoreyLevels.of(world, None, graph.positions)
    storeys = levels.at(graph.positions[:, 2])
    corners = graph.positions[:, :2] if len(graph.nodes) else np.zeros((1, 2))
    low, high = corners.min(axis=0), corners.max(axis=0)

    def panel(title: str, shown: Sequence[int]) -> ScenePanel:
        return ScenePanel(title, low, high, lambda ax, scale: _draw_storeys(ax, graph, storeys, shown, scale))

    every = range(len(levels.heights))
    if together or len(every) == 1:
        return [panel(world.id, every)]
    return [panel(f"{world.id}, storey {k + 1}" if k else world.id, [k]) for k in every]


def _draw_storeys(ax: Axes, graph: NavGraph, storeys: NDArray[np.int64], shown: Iterable[int], scale: float) -> None:
    from matplotlib.collections import LineCollection

    for storey in shown:
        color, here = COLORS[storey % len(COLORS)], storeys == storey
        edges = graph.edges[here[graph.edges].any(axis=1)]
        width = min(1.2, 8 * scale)
        lines = list(graph.positions[edges][..., :2])
        ax.add_collection(LineCollection(lines, colors=color, lw=width, alpha=0.55, zorder=2))
        ax.plot(*graph.positions[here, :2].T, "o", color=color, ms=min(5.0, 30 * scale), mew=0, zorder=3)


def surface_panels(world: World) -> list[ScenePanel]:
    """The storeys of a mesh, cut open below the ceiling, with the ground on which the robot can be."""
    from itinera.rendering.rasterizer import Rasterizer

    assert isinstance(world.space, Surface)
    assert world.mesh is not None
    surface, rasterizer = world.space, Rasterizer(world.mesh)
    levels = StoreyLevels.of(world, None, np.empty((0, 3)))
    vertices = world.mesh.vertices.astype(np.float64)
    low, high = vertices[:, :2].min(axis=0), vertices[:, :2].max(axis=0)

    def panel(storey: int) -> ScenePanel:
        def draw(ax: Axes, scale: float) -> None:
            _draw_cut(ax, rasterizer, low, high, float(levels.heights[storey]))
            _draw_ground(ax, surface, levels, storey)

        title = world.id if storey == 0 else f"{world.id}, storey {storey + 1}"
        legend = {"a robot can be here": WALKABLE, "here too, but not connected to the rest": CUT_OFF}
        return ScenePanel(title, low, high, draw, legend)

    return [panel(storey) for storey in range(len(levels.heights))]


def _draw_cut(ax: Axes, rasterizer: Rasterizer, low: Array, high: Array, floor: float) -> None:
    """Draw what is between the floor and the height of the cut, from above."""
    pixel = max(0.02, float((high - low).max()) / MAX_PIXELS)
    bounds = (*(low - MARGIN), *(high + MARGIN))
    frame = rasterizer.render_top_down(
        bounds, low=floor - BELOW, high=floor + CUT, pixel=pixel, channels=("rgb", "depth")
    )
    solid = np.isfinite(frame.depth)
    # Walls are cut, and nothing is visible inside them: narrow gaps beside what is visible.
    walls = ndimage.distance_transform_edt(~solid) * pixel <= WALL_THICKNESS
    picture = np.where(walls[..., None], np.array([0x3B, 0x3A, 0x38], dtype=np.uint8), np.uint8(255))
    picture[solid] = frame.rgb[solid]
    rows, columns = solid.shape
    x0, y1 = bounds[0], bounds[3]
    extent = (x0, x0 + columns * pixel, y1 - rows * pixel, y1)
    ax.imshow(picture, extent=extent, interpolation="nearest", aspect="auto", zorder=1)


def _draw_ground(ax: Axes, surface: Surface, levels: StoreyLevels, storey: int) -> None:
    """Tint the cells of a storey in which the robot can be; those cut off from the largest part differently."""
    ground = surface.ground
    # The top of a table is navigable too, but is not part of the floor.
    near = np.abs(ground.heights - levels.heights[storey]) < levels.reach
    here = (levels.at(ground.heights) == storey) & (near | (ground.islands == 0))
    tint = np.zeros((*ground.shape[::-1], 4))
    i, j = ground.columns[here].T
    tint[j, i] = np.where(ground.islands[here, None] == 0, WALKABLE, CUT_OFF)
    x, y = ground.origin
    wide, tall = np.array(ground.shape) * ground.size
    ax.imshow(tint, origin="lower", extent=(x, x + wide, y, y + tall), interpolation="nearest", aspect="auto", zorder=2)


def _swatches(legend: Mapping[str, tuple[float, float, float, float]]) -> list[Patch]:
    from matplotlib.patches import Patch

    return [Patch(facecolor=color, edgecolor="#8a8782", label=label) for label, color in legend.items()]


def _draw_scale_bar(ax: Axes, low: Array, wide: float) -> None:
    """Draw a scale bar, about a quarter of the panel long, below what is drawn."""
    metres = max(k for k in (1, 2, 5, 10, 20, 50, 100) if k == 1 or k <= wide / 4)
    x, y = float(low[0]), float(low[1]) - 0.6 * MARGIN
    ax.plot([x, x + metres], [y, y], color=WALL, lw=1.6, solid_capstyle="butt", zorder=12)
    ax.text(x + 1.03 * metres, y, f"{metres} m", va="center", fontsize=7, color=WALL, zorder=12)
