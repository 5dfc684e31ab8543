from __future__ import annotations

import math

import pytest

from itinera.errors import BadFile, Fault
from itinera.metrics.adoption import CLAIMED, Adoption, adopt_rows
from itinera.records.metric_rows import MetricRow, MetricRows
from itinera.tasks import PROTOCOLS, Split
from text_worlds import episode

SPLIT = Split("small", tuple(episode(name, "abc", stated_distance=4.0) for name in ("1", "2", "3")))


def rows(*given: tuple[str, dict[str, float]]) -> MetricRows:
    return MetricRows(tuple(MetricRow(name, values, f"line {k}") for k, (name, values) in enumerate(given, start=1)))


def adopt(found: MetricRows, **options) -> Adoption:
    return adopt_rows(found, SPLIT, protocol=PROTOCOLS["r2r"], source="rows", **options)


ALL = (("1", {"SR": 1.0, "NE": 1.0}), ("2", {"SR": 0.0, "NE": 5.0}), ("3", {"SR": 1.0, "NE": 2.0}))


def test_a_complete_file_is_a_table_of_claims():
    found = adopt(rows(*ALL))
    assert found.scores.suite == CLAIMED
    assert found.to_dict() == {
        "episodes": 3, "missing": 0, "duplicates": 0, "unknown": 0, "undefined": {}, "unreadable": 0,
        "metrics": {"SR": pytest.approx(2 / 3), "NE": pytest.approx(8 / 3)},
    }  # fmt: skip
    assert "no trajectory was replayed" in str(found)


def test_gaps_are_refused_counted_as_failures_or_left_out():
    with pytest.raises(BadFile, match="2 episodes of 3 without a row: 2, 3"):
        adopt(rows(ALL[0]))
    zero = adopt(rows(ALL[0]), missing="zero")
    assert zero.scores.mean("SR") == pytest.approx(1 / 3)
    assert zero.scores["NE"].tolist() == [1.0, 4.0, 4.0]  # they stay at the start
    assert zero.scores.missing.tolist() == [False, True, True]
    drop = adopt(rows(ALL[0]), missing="drop")
    assert (len(drop.scores), drop.missing, drop.scores.mean("SR")) == (1, 2, 1.0)
    assert drop.scores.part.total == 3


def test_doubles_are_refused_or_one_of_them_is_chosen():
    given = rows(*ALL, ("1", {"SR": 0.0, "NE": 9.0}))
    with pytest.raises(BadFile, match="1 episode with several rows: 1 in line 1, line 4"):
        adopt(given)
    assert adopt(given, duplicates="first").scores["SR"][0] == 1.0
    last = adopt(given, duplicates="last")
    assert (last.scores["SR"][0], last.duplicates) == (0.0, 1)


def test_unknown_episodes_are_refused_and_another_split_is_one_sentence():
    with pytest.raises(BadFile, match="1 episode not in small: 9"):
        adopt(rows(*ALL, ("9", {"SR": 1.0})))
    with pytest.raises(BadFile, match=r"none of the 2 episodes is in small, such as '8'") as refused:
        adopt(rows(("8", {"SR": 1.0}), ("9", {"SR": 1.0})))
    assert len(refused.value.faults) == 1


def test_all_faults_are_reported_together():
    broken = MetricRows(
        rows(("1", {"SR": 100.0}), ("1", {"SR": 0.0}), ("9", {"PL": -1.0})).rows, (Fault("line 7", "bad."),)
    )
    with pytest.raises(BadFile) as refused:
        adopt(broken)
    text = str(refused.value)
    for words in ("not in small", "without a row", "several rows", "Divide percentages by 100", "line 7"):
        assert words in text


def test_undefined_values_are_counted_and_released_habits_named():
    found = adopt(
        rows(("1", {"SR": 0.0, "NE": math.nan}), ("2", {"SR": 0.0, "NE": math.inf}), ("3", {"SR": 1.0, "NE": 1.0}))
    )
    assert found.undefined == {"NE": 2}
    assert any("NE is NaN or infinite in 2 episodes" in remark for remark in found.remarks)


def test_rows_that_contradict_themselves_are_remarked_on():
    found = adopt(rows(("1", {"SR": 1.0, "NE": 8.0, "SPL": 1.0}), ("2", {"SR": 0.0, "NE": 1.0, "SPL": 0.5}),
                       ("3", {"SR": 0.0, "NE": -1.0, "SPL": 0.0})))  # fmt: skip
    text = "\n".join(found.remarks)
    for words in ("1 successful episode ends farther", "2 failures end within 3 m", "SPL exceeds SR in 1 episode",
                  "NE is negative in 1 episode"):  # fmt: skip
        assert words in text
    assert found.scores["NE"][2] == 0.0


def test_a_file_of_aggregates_says_so():
    with pytest.raises(BadFile, match="contains aggregates only"):
        adopt(MetricRows((), aggregates=2))


def test_trajectories_are_to_be_scored():
    with pytest.raises(BadFile, match=r"(?s)2 records\).*itinera score"):
        adopt(MetricRows((), trajectories=2))
