"""Our own files: JSON lines, one header with kind, provenance and protocol, then one record per line.

Six kinds: walks (`native_walks.py`), tasks (`native_tasks.py`), fastest times (`times.py`), trials (`trials.py`), what
agents leaned to in them (`leanings.py`), and scores, the result bundle (`bundles.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import numpy as np

from itinera.errors import BadFile, Fault
from itinera.formats.decoding import UNDECODABLE, fault_of
from itinera.formats.io import atomic_write, open_stream
from itinera.records import Column, Provenance
from itinera.tasks import Protocol
from itinera.tasks.fastest_times import ReferenceRobot
from itinera.worlds import Places

FORMAT = 1
Kind = Literal["walks", "tasks", "times", "trials", "leanings", "scores"]
Point = tuple[float, float, float]
Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]  # what an array can hold
T = TypeVar("T")


class Header(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The first line of every file of ours."""

    itinera: Kind
    format: int = FORMAT
    provenance: Provenance | None = None
    protocol: Protocol | None = None
    name: str = ""  # tasks: the split
    judged_by: str = ""  # tasks: the name of the protocol
    robot: ReferenceRobot | None = None  # times, and scores that weigh them: whose they are
    plan: str = ""  # walks and leanings: a fingerprint of all that decides what is in them
    tallies: dict[str, Any] = {}  # trials: by skill, what became of the candidates
    agent: str = ""  # leanings: who was asked
    suite: str = ""  # scores, as all that follows
    fingerprint: str = ""
    source: str = ""
    columns: list[Column] = []
    tour_columns: list[Column] = []
    digest: str = ""  # scores: of every byte of the file but these


def read_header(path: str | Path) -> Header:
    """The header of one of our files."""
    with open_stream(Path(path)) as stream:
        return _header(stream.readline(), str(path))


def _header(line: bytes, source: str, kind: Kind | None = None) -> Header:
    try:
        header = msgspec.json.decode(line, type=Header)
    except UNDECODABLE as error:
        raise BadFile(source, [fault_of(error, "line 1")]) from None
    if header.format > FORMAT:
        problem = f"is of format {header.format}, and this version reads up to {FORMAT}."
        raise BadFile(source, [Fault("line 1", problem, "Install a newer itinera.", "format")])
    if kind is not None and header.itinera != kind:
        raise BadFile(source, [Fault("line 1", f"this file holds {header.itinera}, not {kind}.", "", "itinera")])
    return header


def read_records(path: Path, kind: Kind, record: type[T], digest: Any = None) -> tuple[Header, list[T]]:
    """The header and the records of a file of this kind; `digest`, a hash, is fed every byte but the header's own."""
    decoder = msgspec.json.Decoder(record)
    records: list[T] = []
    faults = []
    with open_stream(path) as stream:
        first = stream.readline()
        header = _header(first, str(path), kind)
        if digest is not None:
            digest.update(undigested(first, header))
        for number, line in enumerate(iter(stream.readline, b""), start=2):
            if digest is not None:
                digest.update(line)
            try:
                records.append(decoder.decode(line))
            except UNDECODABLE as error:
                faults.append(fault_of(error, f"line {number}"))
    if faults:
        raise BadFile(str(path), faults)
    return header, records


def undigested(line: bytes, header: Header) -> bytes:
    """The header's line as it was before its digest was known."""
    return line.replace(header.digest.encode(), b"")


def header_line(header: Header) -> bytes:
    """The first line of a file."""
    return msgspec.json.encode(header) + b"\n"


def write_file(path: Path, header: Header, body: bytes) -> None:
    """A header, then records already encoded."""
    with atomic_write(path) as stream:
        stream.write(header_line(header))
        stream.write(body)


def places_of(places: list[str | Point]) -> Places:
    """Node ids, or an array of positions, from what a file holds."""
    if places and not isinstance(places[0], str):
        return np.array(places, dtype=np.float64)
    return tuple(str(place) for place in places)


def plain_places(places: Places) -> list[Any]:
    """Places as a file holds them."""
    return list(places.tolist()) if isinstance(places, np.ndarray) else list(places)
