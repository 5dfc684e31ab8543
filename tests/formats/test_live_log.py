"""Logs of live sessions as files: recognized, counted, and refused with every fault."""

from __future__ import annotations

import pytest

import itinera as it
from itinera.errors import BadFile
from itinera.formats.live_log import END, FAILED, LiveLog, LiveTourLog, encode_live_log, read_live_log

TOURS = {3: LiveTourLog(3, [1, FAILED, END], {1: "lost"}), 0: LiveTourLog(0, [1, 2, 0])}


@pytest.fixture
def log(tmp_path):
    file = tmp_path / "session"  # the server names files by their digest
    file.write_bytes(encode_live_log("test", "ab" * 16, TOURS))
    return file


def test_a_log_with_failures_is_read_as_it_was_written(log):
    assert read_live_log(log) == LiveLog("test", "ab" * 16, (TOURS[0], TOURS[3]))


def test_a_log_is_recognized_and_its_answers_are_counted(log):
    assert str(it.check(log)) == f"{log}: the log of a live session; 2 tours, 6 answers. No faults."


def test_every_fault_of_a_log_is_reported(log):
    header, first, last = log.read_text().splitlines()
    log.write_text("\n".join([header, first.replace("2", "-9"), last, last]))
    with pytest.raises(BadFile) as refusal:
        it.check(log)
    assert [fault.where for fault in refusal.value.faults] == ["line 2", "line 4"]


def test_a_log_is_no_predictions(log):
    with pytest.raises(BadFile, match=r"holds the log of a live session .* where predictions are expected"):
        it.read_predictions(log)
