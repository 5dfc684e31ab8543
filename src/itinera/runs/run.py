"""`Run.execute`: an agent acts in every episode or tour of a split, in several processes, resumably.

Start with `itinera.api.run`; `prepare.py` makes a run. One process: `rollout.py`; several: `workers.py`; interrupted
work: `resume.py`.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

from itinera.agents.agent import StopRun
from itinera.errors import ItineraError
from itinera.formats.native_predictions import read_predictions
from itinera.records import Ending, Predictions, Provenance, Rollout, Trajectory
from itinera.records.provenance import make_provenance
from itinera.records.shards import Shard, plan_part
from itinera.runs.config import RolloutConfig, RunConfig, TourJob, WorkerContext, load_worlds
from itinera.runs.context import make_context
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
from itinera.runs.outputs import RunWriter
from itinera.runs.resume import plan_fingerprint, shard_fingerprint
from itinera.runs.services import describe_settings
from itinera.runs.workers import check_limits, chunk_size, make_pool, make_sandbox, run_here, run_in_pool, run_on_engine
from itinera.tasks import Split

# Failures of the same kind at the same place in the first episodes, none of which went well: all others would fail too.
MAX_EQUAL_FAILURES = 5

CHUNK = 8  # rollouts per worker that are run before a run that may stop looks whether it should

OnRollout = Callable[[Rollout], None]


class Stop(Protocol):
    """Decides when a run has enough rollouts; they come in the order of the jobs."""

    rule: str  # part of the plan

    def add(self, rollout: Rollout) -> bool: ...
    def to_dict(self) -> Mapping[str, Any]: ...


_log = logging.getLogger("itinera")


@dataclass(frozen=True, eq=False)
class Run:
    """A run that is checked and ready to start."""

    split: Split
    config: RunConfig
    rollouts: RolloutConfig
    jobs: tuple[TourJob, ...]  # of all shards
    workers: int
    start_method: StartMethod
    max_episodes: int | None
    keep_going: bool = False
    shard: Shard | None = None
    engine: str | Engine = PROCESSES  # with another one, `workers` is what was asked for, 0 for one per core

    @property
    def block(self) -> range:
        """The indices of the jobs to run: those of the shard, or all."""
        return range(len(self.jobs)) if self.shard is None else self.shard.block(len(self.jobs))

    @property
    def total(self) -> int:
        """The number of episodes to run."""
        return sum(len(self.jobs[index].episodes) for index in self.block)

    def make_provenance(self, command: Sequence[str] = (), files: Mapping[str, str] | None = None) -> Provenance:
        """The provenance of the run; what was given as objects is in the digests only.

        `files` are the digests of the files that the agent was found to consist of, by name.
        """
        provenance = make_provenance(input_files(self.config), command, seed=self.rollouts.seed)
        return add_agent(provenance, self.config, files or {})

    def execute(
        self,
        *,
        out: Path | None = None,
        overwrite: bool = False,
        command: Sequence[str] = (),
        on_rollout: OnRollout | None = None,
        stop: Stop | None = None,
    ) -> Predictions:
        """The predictions; with `out`, they are written there and interrupted work is resumed.

        With `stop`, the jobs must be in random order, and the run ends with the first rollout that is enough.
        """
        report = on_rollout or (lambda rollout: None)
        if self.workers == 0 and self.rollouts.limit_seconds is not None and is_local(self.engine):
            _log.info("There is no time limit in this process (workers=0): an agent in it cannot be stopped.")
        try:
            return self._execute(out, overwrite, command, _InOrder(report, stop))
        except StopRun as stop:
            # Not the agent's mistake, so no episode is recorded for it.
            raise ItineraError(f"{stop} Run the same again to resume.") from None

    def _execute(self, out: Path | None, overwrite: bool, command: Sequence[str], report: _InOrder) -> Predictions:
        with _Runner(self) as runner:
            if out is None:
                return self._execute_in_memory(runner, command, report)
            provenance = self.make_provenance(command, runner.files)
            config = self.rollouts
            timing = {} if config.clock is None else config.clock.settings
            settings = describe_plan(
                provenance,
                self.config,
                protocol=f"{config.protocol.name} {config.protocol.digest}",
                limit_seconds=config.limit_seconds,
                record_probabilities=config.record_probabilities,
                record_maps=config.record_maps,
                max_episodes=self.max_episodes,
                episodes=None if self.split.part is None else self.split.part.digest,
                **timing,
                **report.settings,
            )
            plan = plan_fingerprint(sorted(settings.items()))
            ids = ((job.tour.id, *job.tour.episode_ids) for job in self.jobs)
            part = plan_part("run", self.shard, ids, plan, settings, total=len(self.jobs))
            own_plan = shard_fingerprint(plan, self.shard)
            with RunWriter(out, own_plan, overwrite=overwrite, record_maps=config.record_maps, part=part) as work:
                if work.finished:
                    _log.info(describe_comparison(provenance, self.config))
                    predictions = read_predictions(out)
                    for index, rollout in enumerate(predictions.rollouts):
                        report(index, rollout)
                    return predictions
                if done := work.count(self.block):
                    _log.info("%d of %d rollouts exist already; resuming.", done, len(self.block))
                    _log.info(describe_comparison(provenance, self.config))
                self._resume(work, runner, report)
                require_unchanged(runner.files)
                settings = {**describe_settings(self.config), **timing}
                work.finish(provenance, config.protocol, settings, first=report.kept, until=report.finding)
        return read_predictions(out)

    def _execute_in_memory(self, runner: _Runner, command: Sequence[str], report: _InOrder) -> Predictions:
        rollouts: dict[int, Rollout] = {}
        failures = _FailureCount(self)
        for index, rollout in runner.run_until(report, self.block):
            rollouts[index] = rollout
            failures.add(rollout)
            report(index, rollout)
        provenance = self.make_provenance(command, runner.files)
        ordered = tuple(rollouts[index] for index in self.block[: report.kept])
        return Predictions("", ordered, self.rollouts.protocol, provenance)

    def _resume(self, work: RunWriter, runner: _Runner, report: _InOrder) -> None:
        """Run the jobs that the writer has no records of.

        Until an episode has gone well, failed ones are not written: a run that is stopped keeps none of them.
        """
        left = [index for index in self.block if index not in work]
        failures = _FailureCount(self)
        for index in self.block:
            if index in work:
                rollout = work[index]
                failures.add(rollout)
                report(index, rollout)
        unwritten: list[tuple[int, Rollout]] = []
        try:
            for index, rollout in runner.run_until(report, left):
                unwritten.append((index, rollout))
                failures.add(rollout)
                if failures.are_tolerable:
                    _write(work, unwritten)
                report(index, rollout)
            _write(work, unwritten)
        except StopRun as stop:
            done = work.count(self.block)
            raise StopRun(f"{stop} {done} of {len(self.block)} rollouts are finished.") from None
        except KeyboardInterrupt:
            done = work.count(self.block)
            _log.warning("Interrupted with %d of %d rollouts. Run the same again to resume.", done, len(self.block))
            raise


def _write(work: RunWriter, rollouts: list[tuple[int, Rollout]]) -> None:
    """Write rollouts, and empty the list."""
    for index, rollout in rollouts:
        work.add(index, rollout)
    rollouts.clear()


class _InOrder:
    """Reports rollouts as they finish; if the run may stop, in the order of the jobs, up to the one that is enough."""

    def __init__(self, report: OnRollout, stop: Stop | None) -> None:
        self._report, self._stop = report, stop
        self._waiting: dict[int, Rollout] = {}
        self._count = 0  # rollouts that the rule has taken
        self.is_done = False

    def __call__(self, index: int, rollout: Rollout) -> None:
        if self._stop is None:
            self._report(rollout)
            return
        self._waiting[index] = rollout
        while not self.is_done and self._count in self._waiting:
            following = self._waiting.pop(self._count)
            self._count += 1
            self.is_done = self._stop.add(following)
            self._report(following)

    @property
    def may_stop(self) -> bool:
        return self._stop is not None

    @property
    def settings(self) -> dict[str, object]:
        """What decides the result: the rule, because the jobs are in random order then."""
        return {} if self._stop is None else {"until": self._stop.rule}

    @property
    def kept(self) -> int | None:
        """The number of rollouts of the result, the first ones; None for all."""
        return None if self._stop is None else self._count

    @property
    def finding(self) -> Mapping[str, Any] | None:
        return None if self._stop is None else self._stop.to_dict()


class _Runner:
    """The processes of a run, or this one, or those of another engine. Use it in a `with` statement."""

    def __init__(self, run: Run) -> None:
        check_limits(run.workers, run.rollouts.limit_seconds)
        self._run, self._config = run, run.rollouts
        self._make = partial(make_context, run.config.without_answers())
        # On graphs the parent checks every move that a worker reports; on the ground `itinera replay` does.
        worlds = (
            None if run.rollouts.protocol.on_ground else partial(load_worlds, run.config.worlds, self._config.protocol)
        )
        self._engine: Engine | None = None
        local = is_local(run.engine)
        self._sandbox = None if local else make_sandbox(self._make, self._config, worlds)
        self._pool = make_pool(self._make, self._config, run.start_method, worlds) if run.workers and local else None
        self._stack = ExitStack()

    def __enter__(self) -> _Runner:
        if self._pool is not None:
            self._stack.enter_context(self._pool)
        if self._sandbox is not None:
            self._engine = self._stack.enter_context(open_engine(self._run.engine, self._run.workers or None))
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    @cached_property
    def _context(self) -> WorkerContext:
        context = self._make()
        close = getattr(context.agent, "close", None)
        if self._run.config.is_remote or self._run.config.is_service or self._run.config.isolate:
            self._stack.callback(close or (lambda: None))
        return context

    @cached_property
    def files(self) -> Mapping[str, str]:
        """The digests of the files that the agent consists of, if it is somebody else's Python code."""
        if not self._run.config.is_foreign or not self._run.jobs:
            return {}
        if self._engine is not None and self._sandbox is not None:
            return read_agent_files(self._engine, self._sandbox, node_files(self._run.config))
        return self._context.files if self._pool is None else self._pool.read_files()

    def run_until(self, report: _InOrder, indices: Sequence[int]) -> Iterator[tuple[int, Rollout]]:
        """The index and the rollout of each of these jobs, in the order in which they finish, until it is enough.

        Workers keep to their house as long as they can, so a run that may stop gives them its jobs in chunks: what was
        run beyond the last rollout that counts is at most a chunk, and is left out.
        """
        size = CHUNK * max(1, self._run.workers) if report.may_stop else 0
        for start in range(0, len(indices), size or max(len(indices), 1)):
            chunk = indices[start : start + size] if size else indices
            for number, rollout in self.run([self._run.jobs[index] for index in chunk]):
                if report.is_done:
                    return
                yield chunk[number], rollout

    def run(self, jobs: Sequence[TourJob]) -> Iterator[tuple[int, Rollout]]:
        """The index of each tour and its rollout, in the order in which they finish."""
        if not jobs:
            return iter(())
        if self._engine is not None and self._sandbox is not None:
            size = chunk_size(self._run.jobs, self._config.protocol, self._engine.workers)
            files = node_files(self._run.config)
            return run_on_engine(self._engine, self._sandbox, jobs, size=size, files=files)
        if self._pool is None:
            return run_here(self._context, jobs, self._config)
        return run_in_pool(self._pool, jobs, self._run.workers)


class _FailureCount:
    """Counts equal failures, and stops a run in which nothing else happens."""

    def __init__(self, run: Run) -> None:
        self._left, self.are_tolerable = len(run.block), run.keep_going
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, rollout: Rollout) -> None:
        """Count the failures of a rollout; raises ItineraError if enough were equal and others are to come."""
        self._left -= 1
        for trajectory in rollout.trajectories:
            if trajectory.ending is not Ending.FAILED:
                self.are_tolerable = True
                continue
            kind = _failure_kind(trajectory)
            self._counts[kind] += 1
            if self._counts[kind] >= MAX_EQUAL_FAILURES and self._left and not self.are_tolerable:
                reason = trajectory.notes.get("traceback") or trajectory.notes.get("failed", "")
                raise ItineraError(
                    f"The agent failed in the same way in all of {self._counts.total()} episodes, so the run was "
                    f"stopped; correct the agent, or give --keep-going (keep_going=True).\n{reason}".rstrip()
                )


def _failure_kind(trajectory: Trajectory) -> tuple[str, str]:
    """The type of an error and the line that raised it; for other failures the reason."""
    reason, traceback = (str(trajectory.notes.get(name, "")) for name in ("failed", "traceback"))
    lines = re.findall(r'^  File ".*", line \d+', traceback, flags=re.MULTILINE)
    kind = reason.partition(":")[0]
    # In another process, the place is unknown here.
    return (kind, lines[-1]) if lines and kind != "AgentFailure" else (reason, "")
