"""`itinera data verify`: is a folder of data unchanged, and can every file in it be read?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import options, output
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.analysis.file_checks import FolderReport
    from itinera.records.tables import TextTable

app = typer.Typer(help="Verify folders of data.", no_args_is_help=True)


@app.callback()
def _data() -> None:
    """Verify folders of data."""


@app.command("verify")
def verify(
    folder: Annotated[Path | None, typer.Argument(envvar="ITINERA_DATA", help="A folder of data.")] = None,
    json: options.Json = False,
) -> None:
    """Verify a folder of data: compare digests where they are stated, and read every file of a known format.

    Digests are those of SHA256SUMS files, of a Hearth season's season.json, and of the provenance beside a file. Files
    of unknown formats are counted, not read. Exits with 1 if there is any fault.

    Example: itinera data verify hearth/
    """
    if folder is None:
        raise BadArgument("Name a folder, or set ITINERA_DATA.")
    from itinera import api

    with output.progress("verifying", None) as done:
        report = api.verify_data(folder, progress=done)
    if json:
        files = [asdict(file) for file in report.files]
        output.print_json({"folder": str(folder), "faults": len(report.faults), "files": files})
    else:
        output.print_table(_table(report), "terminal")
        output.print_line(report.summary)
        for fault in report.faults:
            output.print_text(fault, to_stderr=True)
    if report.faults:
        raise typer.Exit(1)


def _table(report: FolderReport) -> TextTable:
    from itinera.records.tables import TextTable

    rows = [
        (file.file, file.format, file.note or ", ".join(f"{value} {name}" for name, value in file.holds.items()),
         str(file.digests or ""), str(len(file.faults) or ""))
        for file in report.files
        if file.format or file.faults
    ]  # fmt: skip
    return TextTable(("file", "format", "holds", "digests", "faults"), tuple(rows), f"{report.folder}:")
