"""`itinera build ablated`: the same tasks with ablated instructions."""

from __future__ import annotations

from typing import Annotated

import typer

from itinera.cli import options, output


def build_ablated(
    tasks: options.Tasks,
    rule: Annotated[
        str,
        typer.Option(
            help="full; last-N, such as last-5: the last N tokens; none; other: the instruction of another path; "
            "without-turns, without-rooms, without-objects: such words masked."
        ),
    ],
    out: options.Out,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Build tasks with ablated instructions: truncated, masked, removed, or those of another path.

    Run and score an agent on them to measure how much it depends on language. The file has the format of the tasks;
    for Fine-Grained R2R that of R2R.

    Example: itinera build ablated --tasks R2R_val_unseen.json --rule last-5 --out R2R_val_unseen_last5.json
    """
    from itinera import api

    built = api.build_ablated(tasks, out, rule=rule, seed=seed, command_words=output.command_words())
    if json:
        output.print_json({"file": str(out), "rule": rule, "episodes": len(built.split), "changed": built.changed})
    else:
        output.print_line(f"{out}: {len(built.split)} episodes, {built.changed} instructions changed.")
