"""SCT against SPL: scripted drivers on PointNav in Hearth's val-unseen houses, as in Table I of the SCT paper.

Drivers with three action spaces follow the same shortest paths: one that turns in place, and two unicycles that curve.
T is the fastest time of a unicycle to the goal point for all of them, as in the paper. Expected: all episodes succeed;
each unicycle has a higher SCT and a lower SPL than the point-turn driver, over all episodes and over those that all
drivers solve. The paper's agents are trained, use a camera and sometimes fail, so only the order is comparable; there
SPL is lower where all succeed (SPL∩), but not over all episodes for 6 actions, which succeed more often. On 10 episodes
of each house of season 1: SCT 69, 86 and 81 for point turns and for 6 and 15 actions, SPL 98.5, 95.3 and 95.9.

    python recipes/sct_drivers.py SEASON                # of `itinera build hearth`; 10 episodes per house, some minutes
    python recipes/sct_drivers.py SEASON --episodes 72  # all of them

Yokoyama, Ha, Batra 2021, Success Weighted by Completion Time, Table I.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

from itinera.formats import pointnav

TASKS = "pointnav/val_unseen/val_unseen.json.gz"
METRICS = ("SCT", "SPL", "SR", "SCT∩", "SPL∩")
PAPER = {  # with the decaying reward
    "point-turn": ("65.99 ± 2.07", "87.91 ± 2.28", "93.96 ± 2.09", "71.75 ± 1.45", "94.90 ± 1.08"),
    "unicycle-6": ("88.92 ± 1.84", "88.07 ± 1.61", "98.79 ± 0.96", "93.66 ± 1.19", "91.64 ± 1.02"),
    "unicycle-15": ("86.01 ± 2.10", "85.37 ± 1.87", "95.77 ± 1.77", "91.09 ± 1.56", "89.66 ± 1.34"),
}
SHAPED = {  # with the shaped reward
    "point-turn": ("65.82 ± 1.95", "88.41 ± 2.18", "94.16 ± 2.06", "71.26 ± 1.33", "95.11 ± 0.92"),
    "unicycle-6": ("82.15 ± 2.56", "82.83 ± 2.42", "93.16 ± 2.22", "90.41 ± 1.59", "90.70 ± 1.35"),
    "unicycle-15": ("81.43 ± 2.53", "83.31 ± 2.26", "94.37 ± 2.03", "88.37 ± 1.82", "89.69 ± 1.41"),
}


def itinera(*command: object) -> Any:
    """The JSON output of a command."""
    words = [sys.executable, "-m", "itinera", *map(str, command), "--json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(f"itinera {' '.join(map(str, command))} ended with {done.returncode}.")
    return msgspec.json.decode(done.stdout)


def write_tasks(season: Path, out: Path, episodes: int) -> Path:
    """A file with the first episodes of each house."""
    split = pointnav.read_split(season / TASKS)
    rows = sorted(row for own in split.rows_by_world.values() for row in own[:episodes].tolist())
    file = out / f"tasks-{episodes}.json"
    pointnav.write_split(file, replace(split, episodes=tuple(split.episodes[row] for row in rows)))
    return file


def score_driver(drive: str, tasks: Path, season: Path, times: Path) -> tuple[Path, Any]:
    """The file of a driver's scores, and its metrics."""
    inputs = ("--tasks", tasks, "--worlds", season, "--drive", drive)
    predictions = times.with_name(f"{tasks.stem}-{drive}-predictions.jsonl")
    bundle = times.with_name(f"{drive}.jsonl")
    itinera("run", "--agent", "expert", *inputs, "--out", predictions)
    return bundle, itinera("score", predictions, *inputs, "--times", times, "--out", bundle)["metrics"]


def make_table(compared: Any, scores: dict[str, Any]) -> Table:
    """A row for each driver, and the paper's two below it."""
    title = (
        f"{compared['episodes']} episodes in {compared['scenes']} houses, {compared['solved_by_all']} solved by all; "
        "×100, with 95 % intervals"
    )
    table = Table("driver", METRICS[0], "SCT at T's bounds", *METRICS[1:], title=title)
    for drive, metrics in scores.items():
        ours = [_cell(compared["metrics"][name]["means"][drive]) for name in METRICS]
        ends = " – ".join(f"{100 * metrics[name]['mean']:.1f}" for name in ("SCT_low", "SCT_high"))
        table.add_row(drive, ours[0], ends, *ours[1:])
        for name, rows in (("decaying", PAPER), ("shaped", SHAPED)):
            table.add_row(f"  paper, {name} reward", rows[drive][0], "", *rows[drive][1:], style="dim")
    return table


def _cell(found: dict[str, float]) -> str:
    return f"{100 * found['mean']:.1f} ({100 * found['low']:.1f} – {100 * found['high']:.1f})"


def failed_expectations(compared: Any) -> list[str]:
    """The expectations that do not hold."""
    intervals = {name: compared["metrics"][name]["means"] for name in METRICS}
    means = {name: {drive: found["mean"] for drive, found in intervals[name].items()} for name in METRICS}
    failures = []
    for drive in ("unicycle-6", "unicycle-15"):
        for fast, short in (("SCT", "SPL"), ("SCT∩", "SPL∩")):
            if not means[fast][drive] > means[fast]["point-turn"]:
                failures.append(f"{drive} has no higher {fast} than point-turn.")
            if not means[short][drive] < means[short]["point-turn"]:
                failures.append(f"{drive} has no lower {short} than point-turn.")
    return failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("season", type=Path, help="Hearth season, a folder written by `itinera build hearth`")
    parser.add_argument("--episodes", type=int, default=10, help="number of episodes per house")
    parser.add_argument("--out", type=Path, help="folder for predictions and times (default: beside the season)")
    options = parser.parse_args()
    if not (options.season / TASKS).exists():
        raise SystemExit(f"{options.season} has no {TASKS}. Make it: itinera build hearth --out {options.season}")
    out = options.out or options.season.with_name(f"{options.season.name}-sct")
    tasks = write_tasks(options.season, out, options.episodes)
    times = out / f"{tasks.stem}-times.jsonl"
    console = Console(width=160)
    console.print(itinera("fastest-times", tasks, "--worlds", options.season, "--out", times))
    found = {drive: score_driver(drive, tasks, options.season, times) for drive in PAPER}
    compared = itinera("compare", *(bundle for bundle, _ in found.values()), "--solved")
    console.print(make_table(compared, {drive: metrics for drive, (_, metrics) in found.items()}))
    failures = failed_expectations(compared)
    for line in failures:
        console.print(line)
    raise SystemExit(1 if failures else 0)


if __name__ == "__main__":
    main()
