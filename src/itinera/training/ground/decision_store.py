"""Files of rolls: what was decided and taught is the truth, the sights beside it are a cache. Nothing is pickled."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np

from itinera.formats.writing import atomic_write
from itinera.policies.ground.sights import Sights
from itinera.training.ground.decision_rolls import Rolls

_ROLLS = ("starts", "bins", "steps", "label_bins", "label_steps")
_SIGHTS = ("starts", "cells", "labels", "weights", "numbers")


def write_rolls(path: Path, rolls: Rolls, plan: str) -> None:
    """Write the rolls of a house; `plan` identifies how they came about."""
    path.parent.mkdir(parents=True, exist_ok=True)
    sights = {f"sights_{name}": getattr(rolls.sights, name) for name in _SIGHTS}
    sights["sights_weights"] = rolls.sights.weights.astype(np.float16)
    sights["sights_numbers"] = rolls.sights.numbers.astype(np.float16)
    arrays = {name: getattr(rolls, name) for name in _ROLLS}
    with atomic_write(path) as stream:
        np.savez_compressed(
            stream,
            plan=np.array(plan),
            world_id=np.array(rolls.world_id),
            paths=np.array(rolls.paths),
            **arrays,
            **sights,
        )


def read_rolls(path: Path, plan: str) -> Rolls | None:
    """The rolls of a file; None if it is missing, damaged, or of another plan: then they are made again."""
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as file:
            if str(file["plan"]) != plan:
                return None
            sights = Sights(
                file["sights_starts"],
                file["sights_cells"],
                file["sights_labels"],
                file["sights_weights"].astype(np.float32),
                file["sights_numbers"].astype(np.float32),
            )
            columns = {name: file[name] for name in _ROLLS}
            return Rolls(str(file["world_id"]), tuple(file["paths"].tolist()), sights=sights, **columns)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError):
        return None
