"""Walks laid beside the episodes they answer, checked and put in the terms of their worlds.

This is the gate every judgement goes through: whatever passes it is whole, starts where it should and stays in its
world.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault
from itinera.records.predictions import Answers, Numbered, Predictions
from itinera.tasks import Episode, Split
from itinera.worlds import NavGraph, Places, Ragged, World

NEAR_START = 0.5  # metres; on the ground a walk begins within this of its start


@dataclass(frozen=True)
class Rules:
    """What a walk may do that the benchmark's own rules forbid, because some released scorers let it pass."""

    jumps: Literal["refuse", "measure"] = "refuse"  # between nodes that no edge joins
    starts: Literal["refuse", "measure"] = "refuse"  # elsewhere than the task
    repeats: Literal["keep", "drop"] = "keep"  # of a place visited twice in a row


@dataclass(frozen=True, eq=False)
class Pairs:
    """The attempts of one world: row k of every field is about one episode."""

    world: World
    rows: NDArray[np.int64]  # (n,) where each stands in the split
    episodes: tuple[Episode, ...]
    walked: Ragged  # places in the space's own terms, acting phase only; a missing walk stands at its start
    reference: Ragged
    goals: Ragged
    stopped: NDArray[np.bool_]  # (n,)
    missing: NDArray[np.bool_]  # (n,) no walk was given; counted as zero
    durations: NDArray[np.float64]  # (n,) seconds from first to last place, NaN where not timed
    stated: NDArray[np.float64]  # (n,) distance from start to goal as the tasks say, NaN where they do not


def pair(
    predictions: Predictions,
    split: Split,
    worlds: Mapping[str, World],
    *,
    missing: Literal["fail", "zero"] = "fail",
    rules: Rules | None = None,
    goals: bool = True,
    reference: bool = True,
) -> tuple[Pairs, ...]:
    """The logbook's trajectories beside the split's episodes, a group per world, or every fault of the logbook.

    `missing="zero"` lets episodes without a walk pass, marked as missing. `goals=False` does not ask for goals, which
    is enough to check a submission to a hidden test. `reference=False` leaves references out, and does
    not ask for them.
    """
    rules = rules or Rules()
    if goals:
        split.ask_for_goals("A hidden test can be checked (itinera check) but only its host can score it.")
    faults: list[Fault] = []
    chosen = _chosen(predictions.answers, split, faults, missing)
    groups = []
    for world_id, rows in split.rows_by_world.items():
        world = worlds.get(world_id)
        if world is None:
            raise BadFile(
                split.name, [Fault("", f"world {world_id} is not among the worlds given.", "Check --worlds.")]
            )
        episodes = [split.episodes[i] for i in rows]
        groups.append(
            _Group(world, rows, episodes, predictions.answers, chosen[rows], rules).pairs(faults, goals, reference)
        )
    if faults:
        raise BadFile(predictions.source, faults)
    return tuple(groups)


def repeated_share(groups: Iterable[Pairs]) -> float:
    """The share of trajectories that visit some place twice in a row."""
    repeating, total = 0, 0
    for group in groups:
        joints = group.walked.joints
        same = _same(group.walked.values, joints)
        repeating += len(np.unique(group.walked.owners[joints[same]]))
        total += len(group.rows)
    return repeating / total if total else 0.0


def _same(values: NDArray[Any], joints: NDArray[np.int64]) -> NDArray[np.bool_]:
    equal = values[joints] == values[joints + 1]
    return np.asarray(equal.all(axis=-1) if equal.ndim > 1 else equal)


def _chosen(answers: Answers, split: Split, faults: list[Fault], missing: Literal["fail", "zero"]) -> NDArray[np.int64]:
    """(episodes,) the number of the answer to each episode, -1 where there is none."""
    known = split.by_id
    if len(known) != len(split.episodes):
        raise BadFile(split.name, [Fault("", "has episodes of the same id.", "Ids must be distinct.")])
    if list(known) == list(answers.episode_ids):  # as most agents log them: nothing to look for
        return np.arange(len(known))
    numbers = {name: i for i, name in enumerate(answers.episode_ids)}
    if len(numbers) != len(answers.episode_ids) or not numbers.keys() <= known.keys():
        faults.extend(_wrong_names(answers, split))
    if missing == "fail" and not known.keys() <= numbers.keys():
        remedy = "Every episode must be answered; --missing zero counts those without a walk as failures."
        faults += [Fault(f'episode "{name}"', "has no trajectory.", remedy) for name in known if name not in numbers]
    return np.array([numbers.get(name, -1) for name in known], dtype=np.int64)


def _wrong_names(answers: Answers, split: Split) -> Iterator[Fault]:
    seen: set[str] = set()
    for name in answers.episode_ids:
        if name not in split.by_id:
            remedy = f"It is not in {split.name}: score each split with its own file of tasks."
            yield Fault(f'episode "{name}"', "is unknown.", remedy)
        elif name in seen:
            yield Fault(f'episode "{name}"', "is answered twice.", "Keep one trajectory for each episode.")
        seen.add(name)


class _Group:
    """The work of pairing within one world."""

    def __init__(
        self,
        world: World,
        rows: NDArray[np.int64],
        episodes: list[Episode],
        answers: Answers,
        chosen: NDArray[np.int64],
        rules: Rules,
    ) -> None:
        self.world, self.space, self.rules = world, world.space, rules
        self.rows, self.episodes = rows, episodes
        self.answers, self.chosen = answers, chosen

    def pairs(self, faults: list[Fault], goals: bool, reference: bool) -> Pairs:
        walked = self._located(faults)
        if walked is not None:
            faults.extend(self._wrong_starts(walked))
            faults.extend(self._jumps(walked))
            if self.rules.repeats == "drop":
                walked = without_repeats(walked)
        none = Ragged(np.empty(0, dtype=np.int64), np.zeros(len(self.rows) + 1, dtype=np.int64))
        answered = self.chosen >= 0
        return Pairs(
            world=self.world,
            rows=self.rows,
            episodes=tuple(self.episodes),
            walked=walked if walked is not None else none,
            reference=self._references() if goals and reference else none,
            goals=self._answer_key([e.goals for e in self.episodes]) if goals else none,
            stopped=answered & self.answers.stopped[self.chosen] if len(self.answers.stopped) else answered,
            missing=~answered,
            stated=np.array([np.nan if e.stated_distance is None else e.stated_distance for e in self.episodes]),
            durations=np.where(answered, self.answers.durations[self.chosen], np.nan)
            if answered.any()
            else np.full(len(self.rows), np.nan),
        )

    def _located(self, faults: list[Fault]) -> Ragged | None:
        walked = self.answers.places
        if isinstance(walked, Numbered) and isinstance(self.space, NavGraph) and (self.chosen >= 0).all():
            numbers = walked.numbers(self.space, self.chosen)
            if numbers is not None:
                return Ragged.from_counts(numbers, walked.counts[self.chosen])
        places = self._places()
        empty = [i for i, row in enumerate(places) if len(row) == 0]
        faults += [Fault(self._name(i), "has no places.", "A walk must include its start.") for i in empty]
        if empty:
            return None
        counts = np.fromiter(map(len, places), np.int64, len(places))
        try:
            if isinstance(self.space, NavGraph):
                found = map(self.space.index.__getitem__, chain.from_iterable(places))
                return Ragged.from_counts(np.fromiter(found, np.int64, int(counts.sum())), counts)
            return Ragged.from_counts(self.space.locate(np.concatenate([np.asarray(row) for row in places])), counts)
        except (BadArgument, ValueError, TypeError, KeyError):
            faults.extend(self._unknown_places(places))
            return None

    def _places(self) -> list[Places]:
        """The places of each attempt; a missing walk stands at its start."""
        walked = self.answers.places
        return [
            walked[i] if i >= 0 else cast(Places, [episode.start.place])
            for i, episode in zip(self.chosen.tolist(), self.episodes, strict=True)
        ]

    def _unknown_places(self, places: list[Places]) -> Iterator[Fault]:
        for i, row in enumerate(places):
            if isinstance(self.space, NavGraph) and isinstance(row, np.ndarray):
                problem = f"holds positions, but world {self.world.id} is a graph of nodes."
            elif isinstance(self.space, NavGraph):
                unknown = next((place for place in row if place not in self.space.index), None)
                problem = f"node {unknown} is not in world {self.world.id}." if unknown is not None else ""
            else:
                problem = self._off_the_ground(row)
            if problem:
                yield Fault(self._name(i), problem, "Check that walks, tasks and worlds belong together.")

    def _off_the_ground(self, row: Places) -> str:
        points = np.asarray(row)
        right = points.dtype.kind in "fiu" and points.ndim == 2 and points.shape[1] == 3
        if not (right and np.isfinite(points).all()):
            return "positions must be finite triples of metres."
        try:
            self.space.locate(points)
        except BadArgument as error:
            return f"leaves world {self.world.id}: {error}"
        return ""

    def _wrong_starts(self, walked: Ragged) -> Iterator[Fault]:
        if self.rules.starts == "measure":
            return
        first = walked.firsts()
        try:
            starts = self.space.locate(cast(Places, [episode.start.place for episode in self.episodes]))
        except BadArgument as error:
            raise self._outside(error) from None
        if isinstance(self.space, NavGraph):
            wrong = np.flatnonzero(first != starts)
        else:
            wrong = np.flatnonzero(np.linalg.norm(first - starts, axis=-1) > NEAR_START)
        for i in map(int, wrong):
            begun, asked = self._told(first[i]), self._told(starts[i])
            remedy = "A walk must include its start. Re-export with the first place kept, or drop the episode."
            yield Fault(self._name(i), f"starts at {begun}, but the task starts at {asked}.", remedy)

    def _jumps(self, walked: Ragged) -> Iterator[Fault]:
        if self.rules.jumps == "measure" or not isinstance(self.space, NavGraph):
            return
        joints = walked.joints
        a, b = walked.values[joints], walked.values[joints + 1]
        broken = joints[(a != b) & ~self.space.adjacency[a, b]]
        for i, at in sorted({int(walked.owners[j]): int(j) for j in reversed(broken)}.items()):
            ends = self._told(walked.values[at]), self._told(walked.values[at + 1])
            problem = f"goes from {ends[0]} to {ends[1]}, which no edge joins."
            yield Fault(
                self._name(i), problem, "Log every node passed; suites that measure jumps are named in the docs."
            )

    def _references(self) -> Ragged:
        reference = self._answer_key([e.reference for e in self.episodes])
        without = np.flatnonzero(reference.counts == 0)
        if len(without):
            remedy = "This suite compares paths: give each episode its reference, or choose --suite pointnav."
            faults = [Fault(self._name(int(i)), "has a goal but no reference path.", remedy) for i in without]
            raise BadFile("tasks", faults)
        return reference

    def _answer_key(self, rows: list[Places]) -> Ragged:
        """Reference or goals of every episode; those that episodes share are located once."""
        _, first, which = np.unique(np.fromiter(map(id, rows), np.int64), return_index=True, return_inverse=True)
        distinct = [rows[i] for i in first]
        try:
            if isinstance(self.space, NavGraph):
                counts = np.fromiter(map(len, distinct), np.int64, len(distinct))
                return Ragged.from_counts(self.space.locate(list(chain.from_iterable(distinct))), counts).take(which)
            return Ragged.of([self.space.locate(places) for places in distinct]).take(which)
        except BadArgument as error:
            raise self._outside(error) from None

    def _outside(self, error: BadArgument) -> BadFile:
        problem = f"a start, reference or goal leaves world {self.world.id}: {error}"
        return BadFile("tasks", [Fault("", problem, "Check that tasks and worlds belong together.")])

    def _name(self, i: int) -> str:
        return f'episode "{self.episodes[i].id}"'

    def _told(self, place: Any) -> str:
        if isinstance(self.space, NavGraph):
            return f"node {self.space.nodes[int(place)]}"
        return "(" + ", ".join(f"{x:.2f}" for x in place) + ")"


def without_repeats(rows: Ragged) -> Ragged:
    """The rows with every place that equals the one before it left out."""
    keep = np.ones(len(rows.values), dtype=bool)
    joints = rows.joints
    keep[joints + 1] = ~_same(rows.values, joints)
    counts = np.bincount(rows.owners[keep], minlength=len(rows)).astype(np.int64)
    return Ragged.from_counts(rows.values[keep], counts)
