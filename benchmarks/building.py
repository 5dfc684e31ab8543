"""How fast are long journeys built? R4R's train split against the straightforward way with networkx, in one run.

Needs the real data pack (ITINERA_DATA): the ratio is claimed for it.
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import networkx
import numpy as np
from rich.console import Console
from rich.table import Table

from itinera.formats import matterport
from itinera.worlds import NavGraph

FOLDER = Path(__file__).resolve().parent.parent / ".bench"


def straightforward(tasks: Path, worlds: Path, out: Path, threshold: float = 3.0) -> int:
    """R4R as one would write it with networkx: all distances and ways of a scan, then all pairs of its paths."""
    by_scan: dict[str, list[dict[str, Any]]] = {}
    for record in json.loads(gzip.decompress(tasks.read_bytes())):
        by_scan.setdefault(record["scan"], []).append(record)
    graphs = matterport.read_worlds(worlds)
    joined: list[dict[str, Any]] = []
    for scan, records in by_scan.items():
        graph = graphs[scan].space
        assert isinstance(graph, NavGraph)
        net = networkx.Graph()
        for a, b in graph.edges:
            weight = float(np.linalg.norm(graph.positions[a] - graph.positions[b]))
            net.add_edge(graph.nodes[a], graph.nodes[b], weight=weight)
        distances = dict(networkx.all_pairs_dijkstra_path_length(net))
        ways = dict(networkx.all_pairs_dijkstra_path(net))
        for a, b in itertools.product(records, repeat=2):
            gap = distances[a["path"][-1]][b["path"][0]]
            if gap > threshold:
                continue
            start, end = a["path"][0], b["path"][-1]
            joined.append(
                {
                    "path_id": len(joined),
                    "first_path_id": a["path_id"],
                    "second_path_id": b["path_id"],
                    "scan": scan,
                    "path": a["path"][:-1] + ways[a["path"][-1]][b["path"][0]] + b["path"][1:],
                    "heading": a["heading"],
                    "instructions": [x + y for x in a["instructions"] for y in b["instructions"]],
                    "distance": a["distance"] + gap + b["distance"],
                    "shortest_path": ways[start][end],
                    "shortest_path_distance": distances[start][end],
                }
            )
    out.write_text(json.dumps(joined))
    return len(joined)


def main() -> None:
    place = os.environ.get("ITINERA_DATA")
    console = Console(width=120)
    if not place:
        console.print("R4R train is built from real data: set ITINERA_DATA to the data pack.")
        return
    FOLDER.mkdir(exist_ok=True)
    tasks, worlds = Path(place) / "r2r/R2R_train.json.gz", Path(place) / "connectivity.tar.xz"
    ours = FOLDER / "r4r_train.json"
    command = (sys.executable, "-m", "itinera.cli.main", "build", "r4r", "--tasks", str(tasks), "--worlds", str(worlds))
    process = subprocess.Popen((*command, "--out", str(ours)), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    spent = used.ru_utime + used.ru_stime
    begun = time.process_time()
    count = straightforward(tasks, worlds, FOLDER / "r4r_train_twin.json")
    twin = time.process_time() - begun
    assert count == len(json.loads(ours.read_bytes()))
    table = Table("what", "ours, CPU s", "networkx, CPU s", "ratio", "wanted", "peak memory", title="Building")
    peak = f"{used.ru_maxrss / 1024:.0f} MB (≤ 400)"
    table.add_row(f"R4R train, {count:,} paths", f"{spent:.2f}", f"{twin:.2f}", f"{twin / spent:.1f}×", "≥ 15", peak)
    console.print(table)


if __name__ == "__main__":
    main()
