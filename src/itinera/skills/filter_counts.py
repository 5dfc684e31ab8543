"""Counts of the candidate trials a design kept, and of those it dropped, by reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from itinera.formats.trials import FilterCounts


@dataclass(frozen=True)
class RejectedTrial:
    """A candidate trial that a filter rejected."""

    reason: str


class FilterCounter:
    """Accumulates filter counts, one truncation at a time."""

    def __init__(self) -> None:
        self._kept = self._truncations = self._truncations_kept = 0
        self._dropped: Counter[str] = Counter()

    def add(self, kept: int, reasons: list[str]) -> None:
        """Count one truncation with `kept` candidates that passed; the others were dropped for these reasons."""
        assert kept or reasons, "a truncation has at least one candidate"
        self._truncations += 1
        self._truncations_kept += kept > 0
        self._kept += kept
        self._dropped.update(reasons)

    def total(self) -> FilterCounts:
        """The counts so far; reasons from the most to the least frequent."""
        reasons = sorted(self._dropped.items(), key=lambda pair: (-pair[1], pair[0]))
        candidates = self._kept + self._dropped.total()
        return FilterCounts(candidates, self._kept, dict(reasons), self._truncations, self._truncations_kept)
