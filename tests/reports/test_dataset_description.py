"""Data sets side by side, as a table and as plain values."""

from __future__ import annotations

import json

import numpy as np
import pytest

from itinera.analysis.coverage import OracleRoute, measure_coverage
from itinera.analysis.datasets import describe
from itinera.reports.dataset_description import DatasetReport, coverage_curves, make_table, to_dict
from itinera.tasks import Instruction, Split, Tour
from text_worlds import STREET, episode, world

WORLDS = {"house": world(STREET), "hut": world(STREET, "hut")}


def report(
    *episodes, name: str = "set", tours: tuple[Tour, ...] = (), routes: tuple[OracleRoute, ...] = ()
) -> DatasetReport:
    described = describe(Split(name, episodes, tours), WORLDS)
    return DatasetReport(described, {"visited": coverage_curves(measure_coverage(routes, WORLDS))} if routes else {})


# abc has three instructions and cdef one: 4, 4, 4 and 6 m.
UNEVEN = [episode(f"1_{i}", "abc", path_id="1", instruction=Instruction("turn left")) for i in range(3)]
UNEVEN.append(episode("2_0", "cdef", path_id="2", stated_distance=6.2))


def cells(grid) -> dict[str, tuple[str, ...]]:
    return {row[0]: row[1:] for row in grid.rows}


def test_means_over_paths_and_over_instructions_are_told_where_they_differ():
    found = cells(make_table([report(*UNEVEN)]))
    assert found["paths"] == ("2",)
    assert found["instructions"] == ("4",)
    assert found["path length PL(R), m"] == ("5.00",)
    assert found["path length PL(R), m, over instructions"] == ("4.50",)
    assert found["words per instruction"] == ("1.75",)
    assert found["vocabulary"] == ("3",)
    assert found["stated distance, m"] == ("6.20",)
    assert found["turns within 15°, %"] == ("100.0",)
    assert found["overlap with other paths, %"] == ("29.2",)  # a third and a quarter
    even = cells(make_table([report(*UNEVEN[2:])]))
    assert "path length PL(R), m" in even
    assert not any("over instructions" in name for name in even)


def test_data_sets_stand_side_by_side_and_what_only_one_has_is_told_for_it():
    tours = (Tour("0", "house", ("1_0", "2_0")), Tour("1", "house", ("1_1",)))
    grid = make_table([report(*UNEVEN, name="toured", tours=tours), report(UNEVEN[3], name="plain")])
    assert grid.headings == ("", "toured", "plain")
    found = cells(grid)
    assert found["tours"] == ("2", "–")
    assert found["tours per scene"] == ("2.0", "–")
    assert found["tour length, mean"] == ("1.5", "–")
    assert (found["tour length, min"], found["tour length, max"]) == (("1", "–"), ("2", "–"))
    assert found["tour length, SD"] == ("0.5", "–")
    assert found["path length PL(R), m, over instructions"] == ("4.50", "6.00")
    assert not any("visited" in name or name == "goals withheld" for name in found)


def test_what_was_seen_is_told_with_its_interval_where_scenes_differ():
    here, there = (OracleRoute(scene, (("a", "b"), ("b", "c"))) for scene in ("house", "hut"))
    longer = OracleRoute("hut", (("a", "b"), ("a", "b")))
    found = cells(make_table([report(*UNEVEN, routes=(here, there)), report(*UNEVEN, routes=(here, longer))]))
    assert found["next path visited after 1 episode, %"][0] == "50.0 [50.0, 50.0]"
    assert found["next path visited after 1 episode, %"][1].startswith("75.0 [")
    assert "next path visited after 3 episodes, %" not in found
    alone = cells(make_table([report(*UNEVEN, routes=(here,))]))
    assert alone["tour visited after 1 episode, %"] == ("66.7",)  # one scene has no interval


def test_plain_values_keep_their_precision_and_are_json():
    tours = (Tour("0", "house", ("1_0", "2_0")),)
    here = OracleRoute("house", (("a", "b"), ("b", "c")))
    found = to_dict(report(*UNEVEN, tours=tours, routes=(here,)))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["path_length"]["over_paths"] == {"mean": 5.0, "sd": 1.0, "min": 4.0, "max": 6.0}
    assert found["path_length"]["over_instructions"]["mean"] == 4.5
    assert found["stated_distance"]["over_paths"]["mean"] == 6.2
    assert found["turns"] == {"count": 3, "within_15_degrees": 1.0, "sectors_of_30_degrees": [3] + [0] * 11}
    assert found["overlap"]["mean"] == pytest.approx((1 / 3 + 1 / 4) / 2)
    assert found["tours"]["length"] == {"mean": 2.0, "sd": 0.0, "min": 2.0, "max": 2.0}
    assert found["coverage"]["visited"]["upcoming"][1] == {
        "episodes_done": 1, "mean": 0.5, "low": None, "high": None, "tours": 1}  # fmt: skip


def test_what_is_not_known_is_none_and_no_way_is_inf():
    nothing = report(episode("1", ["a"], goals=[]), name="test")
    found = to_dict(nothing)
    assert (found["goals_withheld"], found["path_length"]["over_paths"], found["overlap"]) == (1, None, None)
    assert found["turns"]["within_15_degrees"] is None
    assert cells(make_table([nothing])) == {
        "scenes": ("1",), "paths": ("1",), "goals withheld": ("1",), "instructions": ("1",),
        "words per instruction": ("1.00",), "vocabulary": ("1",)}  # fmt: skip
    far = report(*UNEVEN)
    far.statistics.distances[0] = np.inf
    assert to_dict(far)["start_goal_distance"]["over_paths"]["mean"] == "inf"
