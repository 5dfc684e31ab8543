"""The sections of a report's page beside its contests: skills, fastest times, and what was seen along tours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from itinera.formats.report_json import Described, Estimate, Findings, Point
from itinera.reports.charts import svg
from itinera.reports.charts.svg import Agent
from itinera.reports.markup import Markup, named, tag
from itinera.reports.page import tables as report_tables
from itinera.reports.page.elements import figures, grid_table, listing, unfold
from itinera.reports.tables import robot_told
from itinera.stats import Interval
from itinera.tasks.fastest_times import FastestTimes
from itinera.worlds import Array

SHARES = {
    "upcoming": "Of the next path, seen before",
    "tour": "Of the whole tour, seen before",
    "scene": "Of the scene, seen before",
}
WAYS = {"visited": "where it has been", "visible": "what was in sight"}


def skills_section(findings: Sequence[Findings], numbers: Mapping[str, int]) -> Markup:
    """What studies found: scores side by side, then a verdict for each agent and skill.

    `numbers` are those of the agents of contests, who look the same here; others get the next ones.
    """
    parts: list[Markup] = []
    known = dict(numbers)
    for i, found in enumerate(findings):
        agents = [Agent(named(name), known.setdefault(named(name), len(known))) for name in found.agents]
        names = dict.fromkeys(skill for of_agent in found.agents.values() for skill in of_agent)
        rows = [(skill, [_score(found, agent, skill) for agent in found.agents]) for skill in names]
        rows = [row for row in rows if any(row[1])]
        if rows:
            about = "The mean probability of the right actions when told, with intervals over scenes."
            chart = figures([svg.forest("Skill scores.", about, agents, rows)], f"skills-{i}")
            grid = report_tables.skills(found)
            table = "" if grid is None else grid_table(grid, agents=agents)
            parts.append(tag("div", chart, table, class_="beside"))
        for agent, of_agent in zip(agents, found.agents.values(), strict=True):
            told = [verdict for skill in of_agent.values() for verdict in skill.verdicts]
            parts.append(unfold(f"Verdicts on {agent.name}", listing(told)))
    return tag("section", tag("h2", "Skills", id="skills"), *parts)


def _score(found: Findings, agent: str, skill: str) -> Interval | None:
    of_skill = found.agents[agent].get(skill)
    return None if of_skill is None else _interval(of_skill.score)


def _interval(found: Estimate | Point | None) -> Interval | None:
    if found is None or found.mean is None:
        return None
    low, high = (found.mean if end is None else end for end in (found.low, found.high))
    return Interval(found.mean, low, high)


def times_section(times: Sequence[FastestTimes]) -> Markup:
    """Fastest times: whose they are, and how far apart their bounds."""
    names = [named(robot_told(one.robot), longest=120) for one in times]
    told = [_times_told(one, name) for one, name in zip(times, names, strict=True)]
    gaps = [_gaps(one) for one in times]
    about = "The nearer the curve to the upper left, the better SCT is known."
    most = max([0.01, *(float(np.quantile(gap[np.isfinite(gap)], 0.99)) for gap in gaps if np.isfinite(gap).any())])
    drawn = svg.cumulative(
        "How far apart the bounds are.", about, [Agent(f"times {i + 1}", i) for i in range(len(times))], gaps,
        below="gap, % of the upper bound, at most", limits=(0.0, most), told=lambda x: f"{100 * x:.3g}",
    )  # fmt: skip
    return tag("section", tag("h2", "Fastest times", id="times"), listing(told), figures([drawn], "times"))


def _gaps(one: FastestTimes) -> Array:
    """(episodes,) how far the lower bound is under the upper, as a share of that; inf where no way is known."""
    known = np.isfinite(one.high) & (one.high > 0)
    gaps = np.full(len(one), np.inf)
    gaps[known] = 1 - one.low[known] / one.high[known]
    return gaps


def _times_told(one: FastestTimes, robot: str) -> str:
    reached = np.isfinite(one.low) & np.isfinite(one.high)
    count = f"{len(one):,} episode{'s' if len(one) != 1 else ''} for {robot}"
    if not reached.any():
        return f"{count}: no way is known to any goal."
    low, high = one.low[reached].mean(), one.high[reached].mean()
    lost = "" if reached.all() else f"; no way is known in {int((~reached).sum()):,}"
    return f"{count}: {low:.2f} to {high:.2f} s on average{lost}."


def coverage_section(described: Sequence[Described]) -> Markup:
    """How much of what comes next was seen before, as a tour goes on."""
    told = [one for one in described if one.seen]
    sets = [Agent(named(one.name), i) for i, one in enumerate(told)]
    drawn = []
    for way, seen in WAYS.items():
        for share, title in SHARES.items():
            curves = [one.seen.get(way, {}).get(share, []) for one in told]
            if any(curves):
                drawn.append(_curves(f"{title}: {seen}.", sets, curves))
    words = "An oracle walks the reference paths of each tour; what it passed before an episode begins is seen."
    return tag("section", tag("h2", "Seen along tours", id="seen"), tag("p", words), figures(drawn, "seen"))


def _curves(title: str, sets: Sequence[Agent], curves: Sequence[Sequence[Point]]) -> svg.Figure:
    """At most a dozen of the points of each curve, closer together where the tour is young."""
    longest = max(map(len, curves))
    shown = sorted({k for k in (0, 1, 2, 3, 5, 8, 12, 20, 35, 60, 99) if k < longest} | {longest - 1})
    means = [[_interval(curve[k]) if k < len(curve) else None for curve in curves] for k in shown]
    about = "Means over tours with 95 % intervals over scenes."
    return svg.trends(title, about, sets, [str(k) for k in shown], means, unit="%", below="episodes done before")
