"""Counts that add up: how many candidates a design had, how many it kept, and why it dropped the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Dropped:
    """A candidate that a filter did not let through."""

    reason: str


@dataclass(frozen=True)
class Tally:
    """What became of the candidates of a design. Every one is kept, or counted under the filter that dropped it."""

    candidates: int
    kept: int
    dropped: Mapping[str, int]  # by reason, the commonest first
    cuts: int  # places where episodes were cut, each with one candidate or more
    cuts_kept: int  # of which so many have a candidate that was kept

    def __post_init__(self) -> None:
        assert self.candidates == self.kept + sum(self.dropped.values()), "a candidate was lost"


class TallySheet:
    """What has been counted so far."""

    def __init__(self) -> None:
        self._kept = self._cuts = self._cuts_kept = 0
        self._dropped: Counter[str] = Counter()

    def cut(self, kept: int, reasons: list[str]) -> None:
        """Count one cut, with so many candidates kept and the others dropped for these reasons."""
        assert kept or reasons, "a cut has at least one candidate"
        self._cuts += 1
        self._cuts_kept += kept > 0
        self._kept += kept
        self._dropped.update(reasons)

    def total(self) -> Tally:
        """The counts."""
        commonest = sorted(self._dropped.items(), key=lambda pair: (-pair[1], pair[0]))
        candidates = self._kept + self._dropped.total()
        return Tally(candidates, self._kept, dict(commonest), self._cuts, self._cuts_kept)
