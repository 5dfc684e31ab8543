"""Goal tables on disk: the distances to the goals of a house, made once and read by every later training.

A file is a cache: one that is missing, damaged, or of another ground or other goals is made again.
"""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO
from os import PathLike
from pathlib import Path

import numpy as np

from itinera.formats.writing import atomic_write
from itinera.worlds import Array
from itinera.worlds._goal_table_kernels import BEND, MAX_TURNS, RISING, UNREACHED
from itinera.worlds.goal_table import GoalTable, digest_ground
from itinera.worlds.ground import Ground

VERSION = 1
_TYPES = {
    "goals": np.dtype(np.float64),
    "codes": np.dtype(np.uint16),
    "bends": BEND,
    "bend_starts": np.dtype(np.int64),
    "rising": np.dtype(np.int32),
    "rising_distances": np.dtype(np.float64),
    "rising_starts": np.dtype(np.int64),
}


class GoalTableFolder:
    """Finds the goal tables of `PointNavHouses.load` in a folder, and computes and writes those it does not have."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)

    def __call__(self, world_id: str, ground: Ground, goals: Array) -> GoalTable:
        path = self.folder / f"{world_id}.goals.npz"
        table = read_goal_table(path, ground)
        if table is None or not np.array_equal(table.goals, goals):
            table = GoalTable.compute(ground, goals)
            write_goal_table(path, ground, table)
        return table


def write_goal_table(path: str | PathLike[str], ground: Ground, table: GoalTable) -> None:
    """Write the table of a ground, complete or not at all."""
    arrays = {name: getattr(table, name) for name in _TYPES}
    with atomic_write(Path(path)) as stream:
        np.savez_compressed(stream, ground=np.array(_ground_name(ground)), **arrays)


def read_goal_table(path: str | PathLike[str], ground: Ground) -> GoalTable | None:
    """The table of a file; None if it is missing, damaged, or of another ground."""
    try:
        with np.load(BytesIO(Path(path).read_bytes()), allow_pickle=False) as file:
            if str(file["ground"]) != _ground_name(ground):
                return None
            arrays = {name: file[name] for name in _TYPES}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    if any(arrays[name].dtype != kind for name, kind in _TYPES.items()):
        return None
    table = GoalTable(**arrays)
    return table if _is_sound(table, ground) else None


def _ground_name(ground: Ground) -> str:
    return f"{VERSION} {digest_ground(ground)}"


def _is_sound(table: GoalTable, ground: Ground) -> bool:
    """Whether every index leads to something that exists: kernels do not check."""
    cells, count = len(ground), len(table.goals)
    if table.goals.shape != (count, 3) or table.codes.shape != (count, cells):
        return False
    for starts, values in (
        (table.bend_starts, (table.bends,)),
        (table.rising_starts, (table.rising, table.rising_distances)),
    ):
        if starts.shape != (count + 1,) or starts[0] != 0 or (np.diff(starts) < 0).any():
            return False
        if any(value.shape != (starts[-1],) for value in values):
            return False
    if len(table.rising) and not 0 <= table.rising.min() <= table.rising.max() < cells:
        return False
    return all(_is_sound_row(table, row, cells) for row in range(count))


def _is_sound_row(table: GoalTable, row: int, cells: int) -> bool:
    bends = table.bends[table.bend_starts[row] : table.bend_starts[row + 1]]
    codes = table.codes[row]
    listed = (codes & RISING > 0) & (codes != UNREACHED)
    if listed.any() and table.rising_starts[row] == table.rising_starts[row + 1]:
        return False
    reached = codes[codes != UNREACHED] & MAX_TURNS
    return bool(
        (not len(reached) or reached.max() < len(bends))
        and ((bends["cell"] >= 0) & (bends["cell"] < cells)).all()
        and ((bends["onward"] >= -1) & (bends["onward"] < len(bends))).all()
    )
