"""The part of the report page about runs: how far training seeds or repeated evaluations of an agent vary."""

from __future__ import annotations

import math
from collections.abc import Iterator

from itinera.records import Column
from itinera.records.summary import summarize_runs
from itinera.records.tables import TextTable, column_heading, format_number
from itinera.reports.benchmark import BenchmarkResults
from itinera.reports.charts import svg
from itinera.reports.charts.runs import run_strip
from itinera.reports.charts.svg import Chart
from itinera.reports.comparison import describe_runs, format_gain
from itinera.reports.markup import Markup, tag
from itinera.reports.page.elements import figures, table_element
from itinera.stats import RunVariation

Variations = list[dict[str, RunVariation]]  # by agent: metric -> how its runs vary


def list_runs(benchmark: BenchmarkResults, name: str) -> Iterator[Markup]:
    """A strip of the means of runs for the first two metrics, and tables of all; empty if every agent has one run."""
    if not any(table.runs for table in benchmark.tables):
        return
    found = [summarize_runs(table) for table in benchmark.tables]
    yield tag(
        "p",
        "Results with several runs are means over the runs, and their intervals are for other runs and other scenes. "
        "Lists of failures and of episodes show the first run, breakdowns the mean.",
    )
    main = benchmark.primary_metric
    for agent, variations in zip(benchmark.names, found, strict=True):
        if main.name in variations:
            yield tag("p", describe_runs(agent, main, variations[main.name]))
    columns = [column for column in (main, benchmark.secondary_metric) if column is not None]
    charts = [chart for column in columns if (chart := _strip(benchmark, column, found)) is not None]
    yield figures(charts, f"{name}-strip")
    for table in run_tables(benchmark, found):
        yield table_element(table)


def _strip(benchmark: BenchmarkResults, column: Column, found: Variations) -> Chart | None:
    shown = [
        (agent, summary.intervals[column.name], variations.get(column.name))
        for agent, summary, variations in zip(benchmark.agents, benchmark.summaries, found, strict=True)
        if column.name in summary.intervals and math.isfinite(summary.intervals[column.name].mean)
    ]
    if not shown:
        return None
    agents, means, variations = (list(part) for part in zip(*shown, strict=True))
    about = (
        "A marker for each run, with a band of one standard deviation between runs; below, the mean with its interval "
        "over runs and scenes."
    )
    rate = column.unit == ""
    return run_strip(
        f"Runs: {column.name}.",
        about,
        agents,
        means,
        variations,
        limits=(0.0, 1.0) if rate else (-math.inf, math.inf),
        tick_format=svg.format_percent if rate else "{:g}".format,
        unit=f"{column.name}, %" if rate else f"{column.name}, {column.unit}",
    )


def run_tables(benchmark: BenchmarkResults, found: Variations) -> Iterator[TextTable]:
    """A table for each agent with several runs: how each metric varies between runs and between scenes."""
    for agent, table, variations in zip(benchmark.names, benchmark.tables, found, strict=True):
        if not table.runs:
            continue
        rows = tuple(
            (column_heading(column), *_cells(column, variations[column.name]))
            for column in table.columns
            if column.name in variations
        )
        headings = ("metric", "mean", "lowest", "highest", "s.d. of runs", "s.e. over scenes", "gain of the best")
        yield TextTable(headings, rows, f"{agent}: {len(table.runs)} runs")


def _cells(column: Column, found: RunVariation) -> tuple[str, ...]:
    means = [format_number(column, x) for x in (found.mean, min(found.means), max(found.means))]
    gain = "" if column.better == "neither" else format_gain(column, found.best_of_gain)
    return (*means, format_gain(column, found.sd), format_gain(column, found.scene_error), gain)
