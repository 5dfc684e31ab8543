"""Figures of drives on a map: the floor, the time to the goal from every cell, and the drives of several robots.

Needs the extra `figures`. After figures 1, 4 and 8 of Success Weighted by Completion Time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from itinera.reports.charts.datasets import COLORS, DASHES, figure_file
from itinera.worlds import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Circle

MARGIN = 0.5  # metres around the drives, at least
MAX_ARROWS = 14  # headings drawn along a drive
FREE, WALL, TOO_CLOSE = "#ffffff", "#33312e", "#d9d5ce"


@dataclass(frozen=True, eq=False)
class DrawnDrive:
    """A drive and its name in the legend."""

    name: str
    path: Array  # (n, 4) x, y, heading, seconds; in the frame of the floor's origin


@dataclass(frozen=True, eq=False)
class Floor:
    """The map below the drives."""

    blocked: NDArray[np.bool_]  # (rows, columns)
    allowed: NDArray[np.bool_]  # (rows, columns) cells the robot's center may be in
    resolution: float  # metres
    origin: tuple[float, float] = (0.0, 0.0)  # metres, the lower corner of cell (0, 0)
    seconds: Array | None = None  # (rows, columns) to the goal from each cell at its best heading; inf: unreachable
    tree: Array | None = None  # (n, 2, 2) edges of an RRT* tree


def draw_drives(
    floor: Floor, drives: Sequence[DrawnDrive], goal: Array, goal_radius: float, path: str | Path, *, title: str = ""
) -> None:
    """Draw the floor, the time field or the tree, and the drives with their headings."""
    places = np.concatenate([drive.path[:, :2] for drive in drives] + [np.atleast_2d(goal)])
    low, high = _window(floor, places)
    wide, tall = 7.0 * (high - low) / (high - low).max()
    start = drives[0].path[0]
    with figure_file(path, width=wide + 1.8, height=tall + 1.3) as figure:
        ax = figure.add_subplot()
        _draw_floor(ax, floor)
        for k, drive in enumerate(drives):
            _draw_drive(ax, drive, k)
        ax.plot(start[0], start[1], "o", color="black", markersize=6, zorder=6)
        ax.plot(goal[0], goal[1], "*", color="black", markersize=11, zorder=6)
        if goal_radius:
            ax.add_patch(_circle(goal, goal_radius))
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xlabel="metres", title=title)
        ax.grid(visible=False)
        figure.legend(loc="outside lower center", ncols=1)


def _window(floor: Floor, places: Array) -> tuple[Array, Array]:
    """The lower and upper corner of the area drawn: the drives and their surroundings, within the map."""
    origin = np.array(floor.origin)
    size = np.array(floor.blocked.shape[::-1]) * floor.resolution
    low, high = places.min(axis=0), places.max(axis=0)
    around = max(MARGIN, 0.35 * float((high - low).max()))
    return np.maximum(low - around, origin), np.minimum(high + around, origin + size)


def _draw_floor(ax: Axes, floor: Floor) -> None:
    from matplotlib.colors import to_rgb

    rows, columns = floor.blocked.shape
    x, y = floor.origin
    extent = (x, x + columns * floor.resolution, y, y + rows * floor.resolution)
    picture = np.empty((rows, columns, 3))
    picture[:] = to_rgb(FREE)
    picture[~floor.allowed] = to_rgb(TOO_CLOSE)
    picture[floor.blocked] = to_rgb(WALL)
    ax.imshow(picture, origin="lower", extent=extent, interpolation="nearest")
    if floor.seconds is not None:
        known = np.ma.masked_invalid(np.where(floor.allowed, floor.seconds, np.nan))
        shown = ax.imshow(known, origin="lower", extent=extent, cmap="YlGnBu_r", alpha=0.55, interpolation="nearest")
        ax.figure.colorbar(shown, ax=ax, label="seconds to the goal, at the best heading", shrink=0.7)
    if floor.tree is not None:
        from matplotlib.collections import LineCollection

        ax.add_collection(LineCollection(list(floor.tree), colors="#9aa5b1", linewidths=0.4, zorder=2))


def _draw_drive(ax: Axes, drive: DrawnDrive, number: int) -> None:
    color, dashes = COLORS[number % len(COLORS)], DASHES[number % len(DASHES)]
    x, y, heading = drive.path[:, 0], drive.path[:, 1], drive.path[:, 2]
    ax.plot(x, y, color=color, linestyle=dashes, linewidth=2.0, label=drive.name, zorder=4)
    some = np.unique(np.linspace(0, len(x) - 1, min(MAX_ARROWS, len(x))).astype(int))
    ax.quiver(
        x[some], y[some], np.cos(heading[some]), np.sin(heading[some]),
        color=color, angles="xy", units="inches", scale_units="inches", scale=5.0, width=0.025, zorder=5,
    )  # fmt: skip


def _circle(goal: Array, radius: float) -> Circle:
    from matplotlib.patches import Circle

    return Circle((float(goal[0]), float(goal[1])), radius, fill=False, color="black", linewidth=1.0, zorder=6)
