"""`itinera compare`: results on the same episodes, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output
from itinera.errors import BadArgument


def compare(
    bundles: Annotated[
        list[Path] | None, typer.Argument(help="Bundles written by `itinera score --out`; two or more with --name.")
    ] = None,
    name: options.Names = None,
    best_of: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=N",
            help="The result of NAME is the best of N runs: correct it by the gain that this brings. May be repeated.",
        ),
    ] = None,
    metrics: options.Metrics = None,
    episodes: options.Episodes = None,
    seed: options.Seed = 0,
    solved: Annotated[
        bool,
        typer.Option("--solved", help="One row per agent: SCT, SPL, SR, and SCT∩, SPL∩ on episodes solved by all."),
    ] = False,
    paper: Annotated[
        bool,
        typer.Option("--paper", help="One row per system, as in papers: mean ± half of the interval, best in bold."),
    ] = False,
    json: options.Json = False,
    csv: options.Csv = False,
    markdown: options.Markdown = False,
    latex: options.Latex = False,
) -> None:
    """Compare results pair by pair: each later bundle minus the first, with interval, permutation test and ties.

    Bundles must have the same episodes, protocol and suite. Systems that share a letter do not differ significantly;
    on a terminal, significant differences are green if better and red if worse. Several files under one --name are runs
    of one system, whose mean is compared with intervals over runs and scenes. With --solved, agents are compared on the
    episodes that all of them solved.

    Example: itinera compare baseline.jsonl --name 'mine=seed*.jsonl'
    """
    shape = output.output_format(json=json, csv=csv, markdown=markdown, latex=latex)
    from itinera import api

    part = options.selection(episodes)
    results = options.named_files(bundles, name)
    if solved:
        intersection = api.compare_solved(results, episodes=part)
        if shape == "json":
            output.print_json(intersection.to_dict())
        else:
            output.print_table(intersection.to_table(), shape)
        return
    found = api.compare(
        results, best_of=_read_counts(best_of), metrics=options.metrics_list(metrics), episodes=part, seed=seed
    )
    if shape == "json":
        output.print_json(found.to_dict())
    elif paper:
        output.print_table(found.to_paper_table(), shape)
    else:
        width = output.terminal_width() if shape == "terminal" else None
        output.print_table(found.to_table(max_width=width), shape, colors=found.colors(max_width=width))
    for sentence in found.remarks():
        output.remark(sentence)


def _read_counts(given: list[str] | None) -> dict[str, int]:
    counts = {}
    for text in given or []:
        name, _, count = text.rpartition("=")
        if not name or not count.isdecimal():
            raise BadArgument(f"--best-of {text!r} must be NAME=N, the number of its runs, such as --best-of mine=5.")
        counts[name] = int(count)
    return counts
