"""Baselines, the rule-based agent and the expert on Hearth's val-unseen houses: graph, ground, tours and PointNav.

Every row is `itinera run`, then `itinera score`. Expected: the expert has SR 1 and SPL 1 on the graph, and SR ≥ .99 and
SPL ≥ .97 on the ground, in single episodes and tours; the reader is far above chance; the stationary agent never
succeeds. The predictions are then replayed, and every place must be reproduced.

    python recipes/hearth_agents.py SEASON    # the folder of `itinera build hearth`; about ten minutes
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

EXPECTED = {"graph": (1.0, 1.0 - 1e-9), "ground": (0.99, 0.97)}  # lower bounds of the expert's SR and SPL
METRICS = ("SR", "SPL", "nDTW", "NE", "t-nDTW")


@dataclass(frozen=True)
class Experiment:
    """Agents on one set of tasks."""

    simulator: str
    tasks: str
    agents: tuple[str, ...]
    tours: bool = False


EXPERIMENTS = (
    Experiment("graph", "r2r/R2R_val_unseen.json", ("still", "random", "forward", "reader", "expert")),
    Experiment("graph", "r2r/R2R_val_unseen.json", ("still", "random", "reader", "expert"), tours=True),
    Experiment("ground", "vlnce/val_unseen/val_unseen.json.gz", ("still", "random", "forward", "expert")),
    Experiment("ground", "vlnce/val_unseen/val_unseen.json.gz", ("expert",), tours=True),
    Experiment("ground", "pointnav/val_unseen/val_unseen.json.gz", ("still", "random", "expert")),
)


def itinera(*command: str) -> str:
    """The output of a command."""
    done = subprocess.run([sys.executable, "-m", "itinera", *command], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"itinera {' '.join(command)} failed with exit code {done.returncode}.")
    return done.stdout


def run_experiment(experiment: Experiment, season: Path, out: Path, console: Console) -> list[str]:
    """Run, score and print; the expectations that were not met."""
    tasks = str(season / experiment.tasks)
    name = f"{Path(experiment.tasks).parts[0]}{'-tours' if experiment.tours else ''}"
    tours = ["--tours", str(_tours(tasks, season, out, name))] if experiment.tours else []
    table = Table("agent", *METRICS, "replay", title=name)
    failures = []
    for agent in experiment.agents:
        predictions = str(out / f"{name}-{agent}.jsonl")
        inputs = ["--tasks", tasks, "--worlds", str(season)]
        itinera("run", "--agent", agent, *inputs, *tours, "--out", predictions)
        found = msgspec.json.decode(itinera("score", predictions, *inputs, *tours, "--json"))["metrics"]
        replayed = experiment.simulator == "graph" or agent == "expert"
        replay = itinera("replay", predictions, *inputs) if replayed else ""
        table.add_row(agent, *(_format(found.get(metric), metric) for metric in METRICS), _first_line(replay))
        if agent == "expert":
            bounds = zip(("SR", "SPL"), EXPECTED[experiment.simulator], strict=True)
            failures += [
                f"{name}: the expert's {m} is {found[m]['mean']}." for m, low in bounds if found[m]["mean"] < low
            ]
    console.print(table)
    return failures


def _tours(tasks: str, season: Path, out: Path, name: str) -> Path:
    file = out / f"{name}.json"
    if not file.exists():
        itinera("build", "tours", "--tasks", tasks, "--worlds", str(season), "--out", str(file))
    return file


def _format(value: dict[str, float] | None, metric: str) -> str:
    if value is None:
        return "–"
    scale = 1.0 if metric == "NE" else 100.0
    return f"{scale * value['mean']:.1f} ({scale * value['low']:.1f} – {scale * value['high']:.1f})"


def _first_line(text: str) -> str:
    return text.splitlines()[0].split(": ", 1)[-1] if text else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("season", type=Path, help="Folder of a Hearth season.")
    season: Path = parser.parse_args().season
    if not (season / "season.json").exists():
        raise SystemExit(f"{season} is not a Hearth season. Build one: itinera build hearth --out hearth")
    out = season.with_name(f"{season.name}-predictions")
    out.mkdir(exist_ok=True)
    console = Console(width=140)
    failures = [line for experiment in EXPERIMENTS for line in run_experiment(experiment, season, out, console)]
    for line in failures:
        console.print(line)
    raise SystemExit(1 if failures else 0)


if __name__ == "__main__":
    main()
