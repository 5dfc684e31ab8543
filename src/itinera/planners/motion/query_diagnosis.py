"""Why a robot cannot drive from a start to a goal on a map, and the nearest points between which it can.

Start with `diagnose_query`. It searches the whole map, so it is called only after a query has failed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from itinera.errors import BadArgument
from itinera.worlds import Array
from itinera.worlds.grid import Grid

Reason = Literal[
    "outside the map", "inside an obstacle", "in an unknown area", "too close to an obstacle", "unreachable"
]
_BISECTIONS = 8  # steps of the search for a radius that fits
_TIE = 1e-9  # cells; up to rounding, as in `Grid.free_cells`
_LARGE = 0.1  # of the largest connected component; smaller ones are specks in which no drive is of interest


@dataclass(frozen=True, eq=False)
class QueryEnd:
    """The start or the goal of a query on a map."""

    name: str  # "start" or "goal"
    point: Array  # (2,) metres, in the map's frame
    reason: Reason | None  # what is wrong with it; None if the robot can be there
    detail: str = ""  # the reason as part of a sentence, with figures
    nearest: Array | None = None  # (2,) metres: the nearest free point that is connected to the other end

    def __str__(self) -> str:
        x, y = np.round(self.point, 4) + 0.0  # no -0
        text = f"the {self.name}, ({x:g}, {y:g}): it is {self.detail}."
        if self.nearest is not None:
            near_x, near_y = self.nearest.tolist()
            away = float(np.linalg.norm(self.nearest - self.point))
            text += f" The nearest free point is ({near_x:g}, {near_y:g}), {away:.2f} m away."
        return text


@dataclass(frozen=True, eq=False)
class QueryDiagnosis:
    """Both ends of a query that has no answer, and the map around them."""

    start: QueryEnd
    goal: QueryEnd
    radius: float  # metres, of the robot
    extent: str  # the part of the plane that the map covers, as a sentence
    advice: str = ""  # what would help, as a sentence

    def __str__(self) -> str:
        lines = []
        for end in (self.start, self.goal):
            if end.reason == "unreachable":
                lines.append(f"A robot of radius {self.radius:g} m cannot reach {end}")
            elif end.reason is not None:
                lines.append(f"A robot of radius {self.radius:g} m cannot be at {end}")
        return "\n".join([*lines, " ".join(part for part in (self.extent, self.advice) if part)])


class InfeasibleQuery(BadArgument):
    """The robot cannot be at the start or at the goal; `diagnosis` says why, and where it could be."""

    def __init__(self, diagnosis: QueryDiagnosis) -> None:
        self.diagnosis = diagnosis
        super().__init__(str(diagnosis))


def diagnose_query(
    grid: Grid,
    start: ArrayLike,
    goal: ArrayLike,
    *,
    radius: float,
    goal_radius: float = 0.0,
    unknown: NDArray[np.bool_] | None = None,
) -> QueryDiagnosis:
    """What is wrong with a query from (x, y, …) to (x, y), metres in the map's frame.

    unknown: (rows, columns) cells that are blocked because nothing is known about them, to tell them from obstacles.
    """
    points = np.array([np.asarray(end, dtype=np.float64)[:2] for end in (start, goal)])
    labels = grid.components(radius)
    at = grid.component_at(points, radius)
    found = [
        None if at[k] or (k == 1 and goal_radius > 0) else _explain(grid, points[k], radius, unknown) for k in range(2)
    ]
    if not labels.any():
        advice = "The robot fits nowhere on this map: use a smaller radius."
        ends = [_end(k, points[k], found[k], None) for k in range(2)]
        return QueryDiagnosis(ends[0], ends[1], radius, _describe_extent(grid, radius), advice)
    component = _choose_component(grid, labels, points, at)
    nearest = [_nearest_free(grid, labels, component, point) for point in points]
    advice = "Choose other points or a smaller radius."
    if found == [None, None]:
        found[1], advice = _explain_unreachable(grid, labels, at, points, radius, goal_radius)
    ends = [_end(k, points[k], found[k], nearest[k]) for k in range(2)]
    return QueryDiagnosis(ends[0], ends[1], radius, _describe_extent(grid, radius), advice)


def _end(k: int, point: Array, found: tuple[Reason, str] | None, nearest: Array | None) -> QueryEnd:
    name = ("start", "goal")[k]
    return QueryEnd(name, point, None) if found is None else QueryEnd(name, point, *found, nearest)


def _explain(grid: Grid, point: Array, radius: float, unknown: NDArray[np.bool_] | None) -> tuple[Reason, str]:
    """Why a robot cannot be at a point."""
    local, size = grid.to_local(point), np.array(grid.size)
    beyond = np.maximum(np.maximum(-local, local - size), 0.0)
    if beyond.any():
        return "outside the map", f"outside the map, by {np.linalg.norm(beyond):.2f} m"
    j, i = (min(int(local[axis] / grid.resolution), grid.blocked.shape[1 - axis] - 1) for axis in (1, 0))
    if unknown is not None and unknown[j, i]:
        return "in an unknown area", "in an unknown area, which counts as an obstacle"
    if grid.blocked[j, i]:
        return "inside an obstacle", "inside an obstacle"
    apart = _clearance(grid, local)
    return "too close to an obstacle", f"only {apart:.2f} m from an obstacle or from the border of the map"


def _clearance(grid: Grid, local: Array) -> float:
    """Metres from a point inside the grid to the nearest blocked cell or border."""
    border = float(min(local.min(), (np.array(grid.size) - local).min()))
    rows, columns = np.nonzero(grid.blocked)
    if not len(rows):
        return border
    low = np.column_stack([columns, rows]) * grid.resolution
    beside = np.maximum(np.maximum(low - local, local - low - grid.resolution), 0.0)
    return min(border, float(np.sqrt((beside**2).sum(axis=1).min())))


def _choose_component(grid: Grid, labels: NDArray[np.int32], points: Array, at: NDArray[np.int32]) -> int:
    """The component in which to look for free points: that of an end that is free, or a large one near both."""
    for component in at:
        if component:
            return int(component)
    sizes = np.bincount(labels.ravel())
    sizes[0] = 0
    j, i = np.nonzero((sizes >= _LARGE * sizes.max())[labels])
    centers = np.column_stack([i, j]) * grid.resolution + grid.resolution / 2
    away = np.full((2, int(labels.max()) + 1), np.inf)
    for k, point in enumerate(grid.to_local(points)):
        np.minimum.at(away[k], labels[j, i], np.linalg.norm(centers - point, axis=1))
    return int(np.argmin(away.sum(axis=0)))


def _nearest_free(grid: Grid, labels: NDArray[np.int32], component: int, point: Array) -> Array:
    """(2,) the center of the free cell of a component that is nearest to a point, in the map's frame.

    It is rounded, for people to type, and stays in its cell.
    """
    j, i = np.nonzero(labels == component)
    centers = np.column_stack([i, j]) * grid.resolution + grid.resolution / 2
    best = int(np.argmin(((centers - grid.to_local(point)) ** 2).sum(axis=1)))
    digits = max(2, math.ceil(-math.log10(0.7 * grid.resolution)))
    return np.round(grid.to_map(centers[best]), digits)


def _explain_unreachable(
    grid: Grid, labels: NDArray[np.int32], at: NDArray[np.int32], points: Array, radius: float, goal_radius: float
) -> tuple[tuple[Reason, str], str]:
    """Why a goal cannot be reached from a start where the robot can be, and what would help."""
    if not at[1]:
        return ("unreachable", f"blocked, and no point within {goal_radius:g} m of it is connected to the start"), (
            "Choose another goal or a larger goal radius."
        )
    areas = np.bincount(labels.ravel())[at] * grid.resolution**2
    detail = f"in a region of {areas[1]:.1f} m² that is not connected to that of the start, of {areas[0]:.1f} m²"
    fits = _largest_passing_radius(grid, points, radius)
    if fits is None:
        return ("unreachable", detail), "Obstacles separate the two for a robot of any size."
    return ("unreachable", detail), f"A robot of radius {fits:.2f} m or less gets from one to the other."


def _largest_passing_radius(grid: Grid, points: Array, radius: float) -> float | None:
    """The largest radius, rounded down to centimetres, at which two points are connected; None if there is none."""
    apart = ndimage.distance_transform_edt(np.pad(~grid.blocked, 1))[1:-1, 1:-1]
    i, j = (grid.to_local(points) / grid.resolution).astype(np.int64).T

    def connects(candidate: float) -> bool:
        labels = ndimage.label(apart >= candidate / grid.resolution + 0.5 - _TIE)[0][j, i]
        return bool(labels[0] and labels[0] == labels[1])

    if not connects(0.0):
        return None
    low, high = 0.0, radius
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if connects(middle) else (low, middle)
    rounded = round(low, 2)
    return rounded if connects(rounded) else math.floor(100 * low) / 100


def _describe_extent(grid: Grid, radius: float) -> str:
    """The extent of the map and the area that is free for the robot."""
    (x0, y0), (x1, y1) = grid.bounds
    rotated = f" (rotated by {np.degrees(grid.rotation):g}°)" if grid.rotation else ""
    free = int(np.count_nonzero(grid.components(radius))) * grid.resolution**2
    return (
        f"The map covers x from {x0:.2f} to {x1:.2f} m and y from {y0:.2f} to {y1:.2f} m{rotated}; "
        f"{free:.1f} m² of it are free for this robot."
    )
