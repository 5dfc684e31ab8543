"""Curves over latency: of robots that stand still by one run, of robots that move on by a run per latency."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from itinera.metrics.completion import ACTS, COLUMNS, THINKING, with_completion
from itinera.reports.benchmark import group_by_benchmark
from itinera.reports.latency import LATENCIES, describe_curve, latency_curves, table_latency
from itinera.reports.page.manuscript import to_latex_floats, to_markdown_text
from itinera.reports.page.report import make_report, render_report
from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot
from reports.example_tables import table

TIMES = FastestTimes(ReferenceRobot(), ("e0", "e1", "e2", "e3"), np.full(4, 18.0), np.full(4, 20.0))
SR = [1.0, 1.0, 0.0, 1.0]


def result(*, acts=10.0, latency=None, waits=True, motion=40.0, rates=SR, missing=()):
    """Scores of robots in motion for 40 s, and of agents that think `latency` seconds before each of their actions."""
    scores = table("aabb", SR=rates, SPL=[0.8 * rate for rate in rates], protocol="pointnav")
    seconds = acts * (latency or 0.0)
    columns = {ACTS: np.full(4, acts)}
    if latency is not None:
        columns |= dict(zip(THINKING, (np.full(4, seconds), np.full(4, seconds if waits else 0.0)), strict=True))
    completion = np.full(4, motion + (seconds if waits else 0.0))
    for row in missing:
        scores.missing[row] = True
        for values in (*columns.values(), completion):
            values[row] = np.nan
    return with_completion(scores, completion, TIMES, thinking=columns)


def curves(**results):
    pairs = [(name, one) for name, many in results.items() for one in (many if isinstance(many, list) else [many])]
    (benchmark,) = group_by_benchmark([name for name, _ in pairs], [one for _, one in pairs])
    return latency_curves(benchmark, [TIMES])


def means(curve, metric="SCT"):
    return [None if mean is None else round(mean.mean, 9) for mean in curve.means[metric]]


def test_a_robot_that_stands_still_needs_one_run():
    """SCT is S T / (C + actions · latency); 3 of 4 episodes succeed."""
    found = curves(mine=result())
    (curve,) = found.curves
    assert found.latencies == LATENCIES
    assert means(curve) == [round(0.75 * 20 / (40 + 10 * latency), 9) for latency in LATENCIES]
    assert found.metrics == ("SCT",)  # the others do not depend on it
    assert set(means(curve, "SR")) == {0.75}
    assert (curve.moves, curve.acts, curve.measured) == (False, 10.0, None)


def test_the_clock_of_the_run_is_left_out_first():
    (curve,) = curves(mine=result(latency=0.3)).curves
    assert means(curve) == means(curves(mine=result()).curves[0])
    assert curve.measured == 0.3
    assert describe_curve(curve, LATENCIES) == (
        "mine: 10.0 actions per episode; SCT 37.5 % at 0 s per action, 16.7 % at 5 s per action. "
        "It thought 0.3 s per action in its run."
    )


def test_without_latency_it_is_sct():
    one = result(latency=0.7)
    (curve,) = curves(mine=one).curves
    plain = result()
    assert curve.means["SCT"][0].mean == pytest.approx(plain.mean("SCT"), abs=1e-9)


def test_a_robot_that_moves_on_has_a_point_per_run_and_shares_the_first():
    worse = result(latency=0.7, waits=False, rates=[1.0, 0.0, 0.0, 0.0])
    found = curves(mine=[result(), result(latency=0.5, waits=False, motion=50.0), worse], other=result(acts=5.0))
    still, moving, other = found.curves
    assert [curve.series.name for curve in found.curves] == ["mine", "mine, moving on", "other"]
    assert found.latencies == (0.0, 0.1, 0.2, 0.5, 0.7, 1.0, 2.0, 5.0)
    assert means(moving) == [means(still)[0], None, None, 0.3, 0.125, None, None, None]
    assert means(moving, "SR") == [0.75, None, None, 0.75, 0.25, None, None, None]
    assert found.metrics == ("SCT", "SPL", "SR")
    assert means(other) > means(still)


def test_a_missing_episode_counts_as_zero_at_every_latency():
    (curve,) = curves(mine=result(missing=[0], rates=[0.0, 1.0, 1.0, 1.0])).curves
    assert means(curve) == [round(0.75 * 20 / (40 + 10 * latency), 9) for latency in LATENCIES]


def test_without_the_times_or_actions_there_is_no_curve():
    (benchmark,) = group_by_benchmark(["mine"], [result()])
    assert latency_curves(benchmark, []) is None
    assert latency_curves(benchmark, [replace(TIMES, robot=ReferenceRobot(vmax=1.0))]) is None
    bare = with_completion(table("aabb", SR=SR, protocol="pointnav"), np.full(4, 40.0), TIMES)
    (benchmark,) = group_by_benchmark(["mine"], [bare])
    assert latency_curves(benchmark, [TIMES]) is None
    assert table_latency(bare) is None


def test_results_with_and_without_a_clock_stand_side_by_side():
    """Only the columns that all have are compared."""
    (benchmark,) = group_by_benchmark(["plain", "timed"], [result(), result(latency=0.2)])
    shared = [column.name for column in benchmark.tables[1].columns]
    assert shared == ["SR", "SPL", "acts", *(column.name for column in COLUMNS)]
    assert "thinking" in benchmark.given_tables[1]
    assert {metric.column.name for metric in benchmark.comparison.metrics} <= set(shared)


def test_page_and_manuscript_show_the_curves():
    tables = [result(), result(latency=0.5, waits=False)]
    report = make_report(["mine", "mine"], tables, times=[TIMES])
    page = render_report(report)
    for text in ('id="thinking"', "SCT by thinking time.", "SR by thinking time.", "mine, moving on", "moves on while"):
        assert text in page
    assert page.count("seconds per action") >= 6  # axes and tables
    assert "| 0.5 s | 33.3" in to_markdown_text(report)
    assert "SCT \\% by seconds of thinking" in to_latex_floats(report)
    assert "thinking" not in render_report(make_report(["mine"], [result()]))
