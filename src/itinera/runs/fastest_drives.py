"""The fastest drives of a few episodes, planned for the reference robot of fastest times, to be drawn in a replay."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from itinera.errors import NoRoute
from itinera.formats.catalog import read_surfaces
from itinera.planners.motion.batch_fastest import GoalBatch, Queries, group_by_goal, robot_dynamics, snap_distances
from itinera.planners.motion.fastest import GoalPlanner
from itinera.tasks import Episode, Protocol, Split
from itinera.tasks.fastest_times import ReferenceRobot
from itinera.worlds import Array
from itinera.worlds.surface import Surface

MAX_EPISODES = 12  # each takes a second or two
STEP = 0.1  # metres between the points of a drive

_log = logging.getLogger("itinera")


def plan_drives(split: Split, worlds: Path, protocol: Protocol, robot: ReferenceRobot) -> dict[str, Array]:
    """By episode id, the points (n, 3) of the fastest drive, for episodes on one floor; empty on graphs."""
    if isinstance(split.episodes[0].start.place, str):
        return {}
    surfaces = read_surfaces(worlds, replace(protocol, robot_radius=robot.radius))
    if surfaces is None:
        return {}
    if len(split.episodes) > MAX_EPISODES:
        _log.info("Fastest drives are drawn for up to %d episodes; only their times are shown here.", MAX_EPISODES)
        return {}
    found: dict[str, Array] = {}
    for world_id in split.world_ids:
        surface = surfaces[world_id].space
        assert isinstance(surface, Surface)
        episodes = [episode for episode in split.episodes if episode.world_id == world_id and len(episode.goals)]
        found |= _plan_in_world(episodes, surface, robot)
    return found


def _plan_in_world(episodes: list[Episode], surface: Surface, robot: ReferenceRobot) -> dict[str, Array]:
    starts, goals = snap_distances(surface, _make_queries(episodes), robot.goal_radius)
    episodes = [episode for episode, off in zip(episodes, starts + goals > 0, strict=True) if not off]
    if not episodes:
        return {}
    queries = _make_queries(episodes)
    found: dict[str, Array] = {}
    for batch in group_by_goal(surface, queries, robot.goal_radius):
        level = float(queries.goals[batch.rows[0], 2])
        found |= {episodes[row].id: drive for row, drive in _plan_on_floor(batch, robot, level)}
    return found


def _make_queries(episodes: list[Episode]) -> Queries:
    starts = np.array([episode.start.place for episode in episodes], dtype=np.float64).reshape(-1, 3)
    headings = np.array([episode.start.heading for episode in episodes], dtype=np.float64)
    return Queries(starts, headings, np.array([e.goals[0] for e in episodes], dtype=np.float64).reshape(-1, 3))


def _plan_on_floor(batch: GoalBatch, robot: ReferenceRobot, level: float) -> Iterator[tuple[int, Array]]:
    """The row and drive of each query of a batch that stays on its floor."""
    if not batch.on_floor.any():
        return
    # The cells of a surface already take the robot's radius into account.
    planner = GoalPlanner(batch.floor, batch.goal, robot_dynamics(robot), 0.0, robot.goal_radius)
    for row, start in zip(batch.rows[batch.on_floor].tolist(), batch.starts[batch.on_floor], strict=True):
        try:
            drive = planner.plan(start).drive
        except NoRoute:
            continue
        if drive is not None:
            points = drive.sample(planner.dynamics, step=STEP)[:, :2]
            yield row, np.column_stack((points, np.full(len(points), level)))
