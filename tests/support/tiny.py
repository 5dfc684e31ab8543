"""A tiny benchmark on disk in the released formats: two scans, R2R tasks, predictions and tours, and VLN-CE episodes.

The scans, 2 m from node to node:

    house: a-b-c-d-e-f        hut: p-q-r-s-t
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itinera.formats import matterport
from itinera.worlds import World
from text_worlds import graph

SCANS = {"house": "a-b-c-d-e-f", "hut": "p-q-r-s-t"}


def path(path_id: int, scan: str, nodes: str, instructions: int = 1, **fields: Any) -> dict[str, Any]:
    """A record of an R2R file; every letter of `nodes` is a node."""
    words = [f"go to {nodes[-1]} " for _ in range(instructions)]
    record = {"path_id": path_id, "scan": scan, "path": list(nodes), "heading": 1.0, "instructions": words}
    return record | {"distance": 2.0 * (len(nodes) - 1)} | fields


PATHS = [path(1, "house", "abc", 2), path(2, "house", "cde"), path(3, "hut", "pqr", 2)]

# Behavior, SR, NE, PL and SPL of each (goals are 4 m away, the success radius is 3 m):
WALKS = {
    "1_0": "abc",  #    arrives                     1, 0 m, 4 m, 1
    "1_1": "a",  #      stays at the start          0, 4 m, 0 m, 0
    "2_0": "cdef",  #   overshoots                  1, 2 m, 6 m, 4/6
    "3_0": "pqr",  #    arrives                     1, 0 m, 4 m, 1
    "3_1": "pqpqr",  #  turns back, then arrives    1, 0 m, 8 m, 4/8
}
MEANS = {"SR": 4 / 5, "OSR": 4 / 5, "NE": 6 / 5, "PL": 22 / 5, "SPL": (1 + 4 / 6 + 1 + 4 / 8) / 5}
PERFECT = {"1_0": "abc", "1_1": "abc", "2_0": "cde", "3_0": "pqr", "3_1": "pqr"}


def predictions(walks: Mapping[str, Sequence[str]] = WALKS) -> list[dict[str, Any]]:
    """The paths as an R2R submission."""
    return [{"instr_id": name, "trajectory": [[node, 0.5, 0.0] for node in walk]} for name, walk in walks.items()]


@dataclass(frozen=True)
class Files:
    """The paths of all files that scoring needs."""

    folder: Path
    predictions: Path
    tasks: Path
    worlds: Path
    tours: Path

    @property
    def options(self) -> list[str]:
        return ["--tasks", str(self.tasks), "--worlds", str(self.worlds)]

    def write(self, name: str, content: Any) -> Path:
        """Write another file: bytes and text unchanged, anything else as JSON."""
        return written(self.folder / name, content)


def written(target: Path, content: Any) -> Path:
    """The path, after writing content to it: bytes and text unchanged, anything else as JSON."""
    data = content if isinstance(content, bytes | str) else json.dumps(content)
    target.write_bytes(data.encode() if isinstance(data, str) else data)
    return target


def on_graphs(folder: Path) -> Files:
    """Two scans, five episodes of three paths, the predictions above, and tours of each scan."""
    matterport.write_worlds(folder / "connectivity", {n: World(n, graph(drawing)) for n, drawing in SCANS.items()})
    tours = {"tiny": {"house": [["1_0", "2_0"], ["1_1"]], "hut": [["3_0", "3_1"]]}}
    return Files(
        folder,
        predictions=written(folder / "preds.json", predictions()),
        tasks=written(folder / "R2R_tiny.json", PATHS),
        worlds=folder / "connectivity",
        tours=written(folder / "tours.json", tours),
    )


def ground_episode(episode_id: int, scan: str, path: Sequence[Sequence[float]]) -> dict[str, Any]:
    """A record of a VLN-CE file: x and z lie on the ground, y is up."""
    return {
        "episode_id": episode_id,
        "trajectory_id": episode_id,
        "scene_id": f"mp3d/{scan}/{scan}.glb",
        "start_position": path[0],
        "start_rotation": [0.0, 0.0, 0.0, 1.0],
        "info": {"geodesic_distance": 5.0},
        "goals": [{"position": path[-1], "radius": 3.0}],
        "instruction": {"instruction_text": "walk on", "instruction_tokens": [1, 2]},
        "reference_path": path,
    }


EAST = [[0.0, 0.0, 0.0], [5.0, 0.0, 0.0]]
SOUTH = [[0.0, 0.0, 0.0], [0.0, 0.0, 5.0]]


def states(points: Sequence[Sequence[float]], *, stop: bool = True) -> list[dict[str, Any]]:
    """A trajectory as VLN-CE submissions store it."""
    last = len(points) - 1
    return [{"position": p, "heading": 0.0, "stop": stop and i == last} for i, p in enumerate(points)]


# The first succeeds; the second reaches its goal but never stops.
GROUND_WALKS = {"1": states(EAST), "2": states(SOUTH, stop=False)}
GROUND = {"episodes": [ground_episode(1, "house", EAST), ground_episode(2, "hut", SOUTH)]}
# A dense reference for the first has three points, so that nDTW shows which reference was used.
DENSE = {
    "1": {"locations": [EAST[0], [2.5, 0.0, 0.0], EAST[1]], "actions": [1, 1, 0], "forward_steps": 2},
    "2": {"locations": SOUTH, "actions": [1, 0], "forward_steps": 1},
}
