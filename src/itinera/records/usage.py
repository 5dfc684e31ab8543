"""What agents took in each episode: calls of a language model, tokens, dollars, and answers that named no action."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.records.trajectory import Trajectory
from itinera.worlds import Array

NOTE = "usage"  # the note of a trajectory that contains it


@dataclass(frozen=True, eq=False)
class EpisodeUsage:
    """One entry per trajectory; NaN where a record does not say, and for a missing trajectory."""

    calls: Array  # (n,) answers of the model
    prompt_tokens: Array  # (n,)
    completion_tokens: Array  # (n,)
    cost: Array  # (n,) US dollars
    unparsable: Array  # (n,) answers that named no possible action

    def take(self, index: NDArray[np.int64]) -> EpisodeUsage:
        """The entries at these indices; NaN at -1."""
        columns = (getattr(self, column.name) for column in fields(self))
        return EpisodeUsage(*(np.where(index < 0, np.nan, column[index]) for column in columns))


def collect_usage(trajectories: Sequence[Trajectory]) -> EpisodeUsage | None:
    """The usage that records state; None if none does."""
    notes = [trajectory.notes.get(NOTE) for trajectory in trajectories]
    if not any(isinstance(note, dict) for note in notes):
        return None
    names = [column.name for column in fields(EpisodeUsage)]
    rows = [[_number(note.get(name)) if isinstance(note, dict) else math.nan for name in names] for note in notes]
    return EpisodeUsage(*np.array(rows, dtype=np.float64).T)


def _number(value: Any) -> float:
    """The value if it is a number that can be an amount, else NaN."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < 2**53 else math.nan
