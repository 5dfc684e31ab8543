"""Checks of files: is a file complete, and does it fit its tasks, worlds and provenance? Start with `check_file`.

`verify_folder` checks every file of a folder of data, with the digests that lists in it state.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from itinera.errors import BadArgument, BadFile, Fault, ItineraError, MissingExtra
from itinera.formats import catalog
from itinera.formats.board_archive import check_archive, is_board_archive
from itinera.formats.catalog import Format
from itinera.formats.parts import SEASON_PART, Part, find_part, verify_part
from itinera.formats.provenance import check_sidecar
from itinera.records import ScoreTable
from itinera.records.provenance import digest
from itinera.tasks import Protocol, Split
from itinera.tasks.protocol import select_carried, task_protocols
from itinera.worlds import NavGraph, World

if TYPE_CHECKING:
    from itinera.formats.checksums import RecordedDigest

PROVENANCE = ".provenance.json"  # suffix of a file with the provenance of the file beside it


@dataclass(frozen=True)
class FileReport:
    """The format of a file without faults, and counts of its content by name."""

    file: str
    format: str
    kind: str
    about: str
    counts: Mapping[str, Any]

    def __str__(self) -> str:
        counts = ", ".join(f"{value} {_noun(value, name)}" for name, value in self.counts.items())
        return f"{self.file}: {self.about}; {counts}. No faults."


def _noun(number: object, name: str) -> str:
    """The name of a count, whose first word may be a plural, as it follows the number.

    >>> _noun(1, "goals withheld"), _noun(1, "trajectories"), _noun(2, "worlds"), _noun(1, "with repeated places")
    ('goal withheld', 'trajectory', 'worlds', 'with repeated places')
    """
    first, _, rest = name.partition(" ")
    singular = f"{first[:-3]}y" if first.endswith("ies") else first.removesuffix("s")
    return f"{singular} {rest}".strip() if number == 1 else name


def check_file(
    file: Path,
    *,
    tasks: Split | None = None,
    worlds: Path | Mapping[str, World] | None = None,
    missing: Literal["fail", "zero"] = "fail",
    protocol: Protocol | None = None,
    format: str | None = None,
    earlier: Path | None = None,
) -> FileReport:
    """The report on a file; raises BadFile with every fault found.

    Predictions are checked against their `tasks` and worlds, and against `protocol`, by default that of the tasks.
    Goals are not needed, so a submission to a hidden test can be checked before it is sent. A score bundle is checked
    against its digest, and its inputs where they still exist. The log of a board archive must continue that of an
    `earlier` one.
    """
    part = None if format is not None else find_part(file)
    if part is not None:
        return _check_part(part)
    if format is None and is_board_archive(file):
        board = check_archive(file, earlier=earlier)
        about = f'archive of the board "{board.title}" up to event {board.head}'
        return FileReport(str(file), "board", "board", about, board.counts)
    if earlier is not None:
        raise BadArgument(f"Only board archives can be compared with an earlier one, and {file} is none.")
    found = catalog.find_format(format) if format is not None else catalog.detect(file)
    check_sidecar(file)
    if found.kind == "predictions" and tasks is not None:
        counts = _check_predictions(file, found, tasks, worlds, missing, protocol)
    else:
        counts = count_content(file, found, found.read(file), worlds)
    return FileReport(str(file), found.name, found.kind, found.about, counts)


def _check_part(part: Part) -> FileReport:
    """The report on a part; raises BadFile unless its records are those that it was written with.

    The houses of a part of a season are verified by `itinera.api.check`.
    """
    plan, counts = part.plan, {"records": len(part.plan.block)}
    known = None
    if part.kind != SEASON_PART:
        verify_part(part)
        known = _recognize(part.path)
    if known is not None:
        counts |= count_content(part.path, known, known.read(part.path))
    about = f"{part}, records {plan.block.start + 1:,} to {plan.block.stop:,} of {plan.total:,}"
    return FileReport(str(part.path), part.kind, "part", about, counts)


def _check_predictions(
    file: Path,
    found: Format,
    split: Split,
    worlds: Path | Mapping[str, World] | None,
    missing: Literal["fail", "zero"],
    protocol: Protocol | None,
) -> dict[str, Any]:
    from itinera.metrics.matching import PlausibilityCheck, match, repeat_fraction

    predictions = catalog.read_predictions(file, split, format=found.name)
    if protocol is None:
        allowed = task_protocols(split.protocol, tours=True)
        carried = predictions.protocol
        protocol = allowed[0] if carried is None else select_carried(carried, allowed, str(file))
    plausibility = PlausibilityCheck(protocol)
    places = _load_worlds(split, worlds, protocol)
    groups = match(predictions, split, places, missing=missing, goals=False, plausibility=plausibility)
    if plausibility.faults:
        raise BadFile(str(file), [fault for faults in plausibility.faults.values() for fault in faults])
    counts = {
        "trajectories": len(predictions),
        "worlds": len(groups),
        "with repeated places": round(repeat_fraction(groups) * sum(map(len, groups))),
    }
    return counts | ({"beyond the step limit": len(plausibility.long_paths)} if plausibility.long_paths else {})


def _load_worlds(
    split: Split, worlds: Path | Mapping[str, World] | None, protocol: Protocol | None = None
) -> Mapping[str, World]:
    return worlds if isinstance(worlds, Mapping) else catalog.load_worlds(split, worlds, protocol)


def count_content(
    file: Path, found: Format, content: Any, worlds: Path | Mapping[str, World] | None = None
) -> dict[str, Any]:
    """Counts of a file's content by name; raises BadFile where tasks do not fit their worlds or scores their inputs."""
    if found.kind == "tasks":
        if worlds is not None:
            _check_paths(str(file), content, _load_worlds(content, worlds))
        return {
            "episodes": len(content),
            "worlds": len(content.world_ids),
            "goals withheld": sum(episode.goals_withheld for episode in content),
        }
    if found.kind == "predictions":
        return {"trajectories": len(content)}
    if found.kind == "map recordings":
        return {"episodes": len(content), "maps": sum(map(len, content.episodes.values()))}
    if found.kind == "scores":
        return _check_inputs(file, content)
    if found.kind == "worlds":
        graphs: list[Any] = [content[name].space for name in content]
        return {
            "worlds": len(graphs),
            "nodes": sum(len(graph.nodes) for graph in graphs),
            "edges": sum(len(graph.edges) for graph in graphs),
        }
    if found.kind == "objects":
        visible = [objects for viewpoints in content.values() for objects in viewpoints.values()]
        return {"viewpoints": len(visible), "objects": sum(map(len, visible))}
    if found.kind == "maps":
        rows, columns = content.blocked.shape
        return {
            "columns": columns,
            "rows": rows,
            "m a cell": content.resolution,
            "free cells": int((~content.blocked).sum()),
        }
    if found.kind == "subset":
        return {"episodes": len(content), "strata": len(content.strata)}
    if found.kind == "live sessions":
        return {"tours": len(content.tours), "answers": sum(len(tour.answers) for tour in content.tours)}
    return {"entries": len(content)}


def _check_paths(source: str, split: Split, worlds: Mapping[str, World]) -> None:
    """Raise BadFile unless every reference path lies in its world and follows its edges."""
    faults = [fault for episode in split for fault in _path_faults(episode, worlds)]
    if faults:
        raise BadFile(source, faults)


def _path_faults(episode: Any, worlds: Mapping[str, World]) -> Iterator[Fault]:
    where = f'episode "{episode.id}"'
    if episode.world_id not in worlds:
        yield Fault(where, f"world {episode.world_id} is not among the worlds given.", "Check worlds (--worlds).")
        return
    graph = worlds[episode.world_id].space
    if not isinstance(graph, NavGraph):
        return
    places = [str(place) for place in (episode.start.place, *episode.goals, *episode.reference)]
    unknown = [place for place in places if place not in graph.index]
    if unknown:
        yield Fault(where, f"node {unknown[0]} is not in world {episode.world_id}.")
        return
    path = graph.locate([str(place) for place in episode.reference])
    (broken,) = (~graph.are_adjacent(path[:-1], path[1:])).nonzero()
    if len(broken):
        ends = episode.reference[broken[0]], episode.reference[broken[0] + 1]
        yield Fault(where, f"the path goes from {ends[0]} to {ends[1]}, which no edge joins.")


def _check_inputs(file: Path, table: ScoreTable) -> dict[str, Any]:
    provenance = table.provenance
    faults, not_found = [], 0
    for role, path in (provenance.inputs if provenance is not None else {}).items():
        if not Path(path).exists():
            not_found += 1
        elif provenance is not None and digest(Path(path)) != provenance.digests.get(role):
            problem = f"{path} ({role}) is not the file these scores were made from."
            faults.append(Fault("", problem, "Score again, or restore the file."))
    if faults:
        raise BadFile(str(file), faults)
    return {"episodes": len(table), "metrics": len(table.columns), "inputs not found": not_found}


@dataclass(frozen=True)
class VerifiedFile:
    """The result for one file, or for one folder that is read as a whole."""

    file: str
    format: str  # empty where it is unknown
    holds: Mapping[str, Any]  # counts of the content by name
    digests: int  # number of digests compared, of the file or of those in the folder
    faults: tuple[str, ...]
    note: str = ""  # why it was not read


@dataclass(frozen=True, repr=False)
class FolderReport:
    """The result for every file of a folder, in the order of names."""

    folder: str
    files: tuple[VerifiedFile, ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """Every fault of every file."""
        return tuple(fault for file in self.files for fault in file.faults)

    @property
    def summary(self) -> str:
        """The counts in one line."""
        read = sum(bool(file.format) and not file.note for file in self.files)
        unknown = sum(not file.format for file in self.files)
        digests = sum(file.digests for file in self.files)
        faults = len(self.faults)
        return (
            f"{read} read, {unknown} of unknown formats; {digests} digests compared. "
            f"{faults or 'No'} fault{'' if faults == 1 else 's'}."
        )

    def __repr__(self) -> str:
        return f"FolderReport({self.folder!r}: {self.summary})"


def verify_folder(folder: Path, *, progress: Callable[[int], None] | None = None) -> FolderReport:
    """The result for everything in a folder, hidden files aside; faults are collected, not raised.

    `progress` is called with 1 after each file.
    """
    if not folder.is_dir():
        raise BadFile(str(folder), [Fault("", "is not a folder.", "Give the folder that contains the data.")])
    from itinera.formats.checksums import LISTS

    files = {file for file in folder.rglob("*") if file.is_file() and not _is_hidden(file.relative_to(folder))}
    lists = {file for file in files if file.name in LISTS}
    found, digests = _read_lists(folder, sorted(lists))
    files |= {file for file in digests if file.is_file()}  # hidden files count if a list names them
    units = _units(sorted(files - lists))
    for unit, parts in units.items():
        found.append(_verify(unit, str(unit.relative_to(folder)), [d for part in parts for d in digests[part]]))
        if progress is not None:
            progress(1)
    return FolderReport(str(folder), tuple(sorted(found, key=lambda file: file.file)))


def _is_hidden(name: Path) -> bool:
    return any(part.startswith(".") for part in name.parts)


def _read_lists(folder: Path, lists: Sequence[Path]) -> tuple[list[VerifiedFile], dict[Path, list[RecordedDigest]]]:
    """The result for the lists of digests, and the digests by file."""
    from itinera.formats.checksums import read_digests

    found: list[VerifiedFile] = []
    digests: dict[Path, list[RecordedDigest]] = defaultdict(list)
    for file in lists:
        entries, faults = [], []
        try:
            entries = read_digests(file)
            check_sidecar(file)
        except ItineraError as error:
            faults.append(str(error))
        missing = [entry.file for entry in entries if not entry.file.is_file()]
        faults += [f"{path}: does not exist, though {file.name} names it." for path in missing]
        for entry in entries:
            digests[entry.file].append(entry)
        name = str(file.relative_to(folder))
        found.append(VerifiedFile(name, file.name, {"digests": len(entries)}, 0, tuple(faults)))
    return found, digests


def _units(files: Sequence[Path]) -> dict[Path, list[Path]]:
    """Files by what is read as a whole: themselves, or their folder of graphs or boxes."""
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


def _verify(path: Path, name: str, digests: Sequence[RecordedDigest]) -> VerifiedFile:
    faults = [f"{d.file}: does not have the digest in {d.by}.\n  Get it again." for d in digests if not d.is_right()]
    format, holds, reason = "", {}, ""
    try:
        check_sidecar(path)
        if (known := _recognize(path)) is not None:
            format = known.name
            holds = count_content(path, known, known.read(path))
    except MissingExtra as error:
        reason = str(error)
    except ItineraError as error:
        faults.append(str(error))
    return VerifiedFile(name, format, holds, len(digests), tuple(faults), reason)


def _recognize(path: Path) -> Format | None:
    """The format of a file or folder; None if it is unknown, BadFile if it is damaged."""
    from itinera.formats.io import members
    from itinera.formats.matterport import SUFFIX

    if path.is_dir() or catalog.ARCHIVE.search(path.name):
        if members(path, SUFFIX):
            return catalog.find_format("connectivity")
        # Any archive of JSON files might be boxes, so here the name has to say so.
        return catalog.find_format("bbox") if _is_boxes(path) else None
    head = catalog.read_head(path)
    return next((known for known in catalog.RECOGNIZED if known.recognizes(head)), None)
