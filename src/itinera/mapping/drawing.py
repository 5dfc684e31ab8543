"""Pictures of maps: what an agent holds, in its own frame or from above. `rendering.png` writes them to files."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itinera.errors import BadArgument
from itinera.mapping.egocentric_map import Columns, EgocentricMaps
from itinera.mapping.labels import PAPER_LEGEND
from itinera.records.map_colors import paint_map
from itinera.records.map_recording import Legend
from itinera.worlds import Array

Image = NDArray[np.uint8]  # (height, width, 3)

BACKGROUND, TRAIL, BODY = (250, 249, 246), (0, 114, 178), (213, 94, 0)
BODY_LENGTH = 0.5  # metres of the triangle that shows the agent


def draw_egocentric_map(
    held: EgocentricMaps,
    *,
    scale: int = 6,
    trail: ArrayLike | None = None,
    position: ArrayLike | None = None,
    heading: float = 0.0,
) -> Image:
    """The map of one agent, itself in the middle facing up, `scale` pixels for each cell.

    `trail` (n, 2 or 3) are positions in the world that are drawn as a line; they need the agent's position and heading.
    """
    if held.occupancy.ndim == 3:
        if len(held) != 1:
            raise BadArgument(f"draw_egocentric_map draws the map of one agent; got {len(held)}.")
        held = held[0]
    occupancy, labels = held.occupancy, held.labels
    image = _paint(occupancy, labels, held.legend, scale)
    middle = (len(occupancy) // 2 + 0.5) * scale
    per_metre = scale / held.cell
    if trail is not None:
        if position is None:
            raise BadArgument("A trail is drawn around the agent: give its position and heading too.")
        dx, dy = (np.asarray(trail, dtype=np.float64)[:, :2] - np.asarray(position, dtype=np.float64)[:2]).T
        right = dx * math.sin(heading) - dy * math.cos(heading)
        ahead = dx * math.cos(heading) + dy * math.sin(heading)
        _draw_line(image, np.column_stack([middle + right * per_metre, middle - ahead * per_metre]), scale)
    _draw_body(image, middle, middle, math.pi / 2, BODY_LENGTH * per_metre)
    return image


def draw_columns(
    columns: Columns,
    storey: int = 0,
    *,
    scale: int = 2,
    column: float = 0.05,
    legend: Legend = PAPER_LEGEND,
    trail: ArrayLike | None = None,
    position: ArrayLike | None = None,
    heading: float = 0.0,
) -> Image:
    """A storey of a map from above, +y up, `scale` pixels for each column of `column` metres.

    `trail` (n, 2 or 3) are positions that are drawn as a line; with a position the agent is drawn there.
    """
    heights, labels = columns.storey(storey)
    image = _paint(np.isfinite(heights)[::-1].astype(np.uint8), labels[::-1], legend, scale)
    first = columns.grids.grids[storey, :2]

    def pixels(points: ArrayLike) -> Array:
        across = (np.asarray(points, dtype=np.float64)[:, :2] / column - first + 0.5) * scale
        return np.column_stack([across[:, 0], len(image) - across[:, 1]])

    if trail is not None:
        _draw_line(image, pixels(trail), scale)
    if position is not None:
        x, y = pixels(np.asarray(position, dtype=np.float64)[None])[0].tolist()
        _draw_body(image, x, y, heading, BODY_LENGTH / column * scale)
    return image


def _paint(occupancy: NDArray[np.uint8], labels: NDArray[np.uint16], legend: Legend, scale: int) -> Image:
    if scale < 1:
        raise BadArgument(f"scale must be at least 1 pixel, not {scale}.")
    painted = paint_map(occupancy, labels, legend)
    image = np.where(painted[..., 3:] > 0, painted[..., :3], np.array(BACKGROUND, dtype=np.uint8))
    return np.ascontiguousarray(image.repeat(scale, axis=0).repeat(scale, axis=1))


def _draw_line(image: Image, points: Array, scale: int) -> None:
    """A line through points (n, 2) in pixels."""
    thickness = max(2, scale // 2)
    lengths = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
    along = np.arange(0.0, lengths[-1] + 0.25, 0.5)
    x, y = (np.interp(along, lengths, points[:, axis]) for axis in (0, 1))
    for offset_x in range(thickness):
        for offset_y in range(thickness):
            column = np.rint(x + offset_x - thickness / 2).astype(np.int64)
            row = np.rint(y + offset_y - thickness / 2).astype(np.int64)
            inside = (column >= 0) & (row >= 0) & (column < image.shape[1]) & (row < image.shape[0])
            image[row[inside], column[inside]] = TRAIL


def _draw_body(image: Image, x: float, y: float, heading: float, length: float) -> None:
    """A triangle at a pixel that points along a heading, counter-clockwise from the right."""
    rows, columns = np.mgrid[: image.shape[0], : image.shape[1]]
    dx, dy = columns + 0.5 - x, y - rows - 0.5
    ahead = dx * math.cos(heading) + dy * math.sin(heading)
    aside = np.abs(dx * math.sin(heading) - dy * math.cos(heading))
    for grown, color in ((1.0 + 2.0 / max(length, 4.0), (255, 255, 255)), (1.0, BODY)):
        half = 0.5 * length * grown
        image[(ahead > -half) & (aside < 0.35 * (half - ahead))] = color
