"""JSON-lines files as numbered records, read as a stream, and the NaN that Python's own writer puts into JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from itinera.errors import Fault
from itinera.formats.decoding import UNDECODABLE, fault_of
from itinera.formats.io import open_stream

T = TypeVar("T")


def numbered_records(path: Path, kind: type[T], faults: list[Fault]) -> Iterator[tuple[str, T]]:
    """The records of a JSON-lines file, each with its "line 3"; lines that cannot be read are added to `faults`."""
    decoder = msgspec.json.Decoder(kind)
    with open_stream(path) as stream:
        for number, line in enumerate(iter(stream.readline, b""), start=1):
            if not line.strip():
                continue
            try:
                yield f"line {number}", _decoded(line, decoder)
            except UNDECODABLE as error:
                faults.append(fault_of(error, f"line {number}"))


def _decoded(line: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    try:
        return decoder.decode(line)
    except msgspec.DecodeError:
        if b"NaN" not in line:
            raise
    return decoder.decode(nan_as_null(line))


def nan_as_null(data: bytes) -> bytes:
    """The same JSON with null for every bare NaN, which JSON does not know but Python writes for what is missing."""
    return msgspec.json.encode(json.loads(data, parse_constant=_missing))


def _missing(name: str) -> None:
    if name != "NaN":
        raise ValueError(f"{name} is not a number JSON knows")
