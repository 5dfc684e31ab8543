"""Suites as tables of conventions; their values are in `test_conformance.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from itinera.metrics.suites import SUITE_FILES, SUITES, default_suite, paper, vlnce
from itinera.tasks.protocol import POINTNAV, R2R, R2R_CE
from text_worlds import attempts, graph

TEN = {"PL", "NE", "ONE", "SR", "OSR", "SPL", "SED", "nDTW", "SDTW", "CLS"}


def test_suites_are_found_by_their_own_names():
    assert {name: make(R2R).name for name, make in SUITES.items()} == {name: name for name in SUITES}


def test_the_default_suite_has_the_ten_metrics_of_the_papers():
    assert {metric.name for metric in paper().metrics} >= TEN


@pytest.mark.parametrize("suite", SUITES)
def test_no_suite_names_a_metric_twice(suite):
    made = SUITES[suite](R2R)
    names = [metric.name for metric in (*made.metrics, *made.tour_metrics)]
    assert len(names) == len(set(names))


def test_fingerprints_tell_suites_apart_and_are_repeatable():
    prints = {name: make(R2R).fingerprint for name, make in SUITES.items()}
    assert len(set(prints.values())) == len(SUITES)
    assert prints == {name: make(R2R).fingerprint for name, make in SUITES.items()}


@pytest.mark.parametrize("suite", [name for name in SUITES if not name.endswith("reverie")])
def test_fingerprints_change_with_the_radius(suite):
    assert SUITES[suite](R2R).fingerprint != SUITES[suite](replace(R2R, success_radius=1.0)).fingerprint


def test_fingerprints_change_with_the_stop_rule_and_with_what_is_let_pass():
    assert paper(R2R).fingerprint != paper(replace(R2R, needs_stop=True)).fingerprint
    suite = paper()
    assert suite.fingerprint != replace(suite, rules=replace(suite.rules, repeats="drop")).fingerprint


def test_fingerprints_do_not_depend_on_what_a_protocol_is_called():
    assert paper(R2R).fingerprint == paper(replace(R2R, name="mine", version=9)).fingerprint


def test_a_continuous_protocol_asks_the_paper_suite_for_stop():
    made = attempts(graph("a-b"), ["ab"], ["ab"], stopped=[False])
    measured = {metric.name: metric.measure(made)[0] for metric in paper(R2R_CE).metrics}
    assert [measured[name] for name in ("SR", "SPL", "SED", "SED_nodes", "SDTW")] == [0.0] * 5
    assert measured["OSR"] == measured["nDTW"] == 1.0


def test_the_continuous_scorer_walks_and_warps_in_straight_lines_but_errs_along_the_world():
    # a to c round the corner b: 4 m on foot, sqrt(8) straight.
    made = attempts(
        graph("""
            a-b
              |
              c
        """),
        ["ac", "a"],
        ["abc", "ac"],
    )
    measured = {metric.name: metric.measure(made) for metric in vlnce().metrics}
    assert measured["PL"][0] == pytest.approx(np.sqrt(8))
    assert measured["NE"].tolist() == [0.0, 4.0]
    assert measured["SPL"][0] == 1.0  # 4 / max(sqrt(8), 4)
    assert measured["nDTW"][1] == pytest.approx(np.exp(-np.sqrt(8) / 6))


def test_point_goals_are_judged_without_comparing_paths():
    suite = SUITES[default_suite(POINTNAV)](POINTNAV)
    assert [metric.name for metric in suite.metrics] == ["PL", "steps", "NE", "ONE", "SR", "OSR", "SPL"]
    assert not suite.needs_reference
    assert default_suite(R2R_CE) == "paper"
    without = [name for name, make in SUITES.items() if not make(R2R).needs_reference]
    assert without == ["pointnav", "habitat", *SUITE_FILES["task_suites"]]
    made = attempts(graph("a-b"), ["ab", "ab"], ["ab", "ab"], stopped=[True, False])
    measured = {metric.name: metric.measure(made).tolist() for metric in suite.metrics}
    assert (measured["SR"], measured["SPL"]) == ([1.0, 0.0], [1.0, 0.0])
