"""Reading tasks, worlds and predictions; scoring and auditing them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from itinera.errors import BadArgument, BadFile, Fault, validate_choice

if TYPE_CHECKING:
    from itinera.formats.episode_selection import Selection
    from itinera.metrics.attempts import Attempts
    from itinera.metrics.audit import Audit
    from itinera.metrics.suites import Suite
    from itinera.records import Predictions, ScoreTable
    from itinera.tasks import Protocol, Split
    from itinera.tasks.fastest_times import FastestTimes
    from itinera.worlds import World
    from itinera.worlds.world import Worlds

File: TypeAlias = str | PathLike[str]
DriveOptions: TypeAlias = tuple[str | None, float | None, float | None]  # name, vmax in m/s, wmax in rad/s
NO_DRIVE: DriveOptions = (None, None, None)
logger = logging.getLogger("itinera")


def read_tasks(
    path: File, *, tours: File | None = None, reference: File | None = None, format: str | None = None
) -> Split:
    """The episodes of a tasks file: R2R, R4R, RxR, REVERIE, NDH, SOON, VLN-CE, PointNav or Itinera's own format.

    The format is recognized by content unless given. `tours` adds the tours of another file; `reference` replaces the
    reference paths by VLN-CE's or IVLN-CE's dense ground truth.

    >>> import itinera
    >>> tasks = itinera.read_tasks("R2R_val_unseen.json")  # doctest: +SKIP
    >>> len(tasks), tasks[0].instruction.text, tasks["4332_1"].reference  # doctest: +SKIP
    """
    from itinera.formats import catalog

    split = catalog.read_tasks(require_path(path, "path", "read_tasks"), format=format)
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

    folder = require_path(path, "path", "read_worlds")
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

    split = None if tasks is None else load_split(tasks)
    return catalog.read_predictions(
        require_path(path, "path", "read_predictions"), split, format=format, episode=episode
    )


def read_scores(path: File) -> ScoreTable:
    """The scores of a bundle that `itinera score --out` or `score(..., out=...)` wrote.

    >>> import itinera
    >>> itinera.read_scores("my-agent.jsonl")["SPL"].mean()  # doctest: +SKIP
    """
    from itinera.formats.bundles import read_scores

    return read_scores(require_path(path, "path", "read_scores"))


def score(
    predictions: Predictions | File,
    tasks: Split | File,
    worlds: Mapping[str, World] | World | File | None = None,
    *,
    episodes: Selection | None = None,
    suite: str | Suite | None = None,
    protocol: str | Protocol | None = None,
    missing: Literal["fail", "zero"] = "fail",
    repeats: Literal["keep", "drop"] = "keep",
    implausible: Literal["fail", "keep"] = "fail",
    drive: str | None = None,
    vmax: float | None = None,
    wmax: float | None = None,
    times: FastestTimes | File | None = None,
    objects: File | None = None,
    tours: File | None = None,
    reference: File | None = None,
    format: str | None = None,
    episode: str | None = None,
    out: File | None = None,
    rows: File | None = None,
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
    episodes: the part of the split to score: ids, a file of ids, "scan=NAME", "/regex/", or "answered" for the
        episodes that have a trajectory; a list joins several. Trajectories of other episodes are left out. By default
        all.
    suite: the name of a suite or a `Suite`; by default "paper", for NDH, REVERIE and SOON the suite of that name, and
        "pointnav" for PointNav, which has no reference paths.
    protocol: success radius, stop rule and body, by name or as a `Protocol`; by default that of the tasks. Predictions
        that carry another one are refused unless it is given here.
    drive, vmax, wmax: the drive of the run on the ground, as in `run`; part of the protocol.
    missing: "fail" requires a trajectory for every episode, "zero" counts an episode without one as a failure.
    repeats: "drop" leaves out places equal to the one before, such as turns in place.
    implausible: "fail" refuses trajectories that the protocol's body cannot have made: steps that are too long, too
        many steps, steps through walls; "keep" scores them as they are and reports their number.
    times: the fastest times of the episodes, to add completion time and SCT.
    objects: REVERIE's BBox folder or archive, which decides on success in its suites; by default that of a Hearth
        season, or the objects of `World`s.
    tours, reference, format, episode: as for `read_tasks` and `read_predictions`.
    out: a file for the score bundle, which `compare`, `report` and `read_scores` read.
    rows: a file for the row of every episode, for other tools: .csv, .parquet, or else JSON lines.
    progress: called with the number of episodes just scored.
    """
    from dataclasses import replace

    from itinera.formats.io import check_outputs
    from itinera.metrics.matching import PlausibilityCheck, match
    from itinera.metrics.score import score_attempts

    used = {"predictions": predictions, "tasks": tasks, "worlds": worlds, "tours": tours, "reference": reference,
            "times": times, "objects": objects}  # fmt: skip
    check_outputs([out, rows], used.values())
    check_options(missing=missing, repeats=repeats, implausible=implausible)
    given = _load_inputs(
        predictions, tasks, worlds, protocol, tours, reference, format, episode, episodes, drive=(drive, vmax, wmax)
    )
    chosen = load_suite(suite, given.protocol)
    chosen = replace(chosen, rules=replace(chosen.rules, repeats=repeats))
    plausibility = PlausibilityCheck(given.protocol)
    attempts = match(
        given.predictions,
        given.split,
        given.worlds,
        missing=missing,
        rules=chosen.rules,
        reference=chosen.needs_reference,
        plausibility=plausibility,
    )
    if chosen.add_targets is not None:
        annotated = load_objects(objects, worlds, given, chosen)
        attempts = chosen.add_targets(attempts, given.split, given.predictions, annotated)
        _log_answers(given.predictions, chosen)
    elif objects is not None:
        raise BadArgument(f"objects (--objects) decides on success in the suites of REVERIE, not in {chosen.name}.")
    if plausibility.faults:
        if implausible == "fail":
            raise BadFile(given.predictions.source, [plausibility.summary])
        logger.warning(f"{plausibility.summary.problem} They are scored as they are.")
    if plausibility.remark:
        logger.info(plausibility.remark)
    _log_repeats(attempts)
    table = score_attempts(attempts, given.split, chosen, given.protocol, progress=progress)
    table = replace(table, source=given.predictions.source)
    if times is not None:
        from itinera.metrics.completion import add_completion

        if isinstance(times, (str, PathLike)):
            check_times(Path(times), input_paths({"tasks": tasks, "worlds": worlds}))
        table = add_completion(table, attempts, *load_times(times))
    if out is not None:
        from itinera.formats.bundles import write_scores
        from itinera.records.provenance import make_provenance

        table = replace(table, provenance=make_provenance(input_paths(used), command_words))
        write_scores(Path(out), table)
    if rows is not None:
        from itinera.formats.score_rows import write_rows

        write_rows(Path(rows), table)
    return table


def audit(
    predictions: Predictions | File,
    tasks: Split | File,
    worlds: Mapping[str, World] | World | File | None = None,
    *,
    published: Mapping[str, str | float] | Sequence[str],
    episodes: Selection | None = None,
    protocol: str | Protocol | None = None,
    objects: File | None = None,
    tours: File | None = None,
    reference: File | None = None,
    format: str | None = None,
) -> Audit:
    """The suites that give published numbers for these predictions.

    Numbers are given as printed, {"SR": "55.2"}: a number agrees if rounding to its printed digits gives it.
    `episodes` is the part of the split they are about, as for `score`. The suites of REVERIE need its boxes, `objects`.

    >>> import itinera
    >>> itinera.audit("preds.json", "R4R_val_unseen.json", "connectivity/", published={"SPL": "0.27"}).matches
    ... # doctest: +SKIP
    """
    from itinera.metrics.audit import audit, parse_published

    numbers = parse_published(published)
    given = _load_inputs(predictions, tasks, worlds, protocol, tours, reference, format, None, episodes)
    annotated = given.worlds if objects is None else load_objects(objects, worlds, given)
    return audit(given.predictions, given.split, annotated, numbers, protocol=given.protocol)


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
    episodes: Selection | None,
    *,
    drive: DriveOptions = NO_DRIVE,
) -> _Inputs:
    """Predictions, tasks, worlds and protocol that fit one another."""
    split = load_split(tasks, tours=tours, reference=reference)
    loaded = load_predictions(predictions, split, format=format, episode=episode)
    if episodes is not None:
        split = _select_part(split, episodes, loaded)
    if split.tours:
        split = _answered_or_on_tours(split, loaded)
    chosen = load_protocol(protocol, split, loaded, drive=drive)
    return _Inputs(loaded, split, load_worlds_for(worlds, split, chosen), chosen)


def load_objects(
    objects: File | None,
    worlds: Mapping[str, World] | World | File | None,
    given: _Inputs,
    suite: Suite | None = None,
) -> Mapping[str, World]:
    """The worlds with their objects, from REVERIE's boxes, the Hearth season of the worlds, or as they are."""
    from itinera.formats.annotations import WorldFiles, add_objects

    boxes = optional_path(objects)
    if boxes is None and isinstance(worlds, (str, PathLike)):
        boxes = WorldFiles(Path(worlds)).boxes
    if boxes is not None:
        return add_objects(given.worlds, boxes)
    if suite is not None and suite.needs_objects and not given.worlds[given.split.world_ids[0]].objects:
        raise BadArgument(
            f"Suite {suite.name} asks which objects are visible: give REVERIE's BBox folder or archive as objects "
            '(--objects). suite="paper" (--suite paper) scores the distance to the goal without it.'
        )
    return given.worlds


def _log_answers(predictions: Predictions, suite: Suite) -> None:
    from itinera.metrics.grounding import count_answers

    number, total = count_answers(predictions), len(predictions)
    if number < total:
        named, metrics = "predObjId or pred_objid", "RGS and RGSPL"
        if not suite.needs_objects:
            named, metrics = "obj_heading and obj_elevation", "det-SR and det-SPL"
        logger.info(f"{total - number} of {total} trajectories name no object ({named}); {metrics} count them as 0.")


def _select_part(split: Split, episodes: Selection, predictions: Predictions) -> Split:
    """The part of the split that a selection names; "answered" stands for the episodes with a trajectory."""
    from itinera.formats.episode_selection import ANSWERED, select_part

    if episodes != ANSWERED:
        return select_part(split, episodes)
    answered = [name for name in predictions.batch.episode_ids if name in split.by_id]
    return split.select(answered, selection=ANSWERED) if answered else split


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


_CHOICES = {"missing": ("fail", "zero"), "repeats": ("keep", "drop"), "implausible": ("fail", "keep")}


def check_options(**options: str) -> None:
    """Refuse a value that an option does not have."""
    for name, value in options.items():
        if value not in _CHOICES[name]:
            validate_choice(name, value, _CHOICES[name])


def require_path(file: File, name: str, function: str) -> Path:
    if not isinstance(file, (str, PathLike)):
        raise BadArgument(f"{function}({name}) takes the path of a file, not {type(file).__name__}.")
    return Path(file)


def input_paths(inputs: Mapping[str, object]) -> dict[str, Path | None]:
    """The inputs that were given as files, for the provenance."""
    return {role: Path(file) for role, file in inputs.items() if isinstance(file, (str, PathLike))}


def optional_path(file: File | None) -> Path | None:
    return None if file is None else Path(file)


def is_on_graph(split: Split) -> bool:
    return bool(split.episodes) and isinstance(split.episodes[0].start.place, str)


def load_split(tasks: Split | File, *, tours: File | None = None, reference: File | None = None) -> Split:
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


def load_predictions(
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


def load_protocol(
    protocol: str | Protocol | None,
    split: Split,
    predictions: Predictions | None = None,
    *,
    drive: DriveOptions = NO_DRIVE,
) -> Protocol:
    """The protocol given, or that of the tasks; never that of the predictions, which must agree if they carry one."""
    from itinera.tasks import PROTOCOLS, Protocol

    carried = None if predictions is None else predictions.protocol
    if drive != NO_DRIVE:
        from itinera.simulators.factory import apply_drive

        return apply_drive(load_protocol(protocol, split), drive[0], vmax=drive[1], wmax=drive[2])
    if protocol is None:
        if carried is None or predictions is None:
            return PROTOCOLS[split.protocol]
        from itinera.tasks.protocol import select_carried, task_protocols

        return select_carried(carried, task_protocols(split.protocol, tours=bool(split.tours)), predictions.source)
    if isinstance(protocol, Protocol):
        from itinera.tasks.protocol import check_protocol

        return check_protocol(protocol)
    if not isinstance(protocol, str):
        raise BadArgument(f"protocol must be a name or a Protocol, not {type(protocol).__name__}.")
    return PROTOCOLS[validate_choice("protocol", protocol, PROTOCOLS)]


def load_suite(suite: str | Suite | None, protocol: Protocol) -> Suite:
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


def load_worlds_for(
    worlds: Mapping[str, World] | World | File | None, split: Split, protocol: Protocol
) -> Mapping[str, World]:
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


def check_times(times: Path, inputs: Mapping[str, Path | None]) -> None:
    """Refuse a file of fastest times that were planned for other tasks or another season, as far as it says so."""
    from itinera.formats.catalog import season_file
    from itinera.formats.native import read_header
    from itinera.records.provenance import digest

    provenance = read_header(times).provenance
    faults = []
    for role, path in inputs.items():
        file = season_file(path) if role == "worlds" and path is not None else path
        planned = None if provenance is None else provenance.digests.get(role)
        if planned is None or file is None or not file.is_file():
            continue
        if planned != digest(file):
            remedy = "Plan the times of these tasks in these worlds: itinera fastest-times."
            faults.append(Fault("line 1", f"are times for other {role} than {path}.", remedy, "provenance"))
    if faults:
        raise BadFile(str(times), faults)


def load_times(times: FastestTimes | File) -> tuple[FastestTimes, str]:
    """Fastest times as given or read from their file, and their name for messages."""
    if isinstance(times, (str, PathLike)):
        from itinera.formats.fastest_times import read_times

        return read_times(Path(times)), str(times)
    return times, "times"
