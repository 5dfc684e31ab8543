"""Fastest times of a whole task file: group its episodes by goal, plan goal after goal in worker processes, resume.

`plan_fastest_times` is the main flow. A time is known by the fingerprint of everything that decides it, so times of an
earlier file or of an interrupted run are used again, also for other tasks. The times do not depend on the number of
workers.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, astuple, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats.catalog import read_surfaces
from itinera.formats.fastest_times import Seconds, encode_seconds, read_times, write_times
from itinera.planners.motion.batch_fastest import (
    VERSION,
    BatchBounds,
    GoalBatch,
    Queries,
    fingerprints,
    group_by_goal,
    plan_batch,
    snap_distances,
)
from itinera.records import Provenance
from itinera.records.provenance import make_provenance
from itinera.records.shards import PartPlan, Shard, plan_part
from itinera.runs.engines import Engine, open_engine
from itinera.runs.engines.engine import PROCESSES
from itinera.runs.engines.processes import ProcessEngine
from itinera.runs.identity import describe_digests
from itinera.runs.resume import ResumableWriter, plan_fingerprint
from itinera.tasks import PROTOCOLS, Protocol, Split
from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot
from itinera.worlds import Array, World
from itinera.worlds.surface import Surface

GIBSON_EPISODES = 3_600_000  # of PointNav's training split, the largest set of episodes in use

StartProgress: TypeAlias = Callable[[str, int], Callable[[int], None]]  # stage and total -> advance
_log = logging.getLogger("itinera")


@dataclass(frozen=True)
class TimesSummary:
    """How many times have which bounds."""

    episodes: int
    reused: int  # times known from an earlier file or an interrupted run
    bounded: int  # both bounds are finite
    over_stairs: int  # lower bound only: no floor contains the whole path, and drives are planned on one floor
    no_drive: int  # lower bound only: the goal is reachable, but no drive was found
    unreachable: int
    median_gap: float | None  # of the bounded times, 1 - lower / upper


class _Record(msgspec.Struct):
    lower: Seconds
    upper: Seconds


@dataclass(frozen=True, eq=False)
class _Scene:
    """The queries of one world: from the start of each episode to each of its goals."""

    world_id: str
    rows: NDArray[np.int64]  # (n,) the episode of each query
    queries: Queries


@dataclass(frozen=True, eq=False)
class _Batches:
    """The queries of all episodes, by goal."""

    episodes: int
    batches: tuple[GoalBatch, ...]  # their rows are those of episodes
    keys: tuple[tuple[str, ...], ...]  # for each batch, of each of its queries

    def __len__(self) -> int:
        return sum(map(len, self.keys))

    @property
    def on_floor(self) -> NDArray[np.bool_]:
        """(episodes,) whether one floor contains the path to a goal."""
        found = np.zeros(self.episodes, dtype=np.bool_)
        for batch in self.batches:
            found[batch.rows[batch.on_floor]] = True
        return found


@dataclass(frozen=True)
class _Surfaces:
    """Where worker processes find the worlds as the reference robot can drive them."""

    worlds: Path | Mapping[str, World]
    protocol: Protocol  # of the tasks, with the radius of the reference robot

    def read(self) -> Mapping[str, World]:
        """The worlds as surfaces."""
        if not isinstance(self.worlds, Path):
            return self.worlds
        found = read_surfaces(self.worlds, self.protocol)
        if found is None:
            problem = "contains no surfaces: give a folder of scenes, or a Hearth season."
            raise BadArgument(f"{self.worlds} {problem}")
        return found


def plan_fastest_times(
    split: Split,
    worlds: Path | Mapping[str, World],
    robot: ReferenceRobot,
    *,
    out: Path | None = None,
    tasks: Path | None = None,
    workers: int | None = None,
    engine: str | Engine = PROCESSES,
    overwrite: bool = False,
    command: Sequence[str] = (),
    progress: StartProgress | None = None,
    shard: Shard | None = None,
) -> tuple[FastestTimes, TimesSummary]:
    """Bounds on the fastest times of all episodes, or of those of a shard, and their counts.

    With `out`, the times are written there. If interrupted, the same call resumes; `overwrite` starts anew. `tasks` is
    the file of the split, for messages and provenance.
    """
    _check_tasks(split)
    provenance = make_provenance({"tasks": tasks, "worlds": _identify_worlds(worlds)}, command)
    part = _plan_part(split, robot, provenance, shard)
    if part is not None:
        split = replace(split, episodes=split.episodes[part.block.start : part.block.stop])
    start = progress or (lambda stage, total: lambda done: None)
    surfaces = _Surfaces(worlds, replace(PROTOCOLS[split.protocol], robot_radius=robot.radius))
    plan = plan_fingerprint("fastest-times", VERSION, astuple(robot))
    known = {} if out is None or overwrite else _read_known(out, robot)
    with open_engine(engine, workers) as running:
        batches = _group(
            split, surfaces, robot, running, str(tasks or split.name), start("surveying", len(split.world_ids))
        )
        if out is None:
            found = list(_plan_missing(batches, robot, known, lambda key, record: None, running, start))
        else:
            # The file may have times of other tasks, which is no reason to refuse it: they are kept by their keys.
            with ResumableWriter(out, plan, overwrite=overwrite, update=True) as work:
                known.update({str(key): _decode(work[key]) for key in work})
                found = list(_plan_missing(batches, robot, known, work.add, running, start))
                times = _collect(batches, robot, split, known)
                write_times(out, times, provenance, plan=plan, shard=part)
                work.discard()
    times = _collect(batches, robot, split, known)
    summary = _summarize(times, batches, found)
    _log_summary(summary, batches, found)
    return times, summary


def _plan_part(split: Split, robot: ReferenceRobot, provenance: Provenance, shard: Shard | None) -> PartPlan | None:
    settings = {
        "version": provenance.version,
        **describe_digests(provenance.digests),
        "version of the planner": VERSION,
        **asdict(robot),
    }
    ids = ((episode.id,) for episode in split.episodes)
    plan = plan_fingerprint("fastest-times", VERSION, astuple(robot))
    return plan_part("fastest-times", shard, ids, plan, settings, total=len(split.episodes))


def _check_tasks(split: Split) -> None:
    if not split.episodes:
        raise BadArgument(f"{split.name} contains no episodes.")
    if isinstance(split.episodes[0].start.place, str):
        raise BadArgument(
            f"{split.name} has episodes on navigation graphs. Fastest times need episodes on the ground: PointNav, "
            "VLN-CE or native ones with positions."
        )
    split.require_goals("Fastest times need goals: give tasks that contain them.")


def _identify_worlds(worlds: Path | Mapping[str, World]) -> Path | None:
    """The file that identifies a season, else the folder."""
    if not isinstance(worlds, Path):
        return None
    season = worlds / "season.json"
    return season if season.exists() else worlds


def _read_known(out: Path, robot: ReferenceRobot) -> dict[str, tuple[float, float]]:
    """The times of an earlier file by their keys; raises BadArgument unless it has times of this robot."""
    if not out.exists():
        return {}
    remedy = "Write to another file, or replace it with --overwrite (overwrite=True)."
    try:
        times = read_times(out)
    except BadFile as error:
        raise BadArgument(f"{out} exists already and is no file of fastest times. {remedy}") from error
    if times.robot != robot:
        raise BadArgument(f"{out} has the times of another robot. {remedy}")
    bounds = zip(times.lower.tolist(), times.upper.tolist(), strict=True)
    return {key: bound for key, bound in zip(times.keys, bounds, strict=False) if key}


def _make_scenes(split: Split) -> list[_Scene]:
    scenes = []
    for world_id, rows in split.rows_by_world.items():
        pairs = [(row, goal) for row in rows.tolist() for goal in split.episodes[row].goals]
        starts = [split.episodes[row].start for row, _ in pairs]
        queries = Queries(
            np.array([start.place for start in starts], dtype=np.float64).reshape(-1, 3),
            np.array([start.heading for start in starts], dtype=np.float64),
            np.array([goal for _, goal in pairs], dtype=np.float64).reshape(-1, 3),
        )
        scenes.append(_Scene(world_id, np.array([row for row, _ in pairs], dtype=np.int64), queries))
    return scenes


def _group(
    split: Split,
    surfaces: _Surfaces,
    robot: ReferenceRobot,
    engine: Engine,
    source: str,
    advance: Callable[[int], None],
) -> _Batches:
    """All queries by goal; raises BadFile with every start and goal where the robot cannot be."""
    scenes = _make_scenes(split)
    found: dict[int, tuple[list[GoalBatch], Array, Array]] = {}
    with ExitStack() as stack:
        files = [surfaces.worlds] if isinstance(surfaces.worlds, Path) else []
        if not files:  # worlds given as objects may be large: they are not sent to other processes
            engine = stack.enter_context(ProcessEngine(0))
        results = stack.enter_context(closing(engine.map(partial(_group_scene, surfaces, robot), scenes, files=files)))
        for number, result in results:
            found[number] = result
            advance(1)
    faults = [
        fault
        for number, scene in enumerate(scenes)
        for fault in _find_faults(scene, split, found[number][1:], robot.radius)
    ]
    if faults:
        raise BadFile(source, faults)
    batches = tuple(batch for number in range(len(scenes)) for batch in found[number][0])
    keys = tuple(tuple(fingerprints(batch, robot)) for batch in batches)
    return _Batches(len(split.episodes), batches, keys)


def _group_scene(surfaces: _Surfaces, robot: ReferenceRobot, scene: _Scene) -> tuple[list[GoalBatch], Array, Array]:
    """The batches of a scene, and the snap distances of its starts and goals; no batches if any is above 0."""
    worlds = surfaces.read()
    if scene.world_id not in worlds:
        raise BadArgument(f"World {scene.world_id} is missing from the worlds. Check --worlds.")
    surface = worlds[scene.world_id].space
    if not isinstance(surface, Surface):
        raise BadArgument(f"World {scene.world_id} has no surface. Fastest times need worlds on the ground.")
    starts, goals = snap_distances(surface, scene.queries, robot.goal_radius)
    if starts.any() or goals.any():
        return [], starts, goals
    batches = group_by_goal(surface, scene.queries, robot.goal_radius)
    return [replace(batch, rows=scene.rows[batch.rows]) for batch in batches], starts, goals


def _find_faults(scene: _Scene, split: Split, distances: Sequence[Array], radius: float) -> Iterator[Fault]:
    remedy = "Move it, remove the episode, or use a smaller radius."
    for row, *away in zip(scene.rows.tolist(), *distances, strict=True):
        for name, distance in zip(("start", "goal"), away, strict=True):
            if distance > 0:
                where = f"{distance:.2f} m away" if math.isfinite(distance) else "far away"
                problem = f"a robot of radius {radius:g} m cannot be at the {name}; the nearest place is {where}."
                yield Fault(f'episode "{split.episodes[row].id}" in {scene.world_id}', problem, remedy)


def _plan_missing(
    batches: _Batches,
    robot: ReferenceRobot,
    known: dict[str, tuple[float, float]],
    keep: Callable[[str, bytes], None],
    engine: Engine,
    start: StartProgress,
) -> Iterator[BatchBounds]:
    """The bounds of each planned batch, in the order of their ends; known <- the missing times, also passed to keep."""
    advance = start("planning", len(batches))
    jobs: list[tuple[GoalBatch, list[str]]] = []
    for batch, keys in zip(batches.batches, batches.keys, strict=True):
        missing = np.array([key not in known for key in keys])
        advance(len(keys) - int(missing.sum()))
        if missing.any():
            jobs.append((batch.select(missing), [key for key in keys if key not in known]))
    with closing(engine.map(partial(_plan_job, robot), [job for job, _ in jobs])) as results:
        for number, bounds in results:
            pairs = zip(bounds.lower.tolist(), bounds.upper.tolist(), strict=True)
            for key, (lower, upper) in zip(jobs[number][1], pairs, strict=True):
                known[key] = lower, upper
                keep(key, msgspec.json.encode(_Record(encode_seconds(lower), encode_seconds(upper))))
            advance(len(bounds.lower))
            yield bounds


def _plan_job(robot: ReferenceRobot, batch: GoalBatch) -> BatchBounds:
    return plan_batch(batch, robot)


def _decode(record: bytes) -> tuple[float, float]:
    read = msgspec.json.decode(record, type=_Record)
    return float(read.lower), float(read.upper)


def _collect(
    batches: _Batches, robot: ReferenceRobot, split: Split, known: Mapping[str, tuple[float, float]]
) -> FastestTimes:
    """The times of all episodes; of several goals the soonest counts."""
    bounds = np.full((2, batches.episodes), np.inf)
    keys: dict[int, list[str]] = {}
    for batch, own in zip(batches.batches, batches.keys, strict=True):
        for row, key in zip(batch.rows.tolist(), own, strict=True):
            bounds[:, row] = np.minimum(bounds[:, row], known[key])
            keys.setdefault(row, []).append(key)
    # The soonest of several goals does not determine the times of the others, so it has no key.
    unique = tuple(keys[row][0] if len(keys[row]) == 1 else "" for row in range(batches.episodes))
    return FastestTimes(robot, tuple(episode.id for episode in split.episodes), bounds[0], bounds[1], unique)


def _summarize(times: FastestTimes, batches: _Batches, found: Sequence[BatchBounds]) -> TimesSummary:
    on_floor, both = batches.on_floor, np.isfinite(times.upper)
    below = np.isfinite(times.lower) & ~both
    gaps = 1 - times.lower[both] / np.maximum(times.upper[both], 1e-9)
    return TimesSummary(
        episodes=len(times),
        reused=len(batches) - sum(len(bounds.lower) for bounds in found),
        bounded=int(both.sum()),
        over_stairs=int((below & ~on_floor).sum()),
        no_drive=int((below & on_floor).sum()),
        unreachable=int(np.isinf(times.lower).sum()),
        median_gap=float(np.median(gaps)) if len(gaps) else None,
    )


def _log_summary(summary: TimesSummary, batches: _Batches, found: Sequence[BatchBounds]) -> None:
    if summary.reused:
        _log.info("%d of %d times were known already.", summary.reused, len(batches))
    below = "Lower bound only: %d of %d episodes, because %s."
    if summary.over_stairs:
        _log.info(below, summary.over_stairs, summary.episodes, "no single floor contains the path")
    if summary.no_drive:
        _log.info(below, summary.no_drive, summary.episodes, "no drive was found to a reachable goal")
    planned = [bounds for bounds in found if bounds.goal_seconds]
    if not planned:
        return
    # Medians, because the first batch of every process also loads or compiles the kernels.
    goal, start = median(b.goal_seconds for b in planned), median(b.start_seconds for b in planned)
    shares = len(batches.batches) / summary.episodes, 1.0
    shared, alone = (GIBSON_EPISODES * (goal * share + start) / 3600 for share in shares)
    _log.info(
        "CPU time: %.2f s per goal and %.3f s per start. Gibson's 3.6 million episodes would take %s core hours with "
        "as many starts per goal as here, %s with one.",
        goal,
        start,
        f"{shared:,.0f}",
        f"{alone:,.0f}",
    )
