"""Data sets side by side: what `studies.datasets` and `studies.coverage` found, as a table and as plain values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from itinera.analysis.coverage import Curve, Seen, Sight, curve
from itinera.analysis.datasets import Description, Spread, Touring, straight_share, turn_sectors
from itinera.reports.tables import Grid

AFTER = (1, 3, 10)  # episodes done, at which the table tells what was seen
NONE = "–"
OVER_INSTRUCTIONS = ", over instructions"


@dataclass(frozen=True)
class Portrait:
    """One data set: its numbers and, where it has tours or parts, what was seen along them."""

    described: Description
    curves: Mapping[Sight, Mapping[str, Curve]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def name(self) -> str:
        return self.described.name


def curves_of(seen: Seen) -> dict[str, Curve]:
    """The mean share of the upcoming path, of the tour and of the scene, against the episodes done."""
    named = {"upcoming": seen.upcoming, "tour": seen.tour, "scene": seen.scene}
    return {name: curve(shares, seen.world_ids) for name, shares in named.items()}


def as_grid(portraits: Sequence[Portrait]) -> Grid:
    """A column for each data set, a row for each number.

    Rows that none of them has are left out, and so are means over instructions that print as those over paths.
    """
    rows: list[tuple[str, ...]] = []
    for name, cell in _rows():
        cells = tuple(cell(p) for p in portraits)
        told_already = name == f"{rows[-1][0]}{OVER_INSTRUCTIONS}" and cells == rows[-1][1:] if rows else False
        if set(cells) != {NONE} and not told_already:
            rows.append((name, *cells))
    return Grid(("", *(p.name for p in portraits)), tuple(rows), "Means are over paths unless a row says otherwise.")


Cell = Callable[[Portrait], str]


def _rows() -> list[tuple[str, Cell]]:
    return [
        ("scenes", lambda p: str(p.described.scenes)),
        ("paths", lambda p: str(p.described.paths)),
        ("goals withheld", lambda p: str(p.described.withheld) if p.described.withheld else NONE),
        ("instructions", lambda p: str(p.described.instructions)),
        *_over_both("path length PL(R), m", lambda d: d.lengths),
        *_over_both("start to goal d(r1, r|R|), m", lambda d: d.distances),
        *_over_both("stated distance, m", lambda d: d.stated),
        *_over_both("edges per path", lambda d: d.edges),
        ("words per instruction", lambda p: _mean(Spread.of(p.described.words))),
        ("vocabulary", lambda p: str(p.described.vocabulary)),
        ("turns within 15°, %", lambda p: _percent(straight_share(p.described.turns))),
        ("overlap with other paths, %", lambda p: _percent(_over(p.described.overlaps).mean)),
        ("scenes toured", _of_tours(lambda t: str(t.scenes))),
        ("episodes toured", _of_tours(lambda t: str(t.episodes))),
        ("tours", _of_tours(lambda t: str(len(t.lengths)))),
        ("tours per scene", _of_tours(lambda t: f"{t.per_scene:.1f}")),
        ("tour length, mean", _of_tours(lambda t: f"{t.lengths.mean():.1f}")),
        ("tour length, min", _of_tours(lambda t: str(t.lengths.min()))),
        ("tour length, max", _of_tours(lambda t: str(t.lengths.max()))),
        ("tour length, SD", _of_tours(lambda t: f"{t.lengths.std():.1f}")),
        *_seen_rows(),
    ]


_HOW: tuple[Sight, ...] = ("visited", "visible")
_WHAT = {"upcoming": "next path", "tour": "tour", "scene": "scene"}


def _seen_rows() -> Iterator[tuple[str, Cell]]:
    for by, (what, name), done in product(_HOW, _WHAT.items(), AFTER):
        yield f"{name} {by} after {_episodes(done)}, %", _at(by, what, done)


def _over_both(name: str, values: Callable[[Description], NDArray[np.generic]]) -> list[tuple[str, Cell]]:
    """Two rows: the mean over paths, and over instructions."""
    return [
        (name, lambda p: _mean(_known(values(p.described)))),
        (f"{name}{OVER_INSTRUCTIONS}",
         lambda p: _mean(_known(values(p.described), p.described.instructions_per_path))),
    ]  # fmt: skip


def _known(values: NDArray[np.generic], weights: NDArray[np.int64] | None = None) -> Spread | None:
    """The spread of the values that are known; none are NaN but stated ones."""
    numbers = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(numbers)
    return Spread.of(numbers[known], None if weights is None else weights[known])


def _over(values: NDArray[np.generic]) -> Spread:
    return Spread.of(values) or Spread(math.nan, math.nan, math.nan, math.nan)


def _of_tours(told: Callable[[Touring], str]) -> Cell:
    return lambda p: NONE if p.described.touring is None else told(p.described.touring)


def _at(by: Sight, what: str, done: int) -> Cell:
    def cell(portrait: Portrait) -> str:
        found = portrait.curves.get(by, {}).get(what)
        if found is None or len(found) <= done:
            return NONE
        ends = "" if math.isnan(found.low[done]) else f" [{100 * found.low[done]:.1f}, {100 * found.high[done]:.1f}]"
        return f"{100 * found.mean[done]:.1f}{ends}"

    return cell


def _episodes(count: int) -> str:
    return "1 episode" if count == 1 else f"{count} episodes"


def _mean(spread: Spread | None) -> str:
    return NONE if spread is None else f"{spread.mean:.2f}"


def _percent(share: float) -> str:
    return NONE if math.isnan(share) else f"{100 * share:.1f}"


def as_json(portrait: Portrait) -> dict[str, object]:
    """Every number as a plain value: fractions, metres, episodes; None where nothing is known."""
    found = portrait.described
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
                "over_paths": _plain_spread(_known(values)),
                "over_instructions": _plain_spread(_known(values, found.instructions_per_path)),
            }
            for name, values in measured.items()
        },
        "words": _plain_spread(Spread.of(found.words)),
        "vocabulary": found.vocabulary,
        "turns": {
            "count": len(found.turns),
            "within_15_degrees": _plain(straight_share(found.turns)),
            "sectors_of_30_degrees": turn_sectors(found.turns).tolist(),
        },
        "overlap": _plain_spread(Spread.of(found.overlaps)),
        "tours": None if found.touring is None else _plain_tours(found.touring),
        "seen": {by: {what: _plain_curve(c) for what, c in curves.items()} for by, curves in portrait.curves.items()},
    }


def _plain_tours(touring: Touring) -> dict[str, object]:
    return {
        "scenes": touring.scenes,
        "episodes": touring.episodes,
        "tours": len(touring.lengths),
        "tours_per_scene": touring.per_scene,
        "length": _plain_spread(Spread.of(touring.lengths)),
    }


def _plain_curve(found: Curve) -> list[dict[str, object]]:
    columns = zip(found.mean.tolist(), found.low.tolist(), found.high.tolist(), found.tours.tolist(), strict=True)
    return [
        {"episodes_done": k, "mean": mean, "low": _plain(low), "high": _plain(high), "tours": tours}
        for k, (mean, low, high, tours) in enumerate(columns)
    ]


def _plain_spread(spread: Spread | None) -> dict[str, float | str | None] | None:
    return None if spread is None else {name: _plain(value) for name, value in asdict(spread).items()}


def _plain(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else "inf"
