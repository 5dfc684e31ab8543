"""`itinera gather`: joins the parts that --shard made into the result of the whole command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output


def gather(
    parts: Annotated[list[Path], typer.Argument(help="Files or folders of all shards, in any order.")],
    out: Annotated[Path, typer.Option("--out", help="The file or folder to write.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    json: options.Json = False,
) -> None:
    """Join the parts of a command that was run with --shard; the result has the bytes of the command without it.

    Refuses missing and doubled shards, parts of other commands, settings, inputs or versions, and records that were
    changed or lost; every problem is reported with the command that mends it.

    Example: itinera gather preds.*-of-16.jsonl --out preds.jsonl
    """
    from itinera import api

    with output.progress("verifying parts", len(parts)) as progress:
        found = api.gather(parts, out, overwrite=overwrite, progress=progress)
    if json:
        output.print_json(
            {"file": str(found.file), "command": found.command, "parts": found.parts, "records": found.records}
        )
    else:
        parts_read = output.count(found.parts, "part")
        output.print_line(f"{found.file}: {found.records} records of itinera {found.command}, from {parts_read}.")
