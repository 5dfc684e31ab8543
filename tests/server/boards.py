"""Boards and rows of made-up agents for the tests of the board, its pages and its exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from itinera.records import Column, ScoreTable
from itinera.seeding import generator
from itinera.server.board import Board, Coverage, JudgedEntry, make_board
from itinera.tasks import PROTOCOLS

NOON = datetime(2026, 11, 19, 12, 0, tzinfo=UTC)
COLUMNS = (Column("SR"), Column("SPL"), Column("NE", "m", "lower"), Column("PL", "m", "neither"))
HOSTILE = "<script>alert('x')</script>\u202e\"'&{{7*7}}=1+1"


def rows(name: str, rate: float, *, scenes: int = 12, per_scene: int = 20) -> ScoreTable:
    """The rows of an agent with about this success rate; the episodes are the same for all agents."""
    rng = generator(0, "board", name)
    count = scenes * per_scene
    worlds = np.repeat([f"house-{i:02d}" for i in range(scenes)], per_scene)
    difficulty = generator(0, "difficulty").normal(size=count)
    success = (rng.normal(size=count) * 0.3 + difficulty < np.quantile(difficulty, rate)).astype(float)
    values = {
        "SR": success,
        "SPL": success * rng.uniform(0.6, 1.0, count),
        "NE": np.where(success > 0, rng.uniform(0, 3, count), rng.uniform(3, 12, count)),
        "PL": rng.uniform(5, 15, count),
    }
    table = ScoreTable.from_values(values, world_ids=worlds.tolist(), episode_ids=[f"{i}_0" for i in range(count)])
    from dataclasses import replace

    return replace(table, columns=COLUMNS, suite="paper", fingerprint="f00d" * 4, protocol=PROTOCOLS["r2r"])


def judged(entry_id: str, table: ScoreTable | None, **changes: Any) -> JudgedEntry:
    number = int(entry_id.strip("e") or 0)
    scores: Mapping[str, tuple[float, float, float]] = {}
    if table is not None:
        found = {name: table.interval(name) for name in table}
        scores = {name: (i.mean, i.low, i.high) for name, i in found.items()}
    arguments: dict[str, Any] = {
        "id": entry_id, "team": f"Team {number}", "team_key": f"t{number}", "method": f"Method {number}",
        "submitted": NOON + timedelta(hours=number), "badge": "replayed", "attempts": 1 + number % 3,
        "scores": scores, "coverage": Coverage(240, 240, 230 - number, 2), "fingerprint": "f00d" * 4,
        "bundle": f"{number:064x}", "load_rows": None if table is None else lambda: table,
    } | changes  # fmt: skip
    return JudgedEntry(**arguments)


def a_board(entries: Sequence[JudgedEntry] | None = None, **changes: Any) -> Board:
    """Three agents, two of them much alike."""
    if entries is None:
        entries = [judged(f"e{k}", rows(f"agent {k}", rate)) for k, rate in enumerate((0.55, 0.53, 0.2), start=1)]
    options: dict[str, Any] = {
        "columns": COLUMNS, "updated": NOON, "protocol": "r2r", "suite": "paper",
    } | changes  # fmt: skip
    return make_board("May 2026", "test", entries, **options)


def a_large_board(count: int = 1000) -> Board:
    """Entries with scores and no rows, some anonymous, some with names to break pages with."""
    rng = generator(0, "large board")
    entries = []
    for number in range(count):
        mean = float(rng.uniform(0.1, 0.8))
        scores = dict.fromkeys(("SR", "SPL"), (mean, mean - 0.05, mean + 0.05)) | {"NE": (6 - mean, 5.0, 7.0)}
        entries.append(
            judged(f"e{number}", None, scores=scores, team="" if number % 10 == 3 else f"Team {number % 90}")
        )
    return a_board(entries)
