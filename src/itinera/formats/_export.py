"""What writers ask of what they write: the acting part of a trajectory, nodes or positions, a way to the goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from itinera.errors import BadArgument
from itinera.records import Phase, Trajectory
from itinera.tasks import Episode
from itinera.worlds import Array, Places


def acting(trajectory: Trajectory) -> Trajectory:
    """The trajectory without the steps where the agent was led. Its actions, which join steps, are left out then."""
    if trajectory.phases is None:
        return trajectory
    kept = np.array([phase is Phase.ACTING for phase in trajectory.phases], dtype=bool)

    def shorter(values: Array | None) -> Array | None:
        return None if values is None else values[kept]

    return replace(
        trajectory,
        places=trajectory.acted,
        headings=shorter(trajectory.headings),
        elevations=shorter(trajectory.elevations),
        times=shorter(trajectory.times),
        actions=None,
        choices=None,
        phases=None,
    )


def as_nodes(places: Places, whose: str) -> Sequence[str]:
    """Places that must be nodes of a graph."""
    if isinstance(places, np.ndarray):
        raise BadArgument(f"{whose} holds positions, but this format holds nodes. Snap it to a graph first.")
    return places


def as_positions(places: Places, whose: str) -> Array:
    """(n, 3) metres: places that must be positions."""
    points = np.asarray(places)
    if points.size == 0:
        return np.empty((0, 3))
    if points.dtype.kind not in "fi" or points.ndim != 2 or points.shape[1] != 3:
        raise BadArgument(f"{whose} holds nodes, but this format holds positions. Choose a format for graphs.")
    return cast(Array, points.astype(np.float64, copy=False))


def need_reference(episode: Episode) -> None:
    """Refuse a task with a goal and no way there, which only PointNav files can hold."""
    if len(episode.goals) and not len(episode.reference):
        problem = f'Episode "{episode.id}" has a goal but no positions that lead there.'
        raise BadArgument(f"{problem} Choose the format pointnav, which needs none.")
