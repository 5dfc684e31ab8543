"""`itinera train-pointnav`: a model file from houses, messages, and one agent of two processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

QUICK = ("--steps", "512", "--num-envs", "8", "--sensor", "none")


def tasks_of(season):
    return season / "pointnav" / "val_unseen" / "val_unseen.json.gz"


def test_it_writes_a_model_that_runs_on_its_own_robot_only(itinera, season, tmp_path):
    out = tmp_path / "driver.safetensors"
    tasks = tasks_of(season)
    done = itinera("train-pointnav", tasks, "--worlds", season, *QUICK, "--drive", "unicycle-6", "--out", out)
    assert done.code == 0, done.err
    assert done.out.strip() == f"{out}: 512 steps of a unicycle-6 robot."
    again = itinera(
        "train-pointnav", tasks, "--worlds", season, *QUICK, "--drive", "unicycle-6", "--out", out, "--json"
    )
    assert json.loads(again.out)["drive"] == "unicycle-6"
    common = ("--agent", out, "--tasks", tasks, "--worlds", season, "--max-episodes", "1", "--workers", "0")
    wrong = itinera("run", *common, "--drive", "point-turn", "--out", tmp_path / "wrong.jsonl")
    assert wrong.code == 2
    assert "--drive unicycle-6" in wrong.err
    run = itinera("run", *common, "--drive", "unicycle-6", "--out", tmp_path / "driven.jsonl")
    assert run.code == 0, run.err
    assert "1 episode" in run.out
    views = itinera("run", *common, "--drive", "unicycle-6", "--camera", "32x32", "--out", tmp_path / "camera.jsonl")
    assert views.code == 2
    assert "its own sensor" in views.err


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--sensor", "sonar", "--steps", "10"), "sensor"),
        (("--drive", "tricycle", "--steps", "10"), "drive"),
        ((), "one of them"),
        (("--steps", "10", "--minutes", "1"), "one of them"),
    ],
)
def test_impossible_options_are_told(itinera, season, tmp_path, options, word):
    done = itinera(
        "train-pointnav", tasks_of(season), "--worlds", season, *options, "--out", tmp_path / "x.safetensors"
    )
    assert done.code == 2
    assert word in done.err
    assert not (tmp_path / "x.safetensors").exists()


@pytest.mark.slow
def test_two_processes_under_torchrun_train_one_agent(season, tmp_path):
    out = tmp_path / "driver.safetensors"
    source = str(Path(__file__).parents[2] / "src")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "itinera",
               "train-pointnav", tasks_of(season), "--worlds", season, *QUICK, "--out", out]  # fmt: skip
    done = subprocess.run(
        [*map(str, command)],
        env={**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert out.exists()
    assert not out.with_name(f"{out.name}.partial").exists()
