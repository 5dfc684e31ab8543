"""`itinera replay`: executes the stored actions again and compares the trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output

SHOWN = 20


def replay(
    predictions: Annotated[Path, typer.Argument(help="Predictions written by `itinera run`.")],
    tasks: options.Tasks,
    worlds: Annotated[Path, typer.Option(help="The worlds of the run.")],
    protocol: Annotated[str | None, typer.Option(help="Protocol to use instead of that of the predictions.")] = None,
    json: options.Json = False,
) -> None:
    """Execute the stored actions again in the same worlds, and report every episode that differs.

    Prints the first difference of each: the step, the stored value, the value found. Exit code 1 if there are any.

    Example: itinera replay preds.jsonl --tasks R2R_val_unseen.json --worlds connectivity/
    """
    from dataclasses import asdict

    from itinera import api
    from itinera.formats.native_predictions import read_predictions

    stored = read_predictions(predictions)
    episodes = sum(len(rollout.trajectories) for rollout in stored.rollouts)
    with output.progress("replaying", len(stored.rollouts)) as progress:
        found = api.replay(stored, tasks, worlds, protocol=protocol, progress=progress)
    if json:
        differences = [asdict(difference) for difference in found]
        output.print_json({"file": str(predictions), "episodes": episodes, "differences": differences})
    elif found:
        for difference in found[:SHOWN]:
            output.print_line(f"{predictions}: {difference}")
        if len(found) > SHOWN:
            output.print_line(f"{predictions}: and {len(found) - SHOWN} more episodes.")
    else:
        output.print_line(f"{predictions}: {episodes} episodes replayed, all identical.")
    if found:
        raise typer.Exit(1)
