"""How results and remarks are printed: widths, colours, and quiet."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from itinera.cli import output
from itinera.records.tables import TextTable, to_text

WIDE = TextTable(
    ("metric", *(f"system{i}" for i in range(40))), ((("SR %", *(f"+{i}.5 [−1.0, +99.0]" for i in range(40)))),)
)
GREEN = "\x1b[32m"


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No wish about colours or width, but those of a test."""
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    yield
    output.configure((), quiet=False)


def test_a_table_in_a_pipe_is_as_wide_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_table(WIDE, "terminal")
    out = capsys.readouterr().out
    assert all(cell in out for cell in WIDE.rows[0])
    assert len(out.splitlines()) == 5


def test_a_table_for_a_narrow_screen_is_folded_and_never_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    output.print_table(TextTable(("metric", "gap"), (("SR %", "+12.5 [−1.0, +99.0] of one hundred"),)), "terminal")
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 30
    assert "…" not in out
    assert all(word in out for word in ("+12.5", "[−1.0,", "+99.0]", "hundred"))


@pytest.mark.parametrize("columns", [34, 26])
def test_a_narrow_table_breaks_between_words_where_these_fit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    output.print_table(
        TextTable(("metric", "mean", "gap"), (("SED_nodes %", "−10.14", "+1.0 [−1.0, +99.0]"),)), "terminal"
    )
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= columns
    assert all(word in out for word in ("SED_nodes", "−10.14", "[−1.0,", "+99.0]"))


@pytest.mark.parametrize(
    ("wishes", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_colours_are_for_terminals_and_those_who_ask(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, wishes: dict[str, str], coloured: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name, value in wishes.items():
        monkeypatch.setenv(name, value)
    output.print_table(TextTable(("metric", "gap"), (("SR %", "+1.0"),)), "terminal", colors={(0, 1): "green"})
    assert (GREEN in capsys.readouterr().out) == coloured


def test_colours_never_reach_files_for_machines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    for shape in ("csv", "markdown", "latex"):
        output.print_table(TextTable(("metric", "gap"), (("SR %", "+1.0"),)), shape, colors={(0, 1): "green"})
        assert "\x1b" not in capsys.readouterr().out


def test_quiet_keeps_back_remarks_and_bars(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert output.is_interactive()
    output.configure((), quiet=True)
    assert not output.is_interactive()
    output.remark("By the way.")
    with output.progress("walking", 3) as done:
        done(3)
    assert capsys.readouterr() == ("", "")


def test_texts_are_aligned_left_and_numbers_right(capsys: pytest.CaptureFixture[str]) -> None:
    table = TextTable(("name", "what", "mean"), (("a", "R2R's", "1.5"), ("b", "its own", "undefined")))
    output.print_table(table, "terminal")
    drawn = capsys.readouterr().out
    assert "│ a    │ R2R's   │       1.5 │" in drawn
    assert drawn.strip() == to_text(table)


def test_a_narrow_table_stays_within_its_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Widths that rich's own shrinking left wider than the terminal, so that the last column was cut off.
    headings = ("agent, skill", "with", "without", "difference", "p", "pairs", "verdict")
    cells = ("reader, stop against more", "0.948", "0.948", "+0.632 [+0.562, +0.694]", "", "233", "too few trials")
    monkeypatch.setenv("COLUMNS", "80")
    output.print_table(TextTable(headings, (cells,)), "terminal")
    lines = capsys.readouterr().out.splitlines()
    assert {len(line) for line in lines} == {80}
    assert all(line[-1] in "┓┃┩│┘" for line in lines)
