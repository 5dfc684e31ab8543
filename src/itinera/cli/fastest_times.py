"""`itinera fastest-times`: bounds on the fastest time of every episode, in a file for the SCT of `itinera score`."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import options, output

if TYPE_CHECKING:
    from itinera.runs.fastest_times import TimesSummary
    from itinera.tasks.fastest_times import FastestTimes


def fastest_times(
    tasks: Annotated[Path, typer.Argument(help="Episodes on the ground: PointNav, VLN-CE, native.")],
    worlds: Annotated[Path, typer.Option(help="Hearth season, or folder of scenes.")],
    out: options.Out,
    dynamics: options.RobotDynamics = "unicycle",
    vmax: options.RobotVmax = 0.25,
    wmax: options.RobotWmax = 10.0,
    radius: options.RobotRadius = 0.2,
    goal_radius: options.GoalRadius = 0.0,
    reverse: options.RobotReverse = False,
    workers: options.Workers = None,
    shard: options.Shard = None,
    engine: options.Engine = "processes",
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Bound the fastest time of a robot for every episode.

    Episodes with the same goal are planned together. If interrupted, rerun the command to resume. Times that OUT has
    already are used again, also for other tasks. The times do not depend on the number of workers.

    Example: itinera fastest-times hearth/pointnav/val_unseen/val_unseen.json.gz --worlds hearth --out times.jsonl
    """
    from itinera import api

    summaries: list[TimesSummary] = []
    with ExitStack() as bars:

        def start_bar(stage: str, total: int) -> Callable[[int], None]:
            bars.close()
            return bars.enter_context(output.progress(stage, total))

        try:
            times = api.fastest_times(
                tasks,
                worlds,
                out=out,
                dynamics=dynamics,
                vmax=vmax,
                wmax=math.radians(wmax),
                reverse=reverse,
                radius=radius,
                goal_radius=goal_radius,
                workers=workers,
                shard=shard,
                engine=engine,
                overwrite=overwrite,
                progress=start_bar,
                on_summary=summaries.append,
                command_words=output.command_words(),
            )
        except KeyboardInterrupt:
            output.remark("Interrupted; the times found so far are kept. Rerun the command to resume.")
            raise SystemExit(output.INTERRUPTED) from None  # what is kept has been reported
    if json:
        output.print_json({"file": str(options.written_file(out, shard)), **asdict(summaries[-1])})
    else:
        _print(options.written_file(out, shard), times, summaries[-1])


def _print(out: Path, times: FastestTimes, summary: TimesSummary) -> None:
    from itinera.records.tables import describe_robot

    gap = "" if summary.median_gap is None else f" (median gap {100 * summary.median_gap:.1f} %)"
    below = summary.over_stairs + summary.no_drive
    output.print_line(
        f"{out}: {len(times)} episodes of {describe_robot(times.robot)}; {summary.bounded} with both bounds{gap}, "
        f"{below} with a lower bound only, {summary.unreachable} unreachable."
    )
