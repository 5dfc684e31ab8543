"""Options, cells and claims of the tables of Iterative VLN on the ground, worked by hand."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from itinera.training.ground.experiment_tables import (
    add_options,
    compare_seeds,
    count_steps,
    format_cell,
    format_difference,
    interval_over_houses,
    make_experiment,
    print_results,
)
from itinera.training.ground.experiments import EPISODE_METRICS, TourScores
from itinera.training.ground.train_agent import STEPS_PER_MINUTE, GroundOptions


def parse(*words: object) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_options(parser, out=Path("out"))
    return parser.parse_args([str(word) for word in words])


def make_scores(successes: tuple[float, ...], tours: tuple[float, ...] = (0.5, 0.25)) -> TourScores:
    """Two houses with two episodes and a tour each; every metric of the episodes has these values."""
    values = dict.fromkeys(EPISODE_METRICS, successes)
    return TourScores(("a", "a", "b", "b"), values, ("a", "b"), tours, (2.0, 6.0))


def test_the_length_of_a_training_is_given_in_steps_or_hours():
    assert count_steps(parse("--steps", 7)) == 7
    assert count_steps(parse("--hours", 0.5)) == 30 * STEPS_PER_MINUTE
    assert count_steps(parse("--hours", 0)) == 1
    assert count_steps(parse()) == 60 * STEPS_PER_MINUTE
    with pytest.raises(SystemExit):
        parse("--steps", 7, "--hours", 1)


def test_experiments_of_other_lengths_and_houses_have_other_folders():
    options = GroundOptions(steps=7)
    test = make_experiment(parse("--houses", 3, "--tour-episodes", 2), options)
    assert (test.out, test.houses, test.tour_episodes, test.options) == (Path("out/test/7 steps"), 3, 2, options)
    assert test.splits == ("val_seen", "val_unseen")
    held_out = make_experiment(parse("--held-out", "--season", "there"), options)
    assert (held_out.out, held_out.season) == (Path("out/held out/7 steps"), Path("there"))
    assert held_out.splits == ("held_out",)


def test_a_cell_is_the_mean_over_seeds_with_its_error_and_interval():
    seeds = [make_scores((1.0, 0.0, 0.0, 0.0)), make_scores((1.0, 1.0, 0.0, 0.0))]
    assert format_cell(seeds, "SR").startswith("37.5 ±12.5 (")  # 25 % and 50 %
    assert format_cell(seeds[:1], "SR").startswith("25.0 (")
    assert format_cell(seeds[:1], "NE").startswith("0.2 (")  # metres, not percent: 0.25 to even
    assert format_cell(seeds[:1], "t-nDTW").startswith("31.2 (")  # (2 · 0.5 + 6 · 0.25) / 8 = 31.25 %
    found = interval_over_houses(seeds, "SR")
    assert found.mean == pytest.approx(0.375)
    assert 0.0 <= found.low <= found.mean <= found.high <= 1.0


def test_differences_are_of_the_same_episodes():
    better, worse = make_scores((1.0, 1.0, 1.0, 0.0)), make_scores((1.0, 0.0, 0.0, 0.0))
    found = compare_seeds([better], [worse], "SR")
    assert found.interval.mean == pytest.approx(0.5)
    assert format_difference(found).startswith("+50.0 (")
    assert compare_seeds([worse], [better], "SR").interval.mean == pytest.approx(-0.5)
    assert format_difference(compare_seeds([better], [better], "SR")) == "+0.0 (+0.0 – +0.0)"


def test_results_are_a_table_and_the_claims_of_each_split():
    shown, asked = [], []

    def find(split, row, seed):
        asked.append((split, row, seed))
        return make_scores((float(seed), 0.0, 0.0, 0.0))

    def check_claims(scores):
        yield "it helps", False, f"{len(scores[2])} seeds"
        yield "it hurts", True, ""

    print_results(
        make_experiment(parse(), GroundOptions(steps=7)),
        "Table 9",
        (1, 2),
        2,
        find=find,
        make_table=lambda split, scores, title: (split, sorted(scores), title),
        check_claims=check_claims,
        show=shown.append,
    )
    assert asked[:4] == [("val_seen", 1, 0), ("val_seen", 1, 1), ("val_seen", 2, 0), ("val_seen", 2, 1)]
    assert len(asked) == 8
    assert shown[0] == (
        "val_seen",
        [1, 2],
        "Table 9, val-seen: tours of Hearth, mean of 2 seeds (95 % interval over houses)",
    )
    assert shown[1:3] == ["does NOT hold  it helps: 2 seeds", "holds          it hurts: "]
    assert shown[3][0] == "val_unseen"
