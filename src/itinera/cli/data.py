"""`itinera data verify`: is a folder of data what it was, and can every file in it be read?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from itinera.cli import options, output
from itinera.errors import BadArgument, BadFile, Fault, ItineraError, MissingExtra

if TYPE_CHECKING:
    from itinera.formats.catalog import Format
    from itinera.formats.checksums import Noted
    from itinera.reports.tables import Grid

PROVENANCE = ".provenance.json"  # ends the name of a file that tells where the one beside it comes from

app = typer.Typer(help="Look after folders of data.", no_args_is_help=True)


@app.callback()
def _data() -> None:
    """Look after folders of data."""


@dataclass(frozen=True)
class Verified:
    """What was found of one file, or of one folder that is read as a whole."""

    file: str
    format: str  # empty where none is known
    holds: Mapping[str, Any]  # counts, by what is counted
    digests: int  # how many were noted somewhere, of the file or of those in the folder
    faults: tuple[str, ...]
    note: str = ""  # why it was not read


@app.command("verify")
def verify(
    folder: Annotated[Path | None, typer.Argument(envvar="ITINERA_DATA", help="A folder of data.")] = None,
    json: options.Json = False,
) -> None:
    """Verify a folder of data: digests where they are noted, and every file of a known format by reading it whole.

    Digests are those of SHA256SUMS files, of a Hearth season's season.json, and of the provenance beside a file. Files
    of formats that are not known here are counted, and not looked into. Exit 1 if there is any fault.

    Example: itinera data verify hearth/
    """
    if folder is None:
        raise BadArgument("Which folder? Name one, or let ITINERA_DATA name it.")
    found = verified(folder)
    faults = [fault for one in found for fault in one.faults]
    if json:
        output.print_json({"folder": str(folder), "faults": len(faults), "files": [asdict(one) for one in found]})
    else:
        output.print_grid(_grid(folder, found), "terminal")
        typer.echo(_summary(found, len(faults)))
        for fault in faults:
            typer.echo(fault, err=True)
    if faults:
        raise typer.Exit(1)


def verified(folder: Path) -> list[Verified]:
    """Everything in a folder, hidden files aside, in the order of names; faults are collected, not raised."""
    if not folder.is_dir():
        raise BadFile(str(folder), [Fault("", "is no folder.", "Give the folder that holds the data.")])
    from itinera.formats.checksums import LISTS

    files = {file for file in folder.rglob("*") if file.is_file() and not _is_hidden(file.relative_to(folder))}
    lists = {file for file in files if file.name in LISTS}
    found, noted = _read_lists(folder, sorted(lists))
    files |= {file for file in noted if file.is_file()}  # hidden ones that somebody noted count
    units = _units(sorted(files - lists))
    with output.progress("verifying", len(units)) as done:
        for unit, parts in units.items():
            found.append(_one(unit, str(unit.relative_to(folder)), [note for part in parts for note in noted[part]]))
            done(1)
    return sorted(found, key=lambda one: one.file)


def _is_hidden(name: Path) -> bool:
    return any(part.startswith(".") for part in name.parts)


def _read_lists(folder: Path, lists: Sequence[Path]) -> tuple[list[Verified], dict[Path, list[Noted]]]:
    """What was found of the lists of digests, and the digests by file."""
    from itinera.formats.checksums import read_noted
    from itinera.formats.provenance import check_sidecar

    found: list[Verified] = []
    noted: dict[Path, list[Noted]] = defaultdict(list)
    for file in lists:
        notes, faults = [], []
        try:
            notes = read_noted(file)
            check_sidecar(file)
        except ItineraError as error:
            faults.append(str(error))
        missing = [note.file for note in notes if not note.file.is_file()]
        faults += [f"{path}: is not there, though {file.name} names it." for path in missing]
        for note in notes:
            noted[note.file].append(note)
        found.append(Verified(str(file.relative_to(folder)), file.name, {"digests": len(notes)}, 0, tuple(faults)))
    return found, noted


def _units(files: Sequence[Path]) -> dict[Path, list[Path]]:
    """Files by what is read as a whole: themselves, or the folder of graphs or boxes they are in."""
    from itinera.formats.matterport import SUFFIX

    units: dict[Path, list[Path]] = defaultdict(list)
    present = set(files)
    for file in files:
        beside = file.with_name(file.name.removesuffix(PROVENANCE))
        in_whole = file.name.endswith(SUFFIX) or _is_boxes(file.parent)
        units[file.parent if in_whole else beside if beside in present else file].append(file)
    return units


def _is_boxes(path: Path) -> bool:
    return path.name.lower().startswith("bbox")


def _one(path: Path, name: str, notes: Sequence[Noted]) -> Verified:
    from itinera.cli.check import counted
    from itinera.formats.provenance import check_sidecar

    faults = [f"{n.file}: is not the file that {n.by} notes.\n  Get it again." for n in notes if not n.is_right()]
    format, holds, reason = "", {}, ""
    try:
        check_sidecar(path)
        if (known := _recognised(path)) is not None:
            format = known.name
            holds = counted(path, known, known.read(path))
    except MissingExtra as error:
        reason = str(error)
    except ItineraError as error:
        faults.append(str(error))
    return Verified(name, format, holds, len(notes), tuple(faults), reason)


def _recognised(path: Path) -> Format | None:
    """The format of a file or folder; None if it is none of ours, BadFile if it is damaged."""
    from itinera.formats import catalog
    from itinera.formats.io import members
    from itinera.formats.matterport import SUFFIX

    if path.is_dir() or catalog.ARCHIVE.search(path.name):
        if members(path, SUFFIX):
            return catalog.named("connectivity")
        # Any archive of JSON files may be taken for boxes, so here the name has to say it.
        return catalog.named("bbox") if _is_boxes(path) else None
    head = catalog.look_inside(path)
    return next((known for known in (*catalog.FORMATS, *catalog.MAPS) if known.recognises(head)), None)


def _grid(folder: Path, found: Sequence[Verified]) -> Grid:
    from itinera.reports.tables import Grid

    rows = [
        (one.file, one.format, one.note or ", ".join(f"{value} {name}" for name, value in one.holds.items()),
         str(one.digests or ""), str(len(one.faults) or ""))
        for one in found
        if one.format or one.faults
    ]  # fmt: skip
    return Grid(("file", "format", "holds", "digests", "faults"), tuple(rows), f"{folder}:")


def _summary(found: Sequence[Verified], faults: int) -> str:
    known = sum(bool(one.format) and not one.note for one in found)
    strange = sum(not one.format for one in found)
    digests = sum(one.digests for one in found)
    said = f"{known} read, {strange} of formats not known here; {digests} digests compared."
    return f"{said} {faults or 'No'} fault{'' if faults == 1 else 's'}."
