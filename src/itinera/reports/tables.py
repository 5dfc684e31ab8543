"""Tables of means with intervals, for the terminal, for papers and for spreadsheets.

Rates are percentages here and only here.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from itinera.records import Column
from itinera.tasks.fastest_times import ReferenceRobot

if TYPE_CHECKING:
    from rich.table import Table

ARROWS = {"higher": " ↑", "lower": " ↓", "neither": ""}


@dataclass(frozen=True)
class Grid:
    """A table before it is drawn: a heading for each column, and rows of text."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""


def number(column: Column, value: float) -> str:
    """A value as papers print it: fractions as percentages, metres with two decimals."""
    return f"{100 * value:.1f}" if column.unit == "" else f"{value:.2f}"


def heading(column: Column) -> str:
    unit = {"": " %", "m": " m", "s": " s"}.get(column.unit, "")
    return f"{column.name}{unit}{ARROWS[column.better]}"


def robot_told(robot: ReferenceRobot) -> str:
    """A reference robot in words, as it stands under a table."""
    goal = f"within {robot.goal_radius:g} m of the goal" if robot.goal_radius else "to the goal point"
    backwards = ", also backwards" if robot.reverse else ""
    turning = "" if robot.wmax is None else f" and {math.degrees(robot.wmax):.4g} °/s"
    speeds = f"{robot.vmax:g} m/s{turning}{backwards}"
    return f"a {robot.dynamics} robot of radius {robot.radius:g} m at {speeds}, {goal}"


def drawn(grid: Grid, colours: Mapping[tuple[int, int], str] = MappingProxyType({})) -> Table:
    """The table for a terminal, without its title, which would be broken to the table's width.

    Cells that are named, by row and column, have a colour.
    """
    from rich.table import Table
    from rich.text import Text  # plain: within a str, rich takes what stands in brackets for markup

    table = Table(header_style="bold")
    for i, text in enumerate(grid.headings):
        table.add_column(Text(text), justify="left" if i == 0 else "right", no_wrap=True)
    for i, row in enumerate(grid.rows):
        table.add_row(*(Text(cell, style=colours.get((i, j), "")) for j, cell in enumerate(row)))
    return table


def as_csv(grid: Grid) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(grid.headings)
    writer.writerows(grid.rows)
    return out.getvalue()


def as_markdown(grid: Grid) -> str:
    lines = [_piped(grid.headings), _piped(["---", *["---:"] * (len(grid.headings) - 1)])]
    return "\n".join([*lines, *map(_piped, grid.rows)]) + "\n"


def _piped(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


_LATEX = {"%": r"\%", "&": r"\&", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
          "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
          "↑": r"$\uparrow$", "↓": r"$\downarrow$", "−": "$-$", "±": r"$\pm$",
          "∩": r"$\cap$", "∞": r"$\infty$", "°": r"$^\circ$"}  # fmt: skip


def latex_text(text: str) -> str:
    """Text that LaTeX takes for nothing but text."""
    return "".join(_LATEX.get(c, c) for c in text)


def as_latex(grid: Grid) -> str:
    """A booktabs tabular."""

    def line(cells: Sequence[str]) -> str:
        return " & ".join(map(latex_text, cells)) + r" \\"

    columns = "l" + "r" * (len(grid.headings) - 1)
    head = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", line(grid.headings), r"\midrule"]
    return "\n".join([*head, *map(line, grid.rows), r"\bottomrule", r"\end{tabular}", ""])


WRITERS: MappingProxyType[str, Callable[[Grid], str]] = MappingProxyType(
    {"csv": as_csv, "markdown": as_markdown, "latex": as_latex}
)
