"""A table told in means: over what is defined, with intervals that take scenes as the sample."""

from __future__ import annotations

import math

import numpy as np
import pytest

from itinera.records import Column, ScoreTable, TourTable
from itinera.records.summary import summarize, summary_table, summary_to_dict
from itinera.stats import interval
from reports.example_tables import table

NAN, INF = math.nan, math.inf


def test_means_come_with_the_default_interval_over_scenes() -> None:
    summary = summarize(table("aabb", SR=[1, 0, 1, 1], NE=[0, 4, 1, 3]))
    assert summary.scenes == 2
    assert summary.intervals["SR"] == interval([1, 0, 1, 1], clusters=list("aabb"), bounds=(0, 1))
    assert summary.intervals["NE"] == interval([0, 4, 1, 3], clusters=list("aabb"), bounds=(0, INF))
    assert summary.intervals["NE"].mean == 2.0


def test_the_level_can_be_chosen() -> None:
    scores = table("aabbccdd", SR=[1, 0, 1, 1, 1, 0, 0, 0])
    wide, narrow = (summarize(scores, level=level).intervals["SR"] for level in (0.99, 0.8))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_undefined_values_are_counted_and_never_averaged() -> None:
    summary = summarize(table("aabb", SR=[1, NAN, 0, 1], NE=[NAN] * 4, PL=[1, 2, 3, 4]))
    assert summary.undefined == {"SR": 1, "NE": 4}
    assert summary.intervals["SR"].mean == pytest.approx(2 / 3)
    assert "NE" not in summary.intervals


def test_an_infinite_error_has_an_infinite_mean() -> None:
    told = summary_to_dict(summarize(table("aabb", NE=[1, INF, 2, 3])))
    assert told["metrics"] == {"NE": {"mean": "inf", "low": "inf", "high": "inf"}}
    assert told["undefined"] == {}


def test_in_a_single_scene_paths_are_the_sample() -> None:
    values = [1, 1, 1, 0, 0, 0]
    one = summarize(table("aaaaaa", path_ids=list("ppqqrr"), SR=values)).intervals["SR"]
    assert one == interval(values, clusters=list("ppqqrr"), bounds=(0, 1))
    nameless = summarize(table("aaaaaa", SR=values)).intervals["SR"]
    assert "independent" in nameless.method


def tours(values: list[float], weights: list[float]) -> TourTable:
    count = len(values)
    return TourTable(
        tuple(map(str, range(count))),
        tuple("ab" * count)[:count],
        (Column("t-nDTW"),),
        {"t-nDTW": np.array(values)},
        {"t-nDTW": np.array(weights)},
    )


def test_tours_weigh_what_they_say() -> None:
    summary = summarize(table("ab", SR=[1, 0], tours=tours([0.2, 0.8, 0.5], [1, 3, 0])))
    assert summary.intervals["t-nDTW"].mean == pytest.approx((0.2 + 3 * 0.8) / 4)
    assert [column.name for column in summary.columns] == ["SR", "t-nDTW"]
    assert summary_to_dict(summary)["tours"] == 3


def test_a_tour_without_a_value_is_counted_and_one_without_weight_is_not() -> None:
    summary = summarize(table("ab", SR=[1, 0], tours=tours([0.2, NAN, 0.5], [1, 3, 0])))
    assert summary.undefined == {"t-nDTW": 1}
    assert summary.intervals["t-nDTW"].mean == pytest.approx(0.2)
    weightless = summarize(table("ab", SR=[1, 0], tours=tours([0.2, 0.3], [0, 0])))
    assert "t-nDTW" not in weightless.intervals


def test_json_is_plain_and_in_fractions() -> None:
    told = summary_to_dict(summarize(table("ab", SR=[1, 0])))
    assert {"suite", "fingerprint", "episodes", "metrics", "undefined"} <= told.keys()
    assert (told["suite"], told["fingerprint"], told["episodes"], told["scenes"]) == ("paper", "of paper", 2, 2)
    assert told["metrics"]["SR"]["mean"] == 0.5  # type: ignore[index]
    assert "tours" not in told


def test_the_upper_bound_of_sct_is_printed_only_where_it_differs() -> None:
    values = {"SCT": [0.5, np.nan], "SCT_low": [0.4, np.nan], "SCT_high": [0.5, np.nan]}
    same = ScoreTable.from_values(values, world_ids=["a", "b"])
    assert [row[0].split()[0] for row in summary_table(same.summary()).rows] == ["SCT", "SCT_low"]
    other = ScoreTable.from_values(values | {"SCT_high": [0.6, np.nan]}, world_ids=["a", "b"])
    assert len(summary_table(other.summary()).rows) == 3
    assert "SCT_high" in same.summary().intervals  # JSON and bundles have it
