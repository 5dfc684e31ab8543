"""A report for papers: the same sentences and tables as Markdown or LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from itinera.reports.breakdown import by_leg, by_length, by_scene
from itinera.reports.intersection import as_grid
from itinera.reports.markup import DIRECTING, named
from itinera.reports.page import tables as report_tables
from itinera.reports.page.contest import Contest
from itinera.reports.page.page import Report
from itinera.reports.page.sentences import answers
from itinera.reports.tables import Grid, as_latex, as_markdown, latex_text


def markdown(report: Report) -> str:
    """The report as Markdown, without its charts."""
    parts = [f"# {_md(report.heading)}\n"]
    for contest in report.contests:
        parts.append(f"## {_md(contest.title)}\n")
        parts += [f"**{_md(a.question)}** {' '.join(map(_md, a.sentences))}\n" for a in answers(contest)]
        parts += [f"{_md(grid.title)}\n\n{as_markdown(_each(grid))}" for grid in tables(contest)]
    for found in report.findings:
        grid = report_tables.skills(found)
        parts.append("## Skills\n" + (f"\n{_md(grid.title)}\n\n{as_markdown(_each(grid))}" if grid is not None else ""))
        verdicts = [v for skills in found.agents.values() for skill in skills.values() for v in skill.verdicts]
        parts.append("".join(f"- {_md(verdict)}\n" for verdict in verdicts))
    return "\n".join(parts)


def latex(report: Report) -> str:
    """The tables of the report as LaTeX floats, none wider than a line, for a document that uses booktabs, graphicx."""
    parts = [f"% {report.heading}\n% \\usepackage{{booktabs,graphicx}}\n"]
    for contest in report.contests:
        sentences = [s for answer in answers(contest) for s in answer.sentences]
        parts.append("".join(f"% {s}\n" for s in sentences))
        parts += [_float(grid) for grid in tables(contest)]
    parts += [_float(grid) for found in report.findings if (grid := report_tables.skills(found)) is not None]
    return "\n".join(parts)


def tables(contest: Contest) -> Iterator[Grid]:
    """The tables of a contest, in the order of the page."""
    yield report_tables.results(contest)
    yield from report_tables.differences(contest)
    if len(contest.scene_ids) > 1:
        yield report_tables.sliced(contest, by_scene(contest, contest.leading), "scene")
    for what, found in (
        ("length of the way", by_length(contest, contest.leading)),
        ("episode of the tour", by_leg(contest, contest.leading)),
    ):
        if found is not None:
            yield report_tables.sliced(contest, found, what)
    if contest.solved is not None:
        yield as_grid(contest.solved)
    failing = report_tables.failing(contest)
    if failing is not None:
        yield failing


def _each(grid: Grid) -> Grid:
    """The grid with text that Markdown takes for nothing but text."""
    rows = tuple(tuple(_md(named(cell, longest=200)) if cell else "" for cell in row) for row in grid.rows)
    return replace(grid, headings=tuple(map(_md, grid.headings)), rows=rows)


def _md(text: str) -> str:
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]#])", r"\\\1", plain)


def _float(grid: Grid) -> str:
    tidy = replace(
        grid,
        headings=tuple(_undirected(cell) for cell in grid.headings),
        rows=tuple(tuple(_undirected(cell) for cell in row) for row in grid.rows),
    )
    caption = latex_text(_undirected(grid.title))
    # A table that fits keeps its size.
    fitted = f"\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{{as_latex(tidy).strip()}}}"
    return f"\\begin{{table}}\n\\centering\n\\caption{{{caption}}}\n{fitted}\n\\end{{table}}\n"


def _undirected(text: str) -> str:
    """Without the marks of direction that pages need and LaTeX cannot read; on one line."""
    return " ".join(DIRECTING.sub("", text).split())
