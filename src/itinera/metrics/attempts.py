"""Attempts: trajectories beside the episodes they answer, with the quantities that metrics share.

Batch-first: a metric takes `Attempts` and returns one number per attempt; a single attempt is a batch of one.
`metric_on_arrays` lets every metric take plain arrays as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from inspect import Parameter, signature
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.metrics._kernels import approximate_warping_costs, coverages, warping_costs
from itinera.records.predictions import StepEvents
from itinera.records.thinking import EpisodeThinking
from itinera.records.usage import EpisodeUsage
from itinera.worlds import Array, BatchSpace, Euclidean, NavGraph, Ragged, Space, World

MAX_CHUNK = 4_000_000  # distances held at once: 32 MB


@dataclass(frozen=True, eq=False)
class Attempts:
    """Trajectories beside the episodes they answer, in one world that measures both. Row k is one episode.

    Only the first four fields are needed; `__post_init__` fills in the others: stopped, untimed, none missing.
    """

    space: Space
    path: Ragged  # places of the acting phase, in the space's own terms; a missing trajectory stays at its start
    reference: Ragged
    goals: Ragged
    stopped: NDArray[np.bool_] = None  # type: ignore[assignment]  # (n,) the agent took STOP, not the step limit
    stated_distances: Array = None  # type: ignore[assignment]  # (n,) start to goal as the tasks file says, or NaN
    durations: Array = None  # type: ignore[assignment]  # (n,) seconds from start to end, NaN where not timed
    missing: NDArray[np.bool_] = None  # type: ignore[assignment]  # (n,) no trajectory was given
    rows: NDArray[np.int64] = None  # type: ignore[assignment]  # (n,) index of the episode in its split
    episode_ids: tuple[str, ...] = ()
    events: StepEvents | None = None  # None: nothing is known of single steps, and no episode ended by an accident
    usage: EpisodeUsage | None = None  # what the agent took; None: unknown
    thinking: EpisodeThinking | None = None  # how long it thought; None: unknown
    viewpoints: Ragged | None = None  # places the target object is visible from; only for tasks that name one
    grounded: NDArray[np.bool_] | None = None  # (n,) the agent named, or pointed at, the target object

    def __post_init__(self) -> None:
        n = len(self.path)
        defaults: dict[str, Any] = {
            "stopped": np.ones(n, dtype=bool),
            "stated_distances": np.full(n, np.nan),
            "durations": np.full(n, np.nan),
            "missing": np.zeros(n, dtype=bool),
            "rows": np.arange(n),
        }
        for name, default in defaults.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, default)

    def __len__(self) -> int:
        return len(self.path)

    def take(self, index: NDArray[np.int64]) -> Attempts:
        """The attempts at these indices, in this order."""
        return Attempts(
            space=self.space,
            path=self.path.take(index),
            reference=self.reference.take(index),
            goals=self.goals.take(index),
            stopped=self.stopped[index],
            stated_distances=self.stated_distances[index],
            durations=self.durations[index],
            missing=self.missing[index],
            rows=self.rows[index],
            episode_ids=tuple(self.episode_ids[i] for i in index) if self.episode_ids else (),
            events=None if self.events is None else self.events.take(index),
            usage=None if self.usage is None else self.usage.take(index),
            thinking=None if self.thinking is None else self.thinking.take(index),
            viewpoints=None if self.viewpoints is None else self.viewpoints.take(index),
            grounded=None if self.grounded is None else self.grounded[index],
        )

    def chunks(
        self, order: NDArray[np.int64], breaks: NDArray[np.bool_]
    ) -> Iterator[tuple[NDArray[np.int64], Attempts]]:
        """Indices into these attempts and the attempts there, in this order, so that memory stays bounded.

        Chunks begin only where `breaks` (n,) is true, in that order.
        """
        ends = np.cumsum((self.path.counts * self.reference.counts)[order])
        if len(order) and ends[-1] <= MAX_CHUNK and (order == np.arange(len(order))).all():
            yield order, self
            return
        begin = 0
        while begin < len(order):
            before = ends[begin - 1] if begin else 0
            most = int(np.searchsorted(ends, before + MAX_CHUNK, side="right"))
            end = _last_break(breaks, begin, most)
            yield order[begin:end], self.take(order[begin:end])
            begin = end

    @cached_property
    def distances(self) -> Array:
        """Distances path x reference, metres: one row-major block per attempt, concatenated."""
        return distance_blocks(self.space, self.path, self.reference)

    @cached_property
    def goal_distances(self) -> Ragged:
        """The distance of each place of the path from the nearest goal, metres."""
        distances = distance_blocks(self.space, self.path, self.goals)
        per_place = np.repeat(self.goals.counts, self.path.counts)
        if not (per_place == 1).all():
            distances = np.minimum.reduceat(distances, np.cumsum(per_place) - per_place)
        return Ragged(distances, self.path.starts)

    @cached_property
    def shortest(self) -> Array:
        """(n,) the distance from the start to the nearest goal, metres."""
        return np.asarray(self.goal_distances.firsts(), dtype=np.float64)

    @cached_property
    def steps(self) -> Ragged:
        """The length of each step of the path, metres."""
        return Ragged.from_counts(step_lengths(self.space, self.path), self.path.counts - 1)

    @cached_property
    def lengths(self) -> Array:
        """(n,) the length of the path, metres."""
        return self.steps.sums()

    @cached_property
    def reference_lengths(self) -> Array:
        """(n,) the length of the reference path, metres."""
        return Ragged.from_counts(step_lengths(self.space, self.reference), self.reference.counts - 1).sums()

    @cached_property
    def leaves_edges(self) -> NDArray[np.bool_]:
        """(n,) whether some step follows no edge; staying in place follows none. Always false off the graph."""
        if not isinstance(self.space, NavGraph):
            return np.zeros(len(self), dtype=bool)
        joints = self.path.joints
        off_edge = ~self.space.are_adjacent(self.path.values[joints], self.path.values[joints + 1])
        return np.bincount(self.path.owners[joints[off_edge]], minlength=len(self)) > 0

    @cached_property
    def place_indices(self) -> tuple[Ragged, Ragged]:
        """The places of path and reference as integers, equal where the places are equal."""
        if isinstance(self.space, NavGraph):
            return self.path, self.reference
        together = np.concatenate([self.path.values, self.reference.values])
        _, index = np.unique(together, axis=0, return_inverse=True)
        index = index.reshape(-1).astype(np.int64)
        split = len(self.path.values)
        return Ragged(index[:split], self.path.starts), Ragged(index[split:], self.reference.starts)

    @cached_property
    def straight(self) -> Attempts:
        """The same attempts measured by straight lines between positions."""
        if isinstance(self.space, Euclidean):
            return self
        return replace(
            self,
            space=Euclidean(),
            path=self._positions(self.path),
            reference=self._positions(self.reference),
            goals=self._positions(self.goals),
        )

    @cached_property
    def plan(self) -> Attempts:
        """The same attempts seen from above, measured by straight lines: heights are ignored."""
        flat = self.straight
        return replace(flat, path=_flatten(flat.path), reference=_flatten(flat.reference), goals=_flatten(flat.goals))

    def _positions(self, rows: Ragged) -> Ragged:
        points = self.space.positions[rows.values] if isinstance(self.space, NavGraph) else rows.values
        return Ragged(np.ascontiguousarray(points), rows.starts)

    @cached_property
    def without_repeats(self) -> Attempts:
        """The same attempts without the places of a path that equal the place before."""
        return replace(self, path=drop_repeats(self.path))

    @cached_property
    def warping(self) -> Array:
        """(n,) the cost of the best alignment of path and reference (DTW), metres."""
        free = np.zeros(len(self), dtype=bool)
        return self.pinned_warping(free, free)

    def pinned_warping(self, first: NDArray[np.bool_], last: NDArray[np.bool_]) -> Array:
        """(n,) as `warping`, but where `first` (`last`) is true the first (last) reference place is aligned with the
        first (last) place of the path only; inf where no alignment is left."""
        out = np.empty(len(self))
        room = np.empty(self.reference.counts.max(initial=0))
        warping_costs(self.distances, self.path.counts, self.reference.counts, first, last, room, out)
        return out

    def coverage(self, decay: float) -> Array:
        """(n,) the mean over reference places of exp(-distance to the nearest place of the path / decay)."""
        if decay not in self._coverages:
            out = np.empty(len(self))
            room = np.empty(self.reference.counts.max(initial=0))
            coverages(self.distances, self.path.counts, self.reference.counts, decay, room, out)
            self._coverages[decay] = out
        return self._coverages[decay]

    @cached_property
    def _coverages(self) -> dict[float, Array]:
        return {}

    @cached_property
    def approximate_warping(self) -> Array:
        """(n,) the warping cost by straight lines, approximated from coarse to fine with radius 1 (FastDTW)."""
        flat = self.straight
        out = np.empty(len(self))
        approximate_warping_costs(
            flat.path.values, flat.path.starts, flat.reference.values, flat.reference.starts, 1, out
        )
        return out


def _flatten(rows: Ragged) -> Ragged:
    return Ragged(rows.values * np.array([1.0, 1.0, 0.0]) if len(rows.values) else rows.values, rows.starts)


def distance_blocks(space: Space, a: Ragged, b: Ragged) -> Array:
    """Distances a[k] x b[k] of every row k, row-major, concatenated: in one call where the space can, else by row."""
    if isinstance(space, BatchSpace):
        return space.blocks(a, b)
    parts = [np.asarray(space.between(a[k], b[k]), dtype=np.float64).ravel() for k in range(len(a))]
    return np.concatenate(parts) if parts else np.empty(0)


def step_lengths(space: Space, rows: Ragged) -> Array:
    """The length of each step within each row, concatenated: in one call where the space can, else by row."""
    if isinstance(space, BatchSpace):
        return space.steps(rows)
    parts = [np.asarray(space.along(rows[k]), dtype=np.float64) for k in range(len(rows)) if len(rows[k]) > 1]
    return np.concatenate(parts) if parts else np.empty(0)


def _last_break(breaks: NDArray[np.bool_], begin: int, most: int) -> int:
    """The last break after `begin` and up to `most`, or else the first one later, or the end."""
    if most >= len(breaks):
        return len(breaks)
    cuts = begin + 1 + np.flatnonzero(breaks[begin + 1 :])
    soon = cuts[cuts <= most]
    return int(soon[-1]) if len(soon) else int(cuts[0]) if len(cuts) else len(breaks)


def drop_repeats(rows: Ragged) -> Ragged:
    """The rows without every place that equals the one before it."""
    keep = np.ones(len(rows.values), dtype=bool)
    joints = rows.joints
    keep[joints + 1] = ~equal_to_next(rows.values, joints)
    counts = np.bincount(rows.owners[keep], minlength=len(rows)).astype(np.int64)
    return Ragged.from_counts(rows.values[keep], counts)


def equal_to_next(values: NDArray[Any], joints: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(len(joints),) whether values[i] and values[i + 1] are the same place."""
    equal = values[joints] == values[joints + 1]
    return np.asarray(equal.all(axis=-1) if equal.ndim > 1 else equal)


AnyPath: TypeAlias = Sequence[Any] | NDArray[Any]  # (n, 2) or (n, 3) metres, node ids, or a list of such paths
Options = ParamSpec("Options")


class ArrayMetric(Protocol[Options]):
    """A metric of `Attempts`, or of plain paths: a float for one path, an array for a list of paths."""

    __name__: str

    @overload
    def __call__(self, attempts: Attempts, /, *args: Options.args, **options: Options.kwargs) -> Array: ...
    @overload
    def __call__(self, path: AnyPath, reference: AnyPath | None = None, **options: Any) -> Any: ...


def metric_on_arrays(
    needs: Literal["path", "goals", "reference"],
) -> Callable[[Callable[Concatenate[Attempts, Options], Array]], ArrayMetric[Options]]:
    """Decorator: let a metric of `Attempts` take plain arrays as well.

    The metric then also takes `(path, reference, *, goals, space, stopped)`. Paths are (n, 2) or (n, 3) positions in
    metres, or node ids with `space=` the graph; a list of paths gives an array of values. The goal is the last place
    of the reference unless `goals` (a list of places for each path) is given. `needs` says what may not be left out.
    """

    def decorate(measure: Callable[Concatenate[Attempts, Options], Array]) -> ArrayMetric[Options]:
        @wraps(measure)
        def on_arrays(path: Any, reference: Any = None, *args: Any, **options: Any) -> Any:
            if isinstance(path, Attempts):
                return measure(path, *(() if reference is None else (reference,)), *args, **options)
            named = {name: options.pop(name) for name in _ARRAY_OPTIONS if name in options}
            attempts, single = attempts_from_arrays(path, reference, needs=needs, metric=measure.__name__, **named)
            values = measure(attempts, *args, **options)
            return float(values[0]) if single else values

        shown = list(signature(measure).parameters.values())[1:]
        either = Parameter.POSITIONAL_OR_KEYWORD
        on_arrays.__signature__ = signature(measure).replace(  # type: ignore[attr-defined]
            parameters=[
                Parameter("path", either),
                Parameter("reference", either, default=None),
                *shown,
                *(Parameter(name, Parameter.KEYWORD_ONLY, default=value) for name, value in _ARRAY_OPTIONS.items()),
            ]
        )
        return on_arrays  # type: ignore[return-value]

    return decorate


_ARRAY_OPTIONS: dict[str, Any] = {"goals": None, "space": None, "stopped": True}


def attempts_from_arrays(
    path: AnyPath,
    reference: AnyPath | None = None,
    *,
    goals: AnyPath | None = None,
    space: Space | World | None = None,
    stopped: bool | Sequence[bool] = True,
    needs: Literal["path", "goals", "reference"] = "path",
    metric: str = "This metric",
) -> tuple[Attempts, bool]:
    """The attempts of plain paths beside plain references, and whether a single path was given.

    >>> attempts, single = attempts_from_arrays([(0, 0), (3, 4)], [(0, 0), (3, 0), (3, 4)])
    >>> attempts.lengths, attempts.reference_lengths, single
    (array([5.]), array([7.]), True)
    """
    if needs == "reference" and reference is None:
        raise BadArgument(f"{metric} compares two paths: give {metric}(path, reference, …).")
    if needs == "goals" and reference is None and goals is None:
        raise BadArgument(f"{metric} needs a goal: give a reference path, whose end is the goal, or goals=….")
    single = _is_one_path(path)
    paths: list[Any] = [path] if single else list(path)
    where = space.space if isinstance(space, World) else space or Euclidean()
    located = _locate(paths, where, "path")
    references = None if reference is None else [reference] if single else list(reference)
    if goals is not None:
        ends = [_as_places(each) for each in ([goals] if single else list(goals))]
    else:
        ends = [each[-1:] for each in references] if references is not None else [each[-1:] for each in paths]
    for name, given in (("references", references), ("goals", ends)):
        if given is not None and len(given) != len(paths):
            raise BadArgument(f"{len(paths)} paths but {len(given)} {name}: give one for each path.")
    empty = Ragged(np.empty(0, dtype=np.int64), np.zeros(len(paths) + 1, dtype=np.int64))
    attempts = Attempts(
        where,
        located,
        empty if references is None else _locate(references, where, "reference"),
        _locate(ends, where, "goals"),
        np.broadcast_to(np.asarray(stopped, dtype=bool), len(paths)),
    )
    return attempts, single


def _is_one_path(path: Any) -> bool:
    """Whether this is a path of places, not a list of paths."""
    if isinstance(path, np.ndarray) and path.dtype != object:
        return path.ndim < 3
    if not isinstance(path, Sequence | np.ndarray) or isinstance(path, str) or not len(path):
        return True
    first = path[0]
    return isinstance(first, str) or (np.ndim(first) < 2 and not (len(first) and isinstance(first[0], str)))


def _as_places(goals: Any) -> Any:
    """A list of places, where a single place may be given as it is."""
    return [goals] if isinstance(goals, str) or (not isinstance(goals[0], str) and np.ndim(goals) == 1) else goals


def _locate(paths: Sequence[Any], space: Space, name: str) -> Ragged:
    rows = []
    for path in paths:
        if isinstance(path, str) or not hasattr(path, "__len__"):
            raise BadArgument(f"{name} must be an (n, 2) or (n, 3) array of metres or a list of node ids: {path!r}.")
        if not len(path):
            raise BadArgument(f"A {name} has no places. A path contains at least its start.")
        if isinstance(path[0], str):
            if isinstance(space, Euclidean):
                raise BadArgument(f"The {name} contains node ids, which need their graph: give space=worlds[...].")
            rows.append(space.locate(list(path)))
            continue
        points = np.asarray(path, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] not in (2, 3):
            raise BadArgument(f"{name} has shape {points.shape}; expected (n, 2) or (n, 3), metres.")
        rows.append(space.locate(np.pad(points, ((0, 0), (0, 3 - points.shape[1])))))
    return Ragged.from_rows(rows)
