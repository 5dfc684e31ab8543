"""Reports, replays and data set statistics."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from itinera.api.comparing import name_result, name_results, select_rows
from itinera.api.scoring import (
    is_on_graph,
    load_predictions,
    load_protocol,
    load_split,
    load_times,
    load_worlds_for,
    score,
)
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.formats.episode_selection import Selection
    from itinera.records import Predictions
    from itinera.reports.dataset_description import DatasetTable
    from itinera.reports.failures import FailureList
    from itinera.reports.page.inputs import Result as ReportResult
    from itinera.reports.page.report import Report
    from itinera.reports.replay.data import Replay
    from itinera.tasks import Protocol, Split
    from itinera.tasks.fastest_times import FastestTimes
    from itinera.worlds import Array, World

File: TypeAlias = str | PathLike[str]
logger = logging.getLogger("itinera")


def report(
    results: ReportResult | Mapping[str, ReportResult | Sequence[ReportResult]] | Sequence[ReportResult],
    *,
    out: File | None = None,
    markdown: File | None = None,
    latex: File | None = None,
    replays: File | None = None,
    tasks: Split | File | Sequence[Split | File] = (),
    episodes: Selection | None = None,
    metrics: Sequence[str] | None = None,
    title: str = "",
    seed: int = 0,
    level: float = 0.95,
) -> Report:
    """A report on results: one HTML page with a summary, tables and charts. `print` shows a sentence per benchmark.

    Results with the same episodes, protocol and suite are compared; others get sections of their own.

    results: score tables or bundles, fastest times, first faults, and the JSON of `study analyse`, `first-faults` and
        `describe`, or their files; by name (a list of results for an agent on several benchmarks, or of several runs on
        one), or a list, named by their files.
    out: the page (.html). markdown, latex: files for the sentences and tables.
    replays: a folder of pages of `show`, linked from the episodes and agents they contain; a page named
        replay-EPISODE.html is linked from that episode.
    tasks: the tasks of the results, or their files: failures are then listed with their instruction.
    episodes, metrics: the part of the scores to report on, as for `compare`.

    >>> import itinera
    >>> itinera.report({"baseline": "baseline.jsonl", "mine": "mine.jsonl"}, out="report.html")  # doctest: +SKIP
    """
    from itinera.formats.io import check_outputs
    from itinera.formats.writing import atomic_write
    from itinera.records.provenance import itinera_version
    from itinera.reports.benchmark import merge_runs
    from itinera.reports.page import manuscript
    from itinera.reports.page.inputs import collect_inputs
    from itinera.reports.page.report import make_report, write_report_page
    from itinera.reports.replay.links import find_named_replays, find_replay_pages

    page = Path.cwd() / "report.html" if out is None else Path(out)
    named = name_results(results)
    splits = [tasks] if isinstance(tasks, (str, PathLike)) or not isinstance(tasks, Sequence) else list(tasks)
    check_outputs([out, markdown, latex], [*(result for _, result in named), *splits])
    given = collect_inputs(named)
    names, tables = given.names, [select_rows(table, episodes) for table in given.tables]
    if isinstance(results, Mapping):
        names, tables = merge_runs(names, tables)
    if metrics is not None:
        tables = [table.choose(metrics) for table in tables]
        if any(not table.columns for table in tables):
            raise BadArgument("A report needs a metric of episodes (--metrics), not only of tours.")
    made = make_report(
        names,
        tables,
        findings=given.findings,
        described=given.described,
        times=given.times,
        first_faults=given.first_faults,
        replays={} if replays is None else find_named_replays(Path(replays), page),
        instructions={e.id: e.instruction.text for one in splits for e in load_split(one)},
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
    episodes: Selection = (),
    failures: int | None = None,
    tour: str | None = None,
    rooms: File | None = None,
    objects: File | None = None,
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
    episodes: the episodes to show: ids, a file of ids, "scan=NAME" or "/regex/"; a list joins several, in its order.
    failures: show this many failures of the first agent, the farthest from the goal first; see `find_failures`.
    tour: the tour to show, by its id in the predictions. By default the first rollout of the first agent is shown.
    rooms, objects: a CSV table of rooms and REVERIE's BBox folder or archive, to name rooms and objects on the map of a
        navigation graph.
    alignment: RxR's guide pose traces, which align words with positions; a Hearth season has its own.
    times: fastest times of the episodes; on the ground the fastest drives of a few episodes are drawn too.
    max_views: the number of first-person views of a page, if the worlds have meshes.

    A page also draws the maps that `run(..., record=("maps",))` recorded.

    >>> import itinera
    >>> itinera.show("preds.json", "R2R_val_unseen.json", "connectivity/", out="replay.html")  # doctest: +SKIP
    """
    from itinera.formats.io import check_outputs
    from itinera.reports.replay import inputs
    from itinera.reports.replay.held_maps import find_maps
    from itinera.reports.replay.trajectories import make_replay
    from itinera.reports.replay.write import check_replay_path, write_replay

    targets = [Path(file) for file in ([out] if isinstance(out, (str, PathLike)) else out or ())]
    for target in targets:
        check_replay_path(target)
    files = _name_predictions(predictions)
    check_outputs(targets, [*files.values(), tasks, worlds, alignment, times, rooms, objects])
    if max_views < 0:
        raise BadArgument(f"max_views (--pictures) must be at least 0, not {max_views}.")
    split = load_split(tasks)
    agents = {name: load_predictions(one, split, format=format) for name, one in files.items()}
    chosen = load_protocol(protocol, split)
    folder = Path(worlds) if isinstance(worlds, (str, PathLike)) else None
    wanted: Sequence[str] = ()
    if failures is not None:
        first = next(iter(agents.values()))
        wanted = _find_failures(first, split, worlds, failures, episodes or None, chosen).episode_ids
        if not wanted:
            raise BadArgument("There are no failures to show: every episode succeeded.")
    elif episodes or not isinstance(episodes, Sequence):
        wanted = _select_shown(split, episodes)
    selected = inputs.select_episodes(split, agents, episodes=wanted, tour=tour)
    selected = inputs.align_words(selected, traces=None if alignment is None else Path(alignment), folder=folder)
    places = _annotate(load_worlds_for(worlds, selected, chosen), rooms, objects)
    absent = [world_id for world_id in selected.world_ids if world_id not in places]
    if absent:
        raise BadArgument(f"World {absent[0]} is not in {folder or 'worlds'}. Give the worlds of these tasks.")
    houses = {} if folder is None else inputs.build_houses(folder, selected.world_ids)
    bounds = None if times is None else load_times(times)[0]
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
        maps={name: find_maps(one) for name, one in agents.items()},
    )
    for target in targets:
        write_replay(target, made)
    return made


def find_failures(
    predictions: Predictions | File,
    tasks: Split | File,
    worlds: Mapping[str, World] | World | File | None = None,
    *,
    count: int = 20,
    episodes: Selection | None = None,
    protocol: str | Protocol | None = None,
    format: str | None = None,
) -> FailureList:
    """The failures that ended farthest from the goal, each with its outcome and instruction. `print` lists them.

    Where words are aligned with places, each has its first fault too, see `first_faults`. Episodes without a
    trajectory are left out. `episodes` is the part of the split to look at, as for `score`.

    >>> import itinera
    >>> print(itinera.find_failures("preds.json", "R2R_val_unseen.json", "connectivity/", count=5))  # doctest: +SKIP
    """
    split = load_split(tasks)
    loaded = load_predictions(predictions, split, format=format)
    return _find_failures(loaded, split, worlds, count, episodes, load_protocol(protocol, split))


def _find_failures(
    predictions: Predictions,
    split: Split,
    worlds: Mapping[str, World] | World | File | None,
    count: int,
    episodes: Selection | None,
    protocol: Protocol,
) -> FailureList:
    from itinera.formats.episode_selection import ANSWERED, select_part
    from itinera.reports.failures import find_failures

    if episodes is not None and episodes != ANSWERED:
        split = select_part(split, episodes)
    table = score(
        predictions, split, worlds, episodes=ANSWERED, protocol=protocol, implausible="keep",
    )  # fmt: skip
    found = _describe_first_faults(predictions, split, worlds, protocol)
    return find_failures(table, {e.id: e.instruction.text for e in split}, count, found)


def _describe_first_faults(
    predictions: Predictions, split: Split, worlds: Mapping[str, World] | World | File | None, protocol: Protocol
) -> dict[str, str]:
    """The first fault of each failure as a sentence; empty if no words are aligned with places."""
    from itinera.reports.replay.inputs import align_words
    from itinera.skills.clauses import split_clauses
    from itinera.skills.first_faults import find_first_faults

    aligned = align_words(split, folder=Path(worlds) if isinstance(worlds, (str, PathLike)) else None)
    if not any(split_clauses(episode) for episode in aligned):
        return {}
    places = load_worlds_for(worlds, aligned, protocol)
    faults = find_first_faults(predictions, aligned, places, protocol=protocol)
    return {fault.episode_id: fault.sentence for fault in faults}


def _select_shown(split: Split, episodes: Selection) -> Sequence[str]:
    """The ids to show, in the order of the selection."""
    from itinera.formats.episode_selection import select_ids

    scenes = [episode.world_id for episode in split]
    return select_ids(episodes, [episode.id for episode in split], scenes, split.name)


def _annotate(worlds: Mapping[str, World], rooms: File | None, objects: File | None) -> Mapping[str, World]:
    """The worlds with the rooms and objects of these files."""
    if rooms is None and objects is None:
        return worlds
    from dataclasses import replace

    from itinera.formats.reverie import read_objects
    from itinera.formats.rooms import read_table
    from itinera.worlds.lazy import LazyMapping

    table = {} if rooms is None else read_table(Path(rooms))
    visible = {} if objects is None else read_objects(Path(objects))

    def annotate(world_id: str) -> World:
        world = worlds[world_id]
        return replace(world, rooms=table.get(world_id, world.rooms), objects=visible.get(world_id, world.objects))

    return LazyMapping(worlds, annotate)


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
    return {name_result(one, k) if len(items) == 1 else f"{name_result(one, k)} ({k})": one
            for k, one in enumerate(items, start=1)}  # fmt: skip


def _fastest_drives(split: Split, folder: Path | None, protocol: Protocol, times: FastestTimes) -> dict[str, Array]:
    """The fastest drives of a few continuous episodes in a folder of surfaces, by episode id; empty for others."""
    from itinera.runs.fastest_drives import plan_drives

    return {} if folder is None else plan_drives(split, folder, protocol, times.robot)


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

    splits = [load_split(one) for one in tasks]
    joined_from = None if parts is None else load_split(parts)
    if tours is not None:
        if splits and all(map(is_joined, splits)):
            raise BadArgument(
                "These paths are joined from parts, which no tour visits: give --parts (parts=), not --tours (tours=)."
            )
        splits = [s if is_joined(s) else s.with_tours(catalog.read_tours(Path(tours), s), str(tours)) for s in splits]
    graphs = worlds
    if isinstance(worlds, (str, PathLike)) and any(map(is_on_graph, splits)):
        graphs = _read_graphs(Path(worlds), visible=tours is not None or parts is not None)
    reports = []
    for split in splits:
        places = graphs if isinstance(graphs, Mapping) and is_on_graph(split) else worlds
        reports.append(
            report_dataset(split, load_worlds_for(places, split, PROTOCOLS[split.protocol]), parts=joined_from)
        )
    return DatasetTable(tuple(reports))


def _read_graphs(path: Path, *, visible: bool) -> Mapping[str, World]:
    """The graphs of a folder, archive or file; with `visible`, which nodes are visible from which, if it says so."""
    from itinera.formats import catalog, matterport

    if visible and catalog.detect(path).name == "connectivity":
        return matterport.read_worlds(path, visible=True)
    return catalog.read_worlds(path)
