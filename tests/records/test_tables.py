"""Tables for the terminal, for papers and for spreadsheets."""

from __future__ import annotations

import csv
import io

import pytest

from itinera.records import Column
from itinera.records.tables import (
    WRITERS,
    TextTable,
    column_heading,
    escape_formula,
    format_difference,
    format_number,
    to_csv,
    to_latex,
    to_markdown,
    to_text,
)

SR, NE, PL = Column("SR"), Column("NE", "m", "lower"), Column("PL", "m", "neither")
TABLE = TextTable(("metric", "mean"), (("SR % ↑", "55.0"), ("a|b", 'say "x", y')), "a title")


def test_rates_are_percentages_and_metres_have_two_decimals() -> None:
    assert format_number(SR, 0.5546) == "55.5"
    assert format_number(NE, 5.2809) == "5.28"
    assert format_number(NE, float("inf")) == "inf"
    assert format_number(Column("steps", "steps"), 6.125) == "6.12"


def test_headings_tell_unit_and_which_way_is_better() -> None:
    assert [column_heading(column) for column in (SR, NE, PL, Column("steps", "steps", "neither"))] == [
        "SR % ↑", "NE m ↓", "PL m", "steps",
    ]  # fmt: skip


def test_csv_gives_back_every_cell() -> None:
    assert list(csv.reader(io.StringIO(to_csv(TABLE)))) == [list(TABLE.headings), *map(list, TABLE.rows)]


def test_markdown_keeps_bars_within_their_cell() -> None:
    assert to_markdown(TABLE) == ('| metric | mean |\n| --- | ---: |\n| SR % ↑ | 55.0 |\n| a\\|b | say "x", y |\n')


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
    assert to_latex(TextTable((plain,), ())).splitlines()[2] == escaped + r" \\"


def test_latex_is_a_booktabs_tabular() -> None:
    assert to_latex(TextTable(("metric", "mean"), (("SR", "1"),))).splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"metric & mean \\",
        r"\midrule",
        r"SR & 1 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_text_shows_every_cell_in_columns() -> None:
    lines = str(TABLE).splitlines()
    assert lines[0] == "a title"
    assert all(cell in str(TABLE) for row in (TABLE.headings, *TABLE.rows) for cell in row)
    assert len({len(line) for line in lines[1:]}) == 1


def test_wide_characters_take_two_columns() -> None:
    lines = to_text(TextTable(("name", "n"), (("智能体", "1"), ("ab", "2")))).splitlines()
    assert lines[3] == "│ 智能体 │ 1 │"
    assert lines[4] == "│ ab     │ 2 │"


def test_html_escapes_every_cell() -> None:
    text = TextTable(("<b>",), (("a & b",),), "x < y")._repr_html_()
    assert "<b>" not in text
    assert "<td>a &amp; b</td>" in text
    assert "<caption>x &lt; y</caption>" in text


def test_differences_carry_their_sign() -> None:
    assert [format_difference(SR, x) for x in (0.123, -0.123, 0.0001, -0.0001)] == ["+12.3", "−12.3", "0.0", "0.0"]


@pytest.mark.parametrize("shape", WRITERS)
def test_an_empty_table_is_still_a_table(shape: str) -> None:
    assert "metric" in WRITERS[shape](TextTable(("metric",), ()))


@pytest.mark.parametrize(
    "cell", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "+", "-x"]
)
def test_a_text_that_a_spreadsheet_would_compute_gets_an_apostrophe(cell: str) -> None:
    assert escape_formula(cell) == f"'{cell}"
    ((heading,), (written,)) = csv.reader(io.StringIO(to_csv(TextTable((cell,), ((cell,),)))))
    assert heading == written == f"'{cell}".replace("\r", r"\r")


@pytest.mark.parametrize(
    "cell", ["-1.5", "+12.5", "+1.0 [−1.0, +99.0]", "-1e-05", "−1.0", "55.0", "my-agent", "", "-inf"]
)
def test_numbers_of_ours_stay_as_they_are(cell: str) -> None:
    assert escape_formula(cell) == cell


@pytest.mark.parametrize(
    ("cell", "escaped"),
    [
        ("a\\|b", r"a\\\|b"),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        ("[x](javascript:y)", r"\[x\](javascript:y)"),
        ("two\nlines | three", r"two lines \| three"),
        ("\x1b[2J", r"\\x1b\[2J"),
        ("\u2068סוכן\u2069", "\u2068סוכן\u2069"),
    ],
)
def test_markdown_takes_names_for_text(cell: str, escaped: str) -> None:
    assert to_markdown(TextTable((cell,), ((cell,),))) == f"| {escaped} |\n| --- |\n| {escaped} |\n"


@pytest.mark.parametrize("cell", ["\\input{/etc/passwd}", "%\n\\input{x}", "^^5cinput{x}", "a\x1b\\write18{x}"])
def test_latex_runs_no_command_of_a_name(cell: str) -> None:
    line = to_latex(TextTable((cell,), ())).splitlines()[2]
    assert "\\input" not in line
    assert "\\write" not in line
    assert "^^" not in line
    assert "\x1b" not in line


@pytest.mark.parametrize("cell", ["[4cm] x", "*x"])
def test_latex_takes_a_bracket_after_a_row_for_text(cell: str) -> None:
    assert to_latex(TextTable((cell,), ())).splitlines()[2] == f"{{{cell[0]}}}{cell[1:]} \\\\"


def test_text_shows_invisible_characters_as_escapes() -> None:
    text = str(TextTable(("a\n",), (("\x1b[2J",),), "\u202etitle"))
    assert text.splitlines()[0] == r"\u202etitle"
    assert r"a\n" in text
    assert "\x1b" not in text
