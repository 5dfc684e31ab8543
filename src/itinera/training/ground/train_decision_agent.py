"""`train_decision_agent`: what `itinera train --policy decision` does. See `itinera.api.train`."""

from __future__ import annotations

import hashlib
import logging
import math
import shutil
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from itinera.errors import BadArgument, validate_choice
from itinera.formats.writing import atomic_write
from itinera.mapping.config import MapLifetime
from itinera.policies.checkpoint import Model, encode_model
from itinera.policies.ground.decision import DecisionConfig
from itinera.policies.ground.decision_agent import DecisionAgent
from itinera.records.provenance import digest, itinera_version
from itinera.runs.resume import exclusive_lock, plan_fingerprint
from itinera.tasks import Split
from itinera.training.ground.decision_data import DecisionData, make_sources, world_words
from itinera.training.ground.decision_evaluation import evaluate_decisions
from itinera.training.ground.decisions import DecisionOptions, DecisionRun, new_model
from itinera.training.ground.train_agent import METRICS, MONITORS, GroundScores
from itinera.training.policy_config import merge_config
from itinera.training.progress import OnProgress, TrainingLog, TrainingProgress, print_messages
from itinera.training.train_agent import load_finished, single_thread
from itinera.training.trainer import Trainer, Validation, remove_damaged_checkpoint
from itinera.worlds import World

STEPS_PER_MINUTE = 380  # about, on one core, without the rolls of the expert
_log = logging.getLogger("itinera")


@dataclass(frozen=True)
class DecisionTrainingOptions:
    """The length of training and its evaluation, besides the hyper-parameters of `DecisionOptions`."""

    steps: int | None = None
    minutes: float | None = None  # instead of steps: as many as one core makes in about this time
    batch_size: int = 24  # rolls
    learning_rate: float = 2e-3
    iterations: int = 0  # rounds of DAgger
    max_words: int = 80
    evaluate_every: int | None = None
    patience: int | None = None
    monitor: str = "SPL"

    def check(self) -> DecisionOptions:
        """The hyper-parameters; raises BadArgument for values out of range."""
        if (self.steps is None) == (self.minutes is None):
            raise BadArgument("Give the length of training as steps=… or as minutes=…, one of them.")
        for name, value in (("steps", self.steps), ("minutes", self.minutes), ("learning_rate", self.learning_rate)):
            if value is not None and not 0 < value < math.inf:
                raise BadArgument(f"{name} must be > 0 (got {value}).")
        for name in ("batch_size", "max_words", "evaluate_every", "patience"):
            count = getattr(self, name)
            if count is not None and count < 1:
                raise BadArgument(f"{name} must be ≥ 1 (got {count}).")
        if self.iterations < 0:
            raise BadArgument(f"iterations must be ≥ 0 (got {self.iterations}).")
        validate_choice("monitor", self.monitor, MONITORS)
        steps = max(1, round(float(self.minutes or 0) * STEPS_PER_MINUTE)) if self.steps is None else self.steps
        return DecisionOptions(
            steps,
            learning_rate=self.learning_rate,
            batch_size=self.batch_size,
            dagger_rounds=self.iterations,
            max_words=self.max_words,
        )


def train_decision_agent(
    split: Split,
    worlds: Mapping[str, World],
    options: DecisionTrainingOptions,
    *,
    season: Path | None = None,
    validation: Split | None = None,
    lifetime: MapLifetime | None = None,
    config: Any = None,
    seed: int = 0,
    device: str = "cpu",
    out: Path | None = None,
    cache: Path | None = None,
    overwrite: bool = False,
    tensorboard: Path | None = None,
    progress: OnProgress | None = None,
    verbose: bool = False,
) -> DecisionAgent:
    """A decision agent trained on the paths of a split.

    lifetime: of the map of an agent that remembers front views; None for one that sees all around.
    cache: the folder of rolls, which later trainings share; by default OUT.rolls, which is removed at the end.
    """
    from tempfile import TemporaryDirectory

    hyper = options.check()
    for one in (split, *(() if validation is None else (validation,))):
        missing = [name for name in one.world_ids if name not in worlds]
        if missing:
            raise BadArgument(f"World {missing[0]} of {one.name} is not among the worlds given. Check --worlds.")
        one.require_goals("Train and validate on splits whose answers are public.")
    if not split.episodes:
        raise BadArgument(f"{split.name} contains no episodes.")
    if validation is None and (options.evaluate_every is not None or options.patience is not None):
        raise BadArgument("evaluate_every and patience need episodes to evaluate on: give validation=… (--validation).")
    if isinstance(config, Mapping) and "remembers" in config:
        raise BadArgument(
            "remembers is no field to give: an agent remembers if it has a map_lifetime (--map-lifetime)."
        )
    chosen = replace(merge_config(DecisionConfig(), config), remembers=lifetime is not None)
    file = None if season is None else season / "season.json"
    with nullcontext() if cache or out else TemporaryDirectory() as temporary:
        folder = cache or (Path(temporary) if out is None else out.with_name(f"{out.name}.rolls"))  # type: ignore[arg-type]
        data = DecisionData(
            split,
            worlds,
            folder,
            lifetime=lifetime or MapLifetime.EPISODIC,
            source=digest(file) if file is not None and file.exists() else "",
        )
        job = _Job(data, chosen, hyper, options, seed, device, validation)
        plan = job.fingerprint
        if out is not None and out.exists() and not overwrite:
            return _as_agent(load_finished(out, plan, None))
        partial = None if out is None else out.with_name(f"{out.name}.partial")
        if partial is not None and not overwrite:
            remove_damaged_checkpoint(partial)
        with print_messages() if verbose else nullcontext(), single_thread():
            model = job.execute(partial, overwrite=overwrite, tensorboard=tensorboard, progress=progress)
        if out is not None and partial is not None:
            with atomic_write(out) as stream:
                stream.write(encode_model(model))
            with exclusive_lock(partial):
                partial.unlink(missing_ok=True)
            if cache is None:
                shutil.rmtree(folder, ignore_errors=True)
    return _as_agent(model)


def _as_agent(model: Model) -> DecisionAgent:
    agent = model.agent()
    assert isinstance(agent, DecisionAgent)
    return agent


@dataclass(frozen=True, eq=False)
class _Job:
    """A training run with its messages and evaluations."""

    data: DecisionData
    config: DecisionConfig
    hyper: DecisionOptions
    options: DecisionTrainingOptions
    seed: int
    device: str
    validation: Split | None

    @property
    def fingerprint(self) -> str:
        """What decides the weights."""
        found = hashlib.blake2b(digest_size=16)
        for split in (self.data.split, *(() if self.validation is None else (self.validation,))):
            for e in split.episodes:
                found.update(repr((e.id, e.world_id, e.start.place, e.start.heading, e.goals, e.instruction)).encode())
        return plan_fingerprint(
            itinera_version(), self.config, self.hyper, self.options, self.seed, self.data.plan(), found.hexdigest()
        )

    def execute(
        self, checkpoint: Path | None, *, overwrite: bool, tensorboard: Path | None, progress: OnProgress | None
    ) -> Model:
        """The model after the last step; with validation that of the best evaluation."""
        model = new_model(self.data, self.config, self.hyper, self.seed)
        metadata: dict[str, Any] = {
            "steps": self.hyper.steps,
            "seed": self.seed,
            "episodes": len(self.data.split),
            "plan": self.fingerprint,
        }
        model = replace(model, card=msgspec.structs.replace(model.card, metadata=metadata))
        model.policy.to(self.device)
        total, scores = self.hyper.steps, list[GroundScores]()
        with TrainingLog("decision", total=total, every=min(100, max(1, total // 20)), folder=tensorboard) as log:

            def report(step: int, loss: float) -> None:
                log.on_step(step, loss)
                if progress is not None:
                    latest = scores[-1] if scores else None
                    progress(TrainingProgress(step, total, loss, latest, self.options.monitor))

            run = DecisionRun(self.data, model, self.hyper, self.seed)
            trainer = run.make_trainer(
                checkpoint=checkpoint,
                overwrite=overwrite,
                on_step=report,
                validation=self._validation(model, log, scores),
            )
            try:
                for step in trainer:
                    trainer.update(run.loss(step))
            except KeyboardInterrupt:
                after = "Run the same again to resume from its checkpoint." if checkpoint else "Nothing was written."
                _log.warning("Interrupted after step %d of %d. %s", trainer.step, total, after)
                raise
        model.policy.to("cpu")
        return self._describe_best(model, trainer)

    def _validation(self, model: Model, log: TrainingLog, scores: list[GroundScores]) -> Validation | None:
        held_out = self.validation
        if held_out is None:
            return None

        def evaluate(step: int) -> float:
            words = world_words(model)
            sources = make_sources(self.config, self.data.lifetime)
            table = evaluate_decisions(model, held_out, self.data.worlds, words, sources=sources)
            scores.append(GroundScores(table))
            log.log_scores(step, held_out.name, scores[-1], [name for name in METRICS if name in table])
            mean = table.mean(self.options.monitor)
            return -mean if self.options.monitor == "NE" else mean

        every = self.options.evaluate_every
        return Validation(evaluate, max(1, self.hyper.steps // 10) if every is None else every, self.options.patience)

    def _describe_best(self, model: Model, trainer: Trainer) -> Model:
        best = trainer.best
        if best is None or self.validation is None:
            return model
        found = {"validation": self.validation.name, "monitor": self.options.monitor, "score": abs(best.score)}
        metadata = {**model.card.metadata, **found, "best_step": best.step, "last_step": trainer.step}
        return replace(model, card=msgspec.structs.replace(model.card, metadata=metadata))
