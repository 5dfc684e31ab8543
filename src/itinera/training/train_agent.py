"""`train_agent`: imitation learning, or policy gradient, of a small policy on graph tasks. See `itinera.api.train`.

The recipes in `recipes/` show the same loop with more stages; `losses.py` has the objectives.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec
import torch

from itinera.errors import BadArgument, validate_choice
from itinera.formats.writing import atomic_write
from itinera.policies import envdrop, follower, hamt, rcm
from itinera.policies.agent import PolicyAgent
from itinera.policies.base import Policy
from itinera.policies.checkpoint import (
    Model,
    PolicyClass,
    build_model,
    class_name,
    encode_model,
    load_policy_class,
    make_card,
    read_model,
)
from itinera.policies.pretrained import SUFFIX
from itinera.policies.tokenizer import Tokenizer
from itinera.records.provenance import itinera_version
from itinera.runs.resume import exclusive_lock
from itinera.tasks import PROTOCOLS
from itinera.training.data import MAX_OBJECT_NAMES, REACH
from itinera.training.dataset import BatchSampler, EpisodeDataset
from itinera.training.evaluation import UNIT_METRICS, EvaluationScores, evaluate
from itinera.training.losses import (
    Reward,
    exponential_decay,
    imitation_objective,
    policy_gradient_objective,
)
from itinera.training.malloc import tune_malloc
from itinera.training.policy_config import merge_config
from itinera.training.progress import METRICS, OnProgress, TrainingLog, TrainingProgress, print_messages
from itinera.training.rewards import make_fidelity_oriented_reward, make_goal_oriented_reward
from itinera.training.trainer import (
    LossFn,
    Schedule,
    Trainer,
    Validation,
    external_class,
    remove_damaged_checkpoint,
    run_steps,
    seed_torch,
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
MONITORS = (*UNIT_METRICS, "NE")  # metrics that decide which weights are best
EVALUATION_STEPS = 15  # of an agent per episode, where the protocol has no limit
MESSAGES = 20  # of a training run, at least
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
    evaluate_every: int | None = None  # steps between two evaluations; None: a tenth of the steps
    patience: int | None = None  # evaluations without a better score after which training stops
    monitor: str = "SPL"  # the metric of which the best weights are kept

    def check(self, *, has_validation: bool) -> None:
        """Refuse values that are out of range or do not fit together; raises BadArgument."""
        for name, count in (
            ("batch_size", self.batch_size),
            ("max_words", self.max_words),
            ("max_steps", self.max_steps),
        ):
            if count is not None and count < 1:
                raise BadArgument(f"{name} must be ≥ 1 (got {count}).")
        if self.learning_rate is not None and not 0 < self.learning_rate < math.inf:
            raise BadArgument(f"learning_rate must be > 0 (got {self.learning_rate}).")
        if not 0 <= self.teacher_forcing_ratio <= 1:
            raise BadArgument(f"teacher_forcing_ratio must be from 0 to 1 (got {self.teacher_forcing_ratio}).")
        for name, value in (("evaluate_every", self.evaluate_every), ("patience", self.patience)):
            if value is not None and not has_validation:
                raise BadArgument(f"{name} needs episodes to evaluate on: give validation=… (--validation).")
            if value is not None and value < 1:
                raise BadArgument(f"{name} must be ≥ 1 (got {value}).")
        validate_choice("monitor", self.monitor, MONITORS)

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
        minutes = float(self.minutes or 0)
        if not 0 < minutes < math.inf:
            raise BadArgument(f"minutes must be > 0 (got {self.minutes}).")
        return max(1, round(minutes * STEPS_PER_MINUTE[kind]))


def train_agent(
    policy: str | PathLike[str] | Model | type[Any],
    split: Split,
    worlds: Mapping[str, World],
    options: TrainingOptions,
    *,
    validation: Split | None = None,
    views: ViewSource | None = None,
    view_source: str = "",
    reach: float = 0.0,
    config: Any = None,
    start_from: Path | None = None,
    seed: int = 0,
    device: str = "cpu",
    out: Path | None = None,
    overwrite: bool = False,
    tensorboard: Path | None = None,
    progress: OnProgress | None = None,
    verbose: bool = False,
) -> PolicyAgent:
    """The agent of a policy trained on the episodes of a split.

    policy: a key of SMALL_CONFIGS; "module:Class" or a class, of a policy outside Itinera; a model, which is trained in
        place; or a model file to start from.
    validation: episodes to evaluate on during training; the weights with the best score are the result.
    views: features at the nodes of the worlds; `view_source` and `reach` describe them in the model card.
    config: the configuration of a policy given by its kind or class, or some of its fields; `SMALL` by default.
    start_from: a model file of this policy whose weights training starts from.
    device: of the policy and the environment; the agent that is returned is on the CPU.
    out: the model file; OUT.partial is the checkpoint until training ends. One that is damaged is discarded.
    tensorboard: a folder for the curves of loss and scores.

    With one thread, as here, the weights depend on the data, the options and the seed alone.
    """
    options.check(has_validation=validation is not None)
    columns = _view_columns(views)
    model = _make_model(policy, split, columns, config, start_from, seed, view_source, reach, options.max_words)
    if not isinstance(model.policy, Policy):
        raise BadArgument(f"A model of kind {model.card.kind} cannot act. Train one of: {', '.join(SMALL_CONFIGS)}.")
    if model.card.columns != columns:
        raise BadArgument(
            f"The model was made for {len(model.card.columns)} view features, but these views have {len(columns)}, or "
            "others. Give the views it was trained with."
        )
    data = _load_data(split, worlds, views, model, device)
    held_out = None if validation is None else _load_data(validation, worlds, views, model, device)
    kind = model.card.kind
    steps = options.count_steps(kind)
    batches = BatchSampler(data.dataset, options.batch_size, seed=seed)
    model.policy.to(device)
    loss_fn = _make_objective(model.policy, data.env, batches, options, steps)
    default_rate = LEARNING_RATES.get(kind, 1e-3) if options.reward is None else POLICY_GRADIENT_RATE
    rate = default_rate if options.learning_rate is None else options.learning_rate
    schedule = Schedule(steps, rate, final_ratio=0.05, warmup_steps=min(50, max(1, steps // 10)))
    plan = _plan_fingerprint(model, [data] if held_out is None else [data, held_out], options, schedule, seed)
    metadata = {"steps": steps, "seed": seed, "episodes": len(data.dataset), "reward": options.reward, "plan": plan}
    model = replace(model, card=msgspec.structs.replace(model.card, metadata=metadata))
    partial = None if out is None else out.with_name(f"{out.name}.partial")
    if out is not None and out.exists() and not overwrite:
        finished = load_finished(out, plan, external_class(model))
        if partial is not None and partial.exists():  # of a process that was killed when it had written the model
            with exclusive_lock(partial):
                partial.unlink(missing_ok=True)
        return cast(PolicyAgent, finished.agent(columns))
    if partial is not None and not overwrite:
        remove_damaged_checkpoint(partial, policy=external_class(model))
    with print_messages() if verbose else nullcontext(), single_thread():
        _log_start(model, data, schedule, tensorboard)
        run = _TrainingRun(model, schedule, options, held_out, progress)
        model = run.execute(loss_fn, seed=seed, checkpoint=partial, overwrite=overwrite, tensorboard=tensorboard)
        model.policy.to("cpu")
    if out is not None and partial is not None:
        with atomic_write(out) as stream:
            stream.write(encode_model(model))
        partial.unlink(missing_ok=True)
    return cast(PolicyAgent, model.agent(columns))


@dataclass(frozen=True, eq=False)
class _Data:
    """A split as tensors."""

    split: Split
    env: BatchedGraphEnv
    dataset: EpisodeDataset


def _load_data(split: Split, worlds: Mapping[str, World], views: ViewSource | None, model: Model, device: str) -> _Data:
    missing = [name for name in split.world_ids if name not in worlds]
    if missing:
        raise BadArgument(f"World {missing[0]} of {split.name} is not among the worlds given. Check worlds (--worlds).")
    if not split.episodes:
        raise BadArgument(f"{split.name} contains no episodes.")
    graphs = {name: worlds[name] for name in split.world_ids}
    env = build_env(graphs, views, panorama=model.policy.uses_panorama).to(device)
    dataset = EpisodeDataset.from_episodes(split.episodes, env, model.tokenizer, max_words=model.card.max_words)
    return _Data(split, env, dataset)


def _log_start(model: Model, data: _Data, schedule: Schedule, tensorboard: Path | None) -> None:
    parameters = sum(parameter.numel() for parameter in model.policy.parameters())
    scenes = len(data.split.world_ids)
    message = "%s: %d steps on %d episodes of %s in %d scene%s; %.2f M parameters."
    plural = "" if scenes == 1 else "s"
    name, episodes = data.split.name, len(data.dataset)
    _log.info(message, model.card.kind, schedule.steps, episodes, name, scenes, plural, parameters / 1e6)
    if tensorboard is not None:
        _log.info("Curves: tensorboard --logdir %s", tensorboard)


@dataclass(eq=False)
class _TrainingRun:
    """The steps of one training run, with its messages, curves and evaluations."""

    model: Model
    schedule: Schedule
    options: TrainingOptions
    held_out: _Data | None  # to evaluate on
    progress: OnProgress | None
    scores: EvaluationScores | None = None  # of the last evaluation

    def execute(
        self, loss_fn: LossFn, *, seed: int, checkpoint: Path | None, overwrite: bool, tensorboard: Path | None
    ) -> Model:
        """The model after the last step; with validation that of the best evaluation, which its card describes."""
        kind, total = self.model.card.kind, self.schedule.steps
        every = min(200, max(1, total // MESSAGES))
        with TrainingLog(kind, total=total, every=every, folder=tensorboard) as log:

            def report(step: int, loss: float) -> None:
                log.on_step(step, loss)
                if self.progress is not None:
                    self.progress(TrainingProgress(step, total, loss, self.scores, self.options.monitor))

            trainer = Trainer(
                self.model,
                self.schedule,
                seed=seed,
                name=kind,
                checkpoint=checkpoint,
                overwrite=overwrite,
                on_step=report,
                validation=None if self.held_out is None else self._validation(log, self.held_out),
            )
            try:
                run_steps(trainer, loss_fn)
            except KeyboardInterrupt:
                after = "Run the same again to resume from its checkpoint." if checkpoint else "Nothing was written."
                _log.warning("Interrupted after step %d of %d. %s", trainer.step, total, after)
                raise
        return self.model if self.held_out is None else self._describe_best(trainer, self.held_out)

    def _validation(self, log: TrainingLog, data: _Data) -> Validation:
        monitor = self.options.monitor
        metrics = METRICS if monitor in METRICS else (*METRICS, monitor)
        max_steps = PROTOCOLS[data.split.protocol].step_limit or EVALUATION_STEPS

        def score(step: int) -> float:
            self.scores = evaluate(self.model.policy, data.env, data.dataset, max_steps=max_steps)
            log.log_scores(step, data.split.name, self.scores, metrics)
            mean = self.scores.mean(monitor)
            return -mean if monitor == "NE" else mean

        every = self.options.evaluate_every
        return Validation(score, max(1, self.schedule.steps // 10) if every is None else every, self.options.patience)

    def _describe_best(self, trainer: Trainer, data: _Data) -> Model:
        best, monitor, total = trainer.best, self.options.monitor, self.schedule.steps
        assert best is not None
        score = abs(best.score)
        if trainer.step < total:
            _log.info("Stopped at step %d of %d: %s did not improve further.", trainer.step, total, monitor)
        shown = f"{score:.2f} m" if monitor == "NE" else f"{100 * score:.1f} %"
        _log.info("The result is the model of step %d, with the best %s (%s).", best.step, monitor, shown)
        found = {"validation": data.split.name, "monitor": monitor, "score": score, "best_step": best.step}
        metadata = {**self.model.card.metadata, **found, "last_step": trainer.step}
        return replace(self.model, card=msgspec.structs.replace(self.model.card, metadata=metadata))


def _view_columns(views: ViewSource | None) -> tuple[str, ...]:
    from itinera.runs.observations import view_columns

    return () if views is None else view_columns(views) or ("",) * views.size


def _make_model(
    policy: str | PathLike[str] | Model | type[Any],
    split: Split,
    columns: tuple[str, ...],
    config: Any,
    start_from: Path | None,
    seed: int,
    view_source: str,
    reach: float,
    max_words: int,
) -> Model:
    if isinstance(policy, Model):
        return policy
    if not isinstance(policy, type) and str(policy).endswith(SUFFIX):
        return read_model(Path(policy)).model
    kind, external, default = _find_policy(policy)
    if start_from is not None:
        started = read_model(start_from, policy=external).model
        if external is None and started.card.kind != kind:
            raise BadArgument(f"{start_from} is a model of kind {started.card.kind}, not {kind}.")
        return started
    texts = [episode.instruction.text for episode in split.episodes]
    tokenizer = Tokenizer.fit(texts, min_count=5 if len(texts) >= 1000 else 1)
    card = make_card(
        kind,
        merge_config(default, config),
        columns,
        tokenizer,
        max_words=max_words,
        views=view_source,
        reach=reach,
    )
    with torch.random.fork_rng(devices=[]):
        seed_torch(seed, "begun", kind)
        return build_model(card, external)


def _find_policy(policy: PolicyClass | PathLike[str]) -> tuple[str, type[Any] | None, Any]:
    """The kind of a policy, its class if that is outside Itinera, and its default configuration."""
    if isinstance(policy, type) or ":" in str(policy):
        external = load_policy_class(policy if isinstance(policy, type) else str(policy))
        kind = class_name(policy) if isinstance(policy, type) else str(policy)
        try:
            return kind, external, external.config_class()
        except TypeError as error:
            raise BadArgument(
                f"{external.config_class.__name__}() failed: {error}. Give every field a default."
            ) from None
    kinds = (*SMALL_CONFIGS, "module:Class")
    kind = validate_choice("policy", str(policy), kinds)
    return kind, None, SMALL_CONFIGS[kind]


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
    model: Model, splits: Sequence[_Data], options: TrainingOptions, schedule: Schedule, seed: int
) -> str:
    """The fingerprint of everything that decides the weights; a model that is given counts with its own."""
    digest = hashlib.blake2b(repr((itinera_version(), options, schedule, seed)).encode())
    digest.update(model.fingerprint.encode())
    for data in splits:
        env, dataset = data.env, data.dataset
        digest.update(repr((env.worlds, env.nodes)).encode())
        for tensor in (env.edge_target, env.headings, env.elevations, env.lengths, env.edge_features):
            digest.update(tensor.contiguous().numpy(force=True).tobytes())
        for array in (dataset.start, dataset.view, *dataset.words, *dataset.paths):
            digest.update(array.tobytes())
    return digest.hexdigest()[:32]


def load_finished(out: Path, plan: str, policy: type[Any] | None) -> Model:
    """The model of a file that this training run wrote; raises BadArgument for that of another."""
    model = read_model(out, policy=policy).model
    if model.card.metadata.get("plan") != plan:
        raise BadArgument(
            f"{out} exists already and comes from another training run: other data, options or seed, or another "
            "version of itinera. Write to another file, or replace it with overwrite=True."
        )
    _log.info("%s is complete already, from the same training run; overwrite=True trains it again.", out)
    return model


@contextmanager
def single_thread() -> Iterator[None]:
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
