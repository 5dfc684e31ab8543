"""`prepare_run` and `Run.execute`: an agent acts in every episode or tour of a split, in several processes, resumably.

Start with `itinera.api.run`. One process: `rollout.py`; several: `workers.py`; interrupted work: `resume.py`.
"""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itinera.errors import BadArgument, ItineraError
from itinera.formats.native import Header, header_line
from itinera.formats.native_predictions import decode_rollout, encode_rollout, read_predictions
from itinera.records import Predictions, Provenance, Rollout
from itinera.records.provenance import make_provenance
from itinera.runs.config import (
    RolloutConfig,
    RunConfig,
    TourJob,
    describe_agent,
    input_files,
    load_tasks,
    make_agent,
    make_context,
    make_plan,
    object_digests,
    require_matching,
    requirements_for,
    select_protocol,
)
from itinera.runs.resume import ResumableWriter
from itinera.runs.workers import StartMethod, count_workers, run_tours
from itinera.simulators.factory import apply_drive, make_simulator
from itinera.tasks import Protocol, Split, Tour
from itinera.worlds import World

if TYPE_CHECKING:
    from itinera.agents.agent import Agent
    from itinera.simulators.sensors import CameraSensor

OnRollout = Callable[[Rollout], None]
_log = logging.getLogger("itinera")


@dataclass(frozen=True, eq=False)
class Run:
    """A run that is checked and ready to start."""

    split: Split
    config: RunConfig
    rollouts: RolloutConfig
    jobs: tuple[TourJob, ...]
    workers: int
    start_method: StartMethod
    max_episodes: int | None

    @property
    def total(self) -> int:
        """The number of episodes."""
        return sum(len(job.episodes) for job in self.jobs)

    def make_provenance(self, command: Sequence[str] = ()) -> Provenance:
        """The provenance of the run; what was given as objects is in the digests only."""
        provenance = make_provenance(input_files(self.config), command, seed=self.rollouts.seed)
        return replace(provenance, digests={**provenance.digests, **object_digests(self.config)})

    def execute(
        self,
        *,
        out: Path | None = None,
        overwrite: bool = False,
        command: Sequence[str] = (),
        on_rollout: OnRollout | None = None,
    ) -> Predictions:
        """The predictions; with `out`, they are written there and interrupted work is resumed."""
        report = on_rollout or (lambda rollout: None)
        if self.workers == 0 and self.rollouts.limit_seconds is not None:
            _log.info("There is no time limit in this process (workers=0): an agent in it cannot be stopped.")
        if out is None:
            return self._execute_in_memory(command, report)
        provenance = self.make_provenance(command)
        config = self.rollouts
        decisive = config.protocol.digest, config.limit_seconds, config.record_probabilities, self.max_episodes
        plan = make_plan(provenance, self.config, *decisive)
        with ResumableWriter(out, plan, overwrite=overwrite) as work:
            if work.finished:
                predictions = read_predictions(out)
                for rollout in predictions.rollouts:
                    report(rollout)
                return predictions
            self._resume(work, report)
            header = Header(itinera="predictions", provenance=provenance, protocol=config.protocol, plan=plan)
            work.finish(head=header_line(header))
        return read_predictions(out)

    def _execute_in_memory(self, command: Sequence[str], report: OnRollout) -> Predictions:
        rollouts: dict[int, Rollout] = {}
        for index, rollout in self._run(self.jobs):
            rollouts[index] = rollout
            report(rollout)
        provenance = self.make_provenance(command)
        ordered = tuple(rollouts[index] for index in range(len(self.jobs)))
        return Predictions("", ordered, self.rollouts.protocol, provenance)

    def _resume(self, work: ResumableWriter, report: OnRollout) -> None:
        """Run the jobs that the writer has no records of."""
        left = [index for index in range(len(self.jobs)) if index not in work]
        for index in range(len(self.jobs)):
            if index in work:
                report(decode_rollout(work[index]))
        if len(work):
            _log.info("%d of %d rollouts exist already; resuming.", len(work), len(self.jobs))
        try:
            with closing(self._run([self.jobs[index] for index in left])) as rollouts:
                for number, rollout in rollouts:
                    work.add(left[number], encode_rollout(rollout) + b"\n")
                    report(rollout)
        except KeyboardInterrupt:
            _log.warning("Interrupted with %d of %d rollouts. Run the same again to resume.", len(work), len(self.jobs))
            raise

    def _run(self, jobs: Sequence[TourJob]) -> Any:
        make = partial(make_context, self.config)
        return run_tours(make, jobs, self.rollouts, workers=self.workers, start_method=self.start_method)


def prepare_run(
    agent: str | Sequence[str] | Agent | type[Any] | None,
    tasks: Split | str | PathLike[str],
    worlds: Mapping[str, World] | str | PathLike[str],
    *,
    command: str | None = None,
    tours: str | PathLike[str] | None = None,
    protocol: str | Protocol | None = None,
    seed: int = 0,
    workers: int | None = None,
    start_method: StartMethod | None = None,
    limit_seconds: float | None = None,
    reply_seconds: float | None = None,
    max_episodes: int | None = None,
    record_probabilities: bool = False,
    views: str | None = None,
    objects: str | PathLike[str] | None = None,
    rooms: str | PathLike[str] | None = None,
    camera: CameraSensor | None = None,
    drive: str | None = None,
    vmax: float | None = None,
    wmax: float | None = None,
) -> Run:
    """A run with everything checked that can be checked before it starts; see `itinera.api.run`."""
    agent, is_command = parse_agent(agent, command)
    given_tasks = tasks if isinstance(tasks, Split) else _path("tasks", tasks, "a Split (see read_tasks)")
    given_worlds = worlds if isinstance(worlds, Mapping) else _path("worlds", worlds, "worlds by id (see read_worlds)")
    tours_file = None if tours is None else _path("tours", tours, "")
    split = load_tasks(given_tasks, tours_file)
    chosen = apply_drive(select_protocol(protocol, split), drive, vmax=vmax, wmax=wmax)
    require_matching(chosen, split)
    config = RunConfig(agent, given_tasks, given_worlds, chosen, tours_file, is_command, reply_seconds)
    requirements = requirements_for(config)
    if requirements is not None or any(option is not None for option in (views, objects, rooms, camera)):
        from itinera.runs.observations import configure_observations

        observations = configure_observations(
            split,
            config.worlds_path,
            views=views,
            objects=None if objects is None else Path(objects),
            rooms=None if rooms is None else Path(rooms),
            camera=camera,
            requirements=requirements,
        )
        config = replace(config, observations=observations)
    count = choose_workers(workers, config)
    return Run(
        split,
        config,
        RolloutConfig(chosen, seed, limit_seconds, record_probabilities),
        tuple(make_jobs(split, max_episodes)),
        count,
        choose_start_method(config.is_portable, start_method) if count else "spawn",
        max_episodes,
    )


def parse_agent(
    agent: str | Sequence[str] | Agent | type[Any] | None, command: str | None
) -> tuple[str | Agent | type[Any], bool]:
    if (agent is None) == (command is None):
        raise BadArgument("Give an agent or the command that starts one (--agent or --agent-command), one of them.")
    if command is not None:
        return command, True
    if isinstance(agent, (list, tuple)):
        return shlex.join(map(str, agent)), True
    return agent, False  # type: ignore[return-value]


def _path(name: str, value: object, alternative: str) -> Path:
    if isinstance(value, (str, PathLike)):
        return Path(value)
    kinds = f"{alternative} or the path of a file" if alternative else "the path of a file"
    raise BadArgument(f"{name} must be {kinds}, not {type(value).__name__}.")


def make_jobs(split: Split, max_episodes: int | None = None) -> list[TourJob]:
    """The tours of a split, or its episodes as tours of one; only the first `max_episodes` episodes."""
    if max_episodes is not None and max_episodes < 1:
        raise BadArgument(f"max_episodes must be ≥ 1 (got {max_episodes}); omit it for no limit.")
    tours = split.tours or tuple(Tour(e.id, e.world_id, (e.id,)) for e in split.episodes)
    jobs, left = [], len(split.episodes) if max_episodes is None else max_episodes
    for tour in tours:
        ids = tour.episode_ids[:left]
        left -= len(ids)
        if ids:
            jobs.append(TourJob(replace(tour, episode_ids=ids), tuple(split.by_id[name] for name in ids)))
    return jobs


def choose_workers(workers: int | None, config: RunConfig) -> int:
    """The number asked for; else one per core, and this process alone for objects that only exist in it."""
    if workers is not None:
        return workers
    if isinstance(config.agent, str):
        return count_workers()
    _log.info("The agent is an object of this process and runs in it; workers=N runs it in N processes.")
    return 0


def choose_start_method(is_portable: bool, start_method: StartMethod | None = None) -> StartMethod:
    """How workers start: fresh where possible, else as copies of this process, which have its objects.

    A fresh process would run an unguarded script again, so workers of a script are copies too.
    """
    if start_method is not None:
        return start_method
    main = sys.modules["__main__"]
    is_script = main.__spec__ is None and getattr(main, "__file__", None) is not None
    if is_portable and not is_script:
        return "spawn"
    from multiprocessing import get_all_start_methods

    if "fork" in get_all_start_methods():
        return "fork"
    if is_portable:
        return "spawn"
    raise BadArgument(
        "On this system, worker processes cannot use objects of this one. Give the agent as module:Class and tasks and "
        "worlds as paths, or workers=0."
    )


def check_any_agent(
    agent: str | Sequence[str] | Agent | type[Any] | None,
    *,
    command: str | None = None,
    protocol: str | Protocol = "r2r",
    drive: str | None = None,
) -> Agent:
    """The agent, made and checked; see `itinera.api.check_agent`."""
    from itinera.agents.checks import VIEW_SIZE, check_agent, default_camera

    given, is_command = parse_agent(agent, command)
    chosen = apply_drive(select_protocol(protocol, Split("", ())), drive)
    config = RunConfig(given, Split("", ()), {}, chosen, is_command=is_command)
    if config.is_named:
        raise BadArgument(f"{given} is one of itinera's own agents. Give yours: module:Class, a class or an object.")
    requirements = requirements_for(config)
    columns = () if requirements is None else requirements.columns
    try:
        made = make_agent(config, {}, columns=columns)
    except ItineraError:
        raise
    except Exception as error:
        raise BadArgument(
            f"{describe_agent(given)}() failed: {type(error).__name__}: {error}. It is called without arguments."
        ) from error
    if chosen.on_ground:
        check_agent(made, body="ground", simulator=make_simulator(chosen, camera=default_camera()))
    else:
        check_agent(made, view_size=len(columns) or VIEW_SIZE)
    return made
