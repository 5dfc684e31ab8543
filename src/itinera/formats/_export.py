"""Requirements of writers: the acting part of a trajectory, nodes or positions, a reference path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from itinera.errors import BadArgument
from itinera.records import Phase, Trajectory
from itinera.tasks import Episode
from itinera.worlds import Array, Places


def acting_part(trajectory: Trajectory) -> Trajectory:
    """The trajectory without the steps of guidance. What belongs to actions, which join steps, is then left out."""
    if trajectory.phases is None:
        return trajectory
    kept = np.array([phase is Phase.ACTING for phase in trajectory.phases], dtype=bool)

    def shorter(values: Array | None) -> Array | None:
        return None if values is None else values[kept]

    return replace(
        trajectory,
        places=trajectory.acting_places,
        headings=shorter(trajectory.headings),
        elevations=shorter(trajectory.elevations),
        times=shorter(trajectory.times),
        thinking=shorter(trajectory.thinking),
        actions=None,
        collided=None,
        followed=None,
        action_log=None,
        phases=None,
    )


def require_nodes(places: Places, whose: str) -> Sequence[str]:
    """The places, which must be nodes of a graph."""
    if isinstance(places, np.ndarray):
        raise BadArgument(f"{whose} contains positions, but this format takes nodes. Snap it to a graph first.")
    return places


def require_positions(places: Places, whose: str) -> Array:
    """(n, 3) metres: the places, which must be positions."""
    points = np.asarray(places)
    if points.size == 0:
        return np.empty((0, 3))
    if points.dtype.kind not in "fi" or points.ndim != 2 or points.shape[1] != 3:
        raise BadArgument(f"{whose} contains nodes, but this format takes positions. Choose a format for graphs.")
    return cast(Array, points.astype(np.float64, copy=False))


def require_reference(episode: Episode) -> None:
    """Raise BadArgument for a task with a goal and no reference path, which only PointNav files can contain."""
    if len(episode.goals) and not len(episode.reference):
        problem = f'Episode "{episode.id}" has a goal but no reference path.'
        raise BadArgument(f"{problem} Choose the format pointnav, which needs none.")
