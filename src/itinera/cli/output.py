"""What every verb prints: results to stdout in the shape asked for, remarks to stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.reports.tables import Grid

Json = Annotated[bool, typer.Option("--json", help="Print JSON: fractions, metres and seconds, full precision.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print the table as CSV.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")]
Latex = Annotated[bool, typer.Option("--latex", help="Print the table as a LaTeX tabular.")]


def chosen(*, json: bool = False, csv: bool = False, markdown: bool = False, latex: bool = False) -> str:
    """The one shape asked for; "terminal" if none."""
    asked = [name for name, on in {"json": json, "csv": csv, "markdown": markdown, "latex": latex}.items() if on]
    if len(asked) > 1:
        raise BadArgument(f"Choose one of --{' and --'.join(asked)}.")
    return asked[0] if asked else "terminal"


def print_json(value: Any) -> None:
    import msgspec

    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def print_grid(grid: Grid, shape: str) -> None:
    """The table in one of the shapes but JSON."""
    from itinera.reports.tables import WRITERS, drawn

    if shape == "terminal":
        from rich.console import Console

        if grid.title:
            typer.echo(grid.title)
        # Where nobody looks, such as in a pipe, nothing is cut to the width of a screen.
        Console(width=None if sys.stdout.isatty() else 240).print(drawn(grid))
    else:
        typer.echo(WRITERS[shape](grid), nl=False)


def remark(text: str) -> None:
    """A line for the person, beside the result."""
    typer.echo(text, err=True)


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on the terminal that is told how much more is done; silent where nobody watches."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)
