"""`itinera reproduce`: repeats a run or a score from the provenance of its file, and compares."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output

SHOWN = 10


def reproduce(
    bundle: Annotated[
        Path, typer.Argument(help="Predictions of `itinera run`, or a score bundle of `itinera score --out`.")
    ],
    trust: Annotated[
        bool, typer.Option("--trust", help="Allow the command to run code that is not part of itinera.")
    ] = False,
    workers: Annotated[int | None, typer.Option(help="Number of worker processes, for a run.")] = None,
    json: options.Json = False,
) -> None:
    """Repeat a run or a score with the command stored in its file, and compare every row.

    The inputs must be unchanged, by their digests, and lie where the command looks for them, so run this in the folder
    of the original command. A command that runs code outside Itinera is repeated only with --trust. Exit code 1 if a
    row differs.

    Example: itinera reproduce preds.jsonl --trust
    """
    from itinera import api

    result = api.reproduce(bundle, trust=trust, workers=workers)
    different = result.different
    if json:
        output.print_json({"file": str(bundle), "rows": result.rows, "different": list(different)})
    elif result.identical:
        output.print_line(f"{bundle}: reproduced; all {result.rows} rows are identical.")
    else:
        lines = ", ".join(map(str, different[:SHOWN])) + (" …" if len(different) > SHOWN else "")
        output.print_line(f"{bundle}: reproduced; {len(different)} of {result.rows} rows differ, in lines {lines}.")
    if different:
        raise typer.Exit(1)
