"""The cells and claims of Table I, worked by hand."""

import math

import msgspec
import numpy as np
import pytest

from itinera.policies.checkpoint import build_model, encode_model, make_card
from itinera.policies.pointnav.policy import SMALL
from itinera.policies.pointnav.requirements import PointNavRequirements
from itinera.policies.tokenizer import Tokenizer
from itinera.training.pointnav.evaluation import PointNavScores
from itinera.training.pointnav.experiments import (
    Experiment,
    StoredScores,
    Variant,
    compare_agents,
    count_seconds,
    judge_claim,
    mean_cell,
    model_file,
    solved_by_all,
    training_cost,
)
from itinera.training.pointnav.train_agent import PointNavOptions


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


def test_the_seconds_of_an_interrupted_training_are_counted_too(tmp_path):
    experiment, variant = Experiment(tmp_path, tmp_path, PointNavOptions(steps=64)), Variant("point-turn", False)
    card = make_card("pointnav", SMALL["none"], (), Tokenizer(()), pointnav=PointNavRequirements("none"))
    file = model_file(experiment, variant)
    file.parent.mkdir()
    file.write_bytes(encode_model(build_model(msgspec.structs.replace(card, metadata={"steps": 64}))))
    steps, minutes = training_cost(experiment, variant)
    assert steps == 64
    assert math.isnan(minutes)  # trained elsewhere
    seconds = file.with_name("point-turn shaped seed 0.seconds.json")
    seconds.write_text("60.0")
    with pytest.raises(KeyboardInterrupt), count_seconds(seconds):
        raise KeyboardInterrupt
    with count_seconds(seconds):
        sum(range(100_000))
    assert 1.0 < training_cost(experiment, variant)[1] < 1.5
