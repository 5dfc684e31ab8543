"""The random agents of Stay on the Path (Tables 3 and 4): a million trajectories per row, beside the printed numbers.

A trajectory starts at the start of an episode, has as many moves as a randomly drawn reference path, and moves to a
uniformly random neighbor each time. The paper draws the number of moves from the training split (footnote 3); drawn
from the scored split, more of the printed numbers are reproduced.

Expected, with lengths from the scored split: 19 of 20 cells within 0.1 of the printed number. How many of them agree to
the printed digit depends on the seed, because with a million trajectories several cells are close to the edge between
two digits: seeds 1 to 8 gave 13, 12, 13, 13, 12, 13, 14 and 15; six million (seed 1) gave 14. With a million, 16 to 18
agree within the sampling error. SPL on R4R val-seen does not: 1.91 with six million, printed 2.0. The last of the 20 is
probably a misprint: PL on R2R val-unseen is printed as 9.32, which is the NE beside it, while random trajectories with
as many moves as the reference paths, of that split or of the training split, are about 10.4 m long.

R4R is built and measured on connectivity poses; `--positions panorama` uses those of its first release.

    ITINERA_DATA=… python recipes/random_walks.py --walks 1000000 --seed 1
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from itinera.builders.joining import join_paths
from itinera.formats import matterport, r2r
from itinera.metrics import Attempts
from itinera.metrics.fidelity import cls
from itinera.metrics.goal import navigation_error, path_length, spl, success
from itinera.seeding import generator
from itinera.worlds import NavGraph, Ragged, World

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

METRICS = {
    "PL": path_length,
    "NE": navigation_error,
    "SR": lambda attempts: 100 * success(attempts, radius=3.0),
    "SPL": lambda attempts: 100 * spl(attempts, radius=3.0),
    "CLS": lambda attempts: 100 * cls(attempts, threshold=3.0),
}
PRINTED = {
    ("R2R", "val_seen"): ("10.4", "9.82", "5.0", "3.7", "29.4"),
    ("R2R", "val_unseen"): ("9.32", "9.32", "5.2", "4.0", "29.0"),
    ("R4R", "val_seen"): ("21.8", "11.4", "13.1", "2.0", "23.1"),
    ("R4R", "val_unseen"): ("23.6", "10.4", "13.8", "2.2", "22.3"),
}
MISPRINT = ("R2R", "val_unseen", "PL")
PAPER_WALKS = 1_000_000
BATCH_SIZE = 100_000  # trajectories scored together


@dataclass(frozen=True)
class Paths:
    """The reference paths of a split, each as often as it has instructions."""

    world_ids: tuple[str, ...]
    paths: tuple[tuple[str, ...], ...]

    @property
    def edges(self) -> Integers:
        return np.array([len(path) - 1 for path in self.paths])


def r2r_paths(folder: Path, split: str) -> Paths:
    episodes = r2r.read_split(folder / "r2r" / f"R2R_{split}.json.gz").episodes
    return Paths(tuple(e.world_id for e in episodes), tuple(tuple(e.reference) for e in episodes))


def r4r_paths(folder: Path, split: str, worlds: Mapping[str, World]) -> Paths:
    journeys = list(join_paths(r2r.read_split(folder / "r2r" / f"R2R_{split}.json.gz"), worlds))
    repeated = [journey for journey in journeys for _ in journey.instructions]
    return Paths(tuple(j.world_id for j in repeated), tuple(j.path for j in repeated))


def wander(graph: NavGraph, starts: Integers, moves: Integers, rng: np.random.Generator) -> Ragged:
    """Random trajectories of so many moves from these nodes, each move to a uniformly random neighbor; vectorized."""
    both = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    first = np.searchsorted(both[:, 0], np.arange(len(graph.nodes) + 1))
    walks = Ragged.from_counts(np.empty(int((moves + 1).sum()), dtype=np.int64), moves + 1)
    at = starts.copy()
    walks.values[walks.starts[:-1]] = at
    for move in range(1, int(moves.max(initial=0)) + 1):
        walking = np.flatnonzero(moves >= move)
        here = at[walking]
        choice = (rng.random(len(here)) * (first[here + 1] - first[here])).astype(np.int64)
        at[walking] = both[first[here] + choice, 1]
        walks.values[walks.starts[walking] + move] = at[walking]
    return walks


def random_attempts(
    scored: Paths, lengths: Integers, worlds: Mapping[str, World], count: int, rng: np.random.Generator
) -> Iterator[Attempts]:
    """So many random trajectories as attempts at their reference paths, in batches of one world each."""
    episodes = np.sort(np.arange(count) % len(scored.paths))  # all equally often
    moves = rng.choice(lengths, size=count)
    names, owners = np.unique(scored.world_ids, return_inverse=True)
    for number, world_id in enumerate(names):
        graph = worlds[str(world_id)].space
        assert isinstance(graph, NavGraph)
        rows = np.flatnonzero(owners[episodes] == number)
        for batch in np.array_split(rows, len(rows) // BATCH_SIZE + 1):
            distinct, which = np.unique(episodes[batch], return_inverse=True)
            reference = Ragged.from_rows([graph.locate(scored.paths[i]) for i in distinct], dtype=np.int64).take(which)
            goals = Ragged.from_counts(reference.lasts(), np.ones(len(batch), dtype=np.int64))
            walked = wander(graph, reference.firsts(), moves[batch], rng)
            yield Attempts(graph, walked, reference, goals)


@dataclass(frozen=True)
class Mean:
    value: float
    error: float  # standard error
    walks: int

    def rounded(self, printed: str) -> str:
        """The value with as many digits as the paper prints."""
        return f"{self.value:.{len(printed.split('.')[1])}f}"

    def agreement(self, printed: str) -> str:
        """How well it agrees with the printed number."""
        difference = abs(float(self.rounded(printed)) - float(printed))
        return TO_THE_DIGIT if difference < 1e-9 else NEAR if difference < 0.1 + 1e-9 else FAR

    def within_error(self, printed: str) -> bool:
        """Whether the difference to the printed, rounded number is within two standard errors: ours, and that of the
        paper's million trajectories."""
        half_a_digit = 0.5 * 10.0 ** -len(printed.split(".")[1])
        both = self.error * np.sqrt(1 + self.walks / PAPER_WALKS)
        return bool(abs(self.value - float(printed)) <= half_a_digit + 2 * both)


TO_THE_DIGIT, NEAR, FAR = "to the printed digit", "within 0.1", "farther"
COLOURS = {TO_THE_DIGIT: "green", NEAR: "yellow", FAR: "red"}


def means(attempts: Iterator[Attempts]) -> dict[str, Mean]:
    """The mean of each metric over all attempts."""
    sums, squares, count = dict.fromkeys(METRICS, 0.0), dict.fromkeys(METRICS, 0.0), 0
    for batch in attempts:
        count += len(batch)
        for name, measure in METRICS.items():
            values = measure(batch)
            sums[name] += float(values.sum())
            squares[name] += float(values @ values)
    spread = {name: max(squares[name] / count - (sums[name] / count) ** 2, 0.0) for name in METRICS}
    return {name: Mean(sums[name] / count, float(np.sqrt(spread[name] / count)), count) for name in METRICS}


def main(
    walks: Annotated[int, typer.Option(min=1, help="Number of random trajectories per row.")] = (1_000_000),
    positions: Annotated[
        str, typer.Option(help="Node positions for R4R's joins and for distances: pose or panorama.")
    ] = ("pose"),
    seed: Annotated[int, typer.Option(help="Random seed.")] = 1,
) -> None:
    """Print the random rows of Tables 3 and 4 beside ours; exit 1 if a cell but the misprint differs by > 0.1."""
    data = os.environ.get("ITINERA_DATA")
    if not data:
        print("Needs R2R and the connectivity graphs: set ITINERA_DATA to the data pack.", file=sys.stderr)
        return
    folder = Path(data)
    worlds = matterport.read_worlds(folder / "connectivity.tar.xz", positions=positions)  # type: ignore[arg-type]
    splits = ("train", "val_seen", "val_unseen")
    sets = {("R2R", split): r2r_paths(folder, split) for split in splits}
    sets |= {("R4R", split): r4r_paths(folder, split, worlds) for split in splits}
    table = Table("", "lengths", *METRICS, title=f"Random agents, {walks} walks per row, mean ± standard error")
    counts, by_chance = dict.fromkeys((TO_THE_DIGIT, NEAR, FAR), 0), 0
    for (name, split), printed in track(PRINTED.items(), console=Console(stderr=True), transient=True):
        table.add_row(f"{name} {split}", "printed", *printed)
        for source in (split, "train"):
            rng = generator(seed, "random walks", name, split, source)
            found = means(random_attempts(sets[name, split], sets[name, source].edges, worlds, walks, rng))
            cells = []
            for (metric, mean), there in zip(found.items(), printed, strict=True):
                agreement = mean.agreement(there)
                counted = source == split and (name, split, metric) != MISPRINT
                counts[agreement] += counted
                by_chance += counted and mean.within_error(there)
                cells.append(f"[{COLOURS[agreement]}]{mean.value:.3f} ±{mean.error:.3f}")
            table.add_row("", f"of {source}", *cells, end_section=source == "train")
    Console(width=120).print(table)
    summary = ", ".join(f"{count} {agreement}" for agreement, count in counts.items())
    print(f"20 cells, lengths from the scored split: {summary}, and the misprint. {by_chance} agree within the error.")
    if counts[FAR]:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
