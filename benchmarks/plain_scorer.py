"""A scorer written as the released ones are: all distances of every scene, then a loop over the trajectories.

    python benchmarks/plain_scorer.py predictions.json tasks.json connectivity.tar.xz

Prints the means as JSON; `benchmarks/run.py` compares its CPU time with that of `itinera score`, which prints 15
metrics with intervals. It uses the standard library only: networkx, as in released scorers, would take longer.
"""

from __future__ import annotations

import heapq
import json
import math
import sys
import tarfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

RADIUS = 3.0  # metres
Lengths = dict[str, dict[str, float]]  # distances between nodes, metres


def read_scenes(path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The name and panoramas of every scene of a connectivity folder or archive."""
    if path.is_dir():
        for file in sorted(path.glob("*_connectivity.json")):
            yield file.name.split("_")[0], json.loads(file.read_bytes())
        return
    with tarfile.open(path) as archive:
        for member in archive:
            if member.name.endswith("_connectivity.json"):
                stream = archive.extractfile(member)
                assert stream is not None
                yield Path(member.name).name.split("_")[0], json.loads(stream.read())


def all_distances(panoramas: list[dict[str, Any]]) -> Lengths:
    """The shortest distances between all nodes of a scene."""
    places = {p["image_id"]: (p["pose"][3], p["pose"][7], p["pose"][11]) for p in panoramas if p["included"]}
    edges: Lengths = {node: {} for node in places}
    for p in panoramas:
        for other, joined in zip(panoramas, p["unobstructed"], strict=True):
            if p["included"] and joined and other["included"]:
                a, b = p["image_id"], other["image_id"]
                edges[a][b] = math.dist(places[a], places[b])
    return {node: _dijkstra(node, edges) for node in places}


def _dijkstra(source: str, edges: Lengths) -> dict[str, float]:
    found: dict[str, float] = {}
    waiting = [(0.0, source)]
    while waiting:
        gone, node = heapq.heappop(waiting)
        if node in found:
            continue
        found[node] = gone
        for to, length in edges[node].items():
            if to not in found:
                heapq.heappush(waiting, (gone + length, to))
    return found


def score_item(walk: list[str], path: list[str], distances: Lengths) -> dict[str, float]:
    """The metrics of one trajectory."""
    goal = path[-1]
    length = sum(distances[a][b] for a, b in pairwise(walk))
    shortest = distances[path[0]][goal]
    error, oracle = distances[walk[-1]][goal], min(distances[node][goal] for node in walk)
    success = float(error <= RADIUS)
    share = success * shortest / max(length, shortest) if shortest else success
    return {
        "steps": len(walk) - 1,
        "PL": length,
        "NE": error,
        "ONE": oracle,
        "SR": success,
        "OSR": float(oracle <= RADIUS),
        "SPL": share,
    }


def main() -> None:
    predictions, tasks, worlds = map(Path, sys.argv[1:])
    paths = {str(record["path_id"]): record for record in json.loads(tasks.read_bytes())}
    wanted = {record["scan"] for record in paths.values()}
    distances = {scan: all_distances(panoramas) for scan, panoramas in read_scenes(worlds) if scan in wanted}
    items = []
    for item in json.loads(predictions.read_bytes()):
        record = paths[item["instr_id"].rpartition("_")[0]]
        walk = [step[0] for step in item["trajectory"]]
        items.append(score_item(walk, record["path"], distances[record["scan"]]))
    print(json.dumps({name: sum(item[name] for item in items) / len(items) for name in items[0]}))


if __name__ == "__main__":
    main()
