"""Score tables made of plain lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from itinera.records import Column, ScoreTable, TourTable
from itinera.tasks import PROTOCOLS

COLUMNS = {
    c.name: c
    for c in (
        Column("SR"),
        Column("SPL"),
        Column("SCT"),
        Column("TR"),
        Column("NE", "m", "lower"),
        Column("PL", "m", "neither"),
    )
}


def table(
    scenes: str,
    *,
    episode_ids: Sequence[str] | None = None,
    path_ids: Sequence[str] | None = None,
    suite: str = "paper",
    protocol: str = "r2r",
    tours: TourTable | None = None,
    **values: Sequence[Any],
) -> ScoreTable:
    """A table with an episode per letter of `scenes`, the scene it is in."""
    return ScoreTable(
        episode_ids=tuple(episode_ids or (f"e{i}" for i in range(len(scenes)))),
        world_ids=tuple(scenes),
        path_ids=tuple(path_ids or [""] * len(scenes)),
        columns=tuple(COLUMNS[name] for name in values),
        values={name: np.array(column, dtype=np.float64) for name, column in values.items()},
        suite=suite,
        fingerprint=f"of {suite}",
        protocol=PROTOCOLS[protocol],
        missing=np.zeros(len(scenes), dtype=bool),
        tours=tours,
    )
