"""Do skills rise with the success rate? Table 1 of Behavioral Analysis of Vision-and-Language Navigation Agents (Yang
et al. 2023) with trained agents, and the effects of the interventions.

EnvDrop and HAMT, as in the paper, and Speaker-Follower's follower and RCM are trained on Hearth's training houses by
imitation learning, and one more of each for a tenth of the time. On the val-unseen houses a skill study measures their
action probabilities for instructions to stop, to turn, to go to an object or into a room. The paper finds that skills
rise with the success rate, though not all alike, and that agents are better at stopping and turning than at objects and
rooms. The effects of the interventions, which the paper states for HAMT, are printed beside those of our HAMT.

The length of training is that of one agent: --steps, or --minutes, which is converted to steps. If interrupted, rerun
the command to resume.

    python recipes/skills.py --minutes 10 --every 10
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import itinera
from itinera.formats.writing import atomic_write
from itinera.policies import envdrop, follower, hamt, rcm
from itinera.policies.checkpoint import build_model, encode_model
from itinera.reports.skill_findings import StudyAnalysis
from itinera.runs.engines.processes import parallel_map
from itinera.skills.skill_table import SkillRow
from itinera.training.data import TrainingData, load_hearth
from itinera.training.dataset import BatchSampler
from itinera.training.experts import shortest_path_expert
from itinera.training.losses import imitation_loss
from itinera.training.malloc import tune_malloc
from itinera.training.progress import TrainingLog, log_to_stderr
from itinera.training.rollout import collect_rollout, mixed_forcing, sample
from itinera.training.trainer import Schedule, Trainer, seed_torch


@dataclass(frozen=True)
class Recipe:
    """How a kind of agent is trained."""

    config: Any
    learning_rate: float
    steps_per_minute: int  # optimizer steps, about, on one core


RECIPES = {
    "follower": Recipe(follower.SMALL, 1.5e-3, 300),
    "envdrop": Recipe(envdrop.SMALL, 1.5e-3, 300),
    "rcm": Recipe(rcm.SMALL, 1.5e-3, 260),
    "hamt": Recipe(hamt.SMALL, 1e-3, 120),
}
SHORT = 0.1  # fraction of the training of one more agent of each kind: success rates must differ
BATCH_SIZE = 64  # episodes
TEACHER_FORCING_RATIO = 0.8  # share of agents that follow the expert
MAX_STEPS = 10  # of an agent per episode, in training
SKILLS = ("stop", "direction", "object", "room-1")  # of the study
COLUMNS = ("stop", "turn", "object", "room")  # of the table
MIN_CORRELATION = 0.5
GUIDE = "rxr/rxr_val_unseen_guide.jsonl.gz"

PUBLISHED = {  # % of the probability, in the order of COLUMNS, and their mean
    "EnvDrop": (62.65, 27.14, 11.06, 23.64, 31.12),
    "EnvDrop (CLIP-ViL)": (66.76, 27.45, 12.83, 26.82, 33.47),
    "HAMT": (71.65, 43.74, 12.00, 26.63, 38.50),
}
PUBLISHED_EFFECTS = {  # of HAMT: skill, which contrast of it, and the effect
    "stop, explicit over implicit": ("stop", 0, 0.07),
    "stop, over one step ahead": ("stop", 1, 0.36),
    "left": ("direction-left", 0, 0.38),
    "right": ("direction-right", 0, 0.44),
    "forward": ("direction-forward", 0, 0.16),
    "backward": ("direction-backward", 0, 0.16),
    "back left": ("direction-back-left", 0, 0.43),
    "back right": ("direction-back-right", 0, 0.48),
    "object within 15 degrees": ("object", 0, 0.069),
    "room, metres nearer": ("room-1", 0, 0.26),
}


@dataclass(frozen=True)
class Job:
    """An agent to train. Its name decides the random streams: do not change the words."""

    kind: str
    seed: int
    steps: int
    minutes: float
    is_short: bool = False

    @property
    def name(self) -> str:
        return f"{self.kind}-{'brief' if self.is_short else self.seed}"


def train_agent(out: Path, season: Path, job: Job) -> Path:
    """The model file of an agent trained by imitation learning; trained unless it exists."""
    torch.set_num_threads(1)
    tune_malloc()
    log_to_stderr()
    finished = out / f"{job.name}.safetensors"
    if finished.exists():
        return finished
    recipe, data = RECIPES[job.kind], load_data(season)
    seed_torch(job.seed, "begun", job.name)  # for the initial weights
    model = build_model(data.card(job.kind, recipe.config, seed=job.seed, minutes=job.minutes))
    batches = BatchSampler(data.dataset("train"), BATCH_SIZE, seed=job.seed)
    checkpoint = out / "drafts" / finished.name
    with TrainingLog(job.name, total=job.steps, folder=out / "logs" / job.name) as log:
        options = {"seed": job.seed, "name": job.name, "checkpoint": checkpoint, "on_step": log.on_step}
        trainer = Trainer(model, Schedule(job.steps, recipe.learning_rate), **options)
        for step in trainer:
            batch = batches[step]
            forced = torch.rand(batch.size, generator=trainer.rng) < TEACHER_FORCING_RATIO
            rollout = collect_rollout(
                model.policy,
                data.env,
                batch,
                select_action=mixed_forcing(forced, sample(trainer.rng)),
                expert=shortest_path_expert,
                max_steps=MAX_STEPS,
            )
            trainer.update(imitation_loss(rollout))
    with atomic_write(finished) as stream:
        stream.write(encode_model(model))
    checkpoint.unlink(missing_ok=True)
    return finished


@cache
def load_data(season: Path) -> TrainingData:
    return load_hearth(season)


def design_trials(season: Path, every: int, out: Path, *, overwrite: bool) -> Path:
    """The trials of one of `every` paths of val-unseen, with all their instructions; those that exist are kept."""
    trials, guide = out / "trials.jsonl", out / Path(GUIDE).name
    lines = gzip.decompress((season / GUIDE).read_bytes()).splitlines(keepends=True)
    chosen = [line for line in lines if msgspec.json.decode(line)["path_id"] % every == 0]
    contents = gzip.compress(b"".join(chosen), mtime=0)
    # Trials name the version that designed them: another version would not find its answers again.
    is_same = trials.exists() and guide.exists() and guide.read_bytes() == contents
    if overwrite or not is_same:
        guide.write_bytes(contents)
        traces = next((season / "rxr" / "pose_traces").glob("*val_unseen*"))
        itinera.design_study(SKILLS, guide, season, alignment=traces, out=trials)
    return trials


def check_claims(rows: Sequence[SkillRow]) -> list[str]:
    """Sentences on the paper's claims: whether skills rise with the success rate, and their order."""
    success = np.array([row.metrics["SR"].mean for row in rows])
    values = {name: np.array([row.scores[name].mean for row in rows]) for name in COLUMNS}
    lines = []
    for name, scores in values.items():
        correlation = float(np.corrcoef(success, scores)[0, 1])
        verdict = "rises" if correlation > MIN_CORRELATION else "does NOT rise"
        lines.append(f"{name}: {verdict} with SR over {len(rows)} agents (correlation {correlation:+.2f})")
    means = {name: float(scores.mean()) for name, scores in values.items()}
    holds = min(means["stop"], means["turn"]) > max(means["object"], means["room"])
    ordered = ", ".join(f"{name} {100 * value:.0f}" for name, value in means.items())
    lines.append(
        f"{'holds' if holds else 'does NOT hold':13}  stopping and turning before objects and rooms: {ordered}"
    )
    return lines


def make_skill_table(jobs: Sequence[Job], rows: Sequence[SkillRow]) -> Table:
    """Table 1: the means over seeds of each kind of agent, and the standard deviation, beside the published rows."""
    table = Table(title="Table 1: probability of the correct actions, %, mean ± s.d. over seeds")
    for column in ("agent", *COLUMNS, "mean", "SR", "nDTW"):
        table.add_column(column)
    groups: dict[str, list[SkillRow]] = {}
    for job, row in zip(jobs, rows, strict=True):
        groups.setdefault(f"{job.kind}, a tenth" if job.is_short else job.kind, []).append(row)
    for name, group in groups.items():
        cells = [[row.scores[column].mean for row in group if column in row.scores] for column in COLUMNS]
        cells += [[row.mean.mean for row in group if row.mean is not None]]
        cells += [[row.metrics[metric].mean for row in group] for metric in ("SR", "nDTW")]
        table.add_row(name, *(format_seeds(values) for values in cells))
    for name, values in PUBLISHED.items():
        table.add_row(f"{name}, published", *(f"{value:.2f}" for value in values), "", "", style="dim")
    return table


def make_effect_table(jobs: Sequence[Job], analysis: StudyAnalysis) -> Table:
    """The effects of the interventions on HAMT beside the published ones."""
    table = Table(title="Effects of the interventions on HAMT, mean ± s.d. over seeds")
    for column in ("intervention", "ours", "published"):
        table.add_column(column)
    agents = [analysis[job.name] for job in jobs if job.kind == "hamt" and not job.is_short]
    for label, (skill, contrast, published) in PUBLISHED_EFFECTS.items():
        findings = [agent[skill].effects for agent in agents if skill in agent]
        effects = [found[contrast].interval.mean for found in findings if len(found) > contrast]
        table.add_row(label, format_seeds(effects, scale=1.0, digits=2), f"{published:g}")
    return table


def format_seeds(values: Sequence[float], *, scale: float = 100.0, digits: int = 1) -> str:
    if not values:
        return "–"
    return f"{scale * np.mean(values):.{digits}f} ±{scale * np.std(values):.{digits}f}"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=10.0, help="training time of one agent on one core (10)")
    length.add_argument("--steps", type=int, help="optimizer steps of one agent, instead of --minutes")
    parser.add_argument("--seeds", type=int, default=3, help="number of agents of each kind (3)")
    parser.add_argument("--every", type=int, default=10, help="use one path in EVERY for the study (10)")
    parser.add_argument("--out", type=Path, default=Path(".learning/skills"), help="folder for models and logs")
    parser.add_argument("--season", type=Path, default=Path(".tables/hearth"), help="Hearth season; built if missing")
    parser.add_argument("--workers", type=int, default=2, help="number of worker processes (2)")
    parser.add_argument("--overwrite", action="store_true", help="run the study again, e.g. with another --every")
    return parser.parse_args()


def plan_jobs(args: argparse.Namespace) -> list[Job]:
    jobs = []
    for kind, recipe in RECIPES.items():
        for seed, fraction in [*((seed, 1.0) for seed in range(args.seeds)), (0, SHORT)]:
            minutes = fraction * (args.minutes if args.steps is None else args.steps / recipe.steps_per_minute)
            steps = max(1, round(minutes * recipe.steps_per_minute))
            jobs.append(Job(kind, seed, steps, minutes, is_short=fraction < 1))
    return jobs


def main() -> None:
    """Train, run the study, and print the skills beside the success rates."""
    args = parse_arguments()
    season, length = args.season, f"{args.minutes:g} minutes" if args.steps is None else f"{args.steps} steps"
    if not (season / "season.json").exists():
        itinera.build_hearth(season)
    out = args.out / length
    out.mkdir(parents=True, exist_ok=True)
    jobs = sorted(plan_jobs(args), key=lambda job: job.is_short)
    models = dict(parallel_map(partial(train_agent, out, season), jobs, workers=args.workers))
    trials = design_trials(season, args.every, out, overwrite=args.overwrite)
    tasks = season / "r2r" / "R2R_val_unseen.json"
    responses, scores = {}, []
    for k, job in enumerate(jobs):
        options = {"workers": args.workers, "overwrite": args.overwrite}
        probabilities, predictions = (out / f"{job.name}-{what}.jsonl" for what in ("probabilities", "predictions"))
        model = str(models[k])
        responses[job.name] = itinera.run_study(model, trials, season, name=job.name, out=probabilities, **options)
        scores.append(itinera.score(itinera.run(model, tasks, season, out=predictions, **options), tasks, season))
    analysis = itinera.analyze_study(trials, responses, scores=scores, worlds=season)
    console = Console(width=120)
    console.print(str(analysis), highlight=False)
    console.print(make_skill_table(jobs, analysis.rows))
    console.print(make_effect_table(jobs, analysis))
    for line in check_claims(analysis.rows):
        console.print(line)


if __name__ == "__main__":
    main()
