"""Cost of a Ray cluster: overhead against processes, memory of a node, and recovery from the death of a node.

`make bench` runs this. Both engines run the same graph episodes with two workers, by turns; what counts is the ratio.
CPU time is that of this process and all that it started, because other programs slow the clock of both. Recovery: three
nodes of one core sleep through 40 chunks of 0.25 s, and one is killed after 2 s; from then on two can do the rest.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "support")]
os.environ["PYTHONPATH"] = os.pathsep.join([*filter(None, sys.path)])  # for the workers of the cluster

import itinera  # noqa: E402
from adversary.cluster_kills import KillableCluster, nap  # noqa: E402
from adversary.kills import write_graph_tasks  # noqa: E402
from itinera.agents.process_tree import descendants  # noqa: E402
from itinera.runs.engines import Engine  # noqa: E402
from itinera.runs.engines.processes import ProcessEngine  # noqa: E402
from itinera.runs.engines.ray_cluster import RayEngine  # noqa: E402

WORKERS = 2
INSTRUCTIONS, SCANS = 3, 6  # of the tasks that write_graph_tasks makes
CHUNKS, SECONDS, KILLED_AFTER, HEALTH_SECONDS = 40, 0.25, 2.0, 4.0  # three checks of 1 s, after a delay of 1 s
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """What a run took."""

    wall: float
    cpu: float  # seconds of all processes
    memory: float  # megabytes (PSS) of the other processes


def main() -> None:
    parser = argparse.ArgumentParser(description="Cost of a Ray cluster.")
    parser.add_argument("--episodes", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        write_graph_tasks(Path(folder), paths=arguments.episodes // (INSTRUCTIONS * SCANS))
        compare(console, Path(folder), arguments.repeats)
    recover(console)


def compare(console: Console, folder: Path, repeats: int) -> None:
    """Print the costs of both engines."""
    run = partial(itinera.run, "random", folder / "R2R_tiny.json", folder / "connectivity", workers=WORKERS)
    costs: dict[str, list[Cost]] = {"processes": [], "ray": []}
    began = time.perf_counter()
    with RayEngine(workers=WORKERS) as ray_engine:
        list(ray_engine.map(abs, range(WORKERS)))
        start = time.perf_counter() - began
        for number in range(repeats):
            for name, engine in (("processes", ProcessEngine(WORKERS)), ("ray", ray_engine)):
                costs[name].append(measure(partial(run, out=folder / f"{name}{number}.jsonl"), engine))
    rows = [(folder / f"{name}0.jsonl").read_bytes().partition(b"\n")[2] for name in costs]
    assert rows[0] == rows[1]
    table = Table(title=f"{len(rows[0].splitlines())} graph episodes, {WORKERS} workers (minimum of {repeats})")
    for column in ("engine", "wall, s", "CPU, s", "memory of all workers, MB"):
        table.add_column(column, justify="right")
    best = {
        name: Cost(*(min(getattr(c, f) for c in of) for f in ("wall", "cpu", "memory"))) for name, of in costs.items()
    }
    for name, cost in best.items():
        table.add_row(name, f"{cost.wall:.1f}", f"{cost.cpu:.1f}", f"{cost.memory:.0f}")
    console.print(table)
    ratios = (100 * (getattr(best["ray"], name) / getattr(best["processes"], name) - 1) for name in ("wall", "cpu"))
    wall, cpu = ratios
    console.print(f"Overhead of Ray: {wall:+.1f} % wall, {cpu:+.1f} % CPU; its start takes {start:.1f} s more.")


def measure(run: partial[object], engine: Engine) -> Cost:
    """The cost of a run; that of processes includes their start, as nobody keeps them."""
    before, began = spent(), time.perf_counter()
    peak = [0.0]

    def look(score: object) -> None:
        if not peak[0] or random.random() < 0.001:
            peak[0] = max(peak[0], memory())

    run(engine=engine, progress=look)
    wall = time.perf_counter() - began
    return Cost(wall, spent() - before, peak[0])


def spent() -> float:
    """CPU seconds of this process and its descendants, those that ended included."""
    total = sum(os.times()[:4])
    for pid in descendants(os.getpid()):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15])) / TICKS
    return total


def memory() -> float:
    """Megabytes of all descendants; what they share counts once."""
    total = 0
    for pid in descendants(os.getpid()):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def recover(console: Console) -> None:
    """Print how long the chunks take when a node dies."""
    cluster = KillableCluster(random.Random(0))
    try:
        with RayEngine(cluster.engine.removeprefix("ray:")) as engine:
            list(engine.map(nap, [SECONDS] * 2 * engine.workers))  # starts the workers
            calm = map_all(engine, None)
            killed = map_all(engine, cluster)
    finally:
        cluster.close()
    done = KILLED_AFTER * 3 / SECONDS
    ideal = KILLED_AFTER + (CHUNKS - done) * SECONDS / 2
    bound = 1.2 * ideal + HEALTH_SECONDS
    console.print(
        f"Undisturbed {calm:.1f} s (ideal {CHUNKS * SECONDS / 3:.1f} s). A node dies after {KILLED_AFTER:g} s: "
        f"{killed:.1f} s (ideal {ideal:.1f} s; 1.2 × ideal + {HEALTH_SECONDS:g} s of health checks is {bound:.1f} s)."
    )


def map_all(engine: Engine, cluster: KillableCluster | None) -> float:
    """Seconds for all chunks; a node of the cluster is killed meanwhile."""
    import threading

    began = time.perf_counter()
    timer = threading.Timer(KILLED_AFTER, cluster.kill_node, kwargs={"replace": False}) if cluster else None
    if timer is not None:
        timer.start()
    found = sorted(number for number, _ in engine.map(nap, [SECONDS] * CHUNKS))
    assert found == [*range(CHUNKS)]
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
