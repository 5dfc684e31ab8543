"""Fastest times on maps."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from itinera.api.scoring import load_split
from itinera.errors import BadArgument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from itinera.planners.motion.dynamics import Dynamics
    from itinera.planners.motion.fastest import TimeBounds
    from itinera.planners.motion.query_diagnosis import QueryDiagnosis
    from itinera.records.shards import Shard
    from itinera.runs.engines import Engine
    from itinera.runs.fastest_times import TimesSummary
    from itinera.tasks import Split
    from itinera.tasks.fastest_times import FastestTimes
    from itinera.worlds import World
    from itinera.worlds.grid import Grid

File: TypeAlias = str | PathLike[str]
YAML = (".yaml", ".yml")  # suffixes of ROS maps
logger = logging.getLogger("itinera")


def read_map(path: File, *, resolution: float | None = None, unknown: Literal["blocked", "free"] = "blocked") -> Grid:
    """The occupancy grid of a ROS map (its .yaml file) or of an image of a floor plan, light where free.

    resolution: metres per pixel of an image, whose lower left corner is the origin; a .yaml file has its own.
    unknown: whether unknown cells of a ROS map are blocked or free.

    >>> import itinera
    >>> grid = itinera.read_map("map.yaml")  # doctest: +SKIP
    """
    path = Path(path)
    if path.suffix.lower() in YAML:
        from itinera.formats.rosmap import read_map

        if resolution is not None:
            raise BadArgument(f"{path} is a ROS map, which has its own resolution: leave out resolution.")
        return read_map(path, unknown=unknown)
    from itinera.formats.floor_plans import read_floor_plan

    if resolution is None:
        raise BadArgument(
            f"{path} is an image, which has no scale: give resolution= in metres per pixel (--metres-per-pixel), or "
            "the .yaml file of a ROS map."
        )
    return read_floor_plan(path, resolution)


def fastest(
    map: Grid | File,
    start: ArrayLike,
    goal: ArrayLike,
    *,
    dynamics: str | Dynamics = "unicycle",
    vmax: float | None = None,
    wmax: float | None = None,
    reverse: bool = False,
    radius: float = 0.2,
    goal_radius: float = 0.0,
    resolution: float | None = None,
    unknown: Literal["blocked", "free"] = "blocked",
    trees: int = 4,
    seed: int = 0,
    figure: File | None = None,
) -> TimeBounds:
    """Bounds on the fastest time of a robot from a pose to a goal, with a drive that proves the upper bound.

    map: a `Grid`, or the file of a map (see `read_map` for `resolution` and `unknown`).
    start: x, y, heading; goal: x, y. Metres and radians in the map's frame, headings counter-clockwise from +x.
    dynamics: "unicycle", "point-turn", "holonomic" or a `Dynamics`; `vmax` in m/s (default 0.25) and `wmax` in rad/s
        (default 10 degrees per second) are its speed limits, `reverse` lets a unicycle drive backwards.
    radius: of the round robot, metres. goal_radius: metres from the goal within which the robot has arrived.
    trees: random trees (RRT*) that search for a faster drive, seeded by `seed`.
    figure: a .png or .svg file for a picture of the drives, or, where there is none, of the map with both ends.

    Raises one BadArgument (`InfeasibleQuery`) if the robot cannot be at the start or at the goal: why, for both ends,
    the nearest free point of each, and the extent of the map. If no path connects them, the bounds are inf, and
    `reason` of the result states the same facts.

    >>> import numpy as np
    >>> import itinera
    >>> from itinera.worlds.grid import Grid
    >>> room = Grid(np.zeros((40, 60), dtype=bool), resolution=0.1, origin=(10.0, 5.0))  # 6 x 4 m
    >>> itinera.fastest(room, start=(11.0, 6.0, 0.0), goal=(15.0, 6.0), trees=0)
    TimeBounds(16.00 to 16.00 s, unicycle, 4.00 m driven)
    """
    from itinera.planners.motion.fastest import fastest
    from itinera.planners.motion.query_diagnosis import InfeasibleQuery

    if figure is not None:
        from itinera.formats.io import check_outputs

        check_outputs([figure], [map])
    robot = _dynamics(dynamics, vmax, wmax, reverse=reverse)
    grid = _grid(map, resolution, unknown)
    query = {"radius": radius, "goal_radius": goal_radius}
    try:
        found = fastest(grid, start, goal, dynamics=robot, trees=trees, seed=seed, **query)
    except InfeasibleQuery:
        raise InfeasibleQuery(_diagnose(map, grid, start, goal, query, unknown, figure)) from None
    if figure is not None and found.reason:
        found = replace(found, reason=str(_diagnose(map, grid, start, goal, query, unknown, figure)))
    elif figure is not None:
        _draw_fastest(found, grid, goal, radius, goal_radius, Path(figure), _map_name(map))
    return found


def _map_name(map: Grid | File) -> str:
    return Path(map).name if isinstance(map, (str, PathLike)) else ""


def _diagnose(
    map: Grid | File,
    grid: Grid,
    start: ArrayLike,
    goal: ArrayLike,
    query: Mapping[str, float],
    unknown: Literal["blocked", "free"],
    figure: File | None,
) -> QueryDiagnosis:
    """Why a query has no answer; draws the map with both ends into `figure`."""
    import numpy as np

    from itinera.planners.motion.query_diagnosis import diagnose_query

    hidden = _unknown_cells(map) if unknown == "blocked" else None
    diagnosis = diagnose_query(grid, start, goal, unknown=hidden, **query)
    if figure is not None:
        from itinera.reports.charts.maps import MapMark, draw_map

        heading = float(np.asarray(start, dtype=np.float64)[2])
        ends = zip((diagnosis.start, diagnosis.goal), ("o", "*"), (heading, None), strict=True)
        marks = [
            MapMark(end.name + (f": {end.reason}" if end.reason else ""), end.point, symbol, towards, end.nearest)
            for end, symbol, towards in ends
        ]
        free = [end.nearest if end.nearest is not None else end.point for end in (diagnosis.start, diagnosis.goal)]
        component = int(grid.component_at(free, query["radius"]).max()) or None
        draw_map(
            grid,
            Path(figure),
            title=_map_name(map),
            radius=query["radius"],
            unknown=hidden,
            marks=marks,
            component=component,
        )
        picture = f"{figure} shows the map with the start and the goal."
        diagnosis = replace(diagnosis, advice=f"{diagnosis.advice} {picture}")
    return diagnosis


def _unknown_cells(map: Grid | File) -> NDArray[np.bool_] | None:
    """(rows, columns) the cells of a ROS map about which nothing is known; None for other maps."""
    if not isinstance(map, (str, PathLike)) or Path(map).suffix.lower() not in YAML:
        return None
    from itinera.formats.rosmap import find_unknown_cells

    return find_unknown_cells(Path(map))


def _grid(map: Grid | File, resolution: float | None, unknown: Literal["blocked", "free"]) -> Grid:
    """A map as given, or read from its file."""
    from itinera.worlds.grid import Grid

    if isinstance(map, Grid):
        return map
    if isinstance(map, (str, PathLike)):
        return read_map(map, resolution=resolution, unknown=unknown)
    raise BadArgument(
        f"map must be a Grid or the path of a map, not {type(map).__name__}. From an array of blocked cells: "
        "itinera.worlds.grid.Grid(blocked, resolution, origin=(x, y)); from a file: itinera.read_map(path)."
    )


def _dynamics(dynamics: str | Dynamics, vmax: float | None, wmax: float | None, *, reverse: bool) -> Dynamics:
    """Dynamics as given, or by name."""
    from itinera.planners.motion.dynamics import VMAX, WMAX, Dynamics, make_dynamics

    if isinstance(dynamics, Dynamics):
        if vmax is not None or wmax is not None or reverse:
            raise BadArgument("vmax, wmax and reverse belong to named dynamics: set them in the Dynamics object.")
        return dynamics
    speeds = VMAX if vmax is None else vmax, WMAX if wmax is None else wmax
    return make_dynamics(dynamics, *speeds, reverse=reverse)


def _draw_fastest(
    found: TimeBounds, grid: Grid, goal: ArrayLike, radius: float, goal_radius: float, path: Path, title: str
) -> None:
    """Draw the drives of a robot and of its alternatives on the map; log it if there is none."""
    import numpy as np

    from itinera.planners.motion.fastest import GoalPlanner
    from itinera.reports.charts.drives import DrawnDrive, Floor, draw_drives

    assert found.dynamics is not None
    drives = []
    for bounds in (found, *found.alternatives.values()):
        if bounds.drive is not None and bounds.dynamics is not None and len(bounds.drive.moves):
            samples = bounds.drive.sample(bounds.dynamics)
            # A rotated map is drawn in the frame of its cells.
            poses = grid.to_local(samples[:, :3]) if grid.rotation else samples[:, :3]
            label = f"{bounds.dynamics.name}: {bounds.upper:.1f} s, {bounds.drive.length:.2f} m"
            drives.append(DrawnDrive(label, np.column_stack((poses, samples[:, 3]))))
    if not drives:
        logger.warning("%s is not drawn: there is no drive to show.", path)
        return
    planner = GoalPlanner(grid, np.asarray(goal, dtype=np.float64), found.dynamics, radius, goal_radius)
    origin, point = ((0.0, 0.0), grid.to_local(goal)) if grid.rotation else (grid.origin, planner.goal)
    floor = Floor(grid.blocked, grid.free_cells(radius), grid.resolution, origin, planner.value_field.least)
    draw_drives(floor, drives, point, goal_radius, path, title=title)


def fastest_times(
    tasks: Split | File,
    worlds: Mapping[str, World] | File,
    *,
    out: File | None = None,
    dynamics: str = "unicycle",
    vmax: float | None = None,
    wmax: float | None = None,
    reverse: bool = False,
    radius: float = 0.2,
    goal_radius: float = 0.0,
    workers: int | None = None,
    shard: str | Shard | None = None,
    engine: str | Engine = "processes",
    overwrite: bool = False,
    progress: Callable[[str, int], Callable[[int], None]] | None = None,
    on_summary: Callable[[TimesSummary], None] | None = None,
    command_words: Sequence[str] = (),
) -> FastestTimes:
    """Bounds on the fastest time of a robot for every episode of tasks on the ground, for SCT.

    Episodes with the same goal are planned together. See `fastest` for the robot.

    worlds: surfaces, or the path of a Hearth season or of a folder of scenes.
    out: a file for the times. If interrupted, the same call resumes; times in the file are used again, also for other
        tasks, and `overwrite=True` starts anew.
    shard: plan one of several equal parts, such as "3/16", and write it beside `out`; see `gather`.
    workers: the number of processes. Default: one per core. The result does not depend on it, nor on the `engine` that
        runs them: "processes", "ray", "ray://HOST:PORT" or "slurm".
    progress: called with a stage and its total, returns the function that is called with the work done since.
    on_summary: called with the counts of the result.
    command_words: the words of the command line, for the provenance.

    >>> import itinera
    >>> times = itinera.fastest_times("val_unseen.json.gz", "hearth", out="times.jsonl")  # doctest: +SKIP
    """
    import math

    from itinera.formats.io import check_outputs
    from itinera.records.shards import parse_shard, part_path
    from itinera.runs.fastest_times import plan_fastest_times
    from itinera.tasks.fastest_times import ReferenceRobot

    chosen_shard = parse_shard(shard)
    out = None if out is None else part_path(Path(out), chosen_shard)
    check_outputs([out], [tasks, worlds])
    moving = _dynamics(dynamics, vmax, wmax, reverse=reverse)
    if not (math.isfinite(radius) and radius > 0):
        raise BadArgument(f"radius must be above 0 m, not {radius:g}: surfaces are computed for the robot's radius.")
    if not (math.isfinite(goal_radius) and goal_radius >= 0):
        raise BadArgument(f"goal_radius must be at least 0 m, not {goal_radius:g}.")
    if workers is not None and workers < 0:
        raise BadArgument(f"workers must be at least 0, not {workers}.")
    turning = moving.wmax if math.isfinite(moving.wmax) else None
    times, summary = plan_fastest_times(
        load_split(tasks),
        worlds if isinstance(worlds, Mapping) else Path(worlds),
        ReferenceRobot(moving.name, moving.vmax, turning, moving.reverse, radius, goal_radius),
        out=out,
        tasks=Path(tasks) if isinstance(tasks, (str, PathLike)) else None,
        workers=workers,
        engine=engine,
        overwrite=overwrite,
        command=command_words,
        progress=progress,
        shard=chosen_shard,
    )
    if on_summary is not None:
        on_summary(summary)
    return times
