"""A split of a few scenes with paths of different lengths and three instructions each, and scores of agents on it."""

from __future__ import annotations

import numpy as np

from itinera.records import ScoreTable
from itinera.tasks import Split
from text_worlds import episode

SCENES = {"attic": 40, "barn": 25, "cabin": 3}  # paths


def make_split(instructions: int = 3) -> Split:
    """A split with paths of 4 to 7 edges."""
    episodes = [
        episode(f"{scene}-{path}_{k}", tuple(f"n{i}" for i in range(5 + path % 4)), world_id=scene,
                path_id=f"{scene}-{path}")
        for scene, paths in SCENES.items()
        for path in range(paths)
        for k in range(instructions)
    ]  # fmt: skip
    return Split("small", tuple(episodes))


def make_scores(split: Split, seed: int, *, like: ScoreTable | None = None, source: str = "agent") -> ScoreTable:
    """Scores of an agent; `like` is one that it agrees with on most paths."""
    from dataclasses import replace

    rng = np.random.default_rng(seed)
    codes = np.unique([one.path_id for one in split], return_inverse=True)[1]
    path = rng.normal(size=codes.max() + 1)[codes]
    logit = 1.5 * path + rng.normal(scale=0.7, size=len(split))
    if like is not None:
        logit = np.where(rng.random(codes.max() + 1)[codes] < 0.85, 3.0 * like["nDTW"] - 1.5, logit)
    values = {"SR": (logit > 0).astype(float), "nDTW": 1 / (1 + np.exp(-logit)), "NE": 4 / (1 + np.exp(logit))}
    table = ScoreTable.from_values(
        values,
        world_ids=[one.world_id for one in split],
        episode_ids=[one.id for one in split],
        path_ids=[one.path_id for one in split],
    )
    columns = tuple(replace(one, unit="m", better="lower") if one.name == "NE" else one for one in table.columns)
    return replace(table, columns=columns, source=source)
