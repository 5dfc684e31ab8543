"""A house as a picture: its floor plan, a panel for each storey, and what one sees inside.

Needs the extra `figures`. Furniture is drawn as it looks from above, from the faces of the mesh that point up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, MissingExtra
from itinera.formats.files import atomic_write
from itinera.houses.plan import OUTSIDE, Flight, Passage, Plan, PlannedRoom, Window
from itinera.worlds import Array, NavGraph
from itinera.worlds.labels import ROOM_NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from itinera.houses.build import House

ENDING = ".png"
SCALE = 0.42  # inches on the page for a metre of the house
MARGIN = 0.6  # metres around a storey
WALL = "#3b3a38"
SEA = "#1d5fa8"  # of the navigation graph
PATHS = ("#d1242f", "#8250df", "#0b7a55", "#bf5b04")
TINTS = {
    **dict.fromkeys("eh", "#efe6d6"),  # ways through
    **dict.fromkeys("s", "#e3d9c6"),
    **dict.fromkeys("lfnvrB", "#f6e7c1"),  # to sit together
    **dict.fromkeys("kd", "#f7d9c4"),  # to eat
    **dict.fromkeys("b", "#d9e4f2"),  # to sleep
    **dict.fromkeys("oi", "#dcebd3"),  # to work
    **dict.fromkeys("atS", "#cfe8ea"),  # to wash
    **dict.fromkeys("w", "#e6dbef"),
}
PLAIN = "#e4e4e2"  # closets, stores, garages
NAMES = {  # where Matterport's own are long or odd
    "e": "entry",
    "f": "family room",
    "j": "laundry",
    "r": "games room",
    "u": "utility room",
    "v": "TV room",
    "w": "gym",
    "S": "spa",
}
SMALLEST, LARGEST = 5.5, 9.5  # points of type
UNDRAWN = ("door", "window", "stairs", "railing", "curtain")  # the plan itself shows them
LOW, HIGH = 0.02, 1.95  # metres above the floor between which things are drawn
FLAT = 0.3  # how far up a face must point to be seen from above


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
    floors = [min(room.floor for room in house.plan.rooms if room.storey == k) for k in range(house.plan.storeys)]
    for storey, ax in enumerate(axes):
        rooms = [room for room in house.plan.rooms if room.storey == storey]
        above = floors[storey + 1] if storey + 1 < len(floors) else math.inf
        _draw_rooms(ax, rooms)
        _draw_holes(ax, house.plan, rooms)
        _draw_flights(ax, [f for f in house.plan.flights if {f.rooms[0], f.rooms[1]} & {room.index for room in rooms}])
        _draw_things(ax, house, rooms)
        if graph is not None:
            _draw_graph(ax, graph, floors[storey], above, ways)
        _draw_names(ax, rooms)
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


def _draw_rooms(ax: Axes, rooms: Sequence[PlannedRoom]) -> None:
    from matplotlib.patches import Polygon

    for room in rooms:
        # A thick dark line around every room: where rooms meet, the lines fill the wall between them.
        ax.add_patch(Polygon(room.outline, fill=False, edgecolor=WALL, lw=_points(0.3), joinstyle="miter", zorder=1))
    for room in rooms:
        ax.add_patch(Polygon(room.outline, facecolor=TINTS.get(room.kind, PLAIN), lw=0, zorder=2))


def _draw_holes(ax: Axes, plan: Plan, rooms: Sequence[PlannedRoom]) -> None:
    here = {room.index for room in rooms}
    for passage in plan.passages:
        if here.intersection(passage.rooms):
            _draw_passage(ax, plan, passage)
    for window in plan.windows:
        if window.room in here:
            _draw_window(ax, window)


def _draw_passage(ax: Axes, plan: Plan, passage: Passage) -> None:
    from matplotlib.patches import Polygon

    normal, along = passage.normal, np.array([-passage.normal[1], passage.normal[0]])
    shut = OUTSIDE in passage.rooms
    first = next(i for i in passage.rooms if i != OUTSIDE)
    across, half = normal * (passage.depth / 2 + 0.02), along * passage.width / 2
    corners = [passage.centre + a * across + b * half for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    tint = "#a9743f" if shut else TINTS.get(plan.rooms[first].kind, PLAIN)
    ax.add_patch(Polygon(corners, facecolor=tint, lw=0, zorder=3))
    if not passage.wide and not shut:
        # Two thin lines across the threshold tell a door from an opening.
        for side in (-1, 1):
            line = np.stack([passage.centre + side * across - half, passage.centre + side * across + half])
            ax.plot(*line.T, color="#a9743f", lw=1.0, zorder=3, solid_capstyle="butt")


def _draw_window(ax: Axes, window: Window) -> None:
    along = np.array([-window.normal[1], window.normal[0]]) * window.width / 2
    middle = window.centre + window.normal * 0.07
    line = np.stack([middle - along, middle + along])
    ax.plot(*line.T, color="#ffffff", lw=_points(0.12), zorder=3, solid_capstyle="butt")
    ax.plot(*line.T, color="#6fb1d6", lw=_points(0.05), zorder=3, solid_capstyle="butt")


def _draw_flights(ax: Axes, flights: Sequence[Flight]) -> None:
    for flight in flights:
        run = (flight.head - flight.foot)[:2]
        aside = np.array([-run[1], run[0]]) / np.linalg.norm(run) * flight.width / 2
        for k in range(flight.steps + 1):
            at = flight.foot[:2] + run * k / flight.steps
            ax.plot(*np.stack([at - aside, at + aside]).T, color="#8a7f6d", lw=0.7, zorder=4)
        arrow = {"arrowstyle": "->", "color": "#8a7f6d", "lw": 1.0}
        (x, y, _), (to_x, to_y, _) = flight.foot.tolist(), flight.head.tolist()
        ax.annotate("", (to_x, to_y), (x, y), arrowprops=arrow, zorder=4)


def _draw_things(ax: Axes, house: House, rooms: Sequence[PlannedRoom]) -> None:
    """The upward faces of what stands on this storey, the lower ones first."""
    from matplotlib.collections import PolyCollection

    mesh, floor = house.mesh, min(room.floor for room in rooms)
    here = {room.index for room in rooms}
    shown = np.zeros(len(house.items) + 1, dtype=bool)
    for item in house.items:
        shown[item.index] = item.room in here and item.category not in (
            "door",
            "window",
            "stairs",
            "railing",
            "curtain",
        )
    corners = mesh.corners.astype(np.float64)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    steep = normals[:, 2] / np.maximum(np.linalg.norm(normals, axis=1), 1e-12)
    top = corners[:, :, 2].max(axis=1) - floor
    kept = np.flatnonzero(shown[mesh.instances] & (steep > FLAT) & (top > LOW - 0.02) & (top < HIGH))
    kept = kept[np.argsort(top[kept], kind="stable")]
    # Higher faces are lit more, so that a table stands out from the rug below it.
    light = np.clip(0.82 + 0.16 * top[kept] / HIGH, 0.0, 1.0)[:, None] * (0.7 + 0.3 * steep[kept])[:, None]
    paint = mesh.colours[kept] / 255 * light
    ax.add_collection(PolyCollection(list(corners[kept, :, :2]), facecolors=paint, edgecolors=paint, lw=0.3, zorder=5))


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


def _draw_names(ax: Axes, rooms: Sequence[PlannedRoom]) -> None:
    from matplotlib.patheffects import withStroke

    for room in rooms:
        (x, y), wide, tall = _freest(room.outline)
        words = NAMES.get(room.kind, ROOM_NAMES[room.kind])
        upright = tall > 1.5 * wide and _fitting(words, wide) < LARGEST
        ax.text(
            x, y, words, ha="center", va="center", fontsize=_fitting(words, tall if upright else wide), color="#20201e",
            rotation=90 if upright else 0, path_effects=[withStroke(linewidth=2.2, foreground="white", alpha=0.85)],
            zorder=11,
        )  # fmt: skip


def _fitting(words: str, metres: float) -> float:
    """The size of type, in points, at which words fit into so many metres."""
    return min(max(_points(metres) / (0.62 * len(words)), SMALLEST), LARGEST)


def _freest(outline: Array) -> tuple[Array, float, float]:
    """The point of a polygon farthest from its sides, and how wide and tall the polygon is there."""
    low, high = outline.min(axis=0), outline.max(axis=0)
    grid = np.stack(np.meshgrid(*(np.linspace(a, b, 41)[1:-1] for a, b in zip(low, high, strict=True))), axis=-1)
    points = grid.reshape(-1, 2)
    starts, ends = outline, np.roll(outline, -1, axis=0)
    sides = ends - starts
    off = points[:, None] - starts
    along = np.clip((off * sides).sum(axis=2) / (sides**2).sum(axis=1), 0.0, 1.0)
    away = np.linalg.norm(off - along[..., None] * sides, axis=2).min(axis=1)
    inside = _inside(outline, points)
    # Of points equally far from the sides, as in a corridor, the one nearest the middle.
    middle = np.linalg.norm(points - (low + high) / 2, axis=1)
    best = points[np.argmax(np.where(inside, away.round(2) - 0.001 * middle, -1.0))]
    rows, columns = (points[:, 1] == best[1]) & inside, (points[:, 0] == best[0]) & inside
    return best, float(np.ptp(points[rows, 0])), float(np.ptp(points[columns, 1]))


def _inside(outline: Array, points: Array) -> NDArray[np.bool_]:
    from matplotlib.path import Path as Outline

    found: NDArray[np.bool_] = Outline(outline).contains_points(points)
    return found


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
