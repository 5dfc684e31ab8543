"""Tables of means with intervals as plain text, HTML, CSV, Markdown and LaTeX.

Rates are printed as percentages; everywhere else they are fractions.
"""

from __future__ import annotations

import csv
import html
import io
import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from itinera.records.scores import Column
from itinera.tasks.fastest_times import ReferenceRobot

ARROWS = {"higher": " ↑", "lower": " ↓", "neither": ""}


@dataclass(frozen=True)
class TextTable:
    """A table of formatted cells: a heading per column, and rows of text. `print` shows it with its title."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""

    def __str__(self) -> str:
        return to_text(self)

    def _repr_html_(self) -> str:
        return to_html(self)


def format_number(column: Column, value: float) -> str:
    """The value as papers print it: fractions as percentages, metres with two decimals."""
    return f"{100 * value:.1f}" if column.unit == "" else f"{value:.2f}"


def format_difference(column: Column, value: float) -> str:
    """The difference with its sign: rates in percentage points, other metrics in their unit; zero has no sign."""
    text = format_number(column, value).replace("-", "−")
    if not text.strip("−0."):
        return text.lstrip("−")
    return text if value < 0 else f"+{text}"


def column_heading(column: Column) -> str:
    """The metric's name, its unit, and an arrow towards better values."""
    unit = {"": " %", "m": " m", "s": " s"}.get(column.unit, "")
    return f"{column.name}{unit}{ARROWS[column.better]}"


def count_noun(number: int, noun: str) -> str:
    """A number and its noun: "1 scene", "1,021 scenes"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def describe_robot(robot: ReferenceRobot) -> str:
    """A reference robot in words, for the caption of a table."""
    goal = f"within {robot.goal_radius:g} m of the goal" if robot.goal_radius else "to the goal point"
    backwards = ", also backwards" if robot.reverse else ""
    turning = "" if robot.wmax is None else f" and {math.degrees(robot.wmax):.4g} °/s"
    speeds = f"{robot.vmax:g} m/s{turning}{backwards}"
    return f"a {robot.dynamics} robot of radius {robot.radius:g} m at {speeds}, {goal}"


def to_text(table: TextTable) -> str:
    """The table for a terminal of any width, below its title; the first column is aligned left, the others right."""
    cells = [table.headings, *table.rows]
    widths = [max(_width(row[i]) for row in cells) for i in range(len(table.headings))]

    def line(row: Sequence[str], bar: str) -> str:
        padded = [
            text + " " * (width - _width(text)) if i == 0 else " " * (width - _width(text)) + text
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        return f"{bar} {f' {bar} '.join(padded)} {bar}"

    def rule(left: str, dash: str, middle: str, right: str) -> str:
        return left + middle.join(dash * (width + 2) for width in widths) + right

    head = [rule("┏", "━", "┳", "┓"), line(table.headings, "┃"), rule("┡", "━", "╇", "┩")]
    body = [*(line(row, "│") for row in table.rows), rule("└", "─", "┴", "┘")]
    return "\n".join([*([table.title] if table.title else []), *head, *body])


def _width(text: str) -> int:
    """Terminal columns: wide characters take two, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def to_html(table: TextTable) -> str:
    """An HTML table for a notebook, with its title as the caption."""
    caption = f"<caption>{html.escape(table.title)}</caption>" if table.title else ""
    head = "".join(f"<th>{html.escape(text)}</th>" for text in table.headings)
    rows = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in table.rows)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def to_csv(table: TextTable) -> str:
    """The cells as CSV, the headings first."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.headings)
    writer.writerows(table.rows)
    return out.getvalue()


def to_markdown(table: TextTable) -> str:
    """A Markdown table, numbers aligned right."""
    lines = [_pipe_row(table.headings), _pipe_row(["---", *["---:"] * (len(table.headings) - 1)])]
    return "\n".join([*lines, *map(_pipe_row, table.rows)]) + "\n"


def _pipe_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


_LATEX = {"%": r"\%", "&": r"\&", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
          "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
          "↑": r"$\uparrow$", "↓": r"$\downarrow$", "−": "$-$", "±": r"$\pm$",
          "∩": r"$\cap$", "∞": r"$\infty$", "°": r"$^\circ$"}  # fmt: skip


def escape_latex(text: str) -> str:
    """The text with every special character of LaTeX escaped."""
    return "".join(_LATEX.get(c, c) for c in text)


def to_latex(table: TextTable) -> str:
    """A booktabs tabular."""

    def line(cells: Sequence[str]) -> str:
        return " & ".join(map(escape_latex, cells)) + r" \\"

    columns = "l" + "r" * (len(table.headings) - 1)
    head = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", line(table.headings), r"\midrule"]
    return "\n".join([*head, *map(line, table.rows), r"\bottomrule", r"\end{tabular}", ""])


WRITERS: MappingProxyType[str, Callable[[TextTable], str]] = MappingProxyType(
    {"csv": to_csv, "markdown": to_markdown, "latex": to_latex}
)
