"""Size and load time of a replay: a tour of 100 continuous episodes in a Hearth house.

The agent follows its reference paths in steps of 25 cm, and is guided from goal to start.
Target: at most 15 MB, and the first frame in Chromium, if installed, within 2 s.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np

from itinera.builders.ground_tasks import floor_positions
from itinera.builders.hearth import build_house_graph, sample_house_paths
from itinera.records import Phase, Predictions, Rollout, Trajectory
from itinera.reports.replay.data import Replay
from itinera.reports.replay.frames import make_view_renderer
from itinera.reports.replay.page import write_replay_page
from itinera.reports.replay.trajectories import make_replay
from itinera.tasks import PROTOCOLS, Episode, Instruction, Split, Tour
from itinera.worlds import Array, Pose, World
from itinera.worlds.surface import Surface
from timing import cpu

EPISODES, STEP = 100, 0.25


def follow(surface: Surface, places: Array) -> Array:
    """(n, 3) positions along the shortest paths through the places."""
    bends = np.concatenate([surface.route(a, b) for a, b in pairwise(places)])
    along = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(bends, axis=0), axis=1)))
    at = np.arange(0.0, along[-1] + STEP, STEP)
    return np.column_stack([np.interp(at, along, bends[:, axis]) for axis in range(3)])


def make_tour_replay() -> Replay:
    house, graph = build_house_graph(1, 1)
    surface = Surface.from_mesh(house.mesh, radius=0.1, height=1.5)
    floor = floor_positions(graph, surface)
    references = [floor[graph.locate(path)] for path in sample_house_paths(graph, 1, 1, EPISODES)]
    episodes, trajectories = [], []
    for k, reference in enumerate(references):
        text = Instruction("Go on as the path leads, past whatever stands there, and stop at its end. " * 3)
        episodes.append(Episode(str(k), house.id, Pose(reference[0]), reference[-1:], reference, text))
        guided = follow(surface, np.stack([references[k - 1][-1], reference[0]])) if k else reference[:0]
        acted = follow(surface, reference)
        phases = (Phase.GUIDED_TO_START,) * len(guided) + (Phase.ACTING,) * len(acted)
        trajectories.append(Trajectory(str(k), np.concatenate([guided, acted]), phases=phases))
    split = Split("bench", tuple(episodes), (Tour("t", house.id, tuple(e.id for e in episodes)),), "r2r-ce")
    predictions = Predictions("bench", (Rollout("t", tuple(trajectories)),))
    return make_replay(
        {"agent": predictions},
        split,
        {house.id: World(house.id, surface)},
        protocol=PROTOCOLS["ivln-ce"],
        houses={house.id: house},
        view_renderer=make_view_renderer({house.id: house.mesh}),
    )


def time_first_frame(page: Path) -> str:
    chromium = shutil.which("chromium")
    if chromium is None or find_spec("playwright") is None:
        return "no browser installed"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = browser.new_page()
        began = time.perf_counter()
        opened.goto(page.as_uri())
        opened.locator("#trajectories[data-step]").wait_for()
        taken = time.perf_counter() - began
        browser.close()
    return f"first frame after {taken:.2f} s"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "replay.html"
        seconds = cpu(lambda: write_replay_page(page, make_tour_replay()))
        size = page.stat().st_size / 1e6
        print(f"replay of a tour of {EPISODES} episodes: {seconds:.2f} s CPU, {size:.2f} MB, {time_first_frame(page)}")


if __name__ == "__main__":
    main()
