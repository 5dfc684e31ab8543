"""`itinera describe`: data sets side by side in numbers, and in figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import inputs as given
from itinera.cli import options, output
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.analysis.coverage import Route, Sight
    from itinera.reports.dataset_description import Portrait
    from itinera.tasks import Split
    from itinera.worlds import World


def describe(
    tasks: Annotated[list[Path], typer.Argument(help="The data sets: R2R, R4R, RxR, REVERIE, NDH, VLN-CE, native.")],
    worlds: options.Worlds = None,
    tours: Annotated[Path | None, typer.Option(help="IVLN's tours through them, also told by what was seen.")] = None,
    parts: Annotated[
        Path | None, typer.Option(help="The tasks that R4R, R6R or R8R were joined from, to tell what was seen.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Draw distributions, tour lengths and what was seen here.")
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
    markdown: options.Markdown = False,
    latex: options.Latex = False,
) -> None:
    """Describe data sets: paths, lengths, words, turns, overlap and tours, a column for each.

    What was seen is the view of an oracle that follows the reference paths and is led between them: before each
    episode, the share of its path, of the whole tour and of the scene, by places visited and by places in sight.

    Example: itinera describe R2R_train.json R4R_train.json --worlds connectivity/ --figures figures/
    """
    shape = output.chosen(json=json, csv=csv, markdown=markdown, latex=latex)
    from itinera.formats import catalog
    from itinera.reports.dataset_description import as_grid, as_json

    splits = [catalog.read_tasks(path) for path in tasks]
    origin = None if parts is None else catalog.read_tasks(parts)
    if tours is not None:
        splits = _toured(splits, tours)
    graphs = None if worlds is None else _graphs(worlds, in_sight=tours is not None or parts is not None)
    portraits = []
    for split in splits:
        places = graphs if graphs is not None and _on_graphs(split) else given.worlds_of(split, worlds)
        portraits.append(_portrait(split, origin, places))
    if figures is not None:
        _draw(portraits, figures)
    if shape == "json":
        output.print_json([as_json(portrait) for portrait in portraits])
    else:
        output.print_grid(as_grid(portraits), shape)


def _graphs(worlds: Path, *, in_sight: bool) -> Mapping[str, World]:
    """The graphs of a folder, archive or file, with what is in sight where that is asked for and told."""
    from itinera.formats import catalog, matterport

    if in_sight and catalog.detect(worlds).name == "connectivity":
        return matterport.read_worlds(worlds, visible=True)
    return catalog.read_worlds(worlds)


def _toured(splits: list[Split], tours: Path) -> list[Split]:
    """The splits with their tours; journeys joined from several paths have none."""
    from itinera.formats import catalog

    if all(map(_joined, splits)):
        raise BadArgument("These tasks are joined from parts, which no tour visits. Give --parts instead of --tours.")
    return [s if _joined(s) else s.with_tours(catalog.read_tours(tours, s), str(tours)) for s in splits]


def _joined(split: Split) -> bool:
    from itinera.analysis.coverage import part_ids

    return bool(split.episodes) and bool(part_ids(split.episodes[0].notes))


def _on_graphs(split: Split) -> bool:
    return bool(split.episodes) and isinstance(split.episodes[0].start.place, str)


def _portrait(split: Split, origin: Split | None, worlds: Mapping[str, World]) -> Portrait:
    from itinera.analysis.coverage import seen_before, tell_sight
    from itinera.analysis.datasets import describe
    from itinera.reports.dataset_description import Portrait, curves_of

    described = describe(split, worlds)
    routes = _routes(split, origin)
    ways: list[Sight] = ["visited"] if routes else []
    if routes and tell_sight(routes, worlds):
        ways.append("visible")
    return Portrait(described, {by: curves_of(seen_before(routes, worlds, by=by)) for by in ways})


def _routes(split: Split, origin: Split | None) -> tuple[Route, ...]:
    """The ways an oracle takes through the split's tours, or through the parts of its journeys; none if it has none."""
    from itinera.analysis.coverage import routes_of_parts, routes_of_tours

    if origin is not None and _joined(split):
        return routes_of_parts(split, origin)
    if not split.tours:
        return ()
    if not _on_graphs(split) or any(episode.goals_withheld for episode in split.episodes):
        output.remark(f"{split.name}: what was seen along its tours is told on navigation graphs and with goals only.")
        return ()
    return routes_of_tours(split)


def _draw(portraits: list[Portrait], folder: Path) -> None:
    from itinera.reports.charts.datasets import draw_coverage, draw_distributions, draw_tour_lengths

    draw_distributions([p.described for p in portraits], folder / "distributions.svg")
    toured = {p.name: p.described.touring.lengths for p in portraits if p.described.touring is not None}
    if toured:
        draw_tour_lengths(toured, folder / "tour-lengths.svg")
    ways: tuple[Sight, ...] = ("visited", "visible")
    for by in ways:
        seen = {p.name: p.curves[by] for p in portraits if by in p.curves}
        if seen:
            draw_coverage(seen, folder / f"seen-by-{by}.svg", by=by)
