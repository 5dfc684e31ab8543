"""The board of a phase: entries in order with intervals and tie groups, as plain values that can be stored and shown.

Start with `make_board`. Its means, intervals and letters are those of `itinera score` and `itinera compare` on the same
rows. Nothing here decides who may see an entry: the entries that are given are the ones that are shown.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import msgspec
import numpy as np

from itinera.errors import BadArgument
from itinera.records import Column, ScoreTable
from itinera.reports.alignment import align_metrics, check_comparable
from itinera.server.verdicts import Verdict
from itinera.stats import BestOfRuns, RunVariation, pool_variations

Badge = Literal["live", "replayed", "scored", "claimed"]
MOST_COMPARED = 30  # entries whose differences are tested: the best ones; corrections for more pairs leave only ties
_COARSEST = {"": 0.01, "m": 0.1, "s": 0.1, "steps": 1.0}  # step of a sealed score that shows no noise, by unit


@dataclass(frozen=True)
class Coverage:
    """How the episodes of an entry ended."""

    episodes: int
    answered: int
    stopped: int
    failed: int


@dataclass(frozen=True, eq=False)
class JudgedEntry:
    """An entry and its judgement, as the server has them."""

    id: str
    team: str  # "" where the viewer may not know it
    team_key: str  # equal for entries of one team; never shown
    method: str
    submitted: datetime
    badge: Badge
    attempts: int  # shots of the team in this phase that were spent up to this entry
    scores: Mapping[str, tuple[float, float, float]]  # metric -> mean, low, high; nan: too few episodes for an interval
    coverage: Coverage
    fingerprint: str  # of the metric definitions
    bundle: str  # SHA-256 of the file that was uploaded
    load_rows: Callable[[], ScoreTable] | None = None  # for tie groups; called for the best entries only
    notes: str = ""
    links: Mapping[str, str] = field(default_factory=dict)  # title -> address


@dataclass(frozen=True)
class BoardScore:
    """The mean of a metric with its interval."""

    mean: float
    low: float
    high: float
    letters: str = ""  # entries that share one do not differ significantly; "" if they were not compared

    @property
    def has_interval(self) -> bool:
        """Whether the interval has both ends."""
        return math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True)
class BoardEntry:
    """A row of the board."""

    id: str
    team: str  # "" for an anonymous entry
    method: str
    submitted: datetime
    badge: Badge
    attempts: int
    spread: float | None  # standard deviation of the ranked metric over the team's entries of this method
    scores: dict[str, BoardScore]
    coverage: Coverage
    fingerprint: str
    bundle: str
    notes: str = ""
    links: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Board:
    """The entries of a phase, the best first."""

    title: str
    phase: str
    metric: str  # by which entries are ordered
    columns: tuple[Column, ...]
    entries: tuple[BoardEntry, ...]
    updated: datetime
    sealed: bool  # scores are rounded to their noise
    protocol: str = ""
    suite: str = ""
    fingerprint: str = ""
    outdated: int = 0  # entries that are left out because they were judged by other metric definitions

    def __getitem__(self, entry_id: str) -> BoardEntry:
        for entry in self.entries:
            if entry.id == entry_id:
                return entry
        raise KeyError(entry_id)

    @property
    def ranked_column(self) -> Column:
        """The metric by which entries are ordered."""
        return next(column for column in self.columns if column.name == self.metric)


def make_board(
    title: str,
    phase: str,
    entries: Sequence[JudgedEntry],
    *,
    columns: Sequence[Column],
    updated: datetime,
    metric: str = "SR",
    sealed: bool = False,
    protocol: str = "",
    suite: str = "",
    level: float = 0.95,
) -> Board:
    """The board of these entries, of which only those judged like the newest one are shown.

    sealed: the goals are not public, so scores are rounded to a step below their standard error: nobody can find goals
        by watching how small changes of an entry move its score.
    """
    shown = tuple(column for column in columns if any(column.name in entry.scores for entry in entries))
    if entries and metric not in {column.name for column in shown}:
        known = ", ".join(column.name for column in shown)
        raise BadArgument(f"The board of phase {phase} is ordered by {metric}, which no entry has; there are {known}.")
    fingerprint = max(entries, key=lambda entry: (entry.submitted, entry.id)).fingerprint if entries else ""
    current = [entry for entry in entries if entry.fingerprint == fingerprint]
    ranked = _sort(current, next((c for c in shown if c.name == metric), Column(metric)))
    letters = _find_letters(ranked[:MOST_COMPARED], _find_selection(ranked), level)
    spreads = _find_spreads(current, metric)
    made = []
    for entry in ranked:
        scores = {
            name: _make_score(column, entry.scores[name], sealed, letters.get((entry.id, name), ""))
            for column in shown
            if (name := column.name) in entry.scores
        }
        spread = spreads.get((entry.team_key, entry.method))
        if spread is not None and sealed:
            spread = _round(spread, find_step(entry.scores[metric], ""))
        made.append(_make_entry(entry, scores, spread))
    order = sorted(made, key=lambda e: _sealed_key(e, metric, shown)) if sealed else made
    return Board(
        title=title, phase=phase, metric=metric, columns=shown, entries=tuple(order), updated=updated, sealed=sealed,
        protocol=protocol, suite=suite, fingerprint=fingerprint, outdated=len(entries) - len(current),
    )  # fmt: skip


def _sort(entries: Sequence[JudgedEntry], column: Column) -> list[JudgedEntry]:
    sign = 1.0 if column.better == "lower" else -1.0

    def key(entry: JudgedEntry) -> tuple[float, datetime, str]:
        score = entry.scores.get(column.name)
        return (math.inf if score is None else sign * score[0]), entry.submitted, entry.id

    return sorted(entries, key=key)


def _sealed_key(entry: BoardEntry, metric: str, columns: Sequence[Column]) -> tuple[float, datetime, str]:
    """The order of sealed entries, which tells no more than their rounded scores do."""
    better = next(column.better for column in columns if column.name == metric)
    score = entry.scores.get(metric)
    value = math.inf if score is None else score.mean if better == "lower" else -score.mean
    return value, entry.submitted, entry.id


def _make_entry(entry: JudgedEntry, scores: dict[str, BoardScore], spread: float | None) -> BoardEntry:
    return BoardEntry(
        id=entry.id, team=entry.team, method=entry.method, submitted=entry.submitted, badge=entry.badge,
        attempts=entry.attempts, spread=spread, scores=scores, coverage=entry.coverage, fingerprint=entry.fingerprint,
        bundle=entry.bundle, notes=entry.notes, links=dict(entry.links),
    )  # fmt: skip


def _find_letters(
    entries: Sequence[JudgedEntry], best_of: Mapping[tuple[str, str], BestOfRuns], level: float
) -> dict[tuple[str, str], str]:
    """The tie groups of each entry in each metric, as `itinera compare` gives them; the best of several entries of a
    method is compared after the correction for that."""
    loaded = [(entry.id, entry.load_rows()) for entry in entries if entry.load_rows is not None]
    if len(loaded) < 2:
        return {}
    names, tables = zip(*loaded, strict=True)
    check_comparable(names, tables)
    return {
        (name, metric.column.name): letters
        for metric in align_metrics(names, tables)
        if metric.column.better != "neither"
        for name, letters in zip(
            names,
            metric.correct([best_of.get((name, metric.column.name)) for name in names]).letters(level=level),
            strict=True,
        )
    }


def _find_selection(ranked: Sequence[JudgedEntry]) -> dict[tuple[str, str], BestOfRuns]:
    """By entry and metric: what the entries of a method say about the best of them, for the best one of each method."""
    groups = defaultdict(list)
    for entry in ranked:
        groups[entry.team_key, entry.method].append(entry)
    found = {}
    for best, *others in groups.values():
        for name in best.scores if others else ():
            means = tuple(one.scores[name][0] for one in (best, *others) if name in one.scores)
            if len(means) > 1 and np.isfinite(means).all():
                sd = float(np.std(means, ddof=1))
                found[best.id, name] = pool_variations([RunVariation(means, sd, sd, 0.0)], len(means))
    return found


def _find_spreads(entries: Sequence[JudgedEntry], metric: str) -> dict[tuple[str, str], float]:
    """The standard deviation of a metric over the entries of each team and method that has several."""
    means = defaultdict(list)
    for entry in entries:
        if metric in entry.scores:
            means[entry.team_key, entry.method].append(entry.scores[metric][0])
    return {key: float(np.std(values, ddof=1)) for key, values in means.items() if len(values) > 1}


def _make_score(column: Column, score: tuple[float, float, float], sealed: bool, letters: str) -> BoardScore:
    return BoardScore(*(seal_score(score, column.unit) if sealed else score), letters)


def seal_score(score: tuple[float, float, float], unit: str) -> tuple[float, float, float]:
    """A mean, rounded to its noise, and its interval, rounded outwards."""
    mean, low, high = score
    if not math.isfinite(mean):
        return score
    step = find_step(score, unit)
    upper = 1.0 if unit == "" else math.inf
    if not (math.isfinite(low) and math.isfinite(high)):
        return min(upper, _round(mean, step)), low, high
    return (
        min(upper, _round(mean, step)),
        _round(math.floor(low / step + 1e-9) * step, step),
        min(upper, _round(math.ceil(high / step - 1e-9) * step, step)),
    )


def seal_verdict(verdict: Verdict) -> Verdict:
    """A verdict as a sealed phase shows it: scores rounded as on its board, and none of single scenes."""

    def seal(mean: float, low: float | None, high: float | None) -> tuple[float, float | None, float | None]:
        ends = math.nan if low is None else low, math.nan if high is None else high
        unit = "" if mean <= 1 and not ends[1] > 1 else "m"  # verdicts have no units: rates are at most 1
        rounded = seal_score((mean, *ends), unit)
        return rounded[0], None if low is None else rounded[1], None if high is None else rounded[2]

    scores = {name: seal(*score) for name, score in verdict.scores.items()}
    return msgspec.structs.replace(verdict, scores=scores, scenes={})


def find_step(score: tuple[float, float, float], unit: str) -> float:
    """The step of a sealed score: the largest of 1, 2 and 5 times a power of ten that is below its standard error.

    >>> find_step((0.4687, 0.40, 0.54), ""), find_step((4.31, 3.9, 4.8), "m"), find_step((0.0, 0.0, 0.0), "")
    (0.02, 0.2, 0.01)
    """
    error = (score[2] - score[1]) / 4  # the interval is about two errors wide to each side
    if not math.isfinite(error) or error <= 0:
        return _COARSEST.get(unit, 0.01)
    power = 10.0 ** math.floor(math.log10(error))
    return next(factor * power for factor in (5.0, 2.0, 1.0) if factor * power <= error * (1 + 1e-9))


def _round(value: float, step: float) -> float:
    digits = max(0, -math.floor(math.log10(step)))
    return round(round(value / step) * step, digits)


def encode_board(board: Board) -> bytes:
    """The board as JSON: rates are fractions, lengths meters; an infinite or undefined number is null."""
    return msgspec.json.format(msgspec.json.encode(board), indent=1) + b"\n"
