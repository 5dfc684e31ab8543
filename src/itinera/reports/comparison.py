"""Pairwise comparison of results on the same episodes: differences, intervals, permutation tests, tie groups.

A result may be a single run or the mean of several (`average_runs`), whose variation then counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from itinera.errors import BadArgument
from itinera.records import Column, ScoreTable
from itinera.records.summary import metric_interval
from itinera.records.tables import (
    TextTable,
    column_heading,
    count_episodes,
    count_noun,
    format_difference,
    format_number,
    table_width,
    to_html,
    to_text,
)
from itinera.reports.alignment import AlignedMetric, align_metrics, check_comparable
from itinera.seeding import generator
from itinera.stats import (
    Difference,
    Interval,
    RunVariation,
    difference_over_runs,
    paired_difference,
    pool_variations,
    probability_of_improvement,
)
from itinera.tasks.split import SplitPart

PERMUTATIONS = 10_000  # random ones, if there are too many scenes to try all
BESIDE_A_DIFFERENCE = ("p", "P(better)")  # columns of the table
RANKED = ("SCT", "SR", "SPL", "nDTW", "NE")  # remarks on runs are about the first of these


@dataclass(frozen=True)
class MetricComparison:
    """One metric of all systems; differences are each later system minus the first."""

    column: Column
    episodes: int  # or tours, for a tour metric: those on which every system has a value
    means: tuple[float, ...]
    differences: tuple[Difference, ...]
    improvements: tuple[Interval, ...]  # P(the later system is better on an episode), ties halved
    letters: tuple[str, ...]  # systems that share a letter do not differ significantly
    variations: tuple[RunVariation | None, ...] = ()  # of each system; None for a single run
    intervals: tuple[Interval, ...] = ()  # of the mean of each system, for tables of papers
    corrections: tuple[float, ...] = ()  # subtracted from the mean of each system, which reports the best of its runs


@dataclass(frozen=True)
class Comparison:
    """Results of two or more systems on the same episodes, by one protocol and suite. `print` shows the table."""

    names: tuple[str, ...]
    metrics: tuple[MetricComparison, ...]
    episodes: int
    scenes: int
    suite: str
    protocol: str
    part: SplitPart | None = None  # which part of the split the episodes are; None for the whole
    runs: tuple[int, ...] = ()  # of each system; empty if all have one
    level: float = 0.95  # of the intervals
    best_of: Mapping[str, int] = field(default_factory=dict)  # systems whose result is the best of so many runs

    def __getitem__(self, metric: str) -> MetricComparison:
        for found in self.metrics:
            if found.column.name == metric:
                return found
        known = ", ".join(m.column.name for m in self.metrics)
        raise KeyError(f"no metric {metric!r} in this comparison; there are {known}")

    def __contains__(self, metric: object) -> bool:
        return any(found.column.name == metric for found in self.metrics)

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.names)}: {count_noun(len(self.metrics), 'metric')}, {self._sample})"

    @property
    def _sample(self) -> str:
        runs = "" if not self.runs else f", {' and '.join(map(str, self.runs))} runs"
        return f"{count_episodes(self.episodes, self.part)} in {count_noun(self.scenes, 'scene')}{runs}"

    def __str__(self) -> str:
        return to_text(self.to_table())

    def _repr_html_(self) -> str:
        return to_html(self.to_table())

    def to_table(self, *, max_width: int | None = None) -> TextTable:
        """A row per metric: each system's mean and letters, then each difference with its interval, p and P(better).

        If that is wider than `max_width` columns of a terminal, numbers stand for the names, which the title explains;
        if that does not suffice, each system has its own row.
        """
        for layout in (self._wide_table(self.names), self._wide_table(self._numbers)):
            if max_width is None or table_width(layout) <= max_width:
                return layout
        return self._long_table()

    def to_paper_table(self) -> TextTable:
        """A row per system: mean ± half the width of its interval, and letters; the best mean of a metric is bold.

        Metrics without a better direction are left out.
        """
        ranked = [metric for metric in self.metrics if metric.column.better != "neither"]
        rows = tuple((name, *(_paper_cell(metric, k) for metric in ranked)) for k, name in enumerate(self.names))
        best = {
            (k, place)
            for place, metric in enumerate(ranked, start=1)
            for k, mean in enumerate(metric.means)
            if mean == (max if metric.column.better == "higher" else min)(metric.means)
        }
        title = f"{self._title(self.names)} · mean ± half of the {100 * self.level:g} % interval; bold: the best mean"
        headings = ("method", *(column_heading(metric.column) for metric in ranked))
        return TextTable(headings, rows, title, frozenset(best))

    @property
    def _numbers(self) -> tuple[str, ...]:
        return tuple(str(k) for k in range(1, len(self.names) + 1))

    def _title(self, names: Sequence[str]) -> str:
        title = f"{self._sample} · suite {self.suite} · protocol {self.protocol}"
        if names is self.names:
            return title
        return f"{title} · {', '.join(f'{k}: {name}' for k, name in zip(names, self.names, strict=True))}"

    def _wide_table(self, names: Sequence[str]) -> TextTable:
        headings = ["metric", *names]
        for name in names[1:]:
            headings += [f"{name} − {names[0]}", *BESIDE_A_DIFFERENCE]
        return TextTable(tuple(headings), tuple(_row(metric) for metric in self.metrics), self._title(names))

    def _long_table(self) -> TextTable:
        """A row per metric and system."""
        count, stride = len(self.names), 1 + len(BESIDE_A_DIFFERENCE)
        rows = []
        for metric in self.metrics:
            heading, *cells = _row(metric)
            for k, number in enumerate(self._numbers):
                compared = cells[count + stride * (k - 1) :][:stride] if k else [""] * stride
                rows.append((heading if k == 0 else "", number, cells[k], *compared))
        headings = ("metric", "", "mean", "difference from 1", *BESIDE_A_DIFFERENCE)
        return TextTable(headings, tuple(rows), self._title(self._numbers))

    def colors(self, *, max_width: int | None = None) -> dict[tuple[int, int], str]:
        """Green or red for each difference that is significant, by row and column of the table."""
        count, stride = len(self.names), 1 + len(BESIDE_A_DIFFERENCE)
        is_long = len(self.to_table(max_width=max_width).rows) > len(self.metrics)
        return {
            (row * count + k, 3) if is_long else (row, 1 + count + stride * (k - 1)): "green"
            if (gap.interval.mean > 0) == (metric.column.better == "higher")
            else "red"
            for row, metric in enumerate(self.metrics)
            for k, gap in enumerate(metric.differences, start=1)
            if metric.column.better != "neither" and not set(metric.letters[0]) & set(metric.letters[k])
        }

    def remarks(self) -> Iterator[str]:
        """Sentences on runs, and on p-values that are the smallest possible: nobody should read a size of the effect
        in those."""
        yield from self._run_remarks()
        gaps = [gap for metric in self.metrics if metric.column.better != "neither" for gap in metric.differences]
        gaps = [gap for gap in gaps if gap.test == "sign flips"]
        if self.scenes == 1 and gaps:
            yield "One scene: there is nothing to permute, so p is 1 whatever the difference."
            return
        exact = [gap.p_value for gap in gaps if gap.exact and gap.p_value <= 1.5 * 2.0 ** (1 - self.scenes)]
        if exact:
            yield (
                f"p = {min(exact):.3g} is the smallest possible with {self.scenes} scenes, however large the "
                "difference. More scenes would give smaller ones, more episodes would not."
            )
        sampled = [gap.p_value for gap in gaps if not gap.exact and gap.p_value <= 1.5 / PERMUTATIONS]
        if sampled:
            yield f"p = {min(sampled):.3g} is the smallest possible with {PERMUTATIONS:,} random permutations."

    def _run_remarks(self) -> Iterator[str]:
        main = next((self[name] for name in RANKED if name in self), self.metrics[0])
        for name, found in zip(self.names, main.variations, strict=bool(main.variations)):
            if found is not None:
                yield describe_runs(name, main.column, found)
        for name, correction in zip(self.names, main.corrections, strict=bool(main.corrections)):
            if name in self.best_of:
                yield (
                    f"{name} reports the best of {self.best_of[name]} runs, which exceeds their mean by "
                    f"{format_gain(main.column, abs(correction))} of {main.column.name} in expectation, if its runs "
                    "vary as those of the others do. Its means, differences and letters are corrected by that."
                )
        single = [name for name, count in zip(self.names, self.runs, strict=bool(self.runs)) if count == 1]
        single = [name for name in single if name not in self.best_of]
        if single:
            yield f"There is one run of {', '.join(single)}: the intervals do not generalize to other runs of it."

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain values for JSON: fractions, metres and seconds, never percentages."""
        return {
            "systems": self.names,
            "episodes": self.episodes,
            **({} if self.part is None else {"part": asdict(self.part)}),
            "scenes": self.scenes,
            **({"runs": dict(zip(self.names, self.runs, strict=True))} if self.runs else {}),
            **({"best_of": dict(self.best_of)} if self.best_of else {}),
            "suite": self.suite,
            "protocol": self.protocol,
            "metrics": {metric.column.name: _metric_dict(self.names, metric) for metric in self.metrics},
        }


def describe_runs(name: str, column: Column, found: RunVariation) -> str:
    """The spread of the runs of a system as a sentence, with what reporting the best of them would add."""
    lowest, highest = (format_number(column, x) for x in (min(found.means), max(found.means)))
    best = "" if column.better == "neither" else (
        f" The best of {found.runs} runs is expected to exceed their mean by {format_gain(column, found.best_of_gain)}."
    )  # fmt: skip
    return (
        f"{name}: {found.runs} runs with {column.name} {lowest} to {highest}; standard deviation between runs "
        f"{format_gain(column, found.sd)}, standard error of one run over scenes "
        f"{format_gain(column, found.scene_error)}.{best}"
    )


def format_gain(column: Column, value: float) -> str:
    """A difference without its sign: "1.2 points", "0.31 m"."""
    unit = {"": " points", "m": " m", "s": " s"}.get(column.unit, f" {column.unit}")
    return f"{format_number(column, value)}{unit}"


def _row(metric: MetricComparison) -> tuple[str, ...]:
    column, ranked = metric.column, metric.column.better != "neither"
    letters = metric.letters if ranked else [""] * len(metric.letters)
    cells = [column_heading(column)]
    cells += [f"{format_number(column, mean)} {s}".strip() for mean, s in zip(metric.means, letters, strict=True)]
    for difference, better in zip(metric.differences, metric.improvements, strict=True):
        gap = difference.interval
        low, high = (format_difference(column, x) for x in (gap.low, gap.high))
        cells += [f"{format_difference(column, gap.mean)} [{low}, {high}]", f"{difference.p_value:.3g}"]
        cells.append(f"{better.mean:.2f}" if ranked else "")
    return tuple(cells)


def _paper_cell(metric: MetricComparison, k: int) -> str:
    found, mean = metric.intervals[k], format_number(metric.column, metric.means[k])
    half = format_number(metric.column, (found.high - found.low) / 2)
    return f"{mean} ± {half} {metric.letters[k]}".strip()


def _metric_dict(names: Sequence[str], metric: MetricComparison) -> dict[str, Any]:
    return {
        "episodes": metric.episodes,
        "means": dict(zip(names, metric.means, strict=True)),
        "letters": dict(zip(names, metric.letters, strict=True)),
        **_runs_dict(names, metric),
        "differences": {
            name: {
                "mean": difference.interval.mean,
                "low": difference.interval.low,
                "high": difference.interval.high,
                "p_value": difference.p_value,
                "probability_of_improvement": better.mean,
            }
            for name, difference, better in zip(names[1:], metric.differences, metric.improvements, strict=True)
        },
    }


def _runs_dict(names: Sequence[str], metric: MetricComparison) -> dict[str, Any]:
    pairs = zip(names, metric.variations, strict=bool(metric.variations))
    runs = {name: asdict(found) | {"best_of_gain": found.best_of_gain} for name, found in pairs if found is not None}
    shifts = zip(names, metric.corrections, strict=bool(metric.corrections))
    corrected = {name: shift for name, shift in shifts if shift}
    return ({"runs": runs} if runs else {}) | ({"corrections": corrected} if corrected else {})


def compare(
    names: Sequence[str],
    tables: Sequence[ScoreTable],
    *,
    best_of: Mapping[str, int] | None = None,
    seed: int = 0,
    level: float = 0.95,
) -> Comparison:
    """Results on the same episodes compared pair by pair: each later one minus the first, clustered by scene.

    Raises BadArgument unless protocol, suite and episodes of all results are the same. best_of: the number of runs of
    systems that report the best one.
    """
    check_comparable(names, tables)
    reported = dict(best_of or {})
    _check_reported(names, tables, reported)
    first = tables[0]
    aligned = [_correct(metric, names, reported) for metric in align_metrics(names, tables)]
    metrics = [_compare_metric(metric, tables, seed, level) for metric in aligned]
    return Comparison(
        names=tuple(names),
        metrics=tuple(metrics),
        episodes=len(first),
        scenes=len(set(first.world_ids)),
        suite=first.suite,
        protocol=first.protocol.label,
        part=first.part,
        runs=tuple(len(table.runs) or 1 for table in tables) if any(table.runs for table in tables) else (),
        level=level,
        best_of=reported,
    )


def _check_reported(names: Sequence[str], tables: Sequence[ScoreTable], best_of: Mapping[str, int]) -> None:
    for name, count in best_of.items():
        if name not in names:
            raise BadArgument(f"best_of (--best-of) names {name}, which is not compared; there are {', '.join(names)}.")
        if count < 2:
            raise BadArgument(f"best_of (--best-of) of {name} is {count}. Give the number of its runs, at least 2.")
        if tables[names.index(name)].runs:
            raise BadArgument(f"{name} has several runs, so its mean is compared and needs no correction (--best-of).")
    if best_of and not any(table.runs for table in tables):
        raise BadArgument(
            "Correcting the best of several runs (--best-of) needs a system with several runs, to know how runs vary."
        )


def _correct(metric: AlignedMetric, names: Sequence[str], best_of: Mapping[str, int]) -> AlignedMetric:
    """The metric with the values of systems that report the best of their runs moved by the expected gain.

    The runs of the other systems show how far runs vary. Nobody knows by which metric the best run was chosen, so each
    metric is corrected as if by it.
    """
    known = [found for found in metric.variations if found is not None]
    if not best_of or not known or metric.column.better == "neither":
        return metric
    return metric.correct([pool_variations(known, best_of[name]) if name in best_of else None for name in names])


def _compare_metric(metric: AlignedMetric, tables: Sequence[ScoreTable], seed: int, level: float) -> MetricComparison:
    column, weights, scenes = metric.column, metric.weights, metric.scenes
    outcomes = metric.runs if metric.outcomes is None else metric.outcomes
    sign = -1.0 if column.better == "lower" else 1.0
    return MetricComparison(
        column=column,
        episodes=len(scenes),
        means=tuple(map(float, np.average(metric.values, axis=1, weights=weights))),
        differences=tuple(_find_difference(metric, k, seed, level) for k in range(1, len(metric.runs))),
        improvements=tuple(
            probability_of_improvement(sign * later, sign * outcomes[0], clusters=scenes, weights=weights, level=level)
            for later in outcomes[1:]
        ),
        letters=metric.letters(level=level),
        variations=metric.variations,
        intervals=tuple(metric_interval(table, column.name, level=level) for table in tables),
        corrections=tuple(0.0 if found is None else sign * found.gain for found in metric.corrections),
    )


def _find_difference(metric: AlignedMetric, k: int, seed: int, level: float) -> Difference:
    """System k minus the first: with several runs by t-test over runs and scenes, else by sign flips of scenes."""
    later, first, extra = metric.runs[k], metric.runs[0], [*metric.extra[k], *metric.extra[0]]
    if len(later) > 1 or len(first) > 1 or extra:
        return difference_over_runs(
            later, first, clusters=metric.scenes, weights=metric.weights, extra=extra, level=level
        )
    rng = generator(seed, "compare", metric.column.name, str(k))
    return paired_difference(
        later[0], first[0], clusters=metric.scenes, weights=metric.weights, permutations=PERMUTATIONS, level=level,
        rng=rng,
    )  # fmt: skip
