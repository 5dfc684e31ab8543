"""Training of policies, and the recipes of trainings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from itinera.api.scoring import is_on_graph, load_split, optional_path
from itinera.errors import BadArgument, validate_choice

if TYPE_CHECKING:
    from itinera.policies.agent import PolicyAgent
    from itinera.policies.checkpoint import Model
    from itinera.policies.ground.agent import GroundPolicyAgent
    from itinera.policies.ground.decision_agent import DecisionAgent
    from itinera.policies.segmentation.semantics import InferredSemantics
    from itinera.runs.engines import Engine
    from itinera.simulators.view_features import ViewSource
    from itinera.tasks import Split
    from itinera.training.progress import TrainingProgress
    from itinera.worlds import World

File: TypeAlias = str | PathLike[str]


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
    workers: int | None = None,
    engine: str | Engine | None = None,
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
    device: of the policy, such as "cuda"; the agent that is returned is on the CPU.
    cache: on the ground, a folder for rendered observations, which may be removed at any time.
    workers, engine: on the ground, the processes that walk the roll-outs of DAgger (0: this one), and what runs them:
        "processes", "ray", "ray://HOST:PORT" or "slurm". The weights do not depend on them.
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
    from itinera.runs.prepare import check_seed
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
        device=device,
        out=optional_path(out),
        overwrite=overwrite,
        tensorboard=optional_path(tensorboard),
        progress=progress,
        verbose=progress is None if verbose is None else verbose,
    )


_GRAPH_OPTIONS = ("reward", "objects", "rooms", "teacher_forcing_ratio")
_GROUND_OPTIONS = ("tours", "iterations", "rollouts", "beta", "map_lifetime", "semantics", "cache", "workers", "engine")


def _refuse_foreign_options(given: Mapping[str, Any], *, on_graph: bool) -> None:
    """Refuse options of training on graphs for tasks on the ground, and the other way round."""
    foreign, where = (_GROUND_OPTIONS, "on the ground") if on_graph else (_GRAPH_OPTIONS, "on graphs")
    wrong = [name for name in foreign if given[name] is not None]
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
        workers=0 if given["workers"] is None and given["engine"] is None else given["workers"],
        engine=given["engine"] or "processes",
        progress=progress,
        verbose=progress is None if verbose is None else verbose,
    )


def _train_decisions(given: Mapping[str, Any], split: Split, held_out: Split | None) -> DecisionAgent:
    """`train` for decision agents."""
    from itinera.mapping.config import MapLifetime
    from itinera.runs.config import load_worlds
    from itinera.tasks import PROTOCOLS
    from itinera.training.ground.train_decision_agent import DecisionTrainingOptions, train_decision_agent

    refused = ("tours", "rollouts", "beta", "max_steps", "start_from", "workers", "engine")
    wrong = [name for name in refused if given[name] is not None]
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
        device=given["device"],
        out=optional_path(given["out"]),
        cache=optional_path(given["cache"]),
        overwrite=given["overwrite"],
        tensorboard=optional_path(given["tensorboard"]),
        progress=progress,
        verbose=progress is None if verbose is None else verbose,
    )


def train_segmentation(
    worlds: Mapping[str, World] | File,
    out: File,
    *,
    labels: Literal["map", "mpcat40"] | Sequence[str] = "map",
    steps: int | None = None,
    minutes: float | None = None,
    world_ids: Sequence[str] | None = None,
    calibration: Mapping[str, World] | File | None = None,
    appearance: str = "flat",
    randomize: bool = False,
    seed: int = 0,
    overwrite: bool = False,
    tensorboard: File | None = None,
    progress: Callable[[TrainingProgress], None] | None = None,
) -> InferredSemantics:
    """Train a network that labels pixels from color and depth, on frames from random poses in these worlds.

    Writes its model file, which `semantics=` of `run` and `train` and `load_semantics` take, and returns the labels it
    infers as a function of frames. If interrupted, call it again to resume; a finished training is not repeated.

    worlds: with meshes: a Hearth season, a folder of scenes, or worlds by id.
    labels: "map" (the 12 categories of semantic maps), "mpcat40", or the names of instances; void is added.
    steps, minutes: the length of the training, one of them; minutes are those of one core.
    world_ids: the worlds to train in; all of them by default, those of every split.
    calibration: other worlds, in which an offset of each label is chosen; without, rare labels are found too often.
    appearance, randomize: of the images, as in `run`; with `randomize` every world has random colors and light.
    tensorboard: a folder for curves.

    >>> import itinera
    >>> inferred = itinera.train_segmentation("hearth", "labels.safetensors", minutes=10)  # doctest: +SKIP
    """
    from dataclasses import replace

    from itinera.rendering.appearance import parse_appearance
    from itinera.training.segmentation import SENSOR
    from itinera.training.train_segmentation import STEPS_PER_MINUTE, SegmentationOptions, train_segmentation
    from itinera.worlds.labels import MAP_CLASSES, MPCAT40

    if (steps is None) == (minutes is None):
        raise BadArgument("Give the length of training as steps=… or as minutes=…, one of them.")
    count = round((minutes or 0) * STEPS_PER_MINUTE) if steps is None else steps
    sets = {"map": MAP_CLASSES, "mpcat40": MPCAT40}
    names = sets[validate_choice("labels", labels, tuple(sets))] if isinstance(labels, str) else ("void", *labels)
    return train_segmentation(
        _select_worlds(worlds, world_ids),
        names,
        SegmentationOptions(count, randomize=randomize),
        calibration=None if calibration is None else _select_worlds(calibration, None),
        sensor=replace(SENSOR, appearance=parse_appearance(appearance)),
        seed=seed,
        out=Path(out),
        overwrite=overwrite,
        logs=optional_path(tensorboard),
        progress=progress,
    )


def _select_worlds(worlds: Mapping[str, World] | File, world_ids: Sequence[str] | None) -> Mapping[str, World]:
    """The worlds with these ids, each loaded when it is needed."""
    from itinera.runs.config import load_worlds
    from itinera.tasks import PROTOCOLS
    from itinera.worlds.lazy import LazyMapping

    found = worlds if isinstance(worlds, Mapping) else load_worlds(Path(worlds), PROTOCOLS["r2r-ce"])
    if world_ids is None:
        return found
    missing = [name for name in world_ids if name not in found]
    if missing:
        raise BadArgument(f"World {missing[0]} is not among the worlds given.")
    return LazyMapping(world_ids, found.__getitem__)


def read_recipe(path: File) -> dict[str, Any]:
    """The arguments of `train` in a recipe, a TOML file; its paths are relative to it.

    >>> import itinera
    >>> agent = itinera.train(**itinera.read_recipe("recipe.toml"))  # doctest: +SKIP

    Unknown keys and values of the wrong type are reported together, with the nearest known key.
    """
    from itinera.formats.recipe import read_recipe

    return read_recipe(Path(path))
