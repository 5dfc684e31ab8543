"""Metric rows: the metrics of single episodes as a system reports them, without trajectories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from itinera.errors import Fault
from itinera.records.scores import Column

METRIC_COLUMNS: Mapping[str, Column] = MappingProxyType(
    {name: Column(name) for name in ("SR", "OSR", "SPL", "SoftSPL", "nDTW", "SDTW", "CLS", "TR")}
    | {name: Column(name, "", "lower") for name in ("collision rate", "FR", "StR")}
    | {"NE": Column("NE", "m", "lower"), "ONE": Column("ONE", "m", "lower")}
    | {"PL": Column("PL", "m", "neither"), "steps": Column("steps", "steps", "neither")}
)


@dataclass(frozen=True)
class MetricRow:
    """The metrics of one episode as a system reports them."""

    episode_id: str
    values: Mapping[str, float]  # by our name; NaN or infinite as in the file
    where: str  # file and line or record, for messages


@dataclass(frozen=True)
class MetricRows:
    """The rows of one system, in the order of its files."""

    rows: tuple[MetricRow, ...]
    unreadable: tuple[Fault, ...] = ()  # files, lines or values that are none
    aggregates: int = 0  # records without an id, which summarize others
    ignored: Mapping[str, int] = field(default_factory=dict)  # column -> rows that have it and no metric of ours does
    trajectories: int = 0  # records with a trajectory and no metrics

    @property
    def metrics(self) -> list[str]:
        """The metrics that any row has, in the order of `METRIC_COLUMNS`, others after them."""
        found = dict.fromkeys(name for row in self.rows for name in row.values)
        return sorted(found, key=lambda name: [*METRIC_COLUMNS, name].index(name))
