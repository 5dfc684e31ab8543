"""Workers and participants of a live phase as processes that are killed: `work URL FOLDER TOKEN`, `play URL TOKEN`.

The server is that of `killing`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

import tiny
from itinera.api.live import run_live
from itinera.api.serving import work
from itinera.errors import ItineraError
from scripted_agents import Wanderer

HERE = Path(__file__)
CHALLENGE = """\
tasks = "{tasks}"
worlds = "{worlds}"
[phases.test]
kind = "live"
protocol = "r2r"
shots = 1
"""


def make_challenge(folder: Path, *, copies: int) -> Path:
    """The folder of a challenge whose episodes are those of `tiny`, so many times; its tasks."""
    files = tiny.on_graphs(folder)
    rows = json.loads(files.tasks.read_text())
    many = [row | {"path_id": 1000 * copy + number} for copy in range(copies) for number, row in enumerate(rows)]
    tasks = folder / "many.json"
    tasks.write_text(json.dumps(many))
    (folder / "challenge.toml").write_text(CHALLENGE.format(tasks=tasks, worlds=files.worlds))
    return tasks


class SlowWanderer(Wanderer):
    """Takes its time, so that kills find it in the middle of something, and five steps at least."""

    def start_episode(self, instruction):
        self.left = 5

    def act(self, observation):
        time.sleep(0.002)
        self.left -= 1
        moves = len(observation.candidates.nodes)
        return int(self.rng.integers(1, moves + 1)) if self.left > 0 and moves else 0

    def reset(self, rng: np.random.Generator) -> None:
        super().reset(rng)


def _work(url: str, folder: str, token: str) -> None:
    while True:
        try:
            work(url, folder, token=token).run()
        except ItineraError as error:
            print(error, file=sys.stderr)
            time.sleep(0.1)


def _play(url: str, token: str) -> None:
    try:
        report = run_live(SlowWanderer, url, phase="test", method="Wanderer", token=token, workers=2, wait=False)
    except ItineraError as error:
        if "No shots are left" not in str(error):
            raise
        print("The session was over when this participant was killed.", flush=True)
    else:
        print(report.entry, flush=True)


if __name__ == "__main__":
    {"work": _work, "play": _play}[sys.argv[1]](*sys.argv[2:])
