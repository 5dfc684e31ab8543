"""Logs of scores are read by TensorBoard itself, and hold what the tables say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from itinera.errors import BadArgument
from itinera.formats.score_logs import EVENTS, HISTORY, SUMMARY, check_steps, find_steps, list_scalars, write_logs
from reports.example_tables import table

TABLES = [table("aabbcc", SR=values, NE=[1.0, 2, 3, 4, 5, 6]) for values in ([0] * 6, [1, 0] * 3, [1, 1, 1, 0, 1, 1])]


def test_tensorboard_reads_the_events(tmp_path: Path) -> None:
    loader = pytest.importorskip("tensorboard.backend.event_processing.event_file_loader")
    write_logs(tmp_path, TABLES, [100, 200, 5000])
    events = list(loader.LegacyEventFileLoader(str(tmp_path / EVENTS)).Load())
    assert events[0].file_version == "brain.Event:2"
    rates = [(e.step, v.simple_value) for e in events for v in e.summary.value if v.tag == "score/SR"]
    assert rates == [(100, 0.0), (200, 0.5), (5000, pytest.approx(5 / 6))]


def test_the_history_has_a_line_per_step_and_the_summary_is_the_last(tmp_path: Path) -> None:
    write_logs(tmp_path, TABLES, [30, 10, 20])
    rows = [json.loads(line) for line in (tmp_path / HISTORY).read_text().splitlines()]
    assert [row["_step"] for row in rows] == [10, 20, 30]
    assert rows[-1] == json.loads((tmp_path / SUMMARY).read_text()) == {"_step": 30, **list_scalars(TABLES[0])}
    interval = TABLES[1].interval("SR")
    assert (rows[0]["SR"], rows[0]["SR/low"], rows[0]["SR/high"]) == (0.5, interval.low, interval.high)


def test_an_infinite_mean_is_left_out() -> None:
    assert list_scalars(table("aabb", NE=[1, 2, float("inf"), 3])) == {}


@pytest.mark.parametrize(
    ("names", "steps"),
    [
        (["step100.jsonl", "step20.jsonl"], [100, 20]),
        (["v2_ckpt_7.jsonl", "v2_ckpt_8.jsonl"], [7, 8]),
        (["a1.jsonl", "b1.jsonl"], [0, 1]),
        (["a.jsonl", "b2.jsonl"], [0, 1]),
    ],
)
def test_steps_are_the_numbers_of_the_names(names: list[str], steps: list[int]) -> None:
    assert find_steps([Path(name) for name in names]) == steps


def test_steps_must_differ() -> None:
    with pytest.raises(BadArgument, match="2 results need as many different steps"):
        check_steps([1, 1], 2)
