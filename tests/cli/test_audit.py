"""`itinera audit`, end to end."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tiny
from cli.conftest import Command
from itinera.metrics.audit import Audit, SuiteMeans, parse_published
from itinera.metrics.suites import SUITES
from itinera.tasks.protocol import R2R

PATH_SUITES = {name for name, make in SUITES.items() if make(R2R).needs_reference and not make(R2R).protocols}


def test_several_numbers_may_follow_one_option(files: tiny.Files, itinera: Command) -> None:
    numbers = ("--published", "SR=0.80", "SPL=0.63")
    outcome = itinera("audit", files.predictions, *files.options, *numbers)
    assert outcome.code == 0
    assert "SR = 0.80" in outcome.out
    assert "SPL = 0.63" in outcome.out
    told = itinera("audit", files.predictions, *files.options, *numbers, "--json").json
    assert told["published"] == {"SR": 0.8, "SPL": 0.63}
    # google and no other suite lacks SPL.
    assert {match["suite"] for match in told["matches"]} == PATH_SUITES - {"google"}


@pytest.mark.parametrize("numbers", [("SR=80.0", "--published", "NE=1.2"), ("SR=80% NE=1.2",), ("SR=0.8,NE=1.2",)])
def test_numbers_may_be_percentages_and_given_apart(
    files: tiny.Files, itinera: Command, numbers: tuple[str, ...]
) -> None:
    told = itinera("audit", files.predictions, *files.options, "--published", *numbers, "--json").json
    assert told["published"] == {"SR": 0.8, "NE": 1.2}
    assert {match["suite"] for match in told["matches"]} == PATH_SUITES


def test_the_suite_that_measures_against_the_reference_is_found(files: tiny.Files, itinera: Command) -> None:
    """A reference that turns back is 8 m long though its goal is 4 m away: only HAMT's family takes that for SPL."""
    tasks = files.write("tasks.json", [tiny.path(1, "house", "ababc"), tiny.path(2, "hut", "pqr")])
    walks = files.write("walks.json", tiny.predictions({"1_0": "ababc", "2_0": "pqr"}))
    options = ("--tasks", tasks, "--worlds", files.worlds, "--published")
    found = itinera("audit", walks, *options, "SPL=100", "--json").json
    assert {match["suite"] for match in found["matches"]} >= {"hamt", "ivln"}
    assert not {match["suite"] for match in found["matches"]} & {"paper", "m3ds", "envdrop"}
    assert "those of: paper, m3ds, envdrop" in itinera("audit", walks, *options, "SPL=75").out


def test_a_number_agrees_only_if_it_rounds_to_what_was_printed(files: tiny.Files, itinera: Command) -> None:
    for printed, agrees in (("0.63", True), ("0.633", True), ("0.634", False), ("63.3", True), ("63.4", False)):
        told = itinera("audit", files.predictions, *files.options, "--published", f"SPL={printed}", "--json").json
        (paper,) = [suite for suite in told["suites"] if suite["suite"] == "paper"]
        assert paper["agrees"]["SPL"] is agrees


def test_walks_with_repeats_are_tried_with_and_without_them(files: tiny.Files, itinera: Command) -> None:
    walks = files.write("walks.json", tiny.predictions(tiny.PERFECT | {"1_0": "aabc"}))
    told = itinera("audit", walks, *files.options, "--published", "steps=2.0", "--json").json
    assert {match["repeats"] for match in told["matches"]} == {"drop"}
    assert len(told["suites"]) == 2 * len(PATH_SUITES)
    assert "paper (repeats dropped)" in itinera("audit", walks, *files.options, "--published", "steps=2.0").out


def test_suites_that_refuse_the_walks_are_no_match(files: tiny.Files, itinera: Command) -> None:
    walks = files.write("walks.json", tiny.predictions(tiny.PERFECT | {"1_0": "ac"}))
    told = itinera("audit", walks, *files.options, "--published", "SR=1", "--json").json
    refusing = {suite["suite"] for suite in told["suites"] if suite["refused"]}
    assert {"paper", "m3ds"} <= refusing
    assert {match["suite"] for match in told["matches"]} == PATH_SUITES - refusing


def test_numbers_nobody_gives_are_told(files: tiny.Files, itinera: Command) -> None:
    outcome = itinera("audit", files.predictions, *files.options, "--published", "SR=0.12")
    assert outcome.code == 0
    assert "No suite gives these numbers" in outcome.out


@pytest.mark.parametrize(
    ("number", "said"),
    [("SR", "'SR' is not METRIC=NUMBER"), ("SR=high", "'SR=high' is not METRIC=NUMBER"), ("=5", "is not METRIC=NUMBER"),
     ("SSR=0.5", "No suite has a metric SSR; there are CLS, ")],
)  # fmt: skip
def test_what_is_no_number_is_told(files: tiny.Files, itinera: Command, number: str, said: str) -> None:
    outcome = itinera("audit", files.predictions, *files.options, "--published", number)
    assert outcome.code == 2
    assert said in outcome.err


def test_a_metric_that_would_tell_the_suites_apart_is_named(files: tiny.Files, itinera: Command) -> None:
    """A reference that turns back is 8 m long though its goal is 4 m away: SPL tells suites apart that agree in SR."""
    tasks = files.write("tasks.json", [tiny.path(1, "house", "ababc"), tiny.path(2, "hut", "pqr")])
    walks = files.write("walks.json", tiny.predictions({"1_0": "ababc", "2_0": "pqr"}))
    options = ("--tasks", tasks, "--worlds", files.worlds, "--published", "SR=100")
    found = itinera("audit", walks, *options)
    assert " would tell them apart: " in found.out
    told = itinera("audit", walks, *options, "--json").json
    assert told["separating_metric"] in {name for suite in told["suites"] for name in suite["metrics"]} - {"SR"}


def test_the_values_that_tell_suites_apart_are_those_they_print() -> None:
    # SR is published; SPL has two values, nDTW three, and m3ds lacks nDTW. 0.5004 and 0.4996 are both printed as 50.0.
    found = Audit(
        parse_published({"SR": "0.5"}),
        (
            SuiteMeans("paper", "keep", {"SR": 0.5, "SPL": 0.5004, "nDTW": 0.4, "PL": 9.0}),
            SuiteMeans("hamt", "keep", {"SR": 0.5, "SPL": 0.4996, "nDTW": 0.5, "PL": 9.0}),
            SuiteMeans("vlnce", "drop", {"SR": 0.5, "SPL": 0.6, "nDTW": 0.6, "PL": 9.0}),
            SuiteMeans("m3ds", "keep", {"SR": 0.5, "SPL": 0.6, "PL": 9.0}),
            SuiteMeans("google", "keep", {"SR": 0.6, "SPL": 0.9, "nDTW": 0.9, "PL": 8.0}),
        ),
    )
    assert found.separating_metric == "nDTW"
    assert found.verdict.endswith(
        "nDTW would tell them apart: 40.0 % by paper; 50.0 % by hamt; 60.0 % by vlnce (repeats dropped); m3ds lacks it."
    )
    assert replace(found, suites=found.suites[:1]).verdict == "The published numbers are those of: paper."
    alike = replace(found, suites=(found.suites[0], replace(found.suites[0], suite="other")))
    assert alike.verdict.endswith("No other metric tells them apart on these predictions, as papers print it.")
