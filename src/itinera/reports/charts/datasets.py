"""Figures of data sets as SVG or PNG, by the suffix of the file: distributions, tour lengths, coverage along tours.

Data sets differ by color (safe for color-blind readers) and by dash pattern (for print).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itinera.analysis.coverage import CoverageCurve, CoverageKind
from itinera.analysis.datasets import DatasetDescription
from itinera.errors import BadArgument, MissingExtra
from itinera.formats.writing import atomic_write

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colors, strongest contrasts first, without yellow, which is invisible on white.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
SUFFIXES = (".svg", ".png")
STYLE: dict[Any, Any] = {
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "itinera",  # the same figure is the same file
}


def draw_distributions(described: Sequence[DatasetDescription], path: str | Path) -> None:
    """Draw the share of paths by edges, length and direct distance to the goal, and of instructions by words.

    After figure 3 of Stay on the Path.
    """
    panels: list[tuple[str, str, float, list[NDArray[Any]]]] = [
        ("number of steps", "edges", 1.0, [d.edges for d in described]),
        ("path length", "metres", 2.0, [d.lengths for d in described]),
        ("direct-to-goal length", "metres", 2.0, [d.distances for d in described]),
        ("instruction length", "words", 5.0, [d.words for d in described]),
    ]
    with figure_panels(path, columns=4, names=[d.name for d in described]) as axes:
        for ax, (title, unit, width, values) in zip(axes, panels, strict=True):
            _overlay(ax, values, width)
            ax.set_title(title)
            ax.set_xlabel(unit)
        axes[0].set_ylabel("share of paths, %")
        axes[-1].set_ylabel("share of instructions, %")


def draw_tour_lengths(lengths: Mapping[str, NDArray[np.int64]], path: str | Path) -> None:
    """Draw the number of tours by their number of episodes, by data set. After figure 2a of Iterative VLN."""
    with figure_panels(path, columns=1, names=list(lengths), key=_patch) as (ax,):
        top = max((int(numbers.max(initial=0)) for numbers in lengths.values()), default=0)
        width = 1 if top <= 25 else 10
        bins = np.arange(0.5, top + width, width)  # 1 … 10, 11 … 20 and so on, so that 100 is not a bin of its own
        slot = width / max(len(lengths), 1)
        for i, numbers in enumerate(lengths.values()):
            counts, _ = np.histogram(numbers, bins)
            ax.bar(bins[:-1] + i * slot, counts, slot * 0.92, align="edge", **_bar(i))
        ax.set_xlabel("episodes in a tour")
        ax.set_ylabel("tours")
        ax.locator_params(axis="y", integer=True)
        ax.grid(axis="x", visible=False)


TITLES = {"upcoming": "upcoming episode", "tour": "complete tour", "scene": "whole scene"}
MIN_TOUR_SHARE = 0.1  # with fewer tours a curve describes single scenes and ends


def draw_coverage(
    curves: Mapping[str, Mapping[str, CoverageCurve]],
    path: str | Path,
    *,
    by: CoverageKind = "visited",
    panels: Sequence[str] = tuple(TITLES),
) -> None:
    """Draw the share observed before each episode: a line with its interval per data set, a panel per share.

    `curves` are by data set, then by share: "upcoming", "tour", "scene". A line ends where fewer than a tenth of the
    tours are left; data sets of very different lengths share a logarithmic axis.
    After figures 2b and 7 of Iterative VLN.
    """
    longest = [max(map(len, shares.values())) for shares in curves.values()]
    with figure_panels(path, columns=len(panels), names=list(curves)) as axes:
        for ax, what in zip(axes, panels, strict=True):
            for i, shares in enumerate(curves.values()):
                _draw_curve(ax, shares[what], i)
            if 5 * min(longest) < max(longest):
                _set_log_axis(ax, max(longest))
            ax.set_title(TITLES[what])
            ax.set_xlabel("episodes done")
            ax.set_ylim(0, 102)
        axes[0].set_ylabel("viewpoints visited before, %" if by == "visited" else "viewpoints visible before, %")


@dataclass(frozen=True)
class PublishedBound:
    """A bound that a paper states in words: after so many episodes, a mean share above or below this value."""

    share_of: str  # "upcoming", "tour" or "scene"
    name: str  # data set
    episodes_done: int
    value: float
    is_lower: bool  # a lower bound, rather than an upper one


def draw_observed_coverage(
    curves: Mapping[str, Mapping[str, CoverageCurve]], path: str | Path, *, published: Sequence[PublishedBound] = ()
) -> None:
    """Draw the share of cells observed before each episode: a line with its interval per data set, a panel per share.

    `curves` are by data set, then by share: "upcoming", "tour", "scene"; a data set need not have all of them.
    Published bounds are marked by a triangle that points to the side where the line should be.
    """
    longest = [max(map(len, shares.values())) for shares in curves.values()]
    with figure_panels(path, columns=len(TITLES), names=list(curves)) as axes:
        for ax, what in zip(axes, TITLES, strict=True):
            for i, shares in enumerate(curves.values()):
                if what in shares:
                    _draw_curve(ax, shares[what], i)
            _mark_bounds(ax, [bound for bound in published if bound.share_of == what])
            if 5 * min(longest) < max(longest):
                _set_log_axis(ax, max(longest))
            ax.set_title(TITLES[what])
            ax.set_xlabel("episodes done")
            ax.set_ylim(0, 102)
        axes[0].set_ylabel("cells observed before, %")


def _mark_bounds(ax: Axes, bounds: Sequence[PublishedBound]) -> None:
    for bound in bounds:
        share, marker = 100 * bound.value, "^" if bound.is_lower else "v"
        ax.plot([bound.episodes_done], [share], marker, color="black", markersize=5, zorder=3)
        label = f"{bound.name}, published: {'over' if bound.is_lower else 'under'} {share:.0f}"
        ax.annotate(
            label,
            (bound.episodes_done, share),
            (3, -10),
            textcoords="offset points",
            ha="center",
            fontsize=6,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.3},
        )


def _draw_curve(ax: Axes, curve: CoverageCurve, number: int) -> None:
    shown = int(np.count_nonzero(curve.tours >= MIN_TOUR_SHARE * curve.tours[0]))
    done = np.arange(shown)
    mean, low, high = (100 * values[:shown] for values in (curve.mean, curve.low, curve.high))
    # Without markers, short curves such as R4R's two points would be hidden behind long ones.
    markers: dict[str, Any] = {"marker": "os^Dv"[number % 5], "markersize": 3.5} if shown <= 8 else {}
    ax.fill_between(done, low, high, color=_color(number), alpha=0.18, linewidth=0)
    ax.plot(done, mean, color=_color(number), linestyle=_dash(number), linewidth=1.4, **markers)


def _set_log_axis(ax: Axes, longest: int) -> None:
    ticks = [tick for tick in (0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500) if tick < longest]
    ax.set_xscale("symlog", linthresh=1, linscale=0.35)
    ax.set_xticks(ticks, list(map(str, ticks)))
    ax.minorticks_off()
    ax.set_xlim(-0.1, longest)


def _overlay(ax: Axes, values: Sequence[NDArray[Any]], width: float) -> None:
    """Overlaid histograms, each as shares of its own values, in bins of one width."""
    finite = [numbers[np.isfinite(numbers)] for numbers in values]
    top = max((float(np.quantile(numbers, 0.999)) for numbers in finite if len(numbers)), default=width)
    bins = np.arange(-width / 2 if width == 1 else 0.0, top + width, width)
    for i, numbers in enumerate(finite):
        if len(numbers):
            shares = 100 * np.histogram(numbers, bins)[0] / len(numbers)
            ax.stairs(shares, bins, fill=True, color=_color(i), alpha=0.14)
            ax.stairs(shares, bins, color=_color(i), linestyle=_dash(i), linewidth=1.4)
    ax.set_xlim(bins[0], bins[-1])
    ax.set_ylim(bottom=0)


def _color(number: int) -> str:
    return COLORS[number % len(COLORS)]


def _dash(number: int) -> Any:
    return DASHES[number % len(DASHES)]


def _bar(number: int) -> dict[str, Any]:
    hatch = ("", "////", "....", "xxxx", "----")[number % 5]
    return {"facecolor": _color(number), "edgecolor": "white", "hatch": hatch, "linewidth": 0}


def _stroke(number: int) -> Artist:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=_color(number), linestyle=_dash(number), linewidth=1.6)


def _patch(number: int) -> Artist:
    from matplotlib.patches import Patch

    return Patch(**_bar(number))


@contextmanager
def figure_panels(
    path: str | Path, *, columns: int, names: Sequence[str], key: Callable[[int], Artist] = _stroke
) -> Iterator[list[Axes]]:
    """Panels side by side to draw on; the legend is added and the file written when the block ends without an error."""
    with figure_file(path, width=max(2.35 * columns, 3.4), height=2.5) as figure:
        yield list(figure.subplots(1, columns, squeeze=False)[0])
        add_legend(figure, [key(i) for i in range(len(names))], names)


def add_legend(figure: Figure, handles: Sequence[Artist], names: Sequence[str]) -> None:
    """Add a legend above the panels, in as many columns as the figure is wide enough for."""
    room = 72 * figure.get_figwidth() / STYLE["font.size"]  # in em
    fits = [count for count in range(len(names), 1, -1) if _legend_width(names, count) <= room]
    figure.legend(handles, names, loc="outside upper left", ncols=(*fits, 1)[0])


def _legend_width(names: Sequence[str], columns: int) -> float:
    """About how wide a legend is, in em: the longest name of each column, and 4.6 em for its handle and space."""
    return sum(0.52 * max(map(len, part)) + 4.6 for part in np.array_split(np.array(names), columns))


@contextmanager
def figure_file(path: str | Path, *, width: float, height: float) -> Iterator[Figure]:
    """A figure of so many inches to draw on; the file is written when the block ends without an error."""
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise BadArgument(
            f"The name of a figure ends in {' or '.join(SUFFIXES)}, not {path.suffix or 'nothing'!r}: {path}."
        )
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure  # not pyplot: no windows, no global state
    except ImportError:
        raise MissingExtra("Figures", "matplotlib", "figures") from None
    with rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        # Without dates, equal figures are equal files.
        metadata = {"Date": None} if path.suffix == ".svg" else {}
        with atomic_write(path) as stream:
            figure.savefig(stream, format=path.suffix[1:], dpi=200, metadata=metadata)
