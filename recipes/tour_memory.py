"""Table 2 of Iterative Vision-and-Language Navigation (Krantz et al. 2022): does memory of earlier episodes help HAMT?

HAMT is first trained on episodes by imitation learning. Five agents continue from there for the same time: HAMT itself,
and TourHAMT with its switches: PH, the history includes the steps of earlier episodes; TH, their tokens are trained;
PHI, the token [PREV] marks them; IW, inflection weighting. The paper finds that no variant comes near HAMT, that plain
memory halves t-nDTW, and that t-nDTW rises from row 5 to row 2. [PREV] cannot tell which steps are old, in the paper's
model or here. Both splits are scored, with every column of the paper; PL is its TL, OSR its OS.

With ITINERA_DATA the tours are those of R2R's tasks, otherwise of Hearth's, and the season is built first. Observations
are annotations, which is perfect perception. Scores are those of the last step; nothing was chosen on the houses of the
test. The length of training is that of one row: --steps, in optimizer steps on episodes, or --minutes, which is
converted to steps. If interrupted, rerun the command to resume.

    python recipes/tour_memory.py --minutes 15 --seeds 3 --out .learning/tour_memory
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import itinera
from itinera.formats.writing import atomic_write
from itinera.policies import hamt
from itinera.policies.checkpoint import Model, build_model, encode_model, read_model
from itinera.policies.tour_hamt import TABLE_2
from itinera.runs.engines.processes import parallel_map
from itinera.training.data import TrainingData, load_hearth, load_r2r, with_tours
from itinera.training.dataset import BatchSampler, EpisodeDataset
from itinera.training.evaluation import EvaluationScores, average_seeds, display_scale
from itinera.training.experts import shortest_path_expert
from itinera.training.losses import imitation_loss, inflection_weighted_loss
from itinera.training.malloc import tune_malloc
from itinera.training.progress import TrainingLog, log_to_stderr
from itinera.training.rollout import collect_rollout, mixed_forcing, sample, teacher_forcing
from itinera.training.tours import TourSampler, collect_tours, evaluate_tours, index_tours
from itinera.training.trainer import Schedule, Trainer, seed_torch

CONFIG = hamt.SMALL
EPISODE_STEPS_PER_MINUTE, TOUR_STEPS_PER_MINUTE = 120, 36  # optimizer steps, about, on one core
SHARED = 0.6  # fraction of a row's training that all rows share: HAMT on episodes
EPISODE_BATCH, TOUR_BATCH = 64, 8  # episodes, tours
SHARED_RATE, RATE = 1e-3, 3e-4  # learning rates of the shared stage and of the rows
SHARED_FINAL_RATIO = 0.1  # of the learning rate, at the end of the shared stage
TEACHER_FORCING_RATIO = 0.8  # share of agents that follow the expert, on episodes; on tours all do
MAX_STEPS, EVALUATION_MAX_STEPS = 10, 15  # of an agent per episode
METRICS = ("PL", "NE", "OSR", "nDTW", "SR", "SPL", "t-nDTW")
SPLITS = ("val_seen", "val_unseen")

PUBLISHED: Mapping[str, Mapping[int, str]] = {  # mean ± standard error over 3 runs, in the order of METRICS
    "val_seen": {
        1: "10.1±0.1 4.2±0.1 70±1 71±1 63±1 61±1 58±1",
        2: "9.4±0.4 5.8±0.1 56±1 59±0 45±1 43±1 45±0",
        3: "10.5±0.3 6.0±0.2 60±1 58±1 45±2 43±2 42±1",
        4: "10.6±0.3 6.0±0.1 61±1 58±1 45±1 42±1 42±1",
        5: "10.9±0.3 6.1±0.1 60±2 58±1 45±1 42±1 41±0",
    },
    "val_unseen": {
        1: "9.4±0.1 4.7±0.0 64±1 66±0 56±0 54±0 50±0",
        2: "10.0±0.2 6.2±0.1 52±2 52±0 39±1 36±0 32±1",
        3: "10.9±0.2 6.8±0.2 54±1 51±1 38±1 34±1 31±1",
        4: "10.3±0.3 6.7±0.2 52±1 50±1 38±1 34±1 29±1",
        5: "11.0±0.6 6.7±0.1 52±2 51±0 38±0 34±0 28±1",
    },
}
Job = tuple[int, int]  # the row, 0 for the stage that all rows share, and the seed


def train_row(out: Path, season: Path | None, minutes: float, job: Job) -> None:
    """Train a row, or the shared stage, and write its model, unless it exists."""
    row, seed = job
    torch.set_num_threads(1)
    tune_malloc()
    log_to_stderr()
    finished = model_file(out, job)
    if finished.exists():
        return
    data, dataset = load_data(season), load_dataset(season, "train")
    env, model = data.env, start_model(out, season, job)
    policy = model.policy
    on_tours = row > 0 and TABLE_2[row].previous_history
    if on_tours:
        steps = max(1, round(minutes * (1 - SHARED) * TOUR_STEPS_PER_MINUTE))
        schedule = Schedule(steps, RATE, warmup_steps=10, checkpoint_every=20)
        tours = TourSampler(index_tours(data.splits["train"], dataset), TOUR_BATCH, seed=seed)
        weighted = partial(inflection_weighted_loss, env=env)
        leg_loss = weighted if TABLE_2[row].inflection_weighting else imitation_loss
    else:
        steps = max(1, round(minutes * (1 - SHARED if row else SHARED) * EPISODE_STEPS_PER_MINUTE))
        schedule = Schedule(steps, RATE) if row else Schedule(steps, SHARED_RATE, final_ratio=SHARED_FINAL_RATIO)
        episodes = BatchSampler(dataset, EPISODE_BATCH, seed=seed)

    checkpoint = out / "drafts" / finished.name
    with TrainingLog(finished.stem, total=steps, folder=out / "logs" / finished.stem) as log:
        options = {"seed": seed, "name": finished.stem, "checkpoint": checkpoint, "on_step": log.on_step}
        trainer = Trainer(model, schedule, **options)
        for step in trainer:
            if on_tours:
                batch = tours[step]
                legs = collect_tours(
                    policy,
                    env,
                    dataset,
                    batch,
                    select_action=teacher_forcing,
                    expert=shortest_path_expert,
                    max_steps=MAX_STEPS,
                )
                losses = [leg_loss(leg.rollout) * len(leg.tours) for leg in legs]
                loss = torch.stack(losses).sum() / sum(map(len, batch))  # mean over episodes
            else:
                batch = episodes[step]
                forced = torch.rand(batch.size, generator=trainer.rng) < TEACHER_FORCING_RATIO
                rollout = collect_rollout(
                    policy,
                    env,
                    batch,
                    select_action=mixed_forcing(forced, sample(trainer.rng)),
                    expert=shortest_path_expert,
                    max_steps=MAX_STEPS,
                )
                loss = imitation_loss(rollout)
            trainer.update(loss)
    with atomic_write(finished) as stream:
        stream.write(encode_model(model))
    checkpoint.unlink(missing_ok=True)


def start_model(out: Path, season: Path | None, job: Job) -> Model:
    """A new HAMT for the shared stage; for a row, its variant with the weights of the shared stage."""
    row, seed = job
    seed_torch(seed, "begun", str(row))  # for the initial weights
    if not row:
        return build_model(load_data(season).card("hamt", CONFIG, seed=seed))
    variant = TABLE_2[row]
    model = build_model(load_data(season).card(variant.kind, variant.configure(CONFIG), seed=seed))
    shared = read_model(model_file(out, (0, seed))).model.policy.state_dict()
    model.policy.load_state_dict(model.policy.state_dict() | shared)  # [PREV] is not shared
    return model


def evaluate_row(out: Path, season: Path | None, job: tuple[str, Job]) -> EvaluationScores:
    """The scores of a row on the tours of a split."""
    torch.set_num_threads(1)
    split, row = job
    data, dataset = load_data(season), load_dataset(season, split)
    policy = read_model(model_file(out, row)).model.policy.eval()
    tours = index_tours(data.splits[split], dataset)
    return evaluate_tours(policy, data.env, dataset, tours, max_steps=EVALUATION_MAX_STEPS)


def model_file(out: Path, job: Job) -> Path:
    return out / "models" / f"row {job[0]} seed {job[1]}.safetensors"


@cache
def load_data(season: Path | None) -> TrainingData:
    return with_tours(load_hearth(season) if season else load_r2r(Path(os.environ["ITINERA_DATA"])))


@cache
def load_dataset(season: Path | None, split: str) -> EpisodeDataset:
    return load_data(season).dataset(split)


Scores = Mapping[int, Sequence[EvaluationScores]]  # of each row, seed by seed


def make_table(split: str, scores: Scores, title: str) -> Table:
    table = Table(title=title)
    for column in ("#", "switches", *METRICS):
        table.add_column(column)
    for row, of_seeds in scores.items():
        table.add_row(str(row), format_switches(row), *(format_cell(of_seeds, metric) for metric in METRICS))
        table.add_row("", "  published", *PUBLISHED[split][row].split(), style="dim")
    return table


def format_switches(row: int) -> str:
    variant = TABLE_2[row]
    on = (variant.previous_history, variant.trained_history, variant.prev_token, variant.inflection_weighting)
    return " ".join(name for name, is_on in zip(("PH", "TH", "PHI", "IW"), on, strict=True) if is_on) or "(HAMT)"


def format_cell(scores: Sequence[EvaluationScores], metric: str) -> str:
    """The mean over seeds with its standard error, as in the paper, and its interval over houses."""
    scale, found = display_scale(metric), average_seeds(scores).interval(metric)
    means = scale * np.array([one.mean(metric) for one in scores])
    error = means.std(ddof=1) / len(means) ** 0.5 if len(means) > 1 else float("nan")
    return f"{means.mean():.1f} ±{error:.1f} ({scale * found.low:.1f} – {scale * found.high:.1f})"


def check_claims(scores: Scores) -> Iterable[tuple[str, bool, str]]:
    """The paper's claims, whether they hold here, and the numbers."""
    of_seeds = {row: 100 * np.array([one.mean("t-nDTW") for one in each]) for row, each in scores.items()}
    tours = {row: float(values.mean()) for row, values in of_seeds.items()}
    text = ", ".join(f"row {row} {value:.1f}" for row, value in tours.items())
    leads = of_seeds[1] - np.max([of_seeds[row] for row in (2, 3, 4, 5)], axis=0)
    lead_text = "over the best other row, seed by seed: " + ", ".join(f"{value:+.1f}" for value in leads)
    yield "memory does not help: HAMT has the highest t-nDTW in every seed", bool(leads.min() > 0), lead_text
    yield "plain memory halves t-nDTW (published 50 to 28; at most 60 % left)", tours[5] <= 0.6 * tours[1], text
    yield "t-nDTW rises from row 5 to row 2", tours[5] <= tours[4] <= tours[3] <= tours[2], text


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=15.0, help="training time of a row on one core (15)")
    length.add_argument("--steps", type=int, help="optimizer steps of row 1 (HAMT on episodes), instead of --minutes")
    parser.add_argument("--seeds", type=int, default=3, help="number of agents of each row (3)")
    parser.add_argument("--out", type=Path, default=Path(".learning/tour_memory"), help="folder for models and logs")
    parser.add_argument("--season", type=Path, default=Path(".tables/hearth"), help="Hearth season; built if missing")
    parser.add_argument("--hearth", action="store_true", help="use Hearth even if ITINERA_DATA is set")
    parser.add_argument("--workers", type=int, default=2, help="number of worker processes (2)")
    return parser.parse_args()


def main() -> None:
    """Train, evaluate, and print Table 2 beside the published rows."""
    args = parse_arguments()
    season = None if "ITINERA_DATA" in os.environ and not args.hearth else args.season
    if season is not None and not (season / "season.json").exists():
        itinera.build_hearth(season)
    minutes = args.minutes if args.steps is None else args.steps / EPISODE_STEPS_PER_MINUTE
    length = f"{args.minutes:g} minutes" if args.steps is None else f"{args.steps} steps"
    out = args.out / ("hearth" if season else "real") / length
    console = Console(width=210)
    shared, rows = (
        [(0, seed) for seed in range(args.seeds)],
        [(row, seed) for row in TABLE_2 for seed in range(args.seeds)],
    )
    for jobs in (shared, rows):
        for number, _ in parallel_map(partial(train_row, out, season, minutes), jobs, workers=args.workers):
            console.print(f"finished: row {jobs[number][0]}, seed {jobs[number][1]}", style="dim")
    jobs = [(split, job) for split in SPLITS for job in rows]
    found = dict(parallel_map(partial(evaluate_row, out, season), jobs, workers=args.workers))
    name = "tours of Hearth" if season else "tours of R2R"
    cells = f"mean ± standard error of {args.seeds} runs (95 % interval over houses)"
    for split in SPLITS:
        scores: dict[int, list[EvaluationScores]] = {row: [] for row in TABLE_2}
        for k, (where, (row, _)) in enumerate(jobs):
            if where == split:
                scores[row].append(found[k])
        console.print(make_table(split, scores, f"Table 2, {split.replace('_', '-')}: {name}, {cells}"))
        for claim, holds, numbers in check_claims(scores):
            console.print(f"{'holds' if holds else 'does NOT hold':13}  {claim}: {numbers}")
    console.print("Observations are annotations (perfect perception): do not compare with agents that observe images.")


if __name__ == "__main__":
    main()
