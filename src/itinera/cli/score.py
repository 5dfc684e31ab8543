"""`itinera score`: every metric of a predictions file, with intervals."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import inputs as given
from itinera.cli import options, output
from itinera.errors import BadFile, Fault

if TYPE_CHECKING:
    from itinera.metrics.matching import Pairs
    from itinera.records import ScoreTable
    from itinera.reports.summary import Summary
    from itinera.reports.tables import Grid

NEAR_RADIUS = 1e-6  # metres
SHOWN_REPEATS = 0.01  # the share of trajectories with repeats from which on a person is told


def score(
    predictions: options.PredictionsFile,
    tasks: options.Tasks,
    worlds: options.Worlds = None,
    suite: Annotated[
        str | None,
        typer.Option(
            help="Whose definitions: paper, m3ds, envdrop, hamt, google, ivln, vlnce, ivln-ce, pointnav. "
            "Unless given: pointnav for PointNav, which has no reference paths, else paper.",
            autocompletion=options.suites,
        ),
    ] = None,
    tours: options.Tours = None,
    reference: options.Dense = None,
    rows: Annotated[Path | None, typer.Option(help="Write one JSON record per episode (and tour) here.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write a result bundle here, for `compare` and `check`.")] = None,
    missing: options.Missing = "fail",
    repeats: options.Repeats = "keep",
    protocol: options.ProtocolName = None,
    format: options.Format = None,
    times: Annotated[Path | None, typer.Option(help="Fastest times of the episodes, for SCT.")] = None,
    episode: options.Episode = None,
    json: options.Json = False,
    csv: options.Csv = False,
    markdown: options.Markdown = False,
    latex: options.Latex = False,
) -> None:
    """Score trajectories against their tasks: every metric, with a 95 % interval that takes scenes as the sample.

    Rates are printed in percent with the ends of their interval; --json gives fractions and full precision.
    Definitions follow the papers; --suite chooses those of a released scorer instead, and `itinera audit` tells which
    of them made a number. With --times, and walks that tell times, completion time and SCT are scored too.

    Example: itinera score preds.json --tasks R2R_val_unseen.json --worlds connectivity/ --out my-agent.jsonl
    """
    shape = output.chosen(json=json, csv=csv, markdown=markdown, latex=latex)
    given.one_of("--missing", missing, ("fail", "zero"))
    given.one_of("--repeats", repeats, ("keep", "drop"))
    table = _scored(predictions, tasks, worlds, suite, tours, reference, missing, repeats, protocol, format, episode,
                    times)  # fmt: skip
    from itinera.reports.summary import as_json, summarise

    summary = summarise(table)
    _save(table, rows, out, {"predictions": predictions, "tasks": tasks, "worlds": worlds, "tours": tours,
                             "reference": reference, "times": times})  # fmt: skip
    if shape == "json":
        output.print_json(as_json(summary))
    else:
        output.print_grid(summary_grid(summary, shape), shape)
    _remark_on(summary)


def _scored(
    predictions: Path,
    tasks: Path,
    worlds: Path | None,
    suite: str | None,
    tours: Path | None,
    reference: Path | None,
    missing: str,
    repeats: str,
    protocol: str | None,
    format: str | None,
    episode: str | None,
    times: Path | None,
) -> ScoreTable:
    from dataclasses import replace

    from itinera.metrics.matching import pair, repeated_share
    from itinera.metrics.score import score_pairs
    from itinera.metrics.suites import ALL_SUITES, usual_suite

    if suite is not None:
        given.one_of("--suite", suite, tuple(ALL_SUITES))
    read = given.gather(
        predictions,
        tasks,
        worlds,
        format=format,
        tours=tours,
        reference=reference,
        protocol=protocol,
        episode=episode,
    )
    chosen = ALL_SUITES[suite or usual_suite(read.protocol)](read.protocol)
    if suite is None and not chosen.needs_reference:
        output.remark(f"Suite {chosen.name}: any way to the goal will do, so paths are not compared.")
    chosen = replace(chosen, rules=replace(chosen.rules, repeats=repeats))  # type: ignore[arg-type]
    pairs = pair(
        read.predictions,
        read.split,
        read.worlds,
        missing=missing,  # type: ignore[arg-type]
        rules=chosen.rules,
        reference=chosen.needs_reference,
    )
    share = repeated_share(pairs)
    if share > SHOWN_REPEATS:
        output.remark(
            f"{share:.0%} of the trajectories visit a place twice in a row, as turns in place do. steps, SED and nDTW "
            "count them; --repeats drop leaves them out."
        )
    with output.progress("scoring", len(read.split.episodes)) as done:
        table = score_pairs(pairs, read.split, chosen, read.protocol, progress=done)
    if times is not None:
        table = _timed(table, pairs, times)
    return replace(table, source=str(predictions))


def _timed(table: ScoreTable, pairs: Sequence[Pairs], file: Path) -> ScoreTable:
    """The table with completion times and SCT, and remarks on what they stand on."""
    import numpy as np

    from itinera.formats.fastest_times import read_times
    from itinera.metrics.completion import completion_times, untimed, with_completion
    from itinera.reports.tables import robot_told

    times = read_times(file)
    without = untimed(table, times)
    if len(without) == len(table):
        problem = "holds the fastest time of no episode that was scored."
        raise BadFile(str(file), [Fault("", problem, "Give the times of these tasks.")])
    if without:
        output.remark(f'{file} lacks {len(without)} of {len(table)} episodes, such as "{without[0]}".')
    taken = completion_times(pairs, len(table))
    if np.isnan(taken[~table.missing]).any():
        output.remark("Not every walk tells its times: completion time and SCT are undefined where one does not.")
    radius = table.protocol.robot_radius
    if radius is not None and abs(radius - times.robot.radius) > NEAR_RADIUS:
        output.remark(f"The agents' robot has a radius of {radius:g} m, that of the fastest times another.")
    output.remark(f"SCT by the fastest times of {robot_told(times.robot)}.")
    return with_completion(table, taken, times)


def _save(table: ScoreTable, rows: Path | None, out: Path | None, used: dict[str, Path | None]) -> None:
    from dataclasses import replace

    from itinera.formats import bundles

    if rows is not None:
        bundles.write_rows(rows, table)
    if out is not None:
        told = given.provenance_of(used, sys.argv[1:])
        bundles.write_scores(out, replace(table, provenance=told))


def summary_grid(summary: Summary, shape: str) -> Grid:
    """A row per metric for people; for spreadsheets and papers mean, low and high in columns of their own."""
    from itinera.reports.tables import Grid, heading, number

    rows = []
    for column in summary.columns:
        found = summary.intervals.get(column.name)
        cells = (
            ["undefined", "", ""] if found is None else [number(column, x) for x in (found.mean, found.low, found.high)]
        )
        if shape == "terminal":
            cells = [cells[0], f"{cells[1]} – {cells[2]}" if found is not None else ""]
        count = summary.undefined.get(column.name, 0)
        rows.append((heading(column), *cells, str(count) if count else ""))
    table = summary.table
    named = ("metric", "mean", "95 % interval") if shape == "terminal" else ("metric", "mean", "low", "high")
    what = f"{output.count(len(table), 'episode')} in {output.count(summary.scenes, 'scene')}"
    tours = "" if table.tours is None else f", {output.count(len(table.tours.tour_ids), 'tour')}"
    title = f"{table.source}: {what}{tours} · suite {table.suite} · protocol {table.protocol.name}"
    return Grid((*named, "undefined"), tuple(rows), title)


def _remark_on(summary: Summary) -> None:
    table = summary.table
    output.remark(f"fingerprint {table.fingerprint}")
    if table.missing.any():
        output.remark(f"{int(table.missing.sum())} episodes were not answered and count as zero.")
    for name, count in summary.undefined.items():
        output.remark(f"{name} is undefined on {count} of its rows, which are left out of its mean.")
    if summary.scenes == 1:
        output.remark("One scene: the intervals say nothing about other scenes.")
