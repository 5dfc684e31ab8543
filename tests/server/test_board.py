"""The board computes what `itinera score` and `itinera compare` compute; sealed scores are rounded to their noise."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import itinera
from itinera.errors import BadArgument
from itinera.server.board import Board, encode_board, find_step, make_board, seal_verdict
from itinera.server.exports import encode_csv, encode_eval_results, encode_latex
from itinera.server.html import Site, render_board
from itinera.server.judge import make_verdict
from server.boards import COLUMNS, NOON, a_board, judged, rows
from submitting import VERDICT

RATES = {"e1": 0.55, "e2": 0.53, "e3": 0.2}


def test_means_intervals_and_letters_are_those_of_score_and_compare():
    tables = {name: rows(name, rate) for name, rate in RATES.items()}
    board = a_board([judged(name, table) for name, table in tables.items()])
    compared = itinera.compare(tables)
    assert [entry.id for entry in board.entries] == sorted(tables, key=lambda name: -tables[name].mean("SR"))
    for metric in ("SR", "SPL", "NE"):
        for position, name in enumerate(tables):
            score, interval = board[name].scores[metric], tables[name].interval(metric)
            assert (score.mean, score.low, score.high) == (interval.mean, interval.low, interval.high)
            assert score.mean == pytest.approx(compared[metric].means[position], abs=1e-12)
            assert score.letters == compared[metric].letters[position]
    assert board["e1"].scores["SR"].letters == board["e2"].scores["SR"].letters == "a"  # tied
    assert board["e3"].scores["SR"].letters == "b"
    assert board["e3"].scores["PL"].letters == ""  # neither way is better


def test_lower_is_better_where_it_is():
    board = a_board(metric="NE")
    assert [entry.id for entry in board.entries][-1] == "e3"
    assert board.ranked_column.better == "lower"


def test_ties_in_the_mean_are_ordered_by_time():
    table = rows("x", 0.5)
    late, early = judged("e2", table), judged("e1", table)
    assert [entry.id for entry in a_board([late, early]).entries] == ["e1", "e2"]


def test_an_entry_without_the_ranked_metric_comes_last():
    entries = [judged("e1", None, scores={"PL": (9.0, 8.0, 10.0)}), judged("e2", rows("x", 0.3))]
    assert [entry.id for entry in a_board(entries).entries] == ["e2", "e1"]


def test_spread_is_over_the_runs_of_a_method_of_a_team():
    table = rows("x", 0.5)
    means = (0.5, 0.6, 0.7)
    runs = [
        judged(f"e{k}", table, team_key="t", method="M", scores={"SR": (mean, mean - 0.1, mean + 0.1)})
        for k, mean in enumerate(means, start=1)
    ]
    others = [judged("e4", table, team_key="t", method="other"), judged("e5", table, team_key="u", method="M")]
    board = a_board([*runs, *others])
    assert board["e1"].spread == board["e3"].spread == pytest.approx(0.1)
    assert board["e4"].spread is board["e5"].spread is None


def test_the_best_of_several_entries_of_a_method_is_compared_as_such():
    rival, best = judged("e9", rows("rival", 0.3), team_key="u"), rows("best", 0.55)
    alone = a_board([rival, judged("e0", best, team_key="t", method="M")])
    assert (alone["e0"].scores["SR"].letters, alone["e9"].scores["SR"].letters) == ("a", "b")
    # Four more entries of the method, which differ so much that the best of five says little.
    others = [
        judged(f"e{k}", None, team_key="t", method="M", scores={"SR": (mean, mean - 0.1, mean + 0.1)})
        for k, mean in enumerate((0.1, 0.2, 0.3, 0.5), start=1)
    ]
    board = a_board([rival, judged("e0", best, team_key="t", method="M"), *others])
    assert board["e0"].scores["SR"].letters == board["e9"].scores["SR"].letters == "a"
    assert board["e0"].scores["SR"].mean == best.mean("SR")  # the score is the reported one


def test_only_entries_judged_like_the_newest_are_shown():
    old = judged("e1", None, scores={"SR": (0.9, 0.8, 1.0)}, fingerprint="old")
    board = a_board([old, judged("e2", rows("x", 0.5))])
    assert [entry.id for entry in board.entries] == ["e2"]
    assert (board.outdated, board.fingerprint) == (1, "f00d" * 4)


def test_entries_of_other_episodes_are_not_compared():
    with pytest.raises(BadArgument, match="does not have the same episodes"):
        a_board([judged("e1", rows("x", 0.5)), judged("e2", rows("y", 0.5, scenes=11))])


def test_only_the_best_entries_are_compared(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("itinera.server.board.MOST_COMPARED", 2)
    loaded: list[str] = []

    def entry(name: str, rate: float):
        table = rows(name, rate)

        def load():
            loaded.append(name)
            return table

        return judged(name, table, load_rows=load)

    board = a_board([entry("e3", 0.2), entry("e1", 0.55), entry("e2", 0.53)])
    assert sorted(loaded) == ["e1", "e2"]
    assert board["e3"].scores["SR"].letters == ""


def test_an_unknown_metric_is_refused_and_an_empty_board_is_not():
    with pytest.raises(BadArgument, match="is ordered by SCT, which no entry has; there are SR, SPL, NE, PL"):
        a_board(metric="SCT")
    assert make_board("May", "test", [], columns=COLUMNS, updated=NOON) == Board(
        "May", "test", "SR", (), (), NOON, sealed=False
    )


def test_sealed_scores_are_rounded_to_their_noise():
    table = rows("x", 0.5)
    score = (0.46871, 0.4012, 0.5391)
    board = a_board([judged("e1", table, scores={"SR": score, "NE": (4.3141, 3.9, 4.8)})], sealed=True)
    assert board.sealed
    rounded = board["e1"].scores
    assert (rounded["SR"].mean, rounded["SR"].low, rounded["SR"].high) == (0.46, 0.4, 0.54)
    assert (rounded["NE"].mean, rounded["NE"].low, rounded["NE"].high) == (4.4, 3.8, 4.8)


def test_the_order_of_sealed_entries_tells_no_more_than_their_scores():
    """The later entry is better by less than a step: it stays behind the earlier one."""
    better = judged("e2", None, scores={"SR": (0.4699, 0.40, 0.54)})
    earlier = judged("e1", None, scores={"SR": (0.4601, 0.39, 0.53)})
    assert [entry.id for entry in a_board([better, earlier]).entries] == ["e2", "e1"]
    assert [entry.id for entry in a_board([better, earlier], sealed=True).entries] == ["e1", "e2"]


@given(
    mean=st.floats(0, 1),
    below=st.floats(0, 0.3),
    above=st.floats(0, 0.3),
    nudge=st.floats(-1, 1),
)
def test_a_nudge_below_the_noise_moves_a_sealed_score_by_a_step_at_most(
    mean: float, below: float, above: float, nudge: float
):
    low, high = max(0.0, mean - below), min(1.0, mean + above)
    step = find_step((mean, low, high), "")
    assert step > 0
    error = (high - low) / 4
    if error > 1e-12:
        assert error / 2.51 <= step <= error * 1.001
    moved = min(1.0, max(0.0, mean + nudge * step / 2))
    boards = [a_board([judged("e1", None, scores={"SR": (m, low, high)})], sealed=True) for m in (mean, moved)]
    first, second = (board["e1"].scores["SR"] for board in boards)
    assert abs(first.mean - second.mean) <= step * 1.001
    assert abs(first.mean - mean) <= step * 0.501
    assert first.low <= low + 1e-9
    assert first.high >= high - 1e-9
    assert 0 <= first.mean <= 1


def test_a_single_episode_has_a_mean_without_interval_everywhere():
    verdict = make_verdict(rows("x", 0.5, scenes=1, per_scene=1), badge="replayed", stopped=1, failed=0)
    assert verdict.scores["NE"][1:] == (0.0, None)
    entry = judged("e1", None, scores={"SR": (0.0, 0.0, math.nan), "NE": (4.3141, 0.0, math.nan)})
    board = a_board([entry], sealed=True)
    assert board["e1"].scores["NE"].mean == 4.3  # rounded all the same
    assert json.loads(encode_board(board))["entries"][0]["scores"]["SR"]["high"] is None
    page = render_board(Site("May", ("test",)), board)
    assert "nan" not in page.lower()
    assert 'class="interval"' not in page
    assert b",nan" not in encode_csv(board)
    assert b"[" not in encode_latex(board).split(b"midrule")[1]
    assert b"no interval: too few episodes" in encode_eval_results(board, board["e1"], dataset="a/b")


def test_infinite_scores_stay_infinite():
    entry = judged("e1", None, scores={"SR": (0.5, 0.4, 0.6), "NE": (math.inf, math.inf, math.inf)})
    assert a_board([entry], sealed=True)["e1"].scores["NE"].mean == math.inf


def test_pooled_and_plain_rows_give_the_same_letters_as_before():
    """`align_metrics` gives what `compare` compares, in the same order of episodes."""
    from itinera.reports.alignment import align_metrics

    first, second = rows("x", 0.5), rows("y", 0.4)
    order = np.arange(len(second))[::-1]
    turned = replace(
        second,
        episode_ids=tuple(second.episode_ids[i] for i in order),
        world_ids=tuple(second.world_ids[i] for i in order),
        values={name: column[order] for name, column in second.values.items()},
    )
    aligned = {metric.column.name: metric for metric in align_metrics(("a", "b"), (first, turned))}
    np.testing.assert_array_equal(aligned["SR"].values, [first["SR"], second["SR"]])


def test_a_sealed_verdict_is_rounded_as_its_board_and_has_no_scenes():
    scores = {
        "SR": (0.4687, 0.4, 0.54),
        "NE": (4.31, 3.9, 4.8),
        "SPL": (0.3333, None, None),
        "nDTW": (0.999, 0.99, 1.0),
    }
    sealed = seal_verdict(msgspec.structs.replace(VERDICT, scores=scores))
    assert sealed.scores == {
        "SR": (0.46, 0.4, 0.54),
        "NE": (4.4, 3.8, 4.8),
        "SPL": (0.33, None, None),
        "nDTW": (1.0, 0.99, 1.0),
    }
    assert sealed.scenes == {}
