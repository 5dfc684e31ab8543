"""`itinera first-faults`: the clause of its instruction at which a failed trajectory departs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output


def first_faults(
    predictions: options.PredictionsFile,
    tasks: options.Tasks,
    worlds: options.Worlds = None,
    alignment: Annotated[
        Path | None, typer.Option(help="RxR guide pose traces, to align words; a Hearth season has its own.")
    ] = None,
    tolerance: Annotated[
        float, typer.Option(help="Distance from the rest of the reference path at which a trajectory departs, meters.")
    ] = 3.0,
    episodes: options.Episodes = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List the fault of every episode too.")] = False,
    name: Annotated[str, typer.Option(help="Name of the agent. Default: the name of the file.")] = "",
    out: Annotated[Path | None, typer.Option("--out", help="JSON file, which `itinera report` reads.")] = None,
    protocol: options.ProtocolName = None,
    format: options.Format = None,
    json: options.Json = False,
    csv: options.Csv = False,
    markdown: options.Markdown = False,
    latex: options.Latex = False,
) -> None:
    """Find the clause at which each failed trajectory departs from its instruction, and fault rates by kind of clause.

    Needs words aligned with places: a Hearth season, RxR with pose traces, or Fine-Grained R2R.

    Example: itinera first-faults predictions.jsonl --tasks hearth/rxr/rxr_val_unseen_guide.jsonl.gz --worlds hearth
    """
    shape = output.output_format(json=json, csv=csv, markdown=markdown, latex=latex)
    from itinera import api

    found = api.first_faults(
        predictions,
        tasks,
        worlds,
        alignment=alignment,
        tolerance=tolerance,
        episodes=options.selection(episodes),
        protocol=protocol,
        format=format,
        name=name,
        out=out,
    )
    if shape == "json":
        output.print_json(found.to_dict())
        return
    output.print_table(found.to_table(), shape)
    if verbose:
        for fault in found:
            output.print_line(f"{fault.episode_id} in {fault.world_id}: {fault.sentence}")
