"""The tables of a report, for its page and for papers alike."""

from __future__ import annotations

from collections.abc import Iterator

from itinera.formats.report_json import Estimate, Findings
from itinera.records import Column
from itinera.reports.breakdown import KINDS, Breakdown, failures
from itinera.reports.page.contest import Contest
from itinera.reports.page.sentences import compared_metric, p_told, signed
from itinera.reports.tables import Grid, heading, number
from itinera.stats import Interval


def results(contest: Contest) -> Grid:
    """A row per metric: each agent's mean, the ends of its interval, and its letters."""
    rows = []
    for column in contest.summaries[0].columns:
        letters = _letters(contest, column)
        cells = [
            f"{cell(column, summary.intervals.get(column.name))} {letter}".strip()
            for summary, letter in zip(contest.summaries, letters, strict=True)
        ]
        rows.append((heading(column), *cells))
    scenes = f"{len(contest.scene_ids)} scene{'s' if len(contest.scene_ids) != 1 else ''}"
    title = f"{contest.title}: {contest.episodes:,} episodes in {scenes}, mean ({100 * contest.level:g} % interval)"
    shared = "; agents that share a letter cannot be told apart" if len(contest.names) > 1 else ""
    return Grid(("metric", *contest.names), tuple(rows), f"{title}{shared}")


def _letters(contest: Contest, column: Column) -> tuple[str, ...]:
    found = None if column.better == "neither" else compared_metric(contest, column.name)
    return ("",) * len(contest.names) if found is None else found.letters


def cell(column: Column, found: Interval | None) -> str:
    """A mean with the ends of its interval, as it stands in a table."""
    if found is None:
        return "undefined"
    return f"{number(column, found.mean)} ({number(column, found.low)} – {number(column, found.high)})"


def differences(contest: Contest) -> Iterator[Grid]:
    """Each later agent minus the first: a row per metric."""
    if contest.compared is None:
        return
    first, *others = contest.names
    for k, name in enumerate(others):
        rows = []
        for metric in contest.compared.metrics:
            gap, column = metric.differences[k], metric.column
            low, high = (signed(column, x) for x in (gap.interval.low, gap.interval.high))
            better = f"{metric.improvements[k].mean:.2f}" if column.better != "neither" else ""
            told = p_told(gap.p_value).removeprefix("p = ").removeprefix("p ")
            rows.append((heading(column), signed(column, gap.interval.mean), f"{low} to {high}", told, better))
        percent = f"{100 * contest.level:g} % interval"
        yield Grid(("metric", "difference", percent, "p", "P(better)"), tuple(rows), f"{name} minus {first}")


def sliced(contest: Contest, found: Breakdown, what: str) -> Grid:
    """A row per group of episodes."""
    rows = tuple((s.label, f"{s.episodes:,}", *(cell(found.column, mean) for mean in s.means)) for s in found.slices)
    return Grid((what, "episodes", *contest.names), rows, f"{heading(found.column)} by {what}")


def failing(contest: Contest) -> Grid | None:
    """A row per kind of failure: how many of each agent's episodes failed so."""
    found = [failures(contest, agent) for agent in range(len(contest.names))]
    if not found or found[0] is None:
        return None
    known = [one for one in found if one is not None]
    rows = [("succeeded", *(f"{one.succeeded:,}" for one in known))]
    for kind in KINDS:
        counts = [len(one.kinds.get(kind, ())) for one in known]
        if any(counts):
            rows.append((kind, *(f"{count:,}" for count in counts)))
    return Grid(("what became of it", *contest.names), tuple(rows), "episodes by what became of them")


def skills(findings: Findings) -> Grid | None:
    """A row per skill: each agent's score in per cent, the probability of the right actions when told."""
    agents = list(findings.agents)
    names = dict.fromkeys(skill for found in findings.agents.values() for skill in found)
    rows = [
        (skill, *(_estimate(findings.agents[a][skill].score) if skill in findings.agents[a] else "" for a in agents))
        for skill in names
    ]
    rows = [row for row in rows if any(row[1:])]
    title = "skill scores, %: the mean probability of the right actions when told"
    return Grid(("skill", *agents), tuple(rows), title) if rows else None


def _estimate(found: Estimate | None) -> str:
    if found is None or found.mean is None:
        return ""
    ends = "" if found.low is None or found.high is None else f" ({100 * found.low:.1f} – {100 * found.high:.1f})"
    return f"{100 * found.mean:.1f}{ends}"
