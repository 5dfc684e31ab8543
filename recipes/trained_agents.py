"""The pretrained agents that come with Itinera: trained on Hearth's training houses and stored as small model files.

    python recipes/trained_agents.py SEASON           # a Hearth season; built there if missing
    python recipes/trained_agents.py SEASON hamt      # one of them; the agent it starts from must be finished

Weights are stored in half precision. The scores of each agent on val-unseen, with intervals, are in its model card.
Observations are annotations, which is perfect perception. If interrupted, rerun the command to resume.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec
import torch

import itinera
from itinera.formats.writing import atomic_write
from itinera.policies import envdrop, follower, hamt, rcm, tour_hamt
from itinera.policies.checkpoint import Model, build_model, encode_model, read_model
from itinera.policies.pretrained import FOLDER
from itinera.runs.engines.processes import parallel_map
from itinera.training.data import TrainingData, load_hearth, with_tours
from itinera.training.dataset import BatchSampler
from itinera.training.evaluation import EvaluationScores, evaluate
from itinera.training.experts import shortest_path_expert
from itinera.training.losses import ActorCriticLoss, exponential_decay, imitation_loss, inflection_weighted_loss
from itinera.training.malloc import tune_malloc
from itinera.training.progress import TrainingLog, log_to_stderr
from itinera.training.rewards import make_fidelity_oriented_reward, make_goal_oriented_reward
from itinera.training.rollout import collect_rollout, mixed_forcing, sample, teacher_forcing
from itinera.training.tours import TourSampler, collect_tours, evaluate_tours, index_tours
from itinera.training.trainer import Schedule, Trainer, seed_torch

CHECKPOINTS = Path(".learning/trained")  # in full precision; other agents start from them
SEED = 0
BATCH_SIZE, TOUR_BATCH = 64, 8  # episodes, tours
FINAL_RATIO = 0.05  # of the learning rate, at the end
TEACHER_FORCING_RATIO = 0.8  # share of agents that follow the expert in imitation learning; on tours all do
IMITATION_MAX_STEPS = 10  # of an agent per episode, in imitation learning
MAX_STEPS = 15  # with a reward, and in evaluation
IMITATION_WEIGHT, MIN_IMITATION_PROBABILITY = 0.2, 0.2  # beside the policy gradient; it halves four times
METRICS = ("SR", "SPL", "CLS", "nDTW")

SMALLER: dict[str, Any] = {"word_dim": 64, "text_dim": 128, "visual_dim": 128, "hidden_dim": 128, "dropout": 0.15}
HAMT_CONFIG = replace(hamt.SMALL, hidden_dim=96, feedforward_dim=192)
TOUR_HAMT_CONFIG = tour_hamt.TABLE_2[2].configure(HAMT_CONFIG)  # all four switches on


@dataclass(frozen=True)
class Recipe:
    """How an agent is trained."""

    kind: str
    config: Any  # None: that of the agent it starts from
    description: str
    steps: int = 2600
    learning_rate: float = 1.5e-3
    start_from: str = ""  # another agent
    reward: Callable[..., Any] | None = None  # None: imitation learning


RECIPES = {
    "follower": Recipe(
        "follower",
        replace(follower.SMALL, **SMALLER, key_dim=64, env_dropout=0.15),
        "Follower of Speaker-Follower, imitation learning",
    ),
    "envdrop": Recipe("envdrop", replace(envdrop.SMALL, **SMALLER), "Listener of EnvDrop, imitation learning"),
    "rcm": Recipe(
        "rcm",
        replace(rcm.SMALL, **SMALLER, key_dim=64, env_dropout=0.15, scorer_dim=64),
        "RCM, imitation learning",
    ),
    "hamt": Recipe("hamt", HAMT_CONFIG, "HAMT, imitation learning", learning_rate=1e-3),
    "rcm-goal": Recipe(
        "rcm",
        None,
        "RCM, policy gradient with the goal-oriented reward",
        2600,
        4e-4,
        "rcm",
        make_goal_oriented_reward,
    ),
    "rcm-fidelity": Recipe(
        "rcm",
        None,
        "RCM, policy gradient with the fidelity-oriented reward",
        2600,
        4e-4,
        "rcm",
        make_fidelity_oriented_reward,
    ),
    "tour-hamt": Recipe("tour-hamt", TOUR_HAMT_CONFIG, "TourHAMT, imitation learning on tours", 300, 5e-4, "hamt"),
}
ROUNDS = [["hamt", "rcm", "envdrop", "follower"], ["tour-hamt", "rcm-goal", "rcm-fidelity"]]


def train_agent(season: Path, steps: int | None, folder: Path, name: str) -> str:
    """Train an agent, evaluate it and write its model file; a line with its scores."""
    torch.set_num_threads(1)
    tune_malloc()
    log_to_stderr()
    recipe, data = RECIPES[name], load_data(season)
    recipe = recipe if steps is None else replace(recipe, steps=steps)
    model = start_model(data, name, recipe)
    policy, env, dataset = model.policy, data.env, data.dataset("train")
    batches = BatchSampler(dataset, BATCH_SIZE, seed=SEED)
    tours = TourSampler(index_tours(data.splits["train"], dataset), TOUR_BATCH, seed=SEED)
    reward = None if recipe.reward is None else recipe.reward(env, needs_stop=True)
    actor_critic_loss = ActorCriticLoss()
    imitation_probability = exponential_decay(recipe.steps / 4, minimum=MIN_IMITATION_PROBABILITY)

    def compute_imitation_loss(step: int) -> torch.Tensor:
        batch = batches[step]
        forced = torch.rand(batch.size, generator=trainer.rng) < TEACHER_FORCING_RATIO
        select_action = mixed_forcing(forced, sample(trainer.rng))
        options = {"expert": shortest_path_expert, "max_steps": IMITATION_MAX_STEPS}
        return imitation_loss(collect_rollout(policy, env, batch, select_action=select_action, **options))

    def compute_policy_gradient_loss(step: int) -> torch.Tensor:
        options = {"expert": shortest_path_expert, "max_steps": MAX_STEPS}
        rollout = collect_rollout(policy, env, batches[step], select_action=sample(trainer.rng), **options)
        loss = actor_critic_loss(rollout, reward(rollout))
        if float(torch.rand((), generator=trainer.rng)) < imitation_probability(step):
            loss = loss + IMITATION_WEIGHT * compute_imitation_loss(step)
        return loss

    def compute_tour_loss(step: int) -> torch.Tensor:
        options = {"expert": shortest_path_expert, "max_steps": IMITATION_MAX_STEPS}
        legs = collect_tours(policy, env, dataset, tours[step], select_action=teacher_forcing, **options)
        losses = [inflection_weighted_loss(leg.rollout, env) * len(leg.tours) for leg in legs]
        return torch.stack(losses).sum() / sum(map(len, tours[step]))  # mean over episodes

    if recipe.kind == "tour-hamt":
        compute_loss = compute_tour_loss
    else:
        compute_loss = compute_imitation_loss if reward is None else compute_policy_gradient_loss
    schedule = Schedule(recipe.steps, recipe.learning_rate, final_ratio=FINAL_RATIO)
    with TrainingLog(name, total=recipe.steps, folder=CHECKPOINTS / "logs" / name) as log:
        checkpoint = CHECKPOINTS / f"{name}.safetensors"
        trainer = Trainer(model, schedule, seed=SEED, name=name, checkpoint=checkpoint, on_step=log.on_step)
        for step in trainer:
            trainer.update(compute_loss(step))
    scores = evaluate_agent(data, model)
    metadata = {
        "description": recipe.description,
        "training data": "train split of Hearth season 1",
        "steps": recipe.steps,
        "seed": SEED,
        "val-unseen, %": {metric: scores.format(metric) for metric in METRICS},
    }
    card = msgspec.structs.replace(model.card, metadata=metadata)
    with atomic_write(folder / f"{name}.safetensors") as stream:
        stream.write(encode_model(replace(model, card=card), half=True))
    return f"{name}: {metadata['val-unseen, %']}"


def start_model(data: TrainingData, name: str, recipe: Recipe) -> Model:
    """A new model, with the weights of the agent it starts from, if any."""
    previous = read_model(CHECKPOINTS / f"{recipe.start_from}.safetensors").model if recipe.start_from else None
    if previous is not None and recipe.config is None:
        return previous
    seed_torch(SEED, "begun", name)  # for the initial weights
    model = build_model(data.card(recipe.kind, recipe.config))
    if previous is not None:
        model.policy.load_state_dict(model.policy.state_dict() | previous.policy.state_dict())
    return model


def evaluate_agent(data: TrainingData, model: Model) -> EvaluationScores:
    dataset = data.dataset("val_unseen")
    model.policy.eval()
    if model.card.kind == "tour-hamt":
        tours = index_tours(data.splits["val_unseen"], dataset)
        return evaluate_tours(model.policy, data.env, dataset, tours, max_steps=MAX_STEPS)
    return evaluate(model.policy, data.env, dataset, max_steps=MAX_STEPS)


@cache
def load_data(season: Path) -> TrainingData:
    return with_tours(load_hearth(season))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("season", type=Path, help="Hearth season; built if missing")
    parser.add_argument("names", nargs="*", metavar="name", help=f"agents to train (all): {', '.join(RECIPES)}")
    parser.add_argument("--steps", type=int, help="optimizer steps of every agent (those of its recipe)")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the model files (the package's)")
    parser.add_argument("--workers", type=int, default=2, help="number of worker processes (2)")
    args = parser.parse_intermixed_args()
    unknown = sorted(set(args.names) - RECIPES.keys())
    if unknown:
        parser.error(f"unknown agent {unknown[0]}; choose from {', '.join(RECIPES)}")
    if not (args.season / "season.json").exists():
        itinera.build_hearth(args.season)
    for names in ROUNDS:
        chosen = [name for name in names if not args.names or name in args.names]
        work = partial(train_agent, args.season, args.steps, args.out)
        for _, line in parallel_map(work, chosen, workers=args.workers):
            print(line, flush=True)


if __name__ == "__main__":
    main()
