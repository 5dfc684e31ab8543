"""The training recipes from beginning to end on a small season, for seconds instead of hours."""

from __future__ import annotations

import math
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
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
def test_pointnav_agents_go_from_houses_to_their_table_and_claims(season, tmp_path):
    options = ("--steps", 2048, "--seeds", 2, "--drives", "point-turn", "unicycle-6", "--rewards", "shaped",
               "--houses", 2, "--episodes", 2, "--held-out", "--season", season, "--out", tmp_path / "out")  # fmt: skip
    first = run_recipe("sct_agents", *options)
    assert first.returncode == 0, first.stderr
    for words in ("SCT∩", "unicycle-6", "paper", "Solved by all agents of a seed", "completes faster than point-turn"):
        assert words in first.stdout
    assert " steps/s" in first.stderr
    again = run_recipe("sct_agents", *options)
    assert " steps/s" not in again.stderr
    assert again.stdout == first.stdout
    # With an agent less and one that was never trained, the report prints what there is and trains nothing.
    (tmp_path / "out" / "models" / "unicycle-6 shaped seed 1.safetensors").unlink()
    report = run_recipe("sct_agents", *options, "--rewards", "shaped", "decaying", "--report")
    assert report.returncode == 0, report.stderr
    assert " steps/s" not in report.stderr
    assert "2 × 0.00205 M steps" in report.stdout
    assert "1 × 0.00205 M steps" in report.stdout
    nothing = run_recipe("sct_agents", *options[:-1], tmp_path / "elsewhere", "--report")
    assert nothing.returncode == 1
    assert "no agent is finished" in nothing.stderr


@pytest.mark.slow
def test_segmentation_goes_from_houses_to_its_table(tmp_path):
    options = ("--minutes", 0.03, "--houses", 2, "--frames", 8, "--out", tmp_path / "out")
    first = run_recipe("segmentation", *options)
    assert first.returncode == 0, first.stderr
    for words in ("2 val-unseen houses", "object mIoU", "chest_of_drawers"):
        assert words in first.stdout
    again = run_recipe("segmentation", *options)
    assert " steps/s" not in again.stderr
    assert again.stdout == first.stdout


def load_recipe(name):
    return runpy.run_path(str(RECIPES / f"{name}.py"))


def test_stages_of_stay_on_the_path_keep_their_names_and_lengths():
    # Names decide the random streams and the model files: with others, trained agents would not be found again.
    stages = {stage.name: stage.steps for part in load_recipe("stay_on_the_path")["plan"](2600, 1) for stage in part}
    assert stages == {
        "R2R cloned 0": 1690,
        "R2R geometry 0": 1690,
        "R2R speaker 0": 780,
        "R2R goal 0": 910,
        "R2R fidelity 0": 910,
        "R4R cloned 0": 312,
        "R2R augmented 0": 1690,
        "R2R speaker-follower 0": 910,
        "R4R goal mixed 0": 832,
        "R4R fidelity mixed 0": 832,
        "R4R speaker-follower 0": 2028,
        "R4R goal 0": 884,
        "R4R fidelity 0": 884,
    }


def test_a_stage_starts_from_an_earlier_round():
    finished = {""}
    for part in load_recipe("stay_on_the_path")["plan"](100, 1, ("geometry", "longer")):
        assert {stage.previous for stage in part} <= finished
        finished |= {f"{stage.task} {stage.part}" for stage in part}
    assert {"R4R goal geometry", "R4R fidelity geometry", "R4R goal longer", "R4R fidelity longer"} <= finished


def test_every_published_row_of_stay_on_the_path_has_both_splits_and_is_printed():
    recipe = load_recipe("stay_on_the_path")
    published = recipe["PUBLISHED"]
    assert len(published) == 14  # rows 3 to 9 of Table 3, rows 1 to 7 of Table 4
    assert {len(values) for values in published.values()} == {10}
    assert published.keys() <= {row for task in ("R2R", "R4R") for row in recipe["table_rows"](task, ())}
    assert published["R2R", "speaker-follower", "all words"][5:] == (15.2, 6.36, 35.3, 28.1, 42.9)
    assert published["R4R", "speaker-follower", "all words"][5:] == (19.9, 8.47, 23.8, 12.2, 29.6)


def test_every_published_row_of_tour_memory_has_all_columns_on_both_splits():
    recipe = load_recipe("tour_memory")
    assert tuple(recipe["PUBLISHED"]) == recipe["SPLITS"]
    for rows in recipe["PUBLISHED"].values():
        assert set(rows) == {1, 2, 3, 4, 5}
        assert {len(row.split()) for row in rows.values()} == {len(recipe["METRICS"])}


def test_the_published_mean_of_the_skills_is_their_mean():
    for *scores, mean in load_recipe("skills")["PUBLISHED"].values():
        assert sum(scores) / 4 == pytest.approx(mean, abs=0.006)


GROUND = {
    "iterative_latent": (("Table 3, val-seen", "Table 3, val-unseen", "PoolEndCMA", "memory lowers SR"), ("--dagger",)),
    "iterative_maps": (("Table 4, val-seen", "Table 4, val-unseen", "rows 14 − 5", "known maps"), ("--segmentation",)),
}


@pytest.mark.slow
@pytest.mark.parametrize("recipe", GROUND)
def test_a_recipe_on_the_ground_goes_from_houses_to_its_table(recipe, season, tmp_path):
    words, (option,) = GROUND[recipe]
    more = [option] if option == "--dagger" else [option, write_segmentation(tmp_path / "tiny.safetensors")]
    sizes = ("--houses", 1, "--tour-episodes", 2, "--rollouts", 4, "--steps", 8, "--seeds", 1, "--workers", 1)
    options = (*sizes, *more, "--season", season, "--out", tmp_path / "out")
    first = run_recipe(recipe, *options)
    assert first.returncode == 0, first.stderr
    for text in words:
        assert text in first.stdout
    assert " steps/s" in first.stderr
    again = run_recipe(recipe, *options)
    assert " steps/s" not in again.stderr
    assert "evaluated" not in again.stderr
    assert _rows(again.stdout) == _rows(first.stdout)


def write_segmentation(file):
    """A segmentation network with random weights."""
    import torch

    from itinera.policies.checkpoint import build_model, encode_model, make_card
    from itinera.policies.segmentation.rgbd_unet import RGBDUNetConfig
    from itinera.policies.tokenizer import Tokenizer
    from itinera.worlds.labels import MAP_CLASSES

    torch.manual_seed(0)
    card = make_card("rgbd-unet", RGBDUNetConfig(), MAP_CLASSES, Tokenizer(()))
    file.write_bytes(encode_model(build_model(card)))
    return file


@pytest.mark.parametrize(("recipe", "rows"), [("iterative_latent", 4), ("iterative_maps", 18)])
def test_every_published_row_on_the_ground_has_all_columns_on_both_splits(recipe, rows):
    names = load_recipe(recipe)
    assert tuple(names["PUBLISHED"]) == ("val_seen", "val_unseen")
    assert list(names["ROWS"]) == list(range(1, rows + 1))
    for of_split in names["PUBLISHED"].values():
        assert list(of_split) == list(names["ROWS"])
        assert {len(row.split()) for row in of_split.values()} == {len(names["METRICS"])}


@pytest.mark.slow
def test_pretrained_agents_are_trained_one_after_another(season, tmp_path):
    options = (season, "--steps", 2, "--out", tmp_path, "--workers", 1)
    assert run_recipe("trained_agents", *options, "rcm", folder=tmp_path).stdout.startswith("rcm: {'SR'")
    done = run_recipe("trained_agents", *options, "rcm-goal", folder=tmp_path)
    assert done.stdout.startswith("rcm-goal: {'SR'"), done.stderr
    assert itinera.load_agent(tmp_path / "rcm-goal.safetensors").requirements.views == "annotations"


@pytest.mark.slow
def test_decision_agents_are_scored_with_their_own_and_with_other_instructions(season, tmp_path):
    options = (season, "--steps", 2, "--seeds", 1, "--agents", "panorama", "classes", "--out", tmp_path / "out")
    first = run_recipe("reading", *options)
    assert first.returncode == 0, first.stderr
    rows = _rows(first.stdout)
    assert any("│ panorama" in row for row in rows)
    assert any("│ classes" in row for row in rows)
    assert sum("panorama" in row and "hold" in row for row in rows) == 3
    again = run_recipe("reading", *options)
    assert " steps/s" not in again.stderr
    assert _rows(again.stdout) == rows


@pytest.mark.slow
def test_agents_that_see_images_are_tested_in_each_appearance(season, tmp_path):
    options = (season, "--minutes", 0.02, "--epochs", 0.02, "--seeds", 1, "--out", tmp_path / "out")
    first = run_recipe("appearance_transfer", *options)
    assert first.returncode == 0, first.stderr
    rows = _rows(first.stdout)
    for name in ("textured", "flat", "randomized"):
        assert sum(f"│ {name} " in row for row in rows) >= 4  # trained on it: three rows; tested on it: three
    again = run_recipe("appearance_transfer", *options)
    assert " steps/s" not in again.stderr
    assert _rows(again.stdout) == rows


def test_average_precision_is_that_of_a_ranking_worked_by_hand():
    average_precision = load_recipe("appearance_transfer")["average_precision"]
    truth, estimate = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.9, 0.8, 0.7, 0.1])
    assert average_precision(truth, estimate) == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert math.isnan(average_precision(np.zeros(4), estimate))


@pytest.mark.parametrize("recipe", sorted(file.stem for file in RECIPES.glob("*.py")))
def test_a_recipe_explains_itself(recipe, tmp_path):
    done = run_recipe(recipe, "--help", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "usage:" in done.stdout.lower()
    assert "--steps" in done.stdout or recipe not in TABLES
    assert list(tmp_path.iterdir()) == []


def _rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if "│" in line or "hold" in line]
