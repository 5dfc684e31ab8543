"""Tables 3 and 4 of Stay on the Path (Jain et al. 2019): RCM with a goal-oriented or a fidelity-oriented reward.

An agent is first trained by imitation learning, then by policy gradient with ever less imitation in between; on R4R a
last stage is policy gradient alone. Agents with the goal-oriented (equation 11) or the fidelity-oriented reward
(equation 12) are evaluated with the whole instruction, with its last five tokens, and with none.

With ITINERA_DATA the houses are Matterport's and the tasks R2R and R4R; otherwise they are Hearth's, and the season is
built first. Observations are annotations: rooms and objects are known by name, which is perfect perception, so these
scores may not be compared with those of agents that observe images. An agent that observes geometry only shows what
the annotations are worth.

Hyper-parameters were chosen on eight held-out training houses, except the discount and the length of R4R's last stage,
for which val-unseen was used. No checkpoint is selected: scores are those of the last step. The length of training is
that of one R2R agent: --steps, or --minutes, which is converted to steps, so that results do not depend on the machine.
If interrupted, rerun the command to resume.

    python recipes/stay_on_the_path.py --minutes 30 --seeds 3 --out .learning/stay_on_the_path
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import itinera
from itinera.formats.writing import atomic_write
from itinera.policies import rcm
from itinera.policies.checkpoint import Model, build_model, encode_model, read_model
from itinera.runs.workers import parallel_map
from itinera.training.data import TrainingData, load_hearth, load_r2r, with_r4r
from itinera.training.dataset import BatchSampler, EpisodeDataset
from itinera.training.evaluation import EvaluationScores, average_seeds, display_scale, evaluate
from itinera.training.experts import reference_path_expert, shortest_path_expert
from itinera.training.losses import ActorCriticLoss, exponential_decay, imitation_loss
from itinera.training.malloc import tune_malloc
from itinera.training.progress import TrainingLog, log_to_stderr
from itinera.training.rewards import make_fidelity_oriented_reward, make_goal_oriented_reward
from itinera.training.rollout import collect_rollout, mixed_forcing, sample
from itinera.training.trainer import Schedule, Trainer, seed_torch

# Model and optimizer.
CONFIG = replace(rcm.SMALL, dropout=0.2, env_dropout=0.2)
BATCH_SIZE = 64  # episodes
STEPS_PER_MINUTE = 260  # optimizer steps, about, on one core
IMITATION_RATE = {"R2R": 1.5e-3, "R4R": 7.5e-4}  # learning rates
MIXED_RATE, PURE_RATE = 4e-4, 6e-4  # learning rates of policy gradient with imitation, and without
FINAL_RATIO = 0.05  # of the learning rate, at the end of each stage

# Imitation learning. On R4R the expert follows the reference path, which only forced agents stay on.
EXPERTS = {"R2R": shortest_path_expert, "R4R": reference_path_expert}
TEACHER_FORCING_RATIO = {"R2R": 0.8, "R4R": 1.0}  # share of agents that follow the expert
IMITATION_MAX_STEPS = {"R2R": 10, "R4R": 20}  # per episode
IMITATION_WEIGHT = 0.2  # of the imitation loss beside the policy gradient
MIN_IMITATION_PROBABILITY = {"R2R": 0.2, "R4R": 0.0}  # it halves six times in a stage, down to this

# Policy gradient. With a discount of 0.95 the end of an R4R episode counts half at its start, and an agent with the
# fidelity-oriented reward learns to stop early once no imitation keeps it on the path.
DISCOUNT, PURE_DISCOUNT = 0.95, 0.99
REWARDS = {"goal": make_goal_oriented_reward, "fidelity": make_fidelity_oriented_reward}
REWARD_MAX_STEPS = {"R2R": 15, "R4R": 20}  # per episode
# On R2R success requires STOP; otherwise 1 agent in 6 never stops in unseen houses. On R4R the equations are used as
# printed: they do not mention stopping.
NEEDS_STOP = {"R2R": True, "R4R": False}

# Stages, as fractions of the steps of an R2R agent.
R2R_STAGES = {"imitation": 0.65, "reward": 0.35}
R4R_STAGES = {"imitation": 0.12, "mixed": 0.32, "pure": 0.34}

# Evaluation.
MAX_WORDS = {"R2R": 80, "R4R": 130}  # tokens of an instruction
EVALUATION_MAX_STEPS = {"R2R": 15, "R4R": 30}
ABLATIONS = {"all words": "full", "last 5 tokens": "last-5", "no words": "none"}  # rules of `itinera build ablated`
ALL, LAST, NONE = ABLATIONS
METRICS = ("PL", "NE", "SR", "SPL", "CLS")

PUBLISHED: Mapping[tuple[str, str, str], Sequence[float]] = {  # val-unseen: PL, NE, SR, SPL, CLS
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
class Stage:
    """One stage of the training of one agent. Its name decides the random streams: do not change the words."""

    seed: int
    task: str  # R2R or R4R
    part: str  # "cloned" and "geometry" (imitation), "goal", "fidelity"; on R4R also "goal mixed", "fidelity mixed"
    previous: str  # the stage whose weights it starts from, task and part; "" for none
    steps: int

    @property
    def name(self) -> str:
        return f"{self.task} {self.part} {self.seed}"

    @property
    def is_imitation(self) -> bool:
        return self.part in ("cloned", "geometry")

    @property
    def is_pure(self) -> bool:
        """Policy gradient without imitation."""
        return self.task == "R4R" and self.part in REWARDS


def plan(total_steps: float, seeds: int) -> list[list[Stage]]:
    """All stages, in rounds: those of a round start from those of earlier rounds."""

    def steps(fraction: float) -> int:
        return max(1, round(total_steps * fraction))

    first, second, third, fourth = list[Stage](), list[Stage](), list[Stage](), list[Stage]()
    for seed in range(seeds):
        first += [Stage(seed, "R2R", part, "", steps(R2R_STAGES["imitation"])) for part in ("cloned", "geometry")]
        second += [Stage(seed, "R2R", reward, "R2R cloned", steps(R2R_STAGES["reward"])) for reward in REWARDS]
        second += [Stage(seed, "R4R", "cloned", "R2R cloned", steps(R4R_STAGES["imitation"]))]
        mixed = steps(R4R_STAGES["mixed"])
        third += [Stage(seed, "R4R", f"{reward} mixed", "R4R cloned", mixed) for reward in REWARDS]
        pure = steps(R4R_STAGES["pure"])
        fourth += [Stage(seed, "R4R", reward, f"R4R {reward} mixed", pure) for reward in REWARDS]
    return [first, second, third, fourth]


def train_stage(out: Path, season: Path | None, stage: Stage) -> None:
    """Train one stage and write its model, unless it exists."""
    torch.set_num_threads(1)
    tune_malloc()
    log_to_stderr()
    finished = model_file(out, stage.name)
    if finished.exists():
        return
    task, data = stage.task, load_data(season, stage.task, stage.part)
    env, model = data.env, start_model(out, data, stage)
    policy, batches = (
        model.policy,
        BatchSampler(load_dataset(season, task, stage.part, "train"), BATCH_SIZE, seed=stage.seed),
    )
    if stage.is_imitation:
        learning_rate = IMITATION_RATE[task]
    else:
        learning_rate = PURE_RATE if stage.is_pure else MIXED_RATE
        reward = REWARDS[stage.part.removesuffix(" mixed")](env, needs_stop=NEEDS_STOP[task])
        actor_critic_loss = ActorCriticLoss(discount=PURE_DISCOUNT if stage.is_pure else DISCOUNT)
        imitation_probability = exponential_decay(stage.steps / 6, minimum=MIN_IMITATION_PROBABILITY[task])

    def compute_imitation_loss(step: int) -> torch.Tensor:
        batch = batches[step]
        forced = torch.rand(batch.size, generator=trainer.rng) < TEACHER_FORCING_RATIO[task]
        rollout = collect_rollout(
            policy,
            env,
            batch,
            select_action=mixed_forcing(forced, sample(trainer.rng)),
            expert=EXPERTS[task],
            max_steps=IMITATION_MAX_STEPS[task],
        )
        return imitation_loss(rollout)

    checkpoint = out / "drafts" / f"{stage.name}.safetensors"
    schedule = Schedule(stage.steps, learning_rate, final_ratio=FINAL_RATIO)
    with TrainingLog(stage.name, total=stage.steps, folder=out / "logs" / stage.name) as log:
        options = {"seed": stage.seed, "name": stage.name, "checkpoint": checkpoint, "on_step": log.on_step}
        trainer = Trainer(model, schedule, **options)
        for step in trainer:
            if stage.is_imitation:
                loss = compute_imitation_loss(step)
            else:
                rollout = collect_rollout(
                    policy,
                    env,
                    batches[step],
                    select_action=sample(trainer.rng),
                    expert=shortest_path_expert,
                    max_steps=REWARD_MAX_STEPS[task],
                )
                loss = actor_critic_loss(rollout, reward(rollout))
                if not stage.is_pure and float(torch.rand((), generator=trainer.rng)) < imitation_probability(step):
                    loss = loss + IMITATION_WEIGHT * compute_imitation_loss(step)
            trainer.update(loss)
    with atomic_write(finished) as stream:
        stream.write(encode_model(model))
    checkpoint.unlink(missing_ok=True)


def start_model(out: Path, data: TrainingData, stage: Stage) -> Model:
    if stage.previous:
        return read_model(model_file(out, f"{stage.previous} {stage.seed}")).model
    seed_torch(stage.seed, "begun", stage.name)  # for the initial weights
    return build_model(data.card("rcm", CONFIG, seed=stage.seed))


def model_file(out: Path, name: str) -> Path:
    return out / "models" / f"{name}.safetensors"


def load_data(season: Path | None, task: str, part: str) -> TrainingData:
    return _load_data(season, task, () if part == "geometry" else ("rooms", "objects"))


@cache
def _load_data(season: Path | None, task: str, features: tuple[str, ...]) -> TrainingData:
    if season is not None:
        data = load_hearth(season, features=features)
    else:
        data = load_r2r(Path(os.environ["ITINERA_DATA"]), features=features)
    return with_r4r(data) if task == "R4R" else data


@cache
def load_dataset(season: Path | None, task: str, part: str, split: str, ablation: str = "full") -> EpisodeDataset:
    return load_data(season, task, part).dataset(split, max_words=MAX_WORDS[task], ablation=ablation)


Row = tuple[str, str, str]  # task, part and words


def evaluate_row(out: Path, season: Path | None, seeds: int, row: Row) -> list[EvaluationScores]:
    """The scores on val-unseen of the agents of all seeds."""
    torch.set_num_threads(1)
    task, part, words = row
    dataset = load_dataset(season, task, part, "val_unseen", ABLATIONS[words])
    env, scores = load_data(season, task, part).env, []
    for seed in range(seeds):
        policy = read_model(model_file(out, f"{task} {part} {seed}")).model.policy
        scores.append(evaluate(policy, env, dataset, max_steps=EVALUATION_MAX_STEPS[task]))
    return scores


def table_rows(task: str) -> list[Row]:
    if task == "R2R":
        rows = [("R2R", "geometry", ALL), ("R2R", "cloned", ALL)]
    else:
        rows = [("R4R", "cloned", ALL), *(("R4R", f"{reward} mixed", ALL) for reward in REWARDS)]
    return [*rows, *((task, reward, words) for reward in REWARDS for words in ABLATIONS)]


LABELS = {
    "geometry": "geometry only",  # imitation
    "cloned": "imitation",
    "goal mixed": "goal, mixed",  # with imitation
    "fidelity mixed": "fidelity, mixed",
}


def make_table(title: str, rows: Iterable[Row], scores: Mapping[Row, Sequence[EvaluationScores]]) -> Table:
    table = Table(title=title)
    for column in ("agent", "words", *METRICS):
        table.add_column(column)
    for row in rows:
        _, part, words = row
        table.add_row(LABELS.get(part, part), words, *(format_cell(scores[row], metric) for metric in METRICS))
        if row in PUBLISHED:
            table.add_row("", "  published", *(f"{value:g}" for value in PUBLISHED[row]), style="dim")
    return table


def format_cell(scores: Sequence[EvaluationScores], metric: str) -> str:
    """The mean over seeds, its interval over houses, and the standard deviation over seeds."""
    spread = display_scale(metric) * np.std([one.mean(metric) for one in scores])
    return f"{average_seeds(scores).format(metric)} ±{spread:.1f}"


def check_claims(scores: Mapping[Row, Sequence[EvaluationScores]]) -> Iterable[tuple[str, bool, str]]:
    """The paper's claims, whether they hold here for every seed, and the differences in points."""

    def differences(metric: str, a: Row, b: Row) -> list[float]:
        pairs = zip(scores[a], scores[b], strict=True)
        return [100 * (one.mean(metric) - other.mean(metric)) for one, other in pairs]

    def text(values: Sequence[float]) -> str:
        return ", ".join(f"{value:+.1f}" for value in values)

    goal, fidelity = ("R4R", "goal", ALL), ("R4R", "fidelity", ALL)
    cls = differences("CLS", fidelity, goal)
    yield "R4R: the fidelity-oriented reward gives a higher CLS (published +14.2)", min(cls) > 0, text(cls)
    success = differences("SR", fidelity, goal)
    yield "R4R: and about the same SR (published -2.5; within 3)", max(map(abs, success)) <= 3, text(success)
    for task in ("R2R", "R4R"):
        for reward in REWARDS:
            full, last, none = ((task, reward, words) for words in ABLATIONS)
            drop = differences("SR", full, last)
            yield f"{task}, {reward}: SR with all words is above the last five", min(drop) > 0, text(drop)
            rest = differences("SR", last, none)
            yield f"{task}, {reward}: SR with the last five words is above none", min(rest) > 0, text(rest)
    same = differences("CLS", goal, ("R4R", "goal", LAST))
    yield "R4R, goal: CLS does not need the words (published 20.4 and 20.4)", max(same) < 3, text(same)
    silent = differences("CLS", ("R4R", "fidelity", NONE), goal)
    yield "R4R: CLS of fidelity without words is above goal with them (published +2.6)", min(silent) > 0, text(silent)
    annotations = differences("SR", ("R2R", "cloned", ALL), ("R2R", "geometry", ALL))
    yield "(ours) R2R: rooms and objects are worth 6 points of SR", min(annotations) >= 6, text(annotations)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=30.0, help="training time of one R2R agent on one core (30)")
    length.add_argument("--steps", type=int, help="optimizer steps of one R2R agent, instead of --minutes")
    parser.add_argument("--seeds", type=int, default=3, help="number of agents of each kind (3)")
    parser.add_argument(
        "--out", type=Path, default=Path(".learning/stay_on_the_path"), help="folder for models and logs"
    )
    parser.add_argument("--season", type=Path, default=Path(".tables/hearth"), help="Hearth season; built if missing")
    parser.add_argument("--hearth", action="store_true", help="use Hearth even if ITINERA_DATA is set")
    parser.add_argument("--workers", type=int, default=2, help="number of worker processes (2)")
    return parser.parse_args()


def main() -> None:
    """Train, evaluate, and print Tables 3 and 4 beside the published rows."""
    args = parse_arguments()
    season = None if "ITINERA_DATA" in os.environ and not args.hearth else args.season
    if season is not None and not (season / "season.json").exists():
        itinera.build_hearth(season)
    length = f"{args.minutes:g} minutes" if args.steps is None else f"{args.steps} steps"
    total_steps = args.minutes * STEPS_PER_MINUTE if args.steps is None else args.steps
    out = args.out / ("hearth" if season else "real") / length
    console = Console(width=150)
    for stages in plan(total_steps, args.seeds):
        for number, _ in parallel_map(partial(train_stage, out, season), stages, workers=args.workers):
            console.print(f"finished: {stages[number].name}, {stages[number].steps} steps", style="dim")
    scores: dict[Row, Sequence[EvaluationScores]] = {}
    for task, title in (("R2R", "Table 3, val-unseen"), ("R4R", "Table 4, val-unseen")):
        rows = table_rows(task)
        for number, found in parallel_map(partial(evaluate_row, out, season, args.seeds), rows, workers=args.workers):
            scores[rows[number]] = found
        name = task if season is None else f"{task}-style tasks in Hearth"
        title = f"{title}: {name}, mean (95 % interval over houses) ± s.d. over {args.seeds} seeds"
        console.print(make_table(title, rows, scores))
    for claim, holds, numbers in check_claims(scores):
        console.print(f"{'holds' if holds else 'does NOT hold':13}  {claim}: {numbers}")
    console.print("Observations are annotations (perfect perception): do not compare with agents that observe images.")


if __name__ == "__main__":
    main()
