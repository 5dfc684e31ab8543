"""`itinera describe`: statistics of data sets side by side, and figures of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output


def describe(
    tasks: Annotated[list[Path], typer.Argument(help="Data sets: R2R, R4R, RxR, REVERIE, NDH, VLN-CE, native.")],
    worlds: options.Worlds = None,
    tours: Annotated[Path | None, typer.Option(help="Tours of IVLN, to measure the coverage along them.")] = None,
    parts: Annotated[
        Path | None, typer.Option(help="The tasks R4R, R6R or R8R were joined from, to measure the coverage.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Draw distributions, tour lengths and coverage into this folder.")
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
    markdown: options.Markdown = False,
    latex: options.Latex = False,
) -> None:
    """Describe data sets: paths, lengths, words, turns, overlap and tours, a column for each.

    Coverage is that of an oracle that follows the reference paths and is guided between them: before each episode, the
    share of its path, of the whole tour and of the scene, by nodes visited and by nodes visible.

    Example: itinera describe R2R_train.json R4R_train.json --worlds connectivity/ --figures figures/
    """
    shape = output.output_format(json=json, csv=csv, markdown=markdown, latex=latex)
    from itinera import api

    table = api.describe(*tasks, worlds=worlds, tours=tours, parts=parts)
    if figures is not None:
        table.draw(figures)
    if shape == "json":
        output.print_json(table.to_dicts())
    else:
        output.print_table(table.to_table(), shape)
