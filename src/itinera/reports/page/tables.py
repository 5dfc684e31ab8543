"""The tables of a report, for the page and for papers."""

from __future__ import annotations

from collections.abc import Iterator

from itinera.formats.report_json import Estimate, StudyResults
from itinera.records import Column
from itinera.records.tables import (
    TextTable,
    column_heading,
    count_episodes,
    count_noun,
    format_difference,
    format_number,
)
from itinera.reports.benchmark import BenchmarkResults
from itinera.reports.breakdown import KINDS, Breakdown, classify_failures
from itinera.reports.page.sentences import find_comparison, format_p_value
from itinera.stats import Interval


def results_table(benchmark: BenchmarkResults) -> TextTable:
    """A row per metric: each agent's mean with its interval and its letters."""
    rows = []
    for column in benchmark.summaries[0].columns:
        letters = _letters(benchmark, column)
        cells = [
            f"{format_mean(column, summary.intervals.get(column.name))} {letter}".strip()
            for summary, letter in zip(benchmark.summaries, letters, strict=True)
        ]
        rows.append((column_heading(column), *cells))
    scenes = count_noun(len(benchmark.scene_ids), "scene")
    episodes = count_episodes(benchmark.episodes, benchmark.tables[0].part)
    title = f"{benchmark.title}: {episodes} in {scenes}, mean ({100 * benchmark.level:g} % interval)"
    shared = "; agents that share a letter do not differ significantly" if len(benchmark.names) > 1 else ""
    return TextTable(("metric", *benchmark.names), tuple(rows), f"{title}{shared}")


def _letters(benchmark: BenchmarkResults, column: Column) -> tuple[str, ...]:
    found = None if column.better == "neither" else find_comparison(benchmark, column.name)
    return ("",) * len(benchmark.names) if found is None else found.letters


def format_mean(column: Column, found: Interval | None) -> str:
    """A mean with its interval, as a cell of a table."""
    if found is None:
        return "undefined"
    mean, low, high = (format_number(column, x) for x in (found.mean, found.low, found.high))
    return f"{mean} ({low} – {high})"


def difference_tables(benchmark: BenchmarkResults) -> Iterator[TextTable]:
    """A table for each later agent minus the first: a row per metric."""
    if benchmark.comparison is None:
        return
    first, *others = benchmark.names
    for k, name in enumerate(others):
        rows = []
        for metric in benchmark.comparison.metrics:
            gap, column = metric.differences[k], metric.column
            low, high = (format_difference(column, x) for x in (gap.interval.low, gap.interval.high))
            better = f"{metric.improvements[k].mean:.2f}" if column.better != "neither" else ""
            p = format_p_value(gap.p_value).removeprefix("p = ").removeprefix("p ")
            rows.append(
                (column_heading(column), format_difference(column, gap.interval.mean), f"{low} to {high}", p, better)
            )
        percent = f"{100 * benchmark.level:g} % interval"
        yield TextTable(("metric", "difference", percent, "p", "P(better)"), tuple(rows), f"{name} minus {first}")


def breakdown_table(benchmark: BenchmarkResults, found: Breakdown, what: str) -> TextTable:
    """A row per group of episodes."""
    rows = tuple(
        (s.label, f"{s.episodes:,}", *(format_mean(found.column, mean) for mean in s.means)) for s in found.slices
    )
    return TextTable((what, "episodes", *benchmark.names), rows, f"{column_heading(found.column)} by {what}")


def failure_table(benchmark: BenchmarkResults) -> TextTable | None:
    """A row per kind of failure: the number of episodes of each agent. None without SR."""
    found = [classify_failures(benchmark, agent) for agent in range(len(benchmark.names))]
    if not found or found[0] is None:
        return None
    known = [one for one in found if one is not None]
    rows = [("succeeded", *(f"{one.succeeded:,}" for one in known))]
    for kind in KINDS:
        counts = [len(one.kinds.get(kind, ())) for one in known]
        if any(counts):
            rows.append((kind, *(f"{count:,}" for count in counts)))
    return TextTable(("outcome", *benchmark.names), tuple(rows), "episodes by outcome")


def skill_score_table(findings: StudyResults) -> TextTable | None:
    """A row per skill: each agent's score in percent. None without scores."""
    agents = list(findings.agents)
    names = dict.fromkeys(skill for found in findings.agents.values() for skill in found)
    rows = [
        (skill, *(_estimate(findings.agents[a][skill].score) if skill in findings.agents[a] else "" for a in agents))
        for skill in names
    ]
    rows = [row for row in rows if any(row[1:])]
    title = "skill scores, %: mean probability of the correct actions given the instruction"
    return TextTable(("skill", *agents), tuple(rows), title) if rows else None


def _estimate(found: Estimate | None) -> str:
    if found is None or found.mean is None:
        return ""
    ends = "" if found.low is None or found.high is None else f" ({100 * found.low:.1f} – {100 * found.high:.1f})"
    return f"{100 * found.mean:.1f}{ends}"
