"""What the Hugging Face Hub reads: results with their intervals, and a section of a card."""

from __future__ import annotations

from datetime import date

import yaml

from itinera.formats.hub import encode_results, list_results, render_card
from itinera.records.runs import average_runs
from reports.example_tables import table

SCORES = table("aabbcc", SR=[1, 0] * 3, NE=[1.0, 2, 3, 4, 5, 6], PL=[9.0] * 6)


def test_results_have_the_mean_and_say_how_it_was_made() -> None:
    data = encode_results(list_results(SCORES, "val"), dataset="me/r2r", day=date(2026, 11, 19))
    rate, error = yaml.safe_load(data)  # PL has no better direction
    interval = SCORES.interval("SR")
    assert rate["dataset"] == {"id": "me/r2r", "task_id": "val.SR"}
    assert (rate["value"], rate["date"]) == (0.5, "2026-11-19")
    assert rate["notes"].startswith(f"95 % interval {interval.low:.4g} to {interval.high:.4g}; 6 episodes in 3 scenes")
    assert "suite paper (of paper), protocol r2r" in rate["notes"]
    assert (error["dataset"]["task_id"], error["value"]) == ("val.NE", 3.5)
    assert ", m; 6 episodes" in error["notes"]


def test_the_page_is_named_if_there_is_one() -> None:
    data = encode_results(list_results(SCORES, ""), dataset="a/b", day=date(2026, 1, 2), source=("https://x.org", "me"))
    assert yaml.safe_load(data)[0]["source"] == {"url": "https://x.org", "name": "me"}
    assert yaml.safe_load(data)[0]["dataset"]["task_id"] == "SR"


def test_an_infinite_mean_is_no_result() -> None:
    assert list_results(table("aabb", NE=[1, 2, float("inf"), 3]), "val") == []


def test_a_card_has_a_table_and_escapes_names() -> None:
    card = render_card("my *model*", average_runs("mine", [SCORES, SCORES]))
    assert card.startswith("## Evaluation: my \\*model\\*\n\n| metric | mean | 95 % interval |")
    assert "| SR % ↑ | 50.0 |" in card
    assert "mean of 2 runs" in card
