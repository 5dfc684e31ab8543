"""Small work of every kind that engines do: each case writes a file, of which every byte must be the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import itinera
import tiny

CLIENT = Path(__file__).parents[3] / "examples" / "client.py"


def write_inputs(folder: Path) -> None:
    """Graph tasks, trials of a study, and scenes with tasks on the ground."""
    from adversary.kills import write_graph_tasks, write_scenes, write_study

    for name, write in (("graph", lambda at: write_graph_tasks(at, paths=4)), ("study", write_study)):
        (folder / name).mkdir()
        write(folder / name)
    (folder / "ground").mkdir()
    write_scenes(folder / "ground")
    tiny.on_graphs(folder / "graph")


def run_graph(inputs: Path, out: Path, **engine: Any) -> None:
    graph = inputs / "graph"
    itinera.run("random", graph / "R2R_tiny.json", graph / "connectivity", seed=3, out=out, **engine)


def run_tours(inputs: Path, out: Path, **engine: Any) -> None:
    files = tiny.on_graphs(inputs / "graph")
    itinera.run("random", files.tasks, files.worlds, tours=files.tours, seed=3, out=out, **engine)


def run_remote(inputs: Path, out: Path, **engine: Any) -> None:
    graph = inputs / "graph"
    command = f"{sys.executable} {CLIENT}"
    tasks, worlds = graph / "R2R_tiny.json", graph / "connectivity"
    itinera.run(None, tasks, worlds, command=command, max_episodes=12, out=out, **engine)


def run_ground(inputs: Path, out: Path, **engine: Any) -> None:
    itinera.run("random", inputs / "ground/tasks.json", inputs / "ground/scenes", seed=3, out=out, **engine)


def build_r4r(inputs: Path, out: Path, **engine: Any) -> None:
    graph = inputs / "graph"
    tasks, worlds = graph / "R2R_tiny.json", graph / "connectivity"
    itinera.build_r4r(tasks, worlds, out, threshold=9.0, **engine)


def fastest_times(inputs: Path, out: Path, **engine: Any) -> None:
    itinera.fastest_times(inputs / "ground/tasks.json", inputs / "ground/scenes", out=out, **engine)


def run_study(inputs: Path, out: Path, **engine: Any) -> None:
    study = inputs / "study"
    itinera.run_study("uniform", study / "trials.jsonl", study / "connectivity", out=out, **engine)


CASES: dict[str, Callable[..., None]] = {
    "graph": run_graph,
    "tours": run_tours,
    "remote": run_remote,
    "ground": run_ground,
    "r4r": build_r4r,
    "fastest-times": fastest_times,
    "study": run_study,
}


def square(base: int, number: int) -> tuple[int, int]:
    """Something to map, and the process that did it."""
    import os

    return base + number * number, os.getpid()


def refuse(number: int) -> int:
    """Something that fails with words."""
    from itinera.errors import BadArgument

    if number == 3:
        raise BadArgument("three is too many.")
    return number


def read(path: Path, number: int) -> tuple[str, str]:
    """The content of a file, and where it was."""
    return (path / "note.txt").read_text() + str(number), str(path)
