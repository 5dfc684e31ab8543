"""`itinera replay`: executes the stored actions again and compares the trajectories."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output

SHOWN = 20


def replay(
    predictions: Annotated[Path, typer.Argument(help="Predictions written by `itinera run`.")],
    tasks: options.Tasks,
    worlds: Annotated[Path, typer.Option(help="The worlds of the run.")],
    tours: Annotated[Path | None, typer.Option(help="The tours of the run, if it had any.")] = None,
    protocol: options.ProtocolName = None,
    drive: options.Drive = None,
    vmax: options.DriveVmax = None,
    wmax: options.DriveWmax = None,
    json: options.Json = False,
) -> None:
    """Execute the stored actions again in the same worlds, and report every episode that differs.

    Prints the first difference of each: the step, the stored value, the value found. Exit code 1 if there are any.
    Episodes of the tasks without a trajectory are counted; an episode with two, and an empty rollout, is refused.

    Example: itinera replay preds.jsonl --tasks R2R_val_unseen.json --worlds connectivity/
    """
    from dataclasses import asdict

    from itinera import api
    from itinera.formats.native_predictions import read_predictions

    stored = read_predictions(predictions)
    with output.progress("replaying", len(stored.rollouts)) as progress:
        report = api.replay(
            stored,
            tasks,
            worlds,
            tours=tours,
            protocol=protocol,
            drive=drive,
            vmax=vmax,
            wmax=None if wmax is None else math.radians(wmax),
            progress=progress,
        )
    found, missing = report.differences, len(report.missing)
    if json:
        differences = [asdict(difference) for difference in found]
        counts = {"episodes": report.episodes, "missing": missing}
        output.print_json({"file": str(predictions), **counts, "differences": differences})
    elif found:
        for difference in found[:SHOWN]:
            output.print_line(f"{predictions}: {difference}")
        if len(found) > SHOWN:
            output.print_line(f"{predictions}: and {len(found) - SHOWN} more episodes.")
    else:
        output.print_line(f"{predictions}: {report.episodes} episodes replayed, all identical.")
    if missing:
        output.remark(f"{missing} of {report.episodes + missing} episodes of the tasks have no trajectory.")
    if found:
        raise typer.Exit(1)
