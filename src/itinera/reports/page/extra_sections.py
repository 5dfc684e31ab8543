"""The sections of the report page besides its benchmarks: skills, first faults, fastest times, and coverage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from itinera.formats.report_json import (
    ClauseResult,
    CoveragePoint,
    DatasetCoverage,
    Estimate,
    FirstFaultResults,
    StudyResults,
)
from itinera.records.tables import TextTable, describe_robot
from itinera.reports.charts import svg
from itinera.reports.charts.svg import Series
from itinera.reports.markup import Markup, display_name, tag
from itinera.reports.page import tables as report_tables
from itinera.reports.page.elements import details, figures, listing, table_element
from itinera.stats import Interval
from itinera.tasks.fastest_times import FastestTimes
from itinera.worlds import Array

SHARES = {
    "upcoming": "Share of the next path observed before",
    "tour": "Share of the whole tour observed before",
    "scene": "Share of the scene observed before",
}
FAULT_CHARTS: tuple[tuple[str, str, Callable[[ClauseResult], Estimate | None]], ...] = (
    ("First faults", "Share of the clauses reached at which a trajectory first departs from its reference path, by "
     "kind of clause, with intervals clustered by scene.", lambda found: found.rate),
    ("Shares of first faults", "Of all first faults of an agent, the share at clauses of each kind, with intervals "
     "clustered by scene.", lambda found: found.share),
)  # fmt: skip
SENSING = {"visited": "visited viewpoints", "visible": "visible viewpoints"}


def skills_section(findings: Sequence[StudyResults], styles: Mapping[str, int]) -> Markup:
    """The findings of skill studies: scores side by side, then the verdicts on each agent.

    `styles` are the series indices of the agents of the benchmarks, which keep their style here.
    """
    parts: list[Markup] = []
    indices = dict(styles)
    for i, found in enumerate(findings):
        agents = [
            Series(display_name(name), indices.setdefault(display_name(name), len(indices))) for name in found.agents
        ]
        names = dict.fromkeys(skill for of_agent in found.agents.values() for skill in of_agent)
        rows = [(skill, [_score(found, agent, skill) for agent in found.agents]) for skill in names]
        rows = [row for row in rows if any(row[1])]
        if rows:
            about = "Mean probability of the correct actions given the instruction, with intervals clustered by scene."
            chart = figures([svg.forest_plot("Skill scores.", about, agents, rows)], f"skills-{i}")
            grid = report_tables.skill_score_table(found)
            table = "" if grid is None else table_element(grid, agents=agents)
            parts.append(tag("div", chart, table, class_="beside"))
        for agent, of_agent in zip(agents, found.agents.values(), strict=True):
            verdicts = [verdict for skill in of_agent.values() for verdict in skill.verdicts]
            parts.append(details(f"Verdicts on {agent.name}", listing(verdicts)))
    return tag("section", tag("h2", "Skills", id="skills"), *parts)


def faults_section(found: Sequence[FirstFaultResults], styles: Mapping[str, int]) -> Markup:
    """Rates and shares of faults by kind of clause, side by side for the agents, and how their failures begin."""
    indices = dict(styles)
    names = [display_name(one.first_faults) for one in found]
    agents = [Series(name, indices.setdefault(name, len(indices))) for name in names]
    kinds = dict.fromkeys(result.kind for one in found for result in one.kinds)
    by_kind = [{result.kind: result for result in one.kinds} for one in found]
    none = ClauseResult("", 0, 0, Estimate(None))
    rows = {
        title: [(kind, [_interval(get(of_agent.get(kind, none))) for of_agent in by_kind]) for kind in kinds]
        for title, _, get in FAULT_CHARTS
    }
    charts = [svg.forest_plot(f"{title}.", about, agents, rows[title]) for title, about, _ in FAULT_CHARTS if kinds]
    grids = [
        TextTable(("clause", *names), tuple((kind, *map(_percent, means)) for kind, means in of_chart), f"{title}, %")
        for title, of_chart in rows.items()
    ]
    sentences = [_describe_faults(name, one) for name, one in zip(names, found, strict=True)]
    heading = tag("h2", "First faults", id="first-faults")
    tables = details("Rates and shares as tables", *(table_element(grid, agents=agents) for grid in grids))
    return tag("section", heading, listing(sentences), figures(charts, "first-faults"), tables)


def _percent(found: Interval | None) -> str:
    return "" if found is None else f"{100 * found.mean:.1f} ({100 * found.low:.1f} – {100 * found.high:.1f})"


def _describe_faults(name: str, found: FirstFaultResults) -> str:
    how = ", ".join(f"{count:,} {words}" for words, count in found.how.items() if count)
    failed = found.episodes - found.succeeded
    return f"{name}: {failed:,} failures in {found.episodes:,} episodes{f': {how}' if how else ''}."


def _score(found: StudyResults, agent: str, skill: str) -> Interval | None:
    of_skill = found.agents[agent].get(skill)
    return None if of_skill is None else _interval(of_skill.score)


def _interval(found: Estimate | CoveragePoint | None) -> Interval | None:
    if found is None or found.mean is None:
        return None
    low, high = (found.mean if end is None else end for end in (found.low, found.high))
    return Interval(found.mean, low, high)


def times_section(times: Sequence[FastestTimes]) -> Markup:
    """Fastest times: their reference robots, and the gaps between lower and upper bounds."""
    names = [display_name(describe_robot(one.robot), max_chars=120) for one in times]
    items = [_describe_times(one, name) for one, name in zip(times, names, strict=True)]
    gaps = [_gaps(one) for one in times]
    about = "The closer a curve is to the upper left, the tighter the bounds of SCT."
    most = max([0.01, *(float(np.quantile(gap[np.isfinite(gap)], 0.99)) for gap in gaps if np.isfinite(gap).any())])
    series = [Series(f"times {i + 1}", i) for i in range(len(times))]
    chart = svg.cumulative_plot(
        "Gap between the bounds of fastest times.", about, series, gaps,
        below="gap, % of the upper bound, at most", limits=(0.0, most), tick_format=lambda x: f"{100 * x:.3g}",
    )  # fmt: skip
    return tag("section", tag("h2", "Fastest times", id="times"), listing(items), figures([chart], "times"))


def _gaps(one: FastestTimes) -> Array:
    """(episodes,) gap between the bounds as a share of the upper one; inf if the goal is unreachable."""
    known = np.isfinite(one.upper) & (one.upper > 0)
    gaps = np.full(len(one), np.inf)
    gaps[known] = 1 - one.lower[known] / one.upper[known]
    return gaps


def _describe_times(one: FastestTimes, robot: str) -> str:
    reached = np.isfinite(one.lower) & np.isfinite(one.upper)
    count = f"{len(one):,} episode{'s' if len(one) != 1 else ''} for {robot}"
    if not reached.any():
        return f"{count}: no goal is reachable."
    low, high = one.lower[reached].mean(), one.upper[reached].mean()
    unreachable = "" if reached.all() else f"; the goal is unreachable in {int((~reached).sum()):,}"
    return f"{count}: {low:.2f} to {high:.2f} s on average{unreachable}."


def coverage_section(described: Sequence[DatasetCoverage]) -> Markup:
    """Shares observed before each episode, by the number of episodes done."""
    shown = [one for one in described if one.coverage]
    sets = [Series(display_name(one.name), i) for i, one in enumerate(shown)]
    charts = []
    for sensing, text in SENSING.items():
        for share, title in SHARES.items():
            curves = [one.coverage.get(sensing, {}).get(share, []) for one in shown]
            if any(curves):
                charts.append(_curves(f"{title}: {text}.", sets, curves))
    words = (
        "An oracle follows the reference paths of each tour; everything it passed before an episode starts is observed."
    )
    return tag(
        "section", tag("h2", "Coverage along tours", id="coverage"), tag("p", words), figures(charts, "coverage")
    )


def _curves(title: str, sets: Sequence[Series], curves: Sequence[Sequence[CoveragePoint]]) -> svg.Chart:
    """At most a dozen points of each curve, denser early in the tour."""
    longest = max(map(len, curves))
    shown = sorted({k for k in (0, 1, 2, 3, 5, 8, 12, 20, 35, 60, 99) if k < longest} | {longest - 1})
    means = [[_interval(curve[k]) if k < len(curve) else None for curve in curves] for k in shown]
    about = "Means over tours with 95 % intervals, clustered by scene."
    return svg.line_chart(title, about, sets, [str(k) for k in shown], means, unit="%", below="episodes done before")
