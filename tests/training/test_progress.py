"""Lines and curves of training, also of one that was killed."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from itinera.training import progress
from itinera.training.evaluation import Scores
from itinera.training.progress import Log


@pytest.fixture
def seconds(monkeypatch):
    """A clock that goes on by half a second for each look at it."""
    now = iter(np.arange(0.0, 1e6, 0.5).tolist())
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))


def scores():
    columns = {name: np.tile([0.0, 1.0], 4) for name in ("SR", "SPL", "CLS")} | {"NE": np.arange(8.0)}
    return Scores(columns, list("aabbccdd"), ((0,),) * 8, np.ones(8, dtype=bool))


def curves(folder):
    found = EventAccumulator(str(folder))
    found.Reload()
    return {name: [(e.step, e.value) for e in found.Scalars(name)] for name in found.Tags()["scalars"]}


def test_a_line_now_and_then_tells_loss_pace_and_what_is_left(tmp_path, seconds):
    told = io.StringIO()
    with Log(tmp_path / "rcm", total=5, every=2, told=told) as log:
        for step in range(1, 6):
            log.heard(step, float(step))
    assert told.getvalue().splitlines() == [
        "rcm: 2 of 5 steps, loss 1.500, 4.0 steps/s, 0 min left",
        "rcm: 4 of 5 steps, loss 3.500, 4.0 steps/s, 0 min left",
        "rcm: 5 of 5 steps, loss 5.000, 2.0 steps/s, 0 min left",
    ]
    assert curves(tmp_path / "rcm")["loss"] == [(2, 1.5), (4, 3.5), (5, 5.0)]


def test_early_scores_have_intervals(tmp_path, capsys):
    with Log(tmp_path / "rcm", total=9) as log:
        log.scored(4, "val_seen", scores(), ("SR", "NE"))
    err = capsys.readouterr().err
    assert err.startswith("rcm: 4 of 9 steps, val_seen: SR 50.0 (")
    assert "NE 3.5 (" in err
    assert curves(tmp_path / "rcm") == {"val_seen/SR": [(4, 0.5)], "val_seen/NE": [(4, 3.5)]}


def test_training_taken_up_again_goes_on_in_the_same_curves(tmp_path):
    first = Log(tmp_path, total=8, every=2, told=io.StringIO())
    for step in range(1, 7):
        first.heard(step, 1.0)  # then it was killed: nothing is closed
    with Log(tmp_path, total=8, every=2, told=io.StringIO()) as again:
        for step in range(3, 9):
            again.heard(step, 2.0)
    assert curves(tmp_path)["loss"] == [(2, 1.0), (4, 2.0), (6, 2.0), (8, 2.0)]
    first.__exit__()


def test_without_tensorboard_there_are_lines(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard.writer", None)
    with Log(tmp_path / "rcm", total=1) as log:
        log.heard(1, 1.0)
    assert "1 of 1 steps" in capsys.readouterr().err
    assert not (tmp_path / "rcm").exists()
