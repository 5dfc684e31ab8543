"""The output of every verb: results to stdout in the requested format, remarks to stderr.

Names and reasons come from files and agents that nobody vouches for. Everything is printed by the functions below,
which show invisible characters as escapes (`itinera.errors.escape_controls`): no file can move the cursor, hide or
reorder text.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from itinera.errors import INVISIBLE, BadArgument, escape_controls, shorten

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from itinera.records.tables import TextTable
    from itinera.server.messages import EntryReport

UNBOUNDED = 100_000  # columns, if stdout is not a terminal
LONGEST_REASON = 500  # characters of a failure, whose reason an agent may have written
SHOWN_REASONS = 3
INTERRUPTED = 130  # exit code after Ctrl-C, as shells count it: 128 + SIGINT
_NOT_ASCII = re.compile(r"[^\x00-\x7e]|" + INVISIBLE.pattern)
_quiet = False  # for the one command this process runs
_command: tuple[str, ...] = ()


def configure(command: Sequence[str], *, quiet: bool) -> None:
    """Set up the output of one command: its words, and whether remarks and progress bars are shown.

    Results and errors are always printed. Messages of the library's logger are rendered as remarks.
    """
    global _quiet, _command
    _quiet, _command = quiet, tuple(command)
    logger = logging.getLogger("itinera")
    logger.setLevel(logging.INFO)
    if not any(isinstance(handler, _Remarks) for handler in logger.handlers):
        logger.addHandler(_Remarks())


def command_words() -> tuple[str, ...]:
    """The words of the command after `itinera`, for the provenance of results; --quiet is left out."""
    return _command


class _Remarks(logging.Handler):
    """Prints the messages of the library to stderr, a line each."""

    def emit(self, record: logging.LogRecord) -> None:
        remark(record.getMessage())


def output_format(*, json: bool = False, csv: bool = False, markdown: bool = False, latex: bool = False) -> str:
    """The requested format; "terminal" if there is none."""
    asked = [name for name, on in {"json": json, "csv": csv, "markdown": markdown, "latex": latex}.items() if on]
    if len(asked) > 1:
        raise BadArgument(f"Choose one of --{' and --'.join(asked)}.")
    return asked[0] if asked else "terminal"


def count(number: int, what: str) -> str:
    """A number of things in words: "1 scene", "8 scenes"."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def print_text(text: str, *, to_stderr: bool = False) -> None:
    """Print lines of text, with invisible characters as escapes."""
    print(escape_controls(text), file=sys.stderr if to_stderr else sys.stdout, flush=True)


def print_line(text: str, *, to_stderr: bool = False) -> None:
    """Print one line of text: line breaks within a name are escaped too, so that no name can pose as a line of ours."""
    print_text(escape_controls(text, one_line=True), to_stderr=to_stderr)


def print_entry(report: EntryReport, *, json: bool) -> None:
    """Print what became of an entry of a challenge; ends with code 1 if it was refused or failed."""
    if json:
        print_json(report)
    else:
        print_line(report.summary)
    if report.state in ("refused", "failed"):
        raise SystemExit(1)


def print_json(value: Any) -> None:
    """Print JSON, with invisible characters as escapes; in ASCII where the terminal has no UTF-8."""
    import json

    import msgspec

    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    unsafe = INVISIBLE if is_utf8(sys.stdout) else _NOT_ASCII
    print(unsafe.sub(lambda found: json.dumps(found[0])[1:-1], text), flush=True)


def is_utf8(stream: Any) -> bool:
    """Whether the stream can show every character."""
    return str(getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "").startswith("utf")


def print_table(table: TextTable, shape: str, *, colors: Mapping[tuple[int, int], str] | None = None) -> None:
    """Print the table in any format but JSON; `colors` of cells, by row and column, are for terminals only.

    The environment variables NO_COLOR, FORCE_COLOR and COLUMNS apply.
    """
    from itinera.records.tables import WRITERS

    if shape == "terminal":
        if table.title:
            print_line(table.title)  # apart from the table: within it, it would be broken to the table's width
        _print_rich(_rich_table(table, colors or {}))
    else:
        print_text(WRITERS[shape](table).removesuffix("\n"))


def _rich_table(table: TextTable, colors: Mapping[tuple[int, int], str]) -> Table:
    from rich.table import Table
    from rich.text import Text  # plain: in a str, rich reads brackets as markup

    from itinera.records.tables import is_text

    drawn = Table(header_style="bold")
    for i, text in enumerate(table.headings):
        drawn.add_column(
            Text(escape_controls(text, one_line=True)), justify="left" if is_text(table, i) else "right", no_wrap=True
        )
    for i, row in enumerate(table.rows):
        cells = (escape_controls(cell, one_line=True) for cell in row)
        drawn.add_row(*(Text(cell, style=colors.get((i, j), "")) for j, cell in enumerate(cells)))
    return drawn


def terminal_width() -> int:
    """The columns that a table may take: those of the terminal.

    Output that is not on a terminal, such as in a pipe, is not fitted to the width of a screen.
    """
    from rich.console import Console

    looked_at = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console().width if looked_at else UNBOUNDED


def _print_rich(table: Table) -> None:
    from rich.console import Console

    console = Console(width=terminal_width())
    if console.measure(table, options=console.options.update(max_width=UNBOUNDED)).maximum > console.width:
        _make_narrow(table, console)
    console.print(table)


def _make_narrow(table: Table, console: Console) -> None:
    """Leave out the padding; if that does not suffice, break cells into several lines, between words if possible."""
    whole = [max(console.measure(text).maximum for text in (c.header, *c.cells)) for c in table.columns]
    if sum(whole) + len(whole) + 1 <= console.width:
        table.padding = (0, 0, 0, 0)  # the lines between columns separate them enough
        return
    words = [max(console.measure(text).minimum for text in (c.header, *c.cells)) for c in table.columns]
    if sum(words) + 3 * len(words) + 1 > console.width:
        table.padding = (0, 0, 0, 0)
    available = console.width - sum(table.padding[1::2]) * len(words) - len(words) - 1
    widths = _share_width(words, whole, available) if sum(words) <= available else [None] * len(words)
    for column, width in zip(table.columns, widths, strict=True):
        column.no_wrap, column.overflow = False, "fold"  # a number on two lines is readable, a truncated one is not
        column.width = width


def _share_width(least: Sequence[int], most: Sequence[int], available: int) -> list[int]:
    """A width for each column, from its least to its most, the columns that lack most served first.

    >>> _share_width([3, 5], [9, 6], 11)
    [6, 5]
    """
    widths = list(least)
    for _ in range(available - sum(least)):
        lacking = [most[i] - width for i, width in enumerate(widths)]
        if max(lacking) <= 0:
            break
        widths[lacking.index(max(lacking))] += 1
    return widths


def remark(text: str) -> None:
    """Print a line for the user to stderr."""
    if not _quiet:
        print_line(text, to_stderr=True)


def print_reasons(reasons: Counter[str]) -> None:
    """Remarks on the most frequent reasons of failures, each on one line of bounded length."""
    for reason, number in reasons.most_common(SHOWN_REASONS):
        remark(f"{number} failed: {shorten(reason, LONGEST_REASON)}")


def is_interactive() -> bool:
    """Whether stderr is a terminal and the user did not ask for --quiet."""
    return sys.stderr.isatty() and not _quiet


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar on a terminal, advanced by the function that it yields; without a total it only shows activity."""
    if not is_interactive():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)


def print_usage_error(error: Any) -> int:
    """Print an error of typer in the form of its help; returns the exit code."""
    from typer import rich_utils

    error.message = escape_controls(str(error.message))
    rich_utils.rich_format_error(error)
    return int(error.exit_code)
