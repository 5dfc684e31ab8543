"""Room-Across-Room: guide files (tasks), follower files and submissions (predictions), and timed words.

The id of an episode is its instruction id. `with_alignment` adds the place of each word, from the pose traces.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from itinera.errors import BadFile, Fault
from itinera.formats._export import acting_part, require_nodes
from itinera.formats.decoding import report_unknown_fields
from itinera.formats.frames import heading_from_r2r, heading_to_r2r
from itinera.formats.io import FaultList, Member, members
from itinera.formats.jsonl import iter_records
from itinera.formats.pose_traces import LARGEST_TRACE, align_words, parse_trace
from itinera.formats.r2r import parse_id, split_name
from itinera.formats.viewpoints import viewpoint_path
from itinera.formats.writing import atomic_write
from itinera.records import Predictions, Rollout, Trajectory
from itinera.tasks import Alignment, Episode, Instruction, Split
from itinera.worlds import Pose

GUIDE_TRACE = "_guide_pose_trace.npz"
_NOTES = ("split", "annotator_id", "edit_distance")


class TimedWord(msgspec.Struct, omit_defaults=True, gc=False):
    """A word and the seconds of the recording it was spoken in, where known."""

    word: str
    start_time: float | None = None
    end_time: float | None = None


class GuideRecord(msgspec.Struct, omit_defaults=True, kw_only=True):
    """One record of a guide file: an instruction."""

    path_id: int | str | None = None
    split: str | None = None
    scan: str
    heading: float
    path: list[str]
    instruction_id: int | str
    annotator_id: int | str | None = None
    language: str
    instruction: str
    timed_instruction: list[TimedWord] | None = None
    edit_distance: float | None = None


class _Demonstration(msgspec.Struct, omit_defaults=True, kw_only=True):
    demonstration_id: int | str
    instruction_id: int | str
    annotator_id: int | str | None = None
    path: list[str]
    metrics: dict[str, float] | None = None


class _Prediction(msgspec.Struct):
    instruction_id: int | str
    path: list[str]


def read_split(path: str | Path) -> Split:
    """The episodes of a guide file, one per instruction; the goals of a test file are withheld.

    Each has an `Alignment` of its timed words, whose places are unknown until `with_alignment`.
    """
    path = Path(path)
    faults = FaultList(str(path))
    episodes = []
    known: dict[str, str] = {}
    paths: dict[tuple[str, ...], tuple[str, ...]] = {}
    for where, record in iter_records(path, GuideRecord, faults):
        faults.extend(_faults(where, record, known))
        if record.path:
            nodes = tuple(record.path)
            # About nine instructions share a path object, as they share the path.
            episodes.append(_episode(record, paths.setdefault(nodes, nodes)))
    faults.raise_any()
    return Split(split_name(path), tuple(episodes), protocol="rxr")


def _faults(where: str, record: Any, known: dict[str, str], key: str = "instruction_id") -> Iterator[Fault]:
    if not record.path:
        yield Fault(where, "is empty.", "A path contains at least its start.", "path")
    yield from repeated_id_faults(where, str(getattr(record, key)), known, key)


def repeated_id_faults(where: str, name: str, known: dict[str, str], key: str) -> Iterator[Fault]:
    """A fault if another record has the same id; adds the id to the known ones."""
    if name in known:
        yield Fault(where, f"{name} is also the id of {known[name]}.", "Ids must be distinct within a file.", key)
    known.setdefault(name, where)


def _episode(record: GuideRecord, path: tuple[str, ...]) -> Episode:
    hidden = record.path_id is None or (record.split or "").startswith("test")
    withheld = len(path) == 1 and hidden
    notes = {name: value for name in _NOTES if (value := getattr(record, name)) is not None}
    return Episode(
        id=str(record.instruction_id),
        world_id=record.scan,
        start=Pose(path[0], heading_from_r2r(record.heading)),
        goals=() if withheld else path[-1:],
        reference=() if withheld else path,
        instruction=Instruction(record.instruction, record.language),
        path_id="" if record.path_id is None else str(record.path_id),
        alignment=words_to_alignment(record.timed_instruction),
        notes=notes,
    )


def words_to_alignment(words: Sequence[TimedWord] | None) -> Alignment | None:
    """The alignment of timed words, with unknown places."""
    if not words:
        return None
    # A word occurs thousands of times in a file: interned, it is stored once. The unknown places share one number.
    unknown = np.broadcast_to(np.int64(-1), len(words))
    return Alignment(
        words=tuple([sys.intern(w.word) for w in words]),
        first=unknown,
        last=unknown,
        begins=np.array([w.start_time for w in words], dtype=np.float64),  # None becomes NaN
        ends=np.array([w.end_time for w in words], dtype=np.float64),
    )


def alignment_to_words(alignment: Alignment | None) -> list[TimedWord] | None:
    """The timed words of an alignment, where it has times."""
    if alignment is None or alignment.begins is None or alignment.ends is None:
        return None
    begins, ends = (
        [None if math.isnan(t) else t for t in times.tolist()] for times in (alignment.begins, alignment.ends)
    )
    return [TimedWord(*word) for word in zip(alignment.words, begins, ends, strict=True)]


def with_alignment(split: Split, traces: str | Path) -> Split:
    """The split with each word aligned to the nodes where the guide said it.

    `traces` is a folder (or archive) with `{instruction_id:06}_guide_pose_trace.npz` files, at any depth. Episodes
    without a trace, without timed words or with their path withheld stay as they are.
    """
    found = members(Path(traces), GUIDE_TRACE, limit=LARGEST_TRACE)
    if not any(_trace_name(episode) in found for episode in split.episodes):
        problem = f"contains no pose trace of any episode of {split.name}."
        remedy = f"Give the folder with files like {_trace_name(split.episodes[0])}." if split.episodes else ""
        raise BadFile(str(traces), [Fault("", problem, remedy)])
    faults = FaultList(str(traces))
    episodes = tuple(_aligned(episode, found.get(_trace_name(episode)), faults) for episode in split.episodes)
    faults.raise_any()
    return replace(split, episodes=episodes)


def _trace_name(episode: Episode) -> str:
    return f"{episode.id:0>6}{GUIDE_TRACE}"


def _aligned(episode: Episode, member: Member | None, faults: FaultList) -> Episode:
    words = episode.alignment
    if member is None or words is None or words.begins is None or words.ends is None or episode.goals_withheld:
        return episode
    try:
        trace = parse_trace(member.read(), member.name)
    except BadFile as error:
        faults.extend(replace(fault, where=member.name) for fault in error.faults)
        return episode
    path = require_nodes(episode.reference, f'The reference of episode "{episode.id}"')
    if not set(trace.nodes.tolist()) & set(path):
        problem = f'never stands on the path of episode "{episode.id}".'
        faults.append(Fault(member.name, problem, "Check that traces and tasks belong together."))
        return episode
    first, last = align_words(trace, path, words.begins, words.ends)
    return replace(episode, alignment=replace(words, first=first, last=last))


def write_split(path: str | Path, split: Split) -> None:
    """Write a split of graph episodes as a guide file. It has no places of words: see `pose_traces`."""
    _write_lines(path, map(_guide_record, split.episodes))


def _guide_record(episode: Episode) -> GuideRecord:
    return GuideRecord(
        path_id=parse_id(episode.path_id) if episode.path_id else None,
        scan=episode.world_id,
        heading=heading_to_r2r(episode.start.heading),
        path=viewpoint_path(episode),
        instruction_id=parse_id(episode.id),
        language=episode.instruction.language,
        instruction=episode.instruction.text,
        timed_instruction=alignment_to_words(episode.alignment),
        **{name: episode.notes[name] for name in _NOTES if name in episode.notes},
    )


def read_followers(path: str | Path) -> Predictions:
    """The trajectories of a follower file: a rollout per demonstration, named by its id, for its instruction.

    Several people may have followed an instruction. All are kept, in file order; scoring takes one trajectory per
    episode and refuses more, and `first_followers` keeps one.
    """
    path = Path(path)
    faults = FaultList(str(path))
    rollouts = []
    known: dict[str, str] = {}
    fields: set[str] = set()
    for where, record in iter_records(path, _Demonstration, faults, fields):
        faults.extend(_faults(where, record, known, "demonstration_id"))
        others = {"annotator_id": record.annotator_id, "metrics": record.metrics}
        notes = {name: value for name, value in others.items() if value is not None}
        trajectory = Trajectory(str(record.instruction_id), tuple(record.path), notes=notes)
        rollouts.append(Rollout(str(record.demonstration_id), (trajectory,)))
    faults.raise_any()
    report_unknown_fields(str(path), fields.difference(_Demonstration.__struct_fields__))
    return Predictions(str(path), tuple(rollouts))


def first_followers(predictions: Predictions) -> Predictions:
    """The predictions with the first rollout of each episode only."""
    first: dict[str, Rollout] = {}
    for rollout in predictions.rollouts:
        for trajectory in rollout.trajectories:
            first.setdefault(trajectory.episode_id, rollout)
    return replace(predictions, rollouts=tuple(dict.fromkeys(first.values())))


def write_followers(path: str | Path, predictions: Predictions) -> None:
    """Write graph rollouts of one trajectory each as a follower file; the tour id becomes the demonstration id."""
    _write_lines(
        path,
        (
            _Demonstration(
                demonstration_id=parse_id(rollout.tour_id),
                instruction_id=parse_id(trajectory.episode_id),
                annotator_id=trajectory.notes.get("annotator_id"),
                path=_path(trajectory),
                metrics=trajectory.notes.get("metrics"),
            )
            for rollout in predictions.rollouts
            for trajectory in rollout.trajectories
        ),
    )


def read_predictions(path: str | Path) -> Predictions:
    """The trajectories of a submission to the discrete challenge: {"instruction_id", "path": [viewpoint, …]} lines."""
    path = Path(path)
    faults = FaultList(str(path))
    trajectories = []
    known: dict[str, str] = {}
    fields: set[str] = set()
    for where, record in iter_records(path, _Prediction, faults, fields):
        faults.extend(_faults(where, record, known))
        trajectories.append(Trajectory(str(record.instruction_id), tuple(record.path)))
    faults.raise_any()
    report_unknown_fields(str(path), fields.difference(_Prediction.__struct_fields__))
    return Predictions.from_trajectories(str(path), tuple(trajectories))


def write_predictions(path: str | Path, predictions: Predictions) -> None:
    """Write graph trajectories as a submission to the discrete challenge."""
    _write_lines(path, (_Prediction(parse_id(t.episode_id), _path(t)) for t in predictions.trajectories))


def _path(trajectory: Trajectory) -> list[str]:
    return list(require_nodes(acting_part(trajectory).places, f'The trajectory of episode "{trajectory.episode_id}"'))


def _write_lines(path: str | Path, records: Iterable[msgspec.Struct]) -> None:
    with atomic_write(Path(path)) as stream:
        for record in records:
            stream.write(msgspec.json.encode(record) + b"\n")
