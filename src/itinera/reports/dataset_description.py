"""Data sets side by side: the statistics and coverage of `itinera.analysis`, as a table and as plain values."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from itinera.analysis.coverage import (
    CoverageCurve,
    CoverageKind,
    OracleRoute,
    TourCoverage,
    coverage_curve,
    has_visibility,
    is_joined,
    measure_coverage,
    routes_from_parts,
    routes_from_tours,
)
from itinera.analysis.datasets import (
    DatasetDescription,
    SummaryStatistics,
    TourStatistics,
    count_turn_sectors,
    describe,
    straight_fraction,
)
from itinera.records.tables import TextTable, count_noun, to_html
from itinera.tasks import Split
from itinera.worlds import World

EPISODES_DONE = (1, 3, 10)  # after which the table shows the coverage
MISSING = "–"
OVER_INSTRUCTIONS = ", over instructions"
KINDS: tuple[CoverageKind, ...] = ("visited", "visible")

logger = logging.getLogger("itinera")


@dataclass(frozen=True)
class DatasetReport:
    """One data set: its statistics and, if it has tours or parts, the coverage along them."""

    statistics: DatasetDescription
    curves: Mapping[CoverageKind, Mapping[str, CoverageCurve]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def name(self) -> str:
        return self.statistics.name


def coverage_curves(coverage: TourCoverage) -> dict[str, CoverageCurve]:
    """The mean share of the upcoming path, of the tour and of the scene, against the episodes done."""
    shares = {"upcoming": coverage.upcoming, "tour": coverage.tour, "scene": coverage.scene}
    return {name: coverage_curve(values, coverage.world_ids) for name, values in shares.items()}


@dataclass(frozen=True, eq=False)
class DatasetTable:
    """The statistics of data sets side by side. `print` shows the table."""

    reports: tuple[DatasetReport, ...]

    def __len__(self) -> int:
        return len(self.reports)

    def __iter__(self) -> Iterator[DatasetReport]:
        return iter(self.reports)

    def __getitem__(self, key: int | str) -> DatasetReport:
        """A data set by its index or name."""
        if isinstance(key, int):
            return self.reports[key]
        for report in self.reports:
            if report.name == key:
                return report
        raise KeyError(f"no data set {key!r}; there are {', '.join(report.name for report in self.reports)}")

    def __repr__(self) -> str:
        return f"DatasetTable({', '.join(report.name for report in self.reports)})"

    def __str__(self) -> str:
        return str(self.to_table())

    def _repr_html_(self) -> str:
        return to_html(self.to_table())

    def to_table(self) -> TextTable:
        """A column per data set and a row per statistic."""
        return make_table(self.reports)

    def to_dicts(self) -> list[dict[str, object]]:
        """All statistics as plain values for JSON, a dictionary per data set."""
        return [to_dict(report) for report in self.reports]

    def draw(self, folder: str | Path) -> None:
        """Draw the distributions, tour lengths and coverage into a folder, as SVG. Needs itinera[figures]."""
        from itinera.reports.charts.datasets import draw_coverage, draw_distributions, draw_tour_lengths

        folder = Path(folder)
        draw_distributions([report.statistics for report in self.reports], folder / "distributions.svg")
        lengths = {r.name: r.statistics.tours.lengths for r in self.reports if r.statistics.tours is not None}
        if lengths:
            draw_tour_lengths(lengths, folder / "tour-lengths.svg")
        for by in KINDS:
            curves = {report.name: report.curves[by] for report in self.reports if by in report.curves}
            if curves:
                draw_coverage(curves, folder / f"coverage-{by}.svg", by=by)


def report_dataset(split: Split, worlds: Mapping[str, World], *, parts: Split | None = None) -> DatasetReport:
    """The statistics of a split and the coverage along its tours.

    Paths joined from several (R4R, R6R, R8R) are tours of their `parts`, the split they were joined from.
    """
    routes = _find_routes(split, parts)
    kinds: list[CoverageKind] = ["visited"] if routes else []
    if routes and has_visibility(routes, worlds):
        kinds.append("visible")
    curves = {by: coverage_curves(measure_coverage(routes, worlds, by=by)) for by in kinds}
    return DatasetReport(describe(split, worlds), curves)


def _find_routes(split: Split, parts: Split | None) -> tuple[OracleRoute, ...]:
    """The routes of an oracle through the split's tours, or through the parts of its paths; none if it has neither."""
    if parts is not None and is_joined(split):
        return routes_from_parts(split, parts)
    if not split.tours:
        return ()
    on_graph = isinstance(split.episodes[0].start.place, str)
    if not on_graph or any(episode.goals_withheld for episode in split.episodes):
        logger.info("%s: coverage along tours needs navigation graphs and goals; it is left out.", split.name)
        return ()
    return routes_from_tours(split)


def make_table(reports: Sequence[DatasetReport]) -> TextTable:
    """A table with a column per data set and a row per statistic.

    Rows without any value are left out, and so are means over instructions that equal those over paths.
    """
    rows: list[tuple[str, ...]] = []
    for name, cell in _rows():
        cells = tuple(cell(p) for p in reports)
        is_repeated = name == f"{rows[-1][0]}{OVER_INSTRUCTIONS}" and cells == rows[-1][1:] if rows else False
        if set(cells) != {MISSING} and not is_repeated:
            rows.append((name, *cells))
    return TextTable(("", *(p.name for p in reports)), tuple(rows), "Means are over paths unless a row says otherwise.")


Cell = Callable[[DatasetReport], str]


def _rows() -> list[tuple[str, Cell]]:
    return [
        ("scenes", lambda p: str(p.statistics.scenes)),
        ("paths", lambda p: str(p.statistics.paths)),
        ("goals withheld", lambda p: str(p.statistics.withheld) if p.statistics.withheld else MISSING),
        ("instructions", lambda p: str(p.statistics.instructions)),
        *_over_both("path length PL(R), m", lambda d: d.lengths),
        *_over_both("start to goal d(r1, r|R|), m", lambda d: d.distances),
        *_over_both("stated distance, m", lambda d: d.stated),
        *_over_both("edges per path", lambda d: d.edges),
        ("words per instruction", lambda p: _mean(SummaryStatistics.from_values(p.statistics.words))),
        ("vocabulary", lambda p: str(p.statistics.vocabulary)),
        ("turns within 15°, %", lambda p: _percent(straight_fraction(p.statistics.turns))),
        ("overlap with other paths, %", lambda p: _percent(_over(p.statistics.overlaps).mean)),
        ("scenes toured", _tour_cell(lambda t: str(t.scenes))),
        ("episodes toured", _tour_cell(lambda t: str(t.episodes))),
        ("tours", _tour_cell(lambda t: str(len(t.lengths)))),
        ("tours per scene", _tour_cell(lambda t: f"{t.per_scene:.1f}")),
        ("tour length, mean", _tour_cell(lambda t: f"{t.lengths.mean():.1f}")),
        ("tour length, min", _tour_cell(lambda t: str(t.lengths.min()))),
        ("tour length, max", _tour_cell(lambda t: str(t.lengths.max()))),
        ("tour length, SD", _tour_cell(lambda t: f"{t.lengths.std():.1f}")),
        *_coverage_rows(),
    ]


_SHARES = {"upcoming": "next path", "tour": "tour", "scene": "scene"}


def _coverage_rows() -> Iterator[tuple[str, Cell]]:
    for by, (what, name), done in product(KINDS, _SHARES.items(), EPISODES_DONE):
        yield f"{name} {by} after {count_noun(done, 'episode')}, %", _at(by, what, done)


def _over_both(name: str, values: Callable[[DatasetDescription], NDArray[np.generic]]) -> list[tuple[str, Cell]]:
    """Two rows: the mean over paths, and over instructions."""
    return [
        (name, lambda p: _mean(_finite_statistics(values(p.statistics)))),
        (f"{name}{OVER_INSTRUCTIONS}",
         lambda p: _mean(_finite_statistics(values(p.statistics), p.statistics.instructions_per_path))),
    ]  # fmt: skip


def _finite_statistics(
    values: NDArray[np.generic], weights: NDArray[np.int64] | None = None
) -> SummaryStatistics | None:
    """The statistics of the values that are not NaN, which only stated distances can be."""
    numbers = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(numbers)
    return SummaryStatistics.from_values(numbers[known], None if weights is None else weights[known])


def _over(values: NDArray[np.generic]) -> SummaryStatistics:
    return SummaryStatistics.from_values(values) or SummaryStatistics(math.nan, math.nan, math.nan, math.nan)


def _tour_cell(format: Callable[[TourStatistics], str]) -> Cell:
    return lambda p: MISSING if p.statistics.tours is None else format(p.statistics.tours)


def _at(by: CoverageKind, what: str, done: int) -> Cell:
    def cell(report: DatasetReport) -> str:
        found = report.curves.get(by, {}).get(what)
        if found is None or len(found) <= done:
            return MISSING
        ends = "" if math.isnan(found.low[done]) else f" [{100 * found.low[done]:.1f}, {100 * found.high[done]:.1f}]"
        return f"{100 * found.mean[done]:.1f}{ends}"

    return cell


def _mean(statistics: SummaryStatistics | None) -> str:
    return MISSING if statistics is None else f"{statistics.mean:.2f}"


def _percent(share: float) -> str:
    return MISSING if math.isnan(share) else f"{100 * share:.1f}"


def to_dict(report: DatasetReport) -> dict[str, object]:
    """All statistics as plain values for JSON: fractions, metres, episodes; None where undefined."""
    found = report.statistics
    measured = {"path_length": found.lengths, "start_goal_distance": found.distances,
                "stated_distance": found.stated, "edges": found.edges}  # fmt: skip
    return {
        "name": found.name,
        "scenes": found.scenes,
        "paths": found.paths,
        "goals_withheld": found.withheld,
        "instructions": found.instructions,
        **{
            name: {
                "over_paths": _statistics_dict(_finite_statistics(values)),
                "over_instructions": _statistics_dict(_finite_statistics(values, found.instructions_per_path)),
            }
            for name, values in measured.items()
        },
        "words": _statistics_dict(SummaryStatistics.from_values(found.words)),
        "vocabulary": found.vocabulary,
        "turns": {
            "count": len(found.turns),
            "within_15_degrees": _plain(straight_fraction(found.turns)),
            "sectors_of_30_degrees": count_turn_sectors(found.turns).tolist(),
        },
        "overlap": _statistics_dict(SummaryStatistics.from_values(found.overlaps)),
        "tours": None if found.tours is None else _tours_dict(found.tours),
        "coverage": {by: {what: _curve_list(c) for what, c in curves.items()} for by, curves in report.curves.items()},
    }


def _tours_dict(tours: TourStatistics) -> dict[str, object]:
    return {
        "scenes": tours.scenes,
        "episodes": tours.episodes,
        "tours": len(tours.lengths),
        "tours_per_scene": tours.per_scene,
        "length": _statistics_dict(SummaryStatistics.from_values(tours.lengths)),
    }


def _curve_list(found: CoverageCurve) -> list[dict[str, object]]:
    columns = zip(found.mean.tolist(), found.low.tolist(), found.high.tolist(), found.tours.tolist(), strict=True)
    return [
        {"episodes_done": k, "mean": mean, "low": _plain(low), "high": _plain(high), "tours": tours}
        for k, (mean, low, high, tours) in enumerate(columns)
    ]


def _statistics_dict(statistics: SummaryStatistics | None) -> dict[str, float | str | None] | None:
    return None if statistics is None else {name: _plain(value) for name, value in asdict(statistics).items()}


def _plain(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else "inf"
