"""The worst failures of an agent: how each ended, how far from the goal, and the instruction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from itinera.errors import BadArgument
from itinera.records import Column, ScoreTable
from itinera.records.tables import TextTable, format_number
from itinera.reports.benchmark import group_by_benchmark
from itinera.reports.breakdown import classify_failures


@dataclass(frozen=True)
class Failure:
    """One failed episode."""

    episode_id: str
    world_id: str
    outcome: str  # such as "passed the goal and ended elsewhere"
    error: float  # metres from the end to the goal, inf where it is unreachable
    instruction: str
    first_fault: str = ""  # the clause at which it departs, where words are aligned with places


@dataclass(frozen=True, repr=False)
class FailureList:
    """The worst failures of an agent, the farthest from the goal first. `print` shows them with their instructions."""

    failures: tuple[Failure, ...]
    failed: int  # of all episodes scored
    episodes: int

    @property
    def episode_ids(self) -> list[str]:
        return [failure.episode_id for failure in self.failures]

    def __len__(self) -> int:
        return len(self.failures)

    def __iter__(self) -> Iterator[Failure]:
        return iter(self.failures)

    @property
    def title(self) -> str:
        return f"{self.failed:,} of {self.episodes:,} episodes failed; the {len(self)} farthest from the goal:"

    def lines(self) -> Iterator[str]:
        """Two or three lines for each failure: what happened, the instruction, and where it departs from it."""
        for failure in self.failures:
            error = format_number(Column("NE", "m"), failure.error)
            yield f"{failure.episode_id} in {failure.world_id}: {error} m from the goal, {failure.outcome}"
            yield f"    {' '.join(failure.instruction.split()) or '(no instruction)'}"
            if failure.first_fault:
                yield f"    {failure.first_fault}"

    def to_dicts(self) -> list[dict[str, Any]]:
        """A plain dict per failure."""
        return [asdict(failure) for failure in self.failures]

    def to_table(self) -> TextTable:
        """A row per failure."""
        rows = (
            (f.episode_id, f.world_id, format_number(Column("NE", "m"), f.error), f.outcome, f.instruction.strip())
            for f in self.failures
        )
        return TextTable(("episode", "scene", "NE m", "outcome", "instruction"), tuple(rows), self.title)

    def __repr__(self) -> str:
        return f"FailureList({len(self)} of {self.failed} failures)"

    def __str__(self) -> str:
        return "\n".join([self.title, *self.lines()])

    def _repr_html_(self) -> str:
        return self.to_table()._repr_html_()


def find_failures(
    table: ScoreTable,
    instructions: Mapping[str, str],
    count: int,
    first_faults: Mapping[str, str] = MappingProxyType({}),
) -> FailureList:
    """The `count` failures that ended farthest from the goal; raises BadArgument without SR and NE.

    `first_faults` are sentences by episode id.
    """
    if count < 1:
        raise BadArgument(f"count (--failures) must be ≥ 1 (got {count}).")
    found = classify_failures(next(group_by_benchmark(["agent"], [table])), 0)
    if found is None or "NE" not in table:
        raise BadArgument(f"Suite {table.suite} has no SR and NE, so failures cannot be found.")
    outcomes = {row: kind for kind, rows in found.kinds.items() for row in rows.tolist()}
    errors = table["NE"]
    worst = sorted(outcomes, key=lambda row: (-np.nan_to_num(errors[row], posinf=np.inf), row))[:count]
    failures = (
        Failure(
            table.episode_ids[row],
            table.world_ids[row],
            outcomes[row],
            float(errors[row]),
            instructions.get(table.episode_ids[row], ""),
            first_faults.get(table.episode_ids[row], ""),
        )
        for row in worst
    )
    return FailureList(tuple(failures), found.total, len(table))
