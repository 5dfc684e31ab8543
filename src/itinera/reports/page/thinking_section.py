"""The section of the report page on thinking time: SCT, and where bodies move meanwhile SPL and SR, over latency."""

from __future__ import annotations

from collections.abc import Sequence

from itinera.reports.charts import svg
from itinera.reports.latency import LatencyCurves, describe_curve
from itinera.reports.markup import Markup, tag
from itinera.reports.page.elements import figures, listing, table_element

STANDING = (
    "While a robot stands still, the seconds that its agent thinks before each action only add to its completion time: "
    "SCT falls, SR and SPL stay as they are. These curves are computed from one run."
)
MOVING = "A robot that moves on while its agent thinks takes another path at each latency: each point is a run."


def thinking_section(found: Sequence[LatencyCurves]) -> Markup:
    """A chart and a table per metric for each benchmark, with a sentence per agent."""
    parts: list[Markup] = [tag("h2", "Thinking time", id="thinking")]
    for i, curves in enumerate(found):
        parts += [tag("h3", curves.title)] if len(found) > 1 else []
        moves = any(curve.moves for curve in curves.curves)
        parts += [tag("p", STANDING), *([tag("p", MOVING)] if moves else [])]
        parts.append(listing([describe_curve(curve, curves.latencies) for curve in curves.curves]))
        parts.append(figures([draw_chart(curves, metric) for metric in curves.metrics], f"thinking-{i}"))
        agents = [curve.series for curve in curves.curves]
        parts += [table_element(curves.to_table(metric), agents=agents) for metric in curves.metrics]
    return tag("section", *parts)


def draw_chart(curves: LatencyCurves, metric: str) -> svg.Chart:
    """The curves of a metric."""
    means = [[curve.means[metric][i] for curve in curves.curves] for i in range(len(curves.latencies))]
    about = f"Means with {100 * curves.level:g} % intervals, clustered by scene."
    series = [curve.series for curve in curves.curves]
    labels = [f"{latency:g}" for latency in curves.latencies]
    return svg.line_chart(
        f"{metric} by thinking time.", about, series, labels, means, unit=f"{metric} %", below="seconds per action"
    )
