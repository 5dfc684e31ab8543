"""`prepare_study` and `StudyRun.execute`: probe an agent in every trial of a study, in several processes, resumably.

Start with `itinera.api.run_study`. One trial and many: `probing.py`; interrupted work: `resume.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itinera.agents.loading import OptionValue, describe_agent
from itinera.errors import BadArgument
from itinera.formats.action_probabilities import ActionProbabilities, encode_record, read_action_probabilities
from itinera.formats.annotations import WorldFiles
from itinera.formats.native import Header, header_line
from itinera.formats.trials import Study, read_trials
from itinera.records import Provenance
from itinera.records.action_probabilities import ActionDistribution
from itinera.records.provenance import make_provenance
from itinera.records.shards import Shard, plan_part
from itinera.runs.config import RunConfig
from itinera.runs.context import load_agent, read_descriptions, requirements_for
from itinera.runs.engines import Engine, is_local, open_engine
from itinera.runs.engines.engine import PROCESSES
from itinera.runs.engines.sandbox import read_agent_files
from itinera.runs.engines.worker_process import StartMethod
from itinera.runs.identity import (
    add_agent,
    describe_comparison,
    describe_plan,
    input_files,
    node_files,
    require_unchanged,
)
from itinera.runs.observations import configure_observations, open_views, view_columns
from itinera.runs.prepare import check_seed, choose_start_method, choose_workers, configure_agent, parse_agent
from itinera.runs.probing import (
    MakeContext,
    ProbeContext,
    check_workers,
    make_probe_pool,
    make_probe_sandbox,
    probe_here,
    probe_in_pool,
    probe_on_engine,
)
from itinera.runs.resume import ResumableWriter, finish_part, plan_fingerprint, shard_fingerprint
from itinera.simulators.factory import make_simulator
from itinera.tasks import Split
from itinera.tasks.protocol import RXR
from itinera.tasks.trial import Trial
from itinera.worlds import NavGraph, World

if TYPE_CHECKING:
    from itinera.agents.agent import Agent

Probe = Callable[[Sequence[Trial]], Iterator[list[tuple[int, ActionDistribution]]]]
OnBatch = Callable[[int], None]  # called with the number of trials that were completed
_log = logging.getLogger("itinera")


@dataclass(frozen=True, eq=False)
class StudyConfig(RunConfig):
    """The configuration of a study's run; its tasks are a file of trials, or the episodes of the trials."""

    rooms: Path | None = None  # a table of rooms, for the expert

    def read_tasks(self) -> Split:
        """The episodes of the trials."""
        if isinstance(self.tasks, Split):
            return self.tasks
        return make_split(read_trials(self.tasks), self.tasks.stem)


def make_split(study: Study, name: str = "") -> Split:
    """The episodes of a study's trials."""
    return Split(name or study.name or "trials", tuple(trial.episode for trial in study.trials))


@dataclass(frozen=True, eq=False)
class StudyRun:
    """A run of a study that is checked and ready to start."""

    trials: tuple[Trial, ...]  # of all shards
    config: StudyConfig
    name: str  # of the agent
    seed: int
    workers: int
    start_method: StartMethod
    rollout_skills: frozenset[str]  # in whose trials the agent continues with greedy actions
    shard: Shard | None = None
    engine: str | Engine = PROCESSES

    @property
    def block(self) -> range:
        """The indices of the trials to run: those of the shard, or all."""
        return range(len(self.trials)) if self.shard is None else self.shard.block(len(self.trials))

    def make_provenance(self, command: Sequence[str] = (), files: Mapping[str, str] | None = None) -> Provenance:
        """The provenance of the run; what was given as objects is in the digests only; `files` as in `Run`."""
        inputs = input_files(self.config)
        inputs = {"trials": inputs.pop("tasks"), **inputs, "rooms": self.config.rooms or inputs.get("rooms")}
        provenance = add_agent(make_provenance(inputs, command, seed=self.seed), self.config, files or {})
        digests = dict(provenance.digests)
        if "tasks" in digests:
            digests["trials"] = digests.pop("tasks")
        return replace(provenance, digests=digests)

    def execute(
        self,
        *,
        out: Path | None = None,
        overwrite: bool = False,
        command: Sequence[str] = (),
        on_batch: OnBatch | None = None,
    ) -> ActionProbabilities:
        """The action probabilities; with `out`, they are written there and interrupted work is resumed."""
        report = on_batch or (lambda count: None)
        check_workers(self.workers)
        with ExitStack() as stack:
            files, probe = self._open(stack)
            provenance = self.make_provenance(command, files)
            if out is None:
                own = [self.trials[index] for index in self.block]
                found = dict(pair for batch in self._report(probe(own), report) for pair in batch)
                return ActionProbabilities(self.name, tuple(found[k] for k in range(len(own))), provenance)
            settings = describe_plan(provenance, self.config, name=self.name)
            plan = plan_fingerprint(sorted(settings.items()))
            ids = ((trial.id,) for trial in self.trials)
            part = plan_part("study run", self.shard, ids, plan, settings, total=len(self.trials))
            own_plan = shard_fingerprint(plan, self.shard)
            with ResumableWriter(out, own_plan, overwrite=overwrite) as work:
                if work.finished or len(work):
                    _log.info(describe_comparison(provenance, self.config))
                if not work.finished:
                    self._resume(work, probe, report)
                    require_unchanged(files)
                    header = Header(
                        itinera="action-probabilities",
                        agent=self.name,
                        provenance=provenance,
                        plan=own_plan,
                        shard=finish_part(part, work),
                    )
                    work.finish(head=header_line(header))
        return read_action_probabilities(out)

    def _open(self, stack: ExitStack) -> tuple[Mapping[str, str], Probe]:
        """The digests of the agent's files, and a function that probes it; processes end with the stack."""
        make = partial(make_probe_context, self.config.without_answers())
        if not is_local(self.engine):
            return self._open_engine(stack, make)
        if self.workers == 0:
            context = make()
            return context.files, lambda trials: probe_here(context, trials, self.seed, self.rollout_skills)
        is_expert = self.config.is_privileged
        pool = make_probe_pool(make, self.seed, self.rollout_skills, self.start_method, privileged=is_expert)
        stack.enter_context(pool)
        files = pool.read_files() if self.config.is_foreign and self.trials else {}
        return files, lambda trials: probe_in_pool(pool, trials, self.workers)

    def _open_engine(self, stack: ExitStack, make: MakeContext) -> tuple[Mapping[str, str], Probe]:
        engine = stack.enter_context(open_engine(self.engine, self.workers or None))
        sandbox = make_probe_sandbox(make, self.seed, self.rollout_skills, privileged=self.config.is_privileged)
        inputs = [*node_files(self.config), *filter(None, [self.config.rooms])]
        is_foreign = self.config.is_foreign and bool(self.trials)
        files = read_agent_files(engine, sandbox, inputs) if is_foreign else {}
        return files, lambda trials: probe_on_engine(engine, sandbox, trials, inputs)

    def _resume(self, work: ResumableWriter, probe: Probe, report: OnBatch) -> None:
        """Probe the trials that the writer has no records of."""
        left = [index for index in self.block if index not in work]
        if len(work):
            _log.info("%d of %d trials exist already; resuming.", len(work), len(self.block))
            report(len(work))
        try:
            for batch in probe([self.trials[index] for index in left]):
                for number, distribution in batch:
                    work.add(left[number], encode_record(distribution) + b"\n")
                report(len(batch))
        except KeyboardInterrupt:
            _log.warning("Interrupted with %d of %d trials. Run the same again to resume.", len(work), len(self.block))
            raise

    def _report(self, batches: Iterator[list[Any]], report: OnBatch) -> Iterator[list[Any]]:
        for batch in batches:
            report(len(batch))
            yield batch


def prepare_study(
    agent: str | PathLike[str] | Sequence[str] | Agent | type[Any] | None,
    study: Study | Path,
    worlds: Mapping[str, World] | Path,
    *,
    command: str | None = None,
    name: str | None = None,
    seed: int = 0,
    workers: int | None = None,
    start_method: StartMethod | None = None,
    reply_seconds: float | None = None,
    views: str | None = None,
    objects: Path | None = None,
    rooms: Path | None = None,
    rollout_skills: frozenset[str] = frozenset(),
    agent_options: Mapping[str, OptionValue] | None = None,
    agent_files: Sequence[str | PathLike[str]] = (),
    isolate: bool = False,
    policy: str | type[Any] | None = None,
    shard: Shard | None = None,
    engine: str | Engine = PROCESSES,
) -> StudyRun:
    """A run of a study with everything checked that can be checked before it starts; see `itinera.api.run_study`."""
    check_seed(seed)
    given, is_command = parse_agent(agent, command)
    read = read_trials(study) if isinstance(study, Path) else study
    tasks = study if isinstance(study, Path) else make_split(study)
    config = StudyConfig(given, tasks, worlds, RXR, None, is_command, reply_seconds, rooms=rooms)
    config = configure_agent(config, agent_options, agent_files, isolate=isolate, policy=policy)
    requirements = requirements_for(config)
    has_views = views is not None or bool(getattr(requirements, "columns", ()))
    observations = configure_observations(
        make_split(read),
        config.worlds_path,
        views=views,
        objects=objects if has_views else None,
        rooms=rooms if has_views else None,
        requirements=requirements,
    )
    config = replace(config, observations=observations)
    count = choose_workers(workers, config, engine)
    if count and is_local(engine) and not config.is_portable:
        if workers is not None:
            raise BadArgument(
                "Worker processes need the agent by name (or as module:Class), and trials and worlds as paths. "
                "Give these, or workers=0."
            )
        count = 0
    start = choose_start_method(config.is_portable, start_method) if count and is_local(engine) else "spawn"
    called = name or describe_agent(given)
    return StudyRun(read.trials, config, called, seed, count, start, rollout_skills, shard, engine)


def make_probe_context(config: StudyConfig) -> ProbeContext:
    """The agents, simulator and worlds of a configuration."""
    worlds = config.worlds
    if isinstance(worlds, Path):
        worlds = WorldFiles(worlds, rooms=config.rooms).read(objects=False)
    views = open_views(config.observations, config.worlds_path, worlds)
    simulator = make_simulator(config.protocol, views=views, descriptions=read_descriptions(config))
    make, files = _agent_maker(config, worlds, view_columns(views))
    return ProbeContext(make, simulator, worlds, files)


def _agent_maker(
    config: StudyConfig, worlds: Mapping[str, World], columns: tuple[str, ...]
) -> tuple[Callable[[Trial], Agent], Mapping[str, str]]:
    if isinstance(config.agent, str) and config.agent == "expert":
        return (lambda trial: make_trial_expert(trial, worlds)), {}
    if isinstance(config.agent, str) and config.agent == "forward":
        from itinera.agents.baselines import ForwardBiasedAgent

        forward = ForwardBiasedAgent()  # never stops: in a study it is the baseline for where agents go
        return (lambda trial: forward), {}
    agent, files = load_agent(config, worlds, columns=columns)
    return (lambda trial: agent), files


def make_trial_expert(trial: Trial, worlds: Mapping[str, World]) -> Agent:
    """A shortest-path expert that knows the target of a trial."""
    from itinera.agents.oracle import GraphExpert

    world = worlds[trial.episode.world_id]
    goals = trial.episode.goals
    if trial.arm == "intervention" and not trial.target.get("stop"):
        goals = tuple(trial.target.get("nodes") or _room_nodes(trial, world))
    assert isinstance(world.space, NavGraph)
    return GraphExpert(world.space, goals)


def _room_nodes(trial: Trial, world: World) -> tuple[str, ...]:
    if not world.rooms:
        raise BadArgument(f"The expert needs the rooms of world {world.id}: give a table of rooms as --rooms (rooms=).")
    assert isinstance(world.space, NavGraph)
    nodes = world.space.index  # tables of rooms also list nodes that a graph leaves out
    label = trial.target.get("room")
    return tuple(node for node, room in world.rooms.items() if room.label == label and node in nodes)
