"""Replays of recorded rollouts: the stored actions in the same worlds must lead to the same places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadFile, Fault
from itinera.records import Ending, Phase, Predictions, Rollout, Trajectory
from itinera.runs.guidance import Guide
from itinera.runs.rollout import describe_failure
from itinera.runs.tour_loop import IllegalAction, TourLoop
from itinera.simulators.simulator import STOP, Simulator
from itinera.tasks import Episode, Protocol, Split
from itinera.worlds import World

TOLERANCE = 1e-6  # metres, radians and seconds; far below a step, far above what machines differ by

FIELDS = ("places", "headings", "elevations", "times", "phases", "actions")


@dataclass(frozen=True)
class Difference:
    """The first difference between a stored trajectory and its replay."""

    tour_id: str
    episode_id: str
    step: int  # the index of a place of the trajectory; -1 for the episode as a whole
    field: str
    stored: str
    found: str

    def __str__(self) -> str:
        where = f"step {self.step}, {self.field}" if self.step >= 0 else self.field
        return f'episode "{self.episode_id}", {where}: stored {self.stored}, found {self.found}'


def replay_rollout(
    rollout: Rollout,
    simulator: Simulator,
    world: World,
    episodes: Sequence[Episode],
    *,
    protocol: Protocol,
    guide: Guide | None = None,
) -> tuple[Difference, ...]:
    """The differences between a rollout and its replay, at most one per episode.

    The agent's actions are those stored; oracle phases are computed again.
    """
    loop = TourLoop(simulator, world, episodes, protocol=protocol, guide=guide)
    return tuple(_differences(rollout, _replay(rollout, loop)))


def _replay(rollout: Rollout, loop: TourLoop) -> Sequence[Trajectory]:
    actions = [_agent_actions(trajectory) for trajectory in rollout.trajectories]
    try:
        loop.reset()
    except Exception as error:
        loop.fail(describe_failure(error), lost=True)
    while not loop.done:
        stored = rollout.trajectories[loop.episode_index]
        try:
            if loop.phase is not Phase.ACTING:
                loop.guide()
            elif actions[loop.episode_index]:
                loop.act(actions[loop.episode_index].pop())
            elif stored.ending is Ending.STOPPED:
                loop.act(STOP)
            else:
                loop.fail({}, lost=bool(stored.notes.get("lost")))
        except IllegalAction as error:
            loop.fail({"failed": str(error)})
        except Exception as error:
            loop.fail(describe_failure(error), lost=True)
    return loop.trajectories


def _agent_actions(trajectory: Trajectory) -> list[int]:
    """The agent's own actions, the last one first: those that led to an acting place after the first."""
    if trajectory.actions is None:
        return []
    actions = trajectory.actions.tolist()
    phases = trajectory.phases or (Phase.ACTING,) * len(trajectory.places)
    acted = [i for i, phase in enumerate(phases) if phase is Phase.ACTING]
    return [actions[i - 1] for i in reversed(acted[1:])]


def _differences(rollout: Rollout, found: Sequence[Trajectory]) -> Iterator[Difference]:
    for stored, again in zip(rollout.trajectories, found, strict=True):
        difference = _first_difference(rollout.tour_id, stored, again)
        if difference is not None:
            yield difference


def _first_difference(tour_id: str, stored: Trajectory, again: Trajectory) -> Difference | None:
    differing = [
        (step, rank, name)
        for rank, name in enumerate(FIELDS)
        if (step := _first_differing_step(_column(stored, name), _column(again, name))) is not None
    ]
    if differing:
        step, _, name = min(differing)
        values = (_format_value(_column(stored, name), step), _format_value(_column(again, name), step))
        return Difference(tour_id, stored.episode_id, step, name, *values)
    if stored.ending is not again.ending:
        return Difference(tour_id, stored.episode_id, -1, "ending", stored.ending.value, again.ending.value)
    return None


def _column(trajectory: Trajectory, name: str) -> NDArray[Any] | None:
    values = getattr(trajectory, name)
    if name == "phases":
        return np.array([phase.value for phase in values or (Phase.ACTING,) * len(trajectory.places)])
    return None if values is None else np.asarray(values)


def _first_differing_step(stored: NDArray[Any] | None, found: NDArray[Any] | None) -> int | None:
    """The first step at which two columns differ. Columns that were not stored cannot differ."""
    if stored is None or found is None:
        return None
    if stored.dtype.kind != found.dtype.kind or stored.shape[1:] != found.shape[1:]:
        return 0
    both = min(len(stored), len(found))
    a, b = stored[:both], found[:both]
    same = a == b if a.dtype.kind == "U" else np.isclose(a, b, rtol=0.0, atol=TOLERANCE)
    wrong = np.flatnonzero(~(same.all(axis=1) if same.ndim > 1 else same))
    if len(wrong):
        return int(wrong[0])
    return both if len(stored) != len(found) else None


def _format_value(column: NDArray[Any] | None, step: int) -> str:
    if column is None or step >= len(column):
        return "nothing"
    value = column[step]
    if np.ndim(value):
        return "(" + ", ".join(f"{x:.6f}" for x in value) + ")"
    return str(value) if column.dtype.kind in "Ui" else f"{value:.6f}"


def replay_all(
    rollouts: Sequence[Rollout],
    simulator: Simulator,
    worlds: Mapping[str, World],
    episodes: Mapping[str, Episode],
    *,
    protocol: Protocol,
) -> Iterator[tuple[Difference, ...]]:
    """The differences of each rollout in turn; `episodes` by id."""
    for rollout in rollouts:
        own = [episodes[trajectory.episode_id] for trajectory in rollout.trajectories]
        yield replay_rollout(rollout, simulator, worlds[own[0].world_id], own, protocol=protocol)


def check_replayable(predictions: Predictions, split: Split) -> None:
    """Refuse trajectories without actions, or of episodes that the tasks do not contain."""
    faults = []
    for trajectory in predictions.trajectories:
        where = f'episode "{trajectory.episode_id}"'
        if trajectory.episode_id not in split.by_id:
            faults.append(Fault(where, f"is not in {split.name}.", "Give the tasks of the run."))
        elif trajectory.actions is None:
            faults.append(Fault(where, "has no actions.", "Only predictions of `itinera run` can be replayed."))
    if faults:
        raise BadFile(predictions.source, faults)
