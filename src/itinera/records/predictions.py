"""Predictions: the trajectories of a file. A rollout is one tour of an agent, a single episode being a tour of one."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadFile, Fault, MissingPackage
from itinera.records.provenance import Provenance
from itinera.records.thinking import EpisodeThinking, collect_thinking, last_wait, motion_times
from itinera.records.trajectory import Ending, Phase, Trajectory
from itinera.records.usage import NOTE, EpisodeUsage, collect_usage
from itinera.tasks.protocol import Protocol
from itinera.worlds import Array, NavGraph, Places


@dataclass(frozen=True, slots=True)
class Rollout:
    """The trajectories of one tour in order; a single episode is a tour of one."""

    tour_id: str
    trajectories: tuple[Trajectory, ...]


@typing.runtime_checkable
class NodeIndexer(typing.Protocol):
    """Places of many trajectories that a reader can turn into node indices faster than one by one."""

    counts: NDArray[np.int64]  # (n,) places of each trajectory

    def node_indices(self, graph: NavGraph, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """The node index of every place of these trajectories, concatenated; None if one is not in the graph."""


@dataclass(frozen=True, eq=False)
class StepEvents:
    """What records say of the steps of the acting phase and of the ending, one entry per trajectory.

    NaN where a record does not say, and for a missing trajectory.
    """

    steps: Array  # (n,) actions that led to a place
    collisions: Array  # (n,) those of them that hit something
    followed: Array  # (n,) those of them after which the agent followed its target
    fell: Array  # (n,) 1 where the episode ended with a fall, else 0
    stuck: Array  # (n,) 1 where it ended because the agent was stuck, else 0

    def take(self, index: NDArray[np.int64]) -> StepEvents:
        """The entries at these indices; NaN at -1."""
        columns = (getattr(self, column.name) for column in fields(self))
        return StepEvents(*(np.where(index < 0, np.nan, column[index]) for column in columns))


@dataclass(frozen=True, eq=False)
class TrajectoryBatch:
    """What scoring needs of the predictions, one entry per trajectory."""

    episode_ids: Sequence[str]
    places: Sequence[Places]  # of the acting phase
    stopped: NDArray[np.bool_]  # (n,)
    durations: Array  # (n,) seconds until the agent stopped at the last of these places, NaN where not timed
    times: Sequence[Array | None] | None = None  # seconds of motion until each of these places, where known
    events: StepEvents | None = None  # None: no record says anything of its steps, and none fell or got stuck
    usage: EpisodeUsage | None = None  # None: no record says what the agent took
    thinking: EpisodeThinking | None = None  # None: unknown


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """The rollouts of an agent, with the protocol and provenance of their file, where it has them.

    `len`, iteration and indexing are about trajectories: `predictions[0]`, `predictions["4332_1"]`, slices.

    >>> predictions = Predictions.from_trajectories("mine", [Trajectory("1", ("a", "b")), Trajectory("2", ("a",))])
    >>> len(predictions), predictions["2"].places, "3" in predictions
    (2, ('a',), False)
    """

    source: str
    rollouts: Sequence[Rollout]
    protocol: Protocol | None = None
    provenance: Provenance | None = None
    precomputed: TrajectoryBatch | None = None  # by a reader that has it at hand

    @classmethod
    def from_trajectories(cls, source: str, trajectories: Sequence[Trajectory]) -> Predictions:
        """Predictions for single episodes, a rollout for each trajectory."""
        return cls(source, tuple(Rollout(trajectory.episode_id, (trajectory,)) for trajectory in trajectories))

    @property
    def trajectories(self) -> Iterator[Trajectory]:
        """Every trajectory, in the order of the rollouts."""
        return (trajectory for rollout in self.rollouts for trajectory in rollout.trajectories)

    @cached_property
    def batch(self) -> TrajectoryBatch:
        """The trajectories as scoring takes them."""
        return self.precomputed or _make_batch(self.source, list(self.trajectories))

    @cached_property
    def _index(self) -> dict[str, Trajectory]:
        return {trajectory.episode_id: trajectory for trajectory in self.trajectories}

    def __len__(self) -> int:
        if self.precomputed is not None:
            return len(self.precomputed.episode_ids)
        return sum(len(rollout.trajectories) for rollout in self.rollouts)

    def __iter__(self) -> Iterator[Trajectory]:
        return self.trajectories

    @typing.overload
    def __getitem__(self, key: int | str) -> Trajectory: ...
    @typing.overload
    def __getitem__(self, key: slice) -> list[Trajectory]: ...
    def __getitem__(self, key: int | str | slice) -> Trajectory | list[Trajectory]:
        """The trajectory at an index or of an episode id, or the trajectories of a slice."""
        if isinstance(key, str):
            if key not in self._index:
                raise KeyError(f"no trajectory of episode {key!r} among the {len(self)} of {self.source}.")
            return self._index[key]
        found: Trajectory | list[Trajectory] = list(self.trajectories)[key]
        return found

    def __contains__(self, key: object) -> bool:
        """Whether an episode id has a trajectory."""
        return key in self._index

    def to_dicts(self) -> list[dict[str, Any]]:
        """A plain dict per trajectory: episode id, places, ending, and what else it has."""
        return [_plain(trajectory) for trajectory in self.trajectories]

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row per trajectory, indexed by episode id."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise MissingPackage("to_pandas()", "pandas") from None
        return DataFrame(self.to_dicts()).set_index("episode_id")

    def __repr__(self) -> str:
        tours = "" if len(self.rollouts) == len(self) else f" in {len(self.rollouts)} tours"
        protocol = "" if self.protocol is None else f", protocol {self.protocol.label}"
        return f"Predictions({self.source!r}: {len(self)} trajectories{tours}{protocol})"

    def _repr_html_(self) -> str:
        from itinera.records.tables import TextTable

        shown = [
            (t.episode_id, str(len(t.places)), str(t.places[0]), str(t.places[-1]), t.ending.value)
            for t in self[:_SHOWN]
        ]
        more = "" if len(self) <= _SHOWN else f", first {_SHOWN} shown"
        headings = ("episode", "places", "start", "end", "ending")
        return TextTable(headings, tuple(shown), f"{self!r}{more}")._repr_html_()


_SHOWN = 10  # rows of a long table in a notebook
_ACCIDENTS = (Ending.FELL, Ending.STUCK)


def _plain(trajectory: Trajectory) -> dict[str, Any]:
    places, usage = trajectory.places, trajectory.notes.get(NOTE)
    return {
        "episode_id": trajectory.episode_id,
        "places": places.tolist() if isinstance(places, np.ndarray) else list(places),
        "headings": None if trajectory.headings is None else trajectory.headings.tolist(),
        "actions": None if trajectory.actions is None else trajectory.actions.tolist(),
        "collided": None if trajectory.collided is None else trajectory.collided.tolist(),
        "followed": None if trajectory.followed is None else trajectory.followed.tolist(),
        "times": None if trajectory.times is None else trajectory.times.tolist(),
        "thinking": None if trajectory.thinking is None else trajectory.thinking.tolist(),
        "phases": None if trajectory.phases is None else [phase.value for phase in trajectory.phases],
        "ending": trajectory.ending.value,
        "object_id": trajectory.object_id,
        **(usage if isinstance(usage, dict) else {}),
    }


def _make_batch(source: str, trajectories: Sequence[Trajectory]) -> TrajectoryBatch:
    places = [trajectory.acting_places for trajectory in trajectories]
    continuous = [isinstance(each, np.ndarray) for each in places if len(each)]
    if any(continuous) and not all(continuous):
        problem = "some trajectories are on a graph and some are continuous."
        raise BadFile(source, [Fault("", problem, "Score them separately.")])
    faults = [
        Fault(f'episode "{t.episode_id}"', "positions must be triples of metres.", "Log x, y and z of each place.")
        for t, each in zip(trajectories, places, strict=True)
        if isinstance(each, np.ndarray) and len(each) and each.shape[1:] != (3,)
    ]
    faults += [
        Fault(f'episode "{t.episode_id}"', f"has {len(values)} {name} for {len(t.places)} places.", "", field)
        for t in trajectories
        for field, name, values in (("times", "times", t.times), ("thinking", "seconds of thinking", t.thinking))
        if values is not None and len(values) != len(t.places)
    ]
    faults += [
        Fault(
            f'episode "{t.episode_id}"',
            f"has {len(values)} entries for {len(t.places)} places.",
            "One fewer is expected: one per action.",
            name,
        )
        for t in trajectories
        for name, values in (("collided", t.collided), ("followed", t.followed))
        if values is not None and len(values) != max(len(t.places) - 1, 0)
    ]
    faults += [
        Fault(
            f'episode "{t.episode_id}"', "guidance interrupts the acting phase.", "It comes before or after.", "phases"
        )
        for t in trajectories
        if t.phases is not None and _is_interrupted(t.phases)
    ]
    if faults:
        raise BadFile(source, faults)
    return TrajectoryBatch(
        episode_ids=[trajectory.episode_id for trajectory in trajectories],
        places=places,
        stopped=np.array([trajectory.ending is Ending.STOPPED for trajectory in trajectories], dtype=bool),
        durations=np.array([_duration(trajectory) for trajectory in trajectories], dtype=np.float64),
        times=[motion_times(trajectory) for trajectory in trajectories],
        events=_step_events(trajectories),
        usage=collect_usage(trajectories),
        thinking=collect_thinking(trajectories),
    )


def _step_events(trajectories: Sequence[Trajectory]) -> StepEvents | None:
    if not any(t.collided is not None or t.followed is not None or t.ending in _ACCIDENTS for t in trajectories):
        return None
    rows = []
    for t in trajectories:
        steps = float(len(t.acting_steps(np.empty(max(len(t.places) - 1, 0)))))
        counts = (_count(t, t.collided), _count(t, t.followed))
        rows.append((steps, *counts, t.ending is Ending.FELL, t.ending is Ending.STUCK))
    return StepEvents(*np.array(rows, dtype=np.float64).T)


def _count(trajectory: Trajectory, flags: NDArray[np.bool_] | None) -> float:
    return float("nan") if flags is None else float(np.count_nonzero(trajectory.acting_steps(flags)))


def _is_interrupted(phases: Sequence[Phase]) -> bool:
    """Whether guided places stand between acting ones, where they would hide a part of the path that is scored."""
    acting = [i for i, phase in enumerate(phases) if phase is Phase.ACTING]
    return bool(acting) and acting[-1] - acting[0] + 1 != len(acting)


def _duration(trajectory: Trajectory) -> float:
    times = trajectory.times
    if times is not None and trajectory.phases is not None:
        times = times[[phase is Phase.ACTING for phase in trajectory.phases]]
    if times is None or len(times) == 0:
        return float("nan")
    return float(times[-1] - times[0]) + last_wait(trajectory)
