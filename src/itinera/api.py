"""The functions of `import itinera`: everything the command line can do, in one call each.

Arguments are objects or paths: tasks, worlds, predictions and scores may be given as read, or as the file they are in.
Every function imports what it needs when called, so that the package loads quickly.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from itinera.errors import BadArgument, validate_choice

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from itinera.agents.agent import Agent
    from itinera.analysis.file_checks import FileReport, FolderReport
    from itinera.analysis.installation import Diagnosis
    from itinera.builders.ablations import Ablation
    from itinera.formats.action_probabilities import ActionProbabilities
    from itinera.formats.convert import Conversion
    from itinera.formats.trials import Study
    from itinera.hearth.season import Season
    from itinera.metrics.attempts import Attempts
    from itinera.metrics.audit import Audit
    from itinera.metrics.conformance import ConformanceReport
    from itinera.metrics.running import RunningScore
    from itinera.metrics.suites import Suite
    from itinera.planners.motion.dynamics import Dynamics
    from itinera.planners.motion.fastest import TimeBounds
    from itinera.policies.agent import PolicyAgent
    from itinera.policies.checkpoint import Model
    from itinera.records import Predictions, Rollout, ScoreTable
    from itinera.reports.charts.floor_plans import HouseImage
    from itinera.reports.comparison import Comparison
    from itinera.reports.dataset_description import DatasetTable
    from itinera.reports.intersection import Intersection
    from itinera.reports.page.inputs import Result as ReportResult
    from itinera.reports.page.report import Report
    from itinera.reports.power_analysis import PowerAnalysis
    from itinera.reports.replay.data import Replay
    from itinera.reports.skill_findings import StudyAnalysis
    from itinera.runs.build_season import SeasonBuild
    from itinera.runs.build_tasks import JoinedPathsBuild, ToursBuild
    from itinera.runs.fastest_times import TimesSummary
    from itinera.runs.replay import Difference
    from itinera.runs.reproduce import Reproduction
    from itinera.runs.run import Run
    from itinera.runs.workers import StartMethod
    from itinera.simulators.sensors import CameraSensor
    from itinera.simulators.simulator import Simulator
    from itinera.simulators.view_features import ViewSource
    from itinera.skills.trials import Skill
    from itinera.tasks import Episode, Protocol, Split
    from itinera.tasks.fastest_times import FastestTimes
    from itinera.worlds import Array, World
    from itinera.worlds.grid import Grid
    from itinera.worlds.world import Worlds

__all__ = [
    "analyze_study",
    "audit",
    "build_ablated",
    "build_hearth",
    "build_r4r",
    "build_tours",
    "check",
    "check_agent",
    "compare",
    "compare_solved",
    "conformance",
    "convert",
    "describe",
    "design_study",
    "doctor",
    "export_study",
    "fastest",
    "fastest_times",
    "import_study",
    "load_agent",
    "power",
    "read_map",
    "read_predictions",
    "read_scores",
    "read_study",
    "read_tasks",
    "read_worlds",
    "replay",
    "report",
    "reproduce",
    "rollout",
    "run",
    "run_study",
    "score",
    "show",
    "train",
    "verify_data",
    "view",
]

File: TypeAlias = str | PathLike[str]
logger = logging.getLogger("itinera")


def read_tasks(
    path: File, *, tours: File | None = None, reference: File | None = None, format: str | None = None
) -> Split:
    """The episodes of a tasks file: R2R, R4R, RxR, REVERIE, NDH, VLN-CE, PointNav or Itinera's own format.

    The format is recognized by content unless given. `tours` adds the tours of another file; `reference` replaces the
    reference paths by VLN-CE's or IVLN-CE's dense ground truth.

    >>> import itinera
    >>> tasks = itinera.read_tasks("R2R_val_unseen.json")  # doctest: +SKIP
    >>> len(tasks), tasks[0].instruction.text, tasks["4332_1"].reference  # doctest: +SKIP
    """
    from itinera.formats import catalog

    split = catalog.read_tasks(_path(path, "path", "read_tasks"), format=format)
    if reference is not None:
        split = catalog.with_reference(split, Path(reference))
    return split if tours is None else split.with_tours(catalog.read_tours(Path(tours), split), str(tours))


def read_worlds(path: File, *, protocol: str | Protocol | None = None) -> Worlds:
    """The worlds by id: the navigation graphs of a connectivity folder or archive, a JSON file of graphs, or a Hearth
    season; with the protocol of continuous tasks ("r2r-ce", ...) the surfaces of a folder of scenes or of a season.

    >>> import itinera
    >>> worlds = itinera.read_worlds("connectivity/")  # doctest: +SKIP
    >>> worlds["17DRP5sb8fy"].space.route("10c252c90fa24ef3b698c6f54d984c5c", "85c23efeaecd4d43a7dcd5b90137179e")
    ... # doctest: +SKIP
    """
    from itinera.formats import catalog
    from itinera.tasks import PROTOCOLS, Protocol
    from itinera.worlds.world import Worlds

    folder = _path(path, "path", "read_worlds")
    if isinstance(protocol, str):
        protocol = PROTOCOLS[validate_choice("protocol", protocol, PROTOCOLS)]
    if not isinstance(protocol, Protocol) or not protocol.on_ground:
        return Worlds(catalog.read_worlds(folder), str(path))
    surfaces = catalog.read_surfaces(folder, protocol)
    if surfaces is None:
        raise BadArgument(f"{path} contains neither scenes (.glb, .obj, .ply) nor a Hearth season to move in.")
    return Worlds(surfaces, str(path))


def read_predictions(
    path: File, tasks: Split | File | None = None, *, format: str | None = None, episode: str | None = None
) -> Predictions:
    """The trajectories of a predictions file, in any format that `itinera convert --list` names.

    The format is recognized by content unless given. RxR-CE submissions name instructions instead of episodes: `tasks`
    translates them. `episode` is the episode id of a robot log, which otherwise is the name of its file.

    >>> import itinera
    >>> predictions = itinera.read_predictions("preds.json")  # doctest: +SKIP
    >>> len(predictions), predictions["4332_1"].places  # doctest: +SKIP
    """
    from itinera.formats import catalog

    split = None if tasks is None else _split(tasks)
    return catalog.read_predictions(_path(path, "path", "read_predictions"), split, format=format, episode=episode)


def read_scores(path: File) -> ScoreTable:
    """The scores of a bundle that `itinera score --out` or `score(..., out=...)` wrote.

    >>> import itinera
    >>> itinera.read_scores("my-agent.jsonl")["SPL"].mean()  # doctest: +SKIP
    """
    from itinera.formats.bundles import read_scores

    return read_scores(_path(path, "path", "read_scores"))


def score(
    predictions: Predictions | File,
    tasks: Split | File,
    worlds: Mapping[str, World] | World | File | None = None,
    *,
    suite: str | Suite | None = None,
    protocol: str | Protocol | None = None,
    missing: Literal["fail", "zero"] = "fail",
    repeats: Literal["keep", "drop"] = "keep",
    times: FastestTimes | File | None = None,
    tours: File | None = None,
    reference: File | None = None,
    format: str | None = None,
    episode: str | None = None,
    out: File | None = None,
    progress: Callable[[int], None] | None = None,
    command_words: Sequence[str] = (),
) -> ScoreTable:
    """Every metric of a suite, a row per episode. `print` shows means with 95 % intervals clustered by scene.

    >>> import itinera
    >>> scores = itinera.score("preds.json", "R2R_val_unseen.json", "connectivity/")  # doctest: +SKIP
    >>> print(scores)  # doctest: +SKIP
    >>> scores["SPL"], scores.interval("SPL"), scores.to_pandas()  # doctest: +SKIP

    predictions, tasks, worlds: as read, or their paths. Continuous tasks need no worlds: without, distances are
        straight lines.
    suite: the name of a suite or a `Suite`; by default "paper", and "pointnav" for PointNav, which has no reference
        paths.
    protocol: success radius and stop rule, by name or as a `Protocol`; by default that of the predictions, or else
        of the tasks.
    missing: "fail" requires a trajectory for every episode, "zero" counts an episode without one as a failure.
    repeats: "drop" leaves out places equal to the one before, such as turns in place.
    times: the fastest times of the episodes, to add completion time and SCT.
    tours, reference, format, episode: as for `read_tasks` and `read_predictions`.
    out: a file for the score bundle, which `compare`, `report` and `read_scores` read.
    progress: called with the number of episodes just scored.
    """
    from dataclasses import replace

    from itinera.metrics.matching import match
    from itinera.metrics.score import score_attempts

    given = _load_inputs(predictions, tasks, worlds, protocol, tours, reference, format, episode)
    chosen = _suite(suite, given.protocol)
    _check_options(missing=missing, repeats=repeats)
    chosen = replace(chosen, rules=replace(chosen.rules, repeats=repeats))
    attempts = match(
        given.predictions,
        given.split,
        given.worlds,
        missing=missing,
        rules=chosen.rules,
        reference=chosen.needs_reference,
    )
    _log_repeats(attempts)
    table = score_attempts(attempts, given.split, chosen, given.protocol, progress=progress)
    table = replace(table, source=given.predictions.source)
    if times is not None:
        from itinera.metrics.completion import add_completion

        table = add_completion(table, attempts, *_times(times))
    if out is not None:
        from itinera.formats.bundles import write_scores
        from itinera.records.provenance import make_provenance

        used = {"predictions": predictions, "tasks": tasks, "worlds": worlds, "tours": tours, "reference": reference,
                "times": times}  # fmt: skip
        table = replace(table, provenance=make_provenance(_paths(used), command_words))
        write_scores(Path(out), table)
    return table


def audit(
    predictions: Predictions | File,
    tasks: Split | File,
    worlds: Mapping[str, World] | World | File | None = None,
    *,
    published: Mapping[str, str | float] | Sequence[str],
    protocol: str | Protocol | None = None,
    tours: File | None = None,
    reference: File | None = None,
    format: str | None = None,
) -> Audit:
    """The suites that give published numbers for these predictions.

    Numbers are given as printed, {"SR": "55.2"}: a number agrees if rounding to its printed digits gives it.

    >>> import itinera
    >>> itinera.audit("preds.json", "R4R_val_unseen.json", "connectivity/", published={"SPL": "0.27"}).matches
    ... # doctest: +SKIP
    """
    from itinera.metrics.audit import audit, parse_published

    numbers = parse_published(published)
    given = _load_inputs(predictions, tasks, worlds, protocol, tours, reference, format, None)
    return audit(given.predictions, given.split, given.worlds, numbers, protocol=given.protocol)


def conformance(
    scorer: Callable[[dict[str, Any]], Mapping[str, float | None]] | str, *, suite: str = "paper"
) -> ConformanceReport:
    """The agreement of your scorer with golden cases worked by hand.

    The scorer, a function or its "module:function", receives one attempt as a plain dict and returns metric values by
    name; docs/conformance.md describes the dict.

    >>> import itinera
    >>> itinera.conformance(lambda attempt: {"steps": len(attempt["trajectory"]["places"]) - 1}).agrees
    True
    """
    from itinera.metrics.conformance import evaluate_scorer

    return evaluate_scorer(scorer, suite=suite)


def check(
    path: File,
    *,
    tasks: Split | File | None = None,
    worlds: Mapping[str, World] | File | None = None,
    missing: Literal["fail", "zero"] = "fail",
    format: str | None = None,
) -> FileReport:
    """The report on a file of any known format; raises BadFile with every fault found.

    Predictions are checked against `tasks` and `worlds`; goals are not needed, so a submission to a hidden test can be
    checked before it is sent.

    >>> import itinera
    >>> print(itinera.check("preds.json", tasks="R2R_test.json", worlds="connectivity/"))  # doctest: +SKIP
    """
    from itinera.analysis.file_checks import check_file

    _check_options(missing=missing)
    return check_file(
        _path(path, "path", "check"),
        tasks=None if tasks is None else _split(tasks),
        worlds=worlds if worlds is None or isinstance(worlds, Mapping) else Path(worlds),
        missing=missing,
        format=format,
    )


def convert(
    source: File,
    target: File,
    to: str,
    *,
    format: str | None = None,
    tasks: File | None = None,
    tours: File | None = None,
    traces: File | None = None,
    episode: str | None = None,
    command_words: Sequence[str] = (),
) -> Conversion:
    """Write `target` in the format `to` with the content of `source`: tasks, predictions, worlds or labels.

    `tasks` translates ids of predictions; `tours` are added to tasks; `traces` is RxR's folder of guide pose traces,
    which align words; `episode` is the episode id of a robot log.

    >>> import itinera
    >>> itinera.convert("preds.json", "predictions.jsonl", "native-predictions")  # doctest: +SKIP
    """
    from itinera.formats.convert import convert

    def path(file: File | None) -> Path | None:
        return None if file is None else Path(file)

    return convert(
        Path(source),
        Path(target),
        to,
        format=format,
        tasks=path(tasks),
        tours=path(tours),
        traces=path(traces),
        episode=episode,
        command=command_words,
    )


def verify_data(folder: File, *, progress: Callable[[int], None] | None = None) -> FolderReport:
    """The report on a folder of data: stated digests compared, and every file of a known format read.

    Faults are collected, not raised. `progress` is called with 1 after each file.

    >>> import itinera
    >>> itinera.verify_data("hearth/").faults  # doctest: +SKIP
    ()
    """
    from itinera.analysis.file_checks import verify_folder

    return verify_folder(_path(folder, "folder", "verify_data"), progress=progress)


def doctor(*, browser: str | None = None, data: str | None = None) -> Diagnosis:
    """The state of this installation and machine: versions, extras, compiled kernels, browser, data.

    >>> import itinera
    >>> print(itinera.doctor())  # doctest: +SKIP
    """
    from itinera.analysis.installation import examine

    return examine(browser=browser, data=data)


@dataclass(frozen=True)
class _Inputs:
    """Everything a score is made from."""

    predictions: Predictions
    split: Split
    worlds: Mapping[str, World]
    protocol: Protocol


def _load_inputs(
    predictions: Predictions | File,
    tasks: Split | File,
    worlds: Mapping[str, World] | World | File | None,
    protocol: str | Protocol | None,
    tours: File | None,
    reference: File | None,
    format: str | None,
    episode: str | None,
) -> _Inputs:
    """Predictions, tasks, worlds and protocol that fit one another."""
    split = _split(tasks, tours=tours, reference=reference)
    loaded = _predictions(predictions, split, format=format, episode=episode)
    if split.tours:
        split = _answered_or_on_tours(split, loaded)
    chosen = _protocol(protocol, split, loaded.protocol)
    return _Inputs(loaded, split, _worlds(worlds, split, chosen), chosen)


def _answered_or_on_tours(split: Split, predictions: Predictions) -> Split:
    """The episodes of the tours, and of the others those with a trajectory: tours leave out what they cannot reach."""
    from dataclasses import replace

    kept = {name for tour in split.tours for name in tour.episode_ids} | {t.episode_id for t in predictions}
    return replace(split, episodes=tuple(episode for episode in split if episode.id in kept))


def _log_repeats(attempts: Sequence[Attempts]) -> None:
    from itinera.metrics.matching import repeat_fraction

    fraction = repeat_fraction(attempts)
    if fraction > 0.01:
        logger.info(
            f"{fraction:.0%} of the trajectories visit a place twice in a row, as turns in place do. steps, SED and "
            'nDTW count repeats; repeats="drop" (--repeats drop) leaves them out.'
        )


_CHOICES = {"missing": ("fail", "zero"), "repeats": ("keep", "drop")}


def _check_options(**options: str) -> None:
    for name, value in options.items():
        if value not in _CHOICES[name]:
            validate_choice(name, value, _CHOICES[name])


def _path(file: File, name: str, function: str) -> Path:
    if not isinstance(file, (str, PathLike)):
        raise BadArgument(f"{function}({name}) takes the path of a file, not {type(file).__name__}.")
    return Path(file)


def _paths(inputs: Mapping[str, object]) -> dict[str, Path | None]:
    """The inputs that were given as files, for the provenance."""
    return {role: Path(file) for role, file in inputs.items() if isinstance(file, (str, PathLike))}


def _split(tasks: Split | File, *, tours: File | None = None, reference: File | None = None) -> Split:
    """Tasks as given or read from their file, with the tours and reference paths of other files."""
    from itinera.tasks import Split

    if isinstance(tasks, (str, PathLike)):
        return read_tasks(tasks, tours=tours, reference=reference)
    if not isinstance(tasks, Split):
        raise BadArgument(f"tasks must be a Split or the path of a file, not {type(tasks).__name__}. See read_tasks.")
    if tours is None and reference is None:
        return tasks
    from itinera.formats import catalog

    split = tasks if reference is None else catalog.with_reference(tasks, Path(reference))
    return split if tours is None else split.with_tours(catalog.read_tours(Path(tours), split), str(tours))


def _predictions(
    predictions: Predictions | File, split: Split, *, format: str | None = None, episode: str | None = None
) -> Predictions:
    """Predictions as given, or read from their file."""
    from itinera.records import Predictions, Trajectory

    if isinstance(predictions, Predictions):
        return predictions
    if isinstance(predictions, (str, PathLike)):
        return read_predictions(predictions, split, format=format, episode=episode)
    if isinstance(predictions, Sequence) and predictions and all(isinstance(t, Trajectory) for t in predictions):
        return Predictions.from_trajectories("trajectories", predictions)
    kind = type(predictions).__name__
    raise BadArgument(
        f"predictions must be Predictions, a list of Trajectory or the path of a file, not {kind}. "
        "See read_predictions."
    )


def _protocol(protocol: str | Protocol | None, split: Split, stored: Protocol | None = None) -> Protocol:
    """The protocol of this name, or that of the predictions, or else of the tasks."""
    from itinera.tasks import PROTOCOLS, Protocol

    if protocol is None:
        return stored or PROTOCOLS[split.protocol]
    if isinstance(protocol, Protocol):
        return protocol
    if not isinstance(protocol, str):
        raise BadArgument(f"protocol must be a name or a Protocol, not {type(protocol).__name__}.")
    return PROTOCOLS[validate_choice("protocol", protocol, PROTOCOLS)]


def _suite(suite: str | Suite | None, protocol: Protocol) -> Suite:
    """The suite of this name for the protocol, or the protocol's default."""
    from itinera.metrics.suites import SUITES, Suite, default_suite

    if isinstance(suite, Suite):
        return suite
    if suite is None:
        chosen = SUITES[default_suite(protocol)](protocol)
        if not chosen.needs_reference:
            logger.info(f"Suite {chosen.name}: tasks without reference paths, so paths are not compared.")
        return chosen
    if not isinstance(suite, str):
        raise BadArgument(f"suite must be a name or a Suite, not {type(suite).__name__}: {', '.join(SUITES)}.")
    return SUITES[validate_choice("suite", suite, SUITES)](protocol)


def _worlds(worlds: Mapping[str, World] | World | File | None, split: Split, protocol: Protocol) -> Mapping[str, World]:
    """Worlds as given, or read from their folder."""
    from itinera.formats import catalog
    from itinera.worlds import World

    if isinstance(worlds, World):
        return {worlds.id: worlds}
    if isinstance(worlds, Mapping):
        return worlds
    if worlds is None or isinstance(worlds, (str, PathLike)):
        return catalog.load_worlds(split, None if worlds is None else Path(worlds), protocol)
    kind = type(worlds).__name__
    raise BadArgument(f"worlds must be a mapping of World by id or the path of a folder, not {kind}. See read_worlds.")


def _times(times: FastestTimes | File) -> tuple[FastestTimes, str]:
    """Fastest times as given or read from their file, and their name for messages."""
    if isinstance(times, (str, PathLike)):
        from itinera.formats.fastest_times import read_times

        return read_times(Path(times)), str(times)
    return times, "times"


def run(
    agent: str | Sequence[str] | Agent | type[Any] | None,
    tasks: Split | File,
    worlds: Mapping[str, World] | File,
    *,
    command: str | None = None,
    tours: File | None = None,
    protocol: str | Protocol | None = None,
    seed: int = 0,
    workers: int | None = None,
    out: File | None = None,
    overwrite: bool = False,
    limit_seconds: float | None = None,
    reply_seconds: float | None = None,
    max_episodes: int | None = None,
    record_probabilities: bool = False,
    views: str | None = None,
    objects: File | None = None,
    rooms: File | None = None,
    camera: CameraSensor | str | None = None,
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
    tasks, worlds: as read, or their paths.
    workers: the number of processes; 0 runs in this process. Default: one per core, and for an agent given as an
        object or class this process. The result does not depend on it.
    out: a file for the predictions. If interrupted, the same call resumes; `overwrite=True` starts anew.
    limit_seconds: the time limit of an episode, which then has failed; reply_seconds that of an agent in another
        process for one reply.
    max_episodes: run only the first episodes.
    record_probabilities: record the action probabilities of agents that have `action_probabilities`.
    views: on graphs "annotations", "rendered" or a file of features; objects and rooms are sources of annotations.
    camera: on the ground a `CameraSensor`, or "WIDTHxHEIGHT" in pixels.
    drive, vmax, wmax: on the ground a body that holds speeds, at most vmax m/s and wmax degrees/s.
    progress: called at the start and after every rollout.
    start_method: how worker processes start, "spawn" or "fork"; chosen by what was given unless set.
    command_words: the words of the command line, for the provenance.

    An agent's error fails its episode, with the reason in the notes of the trajectory; the run continues.
    """
    from itinera.runs.observations import make_camera
    from itinera.runs.run import prepare_run

    prepared = prepare_run(
        agent,
        tasks,
        worlds,
        command=command,
        tours=tours,
        protocol=protocol,
        seed=seed,
        workers=workers,
        start_method=start_method,
        limit_seconds=limit_seconds,
        reply_seconds=reply_seconds,
        max_episodes=max_episodes,
        record_probabilities=record_probabilities,
        views=views,
        objects=objects,
        rooms=rooms,
        camera=make_camera(camera) if isinstance(camera, str) else camera,
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
    from itinera.runs.config import require_agent
    from itinera.runs.rollout import rollout
    from itinera.simulators.factory import make_simulator
    from itinera.tasks import PROTOCOLS, Episode, Protocol, Tour

    tour = (episodes,) if isinstance(episodes, Episode) else tuple(episodes)
    if not tour:
        raise BadArgument("rollout needs at least one episode.")
    chosen = protocol if isinstance(protocol, Protocol) else PROTOCOLS[validate_choice("protocol", protocol, PROTOCOLS)]
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
    protocol: str | Protocol | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[Difference, ...]:
    """The differences when stored actions are taken again in the same worlds, at most one per episode.

    An empty result means that every trajectory is reproduced. `protocol` is that of the predictions unless given.

    >>> import itinera
    >>> itinera.replay("predictions.jsonl", "R2R_val_unseen.json", "connectivity/")  # doctest: +SKIP
    ()
    """
    from itinera.formats.native_predictions import read_predictions
    from itinera.records import Predictions
    from itinera.runs.config import load_worlds, require_matching, select_protocol
    from itinera.runs.replay import check_replayable, replay_all
    from itinera.simulators.factory import make_simulator
    from itinera.tasks import PROTOCOLS

    split = _split(tasks)
    stored = predictions if isinstance(predictions, Predictions) else read_predictions(Path(predictions))
    if protocol is not None:
        chosen = select_protocol(protocol, split)
    else:
        chosen = stored.protocol or PROTOCOLS[split.protocol]
    require_matching(chosen, split)
    check_replayable(stored, split)
    places = worlds if isinstance(worlds, Mapping) else load_worlds(Path(worlds), chosen)
    found: list[Difference] = []
    for differences in replay_all(stored.rollouts, make_simulator(chosen), places, split.by_id, protocol=chosen):
        found += differences
        if progress is not None:
            progress(1)
    return tuple(found)


def reproduce(file: File, *, trust: bool = False, workers: int | None = None) -> Reproduction:
    """The comparison of a file of `itinera run` or `itinera score` with its repetition, row by row.

    The command is read from the file. Its inputs must be unchanged, by their digests, and lie where the command looks
    for them. A command that runs somebody's agent is repeated only with `trust=True`.

    >>> import itinera
    >>> itinera.reproduce("predictions.jsonl", trust=True).identical  # doctest: +SKIP
    True
    """
    from itinera.runs.reproduce import reproduce

    return reproduce(file, trust=trust, workers=workers)


def check_agent(
    agent: str | Sequence[str] | Agent | type[Any] | None,
    *,
    command: str | None = None,
    protocol: str | Protocol = "r2r",
    drive: str | None = None,
) -> Agent:
    """The agent, after it was run in a small built-in scene; raises BadArgument at the first contract violation.

    >>> import itinera
    >>> from itinera.agents.baselines import UniformAgent
    >>> agent = itinera.check_agent(UniformAgent())
    """
    from itinera.runs.run import check_any_agent

    return check_any_agent(agent, command=command, protocol=protocol, drive=drive)


def train(
    policy: str | PathLike[str] | Model,
    tasks: Split | File,
    worlds: Mapping[str, World] | File,
    *,
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
    batch_size: int = 64,
    learning_rate: float | None = None,
    teacher_forcing_ratio: float = 0.8,
    max_steps: int | None = None,
    max_words: int = 80,
    progress: Callable[[int], None] | None = None,
) -> PolicyAgent:
    """An agent trained on graph tasks: imitation learning, or policy gradient with a `reward`.

    >>> import itinera
    >>> train_tasks, test_tasks = "hearth/r2r/R2R_train.json", "hearth/r2r/R2R_val_unseen.json"
    >>> agent = itinera.train("rcm", train_tasks, "hearth", minutes=10, out="rcm.safetensors")  # doctest: +SKIP
    >>> predictions = itinera.run(agent, test_tasks, "hearth")  # doctest: +SKIP

    policy: "rcm", "follower", "envdrop" or "hamt"; a model file to continue from; or a
        `itinera.policies.checkpoint.Model`, which is trained in place.
    steps, minutes: the number of optimizer steps, or as many as one core makes in about this time. Give one of them.
    reward: "goal" or "fidelity" (equations 11 and 12 of Stay on the Path); None for imitation learning.
    out: the model file. If interrupted, the same call resumes; `overwrite=True` starts anew; a file of another
        training run is refused.
    views: "auto": annotations if the worlds are a Hearth season, else geometry only; None: geometry only;
        "annotations", "rendered", a feature file, or a view source.
    objects, rooms: the sources of annotations if the worlds are not a Hearth season.
    config: layer sizes such as `itinera.policies.rcm.RCMConfig`; by default the SMALL ones.
    teacher_forcing_ratio: the share of agents that follow the expert in imitation learning.
    max_steps: of an agent per episode in training; by default 10 in imitation learning, 15 with a reward.
    progress: called with the number of steps just made.

    Uses one thread, so that two runs of one seed end with the same weights.
    """
    from importlib.util import find_spec

    from itinera.errors import MissingExtra

    if find_spec("torch") is None:
        raise MissingExtra("Training", "torch", "neural")
    from itinera.runs.config import load_worlds
    from itinera.runs.observations import open_views
    from itinera.tasks import PROTOCOLS
    from itinera.training.train_agent import TrainingOptions, configure_training_views, train_agent

    split = _split(tasks)
    if not _on_graph(split):
        raise BadArgument(f"Policies train on graph tasks; {split.name} has continuous episodes. Use its R2R version.")
    folder = None if isinstance(worlds, Mapping) else Path(worlds)
    graphs = worlds if isinstance(worlds, Mapping) else load_worlds(Path(worlds), PROTOCOLS["r2r"])
    if views is None or isinstance(views, str):
        observations = configure_training_views(
            split, folder, views=views, objects=_optional(objects), rooms=_optional(rooms)
        )
        source, reach = open_views(observations, folder, graphs), observations.reach
        view_source = observations.views or ""
    else:
        source, reach, view_source = views, 0.0, "given"
    return train_agent(
        policy,
        split,
        graphs,
        TrainingOptions(steps, minutes, reward, batch_size, learning_rate, teacher_forcing_ratio, max_steps, max_words),
        views=source,
        view_source=view_source,
        reach=reach,
        config=config,
        seed=seed,
        out=_optional(out),
        overwrite=overwrite,
        on_step=None if progress is None else lambda step, loss: progress(1),
    )


def load_agent(model: File) -> PolicyAgent:
    """The agent of a model file, or of a pretrained model by its name.

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
    return load_pretrained_agent(path, model_requirements(path).columns)


def build_hearth(
    out: File,
    *,
    houses: int = 90,
    seed: int = 1,
    splits: Sequence[str] = ("train", "val_seen", "val_unseen", "test"),
    workers: int | None = None,
    sealed: bool = False,
    secret: File | None = None,
    scenes: bool = False,
    radius: float = 0.10,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
    command_words: Sequence[str] = (),
) -> SeasonBuild:
    """Build a season of Hearth: procedural houses with tasks in the formats of R2R, RxR, REVERIE, VLN-CE and PointNav.

    The same parameters give the same bytes with any number of workers. If interrupted, call it again to resume.

    >>> import itinera
    >>> season = itinera.build_hearth("hearth", houses=9, workers=2)  # doctest: +SKIP
    >>> season.splits["train"]["instructions"]  # doctest: +SKIP

    out: the folder to write.
    houses: number of houses, at least 3; a small season is a prefix of a large one.
    seed: the season's seed. Season 1 is the public one.
    workers: number of worker processes (0: in this process); by default one per core.
    sealed: withhold the answers of the test split; they go to the folder OUT-answers.
    secret: a file with a secret text to use instead of the seed; published is only its SHA-256.
    scenes: also write the houses as .glb and .obj files (needs the extra `scenes`).
    radius: of the robot in continuous tasks, metres.
    overwrite: replace a season that was built with other parameters.
    progress: called with the number of houses just finished.
    """
    from itinera.hearth.season import SPLITS, check_radius, house_indices
    from itinera.records.provenance import make_provenance
    from itinera.runs.build_season import SeasonConfig, build_season
    from itinera.runs.workers import count_workers

    names = (splits,) if isinstance(splits, str) else tuple(splits)
    for name in names:
        validate_choice("splits", name, SPLITS)
    ordered = tuple(split for split in SPLITS if split in names)
    house_indices(houses, ordered)
    check_radius(radius)
    if scenes:
        from itinera.formats.scenes import require_trimesh

        require_trimesh()
    if sealed and "test" not in ordered:
        raise BadArgument("sealed withholds the answers of the test split, which is not among splits (--splits).")
    if workers is not None and workers < 0:
        raise BadArgument(f"workers must be ≥ 0 (got {workers}).")
    config = SeasonConfig(_season(seed, secret), Path(out), houses, ordered, radius, sealed, scenes)
    if config.season.commitment:
        # Logged before anything is built, so that it can be published first.
        logger.info(f"SHA-256 of the secret: {config.season.commitment}")
    elif sealed:
        logger.warning(f"Season {seed} is public: everybody can build its answers. A secret (--secret) prevents that.")
    provenance = make_provenance({}, command_words, seed=None if config.season.commitment else seed)
    built = build_season(
        config, workers=count_workers(workers), provenance=provenance, overwrite=overwrite, progress=progress
    )
    if built.answers is not None:
        logger.warning(f"The answers of the test split are in {built.answers}. Do not publish that folder.")
    return built


def _season(seed: int, secret: File | None) -> Season:
    """The season of a seed, or of the secret text in a file."""
    from itinera.errors import BadFile, Fault
    from itinera.formats.io import read_bytes
    from itinera.hearth.season import public_season, secret_season

    if secret is None:
        return public_season(seed)
    if seed != 1:
        raise BadArgument("Give a seed (--season) or a secret (--secret), not both: a season has one seed.")
    try:
        return secret_season(read_bytes(Path(secret), limit=1 << 20))
    except BadArgument as error:
        raise BadFile(str(secret), [Fault("", str(error))]) from None


def build_r4r(
    tasks: Split | File,
    worlds: Mapping[str, World] | File,
    out: File,
    *,
    parts: int = 2,
    threshold: float = 3.0,
    round_trips: bool = True,
    max_turn_deg: float | None = None,
    max_paths: int | None = None,
    max_instructions: int | None = None,
    seed: int = 0,
    positions: Literal["pose", "panorama"] = "pose",
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
    command_words: Sequence[str] = (),
) -> JoinedPathsBuild:
    """Build R4R (R6R with parts=3, R8R with parts=4): paths joined end to start, instructions in every combination.

    Writes a JSON list in R2R's format. If interrupted, call it again to resume.

    >>> import itinera
    >>> itinera.build_r4r("R2R_val_unseen.json", "connectivity/", "R4R_val_unseen.json").paths  # doctest: +SKIP

    threshold: maximum distance from the end of a path to the start of the next, metres.
    round_trips: keep joined paths that end where they start.
    max_turn_deg: maximum turn between two parts, degrees.
    max_paths, max_instructions: maximum per scene, and per joined path, sampled with the seed.
    positions: "panorama" reads the node positions of R4R's first release, which its published counts need.
    overwrite: start anew instead of resuming or keeping the file.
    progress: called with the number of scenes just finished.
    """
    from math import radians

    from itinera.builders.joining import JoinConfig
    from itinera.formats.matterport import read_worlds as read_connectivity
    from itinera.records.provenance import make_provenance
    from itinera.runs.build_tasks import build_joined_paths

    validate_choice("positions", positions, ("pose", "panorama"))
    max_turn = None if max_turn_deg is None else radians(max_turn_deg)
    config = JoinConfig(parts, threshold, round_trips, max_turn, max_paths, max_instructions, seed)
    split = _split(tasks)
    if isinstance(worlds, Mapping):
        graphs: Mapping[str, World] = worlds
    else:
        graphs = read_worlds(worlds) if positions == "pose" else read_connectivity(Path(worlds), positions="panorama")
    return build_joined_paths(
        Path(out),
        split,
        graphs,
        config,
        positions=positions,
        provenance=make_provenance(_paths({"tasks": tasks, "worlds": worlds}), command_words),
        overwrite=overwrite,
        progress=progress,
    )


def build_tours(
    tasks: Split | File,
    worlds: Mapping[str, World] | File | None,
    out: File,
    *,
    order: Literal["end-to-start", "start-to-start"] = "end-to-start",
    solver: Literal["exact", "lkh"] = "exact",
    time_limit: float | None = None,
    tours: int | None = None,
    single: bool = False,
    seed: int = 0,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
    command_words: Sequence[str] = (),
) -> ToursBuild:
    """Build IVLN's tours: the paths of every scene in the order of least guidance between episodes.

    Writes IVLN's format, {split: {scan: [[episode, …], …]}}, for `read_tasks(..., tours=...)`. If interrupted, call
    it again to resume.

    >>> import itinera
    >>> itinera.build_tours("R2R_val_unseen.json", "connectivity/", "tours.json").cost  # doctest: +SKIP

    order: "start-to-start" for tasks whose goals are hidden, as IVLN's test split.
    solver: "exact" proves optimality, "lkh" is a heuristic (extra `lkh`).
    time_limit: seconds per set of paths for the exact solver.
    tours: tours per set of paths; by default as many as its paths have instructions.
    single: keep sets of one path, as tours of one episode.
    overwrite: start anew instead of resuming or keeping the file.
    progress: called with the number of scenes just finished.
    """
    from itinera.builders.tours import TourConfig
    from itinera.records.provenance import make_provenance
    from itinera.runs import build_tasks

    validate_choice("order", order, ("end-to-start", "start-to-start"))
    validate_choice("solver", solver, ("exact", "lkh"))
    config = TourConfig(order, tours, single, seed)
    split = _split(tasks)
    return build_tasks.build_tours(
        Path(out),
        split,
        _worlds(worlds, split, _protocol(None, split)),
        config,
        solver=solver,
        time_limit=time_limit,
        provenance=make_provenance(_paths({"tasks": tasks, "worlds": worlds}), command_words),
        overwrite=overwrite,
        progress=progress,
    )


def build_ablated(
    tasks: Split | File, out: File | None = None, *, rule: str, seed: int = 0, command_words: Sequence[str] = ()
) -> Ablation:
    """The same tasks with ablated instructions, to measure how much an agent depends on language.

    Rules: "full", "last-N" (the last N tokens), "none", "other" (the instruction of another path), "without-turns",
    "without-rooms", "without-objects" (such words masked). With `out`, the tasks are written in the format of their
    file; of Fine-Grained R2R in R2R's.

    >>> import itinera
    >>> itinera.build_ablated("R2R_val_unseen.json", "last5.json", rule="last-5").changed  # doctest: +SKIP
    """
    from itinera.builders.ablations import MASKED_WORDS, Ablation, ablate
    from itinera.skills.categories import DEFAULT_CATEGORIES

    split = _split(tasks)
    kinds = {**MASKED_WORDS, "objects": MASKED_WORDS["objects"] | DEFAULT_CATEGORIES.keys()}
    ablated = ablate(split, rule, seed=seed, kinds=kinds)
    if out is not None:
        from itinera.formats import catalog
        from itinera.formats.provenance import write_sidecar
        from itinera.records.provenance import make_provenance

        source = catalog.detect(Path(tasks)).name if isinstance(tasks, (str, PathLike)) else "native-tasks"
        # Fine-Grained R2R splits instructions into chunks, which ablated ones do not have.
        catalog.find_format("r2r" if source == "fgr2r" else source).write(Path(out), ablated)
        write_sidecar(Path(out), make_provenance(_paths({"tasks": tasks}), command_words, seed=seed))
    pairs = zip(split.episodes, ablated.episodes, strict=True)
    changed = sum(before.instruction.text != after.instruction.text for before, after in pairs)
    return Ablation(ablated, changed, None if out is None else Path(out))


def view(
    house: int | str,
    out: File,
    *,
    kind: Literal["plan", "inside"] = "plan",
    season: int | None = None,
    paths: int = 0,
) -> HouseImage:
    """Draw a house of Hearth as a PNG image: its floor plan with furniture and viewpoints, or views of three rooms.

    >>> import itinera
    >>> itinera.view(7, "plan.png", paths=2).rooms  # doctest: +SKIP

    house: its index, 7, or its id, "hearth-1-007".
    season: the season's seed; by default that of the id, or 1.
    paths: the number of its paths to draw on the floor plan.
    """
    from itinera.builders.hearth import build_house_graph, sample_house_paths
    from itinera.hearth.season import parse_house, paths_per_split
    from itinera.reports.charts.floor_plans import HouseImage, check_image_path, draw_plan, draw_views

    seed, index = parse_house(str(house), season)
    validate_choice("kind", kind, ("plan", "inside"))
    if paths < 0 or (paths and kind == "inside"):
        raise BadArgument(f"paths (--paths) is a number of paths to draw on the floor plan (got {paths}).")
    file = check_image_path(Path(out))
    built, graph = build_house_graph(seed, index)
    if kind == "plan":
        sampled = sample_house_paths(graph, seed, index, sum(paths_per_split(index).values()))[:paths]
        draw_plan(built, file, graph=graph, paths=sampled)
    else:
        from itinera.hearth.interior_views import render_interior

        draw_views(render_interior(built, graph), file)
    return HouseImage(file, built.id, len(built.plan.rooms), len(graph.nodes), len(built.mesh.faces))


def read_map(path: File, *, resolution: float | None = None, unknown: Literal["blocked", "free"] = "blocked") -> Grid:
    """The occupancy grid of a ROS map (its .yaml file) or of an image of a floor plan, light where free.

    resolution: metres per pixel of an image, whose lower left corner is the origin; a .yaml file has its own.
    unknown: whether unknown cells of a ROS map are blocked or free.

    >>> import itinera
    >>> grid = itinera.read_map("map.yaml")  # doctest: +SKIP
    """
    path = Path(path)
    if path.suffix.lower() in (".yaml", ".yml"):
        from itinera.formats.rosmap import read_map

        if resolution is not None:
            raise BadArgument(f"{path} is a ROS map, which has its own resolution: leave out resolution.")
        return read_map(path, unknown=unknown)
    from itinera.formats.floor_plans import read_floor_plan

    if resolution is None:
        raise BadArgument(
            f"{path} is an image, which has no scale: give resolution= in metres per pixel (--metres-per-pixel), or "
            "the .yaml file of a ROS map."
        )
    return read_floor_plan(path, resolution)


def fastest(
    map: Grid | File,
    start: ArrayLike,
    goal: ArrayLike,
    *,
    dynamics: str | Dynamics = "unicycle",
    vmax: float | None = None,
    wmax: float | None = None,
    reverse: bool = False,
    radius: float = 0.2,
    goal_radius: float = 0.0,
    resolution: float | None = None,
    unknown: Literal["blocked", "free"] = "blocked",
    trees: int = 4,
    seed: int = 0,
    figure: File | None = None,
) -> TimeBounds:
    """Bounds on the fastest time of a robot from a pose to a goal, with a drive that proves the upper bound.

    map: a `Grid`, or the file of a map (see `read_map` for `resolution` and `unknown`).
    start: x, y, heading; goal: x, y. Metres and radians in the map's frame, headings counter-clockwise from +x.
    dynamics: "unicycle", "point-turn", "holonomic" or a `Dynamics`; `vmax` in m/s (default 0.25) and `wmax` in rad/s
        (default 10 degrees per second) are its speed limits, `reverse` lets a unicycle drive backwards.
    radius: of the round robot, metres. goal_radius: metres from the goal within which the robot has arrived.
    trees: random trees (RRT*) that search for a faster drive, seeded by `seed`.
    figure: a .png or .svg file for a picture of the drives.

    >>> import numpy as np
    >>> import itinera
    >>> from itinera.worlds.grid import Grid
    >>> room = Grid(np.zeros((40, 60), dtype=bool), resolution=0.1, origin=(10.0, 5.0))  # 6 x 4 m
    >>> itinera.fastest(room, start=(11.0, 6.0, 0.0), goal=(15.0, 6.0), trees=0)
    TimeBounds(16.00 to 16.00 s, unicycle, 4.00 m driven)
    """
    from itinera.planners.motion.fastest import fastest

    robot = _dynamics(dynamics, vmax, wmax, reverse=reverse)
    grid = _grid(map, resolution, unknown)
    found = fastest(grid, start, goal, dynamics=robot, radius=radius, goal_radius=goal_radius, trees=trees, seed=seed)
    if figure is not None:
        title = Path(map).name if isinstance(map, (str, PathLike)) else ""
        _draw_fastest(found, grid, goal, radius, goal_radius, Path(figure), title)
    return found


def _grid(map: Grid | File, resolution: float | None, unknown: Literal["blocked", "free"]) -> Grid:
    """A map as given, or read from its file."""
    from itinera.worlds.grid import Grid

    if isinstance(map, Grid):
        return map
    if isinstance(map, (str, PathLike)):
        return read_map(map, resolution=resolution, unknown=unknown)
    raise BadArgument(
        f"map must be a Grid or the path of a map, not {type(map).__name__}. From an array of blocked cells: "
        "itinera.worlds.grid.Grid(blocked, resolution, origin=(x, y)); from a file: itinera.read_map(path)."
    )


def _dynamics(dynamics: str | Dynamics, vmax: float | None, wmax: float | None, *, reverse: bool) -> Dynamics:
    """Dynamics as given, or by name."""
    from itinera.planners.motion.dynamics import VMAX, WMAX, Dynamics, make_dynamics

    if isinstance(dynamics, Dynamics):
        if vmax is not None or wmax is not None or reverse:
            raise BadArgument("vmax, wmax and reverse belong to named dynamics: set them in the Dynamics object.")
        return dynamics
    speeds = VMAX if vmax is None else vmax, WMAX if wmax is None else wmax
    return make_dynamics(dynamics, *speeds, reverse=reverse)


def _draw_fastest(
    found: TimeBounds, grid: Grid, goal: ArrayLike, radius: float, goal_radius: float, path: Path, title: str
) -> None:
    """Draw the drives of a robot and of its alternatives on the map; log it if there is none."""
    import numpy as np

    from itinera.planners.motion.fastest import GoalPlanner
    from itinera.reports.charts.drives import DrawnDrive, Floor, draw_drives

    assert found.dynamics is not None
    drives = []
    for bounds in (found, *found.alternatives.values()):
        if bounds.drive is not None and bounds.dynamics is not None and len(bounds.drive.moves):
            samples = bounds.drive.sample(bounds.dynamics)
            # A rotated map is drawn in the frame of its cells.
            poses = grid.to_local(samples[:, :3]) if grid.rotation else samples[:, :3]
            label = f"{bounds.dynamics.name}: {bounds.upper:.1f} s, {bounds.drive.length:.2f} m"
            drives.append(DrawnDrive(label, np.column_stack((poses, samples[:, 3]))))
    if not drives:
        logging.getLogger("itinera").warning("%s is not drawn: there is no drive to show.", path)
        return
    planner = GoalPlanner(grid, np.asarray(goal, dtype=np.float64), found.dynamics, radius, goal_radius)
    origin, point = ((0.0, 0.0), grid.to_local(goal)) if grid.rotation else (grid.origin, planner.goal)
    floor = Floor(grid.blocked, grid.free_cells(radius), grid.resolution, origin, planner.value_field.least)
    draw_drives(floor, drives, point, goal_radius, path, title=title)


def fastest_times(
    tasks: Split | File,
    worlds: Mapping[str, World] | File,
    *,
    out: File | None = None,
    dynamics: str = "unicycle",
    vmax: float | None = None,
    wmax: float | None = None,
    reverse: bool = False,
    radius: float = 0.2,
    goal_radius: float = 0.0,
    workers: int | None = None,
    overwrite: bool = False,
    progress: Callable[[str, int], Callable[[int], None]] | None = None,
    on_summary: Callable[[TimesSummary], None] | None = None,
    command_words: Sequence[str] = (),
) -> FastestTimes:
    """Bounds on the fastest time of a robot for every episode of tasks on the ground, for SCT.

    Episodes with the same goal are planned together. See `fastest` for the robot.

    worlds: surfaces, or the path of a Hearth season or of a folder of scenes.
    out: a file for the times. If interrupted, the same call resumes; times in the file are used again, also for other
        tasks, and `overwrite=True` starts anew.
    workers: the number of processes. Default: one per core. The result does not depend on it.
    progress: called with a stage and its total, returns the function that is called with the work done since.
    on_summary: called with the counts of the result.
    command_words: the words of the command line, for the provenance.

    >>> import itinera
    >>> times = itinera.fastest_times("val_unseen.json.gz", "hearth", out="times.jsonl")  # doctest: +SKIP
    """
    import math

    from itinera.runs.fastest_times import plan_fastest_times
    from itinera.tasks.fastest_times import ReferenceRobot

    moving = _dynamics(dynamics, vmax, wmax, reverse=reverse)
    if not (math.isfinite(radius) and radius > 0):
        raise BadArgument(f"radius must be above 0 m, not {radius:g}: surfaces are computed for the robot's radius.")
    if not (math.isfinite(goal_radius) and goal_radius >= 0):
        raise BadArgument(f"goal_radius must be at least 0 m, not {goal_radius:g}.")
    if workers is not None and workers < 0:
        raise BadArgument(f"workers must be at least 0, not {workers}.")
    turning = moving.wmax if math.isfinite(moving.wmax) else None
    times, summary = plan_fastest_times(
        _split(tasks),
        worlds if isinstance(worlds, Mapping) else Path(worlds),
        ReferenceRobot(moving.name, moving.vmax, turning, moving.reverse, radius, goal_radius),
        out=None if out is None else Path(out),
        tasks=Path(tasks) if isinstance(tasks, (str, PathLike)) else None,
        workers=workers,
        overwrite=overwrite,
        command=command_words,
        progress=progress,
    )
    if on_summary is not None:
        on_summary(summary)
    return times


def compare(
    results: Mapping[str, ScoreTable | File] | Sequence[ScoreTable | File], *, seed: int = 0, level: float = 0.95
) -> Comparison:
    """The comparison of results on the same episodes: each later result minus the first. `print` shows the table.

    Differences have intervals clustered by scene, a permutation test over scenes and P(better), the probability to be
    better on an episode. Systems that share a letter do not differ significantly. Raises BadArgument unless protocol,
    suite and episodes are the same.

    results: score tables or bundles by name, or a list of them, named by their files.
    seed: of the permutation test, if there are too many scenes to enumerate all permutations.

    >>> import itinera
    >>> from itinera.records import ScoreTable
    >>> scenes = ["a", "a", "b", "b", "c", "c"]
    >>> mine = ScoreTable.from_values({"SR": [1, 1, 1, 0, 1, 1]}, world_ids=scenes)
    >>> other = ScoreTable.from_values({"SR": [0, 1, 1, 0, 0, 1]}, world_ids=scenes)
    >>> found = itinera.compare({"other": other, "mine": mine})
    >>> found
    Comparison(other, mine: 1 metric, 6 episodes in 3 scenes)
    >>> round(found["SR"].differences[0].interval.mean, 3)
    0.333
    """
    from itinera.reports.comparison import compare

    names, tables = _score_tables(results)
    return compare(names, tables, seed=seed, level=level)


def compare_solved(
    results: Mapping[str, ScoreTable | File] | Sequence[ScoreTable | File], *, level: float = 0.95
) -> Intersection:
    """The means over all episodes, and over the episodes that every agent solved: SCT, SPL, SR, SCT∩ and SPL∩.

    Protocols may differ in how the agent moves, and in nothing else. See `compare` for `results`.

    >>> import itinera
    >>> print(itinera.compare_solved(["slow.jsonl", "fast.jsonl"]))  # doctest: +SKIP
    """
    from itinera.reports.intersection import intersect

    names, tables = _score_tables(results)
    found = intersect(names, tables, level=level)
    if not found.solved:
        logger.warning("No episode was solved by every agent: SCT∩ and SPL∩ are undefined.")
    return found


def report(
    results: ReportResult | Mapping[str, ReportResult | Sequence[ReportResult]] | Sequence[ReportResult],
    *,
    out: File | None = None,
    markdown: File | None = None,
    latex: File | None = None,
    replays: File | None = None,
    title: str = "",
    seed: int = 0,
    level: float = 0.95,
) -> Report:
    """A report on results: one HTML page with a summary, tables and charts. `print` shows a sentence per benchmark.

    Results with the same episodes, protocol and suite are compared; others get sections of their own.

    results: score tables or bundles, fastest times, and the JSON of `study analyse` and `describe`, or their files; by
        name (a list of results for an agent on several benchmarks), or a list, named by their files.
    out: the page (.html). markdown, latex: files for the sentences and tables.
    replays: a folder of pages of `show`, linked from the episodes and agents they contain; a page named
        replay-EPISODE.html is linked from that episode.

    >>> import itinera
    >>> itinera.report({"baseline": "baseline.jsonl", "mine": "mine.jsonl"}, out="report.html")  # doctest: +SKIP
    """
    from itinera.formats.io import atomic_write
    from itinera.records.provenance import itinera_version
    from itinera.reports.page import manuscript
    from itinera.reports.page.inputs import collect_inputs
    from itinera.reports.page.report import make_report, write_report_page
    from itinera.reports.replay.links import find_named_replays, find_replay_pages

    page = Path.cwd() / "report.html" if out is None else Path(out)
    given = collect_inputs(_name_results(results))
    made = make_report(
        given.names,
        given.tables,
        findings=given.findings,
        described=given.described,
        times=given.times,
        replays={} if replays is None else find_named_replays(Path(replays), page),
        replay_pages=() if replays is None else find_replay_pages(Path(replays), page),
        version=itinera_version(),
        title=title,
        seed=seed,
        level=level,
    )
    if out is not None:
        write_report_page(page, made)
    for path, render in ((markdown, manuscript.to_markdown_text), (latex, manuscript.to_latex_floats)):
        if path is not None:
            with atomic_write(Path(path)) as stream:
                stream.write(render(made).encode())
    return made


def show(
    predictions: Predictions | File | Mapping[str, Predictions | File] | Sequence[Predictions | File],
    tasks: Split | File,
    worlds: Mapping[str, World] | World | File | None = None,
    *,
    out: File | Sequence[File] | None = None,
    episodes: str | Sequence[str] = (),
    tour: str | None = None,
    alignment: File | None = None,
    times: FastestTimes | File | None = None,
    max_views: int = 1000,
    protocol: str | Protocol | None = None,
    format: str | None = None,
) -> Replay:
    """A replay of trajectories: a map with paths, the instruction and first-person views along a time line.

    predictions: of one agent or of several, by name or as a list, named by their files.
    worlds: as for `score`. The path of a Hearth season or of a folder of scenes adds rooms and first-person views.
    out: files to write, by suffix: a page (.html), an image (.png), a video (.gif, .mp4) or a Rerun recording (.rrd).
    episodes, tour: what to show, by id; by default the first rollout of the first agent.
    alignment: RxR's guide pose traces, which align words with positions; a Hearth season has its own.
    times: fastest times of the episodes; on the ground the fastest drives of a few episodes are drawn too.
    max_views: the number of first-person views of a page, if the worlds have meshes.

    >>> import itinera
    >>> itinera.show("preds.json", "R2R_val_unseen.json", "connectivity/", out="replay.html")  # doctest: +SKIP
    """
    from itinera.reports.replay import inputs
    from itinera.reports.replay.trajectories import make_replay
    from itinera.reports.replay.write import check_replay_path, write_replay

    targets = [Path(file) for file in ([out] if isinstance(out, (str, PathLike)) else out or ())]
    for target in targets:
        check_replay_path(target)
    if max_views < 0:
        raise BadArgument(f"max_views (--pictures) must be at least 0, not {max_views}.")
    split = _split(tasks)
    agents = {name: _predictions(one, split, format=format) for name, one in _name_predictions(predictions).items()}
    chosen = _protocol(protocol, split, next(iter(agents.values())).protocol)
    folder = Path(worlds) if isinstance(worlds, (str, PathLike)) else None
    selected = inputs.select_episodes(
        split, agents, episodes=[episodes] if isinstance(episodes, str) else episodes, tour=tour
    )
    selected = inputs.align_words(selected, traces=None if alignment is None else Path(alignment), folder=folder)
    places = _worlds(worlds, selected, chosen)
    absent = [world_id for world_id in selected.world_ids if world_id not in places]
    if absent:
        raise BadArgument(f"World {absent[0]} is not in {folder or 'worlds'}. Give the worlds of these tasks.")
    houses = {} if folder is None else inputs.build_houses(folder, selected.world_ids)
    bounds = None if times is None else _times(times)[0]
    with_views = max_views > 0 and any(target.suffix == ".html" for target in targets)
    made = make_replay(
        agents,
        selected,
        places,
        protocol=chosen,
        title=inputs.make_title(selected, agents),
        houses=houses,
        drives={} if bounds is None else _fastest_drives(selected, folder, chosen, bounds),
        times=bounds,
        view_renderer=inputs.find_view_renderer(places, selected.world_ids, houses=houses, folder=folder)
        if with_views
        else None,
        max_views=max_views,
    )
    for target in targets:
        write_replay(target, made)
    return made


def _score_tables(results: Mapping[str, Any] | Sequence[Any]) -> tuple[list[str], list[ScoreTable]]:
    """The names and score tables of results; bundles are read."""
    from itinera.records import ScoreTable

    named = _name_results(results)
    for name, one in named:
        if not isinstance(one, (ScoreTable, str, PathLike)):
            raise BadArgument(
                f"results must be ScoreTables or bundles of `itinera score --out`; {name} is {type(one).__name__}. "
                "Score predictions first: itinera.score(predictions, tasks, worlds)."
            )
    tables = [one if isinstance(one, ScoreTable) else read_scores(one) for _, one in named]
    names = [name for name, _ in named]
    if len(set(names)) < len(names):
        paths = [str(one) if isinstance(one, (str, PathLike)) else name for name, one in named]
        names = [f"{name} ({k})" if paths.count(name) > 1 else name for k, name in enumerate(paths, start=1)]
    return names, tables


def _name_results(results: Any) -> list[tuple[str, Any]]:
    """Results with their names: keys of a mapping, stems of files, sources of score tables."""
    from itinera.records import ScoreTable

    if isinstance(results, Mapping) and not isinstance(results, ScoreTable):
        pairs = ((str(name), one) for name, one in results.items())
        return [(name, one) for name, many in pairs for one in (many if isinstance(many, (list, tuple)) else [many])]
    items = list(results) if isinstance(results, (list, tuple)) else [results]
    return [(_result_name(one, k), one) for k, one in enumerate(items, start=1)]


def _result_name(result: Any, number: int) -> str:
    source = result if isinstance(result, (str, PathLike)) else getattr(result, "source", "")
    return Path(source).name.split(".")[0] if source else f"result {number}"


def _name_predictions(predictions: Any) -> dict[str, Any]:
    """Predictions by name: keys of a mapping, stems of files, sources of predictions."""
    from itinera.records import Predictions, Trajectory
    from itinera.reports.replay.inputs import name_agents

    if isinstance(predictions, Mapping) and not isinstance(predictions, Predictions):
        return {str(name): one for name, one in predictions.items()}
    many = isinstance(predictions, (list, tuple)) and not any(isinstance(one, Trajectory) for one in predictions)
    items = list(predictions) if many else [predictions]
    if not items:
        raise BadArgument("show needs the predictions of at least one agent.")
    if all(isinstance(one, (str, PathLike)) for one in items):
        return dict(zip(name_agents([Path(one) for one in items]), items, strict=True))
    return {_result_name(one, k) if len(items) == 1 else f"{_result_name(one, k)} ({k})": one
            for k, one in enumerate(items, start=1)}  # fmt: skip


def _fastest_drives(split: Split, folder: Path | None, protocol: Protocol, times: FastestTimes) -> dict[str, Array]:
    """The fastest drives of a few continuous episodes in a folder of surfaces, by episode id; empty for others."""
    from itinera.runs.fastest_drives import plan_drives

    return {} if folder is None else plan_drives(split, folder, protocol, times.robot)


def read_study(path: File) -> Study:
    """The trials of a skill study, from a file of `design_study` or `itinera study design`.

    >>> import itinera
    >>> study = itinera.read_study("trials.jsonl")  # doctest: +SKIP
    >>> len(study), study[0].episode.instruction.text  # doctest: +SKIP
    """
    from itinera.formats.trials import read_trials

    return read_trials(_path(path, "path", "read_study"))


def design_study(
    skills: str | Iterable[str],
    tasks: Split | File,
    worlds: Mapping[str, World] | File,
    *,
    alignment: File | None = None,
    objects: File | None = None,
    rooms: File | None = None,
    categories: File | None = None,
    variant: str | None = None,
    max_episodes: int | None = None,
    seed: int = 0,
    out: File | None = None,
    command_words: Sequence[str] = (),
) -> Study:
    """The trials of a skill study: truncated episodes with a sentence that asks for a skill, each with its control.

    >>> import itinera
    >>> study = itinera.design_study(["stop", "direction"], "rxr_val_unseen_guide.jsonl.gz", "hearth")
    ... # doctest: +SKIP
    >>> study.filter_counts["stop"].kept  # doctest: +SKIP

    skills: names of skills or families: stop, direction, object, room, room-within, all; or one, as direction-left.
    tasks: episodes whose words are aligned with places: RxR, Fine-Grained R2R or our own format. `alignment` is RxR's
        folder or archive of guide pose traces; a Hearth season has its own.
    worlds: navigation graphs or a Hearth season. `objects` (REVERIE's BBox folder) and `rooms` (a CSV table) annotate
        graphs that are not a season.
    categories: Matterport's category_mapping.tsv, instead of the small built-in table.
    variant: "paper"; "released", the sentences and filters of the released scripts; "hearth", the paper's with Hearth's
        names of rooms and objects. Default: "hearth" for a season, else "paper".
    out: a file for the trials.
    """
    from dataclasses import replace

    from itinera.formats.annotations import WorldFiles, read_aligned_tasks, require_alignment
    from itinera.formats.trials import write_trials
    from itinera.records.provenance import make_provenance
    from itinera.skills.registry import VARIANTS, select_skills
    from itinera.skills.trials import design
    from itinera.skills.truncation import TRUNCATION_RULES, truncate
    from itinera.tasks import Split

    names = [skills] if isinstance(skills, str) else list(skills)
    files = None
    if not isinstance(worlds, Mapping):
        files = WorldFiles(_path(worlds, "worlds", "design_study"), _optional(objects), _optional(rooms))
    default = "hearth" if files is not None and files.is_season else "paper"
    chosen = validate_choice("variant", variant or default, VARIANTS)
    if isinstance(tasks, Split):
        split = tasks
        require_alignment(split, split.name)
    else:
        split = read_aligned_tasks(_path(tasks, "tasks", "design_study"), _optional(alignment))
    needs_objects = any(name in ("object", "all") for name in names)
    graphs = worlds if files is None else files.read(objects=needs_objects)
    assert isinstance(graphs, Mapping)
    selected = select_skills(names, _study_skills(chosen, _optional(categories), graphs, split.world_ids))
    if max_episodes is not None and max_episodes < 1:
        raise BadArgument(f"max_episodes must be ≥ 1 (got {max_episodes}); omit it for no limit.")
    rule = TRUNCATION_RULES["released" if chosen == "released" else "paper"]
    truncations = truncate(split.episodes[:max_episodes], rule=rule)
    designed = design(selected, truncations.items, graphs, seed=seed)
    if not designed.trials:
        logger.warning("No candidate passed its filter: there are no trials.")
    inputs = {**_paths({"tasks": tasks, "alignment": alignment, "categories": categories})}
    inputs |= {} if files is None else files.inputs
    study = replace(
        designed,
        filter_counts={"truncation": truncations.counts, **designed.filter_counts},
        name=split.name,
        provenance=make_provenance(inputs, command_words, seed=seed),
    )
    if out is not None:
        write_trials(Path(out), study)
    return study


def _study_skills(
    variant: str, categories: Path | None, worlds: Mapping[str, World], world_ids: Sequence[str]
) -> dict[str, Skill]:
    """All skills of a variant; the released filter needs the order in which agents observe neighbours."""
    from itinera.formats.categories import read_categories
    from itinera.skills.categories import DEFAULT_CATEGORIES
    from itinera.skills.registry import make_skills
    from itinera.skills.trials import require_graph

    table = DEFAULT_CATEGORIES if categories is None else read_categories(categories)
    if variant != "released":
        return make_skills(variant, categories=table)  # type: ignore[arg-type]
    from itinera.simulators.candidates import graph_candidates

    orders = {
        world_id: {node: found.nodes for node, found in graph_candidates(require_graph(worlds[world_id])).items()}
        for world_id in world_ids
    }
    return make_skills("released", categories=table, orders=orders)


def run_study(
    agent: str | Sequence[str] | Agent | type[Any] | None,
    study: Study | File,
    worlds: Mapping[str, World] | File,
    *,
    command: str | None = None,
    name: str | None = None,
    seed: int = 0,
    workers: int | None = None,
    reply_seconds: float | None = None,
    views: str | None = None,
    objects: File | None = None,
    rooms: File | None = None,
    out: File | None = None,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
    start_method: StartMethod | None = None,
    command_words: Sequence[str] = (),
) -> ActionProbabilities:
    """The action probabilities of an agent in every trial of a study.

    >>> import itinera
    >>> reader = itinera.run_study("reader", "trials.jsonl", "hearth", out="reader.jsonl")  # doctest: +SKIP

    The agent is guided along the path of a trial, then queried with `action_probabilities`; see `run` for the ways to
    give one. An agent's error fails its trial, with the reason; the others go on.

    name: the agent's name in tables. Default: how it was given.
    workers: the number of processes; 0 runs in this process. The result does not depend on it.
    views: "annotations", "rendered" or a file of features; objects and rooms are sources of annotations, and rooms of
        the expert's knowledge.
    out: a file for the action probabilities. If interrupted, the same call resumes; `overwrite=True` starts anew.
    progress: called with the number of trials completed since the last call.
    """
    from itinera.runs.study import prepare_study
    from itinera.skills.registry import SKILLS

    prepared = prepare_study(
        agent,
        study if _is_study(study) else _path(study, "study", "run_study"),  # type: ignore[arg-type]
        worlds if isinstance(worlds, Mapping) else _path(worlds, "worlds", "run_study"),
        command=command,
        name=name,
        seed=seed,
        workers=workers,
        start_method=start_method,
        reply_seconds=reply_seconds,
        views=views,
        objects=_optional(objects),
        rooms=_optional(rooms),
        rollout_skills=frozenset(skill.name for skill in SKILLS.values() if skill.needs_rollout),
    )
    target = None if out is None else Path(out)
    return prepared.execute(out=target, overwrite=overwrite, command=command_words, on_batch=progress)


def export_study(
    study: Study | File, out: File, *, to: Literal["r2r", "rxr"] = "rxr", command_words: Sequence[str] = ()
) -> int:
    """Write the trials of a study as R2R or RxR tasks for an agent that cannot run here; the number of trials.

    Trials are numbered from 0 in their order: trial N is RxR's instruction_id N, or R2R's path N with one instruction.
    `import_study` reads the agent's action probabilities back.

    >>> import itinera
    >>> itinera.export_study("trials.jsonl", "R2R_trials.json", to="r2r")  # doctest: +SKIP
    """
    from dataclasses import replace

    from itinera.formats import r2r, rxr
    from itinera.formats.provenance import write_sidecar
    from itinera.records.provenance import make_provenance
    from itinera.tasks import Split

    validate_choice("to", to, ("r2r", "rxr"))
    read = _study(study, "export_study")
    numbered = [replace(trial.episode, id=str(k), path_id=str(k)) for k, trial in enumerate(read.trials)]
    write = {"r2r": r2r.write_split, "rxr": rxr.write_split}[to]
    write(Path(out), Split(read.name or "trials", tuple(numbered)))
    write_sidecar(Path(out), make_provenance(_paths({"trials": study}), command_words))
    return len(numbered)


def import_study(
    responses: File,
    study: Study | File,
    *,
    name: str | None = None,
    out: File | None = None,
    command_words: Sequence[str] = (),
) -> ActionProbabilities:
    """The action probabilities that an agent logged elsewhere, checked against the trials of a study.

    `responses` are vln-behave's records or a file of our own. `name` is the agent's name in tables; default: that of
    the file. `out` is a file for the result.

    >>> import itinera
    >>> itinera.import_study("submit_trials_0.json", "trials.jsonl", name="HAMT")  # doctest: +SKIP
    """
    from dataclasses import replace

    from itinera.formats.action_probabilities import (
        ActionProbabilities,
        check_trial_ids,
        read_action_probabilities,
        read_behave,
        write_action_probabilities,
    )
    from itinera.formats.catalog import read_head
    from itinera.records.provenance import make_provenance

    read, path = _study(study, "import_study"), _path(responses, "responses", "import_study")
    if read_head(path).begins(r"\["):
        found = ActionProbabilities(path.stem, read_behave(path, read.trials))
    else:
        found = read_action_probabilities(path)
        check_trial_ids(str(path), found.distributions, {trial.id: trial for trial in read.trials})
    provenance = make_provenance({"responses": path, **_paths({"trials": study})}, command_words)
    found = replace(found, agent=name or found.agent, provenance=provenance)
    if out is not None:
        write_action_probabilities(Path(out), found)
    return found


def analyze_study(
    study: Study | File,
    responses: Mapping[str, ActionProbabilities | File] | Sequence[ActionProbabilities | File],
    *,
    scores: Sequence[ScoreTable | File] = (),
    worlds: Mapping[str, World] | File | None = None,
    rooms: File | None = None,
    models: Sequence[str] = ("default",),
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
    figures: File | None = None,
    train: Split | File | None = None,
) -> StudyAnalysis:
    """Which skills agents have: the effect of the sentences with interval and p-value, and a table of skill scores.

    Effects and p-values are those of a linear mixed-effects model with scenes as the sample; other intervals resample
    scenes.

    >>> import itinera
    >>> analysis = itinera.analyze_study("trials.jsonl", ["reader.jsonl", "forward.jsonl"])  # doctest: +SKIP
    >>> print(analysis)  # doctest: +SKIP
    >>> analysis["reader"]["stop"].effects[0].interval  # doctest: +SKIP

    responses: the action probabilities of each agent, or their files; a mapping names the agents.
    scores: a score table for each agent, in their order, for SR and nDTW beside the skills.
    worlds, rooms: graphs and rooms, for skills that measure distances. Default: those the study was designed with.
    models: mixed models, of default, fm1, fm2, fm3; the first is reported.
    figures: a folder for figures (needs itinera[figures]); with `train`, the tasks the agents were trained on, also one
        of their turns and lengths.
    """
    from itinera.reports.skill_findings import StudyAnalysis
    from itinera.skills.analysis import AnalysisConfig, analyze_skill
    from itinera.skills.registry import SKILLS
    from itinera.skills.responses import group_responses
    from itinera.skills.skill_table import compute_skill_row

    config = AnalysisConfig(tuple(models), seed, resamples, level)
    read = _study(study, "analyze_study")
    tables = [read_scores(one) if isinstance(one, (str, PathLike)) else one for one in scores]
    agents = _study_agents(read, responses, expected=len(tables) or None)
    measures_distances = any(SKILLS[trial.skill].unit == "m" for trial in read.trials if trial.skill in SKILLS)
    graphs = _study_worlds(read, worlds, rooms=rooms) if measures_distances else {}
    grouped = {name: group_responses(read.trials, one.distributions, SKILLS, graphs) for name, one in agents.items()}
    findings = {name: [analyze_skill(one, config) for one in skills.values()] for name, skills in grouped.items()}
    rows = [
        compute_skill_row(name, skills, tables[k] if tables else None, config)
        for k, (name, skills) in enumerate(grouped.items())
    ]
    analysis = StudyAnalysis(findings, rows, read.filter_counts, grouped, graphs, config)
    if figures is not None:
        drawn = analysis.draw(Path(figures))
        logger.info(f"{len(drawn)} figures in {figures}.")
        if train is not None:
            _draw_training(Path(figures), _split(train), _study_worlds(read, worlds, rooms=rooms))
    return analysis


def _draw_training(folder: Path, split: Split, worlds: Mapping[str, World]) -> None:
    """Draw the turns and lengths of the paths agents were trained on."""
    import numpy as np

    from itinera.reports.charts.skills import SUFFIX, draw_training
    from itinera.skills.distributions import heading_changes

    lengths = np.array([len(episode.reference) for episode in split.episodes])
    draw_training(heading_changes(split, worlds), lengths, folder / f"training{SUFFIX}")


def _study_worlds(
    study: Study | File, worlds: Mapping[str, World] | File | None = None, *, rooms: File | None = None
) -> Mapping[str, World]:
    """The graphs of a study with their rooms; by default from where they were when it was designed."""
    from itinera.formats.annotations import WorldFiles
    from itinera.formats.catalog import season_file

    if isinstance(worlds, Mapping):
        return worlds
    read = _study(study, "_study_worlds")
    recorded = {} if read.provenance is None else read.provenance.inputs
    folder = _optional(worlds) or (Path(recorded["worlds"]) if "worlds" in recorded else None)
    if folder is not None and folder == season_file(folder.parent):
        folder = folder.parent
    table = _optional(rooms) or (Path(recorded["rooms"]) if "rooms" in recorded and worlds is None else None)
    if folder is None or not folder.exists():
        raise BadArgument(
            "Distances need the graphs the study was designed with, which are not where they were: give --worlds "
            "(worlds=), and --rooms (rooms=) unless they are a Hearth season."
        )
    return WorldFiles(folder, rooms=table).read(objects=False)


def _study_agents(study: Study, responses: Any, *, expected: int | None) -> dict[str, ActionProbabilities]:
    """The responses by the names of their agents; if names repeat, by the names of the files."""
    from itinera.formats.action_probabilities import ActionProbabilities, check_trial_ids, read_action_probabilities

    if isinstance(responses, (str, PathLike, ActionProbabilities)):
        responses = [responses]
    given = list(responses.items()) if isinstance(responses, Mapping) else [(None, one) for one in responses]
    if expected is not None and expected != len(given):
        raise BadArgument(f"There are {expected} score tables for {len(given)} agents. Give one each, in order.")
    trials = {trial.id: trial for trial in study.trials}
    read = []
    for _, one in given:
        found = one if isinstance(one, ActionProbabilities) else read_action_probabilities(Path(one))
        check_trial_ids(found.agent if found is one else str(one), found.distributions, trials)
        read.append(found)
    names = [found.agent if name is None else str(name) for (name, _), found in zip(given, read, strict=True)]
    files = [name if found is one else str(one) for (_, one), found, name in zip(given, read, names, strict=True)]
    if len(set(names)) < len(names):
        names = [Path(file).stem for file in files]
    if len(set(names)) < len(names):
        names = files
    if len(set(names)) < len(names):
        raise BadArgument(f"Two agents are called {names[0]}. Give a mapping from names to responses.")
    return dict(zip(names, read, strict=True))


def _is_study(study: object) -> bool:
    from itinera.formats.trials import Study

    return isinstance(study, Study)


def _study(study: Study | File, function: str) -> Study:
    """A study as given, or read from its file of trials."""
    from itinera.formats.trials import Study, read_trials

    return study if isinstance(study, Study) else read_trials(_path(study, "study", function))


def _optional(file: File | None) -> Path | None:
    return None if file is None else Path(file)


def describe(
    *tasks: Split | File,
    worlds: Mapping[str, World] | File | None = None,
    tours: File | None = None,
    parts: Split | File | None = None,
) -> DatasetTable:
    """The statistics of data sets side by side: paths, lengths, words, turns, overlap and tours.

    With `tours`, or for R4R, R6R and R8R with `parts` (the tasks they were joined from), also the coverage of an oracle
    that follows the reference paths and is guided between them: before each episode, the share of its path, of the
    whole tour and of the scene, by nodes visited and by nodes visible.

    >>> import itinera
    >>> table = itinera.describe("R2R_train.json", "R4R_train.json", worlds="connectivity/")  # doctest: +SKIP
    >>> print(table)  # doctest: +SKIP
    >>> table[0].statistics.lengths.mean()  # doctest: +SKIP
    """
    from itinera.analysis.coverage import is_joined
    from itinera.formats import catalog
    from itinera.reports.dataset_description import DatasetTable, report_dataset
    from itinera.tasks import PROTOCOLS

    splits = [_split(one) for one in tasks]
    joined_from = None if parts is None else _split(parts)
    if tours is not None:
        if splits and all(map(is_joined, splits)):
            raise BadArgument(
                "These paths are joined from parts, which no tour visits: give --parts (parts=), not --tours (tours=)."
            )
        splits = [s if is_joined(s) else s.with_tours(catalog.read_tours(Path(tours), s), str(tours)) for s in splits]
    graphs = worlds
    if isinstance(worlds, (str, PathLike)) and any(map(_on_graph, splits)):
        graphs = _read_graphs(Path(worlds), visible=tours is not None or parts is not None)
    reports = []
    for split in splits:
        places = graphs if isinstance(graphs, Mapping) and _on_graph(split) else worlds
        reports.append(report_dataset(split, _worlds(places, split, PROTOCOLS[split.protocol]), parts=joined_from))
    return DatasetTable(tuple(reports))


def _on_graph(split: Split) -> bool:
    return bool(split.episodes) and isinstance(split.episodes[0].start.place, str)


def _read_graphs(path: Path, *, visible: bool) -> Mapping[str, World]:
    """The graphs of a folder, archive or file; with `visible`, which nodes are visible from which, if it says so."""
    from itinera.formats import catalog, matterport

    if visible and catalog.detect(path).name == "connectivity":
        return matterport.read_worlds(path, visible=True)
    return catalog.read_worlds(path)


def power(
    *scores: ScoreTable | File,
    metric: str = "SR",
    difference: float = 0.02,
    rate: float = 0.5,
    icc: float = 0.05,
    correlation: float | None = None,
    episodes_per_scene: float = 200.0,
    scenes: int | None = None,
    power: float = 0.8,
) -> PowerAnalysis:
    """How many episodes, in how many scenes, detect a difference between two systems.

    Standard deviation, scene effect and correlation are estimated from one or two score tables, or computed from
    `rate`, `icc` and `correlation`.

    >>> import itinera
    >>> itinera.power(difference=0.05, rate=0.5, icc=0.05, correlation=0.5, episodes_per_scene=213).scenes
    45

    difference: the difference to detect, as a fraction; 0.02 is two points.
    icc: the share of the variance between scenes. correlation: of both systems on one episode; None: separate scenes.
    scenes: if given, the smallest difference that this many scenes detect is computed too.
    power: the probability of detecting the difference.
    """
    from itinera.reports.power_analysis import analyze_power, estimate_design
    from itinera.stats import ComparisonDesign

    if scores:
        names = [str(one) if isinstance(one, (str, PathLike)) else f"table {k}" for k, one in enumerate(scores, 1)]
        tables = [read_scores(one) if isinstance(one, (str, PathLike)) else one for one in scores]
        design = estimate_design(names, tables, metric)
    else:
        design = ComparisonDesign.from_success_rate(rate, icc=icc, correlation=correlation)
    return analyze_power(design, difference, episodes_per_scene=episodes_per_scene, scenes=scenes, power=power)
