"""Benchmarks of made-up values for tests, in which the better agent and its failures are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from itinera.records import Column, EpisodeInfo, Provenance, ScoreTable, TourTable
from itinera.reports.benchmark import BenchmarkResults, group_by_benchmark
from itinera.seeding import generator
from itinera.tasks import PROTOCOLS
from itinera.tasks.fastest_times import ReferenceRobot

COLUMNS = (
    Column("PL", "m", "neither"),
    Column("steps", "steps", "neither"),
    Column("NE", "m", "lower"),
    Column("SR"),
    Column("OSR"),
    Column("SPL"),
    Column("nDTW"),
)


def make_scores(
    skill: float,
    *,
    episodes: int = 120,
    scenes: int = 8,
    toured: bool = False,
    timed: bool = False,
    name: str = "agent",
    prefix: str = "e",
    scene: str = "scene",
) -> ScoreTable:
    """An agent that succeeds with about this probability, less often on long paths; all have the same episodes."""
    rng = generator(0, "made up", str(skill))
    world = np.arange(episodes) % scenes
    lengths = 5.0 + (np.arange(episodes) * 7 % 20)
    arrived = rng.random(episodes) < skill - 0.01 * (lengths - 15)
    passed = arrived | (rng.random(episodes) < 0.2)
    error = np.where(arrived, rng.uniform(0, 3, episodes), lengths * rng.uniform(0.4, 1.4, episodes) + 3)
    walked = np.where(rng.random(episodes) < 0.1, 0.0, lengths * rng.uniform(1, 1.5, episodes))
    walked = np.where(arrived, np.maximum(walked, lengths), walked)
    values = {
        "PL": walked,
        "steps": np.round(walked / 2),
        "NE": error,
        "SR": arrived.astype(np.float64),
        "OSR": passed.astype(np.float64),
        "SPL": np.where(arrived, lengths / np.maximum(walked, lengths), 0.0),
        "nDTW": np.exp(-error / 6),
    }
    columns = COLUMNS
    if timed:
        values["SCT"] = values["SPL"] * rng.uniform(0.5, 1.0, episodes)
        columns = (*COLUMNS, Column("SCT"))
    legs = np.arange(episodes) // scenes
    tours = TourTable(
        tuple(f"t{i}" for i in range(scenes)),
        tuple(f"{scene}{i}" for i in range(scenes)),
        (Column("t-nDTW"),),
        {"t-nDTW": np.array([values["nDTW"][world == i].mean() for i in range(scenes)])},
        {"t-nDTW": np.full(scenes, 1.0)},
    )
    return ScoreTable(
        episode_ids=tuple(f"{prefix}{i}" for i in range(episodes)),
        world_ids=tuple(f"{scene}{i}" for i in world),
        path_ids=tuple(f"p{i // 3}" for i in range(episodes)),
        columns=columns,
        values=values,
        suite="paper",
        fingerprint="f00d",
        protocol=PROTOCOLS["ivln" if toured else "r2r"],
        missing=np.zeros(episodes, dtype=bool),
        tours=tours if toured else None,
        provenance=Provenance("0.1", ("itinera", "score", name), None, {"tasks": f"{name}/val.json"}, {"tasks": "abc"}),
        source=f"{name}.jsonl",
        robot=ReferenceRobot() if timed else None,
        episode_info=EpisodeInfo(
            lengths,
            lengths,
            tuple(f"t{i}" if toured else "" for i in world),
            legs if toured else np.full(episodes, -1),
        ),
    )


def make_benchmark(*tables: ScoreTable, names: tuple[str, ...] = ("good", "poor", "third")) -> BenchmarkResults:
    """The one benchmark of these tables."""
    (found,) = group_by_benchmark(names[: len(tables)], tables)
    return found


def changed(table: ScoreTable, **values: object) -> ScoreTable:
    """The table with some metrics replaced."""
    new = {name: np.broadcast_to(np.asarray(x, dtype=np.float64), (len(table),)) for name, x in values.items()}
    return replace(table, values={**table.values, **new})
