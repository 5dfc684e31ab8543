"""The bill of a run: prices worked by hand, a limit that holds, and an estimate."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.agents.services.answers import Usage
from itinera.agents.services.bill import Bill, CostLimit, cost, estimate_bill, estimate_usage, most_tokens
from itinera.agents.services.settings import ServiceSettings

SETTINGS = ServiceSettings("http://h", "choices", (2.0, 10.0), max_tokens=100, image_tokens=500)


def test_tokens_have_a_price():
    assert cost((2.0, 10.0), Usage(1_000_000, 0)) == 2.0
    assert cost((2.0, 10.0), Usage(1000, 200)) == pytest.approx(0.002 + 0.002)
    assert cost((0.0, 0.0), Usage(1000, 200)) == 0.0


@given(st.text(max_size=200), st.integers(0, 5))
def test_a_request_never_has_more_tokens_than_reserved(text, images):
    estimated = estimate_usage(len(text), images, "", SETTINGS)
    most = most_tokens(len(text.encode()), images, SETTINGS)
    assert estimated.prompt_tokens <= most.prompt_tokens
    assert most.completion_tokens == SETTINGS.max_tokens


def test_the_limit_holds(tmp_path):
    bill = Bill(tmp_path / "bills" / "b.jsonl", 1.0)
    bill.reserve(0.6)
    bill.settle(0.6, 0.5)
    bill.reserve(0.5)
    bill.settle(0.5, 0.1)
    assert bill.spent == pytest.approx(0.6)
    with pytest.raises(CostLimit, match=r"have cost 0\.6 US dollars, and the next one could exceed --max-cost 1"):
        bill.reserve(0.41)
    bill.reserve(0.4)


def test_processes_share_a_bill(tmp_path):
    path = tmp_path / "b.jsonl"
    first, second = Bill(path, 1.0), Bill(path, 1.0)
    first.reserve(0.7)
    with pytest.raises(CostLimit):
        second.reserve(0.7)
    first.settle(0.7, 0.1)
    second.reserve(0.7)  # it has read what the first one has changed
    with pytest.raises(CostLimit):
        first.reserve(0.3)


def test_a_killed_process_leaves_its_reserve(tmp_path):
    path = tmp_path / "b.jsonl"
    Bill(path, None).reserve(0.7)
    assert path.stat().st_size
    with pytest.raises(CostLimit):
        Bill(path, 1.0).reserve(0.4)


def test_a_line_that_was_cut_off_spoils_no_other(tmp_path):
    path = tmp_path / "b.jsonl"
    Bill(path, None).reserve(0.5)
    with path.open("ab") as stream:
        stream.write(b"[0.")
    other = Bill(path, 1.0)
    other.reserve(0.25)
    again = Bill(path, None)
    again.reserve(0.0)
    assert again.spent == pytest.approx(0.75)


def test_many_at_once_never_exceed_the_limit(tmp_path):
    def ask(k):
        bill = Bill(tmp_path / "b.jsonl", 1.0)
        try:
            bill.reserve(0.03)
        except CostLimit:
            return 0.0
        bill.settle(0.03, 0.02)
        return 0.02

    with ThreadPoolExecutor(4) as pool:
        spent = sum(pool.map(ask, range(100)))
    assert 0.9 < spent <= 1.0


def test_without_a_file_or_limit_costs_are_counted():
    bill = Bill(None, None)
    bill.reserve(5.0)
    bill.settle(5.0, 2.0)
    assert bill.spent == 2.0


def test_the_estimate_counts_questions():
    estimate = estimate_bill("choices", [5, 3], SETTINGS, images=False)
    assert (estimate.episodes, estimate.calls) == (2, 6 + 4)
    # 800 tokens for each question, and 40 more for each earlier one of the episode.
    assert estimate.prompt_tokens == 10 * 800 + 40 * (15 + 6)
    assert estimate.completion_tokens == 10 * 80
    assert estimate.cost == pytest.approx((2 * 8840 + 10 * 800) / 1e6)
    assert str(estimate) == "Estimate: 2 episodes, 10 calls, 8,840 + 800 tokens, about 0.03 US dollars."
    assert str(estimate_bill("choices", [5], replace(SETTINGS, price=None), images=False)).endswith("tokens.")


def test_images_are_estimated_too():
    plain, drawn = (estimate_bill("choices", [5], SETTINGS, images=images) for images in (False, True))
    assert drawn.prompt_tokens == plain.prompt_tokens + 6 * 4 * 500
    short = replace(SETTINGS, history=1)
    plain, drawn = (estimate_bill("words", [0.6], short, images=images) for images in (False, True))
    assert plain.calls == 3  # 0.8 moves, 1.2 turns, stop
    assert drawn.prompt_tokens == plain.prompt_tokens + (1 + 2 + 2) * 500
    assert estimate_bill("words", [7.5], SETTINGS, images=True).calls == 26  # 10 moves, 15 turns, stop
