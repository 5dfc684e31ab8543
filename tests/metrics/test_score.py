"""From walks and tasks to a table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from itinera.errors import BadFile
from itinera.metrics import SUITES, score
from itinera.metrics import attempts as chunking
from itinera.tasks import Split, Tour
from itinera.tasks.protocol import R2R, R2R_CE, RXR
from text_worlds import STREET, episode, predictions, split, world

HOUSE = {"house": world(STREET)}


def test_rows_stand_in_the_order_of_the_split_whatever_the_order_of_walks():
    table = score(predictions({"2": "a", "1": "ab"}), split({"1": "abc", "2": "abc"}), HOUSE)
    assert table.episode_ids == ("1", "2")
    assert table["PL"].tolist() == [2.0, 0.0]
    assert len(table) == 2


def test_worlds_are_scored_together():
    tasks = Split("two", (episode("1", "ab"), episode("2", "xyz", world_id="other"), episode("3", "bc")))
    worlds = {**HOUSE, "other": world("x--y--z", "other")}
    table = score(predictions({"1": "ab", "2": "xy", "3": "b"}), tasks, worlds)
    assert table.world_ids == ("house", "other", "house")
    assert table["NE"].tolist() == [0.0, 3.0, 2.0]
    assert table["PL"].tolist() == [2.0, 3.0, 0.0]


def test_the_protocol_comes_from_the_caller_or_the_split_and_never_from_the_predictions():
    walks, tasks = predictions({"1": "ab"}, unfinished=["1"]), split({"1": "ab"})
    assert score(walks, tasks, HOUSE).protocol is R2R
    assert score(walks, tasks, HOUSE)["SR"].tolist() == [1.0]
    carrying = replace(walks, protocol=R2R_CE)
    assert score(carrying, tasks, HOUSE).protocol is R2R
    assert score(carrying, tasks, HOUSE, protocol=R2R_CE)["SR"].tolist() == [0.0]
    assert score(carrying, tasks, HOUSE, protocol=RXR).protocol is RXR


def test_missing_walks_are_refused_or_count_as_zero():
    tasks = split({"1": "ab", "2": "ab", "3": "a"})
    with pytest.raises(BadFile, match="2 of the 3 episodes of drawn have no trajectory"):
        score(predictions({"1": "ab"}), tasks, HOUSE)
    table = score(predictions({"1": "ab"}), tasks, HOUSE, missing="zero")
    assert table.missing.tolist() == [False, True, True]
    # Both would succeed by standing at their start, 2 m and 0 m from the goal, had they been walked.
    for name in ("SR", "OSR", "SPL", "SED", "nDTW", "SDTW", "CLS"):
        assert table[name].tolist() == [1.0, 0.0, 0.0], name
    assert table["NE"].tolist() == [0.0, 2.0, 0.0]
    assert table["PL"].tolist() == [2.0, 0.0, 0.0]


def test_repeats_may_be_dropped_and_the_fingerprint_says_so():
    walks, tasks = predictions({"1": "aabb"}), split({"1": "ab"})
    kept, dropped = score(walks, tasks, HOUSE), score(walks, tasks, HOUSE, repeats="drop")
    assert kept["steps"].tolist() == [3.0]
    assert dropped["steps"].tolist() == [1.0]
    assert kept.fingerprint != dropped.fingerprint


def test_tours_are_scored_in_their_own_order_beside_episodes_outside_them():
    # Listed 3 before 1: the tour runs 1, 3. Episode 2 belongs to none.
    tasks = split({"3": "cd", "2": "ab", "1": "abc"}, ["1", "3"])
    table = score(predictions({"1": "abc", "2": "a", "3": "ccd"}), tasks, HOUSE, SUITES["ivln"](R2R))
    assert table.tours.tour_ids == ("0",)
    # The dwell on c stands inside the tour, where c may meet only the first c: 2 m over 5 places.
    assert table.tours["t-nDTW"][0] == pytest.approx(np.exp(-2 / 15))
    assert table["nDTW"].tolist() == pytest.approx([1.0, np.exp(-2 / 6), 1.0])


def test_tours_weigh_by_episodes_or_by_changes_of_episode():
    tasks = split({"1": "ab", "2": "bc", "3": "cd"}, ["1"], ["2", "3"])
    walks = predictions({"1": "ab", "2": "bc", "3": "cd"})
    assert score(walks, tasks, HOUSE).tours.weights["t-nDTW"].tolist() == [1.0, 2.0]
    assert score(walks, tasks, HOUSE, SUITES["ivln-ce"](R2R)).tours.weights["t-nDTW"].tolist() == [0.0, 1.0]


def test_a_missing_episode_fails_its_tour_only():
    tasks = split({"1": "ab", "2": "bc", "3": "cd"}, ["1"], ["2", "3"])
    table = score(predictions({"1": "ab", "2": "bc"}), tasks, HOUSE, missing="zero")
    assert table.tours["t-nDTW"].tolist() == [1.0, 0.0]
    assert table.tours["t-SR"].tolist() == [1.0, 0.5]


def test_without_tours_there_is_no_tour_table():
    assert score(predictions({"1": "ab"}), split({"1": "ab"}), HOUSE).tours is None
    assert score(predictions({"1": "ab"}), split({"1": "ab"}, ["1"]), HOUSE, SUITES["m3ds"](R2R)).tours is None


def test_scores_do_not_depend_on_how_the_work_is_cut(monkeypatch):
    references = {str(i): "abcdef"[: 2 + i % 5] for i in range(20)}
    walks = predictions({name: reference[: 1 + len(reference) // 2] for name, reference in references.items()})
    tasks = split(references, ["7", "3", "9"], ["1", "19"])
    whole = score(walks, tasks, HOUSE, SUITES["ivln"](R2R))
    monkeypatch.setattr(chunking, "MAX_CHUNK", 10)
    cut = score(walks, tasks, HOUSE, SUITES["ivln"](R2R))
    for column in whole.columns:
        np.testing.assert_array_equal(whole[column.name], cut[column.name])
    for column in whole.tours.columns:
        np.testing.assert_array_equal(whole.tours[column.name], cut.tours[column.name])


def test_progress_is_told_every_episode_once():
    from itinera.metrics.matching import match
    from itinera.metrics.score import score_attempts
    from itinera.metrics.suites import paper

    walks, tasks = {"1": "ab", "2": "a"}, split({"1": "ab", "2": "ab"})
    done: list[int] = []
    score_attempts(match(predictions(walks), tasks, HOUSE), tasks, paper(), R2R, progress=done.append)
    assert sum(done) == 2


def test_a_tour_of_another_world_leaves_the_rest_alone():
    episodes = (episode("1", "ab"), episode("2", "xy", world_id="other"))
    tasks = Split("two", episodes, (Tour("t", "other", ("2",)),))
    table = score(predictions({"1": "a", "2": "xy"}), tasks, {**HOUSE, "other": world("x--y", "other")})
    assert table.tours["t-nDTW"].tolist() == [1.0]
