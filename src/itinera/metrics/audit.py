"""Audit of published numbers: which suite gives them for the same predictions?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from itinera.errors import BadArgument, BadFile
from itinera.metrics.matching import MatchingRules, match, repeat_fraction
from itinera.metrics.score import score
from itinera.metrics.suites import SUITES
from itinera.records.predictions import Predictions
from itinera.records.summary import summarize
from itinera.records.tables import TextTable
from itinera.tasks import Protocol, Split
from itinera.worlds import World

NOT_RATES = (
    *("PL", "NE", "ONE", "DTW", "steps", "collisions", "GP"),
    *("calls", "prompt_tokens", "completion_tokens", "cost"),
)


@dataclass(frozen=True)
class PublishedNumber:
    """A number as printed, with its rounding tolerance."""

    metric: str
    printed: str
    value: float  # fractions for rates
    tolerance: float


@dataclass(frozen=True)
class SuiteMeans:
    """The means of one suite for the predictions."""

    suite: str
    repeats: str
    means: dict[str, float]
    refused: str = ""  # why the suite's own rules refuse the predictions

    @property
    def label(self) -> str:
        return self.suite if self.repeats == "keep" else f"{self.suite}, repeats dropped"

    def agrees(self, published: PublishedNumber) -> bool | None:
        """Whether the mean would be printed as the published number; None if the suite lacks the metric."""
        if published.metric not in self.means:
            return None
        return abs(self.means[published.metric] - published.value) <= published.tolerance


@dataclass(frozen=True, repr=False)
class Audit:
    """The means of every suite beside the published numbers; `matches` are the suites that give all of them."""

    published: tuple[PublishedNumber, ...]
    suites: tuple[SuiteMeans, ...]

    @property
    def matches(self) -> tuple[SuiteMeans, ...]:
        return tuple(s for s in self.suites if not s.refused and all(s.agrees(number) for number in self.published))

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        if not self.matches:
            return "No suite gives these numbers: other predictions, another split, or rules not implemented here."
        names = [_name(match) for match in self.matches]
        return f"The published numbers are those of: {', '.join(names)}.{self._advice()}"

    @property
    def separating_metric(self) -> str | None:
        """The metric that tells most of the matching suites apart, as papers print it; None if none does."""
        known = {number.metric for number in self.published}
        names = dict.fromkeys(name for match in self.matches for name in match.means if name not in known)
        groups = {name: self._group(name) for name in names}
        best = max(groups, key=lambda name: len(groups[name]), default=None)
        return best if best is not None and len(groups[best]) > 1 else None

    def _group(self, metric: str) -> dict[str, list[str]]:
        """The matching suites that have a metric, by its printed value."""
        groups: dict[str, list[str]] = {}
        for one in self.matches:
            if metric in one.means:
                groups.setdefault(_printed(one.means[metric], metric), []).append(_name(one))
        return groups

    def _advice(self) -> str:
        """What would tell the matches apart, as a sentence; empty if one is left."""
        if len(self.matches) < 2:
            return ""
        metric = self.separating_metric
        if metric is None:
            return " No other metric tells them apart on these predictions, as papers print it."
        values = "; ".join(f"{value} by {', '.join(names)}" for value, names in self._group(metric).items())
        lacking = [_name(match) for match in self.matches if metric not in match.means]
        without = f"; {', '.join(lacking)} {'lacks' if len(lacking) == 1 else 'lack'} it" if lacking else ""
        return f" {metric} would tell them apart: {values}{without}."

    def to_table(self) -> TextTable:
        """A row per suite, a column per published number."""
        rows = []
        for suite in self.suites:
            cells = []
            for number in self.published:
                mean = suite.means.get(number.metric)
                cells.append("–" if mean is None else f"{mean:.4f} {'✓' if suite.agrees(number) else '✗'}")
            rows.append((suite.label, *cells, suite.refused))
        headings = ("suite", *(f"{number.metric} = {number.printed}" for number in self.published), "")
        if not any(suite.refused for suite in self.suites):
            headings, rows = headings[:-1], [row[:-1] for row in rows]
        return TextTable(headings, tuple(rows))

    def to_dict(self) -> dict[str, object]:
        """The audit as plain values for JSON."""
        return {
            "published": {number.metric: number.value for number in self.published},
            "matches": [{"suite": match.suite, "repeats": match.repeats} for match in self.matches],
            "separating_metric": self.separating_metric if len(self.matches) > 1 else None,
            "suites": [
                {
                    "suite": suite.suite,
                    "repeats": suite.repeats,
                    "refused": suite.refused or None,
                    "metrics": suite.means,
                    "agrees": {number.metric: suite.agrees(number) for number in self.published},
                }
                for suite in self.suites
            ],
        }

    def __str__(self) -> str:
        return f"{self.to_table()}\n{self.verdict}"

    def __repr__(self) -> str:
        return f"Audit({self.verdict})"

    def _repr_html_(self) -> str:
        return f"{self.to_table()._repr_html_()}<p>{self.verdict}</p>"


def _name(match: SuiteMeans) -> str:
    return match.suite if match.repeats == "keep" else f"{match.suite} (repeats dropped)"


def _printed(mean: float, metric: str) -> str:
    """A mean as papers print it: rates in percent with a decimal, others with two."""
    return f"{mean:.2f}" if metric in NOT_RATES else f"{100 * mean:.1f} %"


def parse_published(published: Mapping[str, str | float] | Iterable[str]) -> tuple[PublishedNumber, ...]:
    """Numbers as printed, from {"SR": "55.2"} or ["SR=55.2"]. Rates may be fractions or percentages.

    >>> parse_published({"SR": "55.2"})[0].value
    0.552
    """
    if isinstance(published, str):
        published = [published]
    if isinstance(published, Mapping):
        published = [f"{metric}={number}" for metric, number in published.items()]
    return tuple(_parse(text) for entry in published for text in entry.replace(",", " ").split())


def _parse(text: str) -> PublishedNumber:
    metric, equals, printed = text.partition("=")
    try:
        value = float(printed.rstrip("%"))
    except ValueError:
        equals, value = "", 0.0
    if not equals or not metric:
        raise BadArgument(f"published number {text!r} is not METRIC=NUMBER, such as SR=0.55.")
    digits = len(printed.rstrip("%").partition(".")[2])
    tolerance = 0.5 * 10.0**-digits
    # A rate cannot exceed 1, so 55 or 55.2 must be a percentage.
    if metric not in NOT_RATES and (value > 1 or printed.endswith("%")):
        value, tolerance = value / 100, tolerance / 100
    return PublishedNumber(metric, printed, value, tolerance * (1 + 1e-9))


def audit(
    predictions: Predictions,
    split: Split,
    worlds: Mapping[str, World],
    published: Sequence[PublishedNumber],
    *,
    protocol: Protocol,
) -> Audit:
    """The means of the predictions by every suite that compares paths, beside the published numbers."""
    found = Audit(tuple(published), tuple(_score_by_all(predictions, split, worlds, protocol)))
    metrics = {name for suite in found.suites for name in suite.means}
    for number in published:
        if number.metric not in metrics:
            raise BadArgument(f"No suite has a metric {number.metric}; there are {', '.join(sorted(metrics))}.")
    return found


def _score_by_all(
    predictions: Predictions, split: Split, worlds: Mapping[str, World], protocol: Protocol
) -> Iterable[SuiteMeans]:
    lenient = match(predictions, split, worlds, rules=MatchingRules(jumps="measure", starts="measure"))
    for repeats in ("keep", "drop") if repeat_fraction(lenient) > 0 else ("keep",):
        for name, make in SUITES.items():
            suite = make(protocol)
            if not suite.needs_reference or (suite.protocols and protocol.name not in suite.protocols):
                continue
            if suite.needs_objects and not any(worlds[world_id].objects for world_id in split.world_ids):
                continue
            try:
                table = score(predictions, split, worlds, suite, protocol=protocol, repeats=repeats)
            except BadFile as error:
                yield SuiteMeans(name, repeats, {}, f"refuses {len(error.faults)} trajectories")
                continue
            means = {metric: interval.mean for metric, interval in summarize(table).intervals.items()}
            yield SuiteMeans(name, repeats, means)
