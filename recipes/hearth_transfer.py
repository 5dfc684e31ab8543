"""Does what is learned in Hearth hold in real houses? Agents trained on Hearth, evaluated on R2R in Matterport scans.

RCM's navigator with annotated views, imitation learning and then policy gradient with the fidelity-oriented reward:

    zero-shot    trained on Hearth alone, evaluated on R2R without having seen any of its houses or instructions; its
                 vocabulary is Hearth's, so other words are unknown to it; in training on Hearth, one word in ten is
                 replaced by the unknown one
    R2R          trained on R2R alone
    pretrained   trained on Hearth, then on R2R for as long as "R2R"
    best         the same with a longer schedule (--best), and paths that a speaker describes beside those of R2R

Objects have the names that their data set gives them. A feature's vector is the mean of the embeddings of the words in
its name, so an object that occurs in R2R only is known by its words. Settings are those of `stay_on_the_path.py`, which
were chosen on held-out training houses of R2R; no checkpoint is selected, scores are those of the last step.

    itinera build hearth --out .tables/hearth
    ITINERA_DATA=… python recipes/hearth_transfer.py .tables/hearth --minutes 10 --seeds 3
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from itinera.formats.writing import atomic_write
from itinera.policies import rcm, speaker
from itinera.policies.checkpoint import Model, build_model, encode_model, read_model
from itinera.policies.tokenizer import Tokenizer
from itinera.runs.engines.processes import parallel_map
from itinera.training.back_translation import relabel_episodes, sample_unlabeled_paths, speaker_objective
from itinera.training.data import TrainingData, load_hearth, load_r2r
from itinera.training.dataset import BatchSampler, EpisodeDataset
from itinera.training.evaluation import EvaluationScores, average_seeds, display_scale, evaluate
from itinera.training.losses import exponential_decay, imitation_objective, policy_gradient_objective
from itinera.training.malloc import tune_malloc
from itinera.training.progress import TrainingLog, log_to_stderr
from itinera.training.rewards import make_fidelity_oriented_reward
from itinera.training.trainer import Schedule, Trainer, seed_torch

CONFIG = replace(rcm.SMALL, dropout=0.2, env_dropout=0.2)
LARGER = replace(CONFIG, word_dim=128, text_dim=256, visual_dim=192, hidden_dim=256)  # of "best"
BATCH_SIZE = 64  # episodes
STEPS_PER_MINUTE = 260  # optimizer steps, about, on one core
IMITATION_RATE, FINE_TUNING_RATE, REWARD_RATE, SPEAKER_RATE = 1.5e-3, 1e-3, 4e-4, 1.5e-3  # learning rates
FINAL_RATIO = 0.05  # of the learning rate, at the end of each stage
TEACHER_FORCING_RATIO = 0.8
IMITATION_MAX_STEPS, MAX_STEPS = 10, 15  # per episode: imitation; policy gradient and evaluation
MIN_IMITATION_PROBABILITY = 0.2  # beside the policy gradient
WORD_DROPOUT = 0.1  # on Hearth, whose vocabulary lacks many of R2R's words
IMITATION_SHARE = 0.65  # of the steps of an agent; the rest is policy gradient
NUM_DESCRIBED = 30_000  # shortest paths in training houses that the speaker of "best" describes
BEST = {"speaker": 0.15, "Hearth": 0.2, "augmented": 0.25, "imitation": 0.15, "reward": 0.25}  # shares of its steps
METRICS = ("PL", "NE", "SR", "SPL", "CLS")
ZERO_SHOT, R2R, PRETRAINED, BEST_ROW = "zero-shot", "R2R", "pretrained", "best"


@dataclass(frozen=True)
class Stage:
    """One stage of the training of an agent, or of the speaker of "best". Its name decides the random streams."""

    row: str
    part: str  # "Hearth", "imitation", "reward", "augmented" or "speaker"
    seed: int
    steps: int
    previous: str = ""  # the name of the stage whose weights it starts from

    @property
    def name(self) -> str:
        return f"{self.row} {self.part} {self.seed}"

    @property
    def on_hearth(self) -> bool:
        return self.part.startswith("Hearth")


def plan(total_steps: float, best_steps: float, seeds: int, rows: Sequence[str]) -> list[list[Stage]]:
    """The stages of each agent in their order: agents are independent of each other."""
    imitation, reward = round(IMITATION_SHARE * total_steps), round((1 - IMITATION_SHARE) * total_steps)
    lengths = {
        ZERO_SHOT: {"Hearth": imitation, "Hearth reward": reward},
        R2R: {"imitation": imitation, "reward": reward},
        PRETRAINED: {"Hearth": imitation, "Hearth reward": reward, "imitation": imitation, "reward": reward},
        BEST_ROW: {part: round(share * best_steps) for part, share in BEST.items()},
    }
    agents = []
    for row in rows:
        for seed in range(seeds):
            stages: list[Stage] = []
            for part, steps in lengths[row].items():
                start = stages[-1].name if stages and stages[-1].part != "speaker" else ""
                stages.append(Stage(row, part, seed, max(1, steps), start))
            agents.append(stages)
    return agents


@cache
def load_data(season: Path, row: str) -> dict[str, TrainingData]:
    """Hearth and R2R with common columns and words; those of the zero-shot agent come from Hearth's texts alone."""
    folder = Path(os.environ["ITINERA_DATA"])
    hearth, real = load_hearth(season), load_r2r(folder)
    names = tuple(dict.fromkeys((*hearth.object_names, *real.object_names)))
    texts = [e.instruction.text for e in hearth.splits["train"].episodes]
    if row != ZERO_SHOT:
        texts += [e.instruction.text for e in real.splits["train"].episodes]
    options = {"names": names, "tokenizer": Tokenizer.fit(texts)}
    return {"Hearth": load_hearth(season, **options), "R2R": load_r2r(folder, **options)}


def train_agent(out: Path, season: Path, stages: Sequence[Stage]) -> None:
    """Train the stages of one agent, except those that are finished."""
    torch.set_num_threads(1)
    tune_malloc()
    log_to_stderr()
    for stage in stages:
        if not model_file(out, stage.name).exists():
            train_stage(out, season, stage)


def train_stage(out: Path, season: Path, stage: Stage) -> None:
    data = load_data(season, stage.row)["Hearth" if stage.on_hearth else "R2R"]
    model, env = start_model(out, data, stage), data.env
    word_dropout = WORD_DROPOUT if stage.on_hearth else 0.0
    batches = BatchSampler(training_dataset(out, data, stage), BATCH_SIZE, seed=stage.seed, word_dropout=word_dropout)
    imitation_options = {"max_steps": IMITATION_MAX_STEPS, "teacher_forcing_ratio": TEACHER_FORCING_RATIO}
    if stage.part == "speaker":
        rate, loss_fn = SPEAKER_RATE, speaker_objective(model.policy, env, batches)
    else:
        rate = FINE_TUNING_RATE if stage.previous else IMITATION_RATE
        loss_fn = imitation_objective(model.policy, env, batches, **imitation_options)
    if stage.part.endswith("reward"):
        rate = REWARD_RATE
        loss_fn = policy_gradient_objective(
            model.policy,
            env,
            batches,
            make_fidelity_oriented_reward(env, needs_stop=True),
            max_steps=MAX_STEPS,
            imitation=loss_fn,
            imitation_probability=exponential_decay(stage.steps / 6, minimum=MIN_IMITATION_PROBABILITY),
        )
    checkpoint = out / "drafts" / f"{stage.name}.safetensors"
    schedule = Schedule(stage.steps, rate, final_ratio=FINAL_RATIO)
    with TrainingLog(stage.name, total=stage.steps, folder=out / "logs" / stage.name) as log:
        options = {"seed": stage.seed, "name": stage.name, "checkpoint": checkpoint, "on_step": log.on_step}
        trainer = Trainer(model, schedule, **options)
        for step in trainer:
            trainer.update(loss_fn(step, trainer.rng))
    with atomic_write(model_file(out, stage.name)) as stream:
        stream.write(encode_model(model))
    checkpoint.unlink(missing_ok=True)


def start_model(out: Path, data: TrainingData, stage: Stage) -> Model:
    if stage.previous:
        return read_model(model_file(out, stage.previous)).model
    seed_torch(stage.seed, "initial weights", stage.name)
    if stage.part == "speaker":
        return build_model(data.card("speaker", speaker.SMALL, seed=stage.seed))
    return build_model(data.card("rcm", LARGER if stage.row == BEST_ROW else CONFIG, seed=stage.seed))


def training_dataset(out: Path, data: TrainingData, stage: Stage) -> EpisodeDataset:
    """The training split; for "augmented" also paths in training houses that the speaker describes."""
    dataset = data.dataset("train")
    if stage.part != "augmented":
        return dataset
    houses = {episode.world_id for episode in dataset.episodes}
    paths = sample_unlabeled_paths(data.env, houses, min(NUM_DESCRIBED, stage.steps * BATCH_SIZE), seed=stage.seed)
    undescribed = EpisodeDataset.from_episodes(paths, data.env, data.tokenizer)
    model = read_model(model_file(out, f"{stage.row} speaker {stage.seed}")).model
    described = relabel_episodes(model.policy, data.env, undescribed, data.tokenizer)
    return EpisodeDataset.from_episodes([*dataset.episodes, *described], data.env, data.tokenizer)


def model_file(out: Path, name: str) -> Path:
    return out / "models" / f"{name}.safetensors"


def evaluate_row(out: Path, season: Path, agents: Sequence[Sequence[Stage]]) -> list[tuple[str, EvaluationScores]]:
    """The scores of agents of one row on val-unseen: of R2R, and of Hearth where they were trained there last."""
    torch.set_num_threads(1)
    found = []
    for stages in agents:
        last = stages[-1]
        data = load_data(season, last.row)
        policy = read_model(model_file(out, last.name)).model.policy
        for name in ("R2R", *["Hearth"] * last.on_hearth):
            scores = evaluate(policy, data[name].env, data[name].dataset("val_unseen"), max_steps=MAX_STEPS)
            found.append((name, scores))
    return found


def format_cell(scores: Sequence[EvaluationScores], metric: str) -> str:
    """The mean over seeds, its interval over houses, and the standard deviation over seeds."""
    spread = display_scale(metric) * np.std([one.mean(metric) for one in scores])
    return f"{average_seeds(scores).format(metric)} ±{spread:.1f}"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("season", type=Path, help="a folder of `itinera build hearth`")
    parser.add_argument("--minutes", type=float, default=10.0, help="training time on each data set, on one core (10)")
    parser.add_argument("--best", type=float, default=0.0, help='minutes of the row "best"; 0 leaves it out (0)')
    parser.add_argument("--seeds", type=int, default=3, help="number of agents of each kind (3)")
    rows = (ZERO_SHOT, R2R, PRETRAINED)
    parser.add_argument("--rows", nargs="*", choices=rows, default=rows, help="which of them (all)")
    parser.add_argument(
        "--out", type=Path, default=Path(".learning/hearth_transfer"), help="folder for models and logs"
    )
    parser.add_argument("--workers", type=int, default=2, help="number of worker processes (2)")
    return parser.parse_args()


def main() -> int:
    """Train, evaluate and print the rows; the gain of pretraining seed by seed."""
    args = parse_arguments()
    if "ITINERA_DATA" not in os.environ:
        print("Evaluation needs R2R: set ITINERA_DATA to the data pack.")
        return 0
    out = args.out / f"{args.minutes:g} minutes"
    rows = [*args.rows, *[BEST_ROW] * (args.best > 0)]
    agents = plan(args.minutes * STEPS_PER_MINUTE, args.best * STEPS_PER_MINUTE, args.seeds, rows)
    console = Console(width=150)
    for number, _ in parallel_map(partial(train_agent, out, args.season), agents, workers=args.workers):
        console.print(f"finished: {agents[number][-1].name}", style="dim")
    by_row = [[stages for stages in agents if stages[0].row == row] for row in rows]
    results = dict(parallel_map(partial(evaluate_row, out, args.season), by_row, workers=args.workers))
    table = Table(title=f"Val-unseen, mean (95 % interval over houses) ± s.d. over {args.seeds} seeds")
    for column in ("agent", "evaluated on", *METRICS):
        table.add_column(column)
    success: dict[str, list[float]] = {}
    for k, row in enumerate(rows):
        for name in dict.fromkeys(name for name, _ in results[k]):
            scores = [one for data, one in results[k] if data == name]
            table.add_row(row, name, *(format_cell(scores, metric) for metric in METRICS))
            if name == "R2R":
                success[row] = [100 * one.mean("SR") for one in scores]
    console.print(table)
    if {R2R, PRETRAINED} <= success.keys():
        gains = [f"{a - b:+.1f}" for a, b in zip(success[PRETRAINED], success[R2R], strict=True)]
        console.print(f"Gain of pretraining on Hearth in SR, seed by seed: {', '.join(gains)}")
    console.print("Observations are annotations (perfect perception): do not compare with agents that observe images.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
