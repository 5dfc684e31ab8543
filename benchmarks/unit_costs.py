"""Unit costs: CPU seconds, memory and bytes of an episode, a house, a path and an entry, as docs/scaling.md uses them.

    python benchmarks/unit_costs.py --season hearth --json costs.json

The season is one of `itinera build hearth` (90 houses). Every unit is measured in a fresh process, in CPU time, which a
busy machine changes less than wall time; a short and a long run give the cost of a unit and the fixed cost of a chunk.
The memory is the peak of that process. Takes about a minute of one core.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import itinera

SPLIT = "val_unseen"


@dataclass(frozen=True)
class UnitCost:
    """What one more unit costs, and what a process pays before the first."""

    name: str
    units: int  # of the long run
    seconds: float  # of CPU, per unit
    fixed: float  # seconds of CPU, per process, imports not counted
    memory: float  # MiB, peak of the process
    size: float  # bytes per unit, packed with gzip where the file is read packed


Work = Callable[[Path, Path, int], float]  # season, folder, units -> bytes written


def graph_run(season: Path, folder: Path, units: int) -> float:
    """Episodes of R2R on graphs, by the random agent."""
    return _run(season / f"r2r/R2R_{SPLIT}.json", season, folder, units, agent="random")


def ground_run(season: Path, folder: Path, units: int) -> float:
    """Episodes of PointNav on the ground by the expert, without images."""
    return _run(season / f"pointnav/{SPLIT}/{SPLIT}.json.gz", season, folder, units, agent="expert")


def camera_run(season: Path, folder: Path, units: int) -> float:
    """The same with a camera of 128 x 128 pixels, color and depth."""
    tasks = season / f"pointnav/{SPLIT}/{SPLIT}.json.gz"
    return _run(tasks, season, folder, units, agent="expert", camera="128x128")


def _run(tasks: Path, season: Path, folder: Path, units: int, agent: str, **options: Any) -> float:
    out = folder / "predictions.jsonl.gz"
    itinera.run(agent, tasks, season, seed=1, workers=0, out=out, max_episodes=units, overwrite=True, **options)
    return out.stat().st_size


def score(season: Path, folder: Path, units: int) -> float:
    """Scoring of graph episodes with the suite of the papers, and the bundle."""
    tasks = itinera.read_tasks(season / f"r2r/R2R_{SPLIT}.json")[:units]
    predictions = folder / f"{units}.jsonl"
    if not predictions.exists():  # before the clock starts
        itinera.run("random", tasks, season, seed=1, workers=0, out=predictions)
        return -1
    itinera.score(predictions, tasks, season, out=folder / "scores.jsonl")
    return (folder / "scores.jsonl").stat().st_size


def replay(season: Path, folder: Path, units: int) -> float:
    """Replay of graph episodes from their actions, as a challenge server judges entries."""
    tasks = itinera.read_tasks(season / f"r2r/R2R_{SPLIT}.json")[:units]
    predictions = folder / f"{units}.jsonl.gz"
    if not predictions.exists():
        itinera.run("random", tasks, season, seed=1, workers=0, out=predictions)
        return -1
    assert itinera.replay(predictions, tasks, season).identical
    return predictions.stat().st_size


def house(season: Path, folder: Path, units: int) -> float:
    """Houses of Hearth with their tasks."""
    from itinera.hearth.season import public_season
    from itinera.runs.build_season import SeasonConfig, build_part

    config = SeasonConfig(public_season(1), folder / str(units), 90)
    for index in range(10, 10 + units):
        build_part(config, index)
    return sum(file.stat().st_size for file in (folder / str(units)).rglob("*") if file.is_file())


def joined_path(season: Path, folder: Path, units: int) -> float:
    """Paths of R4R with all their instructions; 18 scenes, of which units paths each are drawn."""
    out = folder / "R4R.json"
    itinera.build_r4r(season / f"r2r/R2R_{SPLIT}.json", season, out, max_paths=units, overwrite=True, allow_large=True)
    return out.stat().st_size


def fastest_time(season: Path, folder: Path, units: int) -> float:
    """Fastest times of PointNav episodes."""
    tasks = itinera.read_tasks(season / f"pointnav/{SPLIT}/{SPLIT}.json.gz")[:units]
    out = folder / "times.jsonl"
    itinera.fastest_times(tasks, season, out=out, workers=1, overwrite=True)
    return out.stat().st_size


WORK: dict[str, tuple[Work, int, int]] = {  # with the units of the short and of the long run
    "graph episode": (graph_run, 60, 1500),
    "ground episode": (ground_run, 2, 20),
    "ground episode, camera": (camera_run, 1, 5),
    "scored episode": (score, 60, 1500),
    "replayed episode": (replay, 60, 1500),
    "house": (house, 1, 3),
    "joined path": (joined_path, 5, 100),
    "fastest time": (fastest_time, 4, 28),
}


def _measure(name: str, season: Path, pipe: Any) -> None:
    work, few, many = WORK[name]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        while work(season, place, few) < 0:  # makes the input, then loads compiled kernels
            pass
        found = {}
        for units in (few, many):
            written, used = -1.0, 0.0
            while written < 0:
                began = time.process_time()
                written = work(season, place, units)
                used = time.process_time() - began
            found[units] = used, written
    scale = 18 if name == "joined path" else 1  # scenes
    (short, little), (long, much) = found[few], found[many]
    each = (long - short) / (many - few) / scale
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = (much - little) / (many - few) / scale
    pipe.send(UnitCost(name, many * scale, each, max(short - each * few * scale, 0.0), memory, size))


def measure(name: str, season: Path) -> UnitCost:
    """The unit cost of this work, measured in a process of its own."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(name, season, sender))
    process.start()
    sender.close()
    found: UnitCost = receiver.recv()
    process.join()
    return found


def main(
    season: Annotated[Path, typer.Option(help="Folder of a Hearth season.")],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the costs to this file.")] = None,
    only: Annotated[list[str] | None, typer.Option(help=f"One of: {', '.join(WORK)}. May be repeated.")] = None,
) -> None:
    """Print the unit costs."""
    table = Table("unit", "measured", "CPU s", "fixed CPU s", "MiB", "bytes")
    costs = [measure(name, season) for name in (only or WORK)]
    for cost in costs:
        numbers = (
            f"{cost.units:,}",
            f"{cost.seconds:.5f}",
            f"{cost.fixed:.2f}",
            f"{cost.memory:.0f}",
            f"{cost.size:,.0f}",
        )
        table.add_row(cost.name, *numbers)
    Console().print(table)
    if json_file is not None:
        json_file.write_text(json.dumps([asdict(cost) for cost in costs], indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)
