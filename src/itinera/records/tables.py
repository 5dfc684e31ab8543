"""Tables of means with intervals as plain text, HTML, CSV, Markdown and LaTeX.

Rates are printed as percentages; everywhere else they are fractions. Cells may contain names from any file: each writer
escapes what its format would obey, and shows invisible characters as escapes.
"""

from __future__ import annotations

import csv
import html
import io
import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from itinera.errors import escape_controls
from itinera.records.scores import Column
from itinera.tasks.fastest_times import ReferenceRobot
from itinera.tasks.split import SplitPart

_NO_NUMBER = ("inf", "nan", "undefined")  # stand in a column of numbers
ARROWS = {"higher": " ↑", "lower": " ↓", "neither": ""}


@dataclass(frozen=True)
class TextTable:
    """A table of formatted cells: a heading per column, and rows of text. `print` shows it with its title."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    bold: frozenset[tuple[int, int]] = frozenset()  # row and column of cells that Markdown and LaTeX print in bold

    def __str__(self) -> str:
        return to_text(self)

    def _repr_html_(self) -> str:
        return to_html(self)


def format_number(column: Column, value: float) -> str:
    """The value as papers print it: fractions as percentages, metres with two decimals, dollars with four."""
    if column.unit == "":
        return f"{100 * value:.1f}"
    return f"{value:.4f}" if column.unit == "USD" else f"{value:.2f}"


def format_difference(column: Column, value: float) -> str:
    """The difference with its sign: rates in percentage points, other metrics in their unit; zero has no sign."""
    text = format_number(column, value).replace("-", "−")
    if not text.strip("−0."):
        return text.lstrip("−")
    return text if value < 0 else f"+{text}"


def column_heading(column: Column) -> str:
    """The metric's name, its unit, and an arrow towards better values."""
    unit = {"": " %", "m": " m", "s": " s", "USD": " USD"}.get(column.unit, "")
    return f"{column.name}{unit}{ARROWS[column.better]}"


def count_noun(number: int, noun: str) -> str:
    """A number and its noun: "1 scene", "1,021 scenes"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def count_episodes(number: int, part: SplitPart | None) -> str:
    """A number of episodes, and of how many if they are part of a split: "120 of 2,349 episodes"."""
    if part is None:
        return count_noun(number, "episode")
    name = f" ({part.name})" if part.name else ""
    return f"{number:,} of {count_noun(part.total, 'episode')}{name}"


def describe_robot(robot: ReferenceRobot) -> str:
    """A reference robot in words, for the caption of a table."""
    goal = f"within {robot.goal_radius:g} m of the goal" if robot.goal_radius else "to the goal point"
    backwards = ", also backwards" if robot.reverse else ""
    turning = "" if robot.wmax is None else f" and {math.degrees(robot.wmax):.4g} °/s"
    speeds = f"{robot.vmax:g} m/s{turning}{backwards}"
    return f"a {robot.dynamics} robot of radius {robot.radius:g} m at {speeds}, {goal}"


def to_text(table: TextTable) -> str:
    """The table for a terminal of any width, below its title; texts are aligned left, numbers right."""
    headings, *rows = ([escape_controls(text, one_line=True) for text in row] for row in (table.headings, *table.rows))
    widths = [max(_width(row[i]) for row in (headings, *rows)) for i in range(len(headings))]

    left = [is_text(table, i) for i in range(len(headings))]

    def line(row: Sequence[str], bar: str) -> str:
        padded = [
            text + " " * (width - _width(text)) if left[i] else " " * (width - _width(text)) + text
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        return f"{bar} {f' {bar} '.join(padded)} {bar}"

    def rule(left: str, dash: str, middle: str, right: str) -> str:
        return left + middle.join(dash * (width + 2) for width in widths) + right

    head = [rule("┏", "━", "┳", "┓"), line(headings, "┃"), rule("┡", "━", "╇", "┩")]
    body = [*(line(row, "│") for row in rows), rule("└", "─", "┴", "┘")]
    return "\n".join([*([escape_controls(table.title)] if table.title else []), *head, *body])


def is_text(table: TextTable, column: int) -> bool:
    """Whether a column is aligned left: the first, and those whose cells begin with a letter."""
    cells = [row[column] for row in table.rows if row[column]]
    return column == 0 or (bool(cells) and all(cell[0].isalpha() and cell not in _NO_NUMBER for cell in cells))


def table_width(table: TextTable) -> int:
    """Columns of a terminal that the table needs if nothing but lines separates its cells."""
    cells = ([escape_controls(text, one_line=True) for text in row] for row in (table.headings, *table.rows))
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    return sum(widths) + len(widths) + 1


def _width(text: str) -> int:
    """Terminal columns: wide characters take two, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def to_html(table: TextTable) -> str:
    """An HTML table for a notebook, with its title as the caption."""
    caption = f"<caption>{html.escape(table.title)}</caption>" if table.title else ""
    head = "".join(f"<th>{html.escape(text)}</th>" for text in table.headings)
    rows = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in table.rows)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


# A spreadsheet computes a cell that begins with one of these, also in the wide forms of East Asian keyboards.
_FORMULA = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
# A signed number of ours, perhaps with its interval.
_NUMBER = re.compile(r"[+-](\d[\d.,]*|inf)([eE][+-]?\d+)?( ?%)?( [\[(±][\d.,;+−–\-%\s\])inf]*)?")


def escape_formula(cell: str) -> str:
    """The cell with an apostrophe before it if a spreadsheet would take it for a formula; numbers stay as they are.

    >>> escape_formula("=1+1"), escape_formula("-1.5"), escape_formula("my-agent")
    ("'=1+1", '-1.5', 'my-agent')
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def to_csv(table: TextTable) -> str:
    """The cells as CSV, the headings first; a text that a spreadsheet would take for a formula gets an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in (table.headings, *table.rows):
        writer.writerow([escape_controls(escape_formula(cell)) for cell in row])
    return out.getvalue()


def escape_markdown(text: str) -> str:
    """The text on one line, with every character escaped that Markdown or HTML within it would obey."""
    # First-strong isolates keep names that are written from right to left apart from the text around them.
    parts = re.split("([\u2068\u2069])", " ".join(text.split("\n")))
    plain = "".join(part if part in ("\u2068", "\u2069") else escape_controls(part, one_line=True) for part in parts)
    plain = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]#|~])", r"\\\1", plain)


def to_markdown(table: TextTable) -> str:
    """A Markdown table, numbers aligned right."""
    lines = [
        _pipe_row(list(map(escape_markdown, table.headings))),
        _pipe_row(["---", *["---:"] * (len(table.headings) - 1)]),
    ]
    for i, row in enumerate(table.rows):
        cells = [escape_markdown(cell) for cell in row]
        lines.append(_pipe_row([f"**{cell}**" if (i, k) in table.bold else cell for k, cell in enumerate(cells)]))
    return "\n".join(lines) + "\n"


def _pipe_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


_LATEX = {"%": r"\%", "&": r"\&", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
          "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
          "↑": r"$\uparrow$", "↓": r"$\downarrow$", "−": "$-$", "±": r"$\pm$",
          "∩": r"$\cap$", "∞": r"$\infty$", "°": r"$^\circ$"}  # fmt: skip


def escape_latex(text: str) -> str:
    """The text on one line, with every special character of LaTeX escaped."""
    return "".join(_LATEX.get(c, c) for c in escape_controls(" ".join(text.split()), one_line=True))


def to_latex(table: TextTable) -> str:
    """A booktabs tabular."""

    def line(cells: Sequence[str], row: int = -1) -> str:
        escaped = map(escape_latex, cells)
        first, *others = (rf"\textbf{{{cell}}}" if (row, k) in table.bold else cell for k, cell in enumerate(escaped))
        # After the end of a row, LaTeX would take a bracket or an asterisk for an argument of it.
        first = f"{{{first[0]}}}{first[1:]}" if first[:1] in ("[", "*") else first
        return " & ".join([first, *others]) + r" \\"

    columns = "l" + "r" * (len(table.headings) - 1)
    head = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", line(table.headings), r"\midrule"]
    return "\n".join([*head, *(line(row, i) for i, row in enumerate(table.rows)), r"\bottomrule", r"\end{tabular}", ""])


WRITERS: MappingProxyType[str, Callable[[TextTable], str]] = MappingProxyType(
    {"csv": to_csv, "markdown": to_markdown, "latex": to_latex}
)
