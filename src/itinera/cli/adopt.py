"""`itinera adopt`: the metric rows that other systems save instead of trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output
from itinera.errors import BadArgument


def adopt(
    files: Annotated[list[Path], typer.Argument(help="Files, folders or patterns; together they are one system.")],
    tasks: options.Tasks,
    columns: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=METRIC", help="Metric of a column with another name. May be repeated."),
    ] = None,
    id_column: Annotated[str | None, typer.Option(help="Column of the episode id, if it has another name.")] = None,
    missing: Annotated[
        str, typer.Option(help="fail: every episode needs a row; zero: others are failures; drop: score a part.")
    ] = "fail",
    duplicates: Annotated[
        str, typer.Option(help="fail: one row per episode; first or last: which of several rows counts.")
    ] = "fail",
    episodes: options.Episodes = None,
    out: Annotated[Path | None, typer.Option("--out", help="Score bundle, for compare, report and power.")] = None,
    protocol: options.ProtocolName = None,
    json: options.Json = False,
    csv: options.Csv = False,
    markdown: options.Markdown = False,
    latex: options.Latex = False,
) -> None:
    """Adopt the metric rows of another system as scores marked "claimed", checked against the episodes of the tasks.

    Reads the files of StreamVLN, InternNav, NaVILA, NaVid, Uni-NaVid, ETPNav, VLN-CE and EVT-Bench, and any JSON lines,
    JSON or CSV with an episode id and metrics.

    Example: itinera adopt results/result.json --tasks val_unseen.json.gz --out streamvln.jsonl
    """
    shape = output.output_format(json=json, csv=csv, markdown=markdown, latex=latex)
    from itinera import api
    from itinera.records.summary import summary_table

    adopted = api.adopt(
        files,
        tasks,
        columns=_read_columns(columns or []),
        id_column=id_column,
        missing=missing,  # type: ignore[arg-type]  # checked by adopt
        duplicates=duplicates,  # type: ignore[arg-type]
        episodes=options.selection(episodes),
        protocol=protocol,
        out=out,
        command_words=output.command_words(),
    )
    if shape == "json":
        output.print_json(adopted.to_dict())
    else:
        output.print_table(summary_table(adopted.scores.summary()), shape)
    for sentence in adopted.remarks:
        output.remark(sentence)


def _read_columns(given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for name, sign, _ in pairs:
        if not sign or not name:
            raise BadArgument(f"--columns {name!r} must be NAME=METRIC, such as --columns reached=SR.")
    return {name: metric for name, _, metric in pairs}
