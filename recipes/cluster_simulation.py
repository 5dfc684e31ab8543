"""How long does a run take on 1,000 workers? A discrete-event simulation, checked against real runs with two workers.

    python recipes/cluster_simulation.py --season hearth --picture cluster.png

Workers take chunks from one queue, or each works on its own shard. Scenes differ in size and in the cost of their
episodes, a worker pays for loading a scene whenever its scene changes, some workers are slow, workers fail and come
back, and the driver hands out one chunk at a time. The output is the time from the first chunk to the last, by the
length of chunks and by their order.

The check runs three workloads with two worker processes: graph episodes and ground episodes in shards of `itinera run`,
and houses of `itinera build hearth`. Each chunk reports its own CPU and wall time. The prediction knows the CPU time of
every chunk, when the workers were ready, the order, and one number for the load of the machine, the ratio of wall to
CPU time over the whole run, because other processes share the machine. It does not know when anything ended.

Expected: predictions within 15 % of all three; at a load of 38 on two cores, they were off by -0.6, -0.8 and +0.8 %. On
1,000 workers, chunks of 10 s are best in every order: 2.3 times the ideal of 108 s, 1.7 with the longest first. Shorter
ones wait for the driver and, out of the order of the file, for scenes to load; longer ones, and one shard a worker,
wait for the slowest worker at the end.
"""

from __future__ import annotations

import heapq
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.random import Generator
from rich.console import Console
from rich.table import Table

import itinera
from itinera.runs.engines.processes import parallel_map
from itinera.seeding import generator

LENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # seconds of an average chunk
ORDERS = ("file", "random", "longest first")
SPLIT = "val_unseen"


@dataclass(frozen=True)
class Chunk:
    """Work that one worker does at a stretch."""

    scene: int
    seconds: float  # on a worker of normal speed, the scene loaded


@dataclass(frozen=True)
class Cluster:
    """Workers and what goes wrong with them. Seconds; the dispatch and detection times were measured with Ray."""

    workers: int = 1000
    dispatch: float = 0.0009  # of the driver, for one chunk
    loading: float = 4.0  # of a scene
    start: float = 10.0  # until a worker is ready, on average
    spread: float = 0.10  # standard deviation of the logarithm of a worker's speed
    slow: float = 0.02  # share of workers that are SLOWDOWN times slower
    slowdown: float = 4.0
    between_failures: float = 24 * 3600.0  # of one worker, on average
    detection: float = 3.0  # until a lost chunk is handed out again
    restart: float = 60.0  # until a failed worker is back


QUIET = Cluster(spread=0.0, slow=0.0, between_failures=math.inf, start=0.0, loading=0.0, dispatch=0.0)


@dataclass(frozen=True)
class Outcome:
    """What a simulated run took."""

    makespan: float  # seconds
    lost: float  # seconds of work that was done and lost
    loaded: int  # scenes loaded, all workers together


def simulate(
    chunks: Sequence[Chunk], cluster: Cluster, rng: Generator, *, ready: Sequence[float] = (), resumes: bool = False
) -> Outcome:
    """The outcome of a run that hands out these chunks in order.

    ready: when each worker is ready, if that is known. resumes: a chunk that was lost continues where it was, as a
    shard does, instead of starting anew.
    """
    speeds = np.exp(rng.normal(0.0, cluster.spread, cluster.workers))
    speeds *= np.where(rng.random(cluster.workers) < cluster.slow, cluster.slowdown, 1.0)
    begin = ready or rng.exponential(cluster.start, cluster.workers).tolist()
    workers = [(begin[number], number) for number in range(cluster.workers)]
    heapq.heapify(workers)
    fails = [_next_failure(cluster, rng) for _ in workers]
    at = [-1] * cluster.workers  # the scene of each worker
    queue, again = iter(enumerate(chunks)), []  # again: chunks that were lost, by when that is known
    makespan = lost = driver = 0.0
    loaded = 0
    while workers:
        now, worker = heapq.heappop(workers)
        if again and again[0][0] <= now:
            _, number, chunk = heapq.heappop(again)
        elif (found := next(queue, None)) is not None:
            number, chunk = found
        elif again:
            now, number, chunk = heapq.heappop(again)
        else:
            continue  # nothing is left for this worker, nor for the others
        driver = begun = max(now, driver) + cluster.dispatch
        loads = chunk.scene != at[worker]
        end = begun + (cluster.loading if loads else 0.0) + chunk.seconds * float(speeds[worker])
        loaded, at[worker] = loaded + loads, chunk.scene
        if fails[worker] < end:
            failed = max(fails[worker], begun)
            done = max(failed - begun - cluster.loading * loads, 0.0) / float(speeds[worker]) if resumes else 0.0
            lost += failed - begun - done
            heapq.heappush(again, (failed + cluster.detection, number, replace(chunk, seconds=chunk.seconds - done)))
            heapq.heappush(workers, (failed + cluster.restart, worker))
            at[worker], fails[worker] = -1, failed + cluster.restart + _next_failure(cluster, rng)
        else:
            makespan = max(makespan, end)
            heapq.heappush(workers, (end, worker))
    return Outcome(makespan, lost, loaded)


def _next_failure(cluster: Cluster, rng: Generator) -> float:
    return float(rng.exponential(cluster.between_failures)) if math.isfinite(cluster.between_failures) else math.inf


# 1,000 workers: what to run on them, and in which order.


@dataclass(frozen=True)
class Workload:
    """Episodes of scenes, as many as Gibson's PointNav training split has."""

    episodes: int = 3_600_000
    scenes: int = 72
    seconds: float = 0.03  # of an average episode
    scene_spread: float = 0.6  # standard deviation of the logarithm of a scene's size, and of the cost of its episodes
    episode_spread: float = 1.0  # the same of the cost of an episode within its scene


def make_chunks(work: Workload, length: float, rng: Generator) -> list[Chunk]:
    """Chunks of equally many episodes, `length` seconds on average, scene after scene."""
    sizes = np.exp(rng.normal(0.0, work.scene_spread, work.scenes))
    costs = np.exp(rng.normal(0.0, work.scene_spread, work.scenes))
    episodes = sizes / sizes.sum() * work.episodes
    costs *= work.seconds * work.episodes / (costs * episodes).sum()
    each = length / work.seconds
    noise = work.episode_spread / math.sqrt(max(each, 1.0))
    chunks = []
    for scene in range(work.scenes):
        count = max(round(episodes[scene] / each), 1)
        share = episodes[scene] * costs[scene] / count
        factors = np.exp(rng.normal(-noise * noise / 2, noise, count))
        chunks += [Chunk(scene, share * float(factor)) for factor in factors]
    return chunks


def order_chunks(chunks: Sequence[Chunk], order: str, rng: Generator) -> list[Chunk]:
    """The chunks in this order; the longest are known to within 30 %, as from an earlier run."""
    if order == "random":
        return [chunks[index] for index in rng.permutation(len(chunks))]
    if order == "longest first":
        guesses = [chunk.seconds * math.exp(rng.normal(0.0, 0.3)) for chunk in chunks]
        return [chunks[index] for index in np.argsort(guesses)[::-1]]
    return list(chunks)


def make_shards(chunks: Sequence[Chunk], count: int) -> list[Chunk]:
    """Blocks of consecutive chunks, one for each worker; a shard loads the scene that it begins in."""
    bounds = [number * len(chunks) // count for number in range(count + 1)]
    blocks = [chunks[low:high] for low, high in pairwise(bounds)]
    return [Chunk(block[0].scene, sum(chunk.seconds for chunk in block)) for block in blocks if block]


def compare_orders(work: Workload, cluster: Cluster, *, seeds: int) -> dict[tuple[str, float], list[float]]:
    """Makespans divided by the ideal time, by order and length of chunks; shards are those of 0."""
    found: dict[tuple[str, float], list[float]] = {}
    ideal = work.episodes * work.seconds / cluster.workers
    for seed in range(seeds):
        for length in LENGTHS:
            chunks = make_chunks(work, length, generator(seed, "chunks"))
            for order in ORDERS:
                rng = generator(seed, "cluster", order, str(length))
                outcome = simulate(order_chunks(chunks, order, rng), cluster, rng)
                found.setdefault((order, length), []).append(outcome.makespan / ideal)
        for factor in (1, 4, 16):
            shards = make_shards(make_chunks(work, 0.3, generator(seed, "chunks")), factor * cluster.workers)
            outcome = simulate(shards, cluster, generator(seed, "shards", str(factor)), resumes=True)
            found.setdefault((f"{factor} shard{'s' * (factor > 1)} a worker", 0.0), []).append(outcome.makespan / ideal)
    return found


# The check: real chunks of real commands, with two workers.


@dataclass(frozen=True)
class Record:
    """A chunk that a worker did. Seconds since the epoch, and of CPU."""

    worker: int
    begun: float
    ended: float
    cpu: float


def timed(work: Callable[[int], object], job: int) -> Record:
    """The record of a chunk."""
    begun, used = time.time(), time.process_time()
    work(job)
    return Record(os.getpid(), begun, time.time(), time.process_time() - used)


def graph_chunk(season: Path, count: int, job: int) -> None:
    """A shard of graph episodes of the random agent."""
    tasks = season / f"r2r/R2R_{SPLIT}.json"
    itinera.run("random", tasks, season, seed=1, workers=0, shard=f"{job + 1}/{count}")


def ground_chunk(season: Path, count: int, job: int) -> None:
    """A shard of PointNav episodes of the expert."""
    tasks = season / f"pointnav/{SPLIT}/{SPLIT}.json.gz"
    itinera.run("expert", tasks, season, seed=1, workers=0, max_episodes=6 * count, shard=f"{job + 1}/{count}")


def house_chunk(folder: Path, job: int) -> None:
    """A house of Hearth with its tasks."""
    from itinera.hearth.season import public_season
    from itinera.runs.build_season import SeasonConfig, build_part

    build_part(SeasonConfig(public_season(1), folder, 90), 10 + job)


@dataclass(frozen=True)
class Checked:
    """A real run beside its prediction, seconds."""

    name: str
    chunks: int
    cpu: float
    load: float  # wall time by CPU time in the chunks
    measured: float
    predicted: float

    @property
    def error(self) -> float:
        """The prediction's relative error."""
        return self.predicted / self.measured - 1


def check(name: str, work: Callable[[int], object], jobs: int) -> Checked:
    """Run the jobs with two workers, and predict the time from the first chunk to the last."""
    records = dict(parallel_map(partial(timed, work), range(jobs), workers=2))
    ordered = [records[number] for number in range(jobs)]
    first = min(record.begun for record in ordered)
    ready = sorted({record.worker: record.begun for record in reversed(ordered)}.values())
    cpu, wall = (sum(values) for values in zip(*((r.cpu, r.ended - r.begun) for r in ordered), strict=True))
    chunks = [Chunk(0, record.cpu * wall / cpu) for record in ordered]
    cluster = replace(QUIET, workers=len(ready))
    outcome = simulate(chunks, cluster, generator(0), ready=[begun - first for begun in ready])
    return Checked(name, jobs, cpu, wall / cpu, max(record.ended for record in ordered) - first, outcome.makespan)


def check_all(season: Path) -> Iterator[Checked]:
    """The three workloads."""
    yield check("run, graph", partial(graph_chunk, season, 24), 24)
    yield check("run, ground", partial(ground_chunk, season, 12), 12)
    with tempfile.TemporaryDirectory() as folder:
        yield check("build hearth", partial(house_chunk, Path(folder)), 7)


def draw(found: dict[tuple[str, float], list[float]], path: Path) -> None:
    """Draw makespans by the length of chunks."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.2, 4.0), layout="constrained")
    for order, color, marker in zip(ORDERS, ("#00796b", "#bf4a00", "#3949ab"), "os^", strict=True):
        axes.plot(
            LENGTHS, [np.mean(found[order, length]) for length in LENGTHS], marker, ls="-", color=color, label=order
        )
    for (name, length), values in found.items():
        if not length:
            axes.hlines(float(np.mean(values)), LENGTHS[0], LENGTHS[-1], color="#767676", lw=1, ls=":")
            axes.text(LENGTHS[-1] * 1.2, float(np.mean(values)), name, va="center", fontsize=8, color="#555")
    axes.axhline(1.0, color="#222", lw=0.8)
    axes.set(xscale="log", yscale="log", xlabel="average chunk (s)", ylabel="makespan / ideal")
    axes.set_xticks(LENGTHS, [f"{length:g}" for length in LENGTHS])
    ticks = (1, 1.5, 2, 3, 4, 6, 8, 12, 16)
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.legend(title="order of chunks", frameon=False, loc="upper center")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def main(
    season: Annotated[Path | None, typer.Option(help="Folder of a Hearth season, for the check.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the makespans into this file.")] = None,
    seeds: Annotated[int, typer.Option(help="Simulations of each row.")] = 3,
) -> None:
    """Simulate 1,000 workers, and check the simulation against real runs."""
    console, work, cluster = Console(width=100), Workload(), Cluster()
    found = compare_orders(work, cluster, seeds=seeds)
    ideal = work.episodes * work.seconds / cluster.workers
    title = f"{work.episodes:,} episodes on {cluster.workers:,} workers: makespan / ideal ({ideal:.0f} s)"
    table = Table("order", *(f"{length:g} s" for length in LENGTHS), title=title)
    for order in ORDERS:
        table.add_row(order, *(f"{np.mean(found[order, length]):.2f}" for length in LENGTHS))
    console.print(table)
    for (name, length), values in found.items():
        if not length:
            console.print(f"{name}: {np.mean(values):.2f}")
    if picture is not None:
        draw(found, picture)
    if season is not None:
        table = Table("run", "chunks", "CPU s", "wall / CPU", "measured s", "predicted s", "error", title="Two workers")
        checks = list(check_all(season))
        for one in checks:
            numbers = f"{one.cpu:.1f}", f"{one.load:.2f}", f"{one.measured:.1f}", f"{one.predicted:.1f}"
            table.add_row(one.name, str(one.chunks), *numbers, f"{one.error:+.1%}")
        console.print(table)
        within = sum(abs(one.error) <= 0.15 for one in checks)
        console.print(f"The predicted makespan is within 15 % of {within} of {len(checks)} measured runs.")


if __name__ == "__main__":
    typer.run(main)
