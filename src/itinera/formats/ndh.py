"""Navigation from Dialog History (CVDN): continue from here, given the dialog of navigator and oracle so far.

Any of `end_panos` is the goal. Two paths lead there or towards it: that of the oracle's planner and that of the human
player. Submissions are R2R's with `inst_idx` for `instr_id`; `r2r.read_predictions` reads both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from itinera.errors import Fault
from itinera.formats.decoding import read_list
from itinera.formats.frames import heading_from_r2r, heading_to_r2r
from itinera.formats.r2r import parse_id, raise_faults, split_name
from itinera.formats.viewpoints import viewpoint_path
from itinera.formats.writing import atomic_write
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Pose

Reference: TypeAlias = Literal["planner", "player", "trusted"]


class _Start(msgspec.Struct):
    pano: str
    heading: float
    elevation: float = 0.0  # in units of the annotation tool, about 17.5 for level


class _Message(msgspec.Struct):
    nav_idx: int  # number of moves before the message
    role: str  # "navigator" or "oracle"
    message: str


class _Record(msgspec.Struct, omit_defaults=True, kw_only=True):
    inst_idx: int | str
    scan: str
    start_pano: _Start
    target: str = ""  # the object to find
    end_panos: list[str] | None = None  # withheld in the test split, as are the paths
    planner_path: list[str] | None = None
    player_path: list[str] | None = None
    dialog_history: list[_Message] | None = None
    nav_history: list[str] | None = None
    nav_camera: list[Any] | None = None
    game_idx: int | str | None = None
    oracle_game_quality: int | float | None = None
    oracle_avg_quality: int | float | None = None
    navigator_game_quality: int | float | None = None
    navigator_avg_quality: int | float | None = None
    R2R_success: int | float | None = None
    R2R_spl: int | float | None = None
    R2R_oracle_success: int | float | None = None
    R2R_oracle_spl: int | float | None = None


_OWN_FIELDS = {"inst_idx", "scan", "start_pano", "target", "end_panos"}
_NOTED = tuple(name for name in _Record.__struct_fields__ if name not in _OWN_FIELDS)


def read_split(path: str | Path, *, reference: Reference = "planner") -> Split:
    """The episodes of an NDH file, named by `inst_idx`, with all of `end_panos` as goals.

    The instruction is the target and the dialog so far, a line for each; `notes["dialog_history"]` has the parts.
    `reference` chooses the planner's path or the player's; the other stays in the notes. "trusted" is the player's
    where it passes the end of the planner's, else the planner's (CVDN's mixed supervision). Neither needs to end at a
    goal, and goal progress does not depend on it. Headings are R2R's, as in every released agent; the tool's
    elevations are kept but not used.
    """
    path = Path(path)
    records = read_list(path, _Record)
    faults = (fault for i, r in enumerate(records) for fault in _faults(f"record {i}", r, reference))
    raise_faults(str(path), faults, records, "inst_idx")
    return Split(split_name(path), tuple(_episode(record, reference) for record in records), protocol="ndh")


def _faults(where: str, record: _Record, reference: Reference) -> Iterator[Fault]:
    if not math.isfinite(record.start_pano.heading):
        yield Fault(where, "is not finite.", "Headings are radians.", "start_pano.heading")
    if record.end_panos is None:
        return
    if not record.end_panos:
        yield Fault(where, "is empty.", "Name the goals, or leave the field out where they are withheld.", "end_panos")
    field = _reference_field(record, reference)
    route = getattr(record, field)
    if not route:
        problem = "is missing." if route is None else "is empty."
        yield Fault(where, problem, "Choose the reference that the file has, planner or player.", field)
    elif route[0] != record.start_pano.pano:
        problem = f"starts at {route[0]}, but start_pano is {record.start_pano.pano}."
        yield Fault(where, problem, "A path starts where the episode does.", field)


def _reference_field(record: _Record, reference: Reference) -> str:
    if reference != "trusted":
        return f"{reference}_path"
    passed = record.planner_path and record.planner_path[-1] in (record.player_path or ())[1:]
    return "player_path" if passed else "planner_path"


def _episode(record: _Record, reference: Reference) -> Episode:
    withheld = record.end_panos is None
    field = _reference_field(record, reference)
    notes = {name: msgspec.to_builtins(value) for name in _NOTED if (value := getattr(record, name)) is not None}
    notes["target"] = record.target
    notes["start_elevation"] = record.start_pano.elevation
    return Episode(
        id=str(record.inst_idx),
        world_id=record.scan,
        start=Pose(record.start_pano.pano, heading_from_r2r(record.start_pano.heading)),
        goals=tuple(record.end_panos or ()),
        reference=() if withheld else tuple(notes.pop(field)),
        instruction=Instruction(_dialog(record)),
        notes=notes,
    )


def _dialog(record: _Record) -> str:
    lines = [f"Target: {record.target}"] if record.target else []
    lines += [f"{turn.role.capitalize()}: {turn.message}" for turn in record.dialog_history or ()]
    return "\n".join(lines)


def write_split(path: str | Path, split: Split) -> None:
    """Write a split of graph episodes in NDH's form. An instruction without dialog becomes one oracle message."""
    records = [_record(episode) for episode in split.episodes]
    with atomic_write(Path(path)) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(records), indent=1))


def _record(episode: Episode) -> _Record:
    path = viewpoint_path(episode)
    heading, elevation = heading_to_r2r(episode.start.heading), episode.notes.get("start_elevation", 0.0)
    notes = {name: episode.notes[name] for name in _NOTED if name in episode.notes}
    if "dialog_history" not in notes and "target" not in episode.notes:
        notes["dialog_history"] = [_Message(0, "oracle", episode.instruction.text)]
    if not episode.goals_withheld:
        # The notes lack the path that was read as reference.
        notes["player_path" if "planner_path" in notes else "planner_path"] = path
    return _Record(
        inst_idx=parse_id(episode.id),
        scan=episode.world_id,
        start_pano=_Start(path[0], heading, elevation),
        target=episode.notes.get("target", ""),
        end_panos=None if episode.goals_withheld else list(episode.goals),
        **notes,
    )
