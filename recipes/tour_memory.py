"""Table 2 of "Iterative Vision-and-Language Navigation" (Krantz et al. 2022): does it help HAMT to remember the earlier
episodes of a tour?

HAMT learns episodes first, by imitation. From there five agents go on for as long: HAMT itself, and TourHAMT with its
switches: PH, the steps of earlier episodes are kept in mind; TH, their tokens are learned too; PHI, a token tells that
there were earlier episodes; IW, steps where one turns or stops count more. The paper finds that none of them comes near
HAMT, and that t-nDTW rises from row 5 to row 2. [PREV] cannot tell which steps are old, in the paper's model or here.

With ITINERA_DATA the tours go through R2R's tasks, without through Hearth's. Houses are seen through annotations, which
is perfect perception. Scores are those of the last step; nothing was chosen on the houses they are of. `--minutes` is
what the training of one row takes on one core; what is done is kept, and a run that was stopped goes on.

    python recipes/tour_memory.py --minutes 15 --seeds 3 --out .learning/tour_memory
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer
from rich.console import Console
from rich.table import Table

import places
from itinera.formats.io import atomic_write
from itinera.policies import hamt
from itinera.policies.checkpoint import Model, encode, new_model, read_model
from itinera.policies.tour_hamt import ROWS, Switches
from itinera.runs.process_map import in_processes
from itinera.training.dataset import Lessons, Shuffle
from itinera.training.evaluation import Scores
from itinera.training.experts import to_goal
from itinera.training.inflection_weighting import inflected_cloning
from itinera.training.losses import cloning
from itinera.training.malloc import keep_memory
from itinera.training.objectives import imitation
from itinera.training.progress import Log
from itinera.training.tours import TourShuffle, evaluate_tours, tour_lesson, tours_of
from itinera.training.trainer import Chance, Lesson, Schedule, train

EPISODES_A_MINUTE, TOURS_A_MINUTE = 120, 36  # steps of training, about, on one core
BATCH, LANES = 64, 8  # episodes at once, and tours at once
RATE, TOUR_RATE = 1e-3, 3e-4
MOVES, LIMIT = 10, 15  # most moves while learning, and when tried
SHARED = 0.6  # the share of a row's minutes that all rows have in common: HAMT learning episodes
METRICS = ("PL", "NE", "nDTW", "SR", "SPL", "t-nDTW")

PRINTED: Mapping[int, Sequence[float]] = {  # on val-unseen
    1: (9.4, 4.7, 66, 56, 54, 50),
    2: (10.0, 6.2, 52, 39, 36, 32),
    3: (10.9, 6.8, 51, 38, 34, 31),
    4: (10.3, 6.7, 50, 38, 34, 29),
    5: (11.0, 6.7, 51, 38, 34, 28),
}
Job = tuple[int, int]  # the row, 0 for what all have in common, and the seed


def learn(out: Path, season: Path | None, minutes: float, job: Job) -> None:
    """Train a row, or what all rows have in common, unless that is done."""
    row, seed = job
    torch.set_num_threads(1)
    keep_memory()
    done = _file(out, job)
    if done.exists():
        return
    model = _begun(out, season, job)
    lesson, schedule = _course(season, model, row, seed, minutes)
    draft = out / "drafts" / done.name
    with Log(out / "logs" / done.stem, total=schedule.steps) as log:
        train(model, lesson, schedule, seed=seed, name=done.stem, checkpoint=draft, heard=log.heard)
    with atomic_write(done) as stream:
        stream.write(encode(model))
    draft.unlink(missing_ok=True)


def _begun(out: Path, season: Path | None, job: Job) -> Model:
    row, seed = job
    Chance.of(seed, "begun", str(row))
    if not row:
        return new_model(_ground(season).card("hamt", hamt.SMALL, seed=seed))
    switches = ROWS[row]
    model = new_model(_ground(season).card(switches.kind, switches.sizes(hamt.SMALL), seed=seed))
    common = read_model(_file(out, (0, seed))).model.policy.state_dict()
    model.policy.load_state_dict(model.policy.state_dict() | common)  # a [PREV] of its own it keeps
    return model


def _course(season: Path | None, model: Model, row: int, seed: int, minutes: float) -> tuple[Lesson, Schedule]:
    ground, lessons = _ground(season), _lessons(season, "train")
    episodes = Shuffle(lessons, BATCH, seed=seed)
    if not row:
        steps = max(1, round(minutes * SHARED * EPISODES_A_MINUTE))
        return imitation(model.policy, ground.atlas, episodes, limit=MOVES), Schedule(steps, RATE, last_rate=0.1)
    switches: Switches = ROWS[row]
    left = minutes * (1 - SHARED)
    if not switches.previous_history:
        lesson = imitation(model.policy, ground.atlas, episodes, limit=MOVES)
        return lesson, Schedule(max(1, round(left * EPISODES_A_MINUTE)), TOUR_RATE)
    tours = TourShuffle(tours_of(ground.splits["train"], lessons), LANES, seed=seed)
    loss = partial(inflected_cloning, atlas=ground.atlas) if switches.inflections else cloning
    lesson = tour_lesson(model.policy, ground.atlas, lessons, tours, loss=loss, teacher=to_goal, limit=MOVES)
    return lesson, Schedule(max(1, round(left * TOURS_A_MINUTE)), TOUR_RATE, warm_up=10, every=20)


def tried(out: Path, season: Path | None, job: Job) -> Scores:
    """How a row does on the tours of val-unseen."""
    torch.set_num_threads(1)
    ground, lessons = _ground(season), _lessons(season, "val_unseen")
    policy = read_model(_file(out, job)).model.policy.eval()
    tours = tours_of(ground.splits["val_unseen"], lessons)
    return evaluate_tours(policy, ground.atlas, lessons, tours, limit=LIMIT)


def _file(out: Path, job: Job) -> Path:
    return out / "models" / f"row {job[0]} seed {job[1]}.safetensors"


@cache
def _ground(season: Path | None) -> places.Places:
    ground = places.hearth(season) if season else places.real(Path(os.environ["ITINERA_DATA"]))
    return places.toured(ground)


@cache
def _lessons(season: Path | None, split: str) -> Lessons:
    return _ground(season).lessons(split)


def table(found: Mapping[int, Sequence[Scores]], title: str) -> Table:
    shown = Table(title=title)
    for column in ("#", "switches", *METRICS):
        shown.add_column(column)
    for row, scores in found.items():
        shown.add_row(str(row), _switches(row), *(_told(scores, metric) for metric in METRICS))
        shown.add_row("", "  printed", *(f"{value:g}" for value in PRINTED[row]), style="dim")
    return shown


def _switches(row: int) -> str:
    switches = ROWS[row]
    on = (switches.previous_history, switches.trained_history, switches.history_told, switches.inflections)
    return " ".join(name for name, is_on in zip(("PH", "TH", "PHI", "IW"), on, strict=True) if is_on) or "(HAMT)"


def _told(scores: Sequence[Scores], metric: str) -> str:
    """The mean over seeds, with its standard error as in the paper, and the interval over houses of the first seed."""
    many = 1.0 if metric in ("PL", "NE") else 100.0
    means = many * np.array([one.mean(metric) for one in scores])
    error = means.std(ddof=1) / len(means) ** 0.5 if len(means) > 1 else float("nan")
    first = scores[0].interval(metric)
    return f"{means.mean():.1f} ±{error:.1f} ({many * first.low:.1f} – {many * first.high:.1f})"


def claims(found: Mapping[int, Sequence[Scores]]) -> Iterable[tuple[str, bool, str]]:
    """What the paper says, whether it holds here, and the numbers."""
    tours = {row: 100 * float(np.mean([one.mean("t-nDTW") for one in scores])) for row, scores in found.items()}
    told = ", ".join(f"row {row} {value:.1f}" for row, value in tours.items())
    yield "remembering does not help: HAMT has the highest t-nDTW", tours[1] > max(tours[k] for k in (2, 3, 4, 5)), told
    yield "t-nDTW rises from row 5 to row 2", tours[5] <= tours[4] <= tours[3] <= tours[2], told


def main(
    minutes: Annotated[float, typer.Option(help="Of training for a row, on one core.")] = 15.0,
    seeds: Annotated[int, typer.Option(help="Agents of each row.")] = 3,
    out: Annotated[Path, typer.Option(help="What is made is kept here.")] = Path(".learning/tour_memory"),
    season: Annotated[Path, typer.Option(help="A season of Hearth, built if it is not there.")] = Path(
        ".tables/hearth"
    ),
    hearth: Annotated[bool, typer.Option("--hearth", help="Hearth, even if ITINERA_DATA is given.")] = False,
    workers: Annotated[int, typer.Option(help="Processes at work.")] = 2,
) -> None:
    """Train, try, and print Table 2 with ours beside the printed rows."""
    console = Console(width=150)
    where = None if "ITINERA_DATA" in os.environ and not hearth else places.built(season)
    out = out / ("hearth" if where else "real") / f"{minutes:g} minutes"
    for jobs in ([(0, seed) for seed in range(seeds)], [(row, seed) for row in ROWS for seed in range(seeds)]):
        for number, _ in in_processes(partial(learn, out, where, minutes), jobs, workers=workers):
            console.print(f"done: row {jobs[number][0]}, seed {jobs[number][1]}", style="dim")
    made = dict(in_processes(partial(tried, out, where), jobs, workers=workers))
    found = {row: [made[k] for k, job in enumerate(jobs) if job[0] == row] for row in ROWS}
    name = "Hearth's tours" if where else "R2R's tours"
    console.print(
        table(found, f"Table 2, val-unseen: {name}, mean ± standard error of {seeds} runs (interval over houses)")
    )
    for claim, holds, numbers in claims(found):
        console.print(f"{'held    ' if holds else 'NOT held'}  {claim}: {numbers}")
    console.print("Rooms and objects are annotations, which is perfect perception: not to be set beside image agents.")


if __name__ == "__main__":
    typer.run(main)
