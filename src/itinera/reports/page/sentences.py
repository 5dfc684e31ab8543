"""A contest in sentences: who is better, by how much, how sure, and where the best one fails. Plain text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from itinera.formats.report_json import Findings
from itinera.records import Column
from itinera.reports.breakdown import Breakdown, by_leg, by_length, by_scene, failures, gain_along_tours, nobody_solved
from itinera.reports.comparison import MetricComparison
from itinera.reports.markup import named
from itinera.reports.page.contest import Contest
from itinera.reports.tables import number
from itinera.stats import Interval

WORDS = {
    "SR": "success rate",
    "SPL": "success weighted by path length",
    "SCT": "success weighted by completion time",
    "nDTW": "nDTW, how well the path is followed",
    "t-nDTW": "t-nDTW, how well whole tours are followed",
    "NE": "distance from the goal",
}
FEW_SCENES = 6  # below, no p-value can be under 0.05
TOLD_KINDS = 3  # of failures, in the sentence


@dataclass(frozen=True)
class Answer:
    """A question of the first screen, and what the results say to it."""

    question: str
    sentences: tuple[str, ...]


def answers(contest: Contest) -> tuple[Answer, ...]:
    """What to know before reading on."""
    given = (
        Answer("Who is better?" if len(contest.names) > 1 else "How good is it?", tuple(_who(contest))),
        Answer("By how much?", tuple(_how_much(contest))),
        Answer("How sure is that?", tuple(_how_sure(contest))),
        Answer("Where does it fail?", tuple(_where(contest))),
        Answer("Does memory help?", tuple(memory(contest))),
    )
    return tuple(answer for answer in given if answer.sentences)


def value(column: Column, x: float) -> str:
    """A mean as it stands in a sentence, with its unit."""
    unit = {"": " %", "m": " m", "s": " s"}.get(column.unit, f" {column.unit}")
    return f"{number(column, x)}{unit}"


def spread(column: Column, found: Interval) -> str:
    """A mean with the ends of its interval."""
    return f"{value(column, found.mean)} ({number(column, found.low)} – {number(column, found.high)})"


def signed(column: Column, x: float) -> str:
    """A difference with its sign; of fractions in percentage points."""
    shown = number(column, x).replace("-", "−")
    if not shown.strip("−0."):
        return shown.lstrip("−")
    return shown if x < 0 else f"+{shown}"


def p_told(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def words(column: Column) -> str:
    return WORDS.get(column.name, column.name)


def listed(parts: Sequence[str], last: str = "and") -> str:
    """a, b and c."""
    return f" {last} ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def _who(contest: Contest) -> list[str]:
    column = contest.leading
    order = contest.ranking(column)
    best = order[0]
    found = contest.summaries[best].intervals.get(column.name)
    if found is None:
        return [f"{column.name} is undefined in every episode, so nobody can be ranked by it."]
    where = f"{contest.episodes:,} episodes in {_count(len(contest.scene_ids), 'scene')}"
    if len(contest.names) == 1:
        return [
            f"{contest.names[0]} reaches a {words(column)} of {spread(column, found)} in {where}.",
            *_follows(contest),
        ]
    tied = [contest.names[i] for i in order if _shares_letter(contest, column.name, i, best)]
    if len(tied) == 1:
        others = contest.names[order[1]] if len(order) == 2 else f"each of the other {len(order) - 1}"
        told = f"{contest.names[best]} is better than {others}: {words(column)} {spread(column, found)} in {where}."
    else:
        told = f"{listed(tied)} lead, and {where} cannot tell them apart: {words(column)} {spread(column, found)} for "
        told += f"{contest.names[best]}."
    return [told, *_follows(contest)]


def _follows(contest: Contest) -> list[str]:
    """What the second metric says."""
    column = contest.following
    if column is None:
        return []
    order = contest.ranking(column)
    best, leader = order[0], contest.ranking(contest.leading)[0]
    found = contest.summaries[best].intervals.get(column.name)
    if found is None:
        return []
    if len(order) == 1:
        return [f"Its {words(column)}, is {spread(column, found)}." if "," in words(column) else
                f"Its {words(column)} is {spread(column, found)}."]  # fmt: skip
    if best == leader:
        return [f"It is also first by {words(column)}: {spread(column, found)}."]
    tied = _shares_letter(contest, column.name, leader, best)
    apart = ", though the two cannot be told apart there" if tied else ""
    return [f"By {words(column)}, {contest.names[best]} is first: {spread(column, found)}{apart}."]


def _shares_letter(contest: Contest, metric: str, one: int, other: int) -> bool:
    found = compared_metric(contest, metric)
    if found is None or one == other:
        return one == other
    return bool(set(found.letters[one]) & set(found.letters[other]))


def compared_metric(contest: Contest, metric: str) -> MetricComparison | None:
    metrics = () if contest.compared is None else contest.compared.metrics
    return next((m for m in metrics if m.column.name == metric), None)


def _how_much(contest: Contest) -> list[str]:
    if len(contest.names) < 2:
        return []
    order = contest.ranking(contest.leading)
    best, second = order[:2]
    parts = []
    for column in (contest.leading, _of_episodes(contest)):
        found = None if column is None else contest.difference(column.name, best, second)
        if column is not None and found is not None:
            gap = found[0].interval
            unit = " points" if column.unit == "" else f" {column.unit}"
            parts.append(
                f"{signed(column, gap.mean)}{unit} of {column.name} ({signed(column, gap.low)} to "
                f"{signed(column, gap.high)})"
            )
    if not parts:
        return []
    nearest = "" if len(order) == 2 else ", the next best"
    return [f"Against {contest.names[second]}{nearest}: {listed(parts)}, on the same episodes."]


def _of_episodes(contest: Contest) -> Column | None:
    """The second metric, if it is one of episodes; for tours that of their episodes."""
    column = contest.following
    return column if column is None or column.name in contest.columns else contest.columns.get("nDTW")


def _how_sure(contest: Contest) -> list[str]:
    scenes = len(contest.scene_ids)
    told = []
    if len(contest.names) > 1:
        best, second = contest.ranking(contest.leading)[:2]
        found = contest.difference(contest.leading.name, best, second)
        if found is not None:
            told.append(_tested(contest, best, second))
    percent = f"{100 * contest.level:g} %"
    if scenes == 1:
        told.append(f"There is one scene only: the {percent} intervals say nothing about other scenes.")
    elif scenes < FEW_SCENES and len(contest.names) > 1:
        told.append(f"With {scenes} scenes, no p-value can be below {2.0 ** (1 - scenes):.2g}, however many episodes.")
    else:
        told.append(f"Intervals are {percent} and take the {scenes} scenes, not the episodes, as the sample.")
    told += _doubts(contest)
    return told


def _tested(contest: Contest, best: int, second: int) -> str:
    column = contest.leading
    found = contest.difference(column.name, best, second)
    assert found is not None
    difference, better = found
    a, b = contest.values(column.name)[[best, second]]
    sign = -1.0 if column.better == "lower" else 1.0
    both = np.isfinite(a) & np.isfinite(b)
    gaps = sign * (np.where(both, a, 0.0) - np.where(both, b, 0.0))
    ahead = int((np.bincount(contest.scenes, weights=gaps) > 0).sum())
    scenes = len(contest.scene_ids)
    share = f"{contest.names[best]} is ahead of {contest.names[second]} in {ahead} of {_count(scenes, 'scene')}"
    chance = f"{p_told(difference.p_value)} by sign flips over scenes"
    return f"{share} ({chance}); on a single episode it does better with probability {better.mean:.2f}, ties halved."


def _doubts(contest: Contest) -> list[str]:
    told = []
    for name, table in zip(contest.names, contest.tables, strict=True):
        if table.missing.any():
            told.append(f"{name} left {_count(int(table.missing.sum()), 'episode')} unanswered, counted as failures.")
    column = contest.leading
    undefined = {n: s.undefined[column.name] for n, s in zip(contest.names, contest.summaries, strict=True)
                 if column.name in s.undefined}  # fmt: skip
    told += [
        f"{column.name} of {name} is undefined in {_count(count, 'episode')}." for name, count in undefined.items()
    ]
    return told


def _where(contest: Contest) -> list[str]:
    """Of the best agent; where that one never fails, of the best that does."""
    order = contest.ranking(contest.leading)
    perfect = [found is not None and not found.total for found in (failures(contest, i) for i in order)]
    if all(perfect):
        return [
            f"{listed([contest.names[i] for i in order])} {'succeed' if len(order) > 1 else 'succeeds'} everywhere."
        ]
    agent = order[perfect.index(False)]
    told = (
        []
        if agent == order[0]
        else [f"{contest.names[order[0]]} succeeds everywhere; {contest.names[agent]} does not."]
    )
    return [*told, *_kinds(contest, agent), *_scenes(contest, agent), *_lengths(contest, agent), *_unsolved(contest)]


def _kinds(contest: Contest, agent: int) -> list[str]:
    found = failures(contest, agent)
    if found is None:
        return []
    name = contest.names[agent]
    most = sorted(found.kinds, key=lambda kind: -len(found.kinds[kind]))
    parts = [f"{len(found.kinds[kind]):,} {kind}" for kind in most[:TOLD_KINDS]]
    rest = sum(len(found.kinds[kind]) for kind in most[TOLD_KINDS:])
    return [
        f"Of {name}’s {_count(found.total, 'failure')}, {listed([*parts, *([f'{rest:,} otherwise'] if rest else [])])}."
    ]


def _scenes(contest: Contest, agent: int) -> list[str]:
    if len(contest.scene_ids) < 2:
        return []
    return _extremes(contest, by_scene(contest, contest.leading), agent, "scene")


def _extremes(contest: Contest, found: Breakdown, agent: int, what: str) -> list[str]:
    known = [(s, mean) for s in found.slices if (mean := s.means[agent]) is not None]
    if not known:
        return []
    column, sign = found.column, -1.0 if found.column.better == "lower" else 1.0
    worst = min(known, key=lambda pair: sign * pair[1].mean)
    best = max(known, key=lambda pair: sign * pair[1].mean)
    if worst[1].mean == best[1].mean:
        return []
    low, high = (f"{named(s.label)} ({value(column, mean.mean)})" for s, mean in (worst, best))
    return [f"Its hardest {what} is {low}, its easiest {high}."]


def _lengths(contest: Contest, agent: int) -> list[str]:
    found = by_length(contest, contest.leading)
    if found is None or len(found.slices) < 2:
        return []
    first, last = found.slices[0], found.slices[-1]
    short, long = first.means[agent], last.means[agent]
    if short is None or long is None:
        return []
    column = found.column
    apart = "" if short.low > long.high or long.low > short.high else "; the intervals overlap"
    return [
        f"On ways {first.label} its {column.name} is {value(column, short.mean)}, on those of {last.label} "
        f"{value(column, long.mean)}{apart}."
    ]


def _unsolved(contest: Contest) -> list[str]:
    count = len(nobody_solved(contest))
    if len(contest.names) < 2 or not count:
        return []
    return [f"Nobody solves {count:,} of the {contest.episodes:,} episodes."]


def skills_told(findings: Findings) -> list[str]:
    """What each agent of a skill study is best and worst at."""
    told = []
    for agent, found in findings.agents.items():
        scores = {name: s.score.mean for name, s in found.items() if s.score is not None and s.score.mean is not None}
        if scores:
            best, worst = max(scores, key=lambda k: scores[k]), min(scores, key=lambda k: scores[k])
            ends = [f"best at {named(best)} ({100 * scores[best]:.0f} %)"]
            ends += [f"worst at {named(worst)} ({100 * scores[worst]:.0f} %)"] if worst != best else []
            told.append(f"{named(agent)} is {listed(ends)}.")
    return [*told, "In brackets: the probability of the right action when told."] if told else []


def memory(contest: Contest) -> list[str]:
    """Whether agents get better as a tour goes on; nothing where there are no tours."""
    column = contest.columns.get("nDTW", contest.leading)
    if by_leg(contest, column) is None:
        return []
    told = []
    for agent in contest.ranking(contest.leading):
        gain = gain_along_tours(contest, column, agent)
        if gain is not None:
            told.append((contest.names[agent], gain))
    surely = [(name, gain) for name, gain in told if gain.low > 0 or gain.high < 0]
    if not told:
        return []
    if not surely:
        return [f"No agent’s {column.name} differs surely between the first and the second half of its tours."]
    return [
        f"{name}’s {column.name} changes by {signed(column, gain.mean)} points ({signed(column, gain.low)} to "
        f"{signed(column, gain.high)}) from the first to the second half of its tours."
        for name, gain in surely
    ]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
