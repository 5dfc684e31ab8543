"""Comparison of a Hearth season's graphs and train split with Matterport's graphs and R2R's train split.

    itinera build hearth --out hearth
    ITINERA_DATA=… python recipes/hearth_shape.py hearth

Both are read from files of the same formats by the same code. Expected: each mean and the shares of stairs within 15 %
of the original, each share of turns within 5 points. Exception: the vocabulary, as a grammar has fewer words than
hundreds of annotators. Without the data pack, only Hearth is shown.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from itinera.analysis.datasets import describe
from itinera.formats import matterport, r2r
from itinera.records.tables import TextTable
from itinera.tasks import Episode, Split
from itinera.worlds import NavGraph, World

TOLERANCE = 0.15  # of a mean or a share of stairs, relative
SHARE_TOLERANCE = 5.0  # of a share of turns, percentage points
CLIMB = 0.5  # meters of height from which an edge counts as stairs
TURNS = {  # degrees
    "turns below 15°, %": (0, 15),
    "turns of 15° to 45°, %": (15, 45),
    "turns of 45° to 90°, %": (45, 90),
    "turns of 90° and more, %": (90, 181),
}
EXCEPTIONS = ("vocabulary",)


def describe_graphs(worlds: Mapping[str, World]) -> dict[str, float]:
    """Statistics of the nodes and edges of all graphs."""
    graphs = [graph for world in worlds.values() if isinstance(graph := world.space, NavGraph)]
    nodes = np.array([len(graph.nodes) for graph in graphs])
    moves = np.concatenate([np.diff(graph.positions[graph.edges], axis=1)[:, 0] for graph in graphs])
    visible_pairs = sum(int(graph.visible.sum()) for graph in graphs if graph.visible is not None)
    return {
        "nodes per house": nodes.mean(),
        "node degree": 2 * len(moves) / nodes.sum(),
        "edge length, m": np.linalg.norm(moves, axis=1).mean(),
        "visible nodes per node": visible_pairs / nodes.sum(),
        "edges on stairs, %": 100 * np.mean(np.abs(moves[:, 2]) > CLIMB),
    }


def describe_tasks(split: Split, worlds: Mapping[str, World]) -> dict[str, float]:
    """Statistics of the paths, turns and words of a split."""
    found = describe(split, worlds)
    turns = np.abs(np.degrees(found.turns))
    stairs = [has_stairs(worlds[episode.world_id], episode) for episode in split.episodes]
    return {
        "path length, m": found.lengths.mean(),
        "edges per path": found.edges.mean(),
        **{name: 100 * np.mean((low <= turns) & (turns < high)) for name, (low, high) in TURNS.items()},
        "paths with stairs, %": 100 * np.mean(stairs),
        "words per instruction": found.words.mean(),
        "vocabulary": found.vocabulary,
    }


def has_stairs(world: World, episode: Episode) -> bool:
    """Whether the reference path has stairs."""
    graph = world.space
    assert isinstance(graph, NavGraph)
    heights = graph.positions[graph.locate(episode.reference), 2]
    return bool(np.abs(np.diff(heights)).max() > CLIMB)


def describe_files(folder: Path, train: Path) -> dict[str, float]:
    worlds = matterport.read_worlds(folder, visible=True)
    return describe_graphs(worlds) | describe_tasks(r2r.read_split(train), worlds)


def judge(name: str, ours: float, real: float) -> str:
    if name in EXCEPTIONS:
        return "exception"
    near = abs(ours - real) <= SHARE_TOLERANCE if name in TURNS else abs(ours / real - 1) <= TOLERANCE
    return "near" if near else "OFF"


def main() -> int:
    """Print the table; 1 if a number is out of tolerance."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("season", type=Path, help="a folder of `itinera build hearth`")
    folder = parser.parse_args().season
    ours = describe_files(folder / "connectivity", folder / "r2r/R2R_train.json")
    place = os.environ.get("ITINERA_DATA")
    if not place:
        rows = tuple((name, f"{value:.2f}") for name, value in ours.items())
        print(TextTable(("", "Hearth"), rows, "Statistics of Hearth"))
        print("To compare with Matterport and R2R, set ITINERA_DATA to the data pack.")
        return 0
    real = describe_files(Path(place) / "connectivity.tar.xz", Path(place) / "r2r/R2R_train.json.gz")
    verdicts = {name: judge(name, ours[name], real[name]) for name in ours}
    lines = tuple(
        (name, f"{value:.2f}", f"{real[name]:.2f}", f"{value / real[name]:.2f}", verdicts[name])
        for name, value in ours.items()
    )
    print(TextTable(("", "Hearth", "R2R", "ratio", ""), lines, "Hearth, and Matterport with R2R (train)"))
    return 1 if "OFF" in verdicts.values() else 0


if __name__ == "__main__":
    sys.exit(main())
