"""The cells and claims of Table I, worked by hand."""

import math

import numpy as np
import pytest

from itinera.training.pointnav.evaluation import PointNavScores
from itinera.training.pointnav.experiments import (
    StoredScores,
    Variant,
    compare_agents,
    judge_claim,
    mean_cell,
    solved_by_all,
)


def make_scores(success, sct):
    count = len(success)
    houses = tuple("ab"[k % 2] for k in range(count))
    return StoredScores(tuple(map(str, range(count))), houses, {"SR": tuple(success), "SCT": tuple(sct)})


ONE = make_scores((1.0, 1.0, 0.0, 1.0), (0.5, 0.6, 0.0, 0.7))
TWO = make_scores((1.0, 0.0, 1.0, 1.0), (0.7, 0.0, 0.9, 0.9))


def test_a_cell_is_the_mean_of_all_rows_with_the_deviation_of_seeds():
    cell = mean_cell([ONE, TWO], "SR")
    assert cell.interval.mean == pytest.approx(0.75)
    assert cell.deviation == 0.0
    assert str(cell).startswith("75.0 ± 0.0 (")
    assert mean_cell([ONE, TWO], "SCT").deviation == pytest.approx(np.std([0.45, 0.625], ddof=1))
    alone = mean_cell([ONE], "SCT")
    assert math.isnan(alone.deviation)
    assert "±" not in str(alone)


def test_the_intersection_counts_what_all_agents_solve():
    mask = solved_by_all([ONE, TWO])
    assert mask.tolist() == [True, False, False, True]
    assert mean_cell([ONE], "SCT", [mask]).interval.mean == pytest.approx(0.6)


def test_agents_are_compared_on_episodes_that_both_solve():
    found = compare_agents([ONE], [TWO], "SCT")
    assert found.episodes == 2
    assert found.interval.mean == pytest.approx(-0.2)
    everywhere = compare_agents([ONE, ONE], [TWO, TWO], "SCT", jointly_solved=False)
    assert everywhere.episodes == 8
    assert everywhere.interval.mean == pytest.approx((0.5 + 0.6 + 0.7 - 0.7 - 0.9 - 0.9) / 4)


def test_a_claim_is_open_while_its_interval_contains_nothing():
    faster = [make_scores((1.0,) * 12, tuple(0.8 + 0.001 * k for k in range(12)))]
    slower = [make_scores((1.0,) * 12, tuple(0.5 + 0.002 * k for k in range(12)))]
    difference = compare_agents(faster, slower, "SCT")
    assert judge_claim(difference, 1) == "held"
    assert judge_claim(difference, -1) == "not held"
    mixed = [make_scores((1.0,) * 12, tuple(0.5 + 0.6 * (k % 4 > 1) for k in range(12)))]
    assert judge_claim(compare_agents(mixed, faster, "SCT"), 1) == "open"


def test_scores_are_stored_and_read_as_they_were():
    columns = {"SR": np.array([1.0, 0.0])}
    stored = StoredScores.from_scores(PointNavScores(("x", "y"), ("a", "b"), columns))
    assert stored.column("SR").tolist() == [1.0, 0.0]
    assert stored.world_ids == ("a", "b")


def test_files_are_named_by_robot_reward_and_seed():
    assert Variant("unicycle-6", True, 2).name == "unicycle-6 decaying seed 2"
    assert Variant("point-turn", False).name == "point-turn shaped seed 0"
