"""CPU time of a worker for an entry of a whole split: on graphs, in tours, and on the ground.

Goals for 2,349 episodes: 2 s on graphs, 3 s in tours, 10 s on the ground, score bundle and verdict included. The first
judgement also loads worlds and libraries; those after it are what a worker needs. Entries are those of the expert, so
each is as long as its reference path. Give a season that has been built, or it is built here.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

import itinera as it
from itinera.api.serving import judge_bundle
from itinera.formats.hosted_challenge import read_hosted_challenge
from timing import cpu

SEASON = Path(".bench/season")
CHALLENGE = """
worlds = {season}
[phases.graphs]
tasks = {graphs}
[phases.tours]
tasks = {graphs}
tours = {tours}
[phases.ground]
tasks = {ground}
"""


def find_tasks(season: Path) -> tuple[Path, Path]:
    """The tasks on graphs and on the ground."""
    if not season.exists():
        it.build_hearth(season, splits=("val_unseen",))
    ground = sorted((season / "vlnce/val_unseen").glob("val_unseen.json*"))[0]
    return season / "r2r/R2R_val_unseen.json", ground


def main(season: Path) -> None:
    graphs, ground = find_tasks(season)
    table = Table("entry", "episodes", "first, CPU s", "then, CPU s", "goal")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        it.build_tours(graphs, season, out=(tours := folder / "tours.json"))
        names = {"season": season, "graphs": graphs, "tours": tours, "ground": ground}
        quoted = {name: f'"{Path(path).resolve()}"' for name, path in names.items()}
        (folder / "challenge.toml").write_text(CHALLENGE.format(**quoted))
        challenge = read_hosted_challenge(folder)
        for name, goal in (("graphs", 2), ("tours", 3), ("ground", 10)):
            entry, rows = folder / f"{name}.jsonl", folder / "rows"
            tasks = ground if name == "ground" else graphs
            it.run("expert", tasks, season, tours=tours if name == "tours" else None, workers=0, out=entry)
            first = cpu(lambda: judge_bundle(entry, challenge[name], rows))  # noqa: B023
            then = cpu(lambda: judge_bundle(entry, challenge[name], rows), repeats=3)  # noqa: B023
            count = judge_bundle(entry, challenge[name], rows).episodes
            table.add_row(name, f"{count:,}", f"{first:.2f}", f"{then:.2f}", str(goal))
    Console(width=90).print(table)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else SEASON)
