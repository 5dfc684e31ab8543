"""`itinera estimate`: the means over a full split, from the scores of a named subset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output


def estimate(
    scores: Annotated[Path, typer.Argument(help="Score bundle of the subset, or of the full split.")],
    subset: Annotated[Path, typer.Option(help="File of the subset, written by `itinera sample`.")],
    reference: Annotated[
        list[Path] | None,
        typer.Option(help="Score bundle of another agent on the full split, as control variate. May be repeated."),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
    markdown: options.Markdown = False,
    latex: options.Latex = False,
) -> None:
    """Estimate the means over the full split from the scores of a subset, with two 95 % intervals.

    "Full split" is about all episodes of the split, "other scenes" about scenes that the split does not have. The
    column "variance left" is what the control variates leave of the variance.

    Example: itinera estimate mine-200.jsonl --subset subset.json --reference baseline.jsonl
    """
    shape = output.output_format(json=json, csv=csv, markdown=markdown, latex=latex)
    from itinera import api

    found = api.estimate_split(scores, subset, references=reference or ())
    if shape == "json":
        output.print_json(found.to_dict())
    else:
        output.print_table(found.to_table(), shape)
