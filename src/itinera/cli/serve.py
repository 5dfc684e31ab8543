"""`itinera serve`: a challenge server with its database, its queue and a local worker."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output


def serve(
    folder: options.ChallengeFolder,
    database: options.Database = None,
    host: Annotated[str, typer.Option(help="Address to listen on; a reverse proxy adds TLS.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on (0: any free one).", min=0, max=65535)] = 8321,
    workers: Annotated[
        int, typer.Option(help="Processes of this machine that judge (0: only those of `itinera work`).", min=0, max=64)
    ] = 1,
    backup: Annotated[Path | None, typer.Option(help="A folder for hourly backups.")] = None,
    lease_seconds: Annotated[
        float, typer.Option(help="Seconds after which the judgement of a silent worker returns to the queue.", min=1)
    ] = 60.0,
) -> None:
    """Serve a challenge: teams submit predictions, workers judge them by replaying their actions.

    The folder has a challenge.toml with phases; `itinera host new` writes one. SIGTERM and Ctrl-C stop the server after
    requests and judgements in progress; after a kill or a power failure, it continues where it was.

    Example: itinera serve challenge/ --backup backup/
    """
    from itinera import api

    api.serve(
        folder,
        database=database,
        host=host,
        port=port,
        workers=workers,
        backup=backup,
        lease_seconds=lease_seconds,
        on_start=lambda url: output.print_line(f"Serving {folder} at {url}"),
    )
