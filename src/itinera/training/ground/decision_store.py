"""Files of rolls: what was decided and taught is the truth, the views beside it are a cache. Nothing is pickled."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np

from itinera.formats.writing import atomic_write
from itinera.policies.ground.polar_views import PolarViews
from itinera.training.ground.decision_rolls import Rolls

_ROLLS = ("starts", "bins", "steps", "label_bins", "label_steps")
_VIEWS = ("starts", "cells", "labels", "weights", "numbers")


def write_rolls(path: Path, rolls: Rolls, plan: str) -> None:
    """Write the rolls of a house; `plan` identifies how they came about."""
    path.parent.mkdir(parents=True, exist_ok=True)
    views = {f"views_{name}": getattr(rolls.views, name) for name in _VIEWS}
    views["views_weights"] = rolls.views.weights.astype(np.float16)
    views["views_numbers"] = rolls.views.numbers.astype(np.float16)
    arrays = {name: getattr(rolls, name) for name in _ROLLS}
    with atomic_write(path) as stream:
        np.savez_compressed(
            stream,
            plan=np.array(plan),
            world_id=np.array(rolls.world_id),
            paths=np.array(rolls.paths),
            **arrays,
            **views,
        )


def read_rolls(path: Path, plan: str) -> Rolls | None:
    """The rolls of a file; None if it is missing, damaged, or of another plan: then they are made again."""
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as file:
            if str(file["plan"]) != plan:
                return None
            views = PolarViews(
                file["views_starts"],
                file["views_cells"],
                file["views_labels"],
                file["views_weights"].astype(np.float32),
                file["views_numbers"].astype(np.float32),
            )
            columns = {name: file[name] for name in _ROLLS}
            return Rolls(str(file["world_id"]), tuple(file["paths"].tolist()), views=views, **columns)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError):
        return None
