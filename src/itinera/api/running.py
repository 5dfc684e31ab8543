"""Running, replaying and checking agents; training policies."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from itinera.api.scoring import is_on_graph, load_protocol, load_split, optional_path
from itinera.errors import BadArgument, validate_choice

if TYPE_CHECKING:
    from itinera.agents.agent import Agent
    from itinera.formats.episode_selection import Selection
    from itinera.metrics.running import RunningScore
    from itinera.policies.agent import PolicyAgent
    from itinera.policies.checkpoint import Model
    from itinera.policies.ground.agent import GroundPolicyAgent
    from itinera.policies.ground.decision_agent import DecisionAgent
    from itinera.records import Predictions, Rollout
    from itinera.runs.replay import ReplayReport
    from itinera.runs.reproduce import Reproduction
    from itinera.runs.run import Run
    from itinera.runs.worker_process import StartMethod
    from itinera.simulators.sensors import CameraSensor
    from itinera.simulators.simulator import Simulator
    from itinera.simulators.view_features import ViewSource
    from itinera.tasks import Episode, Protocol, Split
    from itinera.training.progress import TrainingProgress
    from itinera.worlds import World

File: TypeAlias = str | PathLike[str]
logger = logging.getLogger("itinera")


def run(
    agent: str | PathLike[str] | Sequence[str] | Agent | type[Any] | None,
    tasks: Split | File,
    worlds: Mapping[str, World] | File,
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
    out: File | None = None,
    overwrite: bool = False,
    limit_seconds: float | None = None,
    reply_seconds: float | None = None,
    max_episodes: int | None = None,
    episodes: Selection | None = None,
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
    drive: str | None = None,
    vmax: float | None = None,
    wmax: float | None = None,
    progress: Callable[[RunningScore], None] | None = None,
    start_method: StartMethod | None = None,
    command_words: Sequence[str] = (),
) -> Predictions:
    """The predictions of an agent: one rollout per episode, or per tour.

    >>> import itinera
    >>> predictions = itinera.run("random", "R2R_val_unseen.json", "connectivity/", seed=7)  # doctest: +SKIP

    agent: an object with the methods of `itinera.agents.agent.Agent`, a class of such objects, a name ("random",
        "expert", ...), a model file, "module:Class", or the words of a command that starts an agent in another
        process. `command` is such a command in one string; `agent` is then None.
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
    out: a file for the predictions. If interrupted, the same call resumes; `overwrite=True` starts anew.
    limit_seconds: the time limit of an episode, which then has failed; reply_seconds that of an agent in another
        process for one reply.
    max_episodes: run only the first episodes.
    episodes: the part of the split to run: ids, a file of ids, "scan=NAME" or "/regex/"; a list joins several. Score it
        with the same `episodes`.
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
        viewpoints of a Hearth season), "surface" or "depth"; then views may be "annotations" or "inferred", and driver
        is "follower" (the default) or "straight".
    drive, vmax, wmax: on the ground a body that holds speeds, at most vmax m/s and wmax rad/s.
    progress: called at the start and after every rollout.
    start_method: how worker processes start, "spawn" or "fork"; chosen by what was given unless set.
    command_words: the words of the command line, for the provenance.

    An agent's error fails its episode, with the reason in the notes of the trajectory; the run continues, unless the
    first five episodes fail in the same way. A run is as honest as its agent unless it is isolated: an agent in this
    process (workers=0), or in a copy of it, can read everything that this process can.
    """
    from itinera.formats.io import check_outputs
    from itinera.runs.observations import make_camera
    from itinera.runs.run import prepare_run

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
        start_method=start_method,
        limit_seconds=limit_seconds,
        reply_seconds=reply_seconds,
        max_episodes=max_episodes,
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
        drive=drive,
        vmax=vmax,
        wmax=wmax,
    )
    report = None if progress is None else _report_progress(prepared, progress)
    target = None if out is None else Path(out)
    return prepared.execute(out=target, overwrite=overwrite, command=command_words, on_rollout=report)


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
) -> Agent:
    """The agent, after it was run in a small built-in scene; raises BadArgument at the first contract violation.

    >>> import itinera
    >>> from itinera.agents.baselines import UniformAgent
    >>> agent = itinera.check_agent(UniformAgent())
    """
    from itinera.runs.run import check_any_agent

    return check_any_agent(agent, command=command, policy=policy, protocol=protocol, drive=drive)


def train(
    policy: str | PathLike[str] | Model | type[Any],
    tasks: Split | File,
    worlds: Mapping[str, World] | File,
    *,
    validation: Split | File | None = None,
    evaluate_every: int | None = None,
    patience: int | None = None,
    monitor: str = "SPL",
    steps: int | None = None,
    minutes: float | None = None,
    reward: Literal["goal", "fidelity"] | None = None,
    seed: int = 0,
    out: File | None = None,
    overwrite: bool = False,
    views: str | ViewSource | None = "auto",
    objects: File | None = None,
    rooms: File | None = None,
    config: Any = None,
    start_from: File | None = None,
    batch_size: int | None = None,
    learning_rate: float | None = None,
    teacher_forcing_ratio: float | None = None,
    max_steps: int | None = None,
    max_words: int = 80,
    tours: File | None = None,
    iterations: int | None = None,
    rollouts: int | None = None,
    beta: float | None = None,
    map_lifetime: str | None = None,
    semantics: str | None = None,
    device: str = "cpu",
    cache: File | None = None,
    tensorboard: File | None = None,
    progress: Callable[[TrainingProgress], None] | None = None,
    verbose: bool | None = None,
) -> PolicyAgent | GroundPolicyAgent | DecisionAgent:
    """An agent trained on graph tasks by imitation learning or with a `reward`, or on the ground by DAgger.

    >>> import itinera
    >>> train_tasks, test_tasks = "hearth/r2r/R2R_train.json", "hearth/r2r/R2R_val_unseen.json"
    >>> agent = itinera.train("rcm", train_tasks, "hearth", minutes=10, out="rcm.safetensors")  # doctest: +SKIP
    >>> predictions = itinera.run(agent, test_tasks, "hearth")  # doctest: +SKIP

    policy: on graphs "rcm", "follower", "envdrop" or "hamt"; on the ground "seq2seq", "cma", "tour-cma", "pool-cma",
        "pool-end-cma", "map-cma" or "decision"; on graphs yours as "module:Class" or as the class itself, a subclass of
        `itinera.policies.base.Policy`; a model file to continue from; or a `itinera.policies.checkpoint.Model`, which
        is trained in place.
    validation: tasks in the same worlds to evaluate on every `evaluate_every` steps (default: a tenth of the steps).
        The result is the model with the best score in the metric `monitor`: "SPL", "SR", "CLS", "nDTW" or "NE", on the
        ground also "OSR" or "t-nDTW".
        Training stops early after `patience` evaluations in a row without a better score.
    steps, minutes: the number of optimizer steps, or as many as one core makes in about this time. Give one of them.
    reward: "goal" or "fidelity" (equations 11 and 12 of Stay on the Path); None for imitation learning.
    out: the model file. If interrupted, the same call resumes; `overwrite=True` starts anew; a file of another
        training run is refused.
    views: "auto": annotations if the worlds are a Hearth season, else geometry only; "geometry" or None: geometry only;
        "annotations", "rendered", a feature file, or a view source.
    objects, rooms: the sources of annotations if the worlds are not a Hearth season.
    config: layer sizes such as `itinera.policies.rcm.RCMConfig`, or a mapping of some of its fields; by default the
        SMALL ones.
    start_from: a model file of the same policy whose weights training starts from.
    batch_size: episodes per step (64), on the ground trajectories (14).
    teacher_forcing_ratio: the share of agents that follow the expert in imitation learning (0.8), on graphs only.
    max_steps: of an agent per episode in training; by default 10 in imitation learning, 15 with a reward, 100 on the
        ground.
    tours: on the ground, tours of the tasks, for policies and maps that remember earlier episodes; by default paths are
        ordered by straight lines.
    iterations, rollouts, beta: on the ground, the iterations of DAgger (6; 0 for teacher forcing alone), the episodes
        walked in each (500), and the base of the probability of the expert's action (0.5).
    map_lifetime, semantics: of the maps of "map-cma": "episodic", "iterative" or "known"; "true", "inferred" or a
        segmentation model. "decision" sees four views all around, or with a lifetime remembers front views in a map.
    device: of the policy on the ground, such as "cuda".
    cache: on the ground, a folder for rendered observations, which may be removed at any time.
    tensorboard: a folder for curves of the loss and the scores: `tensorboard --logdir FOLDER` shows them.
    progress: called after every step with a `itinera.training.progress.TrainingProgress`.
    verbose: print progress to stderr, a line each time. Default: unless `progress` is given.

    Uses one thread, so that two runs of one seed end with the same weights.
    """
    given = locals()
    from importlib.util import find_spec

    from itinera.errors import MissingExtra

    if find_spec("torch") is None:
        raise MissingExtra("Training", "torch", "neural")
    from itinera.formats.io import check_outputs
    from itinera.runs.config import load_worlds
    from itinera.runs.observations import open_views
    from itinera.runs.run import check_seed
    from itinera.tasks import PROTOCOLS
    from itinera.training.train_agent import TrainingOptions, configure_training_views, train_agent

    named = [one for one in (views, policy) if "." in str(one)]
    check_outputs([out], [tasks, worlds, validation, objects, rooms, start_from, *named])
    check_seed(seed)
    split = load_split(tasks, tours=tours)
    held_out = None if validation is None else load_split(validation)
    on_graph = not split.episodes or is_on_graph(split)
    if held_out is not None and held_out.episodes and is_on_graph(held_out) != on_graph:
        raise BadArgument(f"{split.name} and {held_out.name} are not both on graphs or both on the ground.")
    _refuse_foreign_options(given, on_graph=on_graph)
    if not on_graph:
        return _train_on_ground(given, split, held_out)
    folder = None if isinstance(worlds, Mapping) else Path(worlds)
    graphs = worlds if isinstance(worlds, Mapping) else load_worlds(Path(worlds), PROTOCOLS["r2r"])
    if views is None or isinstance(views, str):
        observations = configure_training_views(
            split,
            folder,
            views=None if views == "geometry" else views,
            objects=optional_path(objects),
            rooms=optional_path(rooms),
        )
        source, reach = open_views(observations, folder, graphs), observations.reach
        view_source = observations.views or ""
    else:
        source, reach, view_source = views, 0.0, "given"
    return train_agent(
        policy,
        split,
        graphs,
        TrainingOptions(
            steps,
            minutes,
            reward,
            64 if batch_size is None else batch_size,
            learning_rate,
            0.8 if teacher_forcing_ratio is None else teacher_forcing_ratio,
            max_steps,
            max_words,
            evaluate_every,
            patience,
            monitor,
        ),
        validation=held_out,
        views=source,
        view_source=view_source,
        reach=reach,
        config=config,
        start_from=optional_path(start_from),
        seed=seed,
        out=optional_path(out),
        overwrite=overwrite,
        tensorboard=optional_path(tensorboard),
        progress=progress,
        verbose=progress is None if verbose is None else verbose,
    )


_GRAPH_OPTIONS = ("reward", "objects", "rooms", "teacher_forcing_ratio")
_GROUND_OPTIONS = ("tours", "iterations", "rollouts", "beta", "map_lifetime", "semantics", "cache")


def _refuse_foreign_options(given: Mapping[str, Any], *, on_graph: bool) -> None:
    """Refuse options of training on graphs for tasks on the ground, and the other way round."""
    foreign, where = (_GROUND_OPTIONS, "on the ground") if on_graph else (_GRAPH_OPTIONS, "on graphs")
    wrong = [name for name in foreign if given[name] is not None]
    wrong += ["device"] if on_graph and given["device"] != "cpu" else []
    wrong += ["views"] if not on_graph and given["views"] not in (None, "auto") else []
    if wrong:
        raise BadArgument(
            f"{wrong[0]} is for training {where}, but these tasks are {'' if on_graph else 'not '}on graphs."
        )


def _train_on_ground(
    given: Mapping[str, Any], split: Split, held_out: Split | None
) -> GroundPolicyAgent | DecisionAgent:
    """`train` for continuous tasks, with the arguments that were given."""
    from itinera.mapping.config import MapLifetime
    from itinera.runs.config import load_worlds
    from itinera.tasks import PROTOCOLS
    from itinera.training.ground.train_agent import GroundOptions, train_on_ground

    policy, worlds, lifetime = given["policy"], given["worlds"], given["map_lifetime"] or "episodic"
    if isinstance(policy, type) or ":" in str(policy):
        raise BadArgument("Policies outside Itinera train on graph tasks only.")
    validate_choice("map_lifetime", lifetime, tuple(life.value for life in MapLifetime))
    folder = None if isinstance(worlds, Mapping) else Path(worlds)
    names = ("steps", "minutes", "iterations", "rollouts", "beta", "batch_size", "learning_rate", "max_steps",
             "max_words", "evaluate_every", "patience", "monitor")  # fmt: skip
    options = GroundOptions(**{name: given[name] for name in names if given[name] is not None})
    progress, verbose = given["progress"], given["verbose"]
    if policy == "decision":
        return _train_decisions(given, split, held_out)
    return train_on_ground(
        policy,
        split,
        worlds if folder is None else load_worlds(folder, PROTOCOLS[split.protocol]),
        options,
        season=folder,
        validation=held_out,
        lifetime=lifetime,
        semantics=given["semantics"] or "true",
        config=given["config"],
        start_from=optional_path(given["start_from"]),
        seed=given["seed"],
        device=given["device"],
        out=optional_path(given["out"]),
        cache=optional_path(given["cache"]),
        overwrite=given["overwrite"],
        tensorboard=optional_path(given["tensorboard"]),
        progress=progress,
        verbose=progress is None if verbose is None else verbose,
    )


def _train_decisions(given: Mapping[str, Any], split: Split, held_out: Split | None) -> DecisionAgent:
    """`train` for decision agents."""
    from itinera.mapping.config import MapLifetime
    from itinera.runs.config import load_worlds
    from itinera.tasks import PROTOCOLS
    from itinera.training.ground.train_decision_agent import DecisionTrainingOptions, train_decision_agent

    refused = ("tours", "rollouts", "beta", "max_steps", "start_from")
    wrong = [name for name in refused if given[name] is not None]
    wrong += ["device"] if given["device"] != "cpu" else []
    wrong += ["semantics"] if given["semantics"] not in (None, "true") else []
    if wrong:
        raise BadArgument(f"Training a decision agent has no option {wrong[0]} ({given[wrong[0]]}): leave it out.")
    worlds, lifetime = given["worlds"], given["map_lifetime"]
    if lifetime == "iterative":
        raise BadArgument("Train with map_lifetime episodic or known; a run can still use an iterative map.")
    folder = None if isinstance(worlds, Mapping) else Path(worlds)
    names = ("steps", "minutes", "iterations", "batch_size", "learning_rate", "max_words", "evaluate_every",
             "patience", "monitor")  # fmt: skip
    progress, verbose = given["progress"], given["verbose"]
    return train_decision_agent(
        split,
        worlds if folder is None else load_worlds(folder, PROTOCOLS[split.protocol]),
        DecisionTrainingOptions(**{name: given[name] for name in names if given[name] is not None}),
        season=folder,
        validation=held_out,
        lifetime=None if lifetime is None else MapLifetime(lifetime),
        config=given["config"],
        seed=given["seed"],
        out=optional_path(given["out"]),
        cache=optional_path(given["cache"]),
        overwrite=given["overwrite"],
        tensorboard=optional_path(given["tensorboard"]),
        progress=progress,
        verbose=progress is None if verbose is None else verbose,
    )


def read_recipe(path: File) -> dict[str, Any]:
    """The arguments of `train` in a recipe, a TOML file; its paths are relative to it.

    >>> import itinera
    >>> agent = itinera.train(**itinera.read_recipe("recipe.toml"))  # doctest: +SKIP

    Unknown keys and values of the wrong type are reported together, with the nearest known key.
    """
    from itinera.formats.recipe import read_recipe

    return read_recipe(Path(path))


def load_agent(
    model: File, *, policy: str | type[Any] | None = None
) -> PolicyAgent | GroundPolicyAgent | DecisionAgent:
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
