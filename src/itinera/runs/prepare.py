"""`prepare_run`: everything that can be checked before a run starts; `Run.execute` is in `run.py`.

Start with `itinera.api.run`.
"""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from itinera.agents.agent import StopRun
from itinera.agents.loading import OptionValue, check_options, describe_agent
from itinera.agents.services.settings import is_web_agent
from itinera.errors import BadArgument, ItineraError
from itinera.records.shards import Shard
from itinera.runs.clock import Clock, parse_clock
from itinera.runs.config import (
    ObservationConfig,
    RolloutConfig,
    RunConfig,
    TourJob,
    load_tasks,
    require_matching,
    select_protocol,
)
from itinera.runs.context import make_agent, requirements_for
from itinera.runs.engines import Engine, check_engine, is_local
from itinera.runs.engines.engine import PROCESSES
from itinera.runs.engines.processes import count_workers
from itinera.runs.engines.worker_process import StartMethod
from itinera.runs.identity import agent_files
from itinera.runs.outputs import parse_record
from itinera.runs.run import Run
from itinera.runs.services import ServiceRequest, finish_service, start_service
from itinera.seeding import generator
from itinera.simulators.factory import apply_drive, make_simulator
from itinera.tasks import Protocol, Split, Tour
from itinera.worlds import World

if TYPE_CHECKING:
    from itinera.agents.agent import Agent
    from itinera.formats.episode_selection import Selection
    from itinera.simulators.sensors import CameraSensor

RunConfigType = TypeVar("RunConfigType", bound=RunConfig)
_log = logging.getLogger("itinera")


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
    random_order: bool = False,
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
    clock: str | None = None,
    overlap: bool = False,
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
    shard: Shard | None = None,
    engine: str | Engine = PROCESSES,
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
    timing = make_clock(clock, chosen, overlap=overlap)
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
    count = choose_workers(workers, config, engine)
    if random_order and shard is not None:
        raise BadArgument("A run that stops by itself (until) has no parts: leave out shard or until.")
    jobs = make_jobs(split, max_episodes)
    if random_order:
        jobs = shuffle_jobs(jobs, split, seed, max_episodes)
    own = jobs if shard is None else [jobs[index] for index in shard.block(len(jobs))]
    config = finish_service(config, split, [episode for job in own for episode in job.episodes])
    return Run(
        split,
        config,
        RolloutConfig(chosen, seed, limit_seconds, record_probabilities, "maps" in recorded, timing, config.is_service),
        tuple(jobs),
        count,
        choose_start_method(config.is_portable, start_method) if count and is_local(engine) else "spawn",
        max_episodes,
        keep_going,
        shard,
        engine,
    )


def make_clock(clock: str | None, protocol: Protocol, *, overlap: bool) -> Clock | None:
    """The clock of a run; only bodies that hold speeds can move while the agent thinks."""
    made = parse_clock(clock, overlap=overlap)
    if overlap and protocol.drive is None:
        raise BadArgument(
            "--overlap (overlap=True) needs a body that holds speeds: give --drive (drive=). One that takes steps "
            "stands still after each."
        )
    return made


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


def shuffle_jobs(jobs: list[TourJob], split: Split, seed: int, max_episodes: int | None) -> list[TourJob]:
    """The jobs in an order drawn from the seed, for a run that stops by itself."""
    if split.tours or max_episodes is not None:
        raise BadArgument("--until (until=) is for single episodes: leave out --tours and --max-episodes.")
    return [jobs[i] for i in generator(seed, "order of the episodes").permutation(len(jobs))]


def choose_workers(workers: int | None, config: RunConfig, engine: str | Engine = PROCESSES) -> int:
    """The number asked for; else one per core, and this process alone for objects that only exist in it.

    With another engine than the processes of this machine, 0 leaves the number to it.
    """
    if not is_local(engine):
        check_engine(engine, workers)
        require_movable(config, engine)
        return workers or 0
    if isinstance(engine, Engine) and workers is None:
        workers = engine.workers
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


def require_movable(config: RunConfig, engine: str | Engine) -> None:
    """Refuse what other machines cannot have: objects of this process, and the account of a language model."""
    if config.is_service:
        raise BadArgument(
            f"A language model or policy server has one account and one folder of answers: run it with --engine "
            f"{PROCESSES}, not {engine}."
        )
    if not isinstance(config.agent, str) or not (config.policy is None or isinstance(config.policy, str)):
        raise BadArgument(f"--engine {engine} (engine=) needs the agent by name, as a model file or as module:Class.")


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
