"""Records of JSON-lines files, read as a stream, and the NaN that Python's json module writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from itinera.formats.decoding import UNDECODABLE, Fields, MemoryBudget, make_fault
from itinera.formats.io import FaultList, open_stream

T = TypeVar("T")


def iter_records(
    path: Path, kind: type[T], faults: FaultList, fields: set[str] | None = None
) -> Iterator[tuple[str, T]]:
    """The records of a JSON-lines file, each with its place ("line 3"); unreadable lines are added to `faults`, and
    the names of the fields of all others to `fields`."""
    decoder = msgspec.json.Decoder(kind)
    names = msgspec.json.Decoder(Fields)
    budget = MemoryBudget(str(path))
    with open_stream(path) as stream:
        for number, line in enumerate(iter(stream.readline, b""), start=1):
            if not line.strip():
                continue
            budget.spend(line)
            try:
                record = _decoded(line, decoder)
                if fields is not None:
                    fields.update(_decoded(line, names).keys())
            except UNDECODABLE as error:
                faults.append(make_fault(error, f"line {number}"))
                continue
            yield f"line {number}", record


def _decoded(line: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    try:
        return decoder.decode(line)
    except msgspec.DecodeError:
        if b"NaN" not in line:
            raise
    return decoder.decode(replace_nan(line))


def replace_nan(data: bytes) -> bytes:
    """The same JSON with null for every NaN, which JSON lacks but Python writes for missing values."""
    return msgspec.json.encode(json.loads(data, parse_constant=_missing))


def _missing(name: str) -> None:
    if name != "NaN":
        raise ValueError(f"{name} is not a JSON number")
