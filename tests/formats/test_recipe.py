"""Recipes of training: typed values, paths relative to the file, and keys that are unknown."""

from __future__ import annotations

from dataclasses import fields
from inspect import signature
from pathlib import Path

import pytest

import itinera
from itinera.errors import BadFile
from itinera.formats.recipe import TrainingRecipe, read_recipe

RECIPE = """
policy = "rcm"
tasks = "r2r/R2R_train.json"
worlds = "../hearth"
out = "/models/rcm.safetensors"
steps = 20
learning_rate = 1e-3
views = "features.tsv"

[config]
hidden_dim = 8
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_recipe_is_the_arguments_of_train(tmp_path):
    assert read_recipe(write(tmp_path, RECIPE)) == {
        "policy": "rcm",
        "tasks": tmp_path / "r2r/R2R_train.json",
        "worlds": tmp_path / "../hearth",
        "out": Path("/models/rcm.safetensors"),
        "steps": 20,
        "learning_rate": 1e-3,
        "views": str(tmp_path / "features.tsv"),
        "config": {"hidden_dim": 8},
    }
    assert itinera.read_recipe(tmp_path / "recipe.toml")["steps"] == 20


def test_every_argument_of_train_that_a_file_can_hold_is_a_key():
    arguments = set(signature(itinera.train).parameters) - {"overwrite", "progress", "verbose"}
    assert {field.name for field in fields(TrainingRecipe)} == arguments


def test_names_are_kept_and_model_files_are_paths(tmp_path):
    for policy in ("hamt", "my_policy:Policy"):
        assert read_recipe(write(tmp_path, f'policy = "{policy}"')) == {"policy": policy}
    assert read_recipe(write(tmp_path, 'policy = "a.safetensors"')) == {"policy": str(tmp_path / "a.safetensors")}
    assert read_recipe(write(tmp_path, 'views = "annotations"')) == {"views": "annotations"}


def test_every_fault_of_a_recipe_is_reported_with_the_nearest_key(tmp_path):
    wrong = 'polcy = "rcm"\nsteps = 0\nreward = "gold"\nseed = "one"\nteacher_forcing_ratio = 2.0\ntasks = 3\n'
    with pytest.raises(BadFile) as error:
        read_recipe(write(tmp_path, wrong))
    message = str(error.value)
    assert len(error.value.faults) == 6
    assert "Did you mean policy?" in message
    for part in ("steps", "reward", "seed", "teacher_forcing_ratio", "tasks"):
        assert part in message


def test_what_is_not_toml_is_refused(tmp_path):
    with pytest.raises(BadFile, match="is not TOML"):
        read_recipe(write(tmp_path, "policy: rcm"))
    with pytest.raises(BadFile, match="no such file"):
        read_recipe(tmp_path / "none.toml")
