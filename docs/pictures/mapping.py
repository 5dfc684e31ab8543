"""The pictures of docs/mapping.md: what an expert maps over an episode and over a tour, and a replay with its map.

    itinera build hearth --out hearth
    python docs/pictures/mapping.py hearth

Writes mapping-episode.png, mapping-tour.png and, with Debian's chromium and Python's playwright, mapping-replay.png
beside this script.
"""

from __future__ import annotations

import math
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

import itinera
from itinera.agents.mapping_agent import MappingAgent
from itinera.agents.registry import AGENTS, AgentContext
from itinera.formats.catalog import read_surfaces
from itinera.mapping.config import MapLifetime
from itinera.mapping.drawing import draw_columns, draw_egocentric_map
from itinera.mapping.egocentric_map import EgocentricMaps, SemanticMaps
from itinera.mapping.known_map import known_map
from itinera.mapping.labels import PAPER_LEGEND, paper_table
from itinera.mapping.mapper import EgocentricMapper
from itinera.records import Trajectory
from itinera.rendering.camera import Camera
from itinera.rendering.rasterizer import Rasterizer
from itinera.simulators.sensors import CameraSensor
from itinera.tasks import PROTOCOLS, Split, Tour
from itinera.worlds import World

HERE = Path(__file__).parent
SENSOR = CameraSensor(Camera(128, 128, math.radians(90)), channels=("depth", "classes"))
EPISODES, STEPS = 4, (0, 8, 16, 24, 32)  # of the tour, and of the third episode's row
LIFT = np.array([0.0, 0.0, SENSOR.height])


def read_tour(season: Path) -> tuple[Split, World]:
    """Four episodes of the first house of val-unseen with two storeys as a tour, and the house."""
    split = itinera.read_tasks(season / "vlnce" / "val_unseen" / "val_unseen.json.gz")
    worlds = read_surfaces(season, PROTOCOLS["ivln-ce"])
    for world_id in split.world_ids:
        here = [episode for episode in split if episode.world_id == world_id]
        paths = {episode.path_id or episode.id: episode for episode in here}
        chosen = tuple(paths.values())[:EPISODES]
        if len(SemanticMaps([worlds[world_id]]).columns(0).grids.floors) > 1:
            tour = Tour("tour", world_id, tuple(episode.id for episode in chosen))
            return Split(split.name, chosen, protocol=split.protocol).with_tours((tour,)), worlds[world_id]
    raise SystemExit("no house of val-unseen has two storeys")


def run_expert(split: Split, world: World, lifetime: MapLifetime) -> list[Trajectory]:
    """The expert's trajectories with the maps it held."""
    worlds = {world.id: world}
    protocol = PROTOCOLS["ivln-ce"]
    expert = AGENTS["expert"](AgentContext("expert", protocol, worlds, lambda: split, False))
    mapper = EgocentricMapper(worlds, SENSOR.camera, lifetime=lifetime)
    return list(itinera.run(MappingAgent(expert, mapper), split, worlds, camera=SENSOR, record="maps"))


def draw_episode(runs: dict[MapLifetime, list[Trajectory]], out: Path) -> None:
    """A row for each lifetime: the map held at some steps of the third episode."""
    figure = Figure(figsize=(10.5, 6.9), layout="constrained")
    axes = figure.subplots(len(runs), len(STEPS))
    for row, (lifetime, trajectories) in zip(axes, runs.items(), strict=True):
        trajectory = trajectories[2]
        first = next(
            k for k, phase in enumerate(trajectory.phases or ["acting"]) if getattr(phase, "value", phase) == "acting"
        )
        occupancy, labels = trajectory.maps.decode()
        for ax, step in zip(row, STEPS, strict=True):
            k = min(first + step, len(occupancy) - 1)
            held = EgocentricMaps(occupancy[k], labels[k])
            trail = trajectory.places[first : k + 1]
            ax.imshow(
                draw_egocentric_map(
                    held, scale=6, trail=trail, position=trajectory.places[k], heading=trajectory.headings[k]
                )
            )
            ax.set_title(f"step {k - first}" if lifetime is MapLifetime.EPISODIC else "", fontsize=9)
            ax.set_xticks([])
            ax.set_yticks([])
        row[0].set_ylabel(lifetime.value, fontsize=10)
    _add_legend(figure)
    figure.savefig(out, dpi=90, pil_kwargs={"optimize": True})


def draw_tour(world: World, trajectories: list[Trajectory], out: Path) -> None:
    """The stored map of the lower storey after the first, second and last episode, and the known one."""
    maps, raster = SemanticMaps([world]), Rasterizer(world.mesh)
    figure = Figure(figsize=(11.5, 3.6), layout="constrained")
    axes = figure.subplots(1, 4)
    shown, places = 0, np.empty((0, 3))
    for number, trajectory in enumerate(trajectories, 1):
        frames = raster.render_many(
            SENSOR.camera, trajectory.places + LIFT, trajectory.headings, channels=("depth", "classes")
        )
        lanes = np.zeros(len(trajectory.places), dtype=int)
        maps.insert(
            frames.depth, frames.classes, trajectory.places + LIFT, trajectory.headings, SENSOR.camera, lanes,
            table=paper_table(),
        )  # fmt: skip
        places = np.concatenate([places, trajectory.places])
        if number in (1, 2, len(trajectories)):
            trail = places[places[:, 2] < 2.0]
            axes[shown].imshow(draw_columns(maps.columns(0), 0, trail=trail))
            axes[shown].set_title(f"after {number} episode{'s' if number > 1 else ''}", fontsize=9)
            shown += 1
    axes[shown].imshow(draw_columns(known_map(world), 0))
    axes[shown].set_title("known", fontsize=9)
    for ax in axes:
        ax.axis("off")
    _add_legend(figure)
    figure.savefig(out, dpi=90, pil_kwargs={"optimize": True})


def _add_legend(figure: Any) -> None:
    patches = [Patch(color=np.array(color) / 255, label=name.replace("_", " ")) for name, color in PAPER_LEGEND[1:]]
    figure.legend(handles=patches, loc="outside lower center", ncols=6, fontsize=8, frameon=False)


def draw_replay(split: Split, season: Path, runs: dict[MapLifetime, list[Trajectory]], out: Path) -> None:
    """A page of `itinera show` in Chromium."""
    from playwright.sync_api import sync_playwright

    from itinera.records import Predictions, Rollout

    predictions = Predictions("", (Rollout("tour", tuple(runs[MapLifetime.ITERATIVE])),))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page_file = Path(folder) / "replay.html"
        itinera.show({"expert": predictions}, split, season, tour="tour", out=page_file)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800}, device_scale_factor=1.25)
        page.emulate_media(reduced_motion="reduce")
        page.goto(f"{page_file.as_uri()}#{split[2].id}")
        for _ in range(40):
            page.keyboard.press("ArrowRight")
        page.wait_for_timeout(300)
        page.screenshot(path=out)
        browser.close()


def main(season: Path) -> None:
    split, world = read_tour(season)
    runs = {lifetime: run_expert(split, world, lifetime) for lifetime in MapLifetime}
    draw_episode(runs, HERE / "mapping-episode.png")
    draw_tour(world, runs[MapLifetime.ITERATIVE], HERE / "mapping-tour.png")
    if shutil.which("chromium"):
        draw_replay(split, season, runs, HERE / "mapping-replay.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
