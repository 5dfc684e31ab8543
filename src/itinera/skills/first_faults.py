"""First faults: the clause of its instruction at which a failed trajectory departs from its reference path.

A trajectory departs where it first gets farther than a tolerance from the rest of the reference path; the fault is at
the last reference place it had visited before. One that never departs, but fails, stopped too early or ran out of
steps. Start with `find_first_faults`, which needs words aligned with places (Hearth, RxR, Fine-Grained R2R).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.metrics.attempts import Attempts
from itinera.metrics.goal import success
from itinera.metrics.matching import MatchingRules, match
from itinera.records import Predictions
from itinera.records.tables import TextTable, count_noun
from itinera.skills.clauses import CLAUSE_KINDS, InstructionClause, clause_at, split_clauses
from itinera.stats import Interval, interval
from itinera.tasks import Protocol, Split
from itinera.worlds import Array, NavGraph, World

DEPARTED = "left the reference path"
PASSED = "went on past the end"
STOPPED = "stopped too early"
OUT_OF_STEPS = "ran out of steps on the path"
HOW = (DEPARTED, PASSED, STOPPED, OUT_OF_STEPS)
ON_PATH = 1.0  # metres: how near a place on the ground counts as visited; in a graph it is the node itself


@dataclass(frozen=True)
class FirstFault:
    """Where one failed trajectory departs from its instruction."""

    episode_id: str
    world_id: str
    how: str  # of HOW
    place: int  # index of the last reference place visited before
    clause: int  # index of the clause that leads on from there
    clauses: int  # of the instruction
    kind: str  # of the clause
    text: str  # of the clause

    @property
    def sentence(self) -> str:
        """The fault in one line."""
        return f'{self.how} at clause {self.clause + 1} of {self.clauses} ({self.kind}): "{self.text}"'


@dataclass(frozen=True)
class ClauseFaults:
    """The faults at clauses of one kind."""

    kind: str
    clauses: int  # reached: those before a fault, and the one at fault
    faults: int
    rate: Interval  # faults per clause reached, clustered by scene
    share: Interval | None  # of all faults; None without any

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        counts = {"kind": self.kind, "clauses": self.clauses, "faults": self.faults}
        return {**counts, "rate": _estimate(self.rate), "share": _estimate(self.share)}


def _estimate(found: Interval | None) -> dict[str, float | None] | None:
    if found is None:
        return None
    ends = {"mean": found.mean, "low": found.low, "high": found.high}
    return {name: value if np.isfinite(value) else None for name, value in ends.items()}


@dataclass(frozen=True, repr=False)
class FirstFaults:
    """The first faults of an agent. `print` shows a row per kind of clause."""

    agent: str
    faults: tuple[FirstFault, ...]
    kinds: tuple[ClauseFaults, ...]
    episodes: int  # with aligned words and a trajectory
    succeeded: int
    skipped: int  # episodes without aligned words or without a trajectory
    tolerance: float  # metres

    def __len__(self) -> int:
        return len(self.faults)

    def __iter__(self) -> Iterator[FirstFault]:
        return iter(self.faults)

    def __getitem__(self, episode_id: str) -> FirstFault:
        found = next((fault for fault in self.faults if fault.episode_id == episode_id), None)
        if found is None:
            raise KeyError(f"{episode_id!r} has no first fault: it succeeded, was skipped or is unknown.")
        return found

    @property
    def how(self) -> dict[str, int]:
        """The number of faults by what happened."""
        return {name: sum(fault.how == name for fault in self.faults) for name in HOW}

    @property
    def title(self) -> str:
        """What the table counts, in one sentence."""
        counts = ", ".join(f"{number:,} {name}" for name, number in self.how.items() if number)
        failed = count_noun(len(self), "failure")
        skipped = f"; {self.skipped:,} skipped" if self.skipped else ""
        title = f"{self.agent}: {failed} in {count_noun(self.episodes, 'episode')}"
        return f"{title}{f': {counts}' if counts else ''}{skipped}"

    def to_table(self) -> TextTable:
        """A row per kind of clause: how often it was reached, and how often it was the first fault."""
        rows = tuple(
            (
                one.kind,
                f"{one.clauses:,}",
                f"{one.faults:,}",
                _format(one.rate),
                "" if one.share is None else _format(one.share),
            )
            for one in self.kinds
        )
        headings = ("clause", "reached", "faults", "fault rate %", "share of faults %")
        return TextTable(headings, rows, self.title)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; `report` reads the file."""
        return {
            "first_faults": self.agent,
            "episodes": self.episodes,
            "succeeded": self.succeeded,
            "skipped": self.skipped,
            "tolerance": self.tolerance,
            "how": self.how,
            "kinds": [one.to_dict() for one in self.kinds],
            "faults": [asdict(fault) for fault in self.faults],
        }

    def __repr__(self) -> str:
        return f"FirstFaults({self.agent}: {len(self)} in {self.episodes} episodes)"

    def __str__(self) -> str:
        return str(self.to_table())

    def _repr_html_(self) -> str:
        return self.to_table()._repr_html_()


def _format(found: Interval) -> str:
    return f"{100 * found.mean:.1f} ({100 * found.low:.1f} – {100 * found.high:.1f})"


def find_first_faults(
    predictions: Predictions,
    split: Split,
    worlds: Mapping[str, World],
    *,
    protocol: Protocol,
    tolerance: float = 3.0,
    agent: str = "agent",
    level: float = 0.95,
) -> FirstFaults:
    """The first fault of every failed trajectory, and the fault rate of each kind of clause.

    tolerance: metres from the rest of the reference path at which a trajectory has departed. Smaller excursions, from
        which it may return, are no faults. The default is R2R's success radius.
    """
    if not tolerance >= 0:
        raise BadArgument(f"tolerance must be ≥ 0 metres (got {tolerance:g}).")
    rules = MatchingRules(jumps="measure", starts="measure")
    groups = match(predictions, split, worlds, missing="zero", rules=rules)
    clauses = {episode.id: split_clauses(episode) for episode in split}
    if not any(clauses.values()):
        raise BadArgument(
            f"The words of {split.name} are not aligned with places. Give Fine-Grained R2R, an RxR guide file with its "
            "pose traces (--alignment, alignment=), or the rxr file of a Hearth season."
        )
    faults: list[FirstFault] = []
    exposures: list[tuple[str, str, bool]] = []  # kind, scene, whether it was the fault
    episodes = succeeded = 0
    for attempts in groups:
        solved = success(attempts, radius=protocol.success_radius, needs_stop=protocol.needs_stop) > 0
        places = _last_places(attempts, tolerance)
        for k, row in enumerate(attempts.rows.tolist()):
            episode = split.episodes[row]
            parts = clauses[episode.id]
            if not parts or attempts.missing[k]:
                continue
            episodes += 1
            succeeded += bool(solved[k])
            fault = None if solved[k] else _make_fault(episode.id, episode.world_id, places[k], parts, attempts, k)
            faults += [] if fault is None else [fault]
            exposures += _exposures(parts, episode.world_id, fault)
    if not episodes:
        raise BadArgument(f"{predictions.source} has no trajectory for an episode whose words are aligned with places.")
    kinds = tuple(_count_kinds(exposures, level))
    return FirstFaults(agent, tuple(faults), kinds, episodes, succeeded, len(split) - episodes, tolerance)


@dataclass(frozen=True)
class _LastPlace:
    """How far an attempt follows its reference path."""

    place: int
    final: int  # index of the last reference place
    departed: bool


def _last_places(attempts: Attempts, tolerance: float) -> list[_LastPlace]:
    near = 1e-6 if isinstance(attempts.space, NavGraph) else min(ON_PATH, tolerance) if tolerance else ON_PATH
    blocks = np.cumsum(attempts.path.counts * attempts.reference.counts)[:-1]
    found = []
    for distances, width in zip(np.split(attempts.distances, blocks), attempts.reference.counts.tolist(), strict=True):
        place, departed = follow_reference(distances.reshape(-1, width), near=near, tolerance=tolerance)
        found.append(_LastPlace(place, width - 1, departed))
    return found


def follow_reference(distances: Array, *, near: float, tolerance: float) -> tuple[int, bool]:
    """The index of the last reference place visited before departing, and whether the path departs.

    distances: (places of the path, places of the reference), metres. Reference places are visited in their order: a
    place counts if it is within `near` of the path; later places may be skipped.

    >>> straight = np.abs(np.arange(4.0)[:, None] - np.arange(4.0))
    >>> follow_reference(straight, near=0.1, tolerance=1.5)
    (3, False)
    >>> follow_reference(straight[[0, 1, 0, 0]] + [[0], [0], [2], [4]], near=0.1, tolerance=1.5)
    (1, True)
    """
    place = 0
    for row in distances:
        visited = np.flatnonzero(row[place:] <= near)
        if len(visited):
            place += int(visited[0])
        elif row[place:].min() > max(tolerance, near):
            return place, True
    return place, False


def _make_fault(
    episode_id: str,
    world_id: str,
    last: _LastPlace,
    clauses: Sequence[InstructionClause],
    attempts: Attempts,
    k: int,
) -> FirstFault:
    number = clause_at(clauses, last.place, final=last.final)
    if last.place == last.final:
        how = PASSED
    elif last.departed:
        how = DEPARTED
    else:
        how = STOPPED if attempts.stopped[k] else OUT_OF_STEPS
    clause = clauses[number]
    return FirstFault(episode_id, world_id, how, last.place, number, len(clauses), clause.kind, clause.text)


def _exposures(
    clauses: Sequence[InstructionClause], world_id: str, fault: FirstFault | None
) -> Iterator[tuple[str, str, bool]]:
    """The clauses that were reached: all of a success, those up to the fault of a failure."""
    reached = len(clauses) if fault is None else fault.clause + 1
    for k, clause in enumerate(clauses[:reached]):
        yield clause.kind, world_id, fault is not None and k == fault.clause


def _count_kinds(exposures: Sequence[tuple[str, str, bool]], level: float) -> Iterator[ClauseFaults]:
    kinds, scenes, at_fault = (np.array(column) for column in zip(*exposures, strict=True))
    for kind in CLAUSE_KINDS:
        rows = kinds == kind
        if rows.any():
            share = _rate(rows[at_fault], scenes[at_fault], level) if at_fault.any() else None
            rate = _rate(at_fault[rows], scenes[rows], level)
            yield ClauseFaults(kind, int(rows.sum()), int(at_fault[rows].sum()), rate, share)


def _rate(values: NDArray[np.bool_], scenes: NDArray[Any], level: float) -> Interval:
    clusters = scenes if len(set(scenes.tolist())) > 1 else None
    return interval(values.astype(float), clusters=clusters, bounds=(0.0, 1.0), level=level)
