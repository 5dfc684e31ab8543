"""`prepare_run` and `Run.execute`: an agent acts in every episode or tour of a split, in several processes, resumably.

Start with `itinera.api.run`. One process: `rollout.py`; several: `workers.py`; interrupted work: `resume.py`.
"""

from __future__ import annotations

import logging
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from itinera.agents.agent import StopRun
from itinera.agents.loading import OptionValue, check_options, describe_agent
from itinera.agents.services.settings import is_web_agent
from itinera.errors import BadArgument, ItineraError
from itinera.formats.native_predictions import read_predictions
from itinera.records import Ending, Predictions, Provenance, Rollout, Trajectory
from itinera.records.provenance import digest, make_provenance
from itinera.runs.config import (
    ObservationConfig,
    RolloutConfig,
    RunConfig,
    TourJob,
    WorkerContext,
    agent_digests,
    agent_files,
    input_files,
    load_tasks,
    load_worlds,
    make_agent,
    make_context,
    make_plan,
    object_digests,
    require_matching,
    requirements_for,
    select_protocol,
)
from itinera.runs.outputs import RunWriter, parse_record
from itinera.runs.services import ServiceRequest, describe_settings, finish_service, start_service
from itinera.runs.worker_process import StartMethod
from itinera.runs.workers import check_limits, count_workers, make_pool, run_here, run_in_pool
from itinera.simulators.factory import apply_drive, make_simulator
from itinera.tasks import Protocol, Split, Tour
from itinera.worlds import World

if TYPE_CHECKING:
    from itinera.agents.agent import Agent
    from itinera.formats.episode_selection import Selection
    from itinera.simulators.sensors import CameraSensor

# Failures of the same kind at the same place in the first episodes, none of which went well: all others would fail too.
MAX_EQUAL_FAILURES = 5

RunConfigType = TypeVar("RunConfigType", bound=RunConfig)
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
    keep_going: bool = False

    @property
    def total(self) -> int:
        """The number of episodes."""
        return sum(len(job.episodes) for job in self.jobs)

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
    ) -> Predictions:
        """The predictions; with `out`, they are written there and interrupted work is resumed."""
        report = on_rollout or (lambda rollout: None)
        if self.workers == 0 and self.rollouts.limit_seconds is not None:
            _log.info("There is no time limit in this process (workers=0): an agent in it cannot be stopped.")
        try:
            return self._execute(out, overwrite, command, report)
        except StopRun as stop:
            # Not the agent's mistake, so no episode is recorded for it.
            raise ItineraError(f"{stop} Run the same again to resume.") from None

    def _execute(self, out: Path | None, overwrite: bool, command: Sequence[str], report: OnRollout) -> Predictions:
        with _Runner(self) as runner:
            if out is None:
                return self._execute_in_memory(runner, command, report)
            provenance = self.make_provenance(command, runner.files)
            config = self.rollouts
            decisive = config.protocol.digest, config.limit_seconds, config.record_probabilities, self.max_episodes
            part = self.split.part
            more = [*([] if part is None else [part.digest]), *(["maps"] if config.record_maps else [])]
            plan = make_plan(provenance, self.config, *decisive, *more)
            with RunWriter(out, plan, overwrite=overwrite, record_maps=config.record_maps) as work:
                if work.finished:
                    _log.info(describe_comparison(provenance, self.config))
                    predictions = read_predictions(out)
                    for rollout in predictions.rollouts:
                        report(rollout)
                    return predictions
                if done := work.count(len(self.jobs)):
                    _log.info("%d of %d rollouts exist already; resuming.", done, len(self.jobs))
                    _log.info(describe_comparison(provenance, self.config))
                self._resume(work, runner, report)
                require_unchanged(runner.files)
                work.finish(provenance, config.protocol, describe_settings(self.config))
        return read_predictions(out)

    def _execute_in_memory(self, runner: _Runner, command: Sequence[str], report: OnRollout) -> Predictions:
        rollouts: dict[int, Rollout] = {}
        failures = _FailureCount(self)
        for index, rollout in runner.run(self.jobs):
            rollouts[index] = rollout
            failures.add(rollout)
            report(rollout)
        provenance = self.make_provenance(command, runner.files)
        ordered = tuple(rollouts[index] for index in range(len(self.jobs)))
        return Predictions("", ordered, self.rollouts.protocol, provenance)

    def _resume(self, work: RunWriter, runner: _Runner, report: OnRollout) -> None:
        """Run the jobs that the writer has no records of.

        Until an episode has gone well, failed ones are not written: a run that is stopped keeps none of them.
        """
        left = [index for index in range(len(self.jobs)) if index not in work]
        failures = _FailureCount(self)
        for index in range(len(self.jobs)):
            if index in work:
                rollout = work[index]
                failures.add(rollout)
                report(rollout)
        unwritten: list[tuple[int, Rollout]] = []
        try:
            for number, rollout in runner.run([self.jobs[index] for index in left]):
                unwritten.append((left[number], rollout))
                failures.add(rollout)
                if failures.are_tolerable:
                    _write(work, unwritten)
                report(rollout)
            _write(work, unwritten)
        except StopRun as stop:
            done = work.count(len(self.jobs))
            raise StopRun(f"{stop} {done} of {len(self.jobs)} rollouts are finished.") from None
        except KeyboardInterrupt:
            done = work.count(len(self.jobs))
            _log.warning("Interrupted with %d of %d rollouts. Run the same again to resume.", done, len(self.jobs))
            raise


def _write(work: RunWriter, rollouts: list[tuple[int, Rollout]]) -> None:
    """Write rollouts, and empty the list."""
    for index, rollout in rollouts:
        work.add(index, rollout)
    rollouts.clear()


class _Runner:
    """The processes of a run, or this one. Use it in a `with` statement."""

    def __init__(self, run: Run) -> None:
        check_limits(run.workers, run.rollouts.limit_seconds)
        self._run, self._config = run, run.rollouts
        self._make = partial(make_context, run.config.without_answers())
        # On graphs the parent checks every move that a worker reports; on the ground `itinera replay` does.
        worlds = (
            None if run.rollouts.protocol.on_ground else partial(load_worlds, run.config.worlds, self._config.protocol)
        )
        self._pool = make_pool(self._make, self._config, run.start_method, worlds) if run.workers else None
        self._stack = ExitStack()

    def __enter__(self) -> _Runner:
        if self._pool is not None:
            self._stack.enter_context(self._pool)
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

    @property
    def files(self) -> Mapping[str, str]:
        """The digests of the files that the agent consists of, if it is somebody else's Python code."""
        if not self._run.config.is_foreign or not self._run.jobs:
            return {}
        return self._context.files if self._pool is None else self._pool.read_files()

    def run(self, jobs: Sequence[TourJob]) -> Iterator[tuple[int, Rollout]]:
        """The index of each tour and its rollout, in the order in which they finish."""
        if not jobs:
            return iter(())
        if self._pool is None:
            return run_here(self._context, jobs, self._config)
        return run_in_pool(self._pool, jobs, self._run.workers)


class _FailureCount:
    """Counts equal failures, and stops a run in which nothing else happens."""

    def __init__(self, run: Run) -> None:
        self._left, self.are_tolerable = len(run.jobs), run.keep_going
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


def add_agent(provenance: Provenance, config: RunConfig, files: Mapping[str, str]) -> Provenance:
    """The provenance with the files of the agent, and with what was given as objects."""
    names, digests = agent_digests(config, files)
    return replace(
        provenance,
        inputs={**provenance.inputs, **names},
        digests={**provenance.digests, **digests, **object_digests(config, files)},
    )


def describe_comparison(provenance: Provenance, config: RunConfig) -> str:
    """What was compared, by digest, before work was resumed."""
    named = [f"{role} {name}" for role, name in provenance.inputs.items()]
    others = [role for role in provenance.digests if role not in provenance.inputs]
    text = f"Unchanged by digest: {', '.join([*named, *others])}."
    if not config.is_foreign and not config.is_remote:
        return text
    return f"{text} Files that the agent reads without declaring them (files, --agent-file) were not compared."


def require_unchanged(files: Mapping[str, str]) -> None:
    """Refuse to finish a run whose agent was changed meanwhile."""
    changed = [name for name, value in files.items() if not Path(name).exists() or digest(Path(name)) != value]
    if changed:
        raise ItineraError(
            f"The files of the agent changed during the run: {', '.join(changed)}. Restore them and run the same "
            "again, or start anew with --overwrite (overwrite=True)."
        )


def prepare_run(
    agent: str | PathLike[str] | Sequence[str] | Agent | type[Any] | None,
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
    episodes: Selection | None = None,
    record_probabilities: bool = False,
    record: Sequence[str] = (),
    views: str | None = None,
    objects: str | PathLike[str] | None = None,
    rooms: str | PathLike[str] | None = None,
    camera: CameraSensor | None = None,
    appearance: str | None = None,
    map_lifetime: str | None = None,
    semantics: str | None = None,
    waypoints: str | None = None,
    driver: str | None = None,
    stops: str | None = None,
    drive: str | None = None,
    vmax: float | None = None,
    wmax: float | None = None,
    agent_options: Mapping[str, OptionValue] | None = None,
    agent_paths: Sequence[str | PathLike[str]] = (),
    keep_going: bool = False,
    isolate: bool = False,
    policy: str | type[Any] | None = None,
    base_url: str | None = None,
    prompt: str | None = None,
    price: tuple[float, float] | None = None,
    max_cost: float | None = None,
    answers: str | PathLike[str] | None = None,
) -> Run:
    """A run with everything checked that can be checked before it starts; see `itinera.api.run`."""
    check_seed(seed)
    recorded = parse_record(record)
    agent, is_command = parse_agent(agent, command)
    given_tasks = tasks if isinstance(tasks, Split) else _path("tasks", tasks, "a Split (see read_tasks)")
    given_worlds = worlds if isinstance(worlds, Mapping) else _path("worlds", worlds, "worlds by id (see read_worlds)")
    tours_file = None if tours is None else _path("tours", tours, "")
    split = load_tasks(given_tasks, tours_file)
    if episodes is not None:
        from itinera.formats.episode_selection import select_part

        split = select_part(split, episodes)
    chosen = apply_drive(select_protocol(protocol, split), drive, vmax=vmax, wmax=wmax)
    require_matching(chosen, split)
    if "maps" in recorded and not chosen.on_ground:
        raise BadArgument(
            f"--record maps (record=) is for agents on the ground; protocol {chosen.name} is one of graphs."
        )
    config = RunConfig(agent, given_tasks, given_worlds, chosen, tours_file, is_command, reply_seconds)
    asked_service = ServiceRequest(base_url, prompt, price, max_cost, None if answers is None else Path(answers))
    config = start_service(config, asked_service, agent_options, seed=seed)
    options = None if config.service is not None else agent_options
    config = configure_agent(config, options, agent_paths, isolate=isolate, policy=policy)
    requirements = requirements_for(config)
    if waypoints is not None and chosen.drive is not None:
        raise BadArgument("--waypoints needs a body that steps and turns: leave out --drive (drive=).")
    asked = (views, objects, rooms, camera, appearance, map_lifetime, semantics, waypoints, driver, stops)
    if requirements is not None or any(option is not None for option in asked):
        from itinera.runs.observations import configure_observations

        observations = configure_observations(
            split,
            config.worlds_path,
            views=views,
            objects=None if objects is None else Path(objects),
            rooms=None if rooms is None else Path(rooms),
            camera=camera,
            appearance=appearance,
            map_lifetime=map_lifetime,
            semantics=semantics,
            waypoints=waypoints,
            driver=driver,
            stops=stops,
            requirements=requirements,
        )
        config = replace(config, observations=observations)
    check_drive(config, requirements)
    count = choose_workers(workers, config)
    jobs = tuple(make_jobs(split, max_episodes))
    config = finish_service(config, split, [episode for job in jobs for episode in job.episodes])
    return Run(
        split,
        config,
        RolloutConfig(chosen, seed, limit_seconds, record_probabilities, "maps" in recorded, config.is_service),
        jobs,
        count,
        choose_start_method(config.is_portable, start_method) if count else "spawn",
        max_episodes,
        keep_going,
    )


def check_drive(config: RunConfig, requirements: object) -> None:
    """Refuse bodies whose actions a trained agent on the ground does not know."""
    from itinera.policies.pointnav.requirements import PointNavRequirements

    if isinstance(requirements, PointNavRequirements):  # its actions are those of one robot, which the agent checks
        return
    if requirements is not None and config.protocol.drive == "unicycle-15":
        raise BadArgument(
            "This model uses actions 1, 2 and 3 as forward, left and right, which --drive unicycle-15 does not have."
        )


def check_seed(seed: int) -> None:
    """Refuse negative seeds, which random generators do not take."""
    if seed < 0:
        raise BadArgument(f"seed must be ≥ 0 (got {seed}).")


def configure_agent(
    config: RunConfigType,
    options: Mapping[str, OptionValue] | None,
    files: Sequence[str | PathLike[str]],
    *,
    isolate: bool,
    policy: str | type[Any] | None = None,
) -> RunConfigType:
    """The configuration with the options, files and policy class of the agent, and whether it is isolated."""
    options = options or {}
    if options:
        check_options(options)
        if not config.is_foreign or not isinstance(config.agent, (str, type)):
            raise BadArgument(
                "--agent-option (agent_options=) passes arguments to a class of yours: give module:Class."
            )
    if policy is not None and (config.is_named or config.model is None):
        raise BadArgument("--policy (policy=) names the class of a model file: give the file as --agent.")
    if policy is not None and isolate:
        raise BadArgument("--isolate does not apply to --policy. Isolate an agent class that loads the model itself.")
    if isolate and (config.is_named or config.is_service or config.model is not None):
        _log.info("%s is an agent of Itinera, so there is nothing to isolate.", describe_agent(config.agent))
        isolate = False
    if isolate and (not isinstance(config.agent, str) or (config.is_remote and not config.is_command)):
        raise BadArgument("--isolate (isolate=True) starts the agent itself: give module:Class or a command.")
    config = replace(
        config, agent_options=dict(options), agent_files=tuple(map(Path, files)), policy=policy, isolate=isolate
    )
    if not isolate:
        return config
    from itinera.agents.isolation import describe_isolation, make_sandbox

    hidden = tuple(path for path in (config.tasks, config.tours, config.worlds_path) if isinstance(path, Path))
    sandbox = make_sandbox(str(config.agent), is_command=config.is_command, files=agent_files(config), hidden=hidden)
    _log.info(describe_isolation(sandbox))
    return replace(config, hidden=hidden)


def parse_agent(
    agent: str | PathLike[str] | Sequence[str] | Agent | type[Any] | None, command: str | None
) -> tuple[str | Agent | type[Any], bool]:
    if (agent is None) == (command is None):
        raise BadArgument("Give an agent or the command that starts one (--agent or --agent-command), one of them.")
    if command is not None:
        return command, True
    if isinstance(agent, (list, tuple)):
        return shlex.join(map(str, agent)), True
    if isinstance(agent, PathLike):
        return str(agent), False
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
        if workers > 1 and not config.is_command and is_web_agent(config.agent):
            raise BadArgument(
                f"A policy server keeps the state of one episode, so it acts in one after another: give --workers 1 "
                f"(got {workers})."
            )
        return workers
    if isinstance(config.agent, str):
        return count_workers() if not is_web_agent(config.agent) else 1
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
    agent: str | PathLike[str] | Sequence[str] | Agent | type[Any] | None,
    *,
    command: str | None = None,
    policy: str | type[Any] | None = None,
    protocol: str | Protocol = "r2r",
    drive: str | None = None,
    base_url: str | None = None,
    prompt: str | None = None,
    answers: str | PathLike[str] | None = None,
    agent_options: Mapping[str, OptionValue] | None = None,
) -> Agent:
    """The agent, made and checked; see `itinera.api.check_agent`."""
    from itinera.agents.checks import default_camera, make_ground_world
    from itinera.policies.ground.requirements import GroundRequirements
    from itinera.policies.pointnav.requirements import PointNavRequirements
    from itinera.policies.pretrained import ModelRequirements

    given, is_command = parse_agent(agent, command)
    chosen = apply_drive(select_protocol(protocol, Split("", ())), drive)
    config = RunConfig(given, Split("", ()), {}, chosen, is_command=is_command)
    if chosen.on_ground and config.is_service:
        config = replace(config, observations=ObservationConfig(camera=default_camera()))
    request = ServiceRequest(base_url, prompt, answers=None if answers is None else Path(answers))
    config = start_service(config, request, agent_options, seed=0)
    config = finish_service(config, Split("", ()), ())
    options = None if config.service is not None else agent_options
    config = configure_agent(config, options, (), isolate=False, policy=policy)
    if config.is_named:
        raise BadArgument(f"{given} is one of itinera's own agents. Give yours: module:Class, a class or an object.")
    requirements = requirements_for(config)
    on_ground = isinstance(requirements, GroundRequirements | PointNavRequirements)
    if on_ground != chosen.on_ground and requirements is not None:
        place, protocol_name = ("the ground", "r2r-ce") if on_ground else ("navigation graphs", "r2r")
        raise BadArgument(f"This model was trained on {place}: give --protocol {protocol_name} (protocol=).")
    columns = requirements.columns if isinstance(requirements, ModelRequirements) else ()
    try:
        made = make_agent(config, {"check": make_ground_world()} if chosen.on_ground else {}, columns=columns)
    except ItineraError:
        raise
    except Exception as error:
        raise BadArgument(
            f"{describe_agent(given)}() failed: {type(error).__name__}: {error}. It is called without arguments."
        ) from error
    try:
        _check_made(made, chosen, requirements, columns)
    except StopRun as stop:
        raise ItineraError(str(stop)) from None
    return made


def _check_made(made: Agent, chosen: Protocol, requirements: object, columns: Sequence[str]) -> None:
    from itinera.agents.checks import VIEW_SIZE, check_agent, default_camera
    from itinera.policies.ground.requirements import GroundRequirements
    from itinera.policies.pointnav.requirements import PointNavRequirements

    if chosen.on_ground:
        if isinstance(requirements, PointNavRequirements):
            simulator = make_simulator(chosen, camera=requirements.camera, scan=requirements.scan)
        else:
            camera = requirements.camera() if isinstance(requirements, GroundRequirements) else default_camera()
            simulator = make_simulator(chosen, camera=camera)
        check_agent(made, body="ground", simulator=simulator)
    else:
        check_agent(made, view_size=len(columns) or VIEW_SIZE)
