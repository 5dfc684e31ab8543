"""Agents without learning on Hearth's val-unseen houses: on the graph, on the ground, alone and in tours, and PointNav.

Every row is `itinera run`, then `itinera score`, as anybody would type them. Expected: the expert has SR 1 and SPL 1 on
the graph, and SR of at least .99 and SPL of at least .97 on the ground, alone and in tours; the reader is far above
chance; whoever stands still never arrives. The stored walks are then walked again, and every place must come out.

    python recipes/hearth_agents.py SEASON           # a folder that `itinera build hearth` made; about ten minutes
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

LEAST = {"graph": (1.0, 1.0 - 1e-9), "ground": (0.99, 0.97)}  # the expert's SR and SPL
SHOWN = ("SR", "SPL", "nDTW", "NE", "t-nDTW")


@dataclass(frozen=True)
class Trial:
    """Some agents on some tasks."""

    where: str
    tasks: str
    agents: tuple[str, ...]
    toured: bool = False


TRIALS = (
    Trial("graph", "r2r/R2R_val_unseen.json", ("still", "random", "forward", "reader", "expert")),
    Trial("graph", "r2r/R2R_val_unseen.json", ("still", "random", "reader", "expert"), toured=True),
    Trial("ground", "vlnce/val_unseen/val_unseen.json.gz", ("still", "random", "forward", "expert")),
    Trial("ground", "vlnce/val_unseen/val_unseen.json.gz", ("expert",), toured=True),
    Trial("ground", "pointnav/val_unseen/val_unseen.json.gz", ("still", "random", "expert")),
)


def itinera(*command: str) -> str:
    """What a command prints."""
    done = subprocess.run([sys.executable, "-m", "itinera.cli.main", *command], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"itinera {' '.join(command)} ended with {done.returncode}.")
    return done.stdout


def rows(trial: Trial, season: Path, out: Path, console: Console) -> list[str]:
    """Walk, score and show; what did not come out as expected."""
    tasks, name = str(season / trial.tasks), f"{Path(trial.tasks).parts[0]}{'-tours' if trial.toured else ''}"
    tours = ["--tours", str(_tours(tasks, season, out, name))] if trial.toured else []
    table = Table("agent", *SHOWN, "replayed", title=name)
    wrong = []
    for agent in trial.agents:
        walks = str(out / f"{name}-{agent}.jsonl")
        given = ["--tasks", tasks, "--worlds", str(season)]
        itinera("run", "--agent", agent, *given, *tours, "--out", walks)
        told = msgspec.json.decode(itinera("score", walks, *given, *tours, "--json"))
        found = told["metrics"]
        again = itinera("replay", walks, *given) if trial.where == "graph" or agent == "expert" else ""
        table.add_row(agent, *(_shown(found.get(metric), metric) for metric in SHOWN), _first(again))
        if agent == "expert":
            least = zip(("SR", "SPL"), LEAST[trial.where], strict=True)
            wrong += [f"{name}: the expert's {m} is {found[m]['mean']}." for m, low in least if found[m]["mean"] < low]
    console.print(table)
    return wrong


def _tours(tasks: str, season: Path, out: Path, name: str) -> Path:
    file = out / f"{name}.json"
    if not file.exists():
        itinera("build", "tours", "--tasks", tasks, "--worlds", str(season), "--out", str(file))
    return file


def _shown(value: dict[str, float] | None, metric: str) -> str:
    if value is None:
        return "–"
    scale = 1.0 if metric == "NE" else 100.0
    return f"{scale * value['mean']:.1f} ({scale * value['low']:.1f} – {scale * value['high']:.1f})"


def _first(text: str) -> str:
    return text.splitlines()[0].split(": ", 1)[-1] if text else ""


def main() -> None:
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "season.json").exists():
        raise SystemExit("Give the folder of a season: itinera build hearth --out hearth")
    season = Path(sys.argv[1])
    out = season.with_name(f"{season.name}-walks")
    out.mkdir(exist_ok=True)
    console = Console(width=140)
    wrong = [line for trial in TRIALS for line in rows(trial, season, out, console)]
    for line in wrong:
        console.print(line)
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
