"""`itinera submit`: sends predictions to a challenge server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output


def submit(
    url: Annotated[str, typer.Argument(help="Address of the server.")],
    file: Annotated[Path, typer.Argument(help="Predictions, best those of `itinera run`.")],
    phase: Annotated[str, typer.Option(help="Phase of the challenge.")],
    method: Annotated[str, typer.Option(help="Name of your method on the board.")],
    token: options.Token,
    notes: Annotated[str, typer.Option(help="Words about the entry: paper, code, data used.")] = "",
    visibility: Annotated[
        str, typer.Option(help="Who may see the entry: public, anonymous (without your team), host or team.")
    ] = "public",
    tasks: Annotated[Path | None, typer.Option(help="Published tasks, to check the file before the upload.")] = None,
    worlds: options.Worlds = None,
    wait: Annotated[bool, typer.Option(help="Wait for the scores.")] = False,
    json: options.Json = False,
) -> None:
    """Check predictions, upload them, and submit them to a phase of a challenge.

    The server refuses before the upload if the phase is closed, no shots are left or the file is too large. An upload
    that broke off continues where it was. Set ITINERA_TOKEN to the token of your team. Exit code 1 if the entry was
    refused or failed.

    Example: itinera submit https://challenge.example preds.jsonl --phase test --method Reader --wait
    """
    from itinera import api

    report = api.submit(
        url,
        file,
        phase=phase,
        token=token,
        method=method,
        notes=notes,
        visibility=visibility,  # type: ignore[arg-type]
        tasks=tasks,
        worlds=worlds,
        wait=wait,
    )
    output.print_entry(report, json=json)
