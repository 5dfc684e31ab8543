"""`itinera compare`: results of the same episodes, side by side, with honest differences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from itinera.cli import options, output

if TYPE_CHECKING:
    from itinera.records import ScoreTable
    from itinera.reports.comparison import Comparison, MetricComparison
    from itinera.reports.tables import Grid


BESIDE_A_DIFFERENCE = ("p", "P(better)")


def compare(
    bundles: Annotated[list[Path], typer.Argument(help="Two or more bundles written by `itinera score --out`.")],
    seed: Annotated[int, typer.Option(help="Of the permutation test, where there are too many scenes to try all.")] = 0,
    solved: Annotated[
        bool,
        typer.Option("--solved", help="A row per agent: SCT, SPL, success, and SCT∩, SPL∩ where every agent succeeds."),
    ] = False,
    json: options.Json = False,
    csv: options.Csv = False,
    markdown: options.Markdown = False,
    latex: options.Latex = False,
) -> None:
    """Compare results pair by pair: each later bundle minus the first, with interval, permutation test and ties.

    Bundles must be of the same episodes, protocol and suite; anything else is refused. Systems that share a letter
    cannot be told apart; on a terminal, differences of those that can are green if better, red if worse. With
    --solved, agents are compared on the episodes that all of them solved.

    Example: itinera compare baseline.jsonl mine.jsonl
    """
    shape = output.chosen(json=json, csv=csv, markdown=markdown, latex=latex)
    from itinera.formats.bundles import read_scores
    from itinera.reports import comparison

    names, tables = _names(bundles), [read_scores(path) for path in bundles]
    if solved:
        _print_solved(names, tables, shape)
        return
    found = comparison.compare(names, tables, seed=seed)
    if shape == "json":
        output.print_json(_plain(found))
    else:
        output.print_grid(_grid(found), shape, colours=_colours(found))


def _print_solved(names: list[str], tables: list[ScoreTable], shape: str) -> None:
    from itinera.reports.intersection import as_grid, as_plain, intersect

    found = intersect(names, tables)
    if shape == "json":
        output.print_json(as_plain(found))
    else:
        output.print_grid(as_grid(found), shape)
    if not found.solved:
        output.remark("No episode was solved by every agent: SCT∩ and SPL∩ are undefined.")


def _names(bundles: list[Path]) -> list[str]:
    short = [path.stem for path in bundles]
    return short if len(set(short)) == len(short) else [str(path) for path in bundles]


def _grid(found: Comparison) -> Grid:
    from itinera.reports.tables import Grid, heading, number

    headings = ["metric", *(f"{name}" for name in found.names)]
    for name in found.names[1:]:
        headings += [f"{name} − {found.names[0]}", *BESIDE_A_DIFFERENCE]
    rows = []
    for metric in found.metrics:
        cells = [heading(metric.column)]
        ranked = metric.column.better != "neither"
        letters = metric.letters if ranked else [""] * len(metric.letters)
        cells += [f"{number(metric.column, m)} {s}".strip() for m, s in zip(metric.means, letters, strict=True)]
        for difference, better in zip(metric.differences, metric.improvements, strict=True):
            gap = difference.interval
            low, high = (signed(metric, x) for x in (gap.low, gap.high))
            cells += [f"{signed(metric, gap.mean)} [{low}, {high}]", f"{difference.p_value:.3g}"]
            cells.append(f"{better.mean:.2f}" if ranked else "")
        rows.append(tuple(cells))
    what = f"{output.count(found.episodes, 'episode')} in {output.count(found.scenes, 'scene')}"
    title = f"{what} · suite {found.suite} · protocol {found.protocol}"
    return Grid(tuple(headings), tuple(rows), title)


def _colours(found: Comparison) -> dict[tuple[int, int], str]:
    """The colour of each difference that is more than luck, by row and column of the grid."""
    first, stride = 1 + len(found.names), 1 + len(BESIDE_A_DIFFERENCE)
    return {
        (row, first + stride * k): "green" if (gap.interval.mean > 0) == (metric.column.better == "higher") else "red"
        for row, metric in enumerate(found.metrics)
        for k, gap in enumerate(metric.differences)
        if metric.column.better != "neither" and not set(metric.letters[0]) & set(metric.letters[1 + k])
    }


def signed(metric: MetricComparison, value: float) -> str:
    from itinera.reports.tables import number

    return ("+" if value > 0 else "") + number(metric.column, value).replace("-", "−")


def _plain(found: Comparison) -> dict[str, Any]:
    return {
        "systems": found.names,
        "episodes": found.episodes,
        "scenes": found.scenes,
        "suite": found.suite,
        "protocol": found.protocol,
        "metrics": {
            metric.column.name: {
                "episodes": metric.episodes,
                "means": dict(zip(found.names, metric.means, strict=True)),
                "letters": dict(zip(found.names, metric.letters, strict=True)),
                "differences": {
                    name: {
                        "mean": difference.interval.mean,
                        "low": difference.interval.low,
                        "high": difference.interval.high,
                        "p_value": difference.p_value,
                        "probability_of_improvement": better.mean,
                    }
                    for name, difference, better in zip(
                        found.names[1:], metric.differences, metric.improvements, strict=True
                    )
                },
            }
            for metric in found.metrics
        },
    }
