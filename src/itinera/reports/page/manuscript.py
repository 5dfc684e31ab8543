"""The sentences and tables of a report as Markdown or LaTeX, for papers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from itinera.errors import escape_controls
from itinera.records.tables import TextTable, escape_latex, escape_markdown, to_latex, to_markdown
from itinera.reports.benchmark import BenchmarkResults
from itinera.reports.breakdown import group_by_length, group_by_scene, group_by_tour_position
from itinera.reports.markup import BIDI_CONTROLS, display_name
from itinera.reports.page import tables as report_tables
from itinera.reports.page.report import Report
from itinera.reports.page.sentences import answer_questions


def to_markdown_text(report: Report) -> str:
    """The report as Markdown, without its charts."""
    parts = [f"# {escape_markdown(report.heading)}\n"]
    for benchmark in report.benchmarks:
        parts.append(f"## {escape_markdown(benchmark.title)}\n")
        parts += [
            f"**{escape_markdown(a.question)}** {' '.join(map(escape_markdown, a.sentences))}\n"
            for a in answer_questions(benchmark)
        ]
        parts += [
            f"{escape_markdown(table.title)}\n\n{to_markdown(_short_cells(table))}" for table in list_tables(benchmark)
        ]
    parts += [
        f"{escape_markdown(table.title)}\n\n{to_markdown(_short_cells(table))}" for table in _latency_tables(report)
    ]
    for found in report.findings:
        table = report_tables.skill_score_table(found)
        parts.append(
            "## Skills\n"
            + (f"\n{escape_markdown(table.title)}\n\n{to_markdown(_short_cells(table))}" if table is not None else "")
        )
        verdicts = [v for skills in found.agents.values() for skill in skills.values() for v in skill.verdicts]
        parts.append("".join(f"- {escape_markdown(verdict)}\n" for verdict in verdicts))
    return "\n".join(parts)


def to_latex_floats(report: Report) -> str:
    """The tables of the report as LaTeX floats, none wider than a line; needs packages booktabs and graphicx."""
    parts = [f"% {_strip_bidi(report.heading)}\n% \\usepackage{{booktabs,graphicx}}\n"]
    for benchmark in report.benchmarks:
        sentences = [s for answer in answer_questions(benchmark) for s in answer.sentences]
        parts.append("".join(f"% {_strip_bidi(s)}\n" for s in sentences))
        parts += [_latex_float(table) for table in list_tables(benchmark)]
    parts += [_latex_float(table) for table in _latency_tables(report)]
    parts += [
        _latex_float(table)
        for found in report.findings
        if (table := report_tables.skill_score_table(found)) is not None
    ]
    return "\n".join(parts)


def list_tables(benchmark: BenchmarkResults) -> Iterator[TextTable]:
    """The tables of a benchmark, in the order of the page."""
    yield report_tables.results_table(benchmark)
    if benchmark.comparison is not None:
        yield benchmark.comparison.to_paper_table()
    yield from report_tables.difference_tables(benchmark)
    if len(benchmark.scene_ids) > 1:
        yield report_tables.breakdown_table(benchmark, group_by_scene(benchmark, benchmark.primary_metric), "scene")
    for what, found in (
        ("path length", group_by_length(benchmark, benchmark.primary_metric)),
        ("position in the tour", group_by_tour_position(benchmark, benchmark.primary_metric)),
    ):
        if found is not None:
            yield report_tables.breakdown_table(benchmark, found, what)
    if benchmark.intersection is not None:
        yield benchmark.intersection.to_table()
    failures = report_tables.failure_table(benchmark)
    if failures is not None:
        yield failures


def _latency_tables(report: Report) -> Iterator[TextTable]:
    """The tables of SCT and other metrics by thinking time."""
    for curves in report.latency:
        yield from (curves.to_table(metric) for metric in curves.metrics)


def _short_cells(table: TextTable) -> TextTable:
    """The table with names that fit on a line."""
    rows = tuple(tuple(display_name(cell, max_chars=200) if cell else "" for cell in row) for row in table.rows)
    return replace(table, rows=rows)


def _latex_float(table: TextTable) -> str:
    tidy = replace(
        table,
        headings=tuple(_strip_bidi(cell) for cell in table.headings),
        rows=tuple(tuple(_strip_bidi(cell) for cell in row) for row in table.rows),
    )
    caption = escape_latex(_strip_bidi(table.title))
    # A table that fits keeps its size.
    fitted = f"\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{{to_latex(tidy).strip()}}}"
    return f"\\begin{{table}}\n\\centering\n\\caption{{{caption}}}\n{fitted}\n\\end{{table}}\n"


def _strip_bidi(text: str) -> str:
    """The text on one line, without the bidirectional controls that pages need and LaTeX cannot read."""
    return escape_controls(" ".join(BIDI_CONTROLS.sub("", text).split()), one_line=True)
