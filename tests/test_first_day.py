"""The newcomer's day: every step of `recipes/first_day.py` runs and prints its result."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RECIPE = Path(__file__).parents[1] / "recipes" / "first_day.py"
TITLES = [step.__doc__ for step in runpy.run_path(str(RECIPE))["STEPS"]]
RESULTS = ("SPL % ↑", "straight − baseline", "world_id", "replay.html", "t-nDTW", "skill scores", "TimeBounds(")


def run_day(*options: object, data: str | None = None) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "ITINERA_DATA"}
    environment |= {} if data is None else {"ITINERA_DATA": data}
    command = [sys.executable, str(RECIPE), *map(str, options)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_day(printed: str, out: Path) -> None:
    for number, title in enumerate(TITLES, start=1):
        assert f"{number}. {title}" in printed
    for words in RESULTS:
        assert words in printed
    assert (out / "report.html").exists()
    assert (out / "replay.html").exists()


def test_a_small_day_prints_every_step(season, tmp_path):
    hearth = tmp_path / "hearth"
    shutil.copytree(season, hearth)
    episodes = json.loads((hearth / "r2r" / "R2R_val_unseen.json").read_text())[:8]
    for split in ("train", "val_seen", "val_unseen"):
        (hearth / "r2r" / f"R2R_{split}.json").write_text(json.dumps(episodes))
    check_day(run_day("--out", tmp_path, "--steps", 2, "--episodes", 4), tmp_path)


@pytest.mark.slow
def test_the_whole_day_on_hearth(tmp_path):
    check_day(run_day("--out", tmp_path), tmp_path)


@pytest.mark.slow
@pytest.mark.real
def test_the_whole_day_on_real_data(data, tmp_path):
    check_day(run_day("--out", tmp_path, data=str(data)), tmp_path)
