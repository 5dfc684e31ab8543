"""Scoring needs neither torch, nor matplotlib, nor a web library: shown in a process where they cannot be imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import itinera

HEAVY = ("torch", "matplotlib", "starlette", "uvicorn", "fastapi", "flask", "django", "aiohttp", "jinja2", "gymnasium")

PROGRAM = """
import sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in HEAVY:
            raise ImportError(f"{name} is made unimportable here")

sys.meta_path.insert(0, Refusing())

from itinera.formats import matterport, r2r
from itinera.metrics import score
from itinera.stats import interval

worlds = matterport.read_worlds("connectivity")
split = r2r.read_split("tasks.json")
table = score(r2r.read_predictions("walks.json"), split, worlds)
print(table["SR"].tolist(), table["SPL"].tolist())
print(interval(table["SPL"], clusters=table.world_ids).mean)
assert not any(name.split(".")[0] in HEAVY for name in sys.modules)
"""


def panorama(name: str, x: float, joined: list[bool]) -> dict:
    pose = [1, 0, 0, x, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    return {"image_id": name, "pose": pose, "included": True, "unobstructed": joined, "visible": joined, "height": 1.5}


def test_a_file_is_scored_where_heavy_packages_cannot_be_imported(tmp_path):
    (tmp_path / "connectivity").mkdir()
    for scan in ("one", "two"):
        scan_file = tmp_path / "connectivity" / f"{scan}_connectivity.json"
        # a, b, c in a row, 4 m apart
        nodes = [("a", [False, True, False]), ("b", [True, False, True]), ("c", [False, True, False])]
        scan_file.write_text(json.dumps([panorama(name, 4.0 * i, joined) for i, (name, joined) in enumerate(nodes)]))
    tasks = [
        {"scan": scan, "path_id": i, "path": ["a", "b", "c"], "heading": 0.0, "instructions": ["go"], "distance": 8.0}
        for i, scan in enumerate(("one", "two"))
    ]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    # The first goes there with a step back and forth, 16 m for 8; the second stops 4 m short.
    walks = [
        {"instr_id": "0_0", "trajectory": [[node, 0.0, 0.0] for node in "ababc"]},
        {"instr_id": "1_0", "trajectory": [[node, 0.0, 0.0] for node in "ab"]},
    ]
    (tmp_path / "walks.json").write_text(json.dumps(walks))
    program = f"HEAVY = {HEAVY!r}\n{PROGRAM}"
    command = [sys.executable, "-W", "error", "-c", program]
    found = {**os.environ, "PYTHONPATH": str(Path(itinera.__file__).parents[1])}
    done = subprocess.run(command, cwd=tmp_path, env=found, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["[1.0, 0.0] [0.5, 0.0]", "0.25"]
