"""`itinera fastest-times`: how fast a robot can do each of many tasks, in a file that `itinera score` weighs by."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import fastest as robot_options
from itinera.cli import inputs as given
from itinera.cli import options, output
from itinera.errors import BadArgument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from itinera.cli.times_work import Order, Plan
    from itinera.planners.motion.batch_fastest import Bounds
    from itinera.tasks import Split
    from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot

BELOW_ONLY = {
    "over_stairs": "no floor holds all of the way, and drives are planned on one",
    "no_drive": "a way leads there, but no drive was found",
}
GIBSON = 3_600_000  # episodes to train on, the most that anybody has asked for


def fastest_times(
    tasks: Annotated[Path, typer.Argument(help="Episodes on the ground: PointNav, VLN-CE, native.")],
    worlds: Annotated[Path, typer.Option(help="A season of Hearth, or a folder of scenes.")],
    out: options.Out,
    dynamics: robot_options.Model = "unicycle",
    vmax: robot_options.Vmax = 0.25,
    wmax: robot_options.Wmax = 10.0,
    radius: robot_options.Radius = 0.2,
    goal_radius: robot_options.GoalRadius = 0.0,
    reverse: robot_options.Reverse = False,
    workers: Annotated[int | None, typer.Option(help="Processes at work; one for each core if left out.")] = None,
    json: options.Json = False,
) -> None:
    """Find how fast a robot can do every episode: between which two times its fastest drive lies.

    Episodes with the same goal are planned together. What was found is kept in OUT.draft while this runs, so work that
    was stopped goes on when the same command is given again; times that OUT holds already are not found again. The
    times do not depend on the number of workers.

    Example: itinera fastest-times hearth/pointnav/val_unseen/val_unseen.json.gz --worlds hearth --out times.jsonl
    """
    given.spare_blas()
    from itinera.cli.times_work import Order, find, known_from, survey, times_of
    from itinera.formats import catalog
    from itinera.formats.fastest_times import write_times
    from itinera.formats.times_draft import TimesDraft
    from itinera.tasks import PROTOCOLS

    robot = _robot(dynamics, vmax, wmax, radius, goal_radius, reverse=reverse)
    split = catalog.read_tasks(tasks)
    _check(split)
    order = Order(tasks, worlds, PROTOCOLS[split.protocol], robot, _processes(workers))
    known = known_from(out, robot)
    with output.progress("surveying", len(split.world_ids)) as done:
        plan = survey(order, split, done)
    with TimesDraft(out) as draft:
        draft.known.update(known)
        try:
            with output.progress("planning", plan.ways) as done:
                found = find(order, plan, draft, done)
        except KeyboardInterrupt:
            output.remark("Stopped; what was found is kept. The same command goes on from here.")
            raise typer.Exit(1) from None
        times = times_of(plan, robot, split, draft.known)
        write_times(out, times, given.provenance_of({"tasks": tasks, "worlds": _told_by(worlds)}, sys.argv[1:]))
        draft.discard()
    _print(out, order, plan, times, found, json=json)


def _robot(
    dynamics: str, vmax: float, wmax: float, radius: float, goal_radius: float, *, reverse: bool
) -> ReferenceRobot:
    from itinera.tasks.fastest_times import ReferenceRobot

    moving = robot_options.robot_of(dynamics, vmax, wmax, reverse=reverse)
    if not (math.isfinite(radius) and radius > 0):
        raise BadArgument(f"--radius must be above 0 m, not {radius:g}: the floor of a building is found for a body.")
    if not (math.isfinite(goal_radius) and goal_radius >= 0):
        raise BadArgument(f"--goal-radius must be 0 m or more, not {goal_radius:g}.")
    turning = moving.wmax if math.isfinite(moving.wmax) else None
    return ReferenceRobot(moving.name, moving.vmax, turning, moving.reverse, radius, goal_radius)


def _check(split: Split) -> None:
    """Refuse tasks that nobody can drive."""
    if not split.episodes:
        raise BadArgument(f"{split.name} holds no episodes.")
    if isinstance(split.episodes[0].start.place, str):
        raise BadArgument(f"{split.name} is walked on graphs. Fastest times are of tasks on the ground.")
    split.ask_for_goals("Without them nobody knows where to drive. Give tasks that tell them.")


def _processes(asked: int | None) -> int:
    from itinera.cli.run import processes

    if asked is not None and asked < 1:
        raise BadArgument(f"--workers must be at least 1, not {asked}.")
    return processes(asked)


def _told_by(worlds: Path) -> Path:
    """The file that tells of all others of a season, else the folder."""
    about = worlds / "season.json"
    return about if about.exists() else worlds


def _print(out: Path, order: Order, plan: Plan, times: FastestTimes, found: Sequence[Bounds], *, json: bool) -> None:
    from itinera.reports.tables import robot_told

    counted = _counted(times, plan.on_floor)
    fresh = sum(len(bounds.low) for bounds in found)
    if json:
        output.print_json({"file": str(out), "episodes": len(times), "reused": plan.ways - fresh, **counted})
    else:
        typer.echo(f"{out}: {len(times)} episodes of {robot_told(order.robot)}; {_in_words(counted)}")
    if fresh < plan.ways:
        output.remark(f"{plan.ways - fresh} of {plan.ways} times were known already.")
    for name, why in BELOW_ONLY.items():
        if counted[name]:
            output.remark(f"Bounded from below only: {counted[name]} of {len(times)} episodes, because {why}.")
    _project(len(times), len(plan.batches), found)


def _counted(times: FastestTimes, on_floor: NDArray[np.bool_]) -> dict[str, float | None]:
    """How many times are what, and the gap of those that have two finite bounds, as a share of the upper one."""
    import numpy as np

    both, below = np.isfinite(times.high), np.isfinite(times.low) & np.isinf(times.high)
    gaps = 1 - times.low[both] / np.maximum(times.high[both], 1e-9)
    return {
        "bounded": int(both.sum()),
        "over_stairs": int((below & ~on_floor).sum()),
        "no_drive": int((below & on_floor).sum()),
        "unreachable": int(np.isinf(times.low).sum()),
        "median_gap": float(np.median(gaps)) if len(gaps) else None,
    }


def _in_words(counted: dict[str, float | None]) -> str:
    gap = "" if counted["median_gap"] is None else f", by {100 * counted['median_gap']:.1f} % apart in the median"
    below = sum(int(counted[name] or 0) for name in BELOW_ONLY)
    return (
        f"{counted['bounded']} times between two bounds{gap}, {below} bounded from below only, "
        f"{counted['unreachable']} out of reach."
    )


def _project(episodes: int, goals: int, found: Sequence[Bounds]) -> None:
    """Say what the work took, and what it would take for the largest set of episodes there is."""
    from statistics import median

    planned = [bounds for bounds in found if bounds.goal_seconds]
    if not planned:
        return
    # Medians, because the first of every process loads or compiles what the others find ready.
    goal, start = (median(getattr(bounds, name) for bounds in planned) for name in ("goal_seconds", "start_seconds"))
    shared, alone = (GIBSON * (goal * share + start) / 3600 for share in (goals / episodes, 1.0))
    output.remark(
        f"A goal took {goal:.2f} s of a processor and each of its starts {start:.3f} s. Gibson's 3.6 million episodes "
        f"would take {shared:,.0f} hours of one core with as many to a goal as here, {alone:,.0f} with a goal for each."
    )
