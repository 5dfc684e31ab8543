"""The work behind `itinera fastest-times`: scenes surveyed for a robot, then goal after goal planned, in processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from itinera.cli import inputs as given
from itinera.errors import BadArgument, BadFile, Fault

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from itinera.formats.times_draft import TimesDraft
    from itinera.planners.motion.batch_fastest import Batch, Bounds, Ways
    from itinera.tasks import Protocol, Split
    from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot
    from itinera.worlds import Array, World


@dataclass(frozen=True)
class Order:
    """What is to be found."""

    tasks: Path
    worlds: Path
    protocol: Protocol  # of the tasks, for the height of the robot
    robot: ReferenceRobot
    workers: int

    def grounds(self) -> Mapping[str, World]:
        """The worlds as the reference robot can drive them."""
        found = given.read_grounds(self.worlds, replace(self.protocol, robot_radius=self.robot.radius))
        if found is None:
            raise BadArgument(
                f"{self.worlds} has no ground to drive on: give a folder of scenes, or a season of Hearth."
            )
        return found


@dataclass(frozen=True, eq=False)
class Scene:
    """The ways of one world."""

    world_id: str
    rows: NDArray[np.int64]  # (n,) the episode of each
    ways: Ways


@dataclass(frozen=True, eq=False)
class Plan:
    """All that is asked, by goal."""

    episodes: int
    batches: tuple[Batch, ...]  # their rows are those of episodes
    keys: tuple[tuple[str, ...], ...]  # for each batch, for each of its ways

    @property
    def ways(self) -> int:
        return sum(map(len, self.keys))

    @property
    def on_floor(self) -> NDArray[np.bool_]:
        """(episodes,) whether one floor holds the way to a goal."""
        import numpy as np

        found = np.zeros(self.episodes, dtype=np.bool_)
        for batch in self.batches:
            found[batch.rows[batch.on_floor]] = True
        return found


def scenes_of(split: Split) -> list[Scene]:
    """The ways of a split, world by world: one from the start of each episode to each of its goals."""
    import numpy as np

    from itinera.planners.motion.batch_fastest import Ways

    scenes = []
    for world_id, rows in split.rows_by_world.items():
        asked = [(row, goal) for row in rows.tolist() for goal in split.episodes[row].goals]
        starts = [split.episodes[row].start for row, _ in asked]
        ways = Ways(
            np.array([start.place for start in starts], dtype=np.float64).reshape(-1, 3),
            np.array([start.heading for start in starts], dtype=np.float64),
            np.array([goal for _, goal in asked], dtype=np.float64).reshape(-1, 3),
        )
        scenes.append(Scene(world_id, np.array([row for row, _ in asked], dtype=np.int64), ways))
    return scenes


def survey(order: Order, split: Split, done: Callable[[int], None] = lambda n: None) -> Plan:
    """What is to be planned; raises BadFile with every start and goal where the robot cannot stand."""
    from itinera.planners.motion.batch_fastest import keys_of
    from itinera.runs.process_map import in_processes

    scenes = scenes_of(split)
    found: dict[int, tuple[list[Batch], Array, Array]] = {}
    for number, result in in_processes(partial(_surveyed, order), scenes, workers=min(order.workers, len(scenes))):
        found[number] = result
        done(1)
    faults = [
        fault
        for number, scene in enumerate(scenes)
        for fault in _faults(scene, split, found[number][1:], order.robot.radius)
    ]
    if faults:
        raise BadFile(str(order.tasks), faults)
    batches = tuple(batch for number in range(len(scenes)) for batch in found[number][0])
    keys = tuple(tuple(keys_of(batch, order.robot)) for batch in batches)
    return Plan(len(split.episodes), batches, keys)


def _surveyed(order: Order, scene: Scene) -> tuple[list[Batch], Array, Array]:
    """The batches of a scene, and how far its starts and goals are from where the robot can stand; none if any is."""
    given.spare_blas()
    from itinera.planners.motion.batch_fastest import batches_of, strays
    from itinera.worlds.surface import Surface

    grounds = order.grounds()
    if scene.world_id not in grounds:
        raise BadArgument(f"World {scene.world_id} is not among the worlds given. Check --worlds.")
    surface = grounds[scene.world_id].space
    assert isinstance(surface, Surface)
    radius = order.robot.goal_radius
    starts, goals = strays(surface, scene.ways, radius)
    if starts.any() or goals.any():
        return [], starts, goals
    batches = [replace(batch, rows=scene.rows[batch.rows]) for batch in batches_of(surface, scene.ways, radius)]
    return batches, starts, goals


def _faults(scene: Scene, split: Split, gaps: Sequence[Array], radius: float) -> Iterator[Fault]:
    remedy = "Move it, leave the episode out, or give a robot with a smaller --radius."
    for row, *away in zip(scene.rows.tolist(), *gaps, strict=True):
        for name, gap in zip(("start", "goal"), away, strict=True):
            if gap > 0:
                where = f"{gap:.2f} m away" if gap < float("inf") else "far away"
                problem = f"a robot of radius {radius:g} m cannot stand at the {name}; the nearest place is {where}."
                yield Fault(f'episode "{split.episodes[row].id}" in {scene.world_id}', problem, remedy)


def find(order: Order, plan: Plan, draft: TimesDraft, done: Callable[[int], None] = lambda n: None) -> list[Bounds]:
    """Plan what the draft does not know, and keep it there; what came of each batch, in the order of their ends."""
    from itinera.runs.process_map import in_processes

    left = []
    for batch, keys in zip(plan.batches, plan.keys, strict=True):
        missing = [key not in draft.known for key in keys]
        done(len(keys) - sum(missing))
        if any(missing):
            left.append((_only(batch, missing), [key for key, lacks in zip(keys, missing, strict=True) if lacks]))
    jobs = [batch for batch, _ in left]
    found = []
    for number, bounds in in_processes(partial(_planned, order.robot), jobs, workers=min(order.workers, len(jobs))):
        draft.add(left[number][1], bounds.low.tolist(), bounds.high.tolist())
        found.append(bounds)
        done(len(bounds.low))
    return found


def _only(batch: Batch, which: list[bool]) -> Batch:
    import numpy as np

    return batch.only(np.array(which))


def _planned(robot: ReferenceRobot, batch: Batch) -> Bounds:
    given.spare_blas()
    from itinera.planners.motion.batch_fastest import bounds_of

    return bounds_of(batch, robot)


def times_of(plan: Plan, robot: ReferenceRobot, split: Split, known: Mapping[str, tuple[float, float]]) -> FastestTimes:
    """The times of all episodes; of several goals the soonest counts."""
    import numpy as np

    from itinera.tasks.fastest_times import FastestTimes

    bounds = np.full((2, plan.episodes), np.inf)
    keys: dict[int, list[str]] = {}
    for batch, own in zip(plan.batches, plan.keys, strict=True):
        for row, key in zip(batch.rows.tolist(), own, strict=True):
            bounds[:, row] = np.minimum(bounds[:, row], known[key])
            keys.setdefault(row, []).append(key)
    # The soonest of several goals does not tell the times of the others, so it is known by no key.
    told = tuple(keys[row][0] if len(keys[row]) == 1 else "" for row in range(plan.episodes))
    return FastestTimes(robot, tuple(episode.id for episode in split.episodes), bounds[0], bounds[1], told)


def known_from(file: Path, robot: ReferenceRobot) -> dict[str, tuple[float, float]]:
    """The times of an earlier file by their keys; one that is not of this robot is not to be overwritten by chance."""
    if not file.exists():
        return {}
    from itinera.formats.fastest_times import read_times

    try:
        times = read_times(file)
    except BadFile as error:
        raise BadArgument(f"{file} is there already, and no file of fastest times. Give another --out.") from error
    if times.robot != robot:
        raise BadArgument(f"{file} holds the times of another robot. Give another --out, or remove it.")
    bounds = zip(times.low.tolist(), times.high.tolist(), strict=True)
    return {key: bound for key, bound in zip(times.keys, bounds, strict=True) if key}
