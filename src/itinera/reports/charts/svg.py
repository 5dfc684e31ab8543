"""Charts as small SVG documents: readable without color, on paper and with a screen reader.

Every series has a color of Okabe and Ito's palette, a marker and a dash pattern of its own. Start with `forest_plot`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from itinera.reports.markup import Markup, display_name, join, tag
from itinera.stats import Interval
from itinera.worlds import Array

TickFormat = Callable[[float], str]  # how a number is written along an axis

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d", "#8c6d1f")
DASHES = (None, "7 3", "2 3", "9 3 2 3")
KIND_COLORS = ("#4d4d4d", "#999999", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442", "#d55e00", "#c9b18c")
SUCCESS_COLOR = "#009e73"
INK, FAINT, STRIPE = "#1a1a1a", "#d8d8d8", "#f4f4f2"
WIDTH, FONT_SIZE = 480.0, 13.0  # of a chart and its text
LABEL_WIDTH = 200.0  # of row labels, at most
EDGE = 4.0  # free space left and right of everything
HALO = {"stroke": "#fff", "stroke_width": "3", "paint_order": "stroke"}  # of text that crosses lines or colors
CURVE_POINTS = 200  # of a cumulative curve, at most
PANEL_GAP = 34.0
CELLS = 40  # rows and columns into which a scatter plot is binned

# Advance widths of DejaVu Sans in em, rounded up: one of the widest sans-serif fonts a browser may choose.
_WIDTHS = {
    letter: width
    for width, letters in {
        0.3: "'IJijl", 0.35: " ,./:;\\|·’", 0.4: "()-[]ft", 0.45: "!r", 0.5: '"*_`–', 0.55: "?csz", 0.6: "FLkvxy",
        0.65: "$0123456789EPSTYabdeghnopqu{}", 0.7: "ABCKRVXZ", 0.75: "NU", 0.8: "&DGHOQ", 0.85: "#+<=>^w~−≤≥",
        0.9: "M", 1.0: "%@Wm…",
    }.items()
    for letter in letters
}  # fmt: skip


@dataclass(frozen=True)
class Chart:
    """An SVG chart with its caption."""

    title: str
    about: str  # what it shows, in a sentence; also the description for screen readers
    width: float
    height: float
    body: Markup

    def svg(self, name: str) -> Markup:
        """The SVG element; `name` is an id that is unique on the page."""
        return tag(
            "svg",
            tag("title", self.title, id=f"{name}-title"),
            tag("desc", self.about, id=f"{name}-about"),
            self.body,
            viewBox=f"0 0 {self.width:g} {self.height:g}",
            role="img",
            aria_labelledby=f"{name}-title {name}-about",
            xmlns="http://www.w3.org/2000/svg",
        )


@dataclass(frozen=True)
class Series:
    """A named data series, such as an agent, with the same marker and color in every chart."""

    name: str
    index: int  # decides its marker, color and dash pattern

    @property
    def color(self) -> str:
        return COLORS[self.index % len(COLORS)]


@dataclass(frozen=True)
class Axis:
    """A linear axis: data coordinates to pixels, clipped to its limits."""

    low: float
    high: float
    start: float  # pixels at low
    end: float  # pixels at high
    tick_format: TickFormat = "{:g}".format

    def at(self, x: float) -> float:
        share = (min(max(x, self.low), self.high) - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """About five round numbers."""
        rough = (self.high - self.low) / 5 or 1.0
        scale = 10.0 ** np.floor(np.log10(rough))
        step = next(s * scale for s in (1, 2, 5, 10) if s * scale >= rough * 0.999)
        first = np.ceil(self.low / step - 1e-9)
        return [float(step * k) + 0.0 for k in np.arange(first, np.floor(self.high / step + 1e-9) + 1)]


def format_percent(x: float) -> str:
    return f"{100 * x:.0f}"


def format_points(x: float) -> str:
    """A difference of rates in percentage points."""
    return f"{100 * x:+.0f}".replace("-", "−") if round(100 * x) else "0"


def text_width(words: str) -> float:
    """An upper bound of the width of a text in pixels, in any common sans-serif font."""
    return FONT_SIZE * sum(map(_em, words))


def _em(letter: str) -> float:
    if letter in _WIDTHS:
        return _WIDTHS[letter]
    if unicodedata.category(letter) in ("Mn", "Cf"):
        return 0.0  # combining and invisible characters
    return 1.25 if unicodedata.east_asian_width(letter) in "WF" else 0.85


def fit_label(name: str, width: float) -> str:
    """The name, shortened in its middle where it is wider than so many pixels."""
    for max_chars in range(40, 4, -1):
        label = display_name(name, max_chars=max_chars)
        if text_width(label) <= width:
            return label
    return display_name(name, max_chars=3)


def text(words: str, x: float, y: float, anchor: str = "start", **attributes: object) -> Markup:
    return tag(
        "text", words, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, font_size=f"{FONT_SIZE:g}", fill=INK,
        **attributes,
    )  # fmt: skip


def line(x1: float, y1: float, x2: float, y2: float, color: str = FAINT, width: float = 1.0) -> Markup:
    return tag("path", d=f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}", stroke=color, stroke_width=f"{width:g}", fill="none")


def marker(series: Series, x: float, y: float, size: float = 4.5) -> Markup:
    """The marker of a series; shapes differ as well as colors."""
    s = size
    shapes = (
        f"M{x - s:.1f} {y:.1f}a{s:g} {s:g} 0 1 0 {2 * s:g} 0a{s:g} {s:g} 0 1 0 {-2 * s:g} 0z",
        f"M{x - s:.1f} {y - s:.1f}h{2 * s:g}v{2 * s:g}h{-2 * s:g}z",
        f"M{x:.1f} {y - 1.2 * s:.1f}l{1.2 * s:g} {2.1 * s:g}h{-2.4 * s:g}z",
        f"M{x:.1f} {y - 1.3 * s:.1f}l{1.3 * s:g} {1.3 * s:g}l{-1.3 * s:g} {1.3 * s:g}l{-1.3 * s:g} {-1.3 * s:g}z",
        f"M{x:.1f} {y + 1.2 * s:.1f}l{1.2 * s:g} {-2.1 * s:g}h{-2.4 * s:g}z",
        f"M{x - s / 2:.1f} {y - 1.2 * s:.1f}h{s:g}v{0.7 * s:g}h{0.7 * s:g}v{s:g}h{-0.7 * s:g}v{0.7 * s:g}h{-s:g}"
        f"v{-0.7 * s:g}h{-0.7 * s:g}v{-s:g}h{0.7 * s:g}z",
        f"M{x - s:.1f} {y - s:.1f}h{2 * s:g}l{-2 * s:g} {2 * s:g}h{2 * s:g}z",
        f"M{x - 1.4 * s:.1f} {y - s / 2:.1f}h{2.8 * s:g}v{s:g}h{-2.8 * s:g}z",
    )
    return tag("path", d=shapes[series.index % len(shapes)], fill=series.color, stroke="#fff", stroke_width="0.8")


def legend(series: Sequence[Series], top: float, *, lines: bool = False) -> tuple[Markup, float]:
    """The names of the series beside their markers, and the height this takes in pixels."""
    x, y, parts = EDGE, top + 12, []
    sign = 30 if lines else 16
    for one in series:
        label = fit_label(one.name, WIDTH - sign - 2 * EDGE)
        width = sign + text_width(label)
        if x + width > WIDTH - EDGE and x > EDGE:
            x, y = EDGE, y + 20
        if lines:
            parts.append(_curve([(x, y - 4), (x + 24, y - 4)], one))
        parts.append(marker(one, x + (12 if lines else 6), y - 4))
        parts.append(text(label, x + sign, y))
        x += width + 16
    return join(*parts), y - top + 12


def _curve(points: Sequence[tuple[float, float]], series: Series) -> Markup:
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return tag(
        "path", d=path, fill="none", stroke=series.color, stroke_width="2",
        stroke_dasharray=DASHES[series.index % len(DASHES)], stroke_linejoin="round",
    )  # fmt: skip


def _row_labels(names: Sequence[str]) -> tuple[list[str], float]:
    """The labels of rows, and the x at which the plot beside them starts."""
    labels = [fit_label(name, LABEL_WIDTH) for name in names]
    return labels, EDGE + max([text_width(label) for label in labels] + [40.0]) + 10


def forest_plot(
    title: str,
    about: str,
    series: Sequence[Series],
    rows: Sequence[tuple[str, Sequence[Interval | None]]],
    *,
    limits: tuple[float, float] = (0.0, 1.0),
    tick_format: TickFormat = format_percent,
    unit: str = "%",
) -> Chart:
    """A row per label; in it, a marker with its interval for each series."""
    labels, left = _row_labels([label for label, _ in rows])
    key, top = legend(series, 0.0)
    each = max(7.0, 11.0 - len(series)) if len(rows) > 15 else 11.0
    band = max(each * len(series) + 8, FONT_SIZE + 6)
    bottom = top + band * len(rows)
    axis = Axis(*limits, left, WIDTH - 14, tick_format)
    parts = [key, *x_axis(axis, bottom, unit)]
    for i, label in enumerate(labels):
        y = top + band * i
        if i % 2 == 0:
            parts.append(block(0, y, WIDTH, band, STRIPE))
        parts.append(text(label, left - 10, y + band / 2 + 4, "end"))
    parts += vertical_grid(axis, top, bottom)
    for i, (_, means) in enumerate(rows):
        first = top + band * i + (band - each * len(series)) / 2
        for k, (one, found) in enumerate(zip(series, means, strict=True)):
            if found is not None and np.isfinite([found.mean, found.low, found.high]).all():
                y = first + each * (k + 0.5)
                parts.append(line(axis.at(found.low), y, axis.at(found.high), y, one.color, 2))
                parts.append(marker(one, axis.at(found.mean), y, min(4.5, each / 2.2)))
    return Chart(title, about, WIDTH, bottom + 38, join(*parts))


def block(x: float, y: float, width: float, height: float, color: str) -> Markup:
    return tag("path", d=f"M{x:.1f} {y:.1f}h{width:.1f}v{height:.1f}h{-width:.1f}z", fill=color)


def vertical_grid(axis: Axis, top: float, bottom: float) -> Iterator[Markup]:
    yield from (line(axis.at(x), top, axis.at(x), bottom) for x in axis.ticks)


def x_axis(axis: Axis, bottom: float, unit: str) -> Iterator[Markup]:
    """Tick labels and the unit below a chart."""
    for x in axis.ticks:
        yield text(axis.tick_format(x), axis.at(x), bottom + 17, "middle")
    yield text(unit, (axis.start + axis.end) / 2, bottom + 34, "middle")


def _y_axis(axis: Axis, left: float, right: float, unit: str) -> Iterator[Markup]:
    """Tick labels and the unit left of a chart, and horizontal grid lines."""
    for y in axis.ticks:
        yield line(left, axis.at(y), right, axis.at(y))
        yield text(axis.tick_format(y), left - 8, axis.at(y) + 4, "end")
    middle = (axis.start + axis.end) / 2
    yield text(unit, 13, middle, "middle", transform=f"rotate(-90 13 {middle:.1f})")


def line_chart(
    title: str,
    about: str,
    series: Sequence[Series],
    labels: Sequence[str],
    means: Sequence[Sequence[Interval | None]],
    *,
    unit: str,
    below: str,
    limits: tuple[float, float] = (0.0, 1.0),
    tick_format: TickFormat = format_percent,
) -> Chart:
    """A line per series through its means, each with its interval; means[label][series]."""
    key, top = legend(series, 0.0, lines=True)
    left, right, bottom = 56.0, WIDTH - 10, top + 220
    axis = Axis(*limits, bottom, top + 6, tick_format)
    gap = (right - left) / len(labels)
    crowded = max(map(text_width, labels)) > gap - 6
    parts = [key, *_y_axis(axis, left, right, unit)]
    for i, label in enumerate(labels):
        lowered = 17 if crowded and i % 2 else 0
        # The last label may be wider than its column, but must stay inside the chart.
        x = min(left + gap * (i + 0.5), WIDTH - EDGE - text_width(label) / 2)
        parts.append(text(label, x, bottom + 18 + lowered, "middle"))
    for k, one in enumerate(series):
        shift = 5.0 * (k - (len(series) - 1) / 2)
        defined = [(left + gap * (i + 0.5) + shift, of[k]) for i, of in enumerate(means)]
        found = [(x, mean) for x, mean in defined if mean is not None]
        if found:
            parts.append(_curve([(x, axis.at(mean.mean)) for x, mean in found], one))
        for x, mean in found:
            parts.append(line(x, axis.at(mean.low), x, axis.at(mean.high), one.color, 1.5))
            parts.append(marker(one, x, axis.at(mean.mean)))
    height = bottom + (60 if crowded else 43)
    parts.append(text(below, (left + right) / 2, height - 6, "middle"))
    return Chart(title, about, WIDTH, height, join(*parts))


def cumulative_plot(
    title: str,
    about: str,
    series: Sequence[Series],
    values: Sequence[Array],
    *,
    below: str,
    limits: tuple[float, float],
    tick_format: TickFormat = "{:g}".format,
    at_least: bool = False,
    threshold: tuple[float, str] | None = None,
) -> Chart:
    """The empirical distribution: the share of episodes with a value of at most (or at least) x, a curve per series.

    `threshold` marks a value of x with its name.
    """
    key, top = legend(series, 0.0, lines=True)
    left, right, bottom = 56.0, WIDTH - 14, top + 220
    across, up = Axis(*limits, left, right, tick_format), Axis(0.0, 1.0, bottom, top + 6, format_percent)
    parts = [
        key,
        *_y_axis(up, left, right, "% of episodes"),
        *vertical_grid(across, top, bottom),
        *x_axis(across, bottom, below),
    ]
    if threshold is not None and limits[0] < threshold[0] < limits[1]:
        x = across.at(threshold[0])
        parts.append(line(x, top, x, bottom, INK, 1.5))
        fits = x + 5 + text_width(threshold[1]) < right
        parts.append(text(threshold[1], x + 5 if fits else x - 5, top + 20, "start" if fits else "end", **HALO))
    grid = np.linspace(*limits, CURVE_POINTS)
    for one, sample in zip(series, values, strict=True):
        known = np.sort(sample[~np.isnan(sample)])
        if len(known):
            below_each = np.searchsorted(known, grid, side="left" if at_least else "right") / len(known)
            share = 1.0 - below_each if at_least else below_each
            parts.append(_curve(_corners([(across.at(x), up.at(y)) for x, y in zip(grid, share, strict=True)]), one))
    return Chart(title, about, WIDTH, bottom + 38, join(*parts))


def _corners(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points without those inside a horizontal stretch."""
    inner = [b for a, b, c in zip(points, points[1:], points[2:], strict=False) if not a[1] == b[1] == c[1]]
    return [points[0], *inner, points[-1]]


def stacked_bars(
    title: str, about: str, series: Sequence[Series], kinds: Sequence[str], counts: Sequence[Sequence[int]]
) -> Chart:
    """A bar per series, divided by the shares of its kinds; counts[series][kind], the first kind being success."""
    colors = (SUCCESS_COLOR, *KIND_COLORS)
    labels, left = _row_labels([one.name for one in series])
    parts, y = [], 0.0
    used = [k for k in range(len(kinds)) if any(of_series[k] for of_series in counts)]
    for k in used:
        parts += [block(4, y + 2, 13, 13, colors[k % len(colors)]), text(kinds[k], 24, y + 13)]
        y += 19
    top = y + 8
    axis = Axis(0.0, 1.0, left, WIDTH - 14, format_percent)
    bottom = top + 34 * len(series)
    for i, label in enumerate(labels):
        y, total, x = top + 34 * i, sum(counts[i]) or 1, 0.0
        parts.append(text(label, left - 10, y + 20, "end"))
        for k in used:
            share = counts[i][k] / total
            width = axis.at(x + share) - axis.at(x)
            if width > 0:
                parts.append(block(axis.at(x), y + 4, max(width - 1, 0.5), 26, colors[k % len(colors)]))
            if width > 30:
                parts.append(text(f"{100 * share:.0f}", axis.at(x) + width / 2, y + 21, "middle", **HALO))
            x += share
    parts += x_axis(axis, bottom, "% of episodes")
    return Chart(title, about, WIDTH, bottom + 38, join(*parts))


def scatter_panels(
    title: str, about: str, series: Sequence[Series], points: Sequence[tuple[Array, Array]], *, below: str, beside: str
) -> Chart:
    """Two fractions against each other, a panel per series; the area of a dot is the number of episodes there."""
    across = min(len(series), 2)
    side = (WIDTH - 56 - PANEL_GAP * (across - 1) - 14) / across
    rows = -(-len(series) // across)
    parts: list[Markup] = []
    for k, (one, (x, y)) in enumerate(zip(series, points, strict=True)):
        left = 56 + (side + PANEL_GAP) * (k % across)
        top = 24 + (side + 62) * (k // across)
        parts += _scatter_panel(one, x, y, left, top, side, k % across == 0)
    height = 24 + (side + 62) * rows
    parts.append(text(below, 56 + (WIDTH - 64) / 2, height - 22, "middle"))
    parts.append(text(beside, 13, 24 + side / 2, "middle", transform=f"rotate(-90 13 {24 + side / 2:.1f})"))
    return Chart(title, about, WIDTH, height - 14, join(*parts))


def _scatter_panel(
    series: Series, x: Array, y: Array, left: float, top: float, side: float, first: bool
) -> Iterator[Markup]:
    known = np.isfinite(x) & np.isfinite(y)
    counts = np.histogram2d(x[known], y[known], bins=CELLS, range=((0, 1), (0, 1)))[0]
    across, up = Axis(0, 1, left, left + side, format_percent), Axis(0, 1, top + side, top, format_percent)
    yield marker(series, left + 6, top - 10)
    yield text(fit_label(series.name, side - 16), left + 16, top - 6)
    for tick in (0.0, 0.5, 1.0):
        yield line(across.at(tick), top, across.at(tick), top + side)
        yield line(left, up.at(tick), left + side, up.at(tick))
        yield text(format_percent(tick), across.at(tick), top + side + 17, "middle")
        if first:
            yield text(format_percent(tick), left - 8, up.at(tick) + 4, "end")
    yield line(left, top + side, left + side, top, "#777", 1)
    most = counts.max(initial=0) or 1
    for i, j in zip(*np.nonzero(counts), strict=True):
        radius = max(1.5, 6.0 * np.sqrt(counts[i, j] / most))
        spot = f"{across.at((i + 0.5) / CELLS):.1f}", f"{up.at((j + 0.5) / CELLS):.1f}"
        yield tag("circle", cx=spot[0], cy=spot[1], r=f"{radius:.1f}", fill=series.color, fill_opacity="0.7")
