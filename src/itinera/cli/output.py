"""What every verb prints: results to stdout in the shape asked for, remarks to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from itinera.errors import BadArgument

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from itinera.reports.tables import Grid

UNBOUNDED = 100_000  # columns, where nobody looks
_quiet = False  # for the one command this process runs


def be_quiet(wanted: bool) -> None:
    """Whether remarks and bars are kept back from now on; results and errors never are."""
    global _quiet
    _quiet = wanted


def chosen(*, json: bool = False, csv: bool = False, markdown: bool = False, latex: bool = False) -> str:
    """The one shape asked for; "terminal" if none."""
    asked = [name for name, on in {"json": json, "csv": csv, "markdown": markdown, "latex": latex}.items() if on]
    if len(asked) > 1:
        raise BadArgument(f"Choose one of --{' and --'.join(asked)}.")
    return asked[0] if asked else "terminal"


def count(number: int, what: str) -> str:
    """A number of things in words: "1 scene", "8 scenes"."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def print_json(value: Any) -> None:
    import msgspec

    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def print_grid(grid: Grid, shape: str, *, colours: Mapping[tuple[int, int], str] | None = None) -> None:
    """The table in one of the shapes but JSON; some cells, by row and column, in colour where a terminal shows it.

    NO_COLOR, FORCE_COLOR and COLUMNS are heeded.
    """
    from itinera.reports.tables import WRITERS, drawn

    if shape == "terminal":
        if grid.title:
            typer.echo(grid.title)
        _print_table(drawn(grid, colours or {}))
    else:
        typer.echo(WRITERS[shape](grid), nl=False)


def _print_table(table: Table) -> None:
    from rich.console import Console

    looked_at = sys.stdout.isatty() or "COLUMNS" in os.environ
    # Where nobody looks, such as in a pipe, nothing is fitted to the width of a screen.
    console = Console(width=None if looked_at else UNBOUNDED)
    if console.measure(table, options=console.options.update(max_width=UNBOUNDED)).maximum > console.width:
        _make_narrow(table, console)
    console.print(table)


def _make_narrow(table: Table, console: Console) -> None:
    """Cells of several lines, broken between words if the screen is as wide as that takes."""
    words = [max(console.measure(text).minimum for text in (c.header, *c.cells)) for c in table.columns]
    if sum(words) + 3 * len(words) + 1 > console.width:
        table.padding = (0, 0, 0, 0)  # the lines between columns are space enough
    fits = sum(words) + sum(table.padding[1::2]) * len(words) + len(words) + 1 <= console.width
    for column, longest in zip(table.columns, words, strict=True):
        column.no_wrap, column.overflow = False, "fold"  # a number of two lines says more than one that is cut
        column.min_width = longest if fits else None


def remark(text: str) -> None:
    """A line for the person, beside the result."""
    if not _quiet:
        typer.echo(text, err=True)


def watched() -> bool:
    """Whether somebody sees a bar on the terminal and wants to."""
    return sys.stderr.isatty() and not _quiet


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on the terminal that is told how much more is done; silent where nobody watches."""
    if not watched():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)
