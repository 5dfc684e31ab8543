"""`itinera power`, end to end."""

from __future__ import annotations

import pytest

import tiny
from cli.conftest import Command
from itinera.stats import ComparisonDesign, detectable_difference, episodes_needed


def test_the_plan_is_that_of_the_statistics(itinera: Command) -> None:
    options = ("--difference", 0.05, "--rate", 0.4, "--icc", 0.02, "--correlation", 0.5, "--per-scene", 100)
    told = itinera("power", *options, "--scenes", 11, "--json").json
    comparison = ComparisonDesign.from_success_rate(0.4, icc=0.02, correlation=0.5)
    plan = episodes_needed(comparison, 0.05, episodes_per_scene=100, power=0.8)
    assert (told["scenes"], told["episodes"]) == (plan.scenes, plan.episodes)
    assert told["detectable"] == detectable_difference(comparison, scenes=11, episodes_per_scene=100, power=0.8)


def test_the_terminal_tells_it_in_a_sentence(itinera: Command) -> None:
    outcome = itinera("power", "--difference", 0.02, "--correlation", 0.5, "--scenes", 11)
    assert (outcome.code, outcome.err) == (0, "")
    assert "Detecting a difference of 2 points between two systems on the same episodes with power 80 %" in outcome.out
    assert "11 scenes of 200 episodes detect a difference of" in outcome.out
    assert "each on scenes of its own" in itinera("power").out


def test_spread_and_correlation_are_learned_from_bundles(files: tiny.Files, itinera: Command) -> None:
    bundles = []
    for name, walks in (("a", tiny.WALKS), ("b", tiny.WALKS | {"2_0": "c"})):
        bundles.append(files.folder / f"{name}.jsonl")
        preds = files.write(f"{name}.json", tiny.predictions(walks))
        assert itinera("score", preds, *files.options, "--out", bundles[-1]).code == 0
    alone = itinera("power", bundles[0], "--json").json
    assert (alone["sd"], alone["correlation"]) == (pytest.approx(0.4), None)  # four successes of five
    both = itinera("power", *bundles, "--json").json
    # SR 1 0 1 1 1 against 1 0 0 1 1: covariance 0.6 - 0.8 · 0.6 = 0.12 over 0.4 · sqrt(0.24).
    assert both["correlation"] == pytest.approx(0.12 / (0.4 * 0.24**0.5))
    assert itinera("power", *bundles, "--metric", "SPL", "--json").json["sd"] != both["sd"]
    outcome = itinera("power", bundles[0], "--metric", "SRR")
    assert (outcome.code, "have no metric SRR. Use one of PL" in outcome.err) == (2, True)
    outcome = itinera("power", *bundles, bundles[0])
    assert (outcome.code, "Give one or two score tables, not 3" in outcome.err) == (2, True)


def test_bundles_without_spread_teach_nothing(files: tiny.Files, itinera: Command) -> None:
    preds = files.write("perfect.json", tiny.predictions(tiny.PERFECT))
    bundle = files.folder / "perfect.jsonl"
    itinera("score", preds, *files.options, "--out", bundle)
    for bundles in ([bundle], [bundle, bundle]):
        outcome = itinera("power", *bundles)
        assert outcome.code == 2
        assert outcome.out == ""


@pytest.mark.parametrize("options", [("--rate", 1.5), ("--icc", -1), ("--correlation", 2), ("--difference", 0),
                                     ("--per-scene", 0), ("--scenes", 1), ("--power", 1)])  # fmt: skip
def test_impossible_numbers_are_told(itinera: Command, options: tuple[object, ...]) -> None:
    outcome = itinera("power", *options)
    assert outcome.code == 2
    assert outcome.err.startswith("itinera: ")
    assert outcome.out == ""
