"""A graph of 100,000 nodes, whose matrix of distances would take 74.5 GiB, is scored and walked in bounded memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SIDE = 317
MEASURE = """
import re
from pathlib import Path
import itinera
tasks, worlds = itinera.read_tasks("tasks.json"), itinera.read_worlds("graphs.json")
scores = itinera.score("predictions.json", tasks, worlds)
assert [float(scores[name].mean()) for name in ("SR", "SPL", "nDTW")] == [1.0, 1.0, 1.0]
predictions = itinera.run("forward", tasks, worlds, workers=0)
assert len(predictions) == len(tasks)
# ru_maxrss would include the process that started this one.
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A square of nodes two metres apart, and paths along one side."""
    nodes = {f"{x}.{y}": [2.0 * x, 2.0 * y, 0.0] for x in range(SIDE) for y in range(SIDE)}
    edges = [[f"{x}.{y}", f"{x + 1}.{y}"] for x in range(SIDE - 1) for y in range(SIDE)]
    edges += [[f"{x}.{y}", f"{x}.{y + 1}"] for x in range(SIDE) for y in range(SIDE - 1)]
    paths = {k: [f"{7 * k + i}.{13 * k}" for i in range(6)] for k in range(20)}
    tasks = [
        {"scan": "plain", "path_id": k, "path": path, "heading": 0.0, "instructions": ["Go on."], "distance": 10.0}
        for k, path in paths.items()
    ]
    predictions = [{"instr_id": f"{k}_0", "trajectory": [[node, 0, 0] for node in path]} for k, path in paths.items()]
    (tmp_path / "graphs.json").write_text(json.dumps({"plain": {"frame": "z-up", "nodes": nodes, "edges": edges}}))
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    (tmp_path / "predictions.json").write_text(json.dumps(predictions))
    return tmp_path


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak memory from /proc")
def test_a_hundred_thousand_nodes_are_scored_and_walked_in_a_gigabyte(folder):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", MEASURE], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 1000
