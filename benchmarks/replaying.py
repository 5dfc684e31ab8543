"""How large is a replay, and how soon is it seen? A tour of 100 episodes on the ground of a Hearth house.

The walker goes from place to place of its references in steps of a quarter of a metre, and is led from goal to start.
Wanted: at most 15 MB, and the first picture in Chromium, where it is installed, within 2 s.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np

from itinera.builders.ground_tasks import on_floor
from itinera.builders.hearth import build_place, paths_in
from itinera.records import Phase, Predictions, Rollout, Trajectory
from itinera.reports.replay.data import Replay
from itinera.reports.replay.frames import looking
from itinera.reports.replay.page import write_page
from itinera.reports.replay.trajectories import More, replay_of
from itinera.tasks import PROTOCOLS, Episode, Instruction, Split, Tour
from itinera.worlds import Array, Pose, World
from itinera.worlds.surface import Surface
from timing import cpu

EPISODES, STEP = 100, 0.25


def walked(surface: Surface, places: Array) -> Array:
    """(n, 3) steps over the ground through the places."""
    bends = np.concatenate([surface.route(a, b) for a, b in pairwise(places)])
    along = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(bends, axis=0), axis=1)))
    at = np.arange(0.0, along[-1] + STEP, STEP)
    return np.column_stack([np.interp(at, along, bends[:, axis]) for axis in range(3)])


def tour() -> Replay:
    house, graph = build_place(1, 1)
    surface = Surface.from_mesh(house.mesh, radius=0.1, height=1.5)
    floor = on_floor(graph, surface)
    references = [floor[graph.locate(path)] for path in paths_in(graph, 1, 1, EPISODES)]
    episodes, trajectories = [], []
    for k, reference in enumerate(references):
        text = Instruction("Go on as the path leads, past whatever stands there, and stop at its end. " * 3)
        episodes.append(Episode(str(k), house.id, Pose(reference[0]), reference[-1:], reference, text))
        led = walked(surface, np.stack([references[k - 1][-1], reference[0]])) if k else reference[:0]
        acted = walked(surface, reference)
        phases = (Phase.GUIDED_TO_START,) * len(led) + (Phase.ACTING,) * len(acted)
        trajectories.append(Trajectory(str(k), np.concatenate([led, acted]), phases=phases))
    split = Split("bench", tuple(episodes), (Tour("t", house.id, tuple(e.id for e in episodes)),), "r2r-ce")
    more = More(houses={house.id: house}, look=looking({house.id: house.mesh}))
    book = Predictions("bench", (Rollout("t", tuple(trajectories)),))
    return replay_of(
        {"walker": book}, split, {house.id: World(house.id, surface)}, protocol=PROTOCOLS["ivln-ce"], more=more
    )


def first_picture(page: Path) -> str:
    chromium = shutil.which("chromium")
    if chromium is None or find_spec("playwright") is None:
        return "no browser here"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = browser.new_page()
        began = time.perf_counter()
        opened.goto(page.as_uri())
        opened.locator("#walks[data-step]").wait_for()
        taken = time.perf_counter() - began
        browser.close()
    return f"first picture after {taken:.2f} s"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "replay.html"
        seconds = cpu(lambda: write_page(page, tour()))
        size = page.stat().st_size / 1e6
        print(f"replay of a tour of {EPISODES} episodes: {seconds:.2f} s CPU, {size:.2f} MB, {first_picture(page)}")


if __name__ == "__main__":
    main()
