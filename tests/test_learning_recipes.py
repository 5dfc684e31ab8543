"""The recipes of learning, each from beginning to end on a small season, for seconds where they take hours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RECIPES = Path(__file__).parents[1] / "recipes"
TABLES = {
    "stay_on_the_path": ("Table 3, val-unseen", "Table 4, val-unseen", "CLS"),
    "tour_memory": ("Table 2, val-unseen", "PH TH PHI IW", "t-nDTW"),
    "skills": ("stopping and turning before objects and rooms",),
}


@pytest.fixture(scope="module")
def season(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hearth") / "season"
    build = ("build", "hearth", "--out", str(folder), "--houses", "8", "--splits", "train,val_seen,val_unseen")
    subprocess.run([sys.executable, "-m", "itinera.cli.main", *build], check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("recipe", TABLES)
def test_a_recipe_goes_from_houses_to_its_table(recipe, season, tmp_path):
    bare = {name: value for name, value in os.environ.items() if name != "ITINERA_DATA"}
    short = ("--minutes", "0.02", "--seeds", "1", "--season", str(season), "--out", str(tmp_path / "out"))
    command = [sys.executable, str(RECIPES / f"{recipe}.py"), *short]
    first = subprocess.run(command, env=bare, capture_output=True, text=True)
    assert first.returncode == 0, first.stderr
    for words in TABLES[recipe]:
        assert words in first.stdout
    # What is done is kept: a second call trains nothing and prints the same rows.
    again = subprocess.run(command, env=bare, capture_output=True, text=True)
    assert " steps/s" not in again.stderr
    assert _rows(again.stdout) == _rows(first.stdout)


def _rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if "│" in line or "held" in line]
