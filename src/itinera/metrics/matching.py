"""Matching of trajectories to the episodes they answer: checked, and in the terms of their worlds.

Every score passes this gate: a trajectory that passes is complete, starts at its start and stays in its world.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault
from itinera.metrics.attempts import Attempts, drop_repeats, equal_to_next
from itinera.records.predictions import NodeIndexer, Predictions, TrajectoryBatch
from itinera.tasks import Episode, Protocol, Split
from itinera.worlds import Array, BatchSpace, Euclidean, NavGraph, Places, Ragged, Space, World

MAX_START_DISTANCE = 0.5  # metres; a continuous trajectory begins within this distance of its start


@dataclass(frozen=True)
class MatchingRules:
    """What a trajectory may do that the benchmark forbids, because some released scorers accept it."""

    jumps: Literal["refuse", "measure"] = "refuse"  # between nodes that no edge joins
    # At another place than the episode's start; "continue" accepts a leg of a tour that begins where the leg before
    # ended.
    starts: Literal["refuse", "measure", "continue"] = "refuse"
    repeats: Literal["keep", "drop"] = "keep"  # of a place visited twice in a row


def match(
    predictions: Predictions,
    split: Split,
    worlds: Mapping[str, World],
    *,
    missing: Literal["fail", "zero"] = "fail",
    rules: MatchingRules | None = None,
    goals: bool = True,
    reference: bool = True,
    plausibility: PlausibilityCheck | None = None,
) -> tuple[Attempts, ...]:
    """The trajectories beside the split's episodes, one `Attempts` per world; raises BadFile with every fault found.

    `missing="zero"` accepts episodes without a trajectory and marks them as missing. `goals=False` does not require
    goals, which suffices to check a submission to a hidden test. `reference=False` leaves reference paths out and does
    not require them. `plausibility` collects trajectories that the body of its protocol cannot have made.
    """
    rules = rules or MatchingRules()
    if goals:
        split.require_goals("A hidden test can be checked (itinera check), but only its host can score it.")
    faults: list[Fault] = []
    batch = predictions.batch
    answers = _match_ids(batch, split, predictions.source, faults, missing)
    previous = _previous_legs(split) if rules.starts == "continue" else {}
    groups = []
    for world_id, rows in split.rows_by_world.items():
        world = worlds.get(world_id)
        if world is None:
            problem = f"world {world_id} is not among the worlds given."
            raise BadFile(split.name, [Fault("", problem, f"Check worlds (--worlds): {_some(worlds)}.")])
        episodes = [split.episodes[i] for i in rows]
        matcher = _Matcher(world, rows, episodes, batch, answers[rows], rules, plausibility, previous)
        groups.append(matcher.attempts(faults, goals, reference))
    if faults:
        raise BadFile(predictions.source, faults)
    return tuple(groups)


class PlausibilityCheck:
    """Trajectories that the body of a protocol cannot have made, by what is wrong with them.

    A body on the ground moves at most a step per action, or with times a step per second. Released simulators exceed a
    step a little where they move a body back onto their mesh, and on stairs; the tolerances accept that.
    """

    LENGTH_TOLERANCE = 1.2  # VLN-CE's own paths have steps of up to 0.287 m instead of 0.25 m
    MAX_RISE = 0.5  # metres between two places; VLN-CE's own paths rise by up to 0.36 m
    DETOUR = 2.0  # a step leads through a wall if the path around it is this many times longer,
    DETOUR_MARGIN = 0.5  # and by this many metres: corners are cut a little
    SECONDS = 1.0  # of an action
    MAX_GAP = 10.0  # seconds between two logged places: two places and a long time are no trajectory

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol
        self.faults: dict[str, list[Fault]] = {}  # by name
        self.trajectories: set[str] = set()
        self.long_paths: list[int] = []  # moves of trajectories on a graph that exceed the step limit

    @property
    def summary(self) -> Fault:
        """All of it as one fault, counted by name."""
        counts = ", ".join(f"{len(found)} with {name}" for name, found in self.faults.items())
        number = len(self.trajectories)
        which = "1 trajectory is" if number == 1 else f"{number} trajectories are"
        problem = f"{which} impossible under protocol {self.protocol.label}: {counts}."
        remedy = (
            "Log every step; `itinera check` lists them. For another body, name it: --protocol, --drive. "
            'implausible="keep" (--implausible keep) scores them as they are.'
        )
        return Fault("", problem, remedy)

    @property
    def remark(self) -> str:
        """A sentence on trajectories with more moves than steps; empty if there are none."""
        if not self.long_paths:
            return ""
        number = len(self.long_paths)
        which = "1 trajectory has" if number == 1 else f"{number} trajectories have"
        return (
            f"{which} more moves (up to {max(self.long_paths)}) than protocol {self.protocol.label} allows steps "
            f"({self.protocol.step_limit}); scored as they are."
        )

    def count_moves(self, path: Ragged) -> None:
        """Count the moves of trajectories on a graph; turns in place repeat a node.

        More moves than steps are no fault: an action of agents with global action spaces (DUET) or with search
        (Speaker-Follower) crosses several nodes, and servers accept that. `itinera judge` applies the limit to actions.
        """
        limit = self.protocol.step_limit
        if limit is None:
            return
        joints = path.joints
        moved = path.owners[joints[path.values[joints] != path.values[joints + 1]]]
        counts = np.bincount(moved, minlength=1)
        self.long_paths += counts[counts > limit].tolist()

    def check_steps(
        self,
        points: Ragged,
        clocks: Sequence[Array | None],
        names: Sequence[str],
        space: Space,
        continued: Array | None = None,
    ) -> None:
        """Check the steps of trajectories on the ground.

        `clocks` has the times of their places, where known, without those of waiting; `continued` the seconds in which
        each body went on with an action while the agent thought, which do not count as steps.
        """
        step, joints = self.protocol.step_size, points.joints
        if step is None:
            return
        owners = points.owners[joints]
        moves = points.values[joints + 1] - points.values[joints]
        across, rise = np.hypot(moves[:, 0], moves[:, 1]), np.abs(moves[:, 2])
        seconds = np.concatenate([
            np.full(max(count - 1, 0), self.SECONDS) if times is None else np.diff(times)
            for count, times in zip(points.counts.tolist(), clocks, strict=True)
        ])  # fmt: skip
        allowed = self.LENGTH_TOLERANCE * step * np.minimum(seconds, self.MAX_GAP) / self.SECONDS
        too_long = (across > allowed + 1e-6) | (rise > np.maximum(self.MAX_RISE, allowed)) | ~(seconds >= 0)
        for i, k in _first_by_owner(owners, too_long):
            timed = "" if clocks[i] is None else f" in {seconds[k]:.2f} s"
            problem = f"moves {across[k]:.2f} m across and {rise[k]:.2f} m up or down{timed}; a step is {step:g} m."
            self._add("steps that are too long", names[i], problem)
        self._check_walls(points, owners, across, names, space)
        self._check_limit(points, clocks, names, np.zeros(len(names)) if continued is None else continued)

    def _check_walls(
        self, points: Ragged, owners: NDArray[np.int64], across: Array, names: Sequence[str], space: Space
    ) -> None:
        if isinstance(space, Euclidean) or not isinstance(space, BatchSpace) or not len(owners):
            return  # no walls are known
        lengths = space.steps(points)
        blocked = lengths > self.DETOUR * across + self.DETOUR_MARGIN
        for i, k in _first_by_owner(owners, blocked):
            around = f"{lengths[k]:.2f} m" if np.isfinite(lengths[k]) else "nowhere"
            problem = f"moves {across[k]:.2f} m through a wall: the path around it leads {around}."
            self._add("steps through walls", names[i], problem)

    def _check_limit(
        self, points: Ragged, clocks: Sequence[Array | None], names: Sequence[str], continued: Array
    ) -> None:
        limit = self.protocol.step_limit
        if limit is None:
            return
        rows = zip(names, points.counts.tolist(), clocks, continued.tolist(), strict=True)
        for name, count, times, seconds in rows:
            # Some simulators log the place of STOP too. A log with times may have any rate: seconds count.
            steps = count - 2 if times is None else (times[-1] - times[0] - seconds) / self.SECONDS
            if steps > limit + 1e-6:
                self._add("too many steps", name, f"takes {steps:.0f} steps; the protocol allows {limit}.")

    def _add(self, kind: str, where: str, problem: str) -> None:
        remedy = f"The rules are those of protocol {self.protocol.label}; name others with --protocol or --drive."
        self.faults.setdefault(kind, []).append(Fault(where, problem, remedy))
        self.trajectories.add(where)


def _first_by_owner(owners: NDArray[np.int64], wrong: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Each trajectory with a wrong step, and the index of the first."""
    at = np.flatnonzero(wrong)
    found, first = np.unique(owners[at], return_index=True)
    yield from zip(found.tolist(), at[first].tolist(), strict=True)


def _some(worlds: Mapping[str, World]) -> str:
    """A few of the worlds by name, for a message."""
    names = list(worlds)
    return f"there are {len(names)}, such as {names[0]}" if names else "there are none"


def repeat_fraction(groups: Iterable[Attempts]) -> float:
    """The fraction of trajectories that visit some place twice in a row."""
    repeating, total = 0, 0
    for group in groups:
        joints = group.path.joints
        repeated = equal_to_next(group.path.values, joints)
        repeating += len(np.unique(group.path.owners[joints[repeated]]))
        total += len(group)
    return repeating / total if total else 0.0


def _previous_legs(split: Split) -> dict[str, str]:
    """The leg before each later leg of a tour."""
    return {later: leg for tour in split.tours for leg, later in pairwise(tour.episode_ids)}


def _match_ids(
    batch: TrajectoryBatch, split: Split, source: str, faults: list[Fault], missing: Literal["fail", "zero"]
) -> NDArray[np.int64]:
    """(episodes,) the index of the trajectory of each episode, -1 where there is none."""
    episodes = split.by_id
    if len(episodes) != len(split.episodes):
        raise BadFile(split.name, [Fault("", "has episodes of the same id.", "Ids must be distinct.")])
    if list(episodes) == list(batch.episode_ids):  # as most agents log them
        return np.arange(len(episodes))
    index = {name: i for i, name in enumerate(batch.episode_ids)}
    if len(index) != len(batch.episode_ids) or not index.keys() <= episodes.keys():
        faults.extend(_wrong_ids(batch, split))
        if 2 * len(index.keys() - episodes.keys() - split.left_out) > len(index):
            raise BadFile(source, faults)  # these are other tasks: what else is wrong follows from that
    if missing == "fail" and not episodes.keys() <= index.keys():
        faults.append(_missing_ids([name for name in episodes if name not in index], split))
    return np.array([index.get(name, -1) for name in episodes], dtype=np.int64)


def _wrong_ids(batch: TrajectoryBatch, split: Split) -> Iterator[Fault]:
    """One fault for all unknown episodes, and one for all with two trajectories."""
    counts = Counter(batch.episode_ids)
    unknown = [name for name in counts if name not in split.by_id and name not in split.left_out]
    whole = f"{split.name} ({_episodes(len(split) + len(split.left_out))})"
    if len(unknown) == 1:
        remedy = f"It is not in {split.name}: score each split with its own tasks file."
        yield Fault(f'episode "{unknown[0]}"', "is unknown.", remedy)
    elif unknown:
        here, all_ = next(iter(split.by_id), ""), len(unknown) == len(counts)
        number = "none of the" if all_ else f"{len(unknown):,} of the"
        problem = f"{number} {len(counts):,} episodes {'is' if all_ else 'are not'} in {whole}."
        ids = f'Their ids are such as "{unknown[0]}", those of {split.name} such as "{here}".'
        yield Fault("", problem, f"{ids} Give the tasks file that they were made for (--tasks).")
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        where = f'episode "{twice[0]}"' if len(twice) == 1 else ""
        problem = (
            "has two trajectories." if where else f"{_episodes(len(twice))} have two trajectories ({_first(twice)})."
        )
        yield Fault(where, problem, "Keep one trajectory for each episode.")


def _missing_ids(absent: Sequence[str], split: Split) -> Fault:
    remedy = (
        'Give missing="zero" (--missing zero) to count an episode without one as a failure, or episodes= (--episodes) '
        "to score a part; --episodes answered scores those that have one."
    )
    if len(absent) == 1:
        return Fault(f'episode "{absent[0]}"', "has no trajectory.", remedy)
    problem = f"{len(absent):,} of the {len(split):,} episodes of {split.name} have no trajectory ({_first(absent)})."
    return Fault("", problem, remedy)


def _episodes(number: int) -> str:
    return f"{number:,} episode{'' if number == 1 else 's'}"


def _first(names: Sequence[str]) -> str:
    return f'first: "{names[0]}"'


class _Matcher:
    """Matching within one world."""

    def __init__(
        self,
        world: World,
        rows: NDArray[np.int64],
        episodes: list[Episode],
        batch: TrajectoryBatch,
        answers: NDArray[np.int64],  # (n,) the index of the trajectory of each episode, -1 where there is none
        rules: MatchingRules,
        plausibility: PlausibilityCheck | None,
        previous: Mapping[str, str],  # the leg before each leg of a tour, where a leg may begin where that one ended
    ) -> None:
        self.world, self.space, self.rules = world, world.space, rules
        self.rows, self.episodes = rows, episodes
        self.batch, self.answers = batch, answers
        self.plausibility, self.previous = plausibility, previous

    def attempts(self, faults: list[Fault], goals: bool, reference: bool) -> Attempts:
        path = self._locate(faults)
        if path is not None:
            faults.extend(self._wrong_starts(path))
            faults.extend(self._jumps(path))
            if self.plausibility is not None:
                self._check_plausibility(path, self.plausibility)
            if self.rules.repeats == "drop":
                path = drop_repeats(path)
        none = Ragged(np.empty(0, dtype=np.int64), np.zeros(len(self.rows) + 1, dtype=np.int64))
        answered = self.answers >= 0
        return Attempts(
            space=self.space,
            path=path if path is not None else none,
            reference=self._references() if goals and reference else none,
            goals=self._locate_shared([e.goals for e in self.episodes]) if goals else none,
            stopped=answered & self.batch.stopped[self.answers] if len(self.batch.stopped) else answered,
            stated_distances=np.array(
                [np.nan if e.stated_distance is None else e.stated_distance for e in self.episodes]
            ),
            durations=np.where(answered, self.batch.durations[self.answers], np.nan)
            if answered.any()
            else np.full(len(self.rows), np.nan),
            missing=~answered,
            rows=self.rows,
            episode_ids=tuple([episode.id for episode in self.episodes]),
            events=None if self.batch.events is None else self.batch.events.take(self.answers),
            usage=None if self.batch.usage is None else self.batch.usage.take(self.answers),
            thinking=None if self.batch.thinking is None else self.batch.thinking.take(self.answers),
        )

    def _locate(self, faults: list[Fault]) -> Ragged | None:
        paths = self.batch.places
        if isinstance(paths, NodeIndexer) and isinstance(self.space, NavGraph) and (self.answers >= 0).all():
            index = paths.node_indices(self.space, self.answers)
            if index is not None:
                return Ragged.from_counts(index, paths.counts[self.answers])
        places = self._places()
        empty = [i for i, row in enumerate(places) if len(row) == 0]
        faults += [Fault(self._name(i), "has no places.", "A trajectory must include its start.") for i in empty]
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
        """The places of each attempt; a missing trajectory stays at its start."""
        paths = self.batch.places
        return [
            paths[i] if i >= 0 else cast(Places, [episode.start.place])
            for i, episode in zip(self.answers.tolist(), self.episodes, strict=True)
        ]

    def _unknown_places(self, places: list[Places]) -> Iterator[Fault]:
        for i, row in enumerate(places):
            if isinstance(self.space, NavGraph) and isinstance(row, np.ndarray):
                problem = f"holds positions, but world {self.world.id} is a graph of nodes."
            elif isinstance(self.space, NavGraph):
                unknown = next((place for place in row if place not in self.space.index), None)
                problem = f"node {unknown} is not in world {self.world.id}." if unknown is not None else ""
            else:
                problem = self._position_problem(row)
            if problem:
                yield Fault(self._name(i), problem, "Check that predictions, tasks and worlds belong together.")

    def _position_problem(self, row: Places) -> str:
        points = np.asarray(row)
        triples = points.dtype.kind in "fiu" and points.ndim == 2 and points.shape[1] == 3
        if not (triples and np.isfinite(points).all()):
            return "positions must be finite triples of metres."
        try:
            self.space.locate(points)
        except BadArgument as error:
            return f"leaves world {self.world.id}: {error}"
        return ""

    def _wrong_starts(self, path: Ragged) -> Iterator[Fault]:
        if self.rules.starts == "measure":
            return
        first = path.firsts()
        try:
            starts = self.space.locate(cast(Places, [episode.start.place for episode in self.episodes]))
        except BadArgument as error:
            raise self._outside(error) from None
        if isinstance(self.space, NavGraph):
            wrong = np.flatnonzero(first != starts)
        else:
            wrong = np.flatnonzero(np.linalg.norm(first - starts, axis=-1) > MAX_START_DISTANCE)
        for i in map(int, wrong):
            if self._continues(path, i):
                continue
            begun, expected = self._describe(first[i]), self._describe(starts[i])
            remedy = "A trajectory must include its start. Re-export with the first place kept, or drop the episode."
            yield Fault(self._name(i), f"starts at {begun}, but the task starts at {expected}.", remedy)

    def _continues(self, path: Ragged, i: int) -> bool:
        """Whether the attempt begins where the leg before it ended."""
        before = self._row_by_id.get(self.previous.get(self.episodes[i].id, ""))
        if before is None:
            return False
        begun, ended = path[i][0], path[before][-1]
        if isinstance(self.space, NavGraph):
            return bool(begun == ended)
        return float(np.linalg.norm(begun - ended)) <= MAX_START_DISTANCE

    @cached_property
    def _row_by_id(self) -> dict[str, int]:
        return {episode.id: i for i, episode in enumerate(self.episodes)}

    def _jumps(self, path: Ragged) -> Iterator[Fault]:
        if self.rules.jumps == "measure" or not isinstance(self.space, NavGraph):
            return
        joints = path.joints
        a, b = path.values[joints], path.values[joints + 1]
        broken = joints[(a != b) & ~self.space.are_adjacent(a, b)]
        for i, at in sorted({int(path.owners[j]): int(j) for j in reversed(broken)}.items()):
            ends = self._describe(path.values[at]), self._describe(path.values[at + 1])
            problem = f"goes from {ends[0]} to {ends[1]}, which no edge joins."
            yield Fault(
                self._name(i),
                problem,
                "Log every node passed, or choose a suite that measures jumps: envdrop, hamt, google, ivln.",
            )

    def _check_plausibility(self, path: Ragged, check: PlausibilityCheck) -> None:
        if isinstance(self.space, NavGraph):
            check.count_moves(path)
            return
        names = [self._name(i) for i in range(len(self.episodes))]
        points = Ragged.from_counts(np.concatenate([np.asarray(row) for row in self._places()]), path.counts)
        clocks: list[Array | None] = [None] * len(names)
        if self.batch.times is not None:
            clocks = [None if i < 0 else self.batch.times[i] for i in self.answers.tolist()]
        check.check_steps(points, clocks, names, self.space, self._continued_seconds())

    def _continued_seconds(self) -> Array:
        """(n,) seconds in which the body moved on while the agent thought: they are no steps."""
        thinking = self.batch.thinking
        if thinking is None:
            return np.zeros(len(self.episodes))
        found = thinking.take(self.answers)
        return np.nan_to_num(found.seconds - found.waiting)

    def _references(self) -> Ragged:
        reference = self._locate_shared([e.reference for e in self.episodes])
        without = np.flatnonzero(reference.counts == 0)
        if len(without):
            remedy = "This suite compares paths: give each episode its reference path, or choose the suite pointnav."
            faults = [Fault(self._name(int(i)), "has a goal but no reference path.", remedy) for i in without]
            raise BadFile("tasks", faults)
        return reference

    def _locate_shared(self, rows: list[Places]) -> Ragged:
        """Reference paths or goals of every episode; those that episodes share are located once."""
        _, first, owner = np.unique(np.fromiter(map(id, rows), np.int64), return_index=True, return_inverse=True)
        distinct = [rows[i] for i in first]
        try:
            if isinstance(self.space, NavGraph):
                counts = np.fromiter(map(len, distinct), np.int64, len(distinct))
                return Ragged.from_counts(self.space.locate(list(chain.from_iterable(distinct))), counts).take(owner)
            return Ragged.from_rows([self.space.locate(places) for places in distinct]).take(owner)
        except BadArgument as error:
            raise self._outside(error) from None

    def _outside(self, error: BadArgument) -> BadFile:
        problem = f"a start, reference or goal leaves world {self.world.id}: {error}"
        return BadFile("tasks", [Fault("", problem, "Check that tasks and worlds belong together.")])

    def _name(self, i: int) -> str:
        return f'episode "{self.episodes[i].id}"'

    def _describe(self, place: Any) -> str:
        if isinstance(self.space, NavGraph):
            return f"node {self.space.nodes[int(place)]}"
        return "(" + ", ".join(f"{x:.2f}" for x in place) + ")"
