"""`itinera build tours`: the paths of every scene in the order of least guidance."""

from __future__ import annotations

from typing import Annotated

import typer

from itinera.cli import options, output


def tours(
    tasks: options.Tasks,
    out: options.Out,
    worlds: options.Worlds = None,
    order: Annotated[
        str,
        typer.Option(
            help="end-to-start, or start-to-start if goals are hidden (IVLN's rule for its test split).",
            autocompletion=lambda: ["end-to-start", "start-to-start"],
        ),
    ] = "end-to-start",
    solver: Annotated[
        str,
        typer.Option(
            help="exact: proven optimal; lkh: a heuristic (extra lkh).", autocompletion=lambda: ["exact", "lkh"]
        ),
    ] = "exact",
    time_limit: Annotated[
        float | None,
        typer.Option(help="Time limit of the exact solver per set of paths, seconds; then its best order is used."),
    ] = None,
    per_set: Annotated[
        int | None,
        typer.Option("--tours", help="Tours per set of paths. Default: as many as its paths have instructions."),
    ] = None,
    single: Annotated[bool, typer.Option(help="Keep sets of one path, as tours of one episode.")] = False,
    seed: options.Seed = 0,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Build IVLN's tours: the paths of every scene in the order of least guidance between episodes, proven optimal.

    Writes IVLN's format, {split: {scan: [[episode, …], …]}}, for `itinera score --tours`. --json reports cost, bound
    and gap of every set of paths. If interrupted, rerun the command to resume.

    Example: itinera build tours --tasks R2R_val_unseen.json --worlds connectivity/ --out tours.json
    """
    from dataclasses import asdict

    from itinera import api

    with output.progress("ordering scenes", None) as progress:
        built = api.build_tours(
            tasks,
            worlds,
            out,
            order=order,  # type: ignore[arg-type]
            solver=solver,  # type: ignore[arg-type]
            time_limit=time_limit,
            tours=per_set,
            single=single,
            seed=seed,
            overwrite=overwrite,
            progress=progress,
            command_words=output.command_words(),
        )
    if json:
        sets = [asdict(ordered) for ordered in built.sets]
        counts = {"tours": built.tours, "episodes": built.episodes, "cost": built.cost, "proven": built.proven}
        output.print_json({"file": str(out), **counts, "sets": sets})
        return
    counted = output.count(built.tours, "tour"), output.count(built.episodes, "episode")
    output.print_line(f"{out}: {counted[0]} of {counted[1]} in {output.count(built.scenes, 'scene')}.")
    proven = f"{built.proven} of {len(built.sets)} orders are proven optimal"
    output.print_line(f"{built.cost:.1f} m of guidance between episodes; {proven}.")
    if built.left_out:
        reason = "more instructions than the other paths of their set, or isolated paths"
        output.remark(f"{built.left_out} episodes are in no tour: {reason}.")
