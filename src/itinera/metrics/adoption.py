"""Adopted scores: the metric rows that a system reports, checked against the episodes of a split.

Nothing here is measured: there are no trajectories. `adopt_rows` makes a score table of suite "claimed", which
`compare`, `report` and `power` read, and counts what the released scripts pass over in silence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadFile, Fault
from itinera.records.metric_rows import METRIC_COLUMNS, MetricRow, MetricRows
from itinera.records.scores import EpisodeInfo, ScoreTable
from itinera.records.tables import count_noun
from itinera.tasks import Episode, Protocol, Split
from itinera.worlds import Array

CLAIMED = "claimed"
"""The suite of adopted scores: numbers as the system reports them."""

Missing = Literal["fail", "zero", "drop"]
Duplicates = Literal["fail", "first", "last"]
_UNBOUNDED = ("NE", "ONE", "PL", "steps")
_SHOWN = 5  # ids in a message
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Adoption:
    """Adopted scores and what was wrong with their rows. `print` shows the table and the remarks."""

    scores: ScoreTable
    missing: int  # episodes without a row
    duplicates: int  # rows beyond the first of their episode
    unknown: int  # rows of episodes that the split does not have
    unreadable: int  # files, lines and values that could not be read
    undefined: Mapping[str, int]  # metric -> episodes where it is NaN or infinite
    remarks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        intervals = self.scores.summary().intervals
        means = {name: found.mean if np.isfinite(found.mean) else None for name, found in intervals.items()}
        return {
            "episodes": len(self.scores),
            "missing": self.missing,
            "duplicates": self.duplicates,
            "unknown": self.unknown,
            "undefined": dict(self.undefined),
            "unreadable": self.unreadable,
            "metrics": means,
        }

    def __str__(self) -> str:
        return "\n".join([str(self.scores), *self.remarks])

    def _repr_html_(self) -> str:
        return self.scores._repr_html_()


def adopt_rows(
    found: MetricRows,
    split: Split,
    *,
    protocol: Protocol,
    source: str,
    missing: Missing = "fail",
    duplicates: Duplicates = "fail",
) -> Adoption:
    """The rows as scores of the split's episodes; raises BadFile with every fault.

    missing: "zero" counts an episode without a row as a failure that stays at its start; "drop" leaves it out.
    duplicates: which of several rows of an episode counts.
    """
    by_id: dict[str, list[MetricRow]] = {}
    for row in found.rows:
        by_id.setdefault(row.episode_id, []).append(row)
    absent = [episode.id for episode in split if episode.id not in by_id]
    unknown = [name for name in by_id if name not in split.by_id]
    repeated = {name: rows for name, rows in by_id.items() if len(rows) > 1}
    kept = {name: rows[-1 if duplicates == "last" else 0] for name, rows in by_id.items() if name in split.by_id}
    faults = [
        *_find_id_faults(split, found, by_id, absent, unknown, repeated, missing, duplicates),
        *(_find_range_faults(kept.values())),
    ]
    if missing == "fail":
        faults += found.unreadable
    if faults:
        raise BadFile(source, faults)
    table = _make_table(split, kept, found.metrics, protocol, source)
    if missing == "drop" and absent:
        table = table.select(list(kept), selection="adopted")
    undefined = _count_undefined(table)
    remarks = tuple(_remark(table, found, kept, protocol, len(absent), missing))
    extra = sum(len(rows) - 1 for rows in repeated.values())
    return Adoption(table, len(absent), extra, len(unknown), len(found.unreadable), undefined, remarks)


def _find_id_faults(
    split: Split,
    found: MetricRows,
    by_id: Mapping[str, Sequence[MetricRow]],
    absent: Sequence[str],
    unknown: Sequence[str],
    repeated: Mapping[str, Sequence[MetricRow]],
    missing: Missing,
    duplicates: Duplicates,
) -> Iterator[Fault]:
    if not found.rows:
        problem = "has no row with an episode id and metrics."
        remedy = "Give the file with one row per episode, or name its columns (columns=, --columns)."
        if found.trajectories:
            problem = f"contains trajectories without metrics ({count_noun(found.trajectories, 'record')})."
            remedy = "Score them: itinera score (score), for which `itinera convert --list` names the formats."
        elif found.aggregates:
            problem = f"contains aggregates only ({count_noun(found.aggregates, 'record')} without an episode)."
        yield Fault("", problem, remedy)
        return
    if len(unknown) == len(by_id):
        problem = f"none of the {count_noun(len(by_id), 'episode')} is in {split.name}, such as {unknown[0]!r}."
        remedy = f"Ids of the tasks are such as {split.episodes[0].id!r}. Give the tasks of this file."
        yield Fault("", problem, remedy)
        return
    if unknown:
        problem = f"{count_noun(len(unknown), 'episode')} not in {split.name}: {_list_ids(unknown)}."
        yield Fault("", problem, "Give the tasks of this file, or remove these rows.")
    if absent and missing == "fail":
        problem = f"{count_noun(len(absent), 'episode')} of {len(split):,} without a row: {_list_ids(absent)}."
        remedy = (
            'missing="zero" (--missing zero) counts them as failures, "drop" scores the others as a part of the split.'
        )
        yield Fault("", problem, remedy)
    if repeated and duplicates == "fail":
        places = "; ".join(f"{name} in {', '.join(row.where for row in rows[:2])}" for name, rows in _first(repeated))
        problem = f"{count_noun(len(repeated), 'episode')} with several rows: {places}."
        yield Fault("", problem, 'duplicates="first" or "last" (--duplicates) chooses one of them.')


def _first(repeated: Mapping[str, Sequence[MetricRow]]) -> list[tuple[str, Sequence[MetricRow]]]:
    return list(repeated.items())[:_SHOWN]


def _list_ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else ""
    return f"{', '.join(ids[:_SHOWN])}{more}"


def _find_range_faults(rows: Iterable[MetricRow]) -> Iterator[Fault]:
    """Rates outside 0 to 1, and negative lengths; an error below 0 is remarked on instead."""
    outside: dict[str, list[tuple[MetricRow, float]]] = {}
    for row in rows:
        for name, value in row.values.items():
            low, high = (0.0, np.inf) if name in _UNBOUNDED else (0.0, 1.0)
            if np.isfinite(value) and not low - _TOLERANCE <= value <= high + _TOLERANCE and name not in ("NE", "ONE"):
                outside.setdefault(name, []).append((row, value))
    for name, found in outside.items():
        row, value = found[0]
        problem = f"{count_noun(len(found), 'row')} outside its range, first {value:g} of {row.episode_id}."
        percent = name not in _UNBOUNDED and 1 < value <= 100
        yield Fault(row.where, problem, "Divide percentages by 100." if percent else "Check the column.", name)


def _make_table(
    split: Split, kept: Mapping[str, MetricRow], metrics: Sequence[str], protocol: Protocol, source: str
) -> ScoreTable:
    episodes = list(split)
    absent = np.array([episode.id not in kept for episode in episodes])
    values = {name: np.array([_find_value(name, kept, episode) for episode in episodes]) for name in metrics}
    return ScoreTable(
        episode_ids=tuple(episode.id for episode in episodes),
        world_ids=tuple(episode.world_id for episode in episodes),
        path_ids=tuple(episode.path_id for episode in episodes),
        columns=tuple(METRIC_COLUMNS[name] for name in metrics),
        values=values,
        suite=CLAIMED,
        fingerprint="",
        protocol=protocol,
        missing=absent,
        source=source,
        episode_info=_describe_episodes(episodes),
        part=split.part,
    )


def _find_value(metric: str, kept: Mapping[str, MetricRow], episode: Episode) -> float:
    row = kept.get(episode.id)
    if row is not None:
        return max(row.values.get(metric, np.nan), 0.0) if metric in ("NE", "ONE") else row.values.get(metric, np.nan)
    if metric in ("NE", "ONE"):  # it stays at its start
        return np.nan if episode.stated_distance is None else episode.stated_distance
    return 0.0


def _describe_episodes(episodes: Sequence[Episode]) -> EpisodeInfo | None:
    """What the tasks alone say: the stated distance, and the length of a reference path of points."""
    stated = [np.nan if episode.stated_distance is None else episode.stated_distance for episode in episodes]
    distances = np.array(stated, dtype=np.float64)
    if np.isnan(distances).all():
        return None
    lengths = np.array([_measure_reference(episode) for episode in episodes])
    return EpisodeInfo(distances, lengths, ("",) * len(episodes), np.full(len(episodes), -1))


def _measure_reference(episode: Episode) -> float:
    places = episode.reference
    if not isinstance(places, np.ndarray) or places.ndim != 2 or len(places) < 2:
        return float("nan")
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())


def _count_undefined(table: ScoreTable) -> dict[str, int]:
    counts = {name: int((~np.isfinite(values)).sum()) for name, values in table.items()}
    return {name: count for name, count in counts.items() if count}


def _remark(
    table: ScoreTable,
    found: MetricRows,
    kept: Mapping[str, MetricRow],
    protocol: Protocol,
    absent: int,
    missing: Missing,
) -> Iterator[str]:
    """What a reader of the means should know."""
    yield "These numbers are claimed: they are the system's own rows, and no trajectory was replayed or scored."
    if absent:
        how = "counted as failures" if missing == "zero" else "left out: the scores are of a part of the split"
        yield f"{count_noun(absent, 'episode')} without a row, {how}."
    for name, count in _count_not_finite(kept).items():
        yield (
            f"{name} is NaN or infinite in {count_noun(count, 'episode')}. Here they are undefined; NaVid's script "
            "counts them as 0, NaVILA's leaves them out of NE and SPL only."
        )
    negative = sum(1 for row in kept.values() if row.values.get("NE", 0.0) < 0)
    if negative:
        yield f"NE is negative in {count_noun(negative, 'episode')}; taken as 0, as VLN-PE's script does."
    yield from _remark_on_success(table, protocol)
    if found.unreadable:
        yield f"{count_noun(len(found.unreadable), 'file, line or value')} could not be read: {found.unreadable[0]}"
    if found.aggregates:
        yield f"{count_noun(found.aggregates, 'record')} without an episode id or metrics were left out."
    if found.ignored:
        names = ", ".join(sorted(found.ignored)[:_SHOWN])
        yield f"Unknown columns were left out: {names}. Name them with columns= (--columns NAME=METRIC)."


def _count_not_finite(kept: Mapping[str, MetricRow]) -> Counter[str]:
    return Counter(name for row in kept.values() for name, value in row.values.items() if not np.isfinite(value))


def _remark_on_success(table: ScoreTable, protocol: Protocol) -> Iterator[str]:
    """Rows whose success contradicts their own error or SPL."""
    values: Mapping[str, Array] = table.values
    if "SR" not in values:
        return
    solved: NDArray[np.bool_] = values["SR"] > 0
    if "NE" in values:
        far = int((solved & (values["NE"] > protocol.success_radius + _TOLERANCE)).sum())
        near = int((~solved & ~table.missing & (values["NE"] <= protocol.success_radius - _TOLERANCE)).sum())
        if far:
            yield (
                f"{far:,} successful {'episode ends' if far == 1 else 'episodes end'} farther from the goal than the "
                f"{protocol.success_radius:g} m of protocol {protocol.label}: another radius or distance was used."
            )
        if near and not protocol.needs_stop:
            yield f"{count_noun(near, 'failure')} end within {protocol.success_radius:g} m of the goal."
    for name in ("SPL", "SDTW"):
        if name in values:
            above = int((values[name] > values["SR"] + _TOLERANCE).sum())
            if above:
                yield f"{name} exceeds SR in {count_noun(above, 'episode')}, which no definition allows."
