"""Results grouped by benchmark, with rows in one order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from itinera.reports.benchmark import group_by_benchmark
from reports.example_results import make_benchmark, make_scores


def backwards(table):
    """The same results in another order."""
    asked = replace(
        table.episode_info,
        goal_distances=table.episode_info.goal_distances[::-1],
        reference_lengths=table.episode_info.reference_lengths[::-1],
        tour_ids=table.episode_info.tour_ids[::-1],
        tour_positions=table.episode_info.tour_positions[::-1],
    )
    return replace(
        table,
        episode_ids=table.episode_ids[::-1],
        world_ids=table.world_ids[::-1],
        path_ids=table.path_ids[::-1],
        values={name: values[::-1] for name, values in table.values.items()},
        missing=table.missing[::-1],
        episode_info=asked,
        weights={name: weights[::-1] for name, weights in table.weights.items()},
    )


def test_results_of_other_episodes_or_rules_are_other_benchmarks():
    tables = [make_scores(0.8), make_scores(0.5, prefix="other"), make_scores(0.3), make_scores(0.3, toured=True)]
    found = list(group_by_benchmark(["a", "b", "c", "d"], tables))
    assert [one.names for one in found] == [("a", "c"), ("b",), ("d",)]
    assert len({one.title for one in found}) == 3
    assert [one.comparison is None for one in found] == [False, True, True]


def test_agents_that_move_otherwise_are_compared_where_times_are_told():
    slow, quick = make_scores(0.5, timed=True), make_scores(0.6, timed=True)
    quick = replace(quick, protocol=replace(quick.protocol, step_size=0.25, drive="unicycle"))
    found = make_benchmark(slow, quick)
    assert found.intersection is not None
    assert found.primary_metric.name == "SCT"


def test_an_agent_has_the_same_number_in_every_benchmark():
    tables = [make_scores(0.8), make_scores(0.5), make_scores(0.3, prefix="other"), make_scores(0.2, prefix="other")]
    first, second = group_by_benchmark(["a", "b", "c", "b"], tables)
    assert [agent.index for agent in first.agents] == [0, 1]
    assert [agent.index for agent in second.agents] == [2, 1]


def test_rows_in_another_order_change_nothing():
    one, other = make_scores(0.8), make_scores(0.5)
    one, other = (replace(t, weights={"SPL": np.arange(1.0, len(t) + 1)}) for t in (one, other))
    straight, turned = make_benchmark(one, other), make_benchmark(one, backwards(other))
    for metric in ("SR", "NE"):
        np.testing.assert_array_equal(straight.values(metric), turned.values(metric))
    assert straight.difference("SR", 0, 1) == turned.difference("SR", 0, 1)
    assert straight.comparison["SPL"] == turned.comparison["SPL"]
    assert straight.comparison["SPL"].means[1] == pytest.approx(straight.tables[1].mean("SPL"))


def test_the_lower_error_is_the_better():
    table = make_scores(0.8)
    only_errors = [replace(t, columns=(t.columns[2],)) for t in (make_scores(0.3), table)]
    assert make_benchmark(*only_errors).primary_metric.name == "NE"
    assert make_benchmark(*only_errors).ranking(make_benchmark(*only_errors).primary_metric) == [1, 0]
