"""Tables 3 and 4 of Stay on the Path: RCM's navigator paid for reaching the goal, or for staying on the path.

An agent first does as a teacher does (cloning), then is paid for what it does itself (policy gradient) with ever less
cloning in between. On R4R a last part is policy gradient alone. Paid for the goal (equation 11) or for fidelity
(equation 12), agents are tried with all of their instruction, with its last five tokens, and with none.

With ITINERA_DATA the houses are Matterport's and the tasks R2R and R4R; without, Hearth's, in a season that is built
first. Houses are seen through annotations: rooms and objects are known by name, so these scores say that language,
graphs and training work, and may not be set beside those of agents that look at images. An agent that sees nothing but
where ways lead (geometry) stands beside ours, to tell what seeing is worth.

Settings were chosen on eight training houses held out, but for the discount and the length of R4R's last part, for
which val-unseen was looked at. No checkpoint is picked: scores are those of the last step.
`--minutes` is what the training of one agent for R2R takes on one core; it sets the number of steps, so that runs are
the same on any machine. What is done is kept: a run that was stopped goes on.

    python recipes/stay_on_the_path.py --minutes 30 --seeds 3 --out .learning/stay_on_the_path
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from itinera.policies.checkpoint import Model, encode, new_model, read_model
from itinera.policies.rcm import SMALL
from itinera.runs.process_map import in_processes
from itinera.training.dataset import Lessons, Shuffle
from itinera.training.evaluation import Scores, evaluate
from itinera.training.experts import along_path, to_goal
from itinera.training.losses import ActorCritic
from itinera.training.malloc import keep_memory
from itinera.training.objectives import halving, imitation, reinforcement
from itinera.training.progress import Log
from itinera.training.rewards import fidelity_oriented, goal_oriented
from itinera.training.trainer import Chance, Schedule, train

STEPS_A_MINUTE = 260  # of training, about, on one core
BATCH = 64  # walkers
TAUGHT = 0.8  # the share of them that the teacher leads, on R2R; the others go their own way and are told better
SIZES = replace(SMALL, dropout=0.2, env_dropout=0.2)
RATE, RL_RATE, PURE_RATE = 1.5e-3, 4e-4, 6e-4  # learning rates of cloning, policy gradient with it, and without
# What is earned a step later counts so much less. At .95 what comes after the dozen moves of an R4R walk counts half,
# and who is paid for fidelity at the end learns to end early once no teacher holds it to the path.
DISCOUNT, PURE_DISCOUNT = 0.95, 0.99
R2R_WORDS, R4R_WORDS = 80, 130  # tokens of an instruction that are read
R2R_MOVES, R4R_MOVES = 10, 20  # most moves while learning; those who are paid for R2R have as many as
R2R_LIMIT, R4R_LIMIT = 15, 30  # when tried
CLONED = 0.65  # the share of an agent's minutes that it clones, on R2R
R4R_SHARES = {"cloned": 0.12, "mixed": 0.32, "pure": 0.34}  # minutes of the parts of R4R, against those of R2R
REWARDS = {"goal": goal_oriented, "fidelity": fidelity_oriented}
WORDS = {"all words": "full", "last 5 tokens": "last-5", "no words": "none"}  # by rules of `itinera build ablated`
ALL, LAST, NONE = WORDS
METRICS = ("PL", "NE", "SR", "SPL", "CLS")

PRINTED: Mapping[tuple[str, str, str], Sequence[float]] = {  # on val-unseen: PL, NE, SR, SPL, CLS
    ("R2R", "goal", "all words"): (14.8, 6.00, 41.1, 32.7, 47.4),
    ("R2R", "goal", "last 5 tokens"): (15.1, 8.16, 22.2, 17.2, 35.1),
    ("R2R", "goal", "no words"): (17.7, 8.69, 13.0, 9.4, 26.1),
    ("R2R", "fidelity", "all words"): (13.2, 6.38, 40.8, 35.1, 50.9),
    ("R2R", "fidelity", "last 5 tokens"): (14.4, 8.29, 23.2, 17.7, 35.5),
    ("R2R", "fidelity", "no words"): (20.5, 8.76, 14.3, 6.2, 22.7),
    ("R4R", "goal", "all words"): (32.5, 8.45, 28.6, 10.2, 20.4),
    ("R4R", "goal", "last 5 tokens"): (29.5, 9.04, 23.4, 4.5, 20.4),
    ("R4R", "goal", "no words"): (34.0, 9.45, 19.0, 2.3, 17.4),
    ("R4R", "fidelity", "all words"): (28.5, 8.08, 26.1, 7.7, 34.6),
    ("R4R", "fidelity", "last 5 tokens"): (25.5, 8.52, 18.9, 5.6, 25.3),
    ("R4R", "fidelity", "no words"): (22.8, 9.41, 15.5, 4.9, 23.0),
}


@dataclass(frozen=True)
class Job:
    """One part of one agent's training."""

    seed: int
    task: str  # R2R or R4R
    part: str  # "cloned", "geometry", "goal", "fidelity"; on R4R also "goal mixed", "fidelity mixed"
    after: str  # the part it goes on from, task and name; "" for none
    steps: int

    @property
    def name(self) -> str:
        return f"{self.task} {self.part} {self.seed}"


def plan(minutes: float, seeds: int) -> list[list[Job]]:
    """All parts, in rounds: those of a round go on from those of the rounds before."""

    def steps(share: float) -> int:
        return max(1, round(minutes * share * STEPS_A_MINUTE))

    one, two, three, four = list[Job](), list[Job](), list[Job](), list[Job]()
    for seed in range(seeds):
        one += [Job(seed, "R2R", "cloned", "", steps(CLONED)), Job(seed, "R2R", "geometry", "", steps(CLONED))]
        two += [Job(seed, "R2R", reward, "R2R cloned", steps(1 - CLONED)) for reward in REWARDS]
        two += [Job(seed, "R4R", "cloned", "R2R cloned", steps(R4R_SHARES["cloned"]))]
        three += [Job(seed, "R4R", f"{reward} mixed", "R4R cloned", steps(R4R_SHARES["mixed"])) for reward in REWARDS]
        four += [Job(seed, "R4R", reward, f"R4R {reward} mixed", steps(R4R_SHARES["pure"])) for reward in REWARDS]
    return [one, two, three, four]


def learn(out: Path, season: Path | None, job: Job) -> None:
    """Do one part of the training, unless it is done, and keep the model."""
    torch.set_num_threads(1)
    keep_memory()
    done = _file(out, job.name)
    if done.exists():
        return
    ground = _ground(season, job.task, "nothing" if job.part == "geometry" else "all")
    model = _begun(out, ground, job)
    batches = Shuffle(_lessons(season, job.task, job.part, "train"), BATCH, seed=job.seed)
    lesson, rate = _lesson(model, ground, batches, job)
    schedule = Schedule(job.steps, rate, last_rate=0.05)
    draft = out / "drafts" / f"{job.name}.safetensors"
    with Log(out / "logs" / job.name, total=job.steps) as log:
        train(model, lesson, schedule, seed=job.seed, name=job.name, checkpoint=draft, heard=log.heard)
    with atomic_write(done) as stream:
        stream.write(encode(model))
    draft.unlink(missing_ok=True)


def _lesson(model: Model, ground: places.Places, batches: Shuffle, job: Job):
    moves = R2R_MOVES if job.task == "R2R" else R4R_MOVES
    teacher = to_goal if job.task == "R2R" else along_path
    # On R4R the teacher follows the path told, which only who is led by it walks.
    cloning = imitation(
        model.policy, ground.atlas, batches, limit=moves, teacher=teacher, taught=TAUGHT if job.task == "R2R" else 1.0
    )
    if job.part in ("cloned", "geometry"):
        return cloning, RATE if job.task == "R2R" else RATE / 2
    # On R2R who does not stop is not paid for where it is; otherwise one in six never does in new houses. On R4R the
    # equations stand as they are printed: they say nothing of stopping.
    reward = REWARDS[job.part.removesuffix(" mixed")](ground.atlas, needs_stop=job.task == "R2R")
    pure = job.task == "R4R" and not job.part.endswith("mixed")
    cloned = halving(job.steps / 6, least=0.2 if job.task == "R2R" else 0.0)
    lesson = reinforcement(
        model.policy,
        ground.atlas,
        batches,
        reward,
        limit=R2R_LIMIT if job.task == "R2R" else R4R_MOVES,
        cloned=cloned,
        cloning_lesson=None if pure else cloning,
        critic=ActorCritic(discount=PURE_DISCOUNT if pure else DISCOUNT),
    )
    return lesson, PURE_RATE if pure else RL_RATE


def _begun(out: Path, ground: places.Places, job: Job) -> Model:
    if job.after:
        return read_model(_file(out, f"{job.after} {job.seed}")).model
    Chance.of(job.seed, "begun", job.name)  # what a new model's numbers are drawn from
    return new_model(ground.card("rcm", SIZES, seed=job.seed))


def _file(out: Path, name: str) -> Path:
    return out / "models" / f"{name}.safetensors"


@cache
def _ground(season: Path | None, task: str, seen: str) -> places.Places:
    shown = ("rooms", "objects") if seen == "all" else ()
    if season is not None:
        ground = places.hearth(season, seen=shown)
    else:
        ground = places.real(Path(os.environ["ITINERA_DATA"]), seen=shown)
    return places.with_r4r(ground) if task == "R4R" else ground


@cache
def _lessons(season: Path | None, task: str, part: str, split: str, words: str = "full") -> Lessons:
    ground = _ground(season, task, "nothing" if part == "geometry" else "all")
    return ground.lessons(split, most_words=R2R_WORDS if task == "R2R" else R4R_WORDS, words=words)


# What comes of it.


@dataclass(frozen=True, eq=False)
class Row:
    """An agent on val-unseen, over all seeds."""

    task: str
    part: str
    words: str
    scores: tuple[Scores, ...]  # of each seed

    def mean(self, metric: str) -> float:
        return float(np.mean([scores.mean(metric) for scores in self.scores]))

    def told(self, metric: str) -> str:
        """The mean over seeds, its interval over houses, and the seeds' spread."""
        columns = np.mean([scores.columns[metric] for scores in self.scores], axis=0)
        found = replace(self.scores[0], columns={metric: columns}).interval(metric)
        spread = np.std([scores.mean(metric) for scores in self.scores])
        many = 1.0 if metric in ("PL", "NE") else 100.0
        return f"{many * found.mean:.1f} ({many * found.low:.1f} – {many * found.high:.1f}) ±{many * spread:.1f}"


def tried(out: Path, season: Path | None, seeds: int, asked: tuple[str, str, str]) -> Row:
    """How the agents of a part do on val-unseen with so many of their words."""
    task, part, words = asked
    torch.set_num_threads(1)
    lessons = _lessons(season, task, part, "val_unseen", WORDS[words])
    ground = _ground(season, task, "nothing" if part == "geometry" else "all")
    limit = R2R_LIMIT if task == "R2R" else R4R_LIMIT
    scores = []
    for seed in range(seeds):
        policy = read_model(_file(out, f"{task} {part} {seed}")).model.policy.eval()
        scores.append(evaluate(policy, ground.atlas, lessons, limit=limit))
    return Row(task, part, words, tuple(scores))


def rows(task: str) -> Iterable[tuple[str, str, str]]:
    if task == "R2R":
        yield from (("R2R", "geometry", ALL), ("R2R", "cloned", ALL))
    else:
        yield ("R4R", "cloned", ALL)
        yield from (("R4R", f"{reward} mixed", ALL) for reward in REWARDS)
    yield from ((task, reward, words) for reward in REWARDS for words in WORDS)


def table(title: str, found: Sequence[Row]) -> Table:
    shown = Table(title=title)
    for column in ("agent", "words", *METRICS):
        shown.add_column(column)
    for row in found:
        shown.add_row(row.part, row.words, *(row.told(metric) for metric in METRICS))
        printed = PRINTED.get((row.task, row.part, row.words))
        if printed is not None:
            shown.add_row("", "  printed", *(f"{value:g}" for value in printed), style="dim")
    return shown


def claims(found: Mapping[tuple[str, str, str], Row]) -> Iterable[tuple[str, bool, str]]:
    """What the paper says, whether it holds here in every seed, and the numbers."""

    def gaps(metric: str, a: tuple[str, str, str], b: tuple[str, str, str]) -> list[float]:
        pairs = zip(found[a].scores, found[b].scores, strict=True)
        return [100 * (one.mean(metric) - other.mean(metric)) for one, other in pairs]

    def told(values: Sequence[float]) -> str:
        return ", ".join(f"{value:+.1f}" for value in values)

    goal, faithful = ("R4R", "goal", ALL), ("R4R", "fidelity", ALL)
    more = gaps("CLS", faithful, goal)
    yield "On R4R fidelity rewards give a higher CLS (printed +14.2)", min(more) > 0, told(more)
    near = gaps("SR", faithful, goal)
    yield "and about the same success (printed -2.5; within 3)", max(map(abs, near)) <= 3, told(near)
    for task in ("R2R", "R4R"):
        for reward in REWARDS:
            full, last, none = ((task, reward, words) for words in WORDS)
            drop = gaps("SR", full, last)
            yield f"{task}, {reward}: more words, more success: all over the last five", min(drop) > 0, told(drop)
            rest = gaps("SR", last, none)
            yield f"{task}, {reward}: the last five over none", min(rest) > 0, told(rest)
    same = gaps("CLS", goal, ("R4R", "goal", LAST))
    yield "On R4R the goal agent's CLS does not need the words (printed 20.4 and 20.4)", max(same) < 3, told(same)
    silent = gaps("CLS", ("R4R", "fidelity", NONE), goal)
    yield "On R4R fidelity without words is above goal with them in CLS (printed +2.6)", min(silent) > 0, told(silent)
    seeing = gaps("SR", ("R2R", "cloned", ALL), ("R2R", "geometry", ALL))
    yield "(ours) rooms and objects are worth 6 points of success on R2R", min(seeing) >= 6, told(seeing)


def main(
    minutes: Annotated[float, typer.Option(help="Of training, for one agent on R2R, on one core.")] = 30.0,
    seeds: Annotated[int, typer.Option(help="Agents of each kind.")] = 3,
    out: Annotated[Path, typer.Option(help="What is made is kept here.")] = Path(".learning/stay_on_the_path"),
    season: Annotated[Path, typer.Option(help="A season of Hearth, built if it is not there.")] = Path(
        ".tables/hearth"
    ),
    hearth: Annotated[bool, typer.Option("--hearth", help="Hearth, even if ITINERA_DATA is given.")] = False,
    workers: Annotated[int, typer.Option(help="Processes at work.")] = 2,
) -> None:
    """Train, try, and print Tables 3 and 4 with ours beside the printed rows."""
    console = Console(width=150)
    where = None if "ITINERA_DATA" in os.environ and not hearth else places.built(season)
    out = out / ("hearth" if where else "real") / f"{minutes:g} minutes"
    for jobs in plan(minutes, seeds):
        for number, _ in in_processes(partial(learn, out, where), jobs, workers=workers):
            console.print(f"done: {jobs[number].name}, {jobs[number].steps} steps", style="dim")
    found: dict[tuple[str, str, str], Row] = {}
    for task, title in (("R2R", "Table 3, val-unseen"), ("R4R", "Table 4, val-unseen")):
        asked = list(rows(task))
        made = dict(in_processes(partial(tried, out, where, seeds), asked, workers=workers))
        found |= {asked[number]: row for number, row in made.items()}
        name = task if where is None else f"{task}-like tasks in Hearth"
        console.print(
            table(f"{title}: {name}, mean (interval over houses) ± over {seeds} seeds", [found[k] for k in asked])
        )
    for claim, holds, numbers in claims(found):
        console.print(f"{'held    ' if holds else 'NOT held'}  {claim}: {numbers}")
    console.print("Rooms and objects are annotations, which is perfect perception: not to be set beside image agents.")


if __name__ == "__main__":
    typer.run(main)
