"""How long agents thought in each episode, and whether their bodies stood still meanwhile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from itinera.records.trajectory import CONTINUED, Ending, Phase, Trajectory
from itinera.worlds import Array

MAX_SECONDS = 1e6  # of a thought
DECISIONS = "decisions"  # the note of a trajectory with the number of its composite actions


@dataclass(frozen=True, eq=False)
class EpisodeThinking:
    """One entry per trajectory; NaN for a missing one. Only the acting phase counts."""

    acts: Array  # (n,) actions that the agent chose, STOP included; NaN where the record has no actions
    seconds: Array  # (n,) in which it chose them; 0 where the record does not say
    waiting: Array  # (n,) those of them in which the body stood still

    @property
    def is_known(self) -> bool:
        """Whether a record says how long the agent thought."""
        return bool((self.seconds > 0).any())

    def take(self, index: NDArray[np.int64]) -> EpisodeThinking:
        """The entries at these indices; NaN at -1."""
        columns = (np.append(getattr(self, column.name), np.nan) for column in fields(self))  # NaN is the last, at -1
        return EpisodeThinking(*(column[index] for column in columns))


def collect_thinking(trajectories: Sequence[Trajectory]) -> EpisodeThinking:
    """How long the agent thought in each of the trajectories."""
    rows = [(_count_acts(t), float(_acting_seconds(t).sum()), float(_waiting(t).sum())) for t in trajectories]
    return EpisodeThinking(*np.array(rows, dtype=np.float64).reshape(-1, 3).T)


def last_wait(trajectory: Trajectory) -> float:
    """Seconds at the last place of the acting phase: those in which the agent chose STOP there."""
    waiting = _waiting(trajectory)
    return float(waiting[-1]) if len(waiting) else 0.0


def motion_times(trajectory: Trajectory) -> Array | None:
    """Seconds at each place of the acting phase, without those in which the body stood still for the agent to think."""
    if trajectory.times is None:
        return None
    times = trajectory.times[_acting_mask(trajectory)]
    if trajectory.thinking is None or not len(times):
        return times
    return np.asarray(times - np.concatenate([[0.0], np.cumsum(_waiting(trajectory)[:-1])]))


def _count_acts(trajectory: Trajectory) -> float:
    if trajectory.actions is None or len(trajectory.actions) != len(trajectory.places) - 1:
        return math.nan
    decisions = trajectory.notes.get(DECISIONS)
    if not isinstance(decisions, int):
        decisions = int(np.count_nonzero(trajectory.acting_steps(trajectory.actions) > 0))
    return float(decisions + (trajectory.ending is Ending.STOPPED))


def _acting_seconds(trajectory: Trajectory) -> Array:
    return np.zeros(0) if trajectory.thinking is None else trajectory.thinking[_acting_mask(trajectory)]


def _waiting(trajectory: Trajectory) -> Array:
    """Seconds at each place of the acting phase in which the body stood still for the agent to think."""
    if trajectory.thinking is None:
        return np.zeros(int(_acting_mask(trajectory).sum()))
    moved = np.zeros(len(trajectory.places), dtype=bool)
    if trajectory.actions is not None and len(trajectory.actions) == len(moved) - 1:
        moved[:-1] = trajectory.actions == CONTINUED
    return np.where(moved, 0.0, trajectory.thinking)[_acting_mask(trajectory)]


def _acting_mask(trajectory: Trajectory) -> NDArray[np.bool_]:
    if trajectory.phases is None:
        return np.ones(len(trajectory.places), dtype=bool)
    return np.array([phase is Phase.ACTING for phase in trajectory.phases], dtype=bool)
