"""`train_agent`: imitation learning, or policy gradient, of a small policy on graph tasks. See `itinera.api.train`.

The recipes in `recipes/` show the same loop with more stages; `losses.py` has the objectives.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import torch

from itinera.errors import BadArgument, validate_choice
from itinera.formats.writing import atomic_write
from itinera.policies import envdrop, follower, hamt, rcm
from itinera.policies.agent import PolicyAgent
from itinera.policies.base import Policy
from itinera.policies.checkpoint import Model, build_model, encode_model, make_card, read_model
from itinera.policies.pretrained import SUFFIX
from itinera.policies.tokenizer import Tokenizer
from itinera.records.provenance import itinera_version
from itinera.runs.resume import exclusive_lock
from itinera.training.data import MAX_OBJECT_NAMES, REACH
from itinera.training.dataset import BatchSampler, EpisodeDataset
from itinera.training.losses import (
    Reward,
    exponential_decay,
    imitation_objective,
    policy_gradient_objective,
)
from itinera.training.malloc import tune_malloc
from itinera.training.progress import TrainingLog
from itinera.training.rewards import make_fidelity_oriented_reward, make_goal_oriented_reward
from itinera.training.trainer import (
    LossFn,
    OnStep,
    Schedule,
    remove_damaged_checkpoint,
    seed_torch,
    train_model,
)
from itinera.training.vector_env import BatchedGraphEnv, build_env
from itinera.worlds import World

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itinera.runs.config import ObservationConfig
    from itinera.simulators.view_features import ViewSource
    from itinera.tasks import Split

SMALL_CONFIGS: Mapping[str, Any] = {
    "rcm": rcm.SMALL,
    "follower": follower.SMALL,
    "envdrop": envdrop.SMALL,
    "hamt": hamt.SMALL,
}
STEPS_PER_MINUTE = {"rcm": 260, "follower": 300, "envdrop": 300, "hamt": 120}  # about, on one core
LEARNING_RATES = {"rcm": 1.5e-3, "follower": 1.5e-3, "envdrop": 1.5e-3, "hamt": 1e-3}
POLICY_GRADIENT_RATE = 4e-4
REWARDS: Mapping[str, Callable[..., Reward]] = {
    "goal": make_goal_oriented_reward,
    "fidelity": make_fidelity_oriented_reward,
}
AUTO = "auto"
_log = logging.getLogger("itinera")


@dataclass(frozen=True)
class TrainingOptions:
    """The hyper-parameters of `train_agent`."""

    steps: int | None = None  # optimizer steps
    minutes: float | None = None  # instead of steps: as many as one core makes in about this time
    reward: str | None = None  # "goal" or "fidelity": policy gradient; None: imitation learning
    batch_size: int = 64  # episodes
    learning_rate: float | None = None  # None: that of the policy's recipe
    teacher_forcing_ratio: float = 0.8  # share of agents that follow the expert, in imitation
    max_steps: int | None = None  # of an agent in training; None: 10 in imitation, 15 with a reward
    max_words: int = 80  # of an instruction; the rest is cut off

    def count_steps(self, kind: str) -> int:
        """The number of optimizer steps for a kind of policy; raises BadArgument unless it is given once."""
        if (self.steps is None) == (self.minutes is None):
            raise BadArgument("Give the length of training as steps=… or as minutes=…, one of them.")
        if self.steps is not None:
            if self.steps < 1:
                raise BadArgument(f"steps must be ≥ 1 (got {self.steps}).")
            return self.steps
        if kind not in STEPS_PER_MINUTE:
            raise BadArgument(f"The speed of a policy of kind {kind} is not known. Give steps=… instead of minutes=….")
        return max(1, round(float(self.minutes or 0) * STEPS_PER_MINUTE[kind]))


def train_agent(
    policy: str | PathLike[str] | Model,
    split: Split,
    worlds: Mapping[str, World],
    options: TrainingOptions,
    *,
    views: ViewSource | None = None,
    view_source: str = "",
    reach: float = 0.0,
    config: Any = None,
    seed: int = 0,
    out: Path | None = None,
    overwrite: bool = False,
    on_step: OnStep | None = None,
) -> PolicyAgent:
    """The agent of a policy trained on the episodes of a split.

    policy: a key of SMALL_CONFIGS, a model, which is trained in place, or a model file to start from.
    views: features at the nodes of the worlds; `view_source` and `reach` describe them in the model card.
    config: the configuration of a policy given by its kind; its `SMALL` one by default.
    out: the model file; OUT.partial is the checkpoint until training ends. One that is damaged is discarded.

    With one thread, as here, the weights depend on the data, the options and the seed alone.
    """
    columns = _view_columns(views)
    model = _make_model(policy, split, columns, config, seed, view_source, reach, options.max_words)
    if not isinstance(model.policy, Policy):
        raise BadArgument(f"A model of kind {model.card.kind} cannot act. Train one of: {', '.join(SMALL_CONFIGS)}.")
    if model.card.columns != columns:
        raise BadArgument(
            f"The model was made for {len(model.card.columns)} view features, but these views have {len(columns)}, or "
            "others. Give the views it was trained with."
        )
    graphs = {name: worlds[name] for name in split.world_ids}
    env = build_env(graphs, views, panorama=model.policy.uses_panorama)
    dataset = EpisodeDataset.from_episodes(split.episodes, env, model.tokenizer, max_words=model.card.max_words)
    kind = model.card.kind
    steps = options.count_steps(kind)
    loss_fn = _make_objective(model.policy, env, BatchSampler(dataset, options.batch_size, seed=seed), options, steps)
    default_rate = LEARNING_RATES.get(kind, 1e-3) if options.reward is None else POLICY_GRADIENT_RATE
    rate = default_rate if options.learning_rate is None else options.learning_rate
    schedule = Schedule(steps, rate, final_ratio=0.05, warmup_steps=min(50, max(1, steps // 10)))
    plan = _plan_fingerprint(model, env, dataset, options, schedule, seed)
    metadata = {"steps": steps, "seed": seed, "episodes": len(dataset), "reward": options.reward, "plan": plan}
    model = replace(model, card=msgspec.structs.replace(model.card, metadata=metadata))
    partial = None if out is None else out.with_name(f"{out.name}.partial")
    if out is not None and out.exists() and not overwrite:
        finished = _load_finished(out, plan)
        if partial is not None and partial.exists():  # of a process that was killed when it had written the model
            with exclusive_lock(partial):
                partial.unlink(missing_ok=True)
        return finished.agent(columns)
    if partial is not None and not overwrite:
        remove_damaged_checkpoint(partial)
    with TrainingLog(kind, total=steps) as log, _single_thread():

        def report(step: int, loss: float) -> None:
            log.on_step(step, loss)
            if on_step is not None:
                on_step(step, loss)

        train_model(
            model, loss_fn, schedule, seed=seed, name=kind, checkpoint=partial, overwrite=overwrite, on_step=report
        )
    if out is not None and partial is not None:
        with atomic_write(out) as stream:
            stream.write(encode_model(model))
        partial.unlink(missing_ok=True)
    return model.agent(columns)


def _view_columns(views: ViewSource | None) -> tuple[str, ...]:
    from itinera.runs.observations import view_columns

    return () if views is None else view_columns(views) or ("",) * views.size


def _make_model(
    policy: str | PathLike[str] | Model,
    split: Split,
    columns: tuple[str, ...],
    config: Any,
    seed: int,
    view_source: str,
    reach: float,
    max_words: int,
) -> Model:
    if isinstance(policy, Model):
        return policy
    if str(policy).endswith(SUFFIX):
        return read_model(Path(policy)).model
    kind = validate_choice("policy", str(policy), tuple(SMALL_CONFIGS))
    texts = [episode.instruction.text for episode in split.episodes]
    tokenizer = Tokenizer.fit(texts, min_count=5 if len(texts) >= 1000 else 1)
    card = make_card(
        kind,
        SMALL_CONFIGS[kind] if config is None else config,
        columns,
        tokenizer,
        max_words=max_words,
        views=view_source,
        reach=reach,
    )
    with torch.random.fork_rng(devices=[]):
        seed_torch(seed, "begun", kind)
        return build_model(card)


def _make_objective(
    policy: Policy[Any], env: BatchedGraphEnv, batches: BatchSampler, options: TrainingOptions, steps: int
) -> LossFn:
    imitation_steps = 10 if options.max_steps is None else options.max_steps
    imitation = imitation_objective(
        policy, env, batches, max_steps=imitation_steps, teacher_forcing_ratio=options.teacher_forcing_ratio
    )
    if options.reward is None:
        return imitation
    reward = REWARDS[validate_choice("reward", options.reward, tuple(REWARDS))]
    return policy_gradient_objective(
        policy,
        env,
        batches,
        reward(env, needs_stop=True),
        max_steps=15 if options.max_steps is None else options.max_steps,
        imitation_probability=exponential_decay(steps / 4, minimum=0.2),
        imitation=imitation,
    )


def _plan_fingerprint(
    model: Model,
    env: BatchedGraphEnv,
    dataset: EpisodeDataset,
    options: TrainingOptions,
    schedule: Schedule,
    seed: int,
) -> str:
    """The fingerprint of everything that decides the weights; a model that is given counts with its own."""
    digest = hashlib.blake2b(repr((itinera_version(), options, schedule, seed, env.worlds, env.nodes)).encode())
    digest.update(model.fingerprint.encode())
    for tensor in (env.edge_target, env.headings, env.elevations, env.lengths, env.edge_features):
        digest.update(tensor.contiguous().numpy().tobytes())
    for array in (dataset.start, dataset.view, *dataset.words, *dataset.paths):
        digest.update(array.tobytes())
    return digest.hexdigest()[:32]


def _load_finished(out: Path, plan: str) -> Model:
    model = read_model(out).model
    if model.card.metadata.get("plan") != plan:
        raise BadArgument(
            f"{out} exists already and comes from another training run: other data, options or seed, or another "
            "version of itinera. Write to another file, or replace it with overwrite=True."
        )
    _log.info("%s is complete already, from the same training run; overwrite=True trains it again.", out)
    return model


@contextmanager
def _single_thread() -> Iterator[None]:
    """One thread and torch's generators for the time of training; both are restored."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    tune_malloc()
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(threads)


def configure_training_views(
    split: Split,
    worlds: Path | None,
    *,
    views: str | None = AUTO,
    objects: Path | None = None,
    rooms: Path | None = None,
) -> ObservationConfig:
    """The views of a training run: those of `itinera.run`, but annotations reach 10 m and name the objects of the
    training worlds. "auto" takes annotations if the worlds are a Hearth season, else geometry only."""
    from itinera.formats.catalog import season_file
    from itinera.runs.config import ANNOTATIONS
    from itinera.runs.observations import configure_observations

    if views == AUTO:
        is_season = worlds is not None and season_file(worlds).exists()
        views = ANNOTATIONS if is_season or objects is not None or rooms is not None else None
    config = configure_observations(split, worlds, views=views, objects=objects, rooms=rooms)
    if config.views != ANNOTATIONS:
        return config
    names: tuple[str, ...] = ()
    if config.objects is not None:
        from itinera.formats.reverie import read_objects
        from itinera.simulators.view_features import frequent_names
        from itinera.worlds import Euclidean

        visible = read_objects(config.objects)
        annotated = {name: World(name, Euclidean(), objects=visible[name]) for name in split.world_ids}
        names = frequent_names(annotated, MAX_OBJECT_NAMES)
    return replace(config, names=names, reach=REACH)
