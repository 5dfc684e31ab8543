"""Skill studies: trials, the action probabilities of agents on them, findings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from itinera.api.scoring import input_paths, load_split, optional_path, read_scores, require_path
from itinera.errors import BadArgument, validate_choice

if TYPE_CHECKING:
    from itinera.agents.agent import Agent
    from itinera.formats.action_probabilities import ActionProbabilities
    from itinera.formats.trials import Study
    from itinera.records import ScoreTable
    from itinera.records.shards import Shard
    from itinera.reports.skill_findings import StudyAnalysis
    from itinera.runs.engines import Engine
    from itinera.runs.engines.worker_process import StartMethod
    from itinera.skills.trials import Skill
    from itinera.tasks import Split
    from itinera.worlds import World

File: TypeAlias = str | PathLike[str]
logger = logging.getLogger("itinera")


def read_study(path: File) -> Study:
    """The trials of a skill study, from a file of `design_study` or `itinera study design`.

    >>> import itinera
    >>> study = itinera.read_study("trials.jsonl")  # doctest: +SKIP
    >>> len(study), study[0].episode.instruction.text  # doctest: +SKIP
    """
    from itinera.formats.trials import read_trials

    return read_trials(require_path(path, "path", "read_study"))


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
    from itinera.formats.io import check_outputs
    from itinera.formats.trials import write_trials
    from itinera.records.provenance import make_provenance
    from itinera.skills.registry import VARIANTS, select_skills
    from itinera.skills.trials import design
    from itinera.skills.truncation import TRUNCATION_RULES, truncate
    from itinera.tasks import Split

    check_outputs([out], [tasks, worlds, alignment, objects, rooms, categories])
    names = [skills] if isinstance(skills, str) else list(skills)
    files = None
    if not isinstance(worlds, Mapping):
        files = WorldFiles(require_path(worlds, "worlds", "design_study"), optional_path(objects), optional_path(rooms))
    default = "hearth" if files is not None and files.is_season else "paper"
    chosen = validate_choice("variant", variant or default, VARIANTS)
    if isinstance(tasks, Split):
        split = tasks
        require_alignment(split, split.name)
    else:
        split = read_aligned_tasks(require_path(tasks, "tasks", "design_study"), optional_path(alignment))
    needs_objects = any(name in ("object", "all") for name in names)
    graphs = worlds if files is None else files.read(objects=needs_objects)
    assert isinstance(graphs, Mapping)
    selected = select_skills(names, _study_skills(chosen, optional_path(categories), graphs, split.world_ids))
    if max_episodes is not None and max_episodes < 1:
        raise BadArgument(f"max_episodes must be ≥ 1 (got {max_episodes}); omit it for no limit.")
    rule = TRUNCATION_RULES["released" if chosen == "released" else "paper"]
    truncations = truncate(split.episodes[:max_episodes], rule=rule)
    designed = design(selected, truncations.items, graphs, seed=seed)
    if not designed.trials:
        logger.warning("No candidate passed its filter: there are no trials.")
    inputs = {**input_paths({"tasks": tasks, "alignment": alignment, "categories": categories})}
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
    agent: str | PathLike[str] | Sequence[str] | Agent | type[Any] | None,
    study: Study | File,
    worlds: Mapping[str, World] | File,
    *,
    command: str | None = None,
    agent_options: Mapping[str, bool | int | float | str] | None = None,
    agent_files: Sequence[File] = (),
    policy: str | type[Any] | None = None,
    isolate: bool = False,
    name: str | None = None,
    seed: int = 0,
    workers: int | None = None,
    engine: str | Engine = "processes",
    reply_seconds: float | None = None,
    views: str | None = None,
    objects: File | None = None,
    rooms: File | None = None,
    shard: str | Shard | None = None,
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

    agent_options, agent_files, policy, isolate: as in `run`.
    name: the agent's name in tables. Default: how it was given.
    workers: the number of processes; 0 runs in this process. The result does not depend on it, nor on the `engine`
        that runs them: "processes", "ray", "ray://HOST:PORT" or "slurm".
    views: "annotations", "rendered" or a file of features; objects and rooms are sources of annotations, and rooms of
        the expert's knowledge.
    shard: run one of several equal parts, such as "3/16", and write it beside `out`; see `gather`.
    out: a file for the action probabilities. If interrupted, the same call resumes; `overwrite=True` starts anew.
    progress: called with the number of trials completed since the last call.
    """
    from itinera.formats.io import check_outputs
    from itinera.records.shards import parse_shard, part_path
    from itinera.runs.study import prepare_study
    from itinera.skills.registry import SKILLS

    chosen_shard = parse_shard(shard)
    out = None if out is None else part_path(Path(out), chosen_shard)

    files = [one for one in (agent, views) if "." in str(one)]  # the others are names
    check_outputs([out], [study, worlds, objects, rooms, *files])
    prepared = prepare_study(
        agent,
        study if _is_study(study) else require_path(study, "study", "run_study"),  # type: ignore[arg-type]
        worlds if isinstance(worlds, Mapping) else require_path(worlds, "worlds", "run_study"),
        command=command,
        agent_options=agent_options,
        agent_files=agent_files,
        policy=policy,
        isolate=isolate,
        name=name,
        seed=seed,
        workers=workers,
        engine=engine,
        start_method=start_method,
        reply_seconds=reply_seconds,
        views=views,
        objects=optional_path(objects),
        rooms=optional_path(rooms),
        rollout_skills=frozenset(skill.name for skill in SKILLS.values() if skill.needs_rollout),
        shard=chosen_shard,
    )
    return prepared.execute(out=out, overwrite=overwrite, command=command_words, on_batch=progress)


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
    from itinera.formats.io import check_outputs
    from itinera.formats.provenance import write_sidecar
    from itinera.records.provenance import make_provenance
    from itinera.tasks import Split

    validate_choice("to", to, ("r2r", "rxr"))
    check_outputs([out], [study])
    read = _study(study, "export_study")
    numbered = [replace(trial.episode, id=str(k), path_id=str(k)) for k, trial in enumerate(read.trials)]
    write = {"r2r": r2r.write_split, "rxr": rxr.write_split}[to]
    write(Path(out), Split(read.name or "trials", tuple(numbered)))
    write_sidecar(Path(out), make_provenance(input_paths({"trials": study}), command_words))
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
    from itinera.formats.io import check_outputs
    from itinera.records.provenance import make_provenance

    check_outputs([out], [responses, study])
    read, path = _study(study, "import_study"), require_path(responses, "responses", "import_study")
    if read_head(path).begins(r"\["):
        found = ActionProbabilities(path.stem, read_behave(path, read.trials))
    else:
        found = read_action_probabilities(path)
        check_trial_ids(str(path), found.distributions, {trial.id: trial for trial in read.trials})
    provenance = make_provenance({"responses": path, **input_paths({"trials": study})}, command_words)
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
            _draw_training(Path(figures), load_split(train), _study_worlds(read, worlds, rooms=rooms))
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
    folder = optional_path(worlds) or (Path(recorded["worlds"]) if "worlds" in recorded else None)
    if folder is not None and folder == season_file(folder.parent):
        folder = folder.parent
    table = optional_path(rooms) or (Path(recorded["rooms"]) if "rooms" in recorded and worlds is None else None)
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

    return study if isinstance(study, Study) else read_trials(require_path(study, "study", function))
