"""Tables 3 and 4 of Stay on the Path (Jain et al. 2019): Speaker-Follower, and RCM with two rewards.

RCM is first trained by imitation learning, then by policy gradient with ever less imitation in between; on R4R a last
stage is policy gradient alone. Agents with the goal-oriented (equation 11) or the fidelity-oriented reward (equation
12) are evaluated with the whole instruction, with its last five tokens, and with none, on val-seen and val-unseen.

Speaker-Follower takes as many steps, all of them imitation learning: a speaker learns to describe paths, a follower
learns from R2R and from paths that the speaker described, then from R2R alone, and for R4R from R4R. As in the paper's
rows it acts without pragmatic inference.

With ITINERA_DATA the houses are Matterport's and the tasks R2R and R4R; otherwise they are Hearth's, and the season is
built first. Observations are annotations: rooms and objects are known by name, which is perfect perception, so these
scores may not be compared with those of agents that observe images. An agent that observes geometry only shows what
the annotations are worth.

Hyper-parameters were chosen on eight held-out training houses, except the discount and the length of R4R's last stage,
for which val-unseen was used; Speaker-Follower has the settings of RCM. No checkpoint is selected: scores are those of
the last step. The length of training is that of one R2R agent: --steps, or --minutes, which is converted to steps, so
that results do not depend on the machine. If interrupted, rerun the command to resume.

Two claims of the paper about CLS without words do not hold for these agents. --variants trains R4R's agents again to
find out why: "geometry" without annotations, "longer" with three times as much policy gradient alone.

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
from itinera.policies import follower, rcm, speaker
from itinera.policies.checkpoint import Model, build_model, encode_model, read_model
from itinera.runs.engines.processes import parallel_map
from itinera.training.back_translation import relabel_episodes, sample_unlabeled_paths, speaker_objective
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
CONFIGS = {
    "rcm": replace(rcm.SMALL, dropout=0.2, env_dropout=0.2),
    "follower": replace(follower.SMALL, dropout=0.2, env_dropout=0.2),
    "speaker": speaker.SMALL,
}
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

# Speaker-Follower.
SPEAKER_RATE, FINE_TUNING_RATE = 1.5e-3, 7.5e-4  # learning rates; the second on R2R, after the described paths
NUM_DESCRIBED = 30_000  # shortest paths in training houses that the speaker describes; R2R has 14,039 instructions
FOLLOWERS = ("augmented", "speaker-follower")

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
SPEAKER_FOLLOWER_STAGES = {"speaker": 0.3, "augmented": 0.65, "R2R": 0.35, "R4R": 0.78}
VARIANTS = ("geometry", "longer")  # of R4R's agents
LONGER = 2.0  # times the steps of the pure stage, after it

# Evaluation.
MAX_WORDS = {"R2R": 80, "R4R": 130}  # tokens of an instruction
EVALUATION_MAX_STEPS = {"R2R": 15, "R4R": 30}
ABLATIONS = {  # rules of `itinera build ablated`
    "all words": "full",
    "last 5 tokens": "last-5",
    "no words": "none",
    "other words": "other",  # the instruction of another path: mentioned in the paper, without numbers
}
ALL, LAST, NONE, OTHER = ABLATIONS
SPLITS = ("val_seen", "val_unseen")
METRICS = ("PL", "NE", "SR", "SPL", "CLS")

Row = tuple[str, str, str]  # task, part and words
PUBLISHED: Mapping[Row, Sequence[float]] = {  # PL, NE, SR, SPL, CLS on val-seen, then on val-unseen
    ("R2R", "speaker-follower", ALL): (15.5, 4.98, 50.1, 40.1, 54.8, 15.2, 6.36, 35.3, 28.1, 42.9),
    ("R2R", "goal", ALL): (13.7, 4.48, 55.3, 47.9, 61.1, 14.8, 6.00, 41.1, 32.7, 47.4),
    ("R2R", "goal", LAST): (16.9, 7.35, 26.5, 22.2, 39.0, 15.1, 8.16, 22.2, 17.2, 35.1),
    ("R2R", "goal", NONE): (21.1, 7.78, 22.3, 11.6, 27.5, 17.7, 8.69, 13.0, 9.4, 26.1),
    ("R2R", "fidelity", ALL): (12.2, 4.63, 57.3, 50.7, 60.2, 13.2, 6.38, 40.8, 35.1, 50.9),
    ("R2R", "fidelity", LAST): (13.4, 8.08, 27.8, 23.5, 42.4, 14.4, 8.29, 23.2, 17.7, 35.5),
    ("R2R", "fidelity", NONE): (20.1, 8.95, 18.2, 8.8, 24.8, 20.5, 8.76, 14.3, 6.2, 22.7),
    ("R4R", "speaker-follower", ALL): (15.4, 5.35, 51.9, 37.3, 46.4, 19.9, 8.47, 23.8, 12.2, 29.6),
    ("R4R", "goal", ALL): (24.5, 5.11, 55.5, 32.3, 40.4, 32.5, 8.45, 28.6, 10.2, 20.4),
    ("R4R", "goal", LAST): (29.5, 8.73, 26.4, 12.4, 35.1, 29.5, 9.04, 23.4, 4.5, 20.4),
    ("R4R", "goal", NONE): (32.3, 9.50, 20.7, 8.0, 33.3, 34.0, 9.45, 19.0, 2.3, 17.4),
    ("R4R", "fidelity", ALL): (18.8, 5.37, 52.6, 30.6, 55.3, 28.5, 8.08, 26.1, 7.7, 34.6),
    ("R4R", "fidelity", LAST): (17.1, 8.88, 24.8, 11.7, 39.3, 25.5, 8.52, 18.9, 5.6, 25.3),
    ("R4R", "fidelity", NONE): (12.7, 10.5, 12.1, 5.4, 37.2, 22.8, 9.41, 15.5, 4.9, 23.0),
}


@dataclass(frozen=True)
class Stage:
    """One stage of the training of one agent. Its name decides the random streams: do not change the words."""

    seed: int
    task: str  # R2R or R4R
    part: str  # "cloned", "geometry" (both imitation), "speaker", one of FOLLOWERS, or a reward and words on it
    previous: str  # the stage whose weights it starts from, task and part; "" for none
    steps: int

    @property
    def name(self) -> str:
        return f"{self.task} {self.part} {self.seed}"

    @property
    def kind(self) -> str:
        """Of the model."""
        if self.part == "speaker":
            return "speaker"
        return "follower" if self.part in FOLLOWERS else "rcm"

    @property
    def reward(self) -> str | None:
        """The reward of policy gradient; None for imitation learning."""
        word = self.part.split()[0]
        return word if word in REWARDS else None

    @property
    def is_pure(self) -> bool:
        """Policy gradient without imitation."""
        return self.task == "R4R" and self.reward is not None and "mixed" not in self.part


def plan(total_steps: float, seeds: int, variants: Sequence[str] = ()) -> list[list[Stage]]:
    """All stages, in rounds: those of a round start from those of earlier rounds."""

    def steps(fraction: float) -> int:
        return max(1, round(total_steps * fraction))

    speaking = {name: steps(fraction) for name, fraction in SPEAKER_FOLLOWER_STAGES.items()}
    cloned, mixed, pure = (steps(R4R_STAGES[name]) for name in ("imitation", "mixed", "pure"))
    rounds = [list[Stage]() for _ in range(5)]
    for seed in range(seeds):
        first = [Stage(seed, "R2R", part, "", steps(R2R_STAGES["imitation"])) for part in ("cloned", "geometry")]
        rounds[0] += [*first, Stage(seed, "R2R", "speaker", "", speaking["speaker"])]
        rounds[1] += [Stage(seed, "R2R", reward, "R2R cloned", steps(R2R_STAGES["reward"])) for reward in REWARDS]
        rounds[1] += [Stage(seed, "R2R", "augmented", "", speaking["augmented"])]
        rounds[2] += [Stage(seed, "R2R", "speaker-follower", "R2R augmented", speaking["R2R"])]
        rounds[3] += [Stage(seed, "R4R", "speaker-follower", "R2R speaker-follower", speaking["R4R"])]
        for start, end in (("cloned", ""), *[("geometry", " geometry")] * ("geometry" in variants)):
            rounds[1] += [Stage(seed, "R4R", start, f"R2R {start}", cloned)]
            rounds[2] += [Stage(seed, "R4R", f"{reward} mixed{end}", f"R4R {start}", mixed) for reward in REWARDS]
            rounds[3] += [Stage(seed, "R4R", f"{reward}{end}", f"R4R {reward} mixed{end}", pure) for reward in REWARDS]
        if "longer" in variants:
            longer = round(LONGER * pure)
            rounds[4] += [Stage(seed, "R4R", f"{reward} longer", f"R4R {reward}", longer) for reward in REWARDS]
    return rounds


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
    policy, batches = model.policy, BatchSampler(training_dataset(out, season, stage), BATCH_SIZE, seed=stage.seed)
    if stage.part == "speaker":
        learning_rate, speaker_loss = SPEAKER_RATE, speaker_objective(policy, env, batches)
    elif stage.reward is None:
        learning_rate = FINE_TUNING_RATE if stage.previous == "R2R augmented" else IMITATION_RATE[task]
    else:
        learning_rate = PURE_RATE if stage.is_pure else MIXED_RATE
        reward = REWARDS[stage.reward](env, needs_stop=NEEDS_STOP[task])
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
            if stage.part == "speaker":
                loss = speaker_loss(step, trainer.rng)
            elif stage.reward is None:
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
    return build_model(data.card(stage.kind, CONFIGS[stage.kind], seed=stage.seed))


def training_dataset(out: Path, season: Path | None, stage: Stage) -> EpisodeDataset:
    """The training split; for the first stage of the follower also paths that the speaker describes."""
    dataset = load_dataset(season, stage.task, stage.part, "train")
    if stage.part != "augmented":
        return dataset
    data, max_words = load_data(season, stage.task, stage.part), MAX_WORDS[stage.task]
    houses = {episode.world_id for episode in dataset.episodes}
    count = min(NUM_DESCRIBED, stage.steps * BATCH_SIZE)  # no more than the stage reads
    paths = sample_unlabeled_paths(data.env, houses, count, seed=stage.seed)
    undescribed = EpisodeDataset.from_episodes(paths, data.env, data.tokenizer)
    model = read_model(model_file(out, f"R2R speaker {stage.seed}")).model
    described = relabel_episodes(model.policy, data.env, undescribed, data.tokenizer, max_words=max_words)
    episodes = [*dataset.episodes, *described]
    return EpisodeDataset.from_episodes(episodes, data.env, data.tokenizer, max_words=max_words)


def model_file(out: Path, name: str) -> Path:
    return out / "models" / f"{name}.safetensors"


def load_data(season: Path | None, task: str, part: str) -> TrainingData:
    return _load_data(season, task, () if "geometry" in part else ("rooms", "objects"))


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


def evaluate_row(out: Path, season: Path | None, seeds: int, job: tuple[str, Row]) -> list[EvaluationScores]:
    """The scores of the agents of all seeds on a split."""
    torch.set_num_threads(1)
    split, (task, part, words) = job
    dataset = load_dataset(season, task, part, split, ABLATIONS[words])
    env, scores = load_data(season, task, part).env, []
    for seed in range(seeds):
        policy = read_model(model_file(out, f"{task} {part} {seed}")).model.policy
        scores.append(evaluate(policy, env, dataset, max_steps=EVALUATION_MAX_STEPS[task]))
    return scores


def table_rows(task: str, variants: Sequence[str]) -> list[Row]:
    rows = [(task, "cloned", ALL), (task, "speaker-follower", ALL)]
    if task == "R2R":
        rows = [("R2R", "geometry", ALL), *rows]
    else:
        rows += [("R4R", f"{reward} mixed", ALL) for reward in REWARDS]
        rows += [("R4R", "geometry", ALL)] * ("geometry" in variants)
    rows += [(task, reward, words) for reward in REWARDS for words in ABLATIONS]
    more = variants if task == "R4R" else ()
    return rows + [(task, f"{reward} {name}", words) for name in more for reward in REWARDS for words in ABLATIONS]


LABELS = {
    "geometry": "geometry only",  # imitation
    "cloned": "imitation",
    "goal mixed": "goal, mixed",  # with imitation
    "fidelity mixed": "fidelity, mixed",
}


def make_table(title: str, split: str, scores: Mapping[Row, Sequence[EvaluationScores]]) -> Table:
    table = Table(title=title)
    for column in ("agent", "words", *METRICS):
        table.add_column(column)
    for row, found in scores.items():
        _, part, words = row
        table.add_row(LABELS.get(part, part), words, *(format_cell(found, metric) for metric in METRICS))
        if row in PUBLISHED:
            first = len(METRICS) * SPLITS.index(split)
            published = PUBLISHED[row][first : first + len(METRICS)]
            table.add_row("", "  published", *(f"{value:g}" for value in published), style="dim")
    return table


def format_cell(scores: Sequence[EvaluationScores], metric: str) -> str:
    """The mean over seeds, its interval over houses, and the standard deviation over seeds."""
    spread = display_scale(metric) * np.std([one.mean(metric) for one in scores])
    return f"{average_seeds(scores).format(metric)} ±{spread:.1f}"


Claim = tuple[str, bool, str]  # the claim, whether it holds here for every seed, and the differences


def check_claims(scores: Mapping[Row, Sequence[EvaluationScores]]) -> Iterable[Claim]:
    """The paper's claims on val-unseen; differences are in points, or in metres for NE."""
    differences = partial(compute_differences, scores)
    goal, fidelity = ("R4R", "goal", ALL), ("R4R", "fidelity", ALL)
    cls = differences("CLS", fidelity, goal)
    yield "R4R: the fidelity-oriented reward gives a higher CLS (published +14.2)", min(cls) > 0, text(cls)
    error = differences("NE", fidelity, goal)
    yield "R4R: and a lower NE (published -0.37)", max(error) < 0, text(error)
    success = differences("SR", fidelity, goal)
    yield "R4R: and about the same SR (published -2.5; within 3)", max(map(abs, success)) <= 3, text(success)
    misled = differences("SPL", goal, fidelity)
    yield "R4R: the goal-oriented reward gives a higher SPL (published +2.5)", min(misled) > 0, text(misled)
    for task in ("R2R", "R4R"):
        for reward in REWARDS:
            full, last, none, other = ((task, reward, words) for words in ABLATIONS)
            drop = differences("SR", full, last)
            yield f"{task}, {reward}: SR with all words is above the last five", min(drop) > 0, text(drop)
            rest = differences("SR", last, none)
            yield f"{task}, {reward}: SR with the last five words is above none", min(rest) > 0, text(rest)
            wrong = differences("SR", other, none)
            is_same = max(map(abs, wrong)) <= 5
            yield f"{task}, {reward}: SR with other words is about as with none (within 5)", is_same, text(wrong)
    both = differences("SR", ("R2R", "fidelity", ALL), ("R2R", "goal", ALL))
    yield "R2R: the rewards hardly differ in SR (published -0.3; within 3)", max(map(abs, both)) <= 3, text(both)
    lost = differences("CLS", fidelity, ("R4R", "fidelity", LAST))
    yield "R4R, fidelity: CLS needs the words (published +9.3 over the last five)", min(lost) > 3, text(lost)
    for name in ("", *(f" {name}" for name in VARIANTS)):
        if ("R4R", f"goal{name}", ALL) in scores:
            yield from check_silent_claims(scores, name)
    annotations = differences("SR", ("R2R", "cloned", ALL), ("R2R", "geometry", ALL))
    yield "(ours) R2R: rooms and objects are worth 6 points of SR", min(annotations) >= 6, text(annotations)
    for task, published in (("R2R", "+5.8"), ("R4R", "+4.8")):
        gain = differences("SR", (task, "goal", ALL), (task, "speaker-follower", ALL))
        yield f"{task}: SR of RCM, goal, is above Speaker-Follower (published {published})", min(gain) > 0, text(gain)


def check_silent_claims(scores: Mapping[Row, Sequence[EvaluationScores]], variant: str) -> Iterable[Claim]:
    """The two claims on CLS without words."""
    differences, kind = partial(compute_differences, scores), variant and f" ({variant.strip()})"
    goal = ("R4R", f"goal{variant}", ALL)
    same = differences("CLS", goal, ("R4R", f"goal{variant}", LAST))
    yield f"R4R, goal{kind}: CLS does not need the words (published 20.4 and 20.4)", max(same) < 3, text(same)
    silent = differences("CLS", ("R4R", f"fidelity{variant}", NONE), goal)
    claim = f"R4R{kind}: CLS of fidelity without words is above goal with them (published +2.6)"
    yield claim, min(silent) > 0, text(silent)


def compute_differences(scores: Mapping[Row, Sequence[EvaluationScores]], metric: str, a: Row, b: Row) -> list[float]:
    """Seed by seed."""
    pairs = zip(scores[a], scores[b], strict=True)
    return [display_scale(metric) * (one.mean(metric) - other.mean(metric)) for one, other in pairs]


def text(values: Sequence[float]) -> str:
    return ", ".join(f"{value:+.1f}" for value in values)


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
    parser.add_argument("--variants", nargs="*", choices=VARIANTS, default=[], help="more agents on R4R (none)")
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
    for stages in plan(total_steps, args.seeds, args.variants):
        for number, _ in parallel_map(partial(train_stage, out, season), stages, workers=args.workers):
            console.print(f"finished: {stages[number].name}, {stages[number].steps} steps", style="dim")
    scores = {split: dict[Row, Sequence[EvaluationScores]]() for split in SPLITS}
    for task, table in (("R2R", "Table 3"), ("R4R", "Table 4")):
        jobs = [(split, row) for split in SPLITS for row in table_rows(task, args.variants)]
        found = dict(parallel_map(partial(evaluate_row, out, season, args.seeds), jobs, workers=args.workers))
        for k, (split, row) in enumerate(jobs):
            scores[split][row] = found[k]
        name = task if season is None else f"{task}-style tasks in Hearth"
        cells = f"mean (95 % interval over houses) ± s.d. over {args.seeds} seeds"
        for split in SPLITS:
            rows = {row: found for row, found in scores[split].items() if row[0] == task}
            console.print(make_table(f"{table}, {split.replace('_', '-')}: {name}, {cells}", split, rows))
    for claim, holds, numbers in check_claims(scores["val_unseen"]):
        console.print(f"{'holds' if holds else 'does NOT hold':13}  {claim}: {numbers}")
    console.print("Observations are annotations (perfect perception): do not compare with agents that observe images.")


if __name__ == "__main__":
    main()
