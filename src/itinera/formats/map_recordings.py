"""Recorded maps: our own file beside the predictions of a run, with a record per episode.

`PREDICTIONS.maps.jsonl` belongs to `PREDICTIONS.jsonl`: their headers have the same plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from itinera.errors import BadArgument, Fault
from itinera.formats.io import FaultList
from itinera.formats.native import Header, read_records, write_file
from itinera.records import Provenance
from itinera.records.map_recording import MAX_SIZE, MapRecording

_Byte = Annotated[int, msgspec.Meta(ge=0, le=255)]
_Step = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
_Size = Annotated[int, msgspec.Meta(ge=2, le=MAX_SIZE)]
_Metres = Annotated[float, msgspec.Meta(gt=0, le=100)]


class MapRecord(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A recording as JSON; the content is in base64."""

    episode_id: str
    steps: list[_Step]
    size: _Size
    cell: _Metres
    legend: list[tuple[str, tuple[_Byte, _Byte, _Byte]]] = []
    content: bytes


@dataclass(frozen=True, eq=False)
class MapRecordings:
    """The recorded maps of a run, by episode."""

    episodes: Mapping[str, MapRecording]
    provenance: Provenance | None = None
    plan: str = ""  # of the run

    def __len__(self) -> int:
        return len(self.episodes)


def maps_file(predictions: Path) -> Path:
    """The file of the maps that belongs to a file of predictions.

    >>> maps_file(Path("runs/preds.jsonl")).name, maps_file(Path("preds.jsonl.gz")).name
    ('preds.maps.jsonl', 'preds.maps.jsonl.gz')
    """
    stem, *suffixes = predictions.name.removesuffix(".gz").rsplit(".", 1)
    packed = ".gz" if predictions.name.endswith(".gz") else ""
    return predictions.with_name(f"{stem}.maps.{suffixes[0] if suffixes else 'jsonl'}{packed}")


def read_map_recordings(path: str | Path) -> MapRecordings:
    """The recorded maps of a file, every one of them decoded once."""
    path = Path(path)
    header, records = read_records(path, "map-recordings", MapRecord)
    found: dict[str, MapRecording] = {}
    faults = FaultList(str(path))
    for number, record in enumerate(records, start=2):
        recording = decode_recording(record)
        if record.episode_id in found:
            faults.append(Fault(f"line {number}", f'episode "{record.episode_id}" was recorded before.'))
        if any(b <= a for a, b in zip(record.steps, record.steps[1:], strict=False)):
            faults.append(Fault(f"line {number}", "the steps do not increase.", "", "steps"))
        try:
            recording.decode()
        except BadArgument as error:
            faults.append(Fault(f"line {number}", str(error), "Run the agent again with --record maps.", "content"))
        found.setdefault(record.episode_id, recording)
    faults.raise_any()
    return MapRecordings(found, header.provenance, header.plan)


def write_map_recordings(path: str | Path, recordings: MapRecordings) -> None:
    """Write recorded maps as a file of ours."""
    header = Header(itinera="map-recordings", provenance=recordings.provenance, plan=recordings.plan)
    write_file(Path(path), header, encode_recordings(recordings.episodes.values()))


def encode_recordings(recordings: Iterable[MapRecording]) -> bytes:
    """The lines of a file for these recordings."""
    return msgspec.json.Encoder().encode_lines([encode_recording(one) for one in recordings])


def encode_recording(recording: MapRecording) -> MapRecord:
    return MapRecord(
        episode_id=recording.episode_id,
        steps=list(recording.steps),
        size=recording.size,
        cell=recording.cell,
        legend=list(recording.legend),
        content=recording.content,
    )


def decode_recording(record: MapRecord) -> MapRecording:
    return MapRecording(
        record.episode_id, tuple(record.steps), record.size, record.cell, tuple(record.legend), record.content
    )
