"""`train_on_ground`: teacher forcing and DAgger of a small policy on continuous tasks. See `itinera.api.train`.

Policies that remember earlier episodes learn by teacher forcing over tours, the others in single episodes, or on tours
if their maps live as long as those.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec
import torch

from itinera.errors import BadArgument, validate_choice
from itinera.formats.writing import atomic_write
from itinera.mapping.config import MapConfig, MapLifetime
from itinera.policies.checkpoint import Model, build_model, encode_model, make_card, read_model
from itinera.policies.ground import cma, map_cma, pool_cma, seq2seq, tour_cma
from itinera.policies.ground.agent import GroundPolicyAgent
from itinera.policies.ground.base import GroundPolicy
from itinera.policies.ground.requirements import GroundRequirements
from itinera.policies.pretrained import SUFFIX
from itinera.policies.segmentation.semantics import TRUE
from itinera.policies.tokenizer import Tokenizer
from itinera.records.provenance import digest, itinera_version
from itinera.records.scores import ScoreTable
from itinera.runs.config import select_protocol
from itinera.runs.engines import Engine, open_engine
from itinera.runs.engines.engine import PROCESSES
from itinera.runs.resume import exclusive_lock, plan_fingerprint
from itinera.tasks import Protocol, Split
from itinera.training.ground.batches import Texts
from itinera.training.ground.dagger import Dagger, DaggerPlan, expert_jobs
from itinera.training.ground.evaluation import evaluate_on_ground
from itinera.training.ground.experience import Collector, Experience, keep_houses
from itinera.training.ground.lane_agents import ExpertDecider
from itinera.training.ground.observation_cache import ObservationCache
from itinera.training.ground.perception import Sensors
from itinera.training.ground.tour_order import order_tours
from itinera.training.ground.tour_training import TourTraining
from itinera.training.ground.trajectories import TrajectoryStore
from itinera.training.policy_config import merge_config
from itinera.training.progress import OnProgress, TrainingLog, TrainingProgress, print_messages
from itinera.training.train_agent import SMALL_CONFIGS, load_finished, single_thread
from itinera.training.trainer import Schedule, Trainer, Validation, remove_damaged_checkpoint, seed_torch
from itinera.worlds import World

GROUND_CONFIGS: Mapping[str, Any] = {
    "seq2seq": seq2seq.SMALL,
    "cma": cma.SMALL,
    "tour-cma": tour_cma.SMALL,
    "pool-cma": pool_cma.SMALL,
    "pool-end-cma": pool_cma.SMALL,
    "map-cma": map_cma.SMALL,
}
STEPS_PER_MINUTE = 100  # about, on one core, roll-outs included
RESOLUTION = 128  # pixels of a side of the camera
METRICS = ("SR", "SPL", "nDTW", "t-nDTW")  # logged
MONITORS = ("SR", "OSR", "SPL", "nDTW", "CLS", "t-nDTW", "NE")
_log = logging.getLogger("itinera")


@dataclass(frozen=True)
class GroundOptions:
    """The hyper-parameters of `train_on_ground`."""

    steps: int | None = None  # optimizer steps
    minutes: float | None = None  # instead of steps: as many as one core makes in about this time
    iterations: int | None = None  # of DAgger; None: 6, or 0 for a policy that remembers tours
    rollouts: int = 500  # episodes per iteration
    beta: float = 0.5  # of DAgger: beta^(n + 1) in iteration n
    teacher_forcing_share: float = 0.3  # of the steps, before DAgger
    batch_size: int = 14  # trajectories; lanes of tours
    learning_rate: float = 1.5e-3
    max_steps: int = 100  # of an agent per episode while it is collected
    max_words: int = 80
    progress_weight: float = 0.3
    evaluate_every: int | None = None
    patience: int | None = None
    monitor: str = "SPL"

    def plan(self, *, remembers_tours: bool) -> DaggerPlan:
        """The phases; raises BadArgument for values out of range."""
        if (self.steps is None) == (self.minutes is None):
            raise BadArgument("Give the length of training as steps=… or as minutes=…, one of them.")
        for name, value in (("steps", self.steps), ("minutes", self.minutes), ("learning_rate", self.learning_rate)):
            if value is not None and not 0 < value < math.inf:
                raise BadArgument(f"{name} must be > 0 (got {value}).")
        for name in ("rollouts", "batch_size", "max_steps", "max_words", "evaluate_every", "patience"):
            count = getattr(self, name)
            if count is not None and count < 1:
                raise BadArgument(f"{name} must be ≥ 1 (got {count}).")
        validate_choice("monitor", self.monitor, MONITORS)
        steps = max(1, round(float(self.minutes or 0) * STEPS_PER_MINUTE)) if self.steps is None else self.steps
        iterations = (0 if remembers_tours else 6) if self.iterations is None else self.iterations
        if remembers_tours and iterations:
            raise BadArgument("A policy that remembers tours learns by teacher forcing: iterations must be 0.")
        each = 0 if not iterations else round(steps * (1 - self.teacher_forcing_share)) // iterations
        if iterations and not each:
            raise BadArgument(f"{steps} steps are too few for {iterations} iterations. Give more, or iterations=0.")
        return DaggerPlan(
            steps - iterations * each,
            iterations,
            each,
            rollouts=self.rollouts,
            beta=self.beta,
            max_steps=self.max_steps,
            batch_size=self.batch_size,
            progress_weight=self.progress_weight,
        )


def train_on_ground(
    policy: str | PathLike[str] | Model,
    split: Split,
    worlds: Mapping[str, World],
    options: GroundOptions,
    *,
    season: Path | None = None,
    validation: Split | None = None,
    lifetime: str | MapLifetime = MapLifetime.EPISODIC,
    semantics: str = TRUE,
    config: Any = None,
    start_from: Path | None = None,
    seed: int = 0,
    device: str = "cpu",
    out: Path | None = None,
    cache: Path | None = None,
    overwrite: bool = False,
    tensorboard: Path | None = None,
    workers: int | None = 0,
    engine: str | Engine = PROCESSES,
    progress: OnProgress | None = None,
    verbose: bool = False,
) -> GroundPolicyAgent:
    """The agent of a policy trained on the episodes of a split, or on its tours.

    policy: a key of GROUND_CONFIGS, a model to train in place, or a model file to start from.
    season: the folder of the worlds, by which observations in `cache` are known again; without it nothing is cached.
    validation: episodes to evaluate on during training; the weights with the best score are the result.
    lifetime, semantics: of the maps of a policy that sees one.
    workers, engine: the processes that walk DAgger's roll-outs, on which the weights do not depend.
    out: the model file. Until training ends, OUT.partial is the checkpoint and OUT.trajectories.partial the actions.
    """
    if not split.episodes:
        raise BadArgument(f"{split.name} contains no episodes.")
    for one in (split, *(() if validation is None else (validation,))):
        missing = [name for name in one.world_ids if name not in worlds]
        if missing:
            raise BadArgument(f"World {missing[0]} of {one.name} is not among the worlds given. Check --worlds.")
        one.require_goals("Train and validate on splits whose answers are public.")
    if validation is None and (options.evaluate_every is not None or options.patience is not None):
        raise BadArgument("evaluate_every and patience need episodes to evaluate on: give validation=… (--validation).")
    model = make_model(
        policy, split, config, start_from, seed, MapLifetime(lifetime), semantics, max_words=options.max_words
    )
    plan = options.plan(remembers_tours=model.policy.remembers_tours)
    steps = plan.steps
    schedule = Schedule(steps, options.learning_rate, final_ratio=0.05, warmup_steps=min(50, max(1, steps // 10)))
    run = GroundRun(
        model, split, keep_houses(worlds, season, split.protocol), plan, season, validation, seed, cache,
        workers, engine,
    )  # fmt: skip
    fingerprint = plan_fingerprint(itinera_version(), options, schedule, seed, model.fingerprint, *run.data_fingerprint)
    metadata = {"steps": steps, "seed": seed, "episodes": len(split), "plan": fingerprint}
    model = replace(model, card=msgspec.structs.replace(model.card, metadata=metadata))
    partial = None if out is None else out.with_name(f"{out.name}.partial")
    if out is not None and out.exists() and not overwrite:
        finished = load_finished(out, fingerprint, None).agent()
        assert isinstance(finished, GroundPolicyAgent)
        return finished
    if partial is not None and not overwrite:
        remove_damaged_checkpoint(partial)
    is_new = overwrite or partial is None or not partial.exists()
    walked = None if out is None else out.with_name(f"{out.name}.trajectories")
    model.policy.to(device)
    quiet = print_messages() if verbose else nullcontext()
    with quiet, single_thread(), TrajectoryStore(walked, fingerprint, overwrite=is_new) as store:
        model = replace(run, model=model).execute(
            schedule, options, store, partial, overwrite=overwrite, tensorboard=tensorboard, progress=progress
        )
        model.policy.to("cpu")
        if out is not None and partial is not None:
            with atomic_write(out) as stream:
                stream.write(encode_model(model))
            with exclusive_lock(partial):
                partial.unlink(missing_ok=True)
        store.discard()
    agent = model.agent()
    assert isinstance(agent, GroundPolicyAgent)
    return agent


def make_model(
    policy: str | PathLike[str] | Model,
    split: Split,
    config: Any,
    start_from: Path | None,
    seed: int,
    lifetime: MapLifetime,
    semantics: str,
    *,
    max_words: int = 80,
) -> Model:
    """A model of a kind with new weights; or the one given, of the policy in a file."""
    if isinstance(policy, Model) or str(policy).endswith(SUFFIX):
        given = policy if isinstance(policy, Model) else read_model(Path(policy)).model
        if not isinstance(given.policy, GroundPolicy):
            kinds = ", ".join(GROUND_CONFIGS)
            raise BadArgument(f"A model of kind {given.card.kind} does not act on the ground. Train one of: {kinds}.")
        return given
    if str(policy) in SMALL_CONFIGS:
        kinds = ", ".join(GROUND_CONFIGS)
        raise BadArgument(
            f"Policies of kind {policy} train on graph tasks, and {split.name} has continuous episodes. "
            f"Train one of: {kinds}."
        )
    kind = validate_choice("policy", str(policy), tuple(GROUND_CONFIGS))
    if start_from is not None:
        started = read_model(start_from).model
        if started.card.kind != kind:
            raise BadArgument(f"{start_from} is a model of kind {started.card.kind}, not {kind}.")
        return started
    texts = [episode.instruction.text for episode in split.episodes]
    tokenizer = Tokenizer.fit(texts, min_count=5 if len(texts) >= 1000 else 1)
    sees_map = kind == "map-cma"
    ground = GroundRequirements(
        RESOLUTION,
        RESOLUTION,
        rgb=not sees_map,
        map=MapConfig() if sees_map else None,
        lifetime=lifetime,
        semantics=semantics,
    )
    card = make_card(
        kind, merge_config(GROUND_CONFIGS[kind], config), (), tokenizer, max_words=max_words, ground=ground
    )
    with torch.random.fork_rng(devices=[]):
        seed_torch(seed, "begun", kind)
        return build_model(card)


class GroundScores:
    """Scores on the ground as the messages of training print them."""

    def __init__(self, table: ScoreTable) -> None:
        self.table = table

    def mean(self, metric: str) -> float:
        """The mean of a metric."""
        return self.table.mean(metric)

    def format(self, metric: str) -> str:
        """The mean and its interval as text, rates in percent."""
        found, scale = self.table.interval(metric), 1.0 if metric == "NE" else 100.0
        return f"{scale * found.mean:.1f} ({scale * found.low:.1f} – {scale * found.high:.1f})"


@dataclass(frozen=True, eq=False)
class GroundRun:
    """A training run on the ground: the data, and the phases that learn from it."""

    model: Model
    given: Split
    worlds: Mapping[str, World]
    plan: DaggerPlan
    season: Path | None
    validation: Split | None
    seed: int
    cache_folder: Path | None = None
    workers: int | None = 0
    engine: str | Engine = PROCESSES
    cached_lifetimes: tuple[MapLifetime, ...] | None = None  # of the expert's maps; None: the policy's own

    @property
    def policy(self) -> GroundPolicy[Any, Any]:
        policy: GroundPolicy[Any, Any] = self.model.policy
        return policy

    @cached_property
    def requirements(self) -> GroundRequirements:
        """The camera and maps of the policy."""
        ground = self.model.card.ground
        if not isinstance(ground, GroundRequirements):
            raise BadArgument(f"A model of kind {self.model.card.kind} has no camera on its card.")
        return ground

    @property
    def lifetime(self) -> MapLifetime | None:
        """Of the policy's map."""
        return None if self.requirements.map is None else self.requirements.lifetime

    @cached_property
    def split(self) -> Split:
        """The episodes to train on; with tours where memory of any kind outlives an episode."""
        on_tours = self.policy.remembers_tours or self.lifetime is MapLifetime.ITERATIVE
        if not on_tours:
            return replace(self.given, tours=())
        return self.given if self.given.tours else order_tours(self.given)

    @cached_property
    def data_fingerprint(self) -> tuple[object, ...]:
        """What decides the data, apart from the worlds' geometry where those were given as objects."""
        splits = [self.split] if self.validation is None else [self.split, self.validation]
        found = hashlib.blake2b(digest_size=16)
        for split in splits:
            for episode in split.episodes:
                place = (episode.start.place, episode.start.heading, episode.goals, episode.instruction.text)
                found.update(repr((episode.id, episode.world_id, place)).encode())
            found.update(repr(split.tours).encode())
        return (found.hexdigest(), self.season_digest)

    @cached_property
    def season_digest(self) -> str:
        """The digest of the season; empty for worlds without one."""
        file = None if self.season is None else self.season / "season.json"
        return digest(file) if file is not None and file.exists() else ""

    @cached_property
    def texts(self) -> Texts:
        """The instructions to train on."""
        return Texts.from_split(self.split, self.model.tokenizer, max_words=self.model.card.max_words)

    def make_collector(self, protocol: Protocol, *, lifetimes: Sequence[MapLifetime], lanes: int = 48) -> Collector:
        """A collector with the sensors of the policy."""
        return Collector(
            self.worlds,
            protocol,
            Sensors.from_policy(self.policy, self.requirements),
            lifetimes=lifetimes,
            keep_guided=self.policy.remembers_tours,
            lanes=lanes,
        )

    @cached_property
    def collector(self) -> Collector:
        """Collects trajectories to learn from; an agent has fewer steps than in an evaluation."""
        own = () if self.lifetime is None else (self.lifetime,)
        protocol = replace(select_protocol(None, self.split), step_limit=self.plan.max_steps)
        return self.make_collector(protocol, lifetimes=own if self.cached_lifetimes is None else self.cached_lifetimes)

    @cached_property
    def cache(self) -> ObservationCache:
        """Observations of the expert's trajectories."""
        keep = self.cache_folder if self.season_digest else None
        collector, sensors = self.collector, Sensors.from_policy(self.policy, self.requirements)
        lifetimes = sorted(life.value for life in collector.perception.lifetimes)
        content = (itinera_version().partition("+")[0], self.season_digest, sensors.fingerprint, lifetimes)
        more = (collector.protocol.digest, collector.perception.keep_guided, self.data_fingerprint)
        return ObservationCache(keep, plan_fingerprint(content, more))

    def execute(
        self,
        schedule: Schedule,
        options: GroundOptions,
        store: TrajectoryStore,
        checkpoint: Path | None,
        *,
        overwrite: bool,
        tensorboard: Path | None,
        progress: OnProgress | None,
    ) -> Model:
        """The model after the last step; with validation that of the best evaluation, which its card describes."""
        kind, total, scores = self.model.card.kind, schedule.steps, list[GroundScores]()
        _log_start(self.model, self.split, self.plan)
        every = min(100, max(1, total // 20))
        with TrainingLog(kind, total=total, every=every, folder=tensorboard) as log:

            def report(step: int, loss: float) -> None:
                log.on_step(step, loss)
                if progress is not None:
                    latest = scores[-1] if scores else None
                    progress(TrainingProgress(step, total, loss, latest, options.monitor))

            trainer = Trainer(
                self.model,
                schedule,
                seed=self.seed,
                name=kind,
                checkpoint=checkpoint,
                overwrite=overwrite,
                on_step=report,
                validation=self._validation(schedule, options, log, scores),
            )
            try:
                self.train(trainer, store)
            except KeyboardInterrupt:
                after = "Run the same again to resume from its checkpoint." if checkpoint else "Nothing was written."
                _log.warning("Interrupted after step %d of %d. %s", trainer.step, total, after)
                raise
        return self._describe_best(trainer, options)

    def train(self, trainer: Trainer, store: TrajectoryStore) -> None:
        """Make the steps of a trainer."""
        if self.policy.remembers_tours:
            self.tour_training().run(trainer)
            return
        with open_engine(self.engine, self.workers) as engine:
            dagger = Dagger(
                self.policy, self.split, self.texts, self.collector, self.plan, lifetime=self.lifetime, seed=self.seed,
                store=store, cache=self.cache, engine=engine, files=[] if self.season is None else [self.season],
            )  # fmt: skip
            dagger.run(trainer)

    def tour_training(self) -> TourTraining:
        """Teacher forcing over the expert's tours."""
        plan = self.plan
        return TourTraining(
            self.policy,
            self.expert_tours(),
            self.texts,
            lanes=plan.batch_size,
            seed=self.seed,
            texts_per_path=plan.texts,
            inflection_weight=plan.inflection_weight,
            progress_weight=plan.progress_weight,
        )

    def expert_tours(self) -> list[list[Experience]]:
        """The experience of the expert on tours, each path once."""
        tours: list[list[Experience]] = []
        for world_id in self.split.world_ids:
            jobs = expert_jobs(self.split, world_id)

            def walk() -> list[Experience]:
                return self.collector.collect(jobs, ExpertDecider(), seed=0, beta=1.0)[1]  # noqa: B023

            found = {one.episode_id: one for one in self.cache.get(f"expert-{world_id}", walk)}
            tours += [[found[one.id] for one in job.episodes if one.id in found] for job in jobs]
        return [tour for tour in tours if tour]

    def _validation(
        self, schedule: Schedule, options: GroundOptions, log: TrainingLog, scores: list[GroundScores]
    ) -> Validation | None:
        held_out = self.validation
        if held_out is None:
            return None
        own = () if self.lifetime is None else (self.lifetime,)
        texts = Texts.from_split(held_out, self.model.tokenizer, max_words=self.model.card.max_words)
        collector = self.make_collector(select_protocol(None, held_out), lifetimes=own, lanes=64)

        def evaluate(step: int) -> float:
            table = evaluate_on_ground(self.policy, held_out, texts, collector, self.lifetime)
            scores.append(GroundScores(table))
            shown = [name for name in METRICS if name in table or (table.tours is not None and name in table.tours)]
            log.log_scores(step, held_out.name, scores[-1], shown)
            mean = table.mean(options.monitor)
            return -mean if options.monitor == "NE" else mean

        every = options.evaluate_every
        return Validation(evaluate, max(1, schedule.steps // 10) if every is None else every, options.patience)

    def _describe_best(self, trainer: Trainer, options: GroundOptions) -> Model:
        if trainer.best is None or self.validation is None:
            return self.model
        best, monitor = trainer.best, options.monitor
        found = {
            "validation": self.validation.name,
            "monitor": monitor,
            "score": abs(best.score),
            "best_step": best.step,
            "last_step": trainer.step,
        }
        metadata = {**self.model.card.metadata, **found}
        return replace(self.model, card=msgspec.structs.replace(self.model.card, metadata=metadata))


def _log_start(model: Model, split: Split, plan: DaggerPlan) -> None:
    parameters = sum(parameter.numel() for parameter in model.policy.parameters())
    phases = f"{plan.teacher_forcing_steps} of teacher forcing"
    if plan.iterations:
        plural = "" if plan.iterations == 1 else "s"
        dagger = plan.iterations * plan.steps_per_iteration
        phases += f", {dagger} of DAgger in {plan.iterations} iteration{plural}"
    plural = "" if len(split.world_ids) == 1 else "s"
    message = "%s: %d steps (%s) on %d episodes of %s in %d scene%s; %.2f M parameters."
    counts = (plan.steps, phases, len(split), split.name, len(split.world_ids), plural)
    _log.info(message, model.card.kind, *counts, parameters / 1e6)
