"""Itinera's own files: JSON lines, one header with kind, provenance and protocol, then one record per line.

Kinds: predictions (`native_predictions.py`), maps beside them (`map_recordings.py`), tasks (`native_tasks.py`),
fastest times (`fastest_times.py`), trials (`trials.py`), action probabilities in them (`action_probabilities.py`),
score bundles (`bundles.py`) and parts of seasons (`parts.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import numpy as np

from itinera.errors import BadFile, Fault
from itinera.formats.decoding import UNDECODABLE, MemoryBudget, make_fault
from itinera.formats.io import FaultList, open_stream
from itinera.formats.writing import atomic_write
from itinera.records import Column, Provenance
from itinera.records.shards import PartPlan
from itinera.tasks import Protocol
from itinera.tasks.fastest_times import ReferenceRobot
from itinera.tasks.split import SplitPart
from itinera.worlds import Places

FORMAT = 1
Kind = Literal[
    "predictions", "tasks", "times", "trials", "action-probabilities", "map-recordings", "scores", "season-part"
]
Point = tuple[float, float, float]
Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]  # of an int64 array
T = TypeVar("T")


class Header(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The first line of each of Itinera's own files."""

    itinera: Kind
    format: int = FORMAT
    provenance: Provenance | None = None
    protocol: Protocol | None = None
    name: str = ""  # tasks: the split
    judged_by: str = ""  # tasks: the name of the protocol
    robot: ReferenceRobot | None = None  # times, and scores that weigh them: whose they are
    plan: str = ""  # predictions, maps and action probabilities: a fingerprint of everything that decides the content
    settings: dict[str, Any] = {}  # predictions: of a language model (name, server, prompt, parameters), of the clock
    until: dict[str, Any] = {}  # predictions of a run that stopped itself: its rule, and what that found
    filter_counts: dict[str, Any] = {}  # trials: by skill, how many candidate trials were kept and dropped
    agent: str = ""  # action probabilities: the name of the agent
    suite: str = ""  # scores, as all that follows
    fingerprint: str = ""
    source: str = ""
    columns: list[Column] = []
    tour_columns: list[Column] = []
    part: SplitPart | None = None
    shard: PartPlan | None = None  # of a part of a file, see `parts.py`
    digest: str = ""  # scores: of every byte of the file but these


def read_header(path: str | Path) -> Header:
    """The header of one of Itinera's own files."""
    with open_stream(Path(path)) as stream:
        return _header(stream.readline(), str(path))


def _header(line: bytes, source: str, kind: Kind | None = None) -> Header:
    try:
        header = msgspec.json.decode(line, type=Header)
    except UNDECODABLE as error:
        raise BadFile(source, [make_fault(error, "line 1")]) from None
    if header.format > FORMAT:
        problem = f"is of format {header.format}, but this version reads up to {FORMAT}."
        raise BadFile(source, [Fault("line 1", problem, "Install a newer itinera.", "format")])
    if kind is not None and header.itinera != kind:
        raise BadFile(source, [Fault("line 1", f"this file contains {header.itinera}, not {kind}.", "", "itinera")])
    return header


def read_records(
    path: Path, kind: Kind, record: type[T], digest: Any = None, look: Callable[[bytes], None] | None = None
) -> tuple[Header, list[T]]:
    """The header and the records of a file of this kind; `digest`, a hash, is updated with every byte but its own, and
    `look` is called with the line of every record."""
    decoder = msgspec.json.Decoder(record)
    records: list[T] = []
    faults = FaultList(str(path))
    budget = MemoryBudget(str(path))
    with open_stream(path) as stream:
        first = stream.readline()
        budget.spend(first)
        header = _header(first, str(path), kind)
        if digest is not None:
            digest.update(header_without_digest(first, header))
        for number, line in enumerate(iter(stream.readline, b""), start=2):
            if digest is not None:
                digest.update(line)
            budget.spend(line)
            try:
                records.append(decoder.decode(line))
                if look is not None:
                    look(line)
            except UNDECODABLE as error:
                faults.append(make_fault(error, f"line {number}"))
    faults.raise_any()
    return header, records


def header_without_digest(line: bytes, header: Header) -> bytes:
    """The header line without its digest."""
    return line.replace(header.digest.encode(), b"")


def header_line(header: Header) -> bytes:
    """The first line of a file."""
    return msgspec.json.encode(header) + b"\n"


def write_file(path: Path, header: Header, body: bytes) -> None:
    """Write a header, then the encoded records."""
    with atomic_write(path) as stream:
        stream.write(header_line(header))
        stream.write(body)


def parse_places(places: list[str | Point]) -> Places:
    """Node ids or an array of positions, from the JSON of a file."""
    if places and not isinstance(places[0], str):
        return np.array(places, dtype=np.float64)
    return tuple(str(place) for place in places)


def encode_places(places: Places) -> list[Any]:
    """Places as JSON values."""
    return list(places.tolist()) if isinstance(places, np.ndarray) else list(places)
