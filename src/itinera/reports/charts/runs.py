"""A strip of the means of runs: how far the runs of a system vary, beside how far its scenes do."""

from __future__ import annotations

import math
from collections.abc import Sequence

from itinera.reports.charts.svg import (
    EDGE,
    FAINT,
    INK,
    LABEL_WIDTH,
    STRIPE,
    WIDTH,
    Axis,
    Chart,
    Series,
    TickFormat,
    block,
    fit_label,
    format_percent,
    line,
    marker,
    text,
    text_width,
    vertical_grid,
    x_axis,
)
from itinera.reports.markup import join
from itinera.stats import Interval, RunVariation

BAND, MARGIN = 46.0, 0.1  # height of a row in pixels; free share of the axis at either end
WHISKER, TICK = 5.0, 9.0  # half the height of the mark of the interval's ends and of the mean, pixels


def run_strip(
    title: str,
    about: str,
    series: Sequence[Series],
    means: Sequence[Interval],
    variations: Sequence[RunVariation | None],
    *,
    limits: tuple[float, float],
    tick_format: TickFormat = format_percent,
    unit: str = "%",
) -> Chart:
    """A row per agent: a marker for each run, and below them the mean of the runs with its interval.

    A gray band behind the markers reaches one standard deviation between runs to either side of the mean.
    """
    labels = [fit_label(one.name, LABEL_WIDTH) for one in series]
    left = EDGE + max(map(text_width, labels)) + 10
    bottom = BAND * len(series)
    axis = Axis(*_find_limits(means, variations, limits), left, WIDTH - 14, tick_format)
    parts = [*x_axis(axis, bottom, unit)]
    for i, label in enumerate(labels):
        if i % 2 == 0:
            parts.append(block(0, BAND * i, WIDTH, BAND, STRIPE))
        parts.append(text(label, left - 10, BAND * (i + 0.5) + 4, "end"))
    parts += vertical_grid(axis, 0, bottom)
    for i, (one, mean, found) in enumerate(zip(series, means, variations, strict=True)):
        of_runs, of_mean = BAND * (i + 0.3), BAND * (i + 0.72)
        if found is not None:
            start, end = axis.at(mean.mean - found.sd), axis.at(mean.mean + found.sd)
            parts.append(block(start, of_runs - TICK, end - start, 2 * TICK, FAINT))
        parts += [marker(one, axis.at(x), of_runs, 4.0) for x in ((mean.mean,) if found is None else found.means)]
        parts.append(line(axis.at(mean.low), of_mean, axis.at(mean.high), of_mean, one.color, 2))
        for x in (mean.low, mean.high):
            parts.append(line(axis.at(x), of_mean - WHISKER, axis.at(x), of_mean + WHISKER, one.color, 2))
        parts.append(line(axis.at(mean.mean), of_mean - TICK, axis.at(mean.mean), of_mean + TICK, INK, 2))
    return Chart(title, about, WIDTH, bottom + 38, join(*parts))


def _find_limits(
    means: Sequence[Interval], variations: Sequence[RunVariation | None], limits: tuple[float, float]
) -> tuple[float, float]:
    """The part of the metric's range that the chart needs: runs differ by little."""
    ends = [x for one in means for x in (one.low, one.high) if math.isfinite(x)]
    ends += [x for found in variations if found is not None for x in found.means]
    low, high = min(ends), max(ends)
    free = MARGIN * ((high - low) or 1.0)
    return max(limits[0], low - free), min(limits[1], high + free)
