"""Speed of scoring, as ratios to a plain-Python twin in the same run, because machines differ and are shared.

`make bench` runs this. CPU seconds are printed too, but only the ratios are comparable between machines. Where
ITINERA_DATA names the real data, the cold and the whole score are of R2R, else of synthetic files of that size.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests" / "support")]

import journeys  # noqa: E402
import twins  # noqa: E402
from itinera.formats import r2r, score_rows  # noqa: E402
from itinera.metrics.attempts import Attempts  # noqa: E402
from itinera.metrics.matching import match  # noqa: E402
from itinera.metrics.score import score, score_attempts  # noqa: E402
from itinera.metrics.suites import paper  # noqa: E402
from itinera.metrics.tours import TourGroups, tour_ndtw  # noqa: E402
from itinera.seeding import generator  # noqa: E402
from itinera.tasks.protocol import R2R  # noqa: E402
from itinera.worlds import Euclidean, NavGraph, Ragged  # noqa: E402
from timing import cpu  # noqa: E402

FOLDER = ROOT / ".bench"
TEN = ("PL", "NE", "ONE", "SR", "OSR", "SPL", "SED", "nDTW", "SDTW", "CLS")


@dataclass(frozen=True)
class Row:
    what: str
    ours: float  # CPU seconds
    twin: float
    wanted: str

    @property
    def ratio(self) -> float:
        return self.twin / self.ours


def scoring() -> tuple[list[Row], float]:
    """The metrics alone; reading, scoring and writing together; and the twin's milliseconds per trajectory."""
    made = journeys.make(FOLDER)
    split, worlds = journeys.read(made)
    suite = paper(R2R)
    ten = replace(suite, metrics=tuple(metric for metric in suite.metrics if metric.name in TEN), tour_metrics=())
    pairs = match(r2r.read_predictions(made.submission), split, worlds)

    def whole() -> None:
        table = score(r2r.read_predictions(made.submission), split, worlds, ten)
        score_rows.write_rows(FOLDER / "rows.jsonl", table)

    whole()  # kernels compiled and distances known, as for the twin below
    # Copies, because attempts keep what was once computed from them.
    arithmetic = cpu(lambda: score_attempts(map(replace, pairs), split, ten, R2R), 5)
    end_to_end = cpu(whole, 5)

    tables = {world_id: distances_of(worlds[world_id].space) for world_id in worlds}
    episodes = {episode.id: episode for episode in split.episodes}
    spent = 0.0

    def whole_twin() -> None:
        nonlocal spent
        rows = []
        for prediction in json.loads(made.submission.read_bytes()):
            episode = episodes[prediction["instr_id"]]
            walk = [step[0] for step in prediction["trajectory"]]
            begun = time.process_time()
            values = twins.metrics_by_hand(walk, episode.reference, episode.goals, tables[episode.world_id])
            spent += time.process_time() - begun
            rows.append({"episode_id": episode.id, **values})
        with (FOLDER / "rows_of_twin.jsonl").open("w") as stream:
            stream.writelines(json.dumps(row) + "\n" for row in rows)

    twin = cpu(whole_twin)
    agree(FOLDER / "rows.jsonl", FOLDER / "rows_of_twin.jsonl")
    count = len(split.episodes)
    rows = [
        Row(f"ten metrics of {count:,} trajectories", arithmetic, spent, "≥ 200"),
        Row(f"read {made.submission.stat().st_size / 1e6:.0f} MB, score, write rows", end_to_end, twin, "≥ 40, aim 60"),
    ]
    return rows, 1e3 * spent / count


def distances_of(graph: Any) -> Any:
    assert isinstance(graph, NavGraph)
    lines = graph.distances.tolist()
    return twins.looked_up(
        {a: dict(zip(graph.nodes, line, strict=True)) for a, line in zip(graph.nodes, lines, strict=True)}
    )


def agree(ours: Path, theirs: Path) -> None:
    """Raise an error unless both files contain the same numbers."""
    a = [json.loads(line) for line in ours.open()]
    b = {row["episode_id"]: row for row in map(json.loads, theirs.open())}
    worst = max(abs(row[name] - b[row["episode_id"]][name]) for row in a for name in TEN)
    assert worst < 1e-9, f"scores differ from the twin's by {worst}"


def touring(places: int = 45, episodes: int = 100) -> Row:
    """t-nDTW of one tour on the ground, by blocks, against the loop over the whole matrix."""
    rng = generator(0, "tour")
    walks = [np.cumsum(rng.normal(0, 0.25, (places, 3)), axis=0) for _ in range(episodes)]
    references = [walk + rng.normal(0, 0.3, walk.shape) for walk in walks]
    attempts = Attempts(
        Euclidean(),
        Ragged.from_rows(walks),
        Ragged.from_rows(references),
        Ragged.from_rows([reference[-1:] for reference in references]),
    )
    legs = TourGroups(np.zeros(episodes, dtype=np.int64), np.zeros(episodes, dtype=bool))

    def ours() -> float:
        fresh = replace(attempts)  # without cached values of the previous run
        return float(tour_ndtw(fresh, legs, threshold=3.0)[0])

    found = ours()
    rounds = 50
    fast = cpu(lambda: [ours() for _ in range(rounds)], 3) / rounds
    plain = [[tuple(map(float, point)) for point in walk] for walk in walks]
    wanted = [[tuple(map(float, point)) for point in reference] for reference in references]
    expected = 0.0

    def twin() -> None:
        nonlocal expected
        expected = twins.tour_ndtw(plain, wanted, twins.dist)

    slow = cpu(twin)
    assert abs(found - expected) < 1e-9
    return Row(f"t-nDTW, {episodes} episodes of {places} places", fast, slow, "≥ 10,000")


def child(*command: str) -> tuple[float, float]:
    """CPU seconds and peak memory (MB) of a fresh process; the best of five."""
    # As installed: pip compiles the modules of a package.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    best, peak = float("inf"), 0.0
    for _ in range(5):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        assert status == 0, f"{command} failed"
        best, peak = min(best, used.ru_utime + used.ru_stime), max(peak, used.ru_maxrss / 1024)
    return best, peak


def processes() -> list[tuple[str, str, str]]:
    """The memory of scoring a large file, the time of a cold and of a whole score, and of the help."""
    made = journeys.make(FOLDER)
    data = Path(os.environ.get("ITINERA_DATA", "none"))
    if data.is_dir():
        predictions = data / "predictions/r2r/prevalent_seq2seq_teacher_imagenet_val_unseen_iter_36000.json.gz"
        small = journeys.Journeys(data / "connectivity.tar.xz", data / "r2r/R2R_val_unseen.json.gz", predictions)
        whole, kind = journeys.make_real(FOLDER / "train", data), "R2R"
    else:
        small = journeys.make(FOLDER / "small", paths=783, instructions=3)
        whole, kind = journeys.make(FOLDER / "whole", paths=2500, instructions=4, scenes=61), "synthetic"
    command = (sys.executable, "-m", "itinera")

    def scored(files: journeys.Journeys, *options: str) -> tuple[str, ...]:
        asked = ("--tasks", str(files.tasks), "--worlds", str(files.worlds), "--json", *options)
        return (*command, "score", str(files.submission), *asked)

    child(*scored(small))  # kernels cached
    large, peak = child(*scored(made, "--rows", str(FOLDER / "rows.jsonl")))
    base, _ = child(sys.executable, "-c", "import numpy, numba")
    cold, _ = child(*scored(small))
    ours, _ = child(*scored(whole))
    plain = (sys.executable, str(ROOT / "benchmarks" / "plain_scorer.py"))
    plain = (*plain, str(whole.submission), str(whole.tasks), str(whole.worlds))
    theirs, _ = child(*plain)
    _agree_on_means(json.loads(_output(*scored(whole))), json.loads(_output(*plain)))
    startup, _ = child(*command, "--help")
    return [
        ("peak memory of scoring it by the command", f"{peak:.0f} MB ({large:.2f} s CPU)", "≤ 600 MB"),
        (
            f"cold score of val-unseen ({kind}) / import numpy, numba",
            f"{cold / base:.2f}× ({cold:.2f} s / {base:.2f} s)",
            "≤ 3×",
        ),
        (
            f"whole score of 10,000 trajectories in 61 scenes ({kind})",
            f"{ours:.2f} s CPU (a plain scorer: {theirs:.2f} s)",
            "≤ 1.0 s",
        ),
        ("itinera --help", f"{startup:.2f} s CPU", "≤ 0.4 s"),
    ]


def _output(*command: str) -> bytes:
    return subprocess.run(command, capture_output=True, check=True).stdout


def _agree_on_means(ours: Any, theirs: dict[str, float]) -> None:
    """Raise an error unless the command and the plain scorer print the same means."""
    means = {name: row["mean"] for name, row in ours["metrics"].items()}
    worst = max(abs(means[name] - value) for name, value in theirs.items())
    assert worst < 1e-9, f"means differ from the plain scorer's by {worst}"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    # First: the peak memory of a child includes that of its parent at the fork, and the twins below need much.
    felt = Table("quantity", "measured", "target", title="Processes")
    for what, measured, wanted in processes():
        felt.add_row(what, measured, wanted)
    rows, each = scoring()
    rows.append(touring())
    table = Table("task", "ours, CPU s", "twin, CPU s", "ratio", "target", title="Ratios to the plain-Python twin")
    for row in rows:
        table.add_row(row.what, f"{row.ours:.4g}", f"{row.twin:.4g}", f"{row.ratio:,.0f}×", row.wanted)
    console = Console(width=130)
    console.print(table)
    console.print(f"The twin needs {each:.2f} ms for the ten metrics of one trajectory (≤ 1 ms for a fair comparison).")
    console.print(felt)


if __name__ == "__main__":
    main()
