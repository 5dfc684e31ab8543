"""Typed decoding of JSON, with all faults of a file reported together.

The whole file is decoded at once, which is fast; only when that fails are the records decoded one by one to find the
faults. A document whose values would take more than `MEMORY_LIMIT` is refused before it is decoded.
"""

from __future__ import annotations

import codecs
import gc
import json
import logging
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from itinera.errors import BadFile, Fault
from itinera.formats.io import FaultList, read_bytes

T = TypeVar("T")
logger = logging.getLogger("itinera")

_REMEDY = "Compare the record with the format's description in the documentation."
MEMORY_LIMIT = 4 << 30  # bytes of the values of one file; those of the largest public file take 1 GiB
_NEVER_MUCH = 32 << 20  # bytes of text whose values stay below a GiB, whatever they are
# Bytes in memory of an empty list, of a dict with one entry, and of a short text with its place in a list. In a file
# they take 3, 7 and 4 bytes, so a nested file grows 25-fold or more.
_LIST, _OBJECT, _VALUE = 80, 240, 60
_MOST_RECORDS = 1 << 22  # of a list, to be decoded one by one in search of faults
# What a decoder may raise on hostile bytes: wrong shape, bad text, absurd nesting, absurd numbers.
UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError, OverflowError, MemoryError)


@contextmanager
def pause_gc() -> Iterator[None]:
    """Pause garbage collection while very many records are created: none of them is garbage, and scanning all of them
    again and again takes longer than reading."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            # Counted among the old at once, or the next collection would look through all of them after all.
            gc.freeze()
            gc.unfreeze()
            gc.enable()


class MemoryBudget:
    """Refuses a file before the values of its JSON fill the memory; `spend` its text part by part."""

    def __init__(self, source: str) -> None:
        self._source, self._read, self._taken = source, 0, 0

    def spend(self, text: bytes) -> None:
        """Count a part of the file; raises BadFile if all parts so far would take too much memory."""
        self._read += len(text)
        if self._read <= _NEVER_MUCH:
            return
        for at in range(0, len(text), 1 << 20):
            self._taken += _estimate_memory(text[at : at + (1 << 20)])
        if self._taken > MEMORY_LIMIT:
            problem = f"contains so many values that they would take more than {MEMORY_LIMIT >> 30} GiB of memory."
            raise BadFile(self._source, [Fault("", problem, "Split the file, or check where it comes from.")])


def _estimate_memory(text: bytes) -> int:
    if len(text) < 1 << 12:  # a line: numpy would take longer
        return _LIST * text.count(b"[") + _OBJECT * text.count(b"{") + _VALUE * text.count(b",")
    letters = np.frombuffer(text, dtype=np.uint8)
    lists, objects, values = (int(np.count_nonzero(letters == ord(sign))) for sign in "[{,")
    return _LIST * lists + _OBJECT * objects + _VALUE * values


def decode(data: bytes, kind: type[T], source: str) -> T:
    """One JSON document of a known shape."""
    MemoryBudget(source).spend(data)
    try:
        return msgspec.json.decode(data, type=kind)
    except UNDECODABLE as error:
        where = re.search(r"\(byte (\d+)\)", str(error))
        fault = make_fault(error, "") if where is None else _malformed(data, int(where[1]))
        raise BadFile(source, [fault]) from None


def _malformed(data: bytes, at: int) -> Fault:
    """The fault of malformed JSON: its line and the text there."""
    line = data.count(b"\n", 0, at) + 1
    where = f"line {line}"
    record = _record_at(data, at)
    if record is not None:
        where = f"record {record} ({where})"
    found = data[at : at + 24].split(b"\n")[0].decode("utf-8", "replace")
    if data.startswith(codecs.BOM_UTF8):
        return Fault("line 1", "begins with a byte order mark.", "Save the file as plain UTF-8.")
    unfinite = re.match(r"-?(NaN|Infinity)", found)
    if unfinite:
        return Fault(where, f"{unfinite[0]} is not a number.", "Write finite numbers, or leave the entry out.")
    remedy = "JSON ends or breaks there; write it with a JSON library, or copy the file again."
    problem = f"not JSON at byte {at}" + (f' ("{found}").' if found else ": the file ends too soon.")
    return Fault(where, problem, remedy)


def _record_at(data: bytes, at: int) -> int | None:
    """The record of a JSON list that contains a byte; None outside of records, and far into a large file."""
    if at > _NEVER_MUCH:  # counting would take minutes
        return None
    depth, record = 0, -1
    # A string may be cut off at the end; if that were no match, each quote in it would be tried as a beginning.
    for mark in re.finditer(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', data[:at], re.DOTALL):
        if mark[0] in b"[{":
            depth += 1
            record += depth == 2
            if depth == 1 and mark[0] == b"{":
                return None
        elif mark[0] in b"]}":
            depth -= 1
    return record if depth >= 2 else None


def decode_list(data: bytes, kind: type[T], source: str) -> list[T]:
    """The records of a JSON list."""
    MemoryBudget(source).spend(data)
    try:
        return msgspec.json.decode(data, type=list[kind])  # type: ignore[valid-type]
    except UNDECODABLE as error:
        _refuse_at_once(data, error, source)
        raws = _raw(data, list[msgspec.Raw], source)
        return list(_each(((f"record {i}", raw) for i, raw in enumerate(raws)), kind, source))


def decode_dict(data: bytes, kind: type[T], source: str) -> dict[str, T]:
    """The records of a JSON object by key. A repeated key, which JSON readers silently drop, is a fault."""
    MemoryBudget(source).spend(data)
    try:
        found = msgspec.json.decode(data, type=dict[str, kind])  # type: ignore[valid-type]
    except UNDECODABLE as error:
        _refuse_at_once(data, error, source)
        raws = _raw(data, dict[str, msgspec.Raw], source)
        decoded = _each(((f'record "{key}"', raw) for key, raw in raws.items()), kind, source)
        found = dict(zip(raws, decoded, strict=True))
    refuse_repeated_keys(data, source)
    return found


def read_list(path: Path, kind: type[T]) -> list[T]:
    """The records of a file with a JSON list."""
    return decode_list(read_bytes(path), kind, str(path))


def make_fault(error: BaseException, where: str) -> Fault:
    """The fault of a decoder's error, with its path as the field."""
    if isinstance(error, MemoryError):
        return Fault(where, "takes more memory than there is.", "Split the file, or check where it comes from.")
    if isinstance(error, RecursionError):
        return Fault(where, "is nested too deeply.", _REMEDY)
    if isinstance(error, UnicodeDecodeError):
        return Fault(where, "is not UTF-8 text.", "Save the file as UTF-8.")
    text = str(error)
    if "truncated" in text:
        return Fault(where, "the JSON ends too soon.", "The file is cut short or empty: copy it again.")
    if "4300 digits" in text or "integer string conversion" in text:
        text = "contains a number with thousands of digits"
    problem, _, field = text.partition(" - at `")
    return Fault(where, f"{problem}.", _REMEDY, field.rstrip("`").removeprefix("$.").removeprefix("$"))


def _refuse_at_once(data: bytes, error: Exception, source: str) -> None:
    """Raise BadFile with the first fault of a file that has too many records to look for others."""
    if isinstance(error, MemoryError) or (len(data) > _NEVER_MUCH and data.count(b",") > _MOST_RECORDS):
        raise BadFile(source, [make_fault(error, "")], complete=False) from None


def _raw(data: bytes, kind: type[T], source: str) -> T:
    # The outermost shape alone: where even that fails, there are no records to name.
    return decode(data, kind, source)


def _each(records: Iterable[tuple[str, msgspec.Raw]], kind: type[T], source: str) -> Iterator[T]:
    decoder = msgspec.json.Decoder(kind)
    good, faults = [], FaultList(source)
    for where, raw in records:
        try:
            good.append(decoder.decode(raw))
        except UNDECODABLE as error:
            faults.append(make_fault(error, where))
    faults.raise_any()
    return iter(good)


def refuse_repeated_keys(data: bytes, source: str) -> None:
    """Raise BadFile if any object of a JSON document repeats a key."""
    remedy = "Every id must be given once; readers of JSON keep only the last."
    faults = FaultList(source)

    def look(pairs: list[tuple[str, Any]]) -> None:
        if len(pairs) != len({key for key, _ in pairs}):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    faults.append(Fault(f'record "{key}"', "is given twice.", remedy))
                seen.add(key)

    # The hook returns nothing, so each object is dropped once looked at and memory stays small. Whole numbers are read
    # as floats: what they are does not matter here, and a float takes any number of digits.
    try:
        json.loads(data, object_pairs_hook=look, parse_int=float)
    except UNDECODABLE as error:
        raise BadFile(source, [make_fault(error, "")]) from None
    faults.raise_any()


Fields = dict[str, msgspec.Raw]


def unknown_fields(records: Iterable[Mapping[str, Any]], known: Collection[str]) -> set[str]:
    """The names of the fields that a format does not have."""
    return set().union(*records).difference(known)


def report_unknown_fields(source: str, names: Collection[str], *, stored: bool = False) -> None:
    """Log the names of fields of a predictions file that no metric reads; `stored` ones stay in the notes."""
    if names:
        shown = sorted(name if len(name) <= 40 else f"{name[:39]}…" for name in names)
        more = f" and {len(shown) - 8} more" if len(shown) > 8 else ""
        fate = "kept but not scored" if stored else "not read"
        logger.info(f"{source}: fields that this format does not have are {fate}: {', '.join(shown[:8])}{more}.")


def report_unknown_step_fields(data: bytes, step: type[msgspec.Struct], steps: int, records: int, source: str) -> None:
    """Log the names of fields that steps do not have, in {record: [step, …]}. Every field of a step is required, so
    counting keys finds out quickly whether there are others."""
    known = step.__struct_fields__
    if data.count(b'":') != steps * len(known) + records:
        found = decode(data, dict[str, list[Fields]], source)
        names = unknown_fields((fields for steps in found.values() for fields in steps), known)
        report_unknown_fields(source, names)


def all_finite(values: Iterable[float]) -> bool:
    """Whether every number is neither NaN nor infinite."""
    return all(map(math.isfinite, values))
