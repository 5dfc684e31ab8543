"""The fastest drives of the episodes that `itinera show` shows, planned again for the robot of a file of times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from itinera.cli import inputs as given
from itinera.cli import output
from itinera.errors import NoRoute

if TYPE_CHECKING:
    from itinera.planners.motion.batch_fastest import Batch, Ways
    from itinera.tasks import Episode, Protocol, Split
    from itinera.tasks.fastest_times import ReferenceRobot
    from itinera.worlds import Array
    from itinera.worlds.surface import Surface

MOST = 12  # episodes; each takes a second or two
STEP = 0.1  # metres between the points of a drive


def drives_of(split: Split, path: Path | None, protocol: Protocol, robot: ReferenceRobot) -> dict[str, Array]:
    """(n, 3) where the fastest drive of each episode leads, where it stays on one floor; none on graphs."""
    if path is None or isinstance(split.episodes[0].start.place, str):
        return {}
    grounds = given.read_grounds(path, replace(protocol, robot_radius=robot.radius))
    if grounds is None:
        return {}
    if len(split.episodes) > MOST:
        output.remark(f"Fastest drives are drawn for up to {MOST} episodes; of these only the times are told.")
        return {}
    from itinera.worlds.surface import Surface

    found: dict[str, Array] = {}
    for world_id in split.world_ids:
        surface = grounds[world_id].space
        assert isinstance(surface, Surface)
        found |= _in_world([e for e in split.episodes if e.world_id == world_id and len(e.goals)], surface, robot)
    return found


def _in_world(episodes: list[Episode], surface: Surface, robot: ReferenceRobot) -> dict[str, Array]:
    from itinera.planners.motion.batch_fastest import batches_of, strays

    starts, goals = strays(surface, _ways(episodes), robot.goal_radius)
    episodes = [episode for episode, lost in zip(episodes, starts + goals > 0, strict=True) if not lost]
    if not episodes:
        return {}
    ways = _ways(episodes)
    found: dict[str, Array] = {}
    for batch in batches_of(surface, ways, robot.goal_radius):
        level = float(ways.goals[batch.rows[0], 2])
        found |= {episodes[row].id: drive for row, drive in _drives(batch, robot, level)}
    return found


def _ways(episodes: list[Episode]) -> Ways:
    import numpy as np

    from itinera.planners.motion.batch_fastest import Ways

    starts = np.array([episode.start.place for episode in episodes], dtype=np.float64).reshape(-1, 3)
    headings = np.array([episode.start.heading for episode in episodes], dtype=np.float64)
    return Ways(starts, headings, np.array([e.goals[0] for e in episodes], dtype=np.float64).reshape(-1, 3))


def _drives(batch: Batch, robot: ReferenceRobot, level: float) -> Iterator[tuple[int, Array]]:
    """The ways of a batch that stay on its floor, each with its drive."""
    import numpy as np

    from itinera.planners.motion.batch_fastest import dynamics_of
    from itinera.planners.motion.fastest import ToGoal

    if not batch.on_floor.any():
        return
    # The surface's cells are those where the robot's middle may be: nothing more is taken off.
    to_goal = ToGoal(batch.floor, batch.goal, dynamics_of(robot), 0.0, robot.goal_radius)
    for row, start in zip(batch.rows[batch.on_floor].tolist(), batch.starts[batch.on_floor], strict=True):
        try:
            drive = to_goal.from_pose(start).drive
        except NoRoute:
            continue
        if drive is not None:
            poses = batch.floor.to_frame(drive.sampled(to_goal.dynamics, step=STEP)[:, :3])
            yield row, np.column_stack((poses[:, :2], np.full(len(poses), level)))
