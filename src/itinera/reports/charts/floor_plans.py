"""A house as a picture: its floor plan, a panel for each storey, and what one sees inside.

Needs the extra `figures`. What is drawn of a storey, `storeys.py` tells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, MissingExtra
from itinera.formats.io import atomic_write
from itinera.reports.storeys import WALL, RoomName, Shape, floors_of, names_of, shapes_of
from itinera.worlds import Array, NavGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from itinera.hearth.build import House

ENDING = ".png"
SCALE = 0.42  # inches on the page for a metre of the house
MARGIN = 0.6  # metres around a storey
SEA = "#1d5fa8"  # of the navigation graph
PATHS = ("#d1242f", "#8250df", "#0b7a55", "#bf5b04")
SMALLEST, LARGEST = 5.5, 9.5  # points of type


def draw_plan(
    house: House, path: str | Path, *, graph: NavGraph | None = None, ways: Sequence[Sequence[str]] = ()
) -> None:
    """The floor plan of a house: rooms with their names, walls, doors, windows, stairs and furniture.

    A panel for each storey, to one scale. `graph` adds viewpoints and edges, `ways` paths of viewpoints through it.
    """
    if ways and graph is None:
        raise BadArgument("Paths are drawn through viewpoints: give the navigation graph with them.")
    path = check_picture(path)
    figure, axes = _page(house)
    floors = floors_of(house.plan).tolist()
    for storey, ax in enumerate(axes):
        above = floors[storey + 1] if storey + 1 < len(floors) else math.inf
        for order, shape in enumerate(shapes_of(house, storey)):
            _draw_shape(ax, shape, order)
        if graph is not None:
            _draw_graph(ax, graph, floors[storey], above, ways)
        _draw_names(ax, names_of(house.plan, storey))
    _draw_scale(axes[0])
    _save(figure, path)


def draw_views(pictures: Sequence[NDArray[np.uint8]], path: str | Path) -> None:
    """First-person pictures, (height, width, 3) each, side by side in one image file."""
    path = check_picture(path)
    from matplotlib.image import imsave

    gap = np.full((pictures[0].shape[0], 4, 3), 255, dtype=np.uint8)
    strip = [piece for picture in pictures for piece in (picture, gap)][:-1]
    with atomic_write(path) as stream:
        imsave(cast(BinaryIO, stream), np.concatenate(strip, axis=1), format="png", metadata={"Software": ""})


def check_picture(path: str | Path) -> Path:
    """The path, if a picture can be written there and there is a package to draw it with."""
    path = Path(path)
    if path.suffix != ENDING:
        raise BadArgument(f"A picture's name ends in {ENDING}, not {path.suffix or 'nothing'!r}: {path}.")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtra("Pictures", "matplotlib", "figures") from None
    return path


def _page(house: House) -> tuple[Figure, list[Axes]]:
    """A figure in which every storey has its place, one beside the other, so that they can be laid over each other."""
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


def _points(metres: float) -> float:
    """How wide a line of so many metres is drawn."""
    return metres * SCALE * 72


def _draw_shape(ax: Axes, shape: Shape, order: int) -> None:
    """A shape above those of lower order; all of them are below the graph."""
    from matplotlib.collections import LineCollection, PolyCollection

    # One after another within a storey, yet below what comes later.
    above = 1 + order / 1e5
    if shape.fill:
        edge = {"edgecolors": shape.line, "lw": _points(shape.width)} if shape.line else {"lw": 0.0}
        ax.add_collection(PolyCollection(list(shape.outlines), facecolors=shape.fill, zorder=above, **edge))
    else:
        style = {"colors": shape.line, "lw": _points(shape.width), "capstyle": "butt", "joinstyle": "miter"}
        ax.add_collection(LineCollection(list(shape.outlines), zorder=above, **style))


def _draw_graph(ax: Axes, graph: NavGraph, floor: float, above: float, ways: Sequence[Sequence[str]]) -> None:
    """What of the graph belongs to a storey: edges that have an end between its floor and the next."""
    # Eyes are some 1.5 m above the floor they belong to.
    heights = graph.positions[:, 2]
    inside = (heights > floor + 0.5) & (heights < above + 0.5)
    for a, b in graph.edges:
        if inside[a] or inside[b]:
            ax.plot(*graph.positions[[a, b], :2].T, color=SEA, lw=0.8, alpha=0.55, zorder=7)
    ax.plot(*graph.positions[inside, :2].T, "o", color=SEA, ms=3.0, zorder=8)
    for number, way in enumerate(ways):
        _draw_way(ax, graph.positions[graph.locate(way)], floor, above, PATHS[number % len(PATHS)])


def _draw_way(ax: Axes, places: Array, floor: float, above: float, colour: str) -> None:
    inside = (places[:, 2] > floor + 0.5) & (places[:, 2] < above + 0.5)
    for a, b in zip(range(len(places) - 1), range(1, len(places)), strict=True):
        if inside[a] or inside[b]:
            ax.plot(*places[[a, b], :2].T, color=colour, lw=2.4, solid_capstyle="round", zorder=9)
    if inside[0]:
        ax.plot(*places[0, :2], "o", color="white", markeredgecolor=colour, mew=1.8, ms=7, zorder=10)
    if inside[-1]:
        ax.plot(*places[-1, :2], "*", color=colour, markeredgecolor="white", mew=0.8, ms=13, zorder=10)


def _draw_names(ax: Axes, names: Sequence[RoomName]) -> None:
    from matplotlib.patheffects import withStroke

    for name in names:
        (x, y), words, wide, tall = name.at.tolist(), name.text, name.wide, name.tall
        upright = tall > 1.5 * wide and _fitting(words, wide) < LARGEST
        ax.text(
            x, y, words, ha="center", va="center", fontsize=_fitting(words, tall if upright else wide), color="#20201e",
            rotation=90 if upright else 0, path_effects=[withStroke(linewidth=2.2, foreground="white", alpha=0.85)],
            zorder=11,
        )  # fmt: skip


def _fitting(words: str, metres: float) -> float:
    """The size of type, in points, at which words fit into so many metres."""
    return min(max(_points(metres) / (0.62 * len(words)), SMALLEST), LARGEST)


def _draw_scale(ax: Axes) -> None:
    """A bar of five metres at the foot of the page."""
    x, y = ax.get_xlim()[0] + MARGIN, ax.get_ylim()[0] + 0.22
    ax.plot([x, x + 5], [y, y], color=WALL, lw=1.6, solid_capstyle="butt", zorder=12)
    for k in (0, 1, 5):
        ax.plot([x + k, x + k], [y - 0.08, y + 0.08], color=WALL, lw=1.0, zorder=12)
    ax.text(x + 5.15, y, "5 m", va="center", fontsize=7, color=WALL, zorder=12)


def _save(figure: Figure, path: Path) -> None:
    with atomic_write(path) as stream:
        # The version of the library is left out, so that equal pictures are equal files.
        figure.savefig(stream, format="png", dpi=160, facecolor="white", metadata={"Software": None})
