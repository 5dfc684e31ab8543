"""Scores over training as logs that TensorBoard and W&B read, written without either package.

A TensorBoard event file is a sequence of records (length, checksum, an encoded `Event` message, checksum); the few
fields that a scalar needs are encoded here. Start with `write_logs`.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from itinera.errors import BadArgument, escape_controls
from itinera.formats.writing import atomic_write
from itinera.records import ScoreTable
from itinera.records.summary import summarize

EVENTS = "events.out.tfevents.0000000000.itinera"  # TensorBoard looks for names that contain "tfevents"
HISTORY, SUMMARY = "wandb-history.jsonl", "wandb-summary.json"


def write_logs(folder: Path, tables: Sequence[ScoreTable], steps: Sequence[int]) -> list[Path]:
    """Write the scores of a system at each step as TensorBoard events, W&B history and W&B summary; the files."""
    ordered = sorted(zip(steps, tables, strict=True), key=_first)
    rows: list[dict[str, float]] = [{"_step": step, **list_scalars(table)} for step, table in ordered]
    history = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    contents = {EVENTS: b"".join(encode_events(rows)), HISTORY: history.encode(),
                SUMMARY: (json.dumps(rows[-1], ensure_ascii=False, indent=1) + "\n").encode()}  # fmt: skip
    for name, content in contents.items():
        with atomic_write(folder / name) as stream:
            stream.write(content)
    return [folder / name for name in contents]


def find_steps(paths: Sequence[Path]) -> list[int]:
    """The step of each file: the last number in its name if all have different ones, else its place."""
    numbers = [re.findall(r"\d+", path.name.split(".")[0]) for path in paths]
    steps = [int(found[-1]) for found in numbers if found]
    return steps if len(set(steps)) == len(paths) and max(steps) < 2**62 else list(range(len(paths)))


def list_scalars(table: ScoreTable) -> dict[str, float]:
    """The finite mean of each metric with the ends of its interval; rates are fractions."""
    found: dict[str, float] = {}
    for name, interval in summarize(table).intervals.items():
        values = {name: interval.mean, f"{name}/low": interval.low, f"{name}/high": interval.high}
        found |= {escape_controls(key, one_line=True): x for key, x in values.items() if abs(x) < float("inf")}
    return found


def encode_events(rows: Sequence[Mapping[str, float]]) -> Iterator[bytes]:
    """The records of an event file: its version, then an event for each row. Times are the steps, in seconds."""
    yield _record(_double(1, 0.0) + _bytes(3, b"brain.Event:2"))
    for row in rows:
        values = b"".join(
            _bytes(1, _bytes(1, f"score/{name}".encode()) + _key(2, 5) + struct.pack("<f", value))
            for name, value in row.items()
            if name != "_step"
        )
        step = int(row["_step"])
        yield _record(_double(1, float(step)) + _key(2, 0) + _varint(step) + _bytes(5, values))


def check_steps(steps: Sequence[int], count: int) -> None:
    """Raise BadArgument unless there is one step per table, each at least 0 and different."""
    if len(steps) != count or len(set(steps)) != count or min(steps) < 0:
        raise BadArgument(f"{count} results need as many different steps ≥ 0, not {list(steps)}.")


def _first(pair: tuple[int, ScoreTable]) -> int:
    return pair[0]


def _record(message: bytes) -> bytes:
    length = struct.pack("<Q", len(message))
    return length + _checksum(length) + message + _checksum(message)


def _key(field: int, kind: int) -> bytes:
    return bytes([field << 3 | kind])


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])


def _double(field: int, value: float) -> bytes:
    return _key(field, 1) + struct.pack("<d", value)


def _bytes(field: int, value: bytes) -> bytes:
    return _key(field, 2) + _varint(len(value)) + value


def _crc_table() -> list[int]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)  # Castagnoli's polynomial, reversed
        table.append(number)
    return table


_CRC = _crc_table()


def _checksum(data: bytes) -> bytes:
    """The masked CRC-32C of the TFRecord format."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
