"""Runs as one table: means by episode, and the runs themselves behind the intervals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.records import Column, TourTable
from itinera.records.runs import average_runs
from itinera.records.summary import summarize, summarize_runs, summary_table
from itinera.stats import interval_over_runs
from reports.example_tables import table

SCENES = "aabbcc"


def test_each_episode_has_the_mean_of_its_runs() -> None:
    made = average_runs("mine", [table(SCENES, SR=[1, 1, 0, 0, 1, 0]), table(SCENES, SR=[1, 0, 0, 0, 1, 1])])
    assert made["SR"].tolist() == [1, 0.5, 0, 0, 1, 0.5]
    assert len(made.runs) == 2
    assert "2 runs" in repr(made)
    assert "2 runs" in summary_table(summarize(made)).title


def test_a_single_run_is_returned_as_it_is() -> None:
    one = table(SCENES, SR=[1, 1, 0, 0, 1, 0])
    assert average_runs("mine", [one]) is one
    assert summarize_runs(one) == {}


def test_episodes_are_matched_by_id() -> None:
    names = [f"e{i}" for i in range(6)]
    turned = table(SCENES[::-1], episode_ids=names[::-1], NE=[6, 5, 4, 3, 2, 1])
    made = average_runs("mine", [table(SCENES, NE=[1, 2, 3, 4, 5, 6]), turned])
    assert made["NE"].tolist() == [1, 2, 3, 4, 5, 6]
    assert made.runs[1].world_ids == tuple(SCENES)


def test_the_interval_of_runs_is_over_runs_and_scenes() -> None:
    values = [[1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 1]]
    made = average_runs("mine", [table(SCENES, SR=each) for each in values])
    expected = interval_over_runs(values, clusters=list(SCENES), bounds=(0, 1))
    assert made.interval("SR") == expected
    assert summarize_runs(made)["SR"].means == (0.5, 0.5)


def test_an_episode_without_a_value_in_a_run_is_left_out() -> None:
    values = [[1, math.nan, 0, 0, 1, 0], [1, 0, 0, 0, 1, 1]]
    made = average_runs("mine", [table(SCENES, SPL=each) for each in values])
    assert np.isnan(made["SPL"][1])
    assert summarize(made).undefined == {"SPL": 1}
    assert made.mean("SPL") == pytest.approx(np.mean([np.delete(each, 1).mean() for each in values]))


def test_an_unreachable_goal_makes_the_mean_infinite() -> None:
    made = average_runs("mine", [table(SCENES, NE=[1, math.inf, 0, 0, 1, 0]), table(SCENES, NE=[1] * 6)])
    assert made.mean("NE") == math.inf


def test_a_part_of_the_episodes_is_a_part_of_every_run() -> None:
    made = average_runs("mine", [table(SCENES, SR=[1, 1, 0, 0, 1, 0]), table(SCENES, SR=[1, 0, 0, 0, 1, 1])])
    part = made.select(["e1", "e5"])
    assert [run["SR"].tolist() for run in part.runs] == [[1, 0], [0, 1]]
    assert part.interval("SR").mean == 0.5


def test_a_pooled_metric_is_pooled_within_each_run() -> None:
    followed = [np.array([1.0, 0.5, 0, 1, 1, 0]), np.array([0.5, 0.5, 1, 1, 1, 0])]
    steps = [np.array([10.0, 20, 5, 5, 10, 50]), np.array([20.0, 20, 5, 5, 10, 10])]
    made = average_runs(
        "mine", [replace(table(SCENES, TR=f), weights={"TR": w}) for f, w in zip(followed, steps, strict=True)]
    )
    pooled = [np.average(f, weights=w) for f, w in zip(followed, steps, strict=True)]
    assert summarize_runs(made)["TR"].means == pytest.approx(pooled)
    found = made.interval("TR")
    assert found.mean == pytest.approx(np.mean(pooled))
    assert 0 <= found.low < found.high <= 1


def test_tours_have_runs_too() -> None:
    def run(*values: float) -> TourTable:
        weights = {"t-nDTW": np.array([1.0, 2, 3])}
        columns = (Column("t-nDTW"),)
        return TourTable(("x", "y", "z"), ("a", "b", "c"), columns, {"t-nDTW": np.array(values)}, weights)

    tables = [
        table(SCENES, SR=[1, 0] * 3, tours=run(0.1, 0.2, 0.3)),
        table(SCENES, SR=[1, 0] * 3, tours=run(0.3, 0.4, 0.5)),
    ]
    made = average_runs("mine", tables)
    assert made.tours is not None
    assert made.tours["t-nDTW"].tolist() == pytest.approx([0.2, 0.3, 0.4])
    assert made.mean("t-nDTW") == pytest.approx((0.2 + 2 * 0.3 + 3 * 0.4) / 6)
    assert summarize_runs(made)["t-nDTW"].sd == pytest.approx(math.sqrt(0.02))
    other = replace(tables[1].tours, tour_ids=("x", "y", "w"))
    with pytest.raises(BadArgument, match="different tours"):
        average_runs("mine", [tables[0], replace(tables[1], tours=other)])


def test_runs_of_different_rules_or_episodes_are_refused() -> None:
    one = table(SCENES, SR=[1] * 6)
    with pytest.raises(BadArgument, match="run 1 of mine was scored under protocol r2r"):
        average_runs("mine", [one, table(SCENES, protocol="r2r-ce", SR=[1] * 6)])
    with pytest.raises(BadArgument, match="Run 2 of mine does not have the same episodes"):
        average_runs("mine", [one, table(SCENES, episode_ids=list("uvwxyz"), SR=[1] * 6)])
