"""Log messages and TensorBoard curves of training, also of a killed run."""

from __future__ import annotations

import logging
import subprocess
import sys

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from itinera.training import progress
from itinera.training.evaluation import EvaluationScores
from itinera.training.progress import TrainingLog


@pytest.fixture
def seconds(monkeypatch):
    """A clock that advances by half a second at every call."""
    now = iter(np.arange(0.0, 1e6, 0.5).tolist())
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))


@pytest.fixture
def messages(caplog):
    caplog.set_level(logging.INFO, logger="itinera")
    return caplog


def scores():
    columns = {name: np.tile([0.0, 1.0], 4) for name in ("SR", "SPL", "CLS")} | {"NE": np.arange(8.0)}
    return EvaluationScores(columns, list("aabbccdd"), ((0,),) * 8, np.ones(8, dtype=bool))


def curves(folder):
    found = EventAccumulator(str(folder))
    found.Reload()
    return {name: [(e.step, e.value) for e in found.Scalars(name)] for name in found.Tags()["scalars"]}


def test_messages_contain_loss_pace_and_remaining_time(tmp_path, seconds, messages):
    with TrainingLog("rcm", total=5, every=2, folder=tmp_path) as log:
        for step in range(1, 6):
            log.on_step(step, float(step))
    assert [record.getMessage() for record in messages.records] == [
        "rcm: 2 of 5 steps, loss 1.500, 4.0 steps/s, 0 min left",
        "rcm: 4 of 5 steps, loss 3.500, 4.0 steps/s, 0 min left",
        "rcm: 5 of 5 steps, loss 5.000, 2.0 steps/s, 0 min left",
    ]
    assert curves(tmp_path)["loss"] == [(2, 1.5), (4, 3.5), (5, 5.0)]


def test_scores_have_intervals(tmp_path, messages):
    with TrainingLog("rcm", total=9, folder=tmp_path) as log:
        log.log_scores(4, "val_seen", scores(), ("SR", "NE"))
    (message,) = [record.getMessage() for record in messages.records]
    assert message.startswith("rcm: 4 of 9 steps, val_seen: SR 50.0 (")
    assert "NE 3.5 (" in message
    assert curves(tmp_path) == {"val_seen/SR": [(4, 0.5)], "val_seen/NE": [(4, 3.5)]}


def test_a_resumed_run_continues_the_same_curves(tmp_path):
    first = TrainingLog("rcm", total=8, every=2, folder=tmp_path)
    for step in range(1, 7):
        first.on_step(step, 1.0)  # then it was killed: nothing is closed
    with TrainingLog("rcm", total=8, every=2, folder=tmp_path) as again:
        for step in range(3, 9):
            again.on_step(step, 2.0)
    assert curves(tmp_path)["loss"] == [(2, 1.0), (4, 2.0), (6, 2.0), (8, 2.0)]
    first.__exit__()


def test_without_tensorboard_there_are_messages(tmp_path, monkeypatch, messages):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard.writer", None)
    with TrainingLog("rcm", total=1, folder=tmp_path / "rcm") as log:
        log.on_step(1, 1.0)
    assert "1 of 1 steps" in messages.text
    assert not (tmp_path / "rcm").exists()


def test_a_script_prints_messages_to_stderr():
    program = """
from itinera.training.progress import TrainingLog, log_to_stderr
log_to_stderr()
log_to_stderr()
TrainingLog("rcm", total=1).on_step(1, 1.0)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.startswith("rcm: 1 of 1 steps, loss 1.000")
    assert len(done.stderr.splitlines()) == 1


def test_messages_are_printed_unless_the_program_shows_them(capsys):
    logger = logging.getLogger("itinera")
    level = logger.level
    with progress.print_messages():
        TrainingLog("rcm", total=1).on_step(1, 1.0)
    assert capsys.readouterr().err.startswith("rcm: 1 of 1 steps, loss 1.000")
    assert (logger.level, logger.handlers) == (level, [])
    logger.setLevel(logging.INFO)
    logger.addHandler(logging.NullHandler())
    try:
        with progress.print_messages():
            TrainingLog("rcm", total=1).on_step(1, 1.0)
    finally:
        logger.handlers.clear()
        logger.setLevel(level)
    assert capsys.readouterr().err == ""


def test_folders_for_curves_without_tensorboard_are_remarked_on(tmp_path, monkeypatch, messages):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard.writer", None)
    with TrainingLog("rcm", total=1, folder=tmp_path / "rcm") as log:
        log.on_step(1, 1.0)
    assert "TensorBoard is not installed" in messages.text
