"""Reports for papers: the same tables, safe in Markdown and LaTeX."""

from __future__ import annotations

from itinera.formats.report_json import Estimate, SkillResult, StudyResults
from itinera.reports.page.manuscript import to_latex_floats, to_markdown_text
from itinera.reports.page.report import make_report
from reports.example_results import make_scores

FINDINGS = StudyResults({"a_b": {"stop": SkillResult(["a_b stops <well>."], Estimate(0.9, 0.8, 0.95))}})
REPORT = make_report(
    ["<b>bold</b>", "pipe|_x_"],
    [make_scores(0.8, toured=True, timed=True), make_scores(0.4, toured=True, timed=True)],
    findings=[FINDINGS],
)


def test_markdown_holds_every_table_and_takes_names_for_text():
    text = to_markdown_text(REPORT)
    assert "<b>" not in text
    assert "&lt;b&gt;bold&lt;/b&gt;" in text
    assert r"pipe\|\_x\_" in text
    for title in ("minus", "by scene", "by path length", "by position in the tour", "skill scores", "∩"):
        assert title in text
    widths = [line.replace(r"\|", "").count("|") for line in text.splitlines() if line.startswith("|")]
    assert min(widths) > 2


def test_latex_tables_are_whole():
    text = to_latex_floats(REPORT)
    for part in ("table", "tabular"):
        assert text.count(rf"\begin{{{part}}}") == text.count(rf"\end{{{part}}}") > 5
    outside = [line for line in text.splitlines() if not line.startswith("%")]
    assert not [line for line in outside if "%" in line.replace(r"\%", "")]
    assert r"pipe|\_x\_" in text


def test_a_title_of_several_lines_stays_a_comment_of_latex():
    report = make_report(["a"], [make_scores(0.8)], title="x\n\\input{/etc/passwd}\x1b")
    text = to_latex_floats(report)
    assert not [line for line in text.splitlines() if line.startswith("\\input")]
    assert "\x1b" not in text
    assert "\x1b" not in to_markdown_text(report)
