"""Figures of data sets, as SVG or PNG by the name of the file: distributions, tour lengths, what was seen along tours.

Data sets differ by colour (told apart by the colour-blind) and by the dashes of their lines (told apart in print).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itinera.analysis.coverage import Curve, Sight
from itinera.analysis.datasets import Description
from itinera.errors import BadArgument, MissingExtra
from itinera.formats.io import atomic_write

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, darkest contrasts first; yellow is left out, which a white page swallows.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
ENDINGS = (".svg", ".png")
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


def draw_distributions(described: Sequence[Description], path: str | Path) -> None:
    """The share of paths by edges, length and direct distance to the goal, and of instructions by words.

    After figure 3 of Stay on the Path.
    """
    panels: list[tuple[str, str, float, list[NDArray[Any]]]] = [
        ("number of steps", "edges", 1.0, [d.edges for d in described]),
        ("path length", "metres", 2.0, [d.lengths for d in described]),
        ("direct-to-goal length", "metres", 2.0, [d.distances for d in described]),
        ("instruction length", "words", 5.0, [d.words for d in described]),
    ]
    with drawing(path, columns=4, names=[d.name for d in described]) as axes:
        for ax, (title, unit, width, values) in zip(axes, panels, strict=True):
            _overlay(ax, values, width)
            ax.set_title(title)
            ax.set_xlabel(unit)
        axes[0].set_ylabel("share of paths, %")
        axes[-1].set_ylabel("share of instructions, %")


def draw_tour_lengths(lengths: Mapping[str, NDArray[np.int64]], path: str | Path) -> None:
    """How many tours have so many episodes, by the name of the data set. After figure 2a of Iterative VLN."""
    with drawing(path, columns=1, names=list(lengths), key=_patch) as (ax,):
        top = max((int(numbers.max(initial=0)) for numbers in lengths.values()), default=0)
        width = 1 if top <= 25 else 10
        bins = np.arange(0.5, top + width, width)  # 1 … 10, 11 … 20 and so on: 100 is no bin of its own
        slot = width / max(len(lengths), 1)
        for i, numbers in enumerate(lengths.values()):
            counts, _ = np.histogram(numbers, bins)
            ax.bar(bins[:-1] + i * slot, counts, slot * 0.92, align="edge", **_bar(i))
        ax.set_xlabel("episodes in a tour")
        ax.set_ylabel("tours")
        ax.grid(axis="x", visible=False)


TITLES = {"upcoming": "upcoming episode", "tour": "complete tour", "scene": "whole scene"}
LEFT = 0.1  # of the tours; with fewer of them a curve tells of single scenes and is not drawn on


def draw_coverage(
    curves: Mapping[str, Mapping[str, Curve]],
    path: str | Path,
    *,
    by: Sight = "visited",
    panels: Sequence[str] = tuple(TITLES),
) -> None:
    """What was seen before each episode, a line with its interval for each data set, a panel for each share.

    `curves` are named by data set, then by what was seen: "upcoming", "tour", "scene". A line ends where fewer than a
    tenth of the tours are left; data sets of very different lengths share an axis that grows by factors.
    After figures 2b and 7 of Iterative VLN.
    """
    longest = [max(map(len, of_set.values())) for of_set in curves.values()]
    with drawing(path, columns=len(panels), names=list(curves)) as axes:
        for ax, what in zip(axes, panels, strict=True):
            for i, of_set in enumerate(curves.values()):
                draw_line(ax, of_set[what], i)
            if 5 * min(longest) < max(longest):
                grow_by_factors(ax, max(longest))
            ax.set_title(TITLES[what])
            ax.set_xlabel("episodes done")
            ax.set_ylim(0, 102)
        axes[0].set_ylabel("places visited before, %" if by == "visited" else "places in sight before, %")


def draw_line(ax: Axes, curve: Curve, number: int) -> None:
    shown = int(np.count_nonzero(curve.tours >= LEFT * curve.tours[0]))
    done = np.arange(shown)
    mean, low, high = (100 * values[:shown] for values in (curve.mean, curve.low, curve.high))
    # Short curves, such as R4R's two points, would hide behind long ones without marks.
    marks: dict[str, Any] = {"marker": "os^Dv"[number % 5], "markersize": 3.5} if shown <= 8 else {}
    ax.fill_between(done, low, high, color=_colour(number), alpha=0.18, linewidth=0)
    ax.plot(done, mean, color=_colour(number), linestyle=_dash(number), linewidth=1.4, **marks)


def grow_by_factors(ax: Axes, longest: int) -> None:
    ticks = [tick for tick in (0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500) if tick < longest]
    ax.set_xscale("symlog", linthresh=1, linscale=0.35)
    ax.set_xticks(ticks, list(map(str, ticks)))
    ax.minorticks_off()
    ax.set_xlim(-0.1, longest)


def _overlay(ax: Axes, values: Sequence[NDArray[Any]], width: float) -> None:
    """Histograms over one another, each as shares of its own values in bins of one width."""
    finite = [numbers[np.isfinite(numbers)] for numbers in values]
    top = max((float(np.quantile(numbers, 0.999)) for numbers in finite if len(numbers)), default=width)
    bins = np.arange(-width / 2 if width == 1 else 0.0, top + width, width)
    for i, numbers in enumerate(finite):
        if len(numbers):
            shares = 100 * np.histogram(numbers, bins)[0] / len(numbers)
            ax.stairs(shares, bins, fill=True, color=_colour(i), alpha=0.14)
            ax.stairs(shares, bins, color=_colour(i), linestyle=_dash(i), linewidth=1.4)
    ax.set_xlim(bins[0], bins[-1])
    ax.set_ylim(bottom=0)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _dash(number: int) -> Any:
    return DASHES[number % len(DASHES)]


def _bar(number: int) -> dict[str, Any]:
    hatch = ("", "////", "....", "xxxx", "----")[number % 5]
    return {"facecolor": _colour(number), "edgecolor": "white", "hatch": hatch, "linewidth": 0}


def _stroke(number: int) -> Artist:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=_colour(number), linestyle=_dash(number), linewidth=1.6)


def _patch(number: int) -> Artist:
    from matplotlib.patches import Patch

    return Patch(**_bar(number))


@contextmanager
def drawing(
    path: str | Path, *, columns: int, names: Sequence[str], key: Callable[[int], Artist] = _stroke
) -> Iterator[list[Axes]]:
    """Panels side by side to draw on; when the block ends well, the names are added and the file is written."""
    with figure_file(path, width=max(2.35 * columns, 3.4), height=2.5) as figure:
        yield list(figure.subplots(1, columns, squeeze=False)[0])
        figure.legend([key(i) for i in range(len(names))], names, loc="outside upper left", ncols=max(len(names), 1))


@contextmanager
def figure_file(path: str | Path, *, width: float, height: float) -> Iterator[Figure]:
    """A figure of so many inches to draw on; when the block ends well, it is written to the file."""
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise BadArgument(f"A figure's name ends in {' or '.join(ENDINGS)}, not {path.suffix or 'nothing'!r}: {path}.")
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure  # not pyplot: no windows, nothing kept
    except ImportError:
        raise MissingExtra("Figures", "matplotlib", "figures") from None
    with rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        # Without dates, equal figures are equal files.
        unsaid = {"Date": None} if path.suffix == ".svg" else {}
        with atomic_write(path) as stream:
            figure.savefig(stream, format=path.suffix[1:], dpi=200, metadata=unsaid)
