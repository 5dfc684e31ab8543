"""Charts as small SVG documents: readable without colour, on paper and to a screen reader.

Every agent has a colour of Okabe and Ito's palette, a mark and a dash of its own. Numbers in, markup out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from itinera.reports.markup import Markup, join, named, tag
from itinera.stats import Interval
from itinera.worlds import Array

Told = Callable[[float], str]  # how a number is written along an axis

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d", "#8c6d1f")
DASHES = (None, "7 3", "2 3", "9 3 2 3")
KIND_COLOURS = ("#4d4d4d", "#999999", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442", "#d55e00", "#c9b18c")
SUCCEEDED_COLOUR = "#009e73"
INK, FAINT = "#1a1a1a", "#d8d8d8"
WIDTH, SIZE, CHAR = 480.0, 13.0, 7.8  # of a chart, of its letters, and about how wide these are
HALO = {"stroke": "#fff", "stroke_width": "3", "paint_order": "stroke"}  # of words that cross lines or colours
LINES = 200  # at most so many corners in a curve
GAP = 34.0  # between panels side by side
CELLS = 40  # rows and columns into which clouds of points are counted


@dataclass(frozen=True)
class Figure:
    """A chart with the words that belong to it."""

    title: str
    about: str  # what it shows, in a sentence, for those who cannot see it too
    width: float
    height: float
    body: Markup

    def svg(self, name: str) -> Markup:
        """The picture; `name` is an id that nothing else on the page has."""
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
class Agent:
    """An agent as charts show it: the same mark and colour wherever it appears."""

    name: str
    number: int  # decides its mark, colour and dash

    @property
    def colour(self) -> str:
        return COLOURS[self.number % len(COLOURS)]


@dataclass(frozen=True)
class Axis:
    """Where numbers stand along a side of the chart."""

    low: float
    high: float
    start: float  # pixels at low
    end: float  # pixels at high
    told: Told = "{:g}".format

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


def percent(x: float) -> str:
    return f"{100 * x:.0f}"


def points(x: float) -> str:
    """A difference of rates in percentage points."""
    return f"{100 * x:+.0f}".replace("-", "−") if round(100 * x) else "0"


def text(words: str, x: float, y: float, anchor: str = "start", **attributes: object) -> Markup:
    return tag(
        "text", words, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, font_size=f"{SIZE:g}", fill=INK, **attributes
    )


def line(x1: float, y1: float, x2: float, y2: float, colour: str = FAINT, width: float = 1.0) -> Markup:
    return tag("path", d=f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}", stroke=colour, stroke_width=f"{width:g}", fill="none")


def mark(agent: Agent, x: float, y: float, size: float = 4.5) -> Markup:
    """An agent's mark: its shape alone tells who it is."""
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
    return tag("path", d=shapes[agent.number % len(shapes)], fill=agent.colour, stroke="#fff", stroke_width="0.8")


def legend(agents: Sequence[Agent], top: float, *, lines: bool = False) -> tuple[Markup, float]:
    """Who is who, and the pixels it takes."""
    x, y, parts = 4.0, top + 12, []
    for agent in agents:
        shown = named(agent.name, longest=28)
        wide = (30 if lines else 18) + CHAR * len(shown) + 16
        if x + wide > WIDTH and x > 4:
            x, y = 4.0, y + 20
        if lines:
            parts.append(_curve([(x, y - 4), (x + 24, y - 4)], agent))
        parts.append(mark(agent, x + (12 if lines else 6), y - 4))
        parts.append(text(shown, x + (30 if lines else 16), y))
        x += wide
    return join(*parts), y - top + 12


def _curve(points: Sequence[tuple[float, float]], agent: Agent) -> Markup:
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return tag(
        "path", d=path, fill="none", stroke=agent.colour, stroke_width="2",
        stroke_dasharray=DASHES[agent.number % len(DASHES)], stroke_linejoin="round",
    )  # fmt: skip


def forest(
    title: str,
    about: str,
    agents: Sequence[Agent],
    rows: Sequence[tuple[str, Sequence[Interval | None]]],
    *,
    limits: tuple[float, float] = (0.0, 1.0),
    told: Told = percent,
    unit: str = "%",
) -> Figure:
    """A row for each label, in it a mark with its interval for each agent."""
    shown = [named(label, longest=24) for label, _ in rows]
    left = max([CHAR * len(label) for label in shown] + [40.0]) + 14
    key, top = legend(agents, 0.0)
    each = max(7.0, 11.0 - len(agents)) if len(rows) > 15 else 11.0
    band = each * len(agents) + 8
    bottom = top + band * len(rows)
    axis = Axis(*limits, left, WIDTH - 14, told)
    parts = [key, *_below(axis, top, bottom, unit)]
    for i, label in enumerate(shown):
        y = top + band * i
        if i % 2 == 0:
            parts.append(_block(0, y, WIDTH, band, "#f4f4f2"))
        parts.append(text(label, left - 10, y + band / 2 + 4, "end"))
    parts += _ticks(axis, top, bottom)
    for i, (_, means) in enumerate(rows):
        for k, (agent, found) in enumerate(zip(agents, means, strict=True)):
            if found is not None and np.isfinite([found.mean, found.low, found.high]).all():
                y = top + band * i + 4 + each * (k + 0.5)
                parts.append(line(axis.at(found.low), y, axis.at(found.high), y, agent.colour, 2))
                parts.append(mark(agent, axis.at(found.mean), y, min(4.5, each / 2.2)))
    return Figure(title, about, WIDTH, bottom + 38, join(*parts))


def _block(x: float, y: float, width: float, height: float, colour: str) -> Markup:
    return tag("path", d=f"M{x:.1f} {y:.1f}h{width:.1f}v{height:.1f}h{-width:.1f}z", fill=colour)


def _ticks(axis: Axis, top: float, bottom: float) -> Iterator[Markup]:
    yield from (line(axis.at(x), top, axis.at(x), bottom) for x in axis.ticks)


def _below(axis: Axis, top: float, bottom: float, unit: str) -> Iterator[Markup]:
    """Numbers under a chart."""
    for x in axis.ticks:
        yield text(axis.told(x), axis.at(x), bottom + 17, "middle")
    yield text(unit, (axis.start + axis.end) / 2, bottom + 34, "middle")


def _beside(axis: Axis, left: float, right: float, unit: str) -> Iterator[Markup]:
    """Numbers and faint lines left of a chart."""
    for y in axis.ticks:
        yield line(left, axis.at(y), right, axis.at(y))
        yield text(axis.told(y), left - 8, axis.at(y) + 4, "end")
    middle = (axis.start + axis.end) / 2
    yield text(unit, 13, middle, "middle", transform=f"rotate(-90 13 {middle:.1f})")


def trends(
    title: str,
    about: str,
    agents: Sequence[Agent],
    labels: Sequence[str],
    means: Sequence[Sequence[Interval | None]],
    *,
    unit: str,
    below: str,
    limits: tuple[float, float] = (0.0, 1.0),
    told: Told = percent,
) -> Figure:
    """A line for each agent through its means over the labels in order, each with its interval. means[label][agent]."""
    key, top = legend(agents, 0.0, lines=True)
    left, right, bottom = 56.0, WIDTH - 10, top + 220
    axis = Axis(*limits, bottom, top + 6, told)
    gap = (right - left) / len(labels)
    crowded = max(len(label) for label in labels) * CHAR > gap - 6
    parts = [key, *_beside(axis, left, right, unit)]
    for i, label in enumerate(labels):
        raised = 17 if crowded and i % 2 else 0
        parts.append(text(label, left + gap * (i + 0.5), bottom + 18 + raised, "middle"))
    for k, agent in enumerate(agents):
        shift = 5.0 * (k - (len(agents) - 1) / 2)
        known = [(left + gap * (i + 0.5) + shift, of[k]) for i, of in enumerate(means)]
        found = [(x, mean) for x, mean in known if mean is not None]
        if found:
            parts.append(_curve([(x, axis.at(mean.mean)) for x, mean in found], agent))
        for x, mean in found:
            parts.append(line(x, axis.at(mean.low), x, axis.at(mean.high), agent.colour, 1.5))
            parts.append(mark(agent, x, axis.at(mean.mean)))
    height = bottom + (60 if crowded else 43)
    parts.append(text(below, (left + right) / 2, height - 6, "middle"))
    return Figure(title, about, WIDTH, height, join(*parts))


def cumulative(
    title: str,
    about: str,
    agents: Sequence[Agent],
    values: Sequence[Array],
    *,
    below: str,
    limits: tuple[float, float],
    told: Told = "{:g}".format,
    at_least: bool = False,
    marked: tuple[float, str] | None = None,
) -> Figure:
    """The share of episodes with a value of at most (or at least) each number, a curve for each agent."""
    key, top = legend(agents, 0.0, lines=True)
    left, right, bottom = 56.0, WIDTH - 14, top + 220
    across, up = Axis(*limits, left, right, told), Axis(0.0, 1.0, bottom, top + 6, percent)
    parts = [
        key,
        *_beside(up, left, right, "% of episodes"),
        *_ticks(across, top, bottom),
        *_below(across, top, bottom, below),
    ]
    if marked is not None and limits[0] < marked[0] < limits[1]:
        x = across.at(marked[0])
        parts.append(line(x, top, x, bottom, INK, 1.5))
        parts.append(text(marked[1], x + 5, top + 20, **HALO))
    grid = np.linspace(*limits, LINES)
    for agent, of_agent in zip(agents, values, strict=True):
        known = np.sort(of_agent[~np.isnan(of_agent)])
        if len(known):
            below_each = np.searchsorted(known, grid, side="left" if at_least else "right") / len(known)
            share = 1.0 - below_each if at_least else below_each
            parts.append(_curve(_corners([(across.at(x), up.at(y)) for x, y in zip(grid, share, strict=True)]), agent))
    return Figure(title, about, WIDTH, bottom + 38, join(*parts))


def _corners(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points without those in the middle of a level stretch."""
    inner = [b for a, b, c in zip(points, points[1:], points[2:], strict=False) if not a[1] == b[1] == c[1]]
    return [points[0], *inner, points[-1]]


def stacked(
    title: str, about: str, agents: Sequence[Agent], kinds: Sequence[str], counts: Sequence[Sequence[int]]
) -> Figure:
    """A bar for each agent, cut into the shares of its kinds; counts[agent][kind], the first kind being success."""
    colours = (SUCCEEDED_COLOUR, *KIND_COLOURS)
    shown = [named(agent.name, longest=24) for agent in agents]
    left = max([CHAR * len(name) for name in shown] + [40.0]) + 14
    parts, y = [], 0.0
    used = [k for k in range(len(kinds)) if any(of_agent[k] for of_agent in counts)]
    for k in used:
        parts += [_block(4, y + 2, 13, 13, colours[k % len(colours)]), text(kinds[k], 24, y + 13)]
        y += 19
    top = y + 8
    axis = Axis(0.0, 1.0, left, WIDTH - 14, percent)
    bottom = top + 34 * len(agents)
    for i, name in enumerate(shown):
        y, total, x = top + 34 * i, sum(counts[i]) or 1, 0.0
        parts.append(text(name, left - 10, y + 20, "end"))
        for k in used:
            share = counts[i][k] / total
            wide = axis.at(x + share) - axis.at(x)
            if wide > 0:
                parts.append(_block(axis.at(x), y + 4, max(wide - 1, 0.5), 26, colours[k % len(colours)]))
            if wide > 30:
                parts.append(_on_colour(f"{100 * share:.0f}", axis.at(x) + wide / 2, y + 21))
            x += share
    parts += _below(axis, top, bottom, "% of episodes")
    return Figure(title, about, WIDTH, bottom + 38, join(*parts))


def _on_colour(words: str, x: float, y: float) -> Markup:
    """Text that can be read on any colour."""
    return text(words, x, y, "middle", **HALO)


def clouds(
    title: str, about: str, agents: Sequence[Agent], points: Sequence[tuple[Array, Array]], *, below: str, beside: str
) -> Figure:
    """Two fractions against one another, a panel for each agent; the area of a dot tells how many episodes it is."""
    across = min(len(agents), 2)
    side = (WIDTH - 56 - GAP * (across - 1) - 14) / across
    rows = -(-len(agents) // across)
    parts: list[Markup] = []
    for k, (agent, (x, y)) in enumerate(zip(agents, points, strict=True)):
        left = 56 + (side + GAP) * (k % across)
        top = 24 + (side + 62) * (k // across)
        parts += _cloud(agent, x, y, left, top, side, k % across == 0)
    height = 24 + (side + 62) * rows
    parts.append(text(below, 56 + (WIDTH - 64) / 2, height - 22, "middle"))
    parts.append(text(beside, 13, 24 + side / 2, "middle", transform=f"rotate(-90 13 {24 + side / 2:.1f})"))
    return Figure(title, about, WIDTH, height - 14, join(*parts))


def _cloud(agent: Agent, x: Array, y: Array, left: float, top: float, side: float, first: bool) -> Iterator[Markup]:
    known = np.isfinite(x) & np.isfinite(y)
    counts = np.histogram2d(x[known], y[known], bins=CELLS, range=((0, 1), (0, 1)))[0]
    across, up = Axis(0, 1, left, left + side, percent), Axis(0, 1, top + side, top, percent)
    yield mark(agent, left + 6, top - 10)
    yield text(named(agent.name, longest=int(side / CHAR) - 3), left + 16, top - 6)
    for tick in (0.0, 0.5, 1.0):
        yield line(across.at(tick), top, across.at(tick), top + side)
        yield line(left, up.at(tick), left + side, up.at(tick))
        yield text(percent(tick), across.at(tick), top + side + 17, "middle")
        if first:
            yield text(percent(tick), left - 8, up.at(tick) + 4, "end")
    yield line(left, top + side, left + side, top, "#777", 1)
    most = counts.max(initial=0) or 1
    for i, j in zip(*np.nonzero(counts), strict=True):
        radius = max(0.9, 6.0 * np.sqrt(counts[i, j] / most))
        spot = f"{across.at((i + 0.5) / CELLS):.1f}", f"{up.at((j + 0.5) / CELLS):.1f}"
        yield tag("circle", cx=spot[0], cy=spot[1], r=f"{radius:.1f}", fill=agent.colour, fill_opacity="0.6")
