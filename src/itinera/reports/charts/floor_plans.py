"""A Hearth house as an image: its floor plan with a panel per storey, or views of its rooms.

Needs the extra `figures`. The shapes of a storey come from `reports/storeys.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, MissingExtra
from itinera.formats.writing import atomic_write
from itinera.reports.charts.datasets import STYLE
from itinera.reports.storeys import WALL, RoomLabel, Shape, draw_storey, floor_heights, label_rooms
from itinera.worlds import Array, NavGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from itinera.hearth.build import House

SCALE = 0.42  # inches on the page for a metre of the house
MARGIN = 0.6  # metres around a storey
GRAPH_COLOR = "#1d5fa8"
PATH_COLORS = ("#d1242f", "#8250df", "#0b7a55", "#bf5b04")
MIN_FONT, MAX_FONT = 5.5, 9.5  # points


def draw_plan(
    house: House, path: str | Path, *, graph: NavGraph | None = None, paths: Sequence[Sequence[str]] = ()
) -> None:
    """Draw the floor plan of a house: rooms with their names, walls, doors, windows, stairs and furniture.

    A panel per storey, at one scale. `graph` adds viewpoints and edges, `paths` sequences of viewpoints.
    """
    if paths and graph is None:
        raise BadArgument("Paths are sequences of viewpoints: give the navigation graph with them.")
    path = check_image_path(path)
    figure, axes = _page(house)
    floors = floor_heights(house.plan).tolist()
    for storey, ax in enumerate(axes):
        above = floors[storey + 1] if storey + 1 < len(floors) else math.inf
        for order, shape in enumerate(draw_storey(house, storey)):
            draw_shape(ax, shape, order)
        if graph is not None:
            _draw_graph(ax, graph, floors[storey], above, paths)
        _draw_labels(ax, label_rooms(house.plan, storey))
    _draw_scale(axes[0])
    _save(figure, path)


def draw_views(views: Sequence[NDArray[np.uint8]], path: str | Path) -> None:
    """Write first-person views, (height, width, 3) each, side by side into one image file."""
    path = check_image_path(path, suffixes=(".png",))
    from matplotlib.image import imsave

    gap = np.full((views[0].shape[0], 4, 3), 255, dtype=np.uint8)
    strip = [piece for view in views for piece in (view, gap)][:-1]
    with atomic_write(path) as stream:
        imsave(cast(BinaryIO, stream), np.concatenate(strip, axis=1), format="png", metadata={"Software": ""})


def check_image_path(path: str | Path, *, suffixes: Sequence[str] = (".png", ".svg")) -> Path:
    """The path, if it ends in one of these suffixes and matplotlib is installed."""
    path = Path(path)
    if path.suffix not in suffixes:
        ending = " or ".join(suffixes)
        raise BadArgument(f"The name of an image ends in {ending}, not {path.suffix or 'nothing'!r}: {path}.")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtra("Floor plans", "matplotlib", "figures") from None
    return path


def _page(house: House) -> tuple[Figure, list[Axes]]:
    """A figure with the storeys side by side, all with the same limits."""
    from matplotlib.figure import Figure

    corners = np.concatenate([room.outline for room in house.plan.rooms])
    low, high = corners.min(axis=0) - MARGIN, corners.max(axis=0) + MARGIN
    (width, height), count = (high - low) * SCALE, house.plan.storeys
    head = 0.35  # inches for titles
    figure = Figure(figsize=(width * count, height + head))
    axes = []
    for storey in range(count):
        ax = figure.add_axes((storey / count, 0.0, 1 / count, height / (height + head)))
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
        ax.set_axis_off()
        title = house.id if storey == 0 else f"storey {storey + 1}"
        ax.set_title(title, fontsize=10, color=WALL, loc="left", x=MARGIN / (high - low)[0])
        axes.append(ax)
    return figure, axes


def _points(metres: float, scale: float = SCALE) -> float:
    """The line width of so many metres, at a scale in inches per metre."""
    return metres * scale * 72


def draw_shape(ax: Axes, shape: Shape, order: int, *, scale: float = SCALE) -> None:
    """Draw a shape above those of lower order and below the graph; `scale` is inches per metre."""
    from matplotlib.collections import LineCollection, PolyCollection

    # In order within a storey, yet below everything drawn later.
    above = 1 + order / 1e5
    if shape.fill:
        edge = {"edgecolors": shape.line, "lw": _points(shape.width, scale)} if shape.line else {"lw": 0.0}
        ax.add_collection(PolyCollection(list(shape.outlines), facecolors=shape.fill, zorder=above, **edge))
    else:
        style = {"colors": shape.line, "lw": _points(shape.width, scale), "capstyle": "butt", "joinstyle": "miter"}
        ax.add_collection(LineCollection(list(shape.outlines), zorder=above, **style))


def _draw_graph(ax: Axes, graph: NavGraph, floor: float, above: float, paths: Sequence[Sequence[str]]) -> None:
    """Draw the part of the graph on a storey: edges with an end between its floor and the next."""
    # Viewpoints are about 1.5 m above their floor.
    heights = graph.positions[:, 2]
    inside = (heights > floor + 0.5) & (heights < above + 0.5)
    for a, b in graph.edges:
        if inside[a] or inside[b]:
            ax.plot(*graph.positions[[a, b], :2].T, color=GRAPH_COLOR, lw=0.8, alpha=0.55, zorder=7)
    ax.plot(*graph.positions[inside, :2].T, "o", color=GRAPH_COLOR, ms=3.0, zorder=8)
    for number, path in enumerate(paths):
        _draw_path(ax, graph.positions[graph.locate(path)], floor, above, PATH_COLORS[number % len(PATH_COLORS)])


def _draw_path(ax: Axes, places: Array, floor: float, above: float, color: str) -> None:
    inside = (places[:, 2] > floor + 0.5) & (places[:, 2] < above + 0.5)
    for a, b in zip(range(len(places) - 1), range(1, len(places)), strict=True):
        if inside[a] or inside[b]:
            ax.plot(*places[[a, b], :2].T, color=color, lw=2.4, solid_capstyle="round", zorder=9)
    if inside[0]:
        ax.plot(*places[0, :2], "o", color="white", markeredgecolor=color, mew=1.8, ms=7, zorder=10)
    if inside[-1]:
        ax.plot(*places[-1, :2], "*", color=color, markeredgecolor="white", mew=0.8, ms=13, zorder=10)


def _draw_labels(ax: Axes, labels: Sequence[RoomLabel]) -> None:
    from matplotlib.patheffects import withStroke

    for label in labels:
        (x, y), words, wide, tall = label.position.tolist(), label.text, label.width, label.height
        upright = tall > 1.5 * wide and _font_size(words, wide) < MAX_FONT
        ax.text(
            x, y, words, ha="center", va="center", fontsize=_font_size(words, tall if upright else wide),
            color="#20201e", rotation=90 if upright else 0,
            path_effects=[withStroke(linewidth=2.2, foreground="white", alpha=0.85)],
            zorder=11,
        )  # fmt: skip


def _font_size(words: str, metres: float) -> float:
    """The font size in points at which the words fit into so many metres."""
    return min(max(_points(metres) / (0.62 * len(words)), MIN_FONT), MAX_FONT)


def _draw_scale(ax: Axes) -> None:
    """Draw a scale bar of five metres at the bottom."""
    x, y = ax.get_xlim()[0] + MARGIN, ax.get_ylim()[0] + 0.22
    ax.plot([x, x + 5], [y, y], color=WALL, lw=1.6, solid_capstyle="butt", zorder=12)
    for k in (0, 1, 5):
        ax.plot([x + k, x + k], [y - 0.08, y + 0.08], color=WALL, lw=1.0, zorder=12)
    ax.text(x + 5.15, y, "5 m", va="center", fontsize=7, color=WALL, zorder=12)


def _save(figure: Figure, path: Path) -> None:
    from matplotlib import rc_context

    # Without the version of the library and the date, equal images are equal files.
    metadata = {"Software": None} if path.suffix == ".png" else {"Date": None, "Creator": None}
    with rc_context(STYLE), atomic_write(path) as stream:
        figure.savefig(stream, format=path.suffix[1:], dpi=160, facecolor="white", metadata=metadata)
