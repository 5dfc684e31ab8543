"""Speed of `itinera build r4r`: R4R's train split, compared with a straightforward networkx program in the same run.

Needs the real data pack (ITINERA_DATA).
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


def straightforward(tasks: Path, worlds: Path, out: Path, *, ahead: bool, threshold: float = 3.0) -> int:
    """R4R written with networkx, for all pairs of a scan's paths.

    With `ahead`, all distances and paths of a scan are computed first, else each on demand.
    """
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
        known = dict(networkx.all_pairs_dijkstra(net)) if ahead else {}

        def way(start: str, end: str, net: Any = net, known: Any = known) -> tuple[float, list[str]]:
            if ahead:
                return known[start][0][end], known[start][1][end]
            length, nodes = networkx.single_source_dijkstra(net, start, end)
            return length, nodes

        for a, b in itertools.product(records, repeat=2):
            gap, between = way(a["path"][-1], b["path"][0])
            if gap > threshold:
                continue
            shortest_length, shortest = way(a["path"][0], b["path"][-1])
            joined.append(
                {
                    "path_id": len(joined),
                    "first_path_id": a["path_id"],
                    "second_path_id": b["path_id"],
                    "scan": scan,
                    "path": a["path"][:-1] + between + b["path"][1:],
                    "heading": a["heading"],
                    "instructions": [x + y for x in a["instructions"] for y in b["instructions"]],
                    "distance": a["distance"] + gap + b["distance"],
                    "shortest_path": shortest,
                    "shortest_path_distance": shortest_length,
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
    command = (sys.executable, "-m", "itinera", "build", "r4r", "--tasks", str(tasks), "--worlds", str(worlds))
    process = subprocess.Popen((*command, "--out", str(ours), "--overwrite"), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    spent = used.ru_utime + used.ru_stime
    table = Table("R4R train", "CPU s", "speedup", "target", title="Building")
    table.add_row(
        "itinera build r4r, whole process", f"{spent:.2f}", "", f"peak {used.ru_maxrss / 1024:.0f} MB (≤ 400)"
    )
    for what, ahead in (("networkx, all-pairs shortest paths first", True), ("networkx, pair by pair", False)):
        begun = time.process_time()
        count = straightforward(tasks, worlds, FOLDER / "r4r_train_twin.json", ahead=ahead)
        twin = time.process_time() - begun
        assert count == len(json.loads(ours.read_bytes()))
        table.add_row(what, f"{twin:.2f}", f"{twin / spent:.1f}×", "≥ 15")
    console.print(table)


if __name__ == "__main__":
    main()
