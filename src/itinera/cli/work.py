"""`itinera work`: judges entries for a challenge server, on the machine that has the answers."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output


def work(
    url: Annotated[str, typer.Argument(help="Address of the server.")],
    challenge: Annotated[
        Path, typer.Option("--challenge", help="Folder of the challenge on this machine, with the answers.")
    ],
    token: options.Token,
    name: Annotated[str, typer.Option(help="Name in the server's log. Default: host name and process.")] = "",
    limit_seconds: Annotated[
        float, typer.Option(help="Seconds that a judgement may take; then this process ends with exit code 3.", min=1)
    ] = 3600.0,
    give_up: Annotated[
        float, typer.Option(help="End after so many seconds without an answer of the server. Default: never.", min=1)
    ] = float("inf"),
) -> None:
    """Judge entries for a challenge server until SIGTERM or Ctrl-C, which let a judgement in progress end.

    Answers stay on this machine: entries come from the server, and scores go back. Make the token with
    `itinera host token DIR --worker`, and set ITINERA_TOKEN to it.

    Example: itinera work https://challenge.example --challenge challenge/
    """
    from itinera import api

    worker = api.work(
        url,
        challenge,
        token=token,
        name=name,
        limit_seconds=limit_seconds,
        give_up_seconds=give_up,
        on_overrun=lambda: os._exit(3),  # a judgement cannot be stopped otherwise
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: worker.stop())
    output.remark(f"Judged {worker.run()} entries.")
