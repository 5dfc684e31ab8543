"""The figure of what was observed along tours, beside what a paper printed of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from itinera.analysis.coverage import Curve
from itinera.reports.charts.datasets import TITLES, draw_line, drawing, grow_by_factors

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Printed:
    """A bound that a paper states in words: after so many episodes, on average more, or less, than this share."""

    what: str  # "upcoming", "tour" or "scene"
    name: str  # the data set it is about
    done: int
    share: float
    over: bool  # more than that, rather than less


def draw_observed(
    curves: Mapping[str, Mapping[str, Curve]], path: str | Path, *, printed: Sequence[Printed] = ()
) -> None:
    """What was observed before each episode, a line with its interval for each data set, a panel for each share.

    `curves` are named by data set, then by what was seen: "upcoming", "tour", "scene"; a data set need not have all.
    Bounds that were printed are marked by a triangle that points to where the line should be.
    """
    longest = [max(map(len, of_set.values())) for of_set in curves.values()]
    with drawing(path, columns=len(TITLES), names=list(curves)) as axes:
        for ax, what in zip(axes, TITLES, strict=True):
            for i, of_set in enumerate(curves.values()):
                if what in of_set:
                    draw_line(ax, of_set[what], i)
            _mark(ax, [bound for bound in printed if bound.what == what])
            if 5 * min(longest) < max(longest):
                grow_by_factors(ax, max(longest))
            ax.set_title(TITLES[what])
            ax.set_xlabel("episodes done")
            ax.set_ylim(0, 102)
        axes[0].set_ylabel("cells observed before, %")


def _mark(ax: Axes, bounds: Sequence[Printed]) -> None:
    for bound in bounds:
        share, mark = 100 * bound.share, "^" if bound.over else "v"
        ax.plot([bound.done], [share], mark, color="black", markersize=5, zorder=3)
        told = f"{bound.name}, printed: {'over' if bound.over else 'under'} {share:.0f}"
        ax.annotate(told, (bound.done, share), (3, -9), textcoords="offset points", ha="center", fontsize=5.5)
