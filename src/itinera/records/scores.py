"""Score tables: a row per episode and per tour, with everything needed to know how the numbers were made.

Like a data frame: `len` is the number of rows, iteration yields metric names, `table["SPL"]` is a column. `interval`
and `print` give means with confidence intervals.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, MissingPackage
from itinera.records.provenance import Provenance
from itinera.tasks.fastest_times import ReferenceRobot
from itinera.tasks.protocol import Protocol
from itinera.tasks.split import SplitPart, digest_ids
from itinera.worlds import Array

if TYPE_CHECKING:
    from itinera.records.summary import Summary
    from itinera.stats import Interval


@dataclass(frozen=True)
class Column:
    """The name, unit and direction of a metric."""

    name: str
    unit: Literal["", "m", "steps", "s", "calls", "tokens", "USD"] = ""  # without a unit: a fraction between 0 and 1
    better: Literal["higher", "lower", "neither"] = "higher"


class _Columns:
    """What both tables share: metric names as keys, arrays as values."""

    columns: tuple[Column, ...]
    values: Mapping[str, Array]

    def __getitem__(self, metric: str) -> Array:
        try:
            return self.values[metric]
        except (KeyError, TypeError):
            raise KeyError(self._unknown(metric)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __contains__(self, metric: object) -> bool:
        return metric in self.values

    def keys(self) -> list[str]:
        """The names of the metrics."""
        return list(self.values)

    def items(self) -> list[tuple[str, Array]]:
        """Metric names with their columns."""
        return list(self.values.items())

    def to_dicts(self) -> list[dict[str, Any]]:
        """A plain dict per row: ids, then the value of every metric (NaN where undefined)."""
        ids = self._ids()
        columns = [*ids.values(), *(self.values[name].tolist() for name in self.values)]
        names = [*ids, *self.values]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row per episode (or tour), indexed by its id, and a column per metric."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise MissingPackage("to_pandas()", "pandas") from None
        ids = self._ids()
        return DataFrame({**ids, **self.values}).set_index(next(iter(ids)))

    def _ids(self) -> dict[str, Any]:
        raise NotImplementedError

    def _unknown(self, metric: object) -> str:
        return _suggest(metric, list(self.values))


def _suggest(metric: object, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(str(metric), known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"no metric {metric!r}; there are {', '.join(known)}.{hint}"


@dataclass(frozen=True, eq=False, repr=False)
class TourTable(_Columns):
    """A row per tour: the value of each tour metric, and the weight of the tour in that metric's mean."""

    tour_ids: tuple[str, ...]
    world_ids: tuple[str, ...]
    columns: tuple[Column, ...]
    values: Mapping[str, Array]  # metric -> (tours,), NaN where undefined
    weights: Mapping[str, Array]  # metric -> (tours,)

    def __len__(self) -> int:
        return len(self.tour_ids)

    def without(self, tour_ids: Collection[str]) -> TourTable | None:
        """The table without these tours; None if none is left."""
        rows = [i for i, name in enumerate(self.tour_ids) if name not in tour_ids]
        if not rows:
            return None
        return replace(
            self,
            tour_ids=tuple(self.tour_ids[i] for i in rows),
            world_ids=tuple(self.world_ids[i] for i in rows),
            values={name: column[rows] for name, column in self.values.items()},
            weights={name: column[rows] for name, column in self.weights.items()},
        )

    def __repr__(self) -> str:
        return f"TourTable({len(self)} tours: {', '.join(self.values)})"

    def _ids(self) -> dict[str, Any]:
        return {"tour_id": self.tour_ids, "world_id": self.world_ids}


@dataclass(frozen=True, eq=False)
class EpisodeInfo:
    """Properties of each episode that do not depend on the agent, for breakdowns of the scores."""

    goal_distances: Array  # (episodes,) metres from the start to the nearest goal, inf where it is unreachable
    reference_lengths: Array  # (episodes,) metres along the reference path, NaN where there is none
    tour_ids: tuple[str, ...]  # (episodes,) the tour of the episode, "" for none
    tour_positions: NDArray[np.int64]  # (episodes,) number of earlier episodes of the tour, -1 where there is no tour

    def take(self, rows: NDArray[np.int64]) -> EpisodeInfo:
        """The properties of some episodes."""
        return EpisodeInfo(
            self.goal_distances[rows],
            self.reference_lengths[rows],
            tuple(self.tour_ids[i] for i in rows) if self.tour_ids else (),
            self.tour_positions[rows],
        )

    def tours_outside(self, rows: NDArray[np.int64]) -> list[str]:
        """The tours with an episode that is not among these rows."""
        inside = set(rows.tolist())
        return [name for i, name in enumerate(self.tour_ids) if name and i not in inside]


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable(_Columns):
    """A row per episode: the value of each metric, NaN where it is undefined.

    >>> scores = ScoreTable.from_values({"SR": [1.0, 0.0, 1.0]}, world_ids=["a", "a", "b"])
    >>> len(scores), list(scores), scores.mean("SR")
    (3, ['SR'], 0.6666666666666666)
    """

    episode_ids: tuple[str, ...]
    world_ids: tuple[str, ...]
    path_ids: tuple[str, ...]
    columns: tuple[Column, ...]
    values: Mapping[str, Array]  # metric -> (episodes,)
    suite: str
    fingerprint: str  # of every definition and convention of the suite
    protocol: Protocol
    missing: NDArray[np.bool_]  # (episodes,) no trajectory was given; counted as zero
    tours: TourTable | None = None
    provenance: Provenance | None = None
    source: str = ""  # the file the predictions came from
    robot: ReferenceRobot | None = None  # the robot whose fastest times SCT is weighted by, if any
    episode_info: EpisodeInfo | None = None  # absent in bundles of earlier versions
    weights: Mapping[str, Array] = field(default_factory=dict)  # metric -> (episodes,) where episodes weigh differently
    part: SplitPart | None = None  # which part of the split these episodes are; None for the whole
    runs: tuple[ScoreTable, ...] = ()  # whose mean this table is, in the same order of episodes; see `average_runs`

    @classmethod
    def from_values(
        cls, values: Mapping[str, Any], *, world_ids: Any, episode_ids: Any = None, path_ids: Any = None
    ) -> ScoreTable:
        """A table of metric columns made elsewhere, such as by a simulator of your own. Rates are fractions.

        `world_ids` names the scene of each row, the cluster of the confidence intervals.
        """
        arrays = {name: np.asarray(column, dtype=np.float64) for name, column in values.items()}
        count = len(world_ids)
        return cls(
            episode_ids=tuple(map(str, range(count) if episode_ids is None else episode_ids)),
            world_ids=tuple(map(str, world_ids)),
            path_ids=("",) * count if path_ids is None else tuple(map(str, path_ids)),
            columns=tuple(Column(name) for name in arrays),
            values=arrays,
            suite="",
            fingerprint="",
            protocol=Protocol(""),
            missing=np.zeros(count, dtype=bool),
        )

    def __len__(self) -> int:
        return len(self.episode_ids)

    def select(self, episode_ids: Collection[str], *, selection: str = "") -> ScoreTable:
        """The rows of these episodes, in the order of the table, and the tours that lie within them."""
        wanted = set(episode_ids)
        rows = np.array([i for i, name in enumerate(self.episode_ids) if name in wanted], dtype=np.int64)
        if len(rows) == len(self):
            return self
        chosen = " ".join(filter(None, ("" if self.part is None else self.part.selection, selection)))
        ids = tuple(self.episode_ids[i] for i in rows)
        info = self.episode_info
        return replace(
            self.take(rows),
            tours=None if self.tours is None or info is None else self.tours.without(set(info.tours_outside(rows))),
            part=SplitPart(len(self) if self.part is None else self.part.total, digest_ids(ids), chosen),
            runs=tuple(run.select(episode_ids, selection=selection) for run in self.runs),
        )

    def choose(self, metrics: Sequence[str]) -> ScoreTable:
        """The table with only these metrics in its summary, in this order; the values of the others are kept.

        >>> scores = ScoreTable.from_values({"SR": [1, 0], "SPL": [0.5, 0]}, world_ids=["a", "b"])
        >>> [column.name for column in scores.choose(["SPL"]).columns]
        ['SPL']
        """
        of_tours = () if self.tours is None else self.tours.columns
        known = {column.name: column for column in (*self.columns, *of_tours)}
        for name in metrics:
            if name not in known:
                raise BadArgument(f"metrics (--metrics): {_suggest(name, list(known))}")
        inside = {column.name for column in self.columns}
        chosen = [known[name] for name in dict.fromkeys(metrics)]
        tours = None if self.tours is None else replace(
            self.tours, columns=tuple(column for column in chosen if column.name not in inside)
        )  # fmt: skip
        return replace(self, columns=tuple(column for column in chosen if column.name in inside), tours=tours)

    def take(self, rows: NDArray[np.int64]) -> ScoreTable:
        """The episodes at these places, in this order, with all tours."""
        return replace(
            self,
            episode_ids=tuple(self.episode_ids[i] for i in rows),
            world_ids=tuple(self.world_ids[i] for i in rows),
            path_ids=tuple(self.path_ids[i] for i in rows),
            values={name: column[rows] for name, column in self.values.items()},
            missing=self.missing[rows],
            episode_info=None if self.episode_info is None else self.episode_info.take(rows),
            weights={name: column[rows] for name, column in self.weights.items()},
            runs=tuple(run.take(rows) for run in self.runs),
        )

    def mean(self, metric: str) -> float:
        """The mean of a metric, over tours for a tour metric; rows where it is undefined are left out."""
        return self.interval(metric).mean

    def interval(self, metric: str, *, level: float = 0.95) -> Interval:
        """The mean of a metric with its confidence interval, clustered by scene as `itinera score` prints it."""
        from itinera.records.summary import metric_interval

        if metric not in self and (self.tours is None or metric not in self.tours):
            raise KeyError(self._unknown(metric))
        return metric_interval(self, metric, level=level)

    def summary(self, *, level: float = 0.95) -> Summary:
        """The mean of every metric with its confidence interval."""
        from itinera.records.summary import summarize

        return summarize(self, level=level)

    def __repr__(self) -> str:
        names = ", ".join(self.values)
        scenes = len(set(self.world_ids))
        suite = f", suite {self.suite}" if self.suite else ""
        of = "" if self.part is None else f" of {self.part.total}"
        runs = f", {len(self.runs)} runs" if self.runs else ""
        return f"ScoreTable({len(self)}{of} episodes in {scenes} scenes{suite}{runs}: {names})"

    def __str__(self) -> str:
        from itinera.records.summary import summary_table

        return str(summary_table(self.summary()))

    def _repr_html_(self) -> str:
        from itinera.records.summary import summary_table

        return summary_table(self.summary())._repr_html_()

    def _ids(self) -> dict[str, Any]:
        ids: dict[str, Any] = {"episode_id": self.episode_ids, "world_id": self.world_ids, "path_id": self.path_ids}
        return ids | ({"missing": self.missing.tolist()} if self.missing.any() else {})

    def _unknown(self, metric: object) -> str:
        if self.tours is not None and metric in self.tours:
            return f"{metric!r} is a tour metric: table.tours[{metric!r}], or table.interval({metric!r})."
        return super()._unknown(metric)
