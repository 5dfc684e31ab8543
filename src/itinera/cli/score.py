"""`itinera score`: every metric of a predictions file, with confidence intervals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import options, output

if TYPE_CHECKING:
    from itinera.records.summary import Summary


def score(
    predictions: options.PredictionsFile,
    tasks: options.Tasks,
    worlds: options.Worlds = None,
    suite: Annotated[
        str | None,
        typer.Option(
            help="Metric definitions: paper, m3ds, envdrop, hamt, google, ivln, vlnce, ivln-ce, pointnav, habitat, "
            "ndh, cvdn, reverie, duet-reverie, soon, duet-soon, goat-bench, lh-vln, omninavbench, vln-pe, evt-bench, "
            "safety, usage. Default: ndh, reverie, soon and pointnav for their tasks, else paper.",
            autocompletion=options.suites,
        ),
    ] = None,
    objects: options.TargetObjects = None,
    episodes: options.AnsweredEpisodes = None,
    tours: options.Tours = None,
    reference: options.Dense = None,
    rows: Annotated[
        Path | None, typer.Option(help="Write a row per episode (and tour): .csv, .parquet, or else JSON lines.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write a score bundle, for `compare`, `report` and `check`.")] = None,
    metrics: options.Metrics = None,
    missing: options.Missing = "fail",
    repeats: options.Repeats = "keep",
    implausible: options.Implausible = "fail",
    protocol: options.ProtocolName = None,
    drive: options.Drive = None,
    vmax: options.DriveVmax = None,
    wmax: options.DriveWmax = None,
    format: options.Format = None,
    times: Annotated[Path | None, typer.Option(help="Fastest times of the episodes, for SCT.")] = None,
    episode: options.Episode = None,
    json: options.Json = False,
    csv: options.Csv = False,
    markdown: options.Markdown = False,
    latex: options.Latex = False,
) -> None:
    """Score predictions: every metric, with a 95 % confidence interval that takes scenes as the sample.

    Rates are printed in percent with the ends of their interval; --json prints fractions in full precision.
    Definitions follow the papers; --suite chooses those of a released scorer instead, and `itinera audit` finds out
    which of them gives a published number. With --times, and trajectories with times, completion time and SCT are
    scored too.

    Example: itinera score preds.json --tasks R2R_val_unseen.json --worlds connectivity/ --out my-agent.jsonl
    """
    shape = output.output_format(json=json, csv=csv, markdown=markdown, latex=latex)
    from itinera.formats.decoding import pause_gc

    # Imports and episodes are many objects and no garbage: collecting takes a tenth of the time.
    with pause_gc(), output.progress("scoring", None) as done:
        from itinera import api
        from itinera.records.summary import summarize, summary_table, summary_to_dict
        from itinera.worlds.kernel_loading import skip_type_registration

        skip_type_registration()
        table = api.score(
            predictions,
            tasks,
            worlds,
            episodes=options.selection(episodes),
            suite=suite,
            protocol=protocol,
            missing=missing,  # type: ignore[arg-type]
            repeats=repeats,  # type: ignore[arg-type]
            implausible=implausible,  # type: ignore[arg-type]
            drive=drive,
            vmax=vmax,
            wmax=None if wmax is None else math.radians(wmax),
            times=times,
            objects=objects,
            tours=tours,
            reference=reference,
            format=format,
            episode=episode,
            out=out,
            rows=rows,
            progress=done,
            command_words=output.command_words(),
        )
    chosen = options.metrics_list(metrics)
    summary = summarize(table if chosen is None else table.choose(chosen))
    if shape == "json":
        output.print_json(summary_to_dict(summary))
    else:
        output.print_table(summary_table(summary, separate_bounds=shape != "terminal"), shape)
    _print_remarks(summary)


def _print_remarks(summary: Summary) -> None:
    table = summary.table
    output.remark(f"fingerprint {table.fingerprint}")
    if table.missing.any():
        output.remark(f"{int(table.missing.sum())} episodes have no trajectory and count as zero.")
    for name, count in summary.undefined.items():
        output.remark(f"{name} is undefined for {count} rows, which are left out of its mean.")
    if summary.scenes == 1:
        output.remark("One scene: the intervals do not generalize to other scenes.")
