"""Running, replaying and checking agents."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from itinera.api.scoring import load_protocol, load_split
from itinera.errors import BadArgument, validate_choice

if TYPE_CHECKING:
    from itinera.agents.agent import Agent
    from itinera.formats.episode_selection import Selection
    from itinera.metrics.running import RunningScore
    from itinera.metrics.stopping import StoppingRule
    from itinera.policies.agent import PolicyAgent
    from itinera.policies.ground.agent import GroundPolicyAgent
    from itinera.policies.ground.decision_agent import DecisionAgent
    from itinera.policies.pointnav.agent import PointNavAgent
    from itinera.records import Predictions, Rollout
    from itinera.records.shards import Shard
    from itinera.runs.engines import Engine
    from itinera.runs.engines.worker_process import StartMethod
    from itinera.runs.replay import ReplayReport
    from itinera.runs.reproduce import Reproduction
    from itinera.runs.run import Run
    from itinera.server.messages import EntryReport
    from itinera.simulators.sensors import CameraSensor
    from itinera.simulators.simulator import Simulator
    from itinera.tasks import Episode, Protocol, Split
    from itinera.worlds import World

File: TypeAlias = str | PathLike[str]
logger = logging.getLogger("itinera")


AnyAgent: TypeAlias = "str | PathLike[str] | Sequence[str] | Agent | type[Any] | None"


@overload
def run(
    agent: AnyAgent, tasks: Split | File, worlds: Mapping[str, World] | File, *, challenge: None = None, **options: Any
) -> Predictions: ...


@overload
def run(agent: AnyAgent, *, challenge: str, phase: str, method: str, token: str, **options: Any) -> EntryReport: ...


def run(  # type: ignore[misc]  # the forms above do not repeat all options
    agent: AnyAgent,
    tasks: Split | File | None = None,
    worlds: Mapping[str, World] | File | None = None,
    *,
    command: str | None = None,
    agent_options: Mapping[str, bool | int | float | str] | None = None,
    agent_files: Sequence[File] = (),
    policy: str | type[Any] | None = None,
    isolate: bool = False,
    keep_going: bool = False,
    tours: File | None = None,
    protocol: str | Protocol | None = None,
    seed: int = 0,
    workers: int | None = None,
    engine: str | Engine = "processes",
    out: File | None = None,
    overwrite: bool = False,
    limit_seconds: float | None = None,
    reply_seconds: float | None = None,
    max_episodes: int | None = None,
    episodes: Selection | None = None,
    shard: str | Shard | None = None,
    until: str | None = None,
    record_probabilities: bool = False,
    record: Sequence[str] = (),
    views: str | None = None,
    objects: File | None = None,
    rooms: File | None = None,
    camera: CameraSensor | str | None = None,
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
    base_url: str | None = None,
    prompt: str | None = None,
    price: tuple[float, float] | None = None,
    max_cost: float | None = None,
    answers: File | None = None,
    progress: Callable[[RunningScore], None] | None = None,
    on_stop: Callable[[StoppingRule], None] | None = None,
    start_method: StartMethod | None = None,
    command_words: Sequence[str] = (),
    challenge: str | None = None,
    phase: str = "",
    method: str = "",
    token: str = "",
    notes: str = "",
    visibility: str = "public",
    on_tour: Callable[[int, int], None] = lambda done, tours: None,
) -> Predictions | EntryReport:
    """The predictions of an agent: one rollout per episode, or per tour. With `challenge`, the report on its entry.

    >>> import itinera
    >>> predictions = itinera.run("random", "R2R_val_unseen.json", "connectivity/", seed=7)  # doctest: +SKIP

    agent: an object with the methods of `itinera.agents.agent.Agent`, a class of such objects, a name ("random",
        "expert", ...), a model file, "module:Class", "openai:MODEL", the URL of a policy server, or the words of a
        command that starts an agent in another process. `command` is such a command in one string, with agent None.
    agent_options: keyword arguments of the class, if the agent is a class or "module:Class".
    agent_files: files and folders of the agent, such as its weights. A run is resumed only if these, the modules of
        the agent and the files it declares itself (`files = [...]`) are unchanged.
    policy: the class, or "module:Class", of a model file that was trained with a policy of yours: no code is imported
        that is not named.
    isolate: run a "module:Class" or a command in a process that cannot read the tasks and has no privileges.
    keep_going: run all episodes, even if the first ones all fail in the same way.
    tasks, worlds: as read, or their paths.
    workers: the number of processes; 0 runs in this process. Default: one per core, and for an agent given as an
        object or class this process. The result does not depend on it.
    engine: what runs the workers: "processes" of this machine, "ray" (a cluster started here), "ray://HOST:PORT",
        "slurm", or an `itinera.runs.engines.Engine`. The result does not depend on it.
    out: a file for the predictions. If interrupted, the same call resumes; `overwrite=True` starts anew.
    limit_seconds: the time limit of an episode, which then has failed; reply_seconds that of an agent in another
        process for one reply.
    max_episodes: run only the first episodes.
    episodes: the part of the split to run: ids, a file of ids, "scan=NAME" or "/regex/"; a list joins several. Score it
        with the same `episodes`.
    shard: run one of several equal parts, such as "3/16", and write it beside `out` (preds.3-of-16.jsonl) for `gather`.
    until: stop as soon as the mean of a metric over the whole split is known well enough: "SR ± 2" is ± 2 points with
        95 %, by a confidence sequence. Episodes are run in an order drawn from the seed; those finished are scored with
        episodes="answered". `on_stop` is called with the rule and its interval.
    record_probabilities: record the action probabilities of agents that have `action_probabilities`.
    record: ("maps",) records the maps of an agent that holds one (`held_map`), on the ground; with `out` they are in a
        file beside it, OUT.maps.jsonl, and `show` draws them.
    views: on graphs "annotations", "rendered" or a file of features; objects and rooms are sources of annotations.
    camera: on the ground a `CameraSensor`, or "WIDTHxHEIGHT" in pixels; a trained agent gets that of its training.
    appearance: of the images of the camera, or of rendered views: "flat" (the default), "day", "evening" or "lamps";
        with a seed for random colors, textures and light, "day:7".
    map_lifetime: how long a trained agent keeps its map: "episodic", "iterative" or "known"; by default as in training.
    semantics: of that map: "true", "inferred" or a segmentation model; by default as in training.
    waypoints: on the ground the candidates of an agent that chooses among candidates, as on graphs: "graph" (the
        viewpoints of a Hearth season), "surface" or "depth"; then views may be "annotations" or "inferred", driver
        is "follower" (the default) or "straight", and stops "waypoint" (the default) or "between" them.
    drive, vmax, wmax: on the ground a body that holds speeds, at most vmax m/s and wmax rad/s.
    clock: how long the agent thinks before each action: "wall" measures it, "fixed:SECONDS" is the same for every
        action, "table:FILE.json" has seconds for units of usage that the agent reports, and for each "act". On the
        ground this time passes: the robot stands still, or with `overlap` and a drive goes on with its last action.
        With "wall" no two runs have the same rows.
    base_url: the server of a language model, given as agent "openai:MODEL"; agent_options are then its settings.
    prompt: how it is asked: "choices", "words" or "pixel".
    price: of its tokens, US dollars per million: of prompts, of answers; max_cost stops the run before it costs more.
    answers: the folder of its answers, "itinera-answers" by default; what is in it is not asked again.
    progress: called at the start and after every rollout.
    start_method: how worker processes start, "spawn" or "fork"; chosen by what was given unless set.
    command_words: the words of the command line, for the provenance.
    challenge: the address of a challenge server. The agent acts in a live phase of it, in the host's worlds, as the
        entry of a team: `phase`, the name of the `method` on the board, the team's `token`, `notes`, `visibility`. Of
        the arguments above, only those of the agent apply; `workers` agents of this process play a tour each. If
        interrupted, the same call resumes. `on_tour` is called with the tours that are over and the number of all.

    An agent's error fails its episode, with the reason in the notes of the trajectory; the run continues, unless the
    first five episodes fail in the same way. A run is as honest as its agent unless it is isolated: an agent in this
    process (workers=0), or in a copy of it, can read everything that this process can.
    """
    from itinera.formats.io import check_outputs
    from itinera.records.shards import parse_shard, part_path
    from itinera.runs.observations import make_camera
    from itinera.runs.prepare import prepare_run

    if challenge is not None:
        if (tasks, worlds, out, tours, protocol) != (None,) * 5:
            raise BadArgument("The host of a challenge has tasks, worlds and protocol: leave them and out out.")
        from itinera.api.live import run_live

        return run_live(
            agent,
            challenge,
            phase=phase,
            method=method,
            token=token,
            command=command,
            agent_options=agent_options,
            policy=policy,
            reply_seconds=reply_seconds,
            workers=workers,
            notes=notes,
            visibility=visibility,
            on_tour=on_tour,
        )
    if tasks is None or worlds is None:
        raise BadArgument("Give tasks and worlds, or the address of a challenge (challenge=).")
    chosen_shard = parse_shard(shard)
    out = None if out is None else part_path(Path(out), chosen_shard)
    if out is not None:
        files = [one for one in (agent, views) if "." in str(one)]  # the others are names
        from itinera.formats.map_recordings import maps_file

        outputs = [out, *([maps_file(Path(out))] if record else [])]
        check_outputs(outputs, [tasks, worlds, tours, objects, rooms, *files])

    prepared = prepare_run(
        agent,
        tasks,
        worlds,
        command=command,
        agent_options=agent_options,
        agent_paths=agent_files,
        policy=policy,
        isolate=isolate,
        keep_going=keep_going,
        tours=tours,
        protocol=protocol,
        seed=seed,
        workers=workers,
        engine=engine,
        start_method=start_method,
        limit_seconds=limit_seconds,
        reply_seconds=reply_seconds,
        max_episodes=max_episodes,
        random_order=until is not None,
        episodes=episodes,
        record_probabilities=record_probabilities,
        record=record,
        views=views,
        objects=objects,
        rooms=rooms,
        camera=make_camera(camera) if isinstance(camera, str) else camera,
        appearance=appearance,
        map_lifetime=map_lifetime,
        semantics=semantics,
        waypoints=waypoints,
        driver=driver,
        stops=stops,
        drive=drive,
        vmax=vmax,
        wmax=wmax,
        clock=clock,
        overlap=overlap,
        base_url=base_url,
        prompt=prompt,
        price=price,
        max_cost=max_cost,
        answers=answers,
        shard=chosen_shard,
    )
    report = None if progress is None else _report_progress(prepared, progress)
    target = None if out is None else Path(out)
    stop = None if until is None else _make_rule(prepared, until)
    made = prepared.execute(out=target, overwrite=overwrite, command=command_words, on_rollout=report, stop=stop)
    if stop is not None and on_stop is not None:
        on_stop(stop)
    return made


def _make_rule(prepared: Run, until: str) -> StoppingRule:
    from itinera.metrics.stopping import StoppingRule
    from itinera.runs.config import load_worlds

    config = prepared.config
    return StoppingRule(until, prepared.split, lambda: load_worlds(config.worlds, config.protocol), config.protocol)


def _report_progress(prepared: Run, progress: Callable[[RunningScore], None]) -> Callable[[Rollout], None]:
    from itinera.metrics.running import RunningScore
    from itinera.runs.config import load_worlds

    config = prepared.config
    score = RunningScore(
        prepared.split, lambda: load_worlds(config.worlds, config.protocol), config.protocol, total=prepared.total
    )
    progress(score)

    def report(rollout: Rollout) -> None:
        score.add(rollout)
        progress(score)

    return report


def rollout(
    agent: Agent,
    episodes: Episode | Sequence[Episode],
    world: World | Mapping[str, World],
    *,
    protocol: str | Protocol = "r2r",
    seed: int = 0,
    simulator: Simulator | None = None,
    record_probabilities: bool = False,
) -> Rollout:
    """The trajectories of an agent in one episode, or in several that form a tour.

    >>> import itinera
    >>> tasks = itinera.read_tasks("R2R_val_unseen.json")  # doctest: +SKIP
    >>> worlds = itinera.read_worlds("connectivity/")  # doctest: +SKIP
    >>> itinera.rollout(MyAgent(), tasks[0], worlds).trajectories[0].places  # doctest: +SKIP
    """
    from itinera.agents.loading import require_agent
    from itinera.runs.rollout import rollout
    from itinera.simulators.factory import make_simulator
    from itinera.tasks import PROTOCOLS, Episode, Protocol, Tour
    from itinera.tasks.protocol import check_protocol

    tour = (episodes,) if isinstance(episodes, Episode) else tuple(episodes)
    if not tour:
        raise BadArgument("rollout needs at least one episode.")
    if isinstance(protocol, Protocol):
        chosen = check_protocol(protocol)
    else:
        chosen = PROTOCOLS[validate_choice("protocol", protocol, PROTOCOLS)]
    first = tour[0]
    return rollout(
        require_agent(agent),
        make_simulator(chosen) if simulator is None else simulator,
        world[first.world_id] if isinstance(world, Mapping) else world,
        Tour(first.id, first.world_id, tuple(episode.id for episode in tour)),
        tour,
        protocol=chosen,
        seed=seed,
        record_probabilities=record_probabilities,
    )


def replay(
    predictions: Predictions | File,
    tasks: Split | File,
    worlds: Mapping[str, World] | File,
    *,
    tours: File | None = None,
    protocol: str | Protocol | None = None,
    drive: str | None = None,
    vmax: float | None = None,
    wmax: float | None = None,
    progress: Callable[[int], None] | None = None,
) -> ReplayReport:
    """The differences when stored actions are taken again in the same worlds, at most one per episode.

    The protocol is that of the tasks and `tours` unless `protocol` or a drive is given; predictions that carry another
    one are refused. Episodes that are answered twice or not by a rollout are refused; those without are counted.

    >>> import itinera
    >>> itinera.replay("predictions.jsonl", "R2R_val_unseen.json", "connectivity/").identical  # doctest: +SKIP
    True
    """
    from itinera.formats.native_predictions import read_predictions
    from itinera.records import Predictions
    from itinera.runs.config import load_worlds, require_matching
    from itinera.runs.replay import Difference, ReplayReport, check_replayable, replay_all
    from itinera.simulators.factory import make_simulator

    split = load_split(tasks, tours=tours)
    stored = predictions if isinstance(predictions, Predictions) else read_predictions(Path(predictions))
    chosen = load_protocol(protocol, split, stored, drive=(drive, vmax, wmax))
    require_matching(chosen, split)
    check_replayable(stored, split)
    places = worlds if isinstance(worlds, Mapping) else load_worlds(Path(worlds), chosen)
    found: list[Difference] = []
    for differences in replay_all(stored.rollouts, make_simulator(chosen), places, split.by_id, protocol=chosen):
        found += differences
        if progress is not None:
            progress(1)
    missing = tuple(episode.id for episode in split if episode.id not in stored)
    return ReplayReport(tuple(found), len(stored), missing)


def reproduce(file: File, *, trust: bool = False, workers: int | None = None) -> Reproduction:
    """The comparison of a file of `itinera run` or `itinera score` with its repetition, row by row.

    The command is read from the file. Its inputs must be unchanged, by their digests, and lie where the command looks
    for them. A command that runs code outside Itinera is repeated only with `trust=True`.

    >>> import itinera
    >>> itinera.reproduce("predictions.jsonl", trust=True).identical  # doctest: +SKIP
    True
    """
    from itinera.runs.reproduce import reproduce

    return reproduce(file, trust=trust, workers=workers)


def check_agent(
    agent: str | PathLike[str] | Sequence[str] | Agent | type[Any] | None,
    *,
    command: str | None = None,
    policy: str | type[Any] | None = None,
    protocol: str | Protocol = "r2r",
    drive: str | None = None,
    base_url: str | None = None,
    prompt: str | None = None,
    answers: File | None = None,
    agent_options: Mapping[str, bool | int | float | str] | None = None,
) -> Agent:
    """The agent, after it was run in a small built-in scene; raises BadArgument at the first contract violation.

    >>> import itinera
    >>> from itinera.agents.baselines import UniformAgent
    >>> agent = itinera.check_agent(UniformAgent())
    """
    from itinera.runs.prepare import check_any_agent

    return check_any_agent(
        agent,
        command=command,
        policy=policy,
        protocol=protocol,
        drive=drive,
        base_url=base_url,
        prompt=prompt,
        answers=answers,
        agent_options=agent_options,
    )


def load_agent(
    model: File, *, policy: str | type[Any] | None = None
) -> PolicyAgent | GroundPolicyAgent | DecisionAgent | PointNavAgent:
    """The agent of a model file, or of a pretrained model by its name.

    policy: the class, or "module:Class", of a model that was trained with a policy of yours. Without it, opening a
        model file never runs code.

    >>> import itinera
    >>> agent = itinera.load_agent("rcm-fidelity")
    >>> agent.requirements.views
    'annotations'
    """
    from itinera.policies.pretrained import load_pretrained_agent, model_file, model_requirements, pretrained_models

    path = model_file(str(model))
    if path is None:
        validate_choice("model", str(model), tuple(pretrained_models()))
        raise AssertionError(model)
    columns = getattr(model_requirements(path, policy=policy), "columns", ())  # an agent on the ground has none
    return load_pretrained_agent(path, columns, policy=policy)
