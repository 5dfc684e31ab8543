"""The page says how the runs of an agent vary, and is as before where every agent has one."""

from __future__ import annotations

from itinera.records.runs import average_runs
from itinera.reports.page.report import make_report, render_report
from reports.example_tables import table

SCENES = "aabbccdd"
ONE = table(SCENES, SR=[1, 0, 1, 1, 0, 0, 1, 1], SPL=[1, 0, 0.5, 0.5, 0, 0, 1, 0.8], NE=[1, 5, 2, 1, 6, 4, 0, 2])
TWO = table(SCENES, SR=[1, 0, 0, 1, 0, 0, 1, 0], SPL=[1, 0, 0, 0.5, 0, 0, 1, 0], NE=[1, 5, 4, 1, 6, 4, 0, 5])


def test_a_page_about_runs_has_a_strip_and_a_table_of_them() -> None:
    made = make_report(["old", "mine"], [TWO, average_runs("mine", [ONE, TWO])])
    page = render_report(made)
    assert "Runs: SR." in page
    assert "mine: 2 runs" in page
    assert "gain of the best" in page
    assert "t-test over runs and scenes" in page
    assert "There is one run of old" in page


def test_a_page_about_single_runs_has_neither() -> None:
    page = render_report(make_report(["old", "mine"], [TWO, ONE]))
    assert "gain of the best" not in page
    assert "runs and scenes" not in page


def test_failures_are_those_of_the_first_run() -> None:
    page = render_report(make_report(["mine"], [average_runs("mine", [ONE, TWO])]))
    assert "mine: 3 failures in its first run" in page
