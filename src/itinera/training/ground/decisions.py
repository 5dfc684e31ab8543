"""Training of decision agents: the teacher's decisions on clean and noisy rolls, then DAgger on the agent's own.

`train_decisions` is one training run, resumable at any moment: rolls are kept in a folder as decisions with their
views, weights in a checkpoint. `docs/decision-agents.md` has the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itinera.agents.decisions import Decision
from itinera.policies.checkpoint import Model, build_model, make_card
from itinera.policies.ground.decision import DecisionConfig, DecisionPolicy, make_requirements
from itinera.policies.ground.polar_views import LabelWords, PolarViews
from itinera.seeding import generator
from itinera.tasks import Episode, Protocol
from itinera.training.ground.decision_batches import PathTexts, RollSampler
from itinera.training.ground.decision_data import DecisionData, make_sources
from itinera.training.ground.decision_evaluation import PolicyWalk
from itinera.training.ground.decision_losses import compute_losses
from itinera.training.ground.decision_rolls import GoalFields, Rolls, Sources, in_parts, walk
from itinera.training.trainer import OnStep, Schedule, Trainer, Validation, seed_torch
from itinera.worlds import World
from itinera.worlds.surface import Surface

CHECKPOINT_EVERY = 100  # steps
DAGGER_BETA = 0.5  # share of decisions that the teacher makes in the first round of DAgger; then its powers


@dataclass(frozen=True)
class DecisionOptions:
    """The hyper-parameters of `train_decisions`."""

    steps: int
    learning_rate: float = 2e-3
    weight_decay: float = 0.02
    batch_size: int = 24  # rolls, each with three instructions
    mirrored: bool = True  # exchange left and right in half of the rolls
    dagger_rounds: int = 0
    dagger_worlds: int = 20  # in each round
    dagger_start: float = 0.5  # share of the steps before the first round; the rest is divided among the rounds
    max_words: int = 80

    def round_steps(self) -> list[int]:
        """The step at which each round of DAgger begins."""
        first = round(self.steps * self.dagger_start)
        return [first + k * (self.steps - first) // self.dagger_rounds for k in range(self.dagger_rounds)]


def train_decisions(
    data: DecisionData,
    config: DecisionConfig,
    options: DecisionOptions,
    *,
    seed: int = 0,
    worlds: Sequence[str] | None = None,
    checkpoint: Path | None = None,
    overwrite: bool = False,
    on_step: OnStep | None = None,
) -> Model:
    """A model trained on the paths of a split, in these worlds of it (all by default).

    Interrupted training resumes from its checkpoint and the folder of the data, with the same weights in the end.
    """
    model = new_model(data, config, options, seed)
    run = DecisionRun(data, model, options, seed, worlds)
    trainer = run.make_trainer(checkpoint=checkpoint, overwrite=overwrite, on_step=on_step)
    for step in trainer:
        trainer.update(run.loss(step))
    return model


def new_model(data: DecisionData, config: DecisionConfig, options: DecisionOptions, seed: int) -> Model:
    """An untrained model with the vocabulary of the data."""
    tokenizer = data.fit_tokenizer(config)
    metadata = {"seed": seed, "options": asdict(options), "split": data.split.name, "worlds": len(data.paths)}
    more = {"ground": make_requirements(config, data.lifetime), "max_words": options.max_words, "metadata": metadata}
    card = make_card("decision", config, (), tokenizer, **more)
    with torch.random.fork_rng(devices=[]):
        seed_torch(seed, "begun", "decision")
        return build_model(card)


class DecisionRun:
    """The batches of a training run: those of the teacher's rolls, then with the agent's own added in each round."""

    def __init__(
        self,
        data: DecisionData,
        model: Model,
        options: DecisionOptions,
        seed: int,
        worlds: Sequence[str] | None = None,
    ) -> None:
        self._data, self._model, self._options, self._seed = data, model, options, seed
        self._world_ids = world_ids = list(data.paths) if worlds is None else list(worlds)
        self._words = data.label_words(model.tokenizer, model.policy.config)
        episodes = [e for e in data.split.episodes if e.world_id in set(world_ids)]
        self._texts = PathTexts.from_episodes(episodes, model.tokenizer, max_words=options.max_words)
        self._rolls = data.expert_rolls(model.policy.config, world_ids)
        self._round = 0
        self._sampler = self._make_sampler()

    def make_trainer(
        self,
        *,
        checkpoint: Path | None = None,
        overwrite: bool = False,
        on_step: OnStep | None = None,
        validation: Validation | None = None,
    ) -> Trainer:
        """The trainer of these steps."""
        options = self._options
        schedule = Schedule(
            options.steps,
            options.learning_rate,
            warmup_steps=min(50, max(1, options.steps // 10)),
            weight_decay=options.weight_decay,
            checkpoint_every=CHECKPOINT_EVERY,
        )
        return Trainer(
            self._model,
            schedule,
            seed=self._seed,
            name="decision",
            checkpoint=checkpoint,
            overwrite=overwrite,
            on_step=on_step,
            validation=validation,
        )

    def loss(self, step: int) -> Tensor:
        """The loss of a step."""
        for first in self._options.round_steps()[self._round :]:
            if step < first:
                break
            self._rolls = [*self._rolls, *self._collect(first, must_exist=step > first)]
            self._round += 1
            self._sampler = self._make_sampler()
        policy: DecisionPolicy = self._model.policy
        return compute_losses(policy, self._sampler[step].to(next(policy.parameters()).device)).total

    def _make_sampler(self) -> RollSampler:
        options = self._options
        return RollSampler(
            self._rolls,
            self._words,
            self._texts,
            self._model.tokenizer,
            batch_size=options.batch_size,
            seed=self._seed,
            mirrored=options.mirrored,
        )

    def _collect(self, step: int, *, must_exist: bool) -> list[Rolls]:
        """The agent's rolls of a round of DAgger, which begins at this step; later only those that were made then."""
        number = self._round
        rng = generator(self._seed, "dagger", str(number))
        count = min(self._options.dagger_worlds, len(self._world_ids))
        chosen = sorted(rng.choice(self._world_ids, count, replace=False).tolist())
        plan = f"{self._model.card} {self._world_ids} {step}"
        texts: dict[tuple[str, str], list[Episode]] = {}
        for episode in self._data.split.episodes:
            texts.setdefault((episode.world_id, episode.path_id or episode.id), []).append(episode)

        sources = make_sources(self._model.policy.config, self._data.lifetime)

        def make(world: World, episodes: Sequence[Episode]) -> Rolls:
            draws = generator(self._seed, "dagger", str(number), world.id)
            rows = [texts[e.world_id, e.path_id or e.id] for e in episodes]
            chosen = [row[int(draws.integers(len(row)))] for row in rows]
            beta = DAGGER_BETA ** (number + 1)
            return agent_rolls(
                self._model, self._words[world.id], world, chosen, self._data.protocol, beta, draws, sources
            )

        training = self._model.policy.training
        self._model.policy.eval()
        name = f"dagger-{number}-{self._data.view_name(self._model.policy.config)}-{self._seed}"
        with torch.random.fork_rng(devices=[]):
            found = self._data.make_rolls(name, plan, make, chosen, must_exist=must_exist)
        self._model.policy.train(training)
        return found


def agent_rolls(
    model: Model,
    words: LabelWords,
    world: World,
    episodes: Sequence[Episode],
    protocol: Protocol,
    beta: float,
    rng: np.random.Generator,
    sources: Sources,
) -> Rolls:
    """The rolls of an agent that follows the teacher with probability beta at each decision, labeled by the teacher."""
    assert isinstance(world.space, Surface)
    goal_fields = GoalFields(world.space)

    def choose(
        rows: list[int], views: PolarViews, free: NDArray[np.float32], labels: Sequence[Decision]
    ) -> Sequence[Decision]:
        own = policy(rows, views, free, labels)
        return [label if rng.random() < beta else mine for label, mine in zip(labels, own, strict=True)]

    parts = []
    for part in in_parts(episodes, sources.max_agents):
        policy = PolicyWalk(model, words, [episode.instruction for episode in part])
        wanted = [goal_fields[episode] for episode in part]
        parts.append(walk(world, part, protocol, choose, sources(world), goal_fields=wanted)[1])
    return Rolls.concatenate(parts)
