"""`itinera compare`: results on the same episodes, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output


def compare(
    bundles: Annotated[list[Path], typer.Argument(help="Two or more bundles written by `itinera score --out`.")],
    episodes: options.Episodes = None,
    seed: options.Seed = 0,
    solved: Annotated[
        bool,
        typer.Option("--solved", help="One row per agent: SCT, SPL, SR, and SCT∩, SPL∩ on episodes solved by all."),
    ] = False,
    json: options.Json = False,
    csv: options.Csv = False,
    markdown: options.Markdown = False,
    latex: options.Latex = False,
) -> None:
    """Compare results pair by pair: each later bundle minus the first, with interval, permutation test and ties.

    Bundles must have the same episodes, protocol and suite. Systems that share a letter do not differ significantly;
    on a terminal, significant differences are green if better and red if worse. With --solved, agents are compared on
    the episodes that all of them solved.

    Example: itinera compare baseline.jsonl mine.jsonl
    """
    shape = output.output_format(json=json, csv=csv, markdown=markdown, latex=latex)
    from itinera import api

    part = options.selection(episodes)
    if solved:
        intersection = api.compare_solved(bundles, episodes=part)
        if shape == "json":
            output.print_json(intersection.to_dict())
        else:
            output.print_table(intersection.to_table(), shape)
        return
    found = api.compare(bundles, episodes=part, seed=seed)
    if shape == "json":
        output.print_json(found.to_dict())
    else:
        width = output.terminal_width() if shape == "terminal" else None
        output.print_table(found.to_table(max_width=width), shape, colors=found.colors(max_width=width))
    for sentence in found.remarks():
        output.remark(sentence)
