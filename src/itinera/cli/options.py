"""Options that several verbs share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON: fractions, metres and seconds, full precision.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print the table as CSV.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")]
Latex = Annotated[bool, typer.Option("--latex", help="Print the table as a LaTeX tabular.")]
PredictionsFile = Annotated[
    Path, typer.Argument(help="The agent's trajectories, in any format `itinera convert` lists.")
]
Tasks = Annotated[Path, typer.Option("--tasks", help="The episodes: R2R, R4R, RxR, REVERIE, NDH, VLN-CE, native.")]
Worlds = Annotated[
    Path | None,
    typer.Option(
        "--worlds",
        help="Connectivity folder or archive; for continuous tasks a folder of scenes or a season of Hearth, if any.",
    ),
]
Tours = Annotated[Path | None, typer.Option("--tours", help="IVLN's tours, to score episodes together.")]
Dense = Annotated[
    Path | None, typer.Option("--reference", help="Dense reference paths (VLN-CE's *_gt.json.gz) instead of waypoints.")
]
Format = Annotated[
    str | None,
    typer.Option("--format", help="The file's format, instead of looking inside.", autocompletion=lambda: formats()),
]
Episode = Annotated[
    str | None, typer.Option("--episode", help="The episode of a robot's log, instead of the name of its file.")
]
ProtocolName = Annotated[str | None, typer.Option("--protocol", help="Judge by this protocol, not the tasks' own.")]
Out = Annotated[Path, typer.Option("--out", help="The file to write.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with a build that was interrupted.")]
Seed = Annotated[int, typer.Option(help="Of everything drawn at random.")]
Missing = Annotated[str, typer.Option(help="fail: every episode must be answered; zero: count the rest as failures.")]
Repeats = Annotated[str, typer.Option(help="keep or drop places that equal the one before, such as turns in place.")]


def suites() -> list[str]:
    """The names of the suites, for a shell to complete."""
    from itinera.metrics.suites import ALL_SUITES

    return list(ALL_SUITES)


def formats() -> list[str]:
    """The names of the formats, for a shell to complete."""
    from itinera.formats.catalog import BY_NAME

    return list(BY_NAME)
