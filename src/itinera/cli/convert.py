"""`itinera convert`: from one file format into another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output
from itinera.errors import BadArgument


def convert(
    source: Annotated[Path | None, typer.Argument(help="The file, folder or archive to read.")] = None,
    target: Annotated[Path | None, typer.Argument(help="The file to write; a name in .gz is compressed.")] = None,
    to: Annotated[str | None, typer.Option(help="The format to write.", autocompletion=options.formats)] = None,
    format: options.Format = None,
    tasks: Annotated[Path | None, typer.Option(help="The tasks of predictions, where ids must be translated.")] = None,
    tours: Annotated[Path | None, typer.Option(help="Tours to write into native tasks.")] = None,
    episode: options.Episode = None,
    traces: Annotated[Path | None, typer.Option(help="RxR's folder of guide pose traces, to align words.")] = None,
    list_formats: Annotated[bool, typer.Option("--list", help="List the formats and exit.")] = False,
) -> None:
    """Convert tasks, predictions, worlds or labels between formats.

    Formats are recognized by content. `itinera convert --list` names them all.

    Example: itinera convert preds.json predictions.jsonl --to native-predictions
    """
    if list_formats:
        _list()
        return
    if source is None or target is None or to is None:
        raise BadArgument("Give a source, a target and --to FORMAT, or --list to see the formats.")
    from itinera import api

    done = api.convert(
        source,
        target,
        to,
        format=format,
        tasks=tasks,
        tours=tours,
        traces=traces,
        episode=episode,
        command_words=output.command_words(),
    )
    output.remark(str(done))


def _list() -> None:
    from itinera.formats.catalog import BY_NAME
    from itinera.records.tables import TextTable

    rows = tuple((known.name, known.kind, known.about) for known in BY_NAME.values())
    output.print_table(TextTable(("format", "kind", "description"), rows), "terminal")
