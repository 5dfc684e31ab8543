"""`itinera report`: one page about results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output


def report(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Bundles of `score --out`, of any number of benchmarks; also fastest times, and the JSON output of "
            "`study analyse` and `describe`."
        ),
    ] = None,
    *,
    out: options.Out,
    name: options.Names = None,
    metrics: options.Metrics = None,
    markdown: Annotated[Path | None, typer.Option(help="Also write sentences and tables as Markdown.")] = None,
    latex: Annotated[Path | None, typer.Option(help="Also write the tables as LaTeX.")] = None,
    replays: Annotated[
        Path | None,
        typer.Option(
            help="Folder of `itinera show` pages, linked from the episodes and agents they contain; a page named "
            "replay-EPISODE.html is linked from that episode."
        ),
    ] = None,
    tasks: Annotated[
        list[Path] | None,
        typer.Option(help="Tasks file of the results, to list failures with their instruction. May be repeated."),
    ] = None,
    episodes: options.Episodes = None,
    title: Annotated[str, typer.Option(help="Title of the page. Default: agents and benchmark.")] = "",
    seed: options.Seed = 0,
) -> None:
    """Write one HTML page about results: summary, comparisons, breakdowns, failures, all episodes, provenance.

    Bundles with the same episodes, protocol and suite are compared; others get sections of their own. The page is one
    file and loads nothing from the network.

    Example: itinera report baseline.jsonl mine.jsonl --out report.html
    """
    from itinera import api

    made = api.report(
        options.named_files(results, name),
        out=out,
        markdown=markdown,
        latex=latex,
        replays=replays,
        tasks=tasks or (),
        episodes=options.selection(episodes),
        metrics=options.metrics_list(metrics),
        title=title,
        seed=seed,
    )
    for headline in made.headlines:
        # Isolates of names that are written from right to left, which pages need and terminals show as boxes.
        output.print_line(headline.replace("\u2068", "").replace("\u2069", ""))
    output.remark(f"{out}: {out.stat().st_size / 1e6:.1f} MB; open it in a browser.")
