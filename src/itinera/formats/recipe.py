"""Training recipes: a short TOML file with the arguments of `itinera.train`. Start with `read_recipe`.

policy = "rcm"
tasks = "hearth/r2r/R2R_train.json"  # paths are relative to the file
worlds = "hearth"
steps = 2000
out = "rcm.safetensors"

[config]
hidden_dim = 256
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from itinera.formats.settings import read_settings

MODEL_SUFFIX = ".safetensors"
KINDS_OF_VIEWS = ("auto", "annotations", "rendered", "geometry")  # any other is a file

_Count = Annotated[int, msgspec.Meta(ge=1)]
_Rate = Annotated[float, msgspec.Meta(gt=0.0)]


@dataclass(frozen=True)
class TrainingRecipe:
    """The keys of a recipe: arguments of `itinera.train`. What is left out has the default of the argument."""

    policy: str | None = None  # a kind, "module:Class", or a model file
    tasks: Path | None = None
    worlds: Path | None = None
    out: Path | None = None
    validation: Path | None = None
    evaluate_every: _Count | None = None
    patience: _Count | None = None
    monitor: str | None = None
    steps: _Count | None = None
    minutes: _Rate | None = None
    reward: Literal["goal", "fidelity"] | None = None
    seed: Annotated[int, msgspec.Meta(ge=0)] | None = None
    views: str | None = None
    objects: Path | None = None
    rooms: Path | None = None
    start_from: Path | None = None
    batch_size: _Count | None = None
    learning_rate: _Rate | None = None
    teacher_forcing_ratio: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] | None = None
    max_steps: _Count | None = None
    max_words: _Count | None = None
    tours: Path | None = None
    iterations: Annotated[int, msgspec.Meta(ge=0)] | None = None
    rollouts: _Count | None = None
    beta: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] | None = None
    map_lifetime: Literal["episodic", "iterative", "known"] | None = None
    semantics: str | None = None  # true, inferred, or a model file
    device: str | None = None
    workers: _Count | None = None
    engine: str | None = None
    cache: Path | None = None
    tensorboard: Path | None = None
    config: dict[str, Any] = field(default_factory=dict)  # fields of the configuration of the policy


def read_recipe(path: str | Path) -> dict[str, Any]:
    """The keyword arguments of `itinera.train` that a recipe gives; paths are resolved from its folder."""
    file = Path(path)
    recipe = read_settings(file, TrainingRecipe, noun="a recipe", command="itinera train")
    given = {one.name: getattr(recipe, one.name) for one in fields(recipe)}
    return {
        name: _resolve(file.parent, name, value)
        for name, value in given.items()
        if value is not None and (name != "config" or value)
    }


def _resolve(folder: Path, name: str, value: Any) -> Any:
    is_model = name in ("policy", "semantics") and value.endswith(MODEL_SUFFIX)
    is_views = name == "views" and value not in KINDS_OF_VIEWS
    if isinstance(value, Path):
        return folder / value
    return str(folder / value) if is_model or is_views else value
