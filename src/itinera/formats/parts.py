"""Parts of results, as `--shard` writes them: what a part states, and whether its records are as they were written.

A part of a native file has its plan (`PartPlan`) in the header, a part of joined paths in the provenance file beside
it, and a part of a season in the file `part.json` of its folder. Start with `read_part`; `verify_part` reads records.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import msgspec

from itinera.errors import BadFile, Fault
from itinera.formats.decoding import UNDECODABLE, make_fault
from itinera.formats.io import open_stream
from itinera.formats.native import Header, read_header
from itinera.formats.provenance import Sidecar, read_sidecar
from itinera.records import Provenance
from itinera.records.provenance import digest
from itinera.records.shards import MAX_SHARDS, PartPlan

PART_FILE = "part.json"  # of the folder of a part of a season
SEASON_PART = "season-part"
Ids: TypeAlias = tuple[object, ...]  # of a record
_NOT_A_PART = "is not a part of anything: parts are written with --shard (shard=)."


@dataclass(frozen=True, eq=False)
class Part:
    """A part as its file states it; its records are unread."""

    path: Path
    plan: PartPlan
    provenance: Provenance
    header: Header | None  # of a native file, or of the part of a season
    sidecar: Sidecar | None  # of a file in another format

    @property
    def kind(self) -> str:
        """The kind of its native file, or "joined paths"."""
        return "joined paths" if self.header is None else self.header.itinera

    def __str__(self) -> str:
        return f"part {self.plan.number} of {self.plan.count} of itinera {self.plan.command}"


def find_part(path: Path) -> Part | None:
    """The part in a file or folder; None if it is something else. Raises BadFile if it is damaged."""
    header, sidecar = None, None
    if os.path.isdir(path):
        header = read_header(path / PART_FILE) if os.path.exists(path / PART_FILE) else None
    else:
        sidecar = read_sidecar(path)
        if sidecar is None or sidecar.shard is None:
            sidecar, header = None, _find_header(path)
    source = sidecar or header
    if source is None or source.shard is None:
        return None
    if source.provenance is None:
        raise BadFile(str(path), [Fault("", "does not state its provenance.", "Make the part again.")])
    _check_plan(path, source.shard)
    return Part(path, source.shard, source.provenance, header, sidecar)


def read_part(path: str | Path) -> Part:
    """The part in a file or folder; raises BadFile if it is something else."""
    found = find_part(Path(path))
    if found is None:
        raise BadFile(str(path), [Fault("", _NOT_A_PART, "Give the files of the shards, such as preds.*-of-16.jsonl.")])
    return found


def _find_header(path: Path) -> Header | None:
    """The header of a file, if it may be that of a part."""
    with open_stream(path) as stream:
        begins = stream.read(10) == b'{"itinera"'
        states_shard = begins and b'"shard":' in stream.readline()
    return read_header(path) if states_shard else None


def _check_plan(path: Path, plan: PartPlan) -> None:
    if not (1 <= plan.number <= plan.count <= MAX_SHARDS and 0 <= plan.total < 1 << 53):
        problem = f"is not possible: shard {plan.number} of {plan.count} of {plan.total} records."
        raise BadFile(str(path), [Fault("", problem, "Make the part again.", "shard")])


def verify_part(part: Part, see: Callable[[Ids], object] = lambda ids: None) -> None:
    """Raise BadFile unless a part's records are those that it was written with; `see` is called with the ids of each.

    Of joined paths, the ids are those of a scene with its paths' numbers; recorded maps and houses have none.
    """
    if part.sidecar is not None:
        for scene in _verify_joined_paths(part):
            see(scene)
        return
    read = _RECORD_IDS.get(part.kind)
    state, count = hashlib.blake2b(digest_size=16), 0
    for count, line in enumerate(record_lines(part), start=1):
        state.update(line)
        try:
            if read is not None:
                see(read(line))
        except UNDECODABLE as error:
            raise BadFile(str(part.path), [make_fault(error, f"line {count + 1}")]) from None
    if state.hexdigest() != part.plan.digest:
        raise _changed(part)
    plan = part.plan
    if read is not None and count != len(plan.block):
        problem = f"has {count} records, but shard {plan.shard} of {plan.total} has {len(plan.block)}."
        raise BadFile(str(part.path), [Fault("", problem, "Make the part again.")])


def _changed(part: Part) -> BadFile:
    problem = "the records are not those that were written: the file was changed or cut short."
    return BadFile(str(part.path), [Fault("", problem, "Make the part again.")])


def record_lines(part: Part) -> Iterator[bytes]:
    """The lines of a part's records: without the header, or without the brackets and commas of a JSON list."""
    with open_stream(part.path) as stream:
        if part.sidecar is None:
            stream.readline()
            yield from iter(stream.readline, b"")
            return
        for line in iter(stream.readline, b""):
            record = line.strip().removesuffix(b",")
            if record not in (b"[", b"]", b"[]", b""):
                yield record


class _Trajectory(msgspec.Struct):
    episode_id: str


class _Rollout(msgspec.Struct):
    tour_id: str
    trajectories: list[_Trajectory]


class _Trial(msgspec.Struct):
    trial_id: str


class _JoinedPath(msgspec.Struct):
    scan: str
    path_id: int


_DECODE_ROLLOUT = msgspec.json.Decoder(_Rollout).decode
_DECODE_EPISODE = msgspec.json.Decoder(_Trajectory).decode
_DECODE_TRIAL = msgspec.json.Decoder(_Trial).decode
_DECODE_PATH = msgspec.json.Decoder(_JoinedPath).decode


def _rollout_ids(line: bytes) -> Ids:
    rollout = _DECODE_ROLLOUT(line)
    return (rollout.tour_id, *(one.episode_id for one in rollout.trajectories))


_RECORD_IDS: dict[str, Callable[[bytes], Ids]] = {
    "predictions": _rollout_ids,
    "times": lambda line: (_DECODE_EPISODE(line).episode_id,),
    "action-probabilities": lambda line: (_DECODE_TRIAL(line).trial_id,),
}


def _verify_joined_paths(part: Part) -> list[Ids]:
    """Of each scene: its id, the number of its first path, and how many it has; numbers must follow one another."""
    assert part.sidecar is not None
    if part.sidecar.digest != digest(part.path):
        raise _changed(part)
    scenes: dict[str, list[int]] = {}  # the number of the first path, and how many
    expected: int | None = None
    for number, line in enumerate(record_lines(part), start=2):
        try:
            path = _DECODE_PATH(line)
        except UNDECODABLE as error:
            raise BadFile(str(part.path), [make_fault(error, f"line {number}")]) from None
        if path.path_id != (path.path_id if expected is None else expected):
            fault = Fault(
                f"line {number}", f"is path {path.path_id}, but {expected} comes next.", "Make the part again."
            )
            raise BadFile(str(part.path), [fault])
        expected = path.path_id + 1
        scenes.setdefault(path.scan, [path.path_id, 0])[1] += 1
    return [(scan, *numbers) for scan, numbers in scenes.items()]
