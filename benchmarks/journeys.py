"""Synthetic graphs and paths of R4R's size and shape, so that benchmarks need no licensed data.

Eleven graphs of Matterport's density, 5,018 paths with nine instructions each, and a noisy trajectory per instruction.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from itinera.formats import matterport, r2r
from itinera.formats.io import read_bytes
from itinera.seeding import generator
from itinera.tasks import Split
from itinera.worlds import NavGraph, World

SCENES = 11


@dataclass(frozen=True)
class Journeys:
    """The files of a benchmark."""

    worlds: Path
    tasks: Path
    submission: Path


def make(folder: Path, *, paths: int = 5018, instructions: int = 9, scenes: int = SCENES, seed: int = 0) -> Journeys:
    """The files; written unless they exist."""
    made = Journeys(folder / "connectivity", folder / "tasks.json", folder / "submission.json")
    if made.submission.exists():
        return made
    worlds = {f"scene{i:02}": World(f"scene{i:02}", _house(seed, i)) for i in range(scenes)}
    matterport.write_worlds(made.worlds, worlds)
    rng = generator(seed, "paths")
    records, predictions = [], []
    names = list(worlds)
    for path_id in range(paths):
        scan = names[int(rng.integers(scenes))]
        graph = worlds[scan].space
        assert isinstance(graph, NavGraph)
        path = _journey(graph, rng)
        words = [" ".join(["walk"] * int(n)) for n in rng.integers(45, 75, instructions)]
        length = float(graph.along(path).sum())
        records.append(
            r2r.PathRecord(
                scan=scan, path_id=path_id, path=path, heading=0.0, instructions=words, distance=round(length, 2)
            )
        )
        for i in range(instructions):
            walk = _attempt(graph, path, rng)
            angles = rng.integers(0, 12, len(walk)) * (np.pi / 6)
            steps = [[node, float(angle), 0.0] for node, angle in zip(walk, angles, strict=True)]
            predictions.append({"instr_id": f"{path_id}_{i}", "trajectory": steps})
    made.tasks.write_bytes(msgspec.json.encode(records))
    made.submission.write_bytes(msgspec.json.encode(predictions))
    return made


def make_real(folder: Path, data: Path, *, count: int = 10_000, seed: int = 0) -> Journeys:
    """R2R's first training tasks with noisy trajectories; `data` is the data pack."""
    made = Journeys(data / "connectivity.tar.xz", folder / "tasks.json", folder / "submission.json")
    if made.submission.exists():
        return made
    folder.mkdir(parents=True, exist_ok=True)
    worlds, rng = matterport.read_worlds(made.worlds), generator(seed, "walks")
    kept, predictions = [], []
    for record in msgspec.json.decode(read_bytes(data / "r2r" / "R2R_train.json.gz"), type=list[r2r.PathRecord]):
        record.instructions = record.instructions[: count - len(predictions)]
        if not record.instructions:
            break
        kept.append(record)
        graph = worlds[record.scan].space
        assert isinstance(graph, NavGraph)
        for i in range(len(record.instructions)):
            walk = _attempt(graph, record.path, rng)
            steps = [[node, float(rng.integers(0, 12)) * (np.pi / 6), 0.0] for node in walk]
            predictions.append({"instr_id": f"{record.path_id}_{i}", "trajectory": steps})
    made.tasks.write_bytes(msgspec.json.encode(kept))
    made.submission.write_bytes(msgspec.json.encode(predictions))
    return made


def _house(seed: int, index: int) -> NavGraph:
    """A graph like Matterport's: nodes about 2 m apart, each joined to about four neighbors."""
    rng = generator(seed, "house", str(index))
    count = int(rng.integers(40, 250))
    side = np.sqrt(count) * 2.0
    points = np.column_stack([rng.uniform(0, side, (count, 2)), np.zeros(count)])
    gaps = np.linalg.norm(points[:, None] - points[None], axis=-1)
    edges = {tuple(sorted((i, int(j)))) for i in range(count) for j in np.argsort(gaps[i])[1:4]}
    reached = {0}
    while len(reached) < count:  # connect the remaining components
        rest = [i for i in range(count) if i not in reached]
        inside = sorted(reached)
        a, b = np.unravel_index(np.argmin(gaps[np.ix_(inside, rest)]), (len(inside), len(rest)))
        edges.add(tuple(sorted((inside[a], rest[b]))))
        frontier = [rest[b]]
        while frontier:
            at = frontier.pop()
            reached.add(at)
            frontier += [j for i, j in edges for i, j in ((i, j), (j, i)) if i == at and j not in reached]
    names = tuple(hashlib.blake2b(f"{seed}/{index}/{i}".encode(), digest_size=16).hexdigest() for i in range(count))
    return NavGraph(names, points, np.array(sorted(edges)))


def _journey(graph: NavGraph, rng: np.random.Generator) -> list[str]:
    """Two joined shortest paths of 4 to 7 nodes, as in R4R."""
    path = [graph.nodes[int(rng.integers(len(graph.nodes)))]]
    for _ in range(2):
        reach = graph.distances[graph.index[path[-1]]]
        options = np.flatnonzero((reach >= 5.0) & (reach <= 16.0))
        goal = graph.nodes[int(rng.choice(options if len(options) else np.arange(len(reach))))]
        path += graph.route(path[-1], goal)[1:]
    return path


def _attempt(graph: NavGraph, path: list[str], rng: np.random.Generator) -> list[str]:
    """The path with a detour of a few random steps."""
    walk = path[: int(rng.integers(min(4, len(path)), len(path) + 1))]
    for _ in range(int(rng.integers(0, 10))):
        walk = [*walk, str(rng.choice(graph.neighbors(walk[-1])))]
    return walk


def read(made: Journeys) -> tuple[Split, matterport.Connectivity]:
    """The tasks and worlds of the files."""
    return r2r.read_split(made.tasks), matterport.read_worlds(made.worlds)
