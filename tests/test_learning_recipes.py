"""The training recipes from beginning to end on a small season, for seconds instead of hours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import itinera

RECIPES = Path(__file__).parents[1] / "recipes"
TABLES = {
    "stay_on_the_path": (
        *(f"Table {number}, {split}" for number in (3, 4) for split in ("val-seen", "val-unseen")),
        "speaker-follower",
        "CLS",
    ),
    "tour_memory": ("Table 2, val-seen", "Table 2, val-unseen", "PH TH PHI IW", "OSR", "t-nDTW"),
    "skills": ("Table 1", "Effects of the interventions", "stopping and turning before objects and rooms"),
}


@pytest.fixture(scope="module")
def season(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hearth") / "season"
    itinera.build_hearth(folder, houses=8, splits=("train", "val_seen", "val_unseen"))
    return folder


def run_recipe(recipe, *options, folder=None):
    environment = {name: value for name, value in os.environ.items() if name != "ITINERA_DATA"}
    command = [sys.executable, str(RECIPES / f"{recipe}.py"), *map(str, options)]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", TABLES)
def test_a_recipe_goes_from_houses_to_its_table(recipe, season, tmp_path):
    options = ("--minutes", 0.02, "--seeds", 1, "--season", season, "--out", tmp_path / "out")
    first = run_recipe(recipe, *options)
    assert first.returncode == 0, first.stderr
    for words in TABLES[recipe]:
        assert words in first.stdout
    assert " steps/s" in first.stderr
    # A second call trains nothing and prints the same rows.
    again = run_recipe(recipe, *options)
    assert " steps/s" not in again.stderr
    assert _rows(again.stdout) == _rows(first.stdout)


@pytest.mark.slow
def test_pretrained_agents_are_trained_one_after_another(season, tmp_path):
    options = (season, "--steps", 2, "--out", tmp_path, "--workers", 1)
    assert run_recipe("trained_agents", *options, "rcm", folder=tmp_path).stdout.startswith("rcm: {'SR'")
    done = run_recipe("trained_agents", *options, "rcm-goal", folder=tmp_path)
    assert done.stdout.startswith("rcm-goal: {'SR'"), done.stderr
    assert itinera.load_agent(tmp_path / "rcm-goal.safetensors").requirements.views == "annotations"


@pytest.mark.parametrize("recipe", sorted(file.stem for file in RECIPES.glob("*.py")))
def test_a_recipe_explains_itself(recipe, tmp_path):
    done = run_recipe(recipe, "--help", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "usage:" in done.stdout.lower()
    assert "--steps" in done.stdout or recipe not in TABLES
    assert list(tmp_path.iterdir()) == []


def _rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if "│" in line or "hold" in line]
