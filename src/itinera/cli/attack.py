"""`itinera attack`: sends forged entries to a scorer and reports which of them it falls for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output


def attack(
    scorer: Annotated[
        str, typer.Argument(help="Command with {file}, and {tasks}, {worlds} or {out} if needed; prints JSON.")
    ],
    tasks: Annotated[
        Path | None,
        typer.Option(help="Tasks with their goals, which the scorer scores by. Default: a house of Hearth."),
    ] = None,
    worlds: options.Worlds = None,
    format: Annotated[
        str | None, typer.Option(help="Format of the entries: r2r, vlnce or native. Default: by the tasks.")
    ] = None,
    protocol: options.ProtocolName = None,
    seconds: Annotated[float, typer.Option("--seconds", help="Time limit of the scorer for each entry, s.")] = 60.0,
    memory: Annotated[int, typer.Option(help="Memory limit of the scorer, MB.")] = 4096,
    json: options.Json = False,
    csv: options.Csv = False,
    markdown: options.Markdown = False,
    latex: options.Latex = False,
) -> None:
    """Attack a scorer with forged entries: empty files, jumps to the goal, doubles, NaN, a million steps, deep JSON, …

    An entry should be refused, or score no better than an agent that never moves. Exit code 1 if one scores better,
    crashes the scorer, gets no answer in time, or a score that is no number. Malformed entries that are accepted in
    silence are reported.

    Example: itinera attack "itinera judge {file} --challenge challenge.toml --json" --tasks tasks.json --worlds worlds/
    """
    shape = output.output_format(json=json, csv=csv, markdown=markdown, latex=latex)
    from itinera import api

    with output.progress("attacking", None) as progress:
        report = api.attack(
            scorer,
            tasks,
            worlds,
            format=format,
            protocol=protocol,
            seconds=seconds,
            memory_mb=memory,
            progress=progress,
        )
    if shape == "json":
        output.print_json(report.to_dict())
    else:
        colors = {(row, 1): "red" for row, result in enumerate(report.results) if result.failed}
        output.print_table(report.to_table(), shape, colors=colors)
        (output.print_line if shape == "terminal" else output.remark)(report.summary)
    if not report.passed:
        raise typer.Exit(1)
