"""Tables for the terminal, for papers and for spreadsheets."""

from __future__ import annotations

import csv
import io

import pytest
from rich.console import Console

from itinera.records import Column
from itinera.reports.tables import WRITERS, Grid, as_csv, as_latex, as_markdown, drawn, heading, number

SR, NE, PL = Column("SR"), Column("NE", "m", "lower"), Column("PL", "m", "neither")
GRID = Grid(("metric", "mean"), (("SR % ↑", "55.0"), ("a|b", 'say "x", y')), "a title")


def test_rates_are_percentages_and_metres_have_two_decimals() -> None:
    assert number(SR, 0.5546) == "55.5"
    assert number(NE, 5.2809) == "5.28"
    assert number(NE, float("inf")) == "inf"
    assert number(Column("steps", "steps"), 6.125) == "6.12"


def test_headings_tell_unit_and_which_way_is_better() -> None:
    assert [heading(column) for column in (SR, NE, PL, Column("steps", "steps", "neither"))] == [
        "SR % ↑", "NE m ↓", "PL m", "steps",
    ]  # fmt: skip


def test_csv_gives_back_every_cell() -> None:
    assert list(csv.reader(io.StringIO(as_csv(GRID)))) == [list(GRID.headings), *map(list, GRID.rows)]


def test_markdown_keeps_bars_within_their_cell() -> None:
    assert as_markdown(GRID) == ('| metric | mean |\n| --- | ---: |\n| SR % ↑ | 55.0 |\n| a\\|b | say "x", y |\n')


@pytest.mark.parametrize(
    ("plain", "escaped"),
    [
        ("SED_nodes %", r"SED\_nodes \%"),
        ("a & b # c $ d", r"a \& b \# c \$ d"),
        ("{x}~^", r"\{x\}\textasciitilde{}\textasciicircum{}"),
        ("C:\\x", r"C:\textbackslash{}x"),
        ("↑ ↓ −1 ± 2", r"$\uparrow$ $\downarrow$ $-$1 $\pm$ 2"),
    ],
)
def test_latex_has_no_sign_of_its_own_left(plain: str, escaped: str) -> None:
    assert as_latex(Grid((plain,), ())).splitlines()[2] == escaped + r" \\"


def test_latex_is_a_booktabs_tabular() -> None:
    assert as_latex(Grid(("metric", "mean"), (("SR", "1"),))).splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"metric & mean \\",
        r"\midrule",
        r"SR & 1 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_the_terminal_shows_every_cell() -> None:
    console = Console(file=io.StringIO(), width=80)
    console.print(drawn(GRID))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(cell in text for row in (GRID.headings, *GRID.rows) for cell in row)


def test_square_brackets_are_no_markup() -> None:
    console = Console(file=io.StringIO(), width=80)
    console.print(drawn(Grid(("metric", "gap"), (("SR", "+1.0 [−1.0, 3.0]"), ("x", "[bold]")))))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "+1.0 [−1.0, 3.0]" in text
    assert "[bold]" in text


@pytest.mark.parametrize("shape", WRITERS)
def test_an_empty_table_is_still_a_table(shape: str) -> None:
    assert "metric" in WRITERS[shape](Grid(("metric",), ()))
