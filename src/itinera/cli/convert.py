"""`itinera convert`: from one file format into another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from itinera.cli import inputs as given
from itinera.cli import options, output
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.formats.catalog import Format
    from itinera.records import Provenance


def convert(
    source: Annotated[Path | None, typer.Argument(help="The file, folder or archive to read.")] = None,
    target: Annotated[Path | None, typer.Argument(help="Where to write; a name in .gz is compressed.")] = None,
    to: Annotated[str | None, typer.Option(help="The format to write.", autocompletion=options.formats)] = None,
    format: options.Format = None,
    tasks: Annotated[Path | None, typer.Option(help="The walks' episodes, where ids must be translated.")] = None,
    tours: Annotated[Path | None, typer.Option(help="Tours to write into native tasks.")] = None,
    episode: options.Episode = None,
    traces: Annotated[Path | None, typer.Option(help="RxR's folder of guide pose traces, to align words.")] = None,
    list_formats: Annotated[bool, typer.Option("--list", help="List the formats and stop.")] = False,
) -> None:
    """Convert tasks, walks, worlds or labels between formats: what is read is what is written, in other words.

    Formats are recognised by their content. `itinera convert --list` names them all.

    Example: itinera convert preds.json walks.jsonl --to native-walks
    """
    from itinera.formats import catalog

    if list_formats:
        _list()
        return
    if source is None or target is None or to is None:
        raise BadArgument("Give a source, a target and --to FORMAT, or --list to see the formats.")
    wanted = catalog.named(to)
    found = catalog.named(format) if format is not None else catalog.detect(source)
    if found.kind != wanted.kind:
        raise BadArgument(f"{source} holds {found.kind} ({found.name}), which cannot become {wanted.kind} ({to}).")
    content = _content(found, source, tasks, tours, traces, episode)
    if found.kind == "walks" and to == "rxr-ce-submission" and tasks is not None:
        from itinera.formats.vlnce_predictions import by_instruction_ids

        content = by_instruction_ids(content, catalog.read_tasks(tasks))
    told = given.provenance_of({"source": source, "tasks": tasks, "tours": tours, "traces": traces}, sys.argv[1:])
    _write(wanted, target, content, told)
    output.remark(f"{target}: {wanted.about}, from {found.about}.")


def _write(wanted: Format, target: Path, content: Any, told: Provenance) -> None:
    """Our own files carry their provenance; anybody else's gets it in a file beside it."""
    from dataclasses import replace

    from itinera.formats import fastest_times, native_predictions, native_tasks
    from itinera.formats.provenance import write_sidecar

    if wanted.name == "native-walks":
        native_predictions.write_predictions(target, replace(content, provenance=told))
    elif wanted.name == "native-tasks":
        native_tasks.write_split(target, content, told)
    elif wanted.name == "times":
        fastest_times.write_times(target, content, told)
    else:
        wanted.write(target, content)
        write_sidecar(target, told)


def _content(
    found: Format, source: Path, tasks: Path | None, tours: Path | None, traces: Path | None, episode: str | None
) -> Any:
    from itinera.formats import catalog

    if found.kind == "walks" and (tasks is not None or episode is not None):
        split = None if tasks is None else catalog.read_tasks(tasks)
        return catalog.read_predictions(source, split, format=found.name, episode=episode)
    if episode is not None:
        raise BadArgument("--episode goes with walks.")
    content = found.read(source)
    if traces is not None:
        if found.name != "rxr":
            raise BadArgument("--traces aligns the words of RxR guide annotations only.")
        from itinera.formats.rxr import with_alignment

        content = with_alignment(content, traces)
    if tours is not None:
        if found.kind != "tasks":
            raise BadArgument("--tours goes with tasks.")
        content = content.with_tours(catalog.read_tours(tours, content), str(tours))
    return content


def _list() -> None:
    from itinera.formats.catalog import ARCHIVES, FORMATS
    from itinera.reports.tables import Grid

    rows = tuple((known.name, known.kind, known.about) for known in (*FORMATS, *ARCHIVES))
    output.print_grid(Grid(("format", "holds", "what it is"), rows), "terminal")
