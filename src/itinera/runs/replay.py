"""Walks done again: the stored actions in the same worlds must lead to the same places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.records import Ending, Phase, Rollout, Trajectory
from itinera.runs.guidance import Leader
from itinera.runs.rollout import failure
from itinera.runs.tour_loop import IllegalAction, Stage
from itinera.simulators.simulator import STOP, Simulator
from itinera.tasks import Episode, Protocol
from itinera.worlds import World

TOLERANCE = 1e-6  # metres, radians and seconds; far below a step, far above what machines differ by

FIELDS = ("places", "headings", "elevations", "times", "phases", "actions")


@dataclass(frozen=True)
class Difference:
    """Where a walk done again first parts from the one stored."""

    tour_id: str
    episode_id: str
    step: int  # the place of the trajectory, its first being 0; -1 for the episode as a whole
    field: str
    stored: str
    found: str

    def __str__(self) -> str:
        where = f"step {self.step}, {self.field}" if self.step >= 0 else self.field
        return f'episode "{self.episode_id}", {where}: stored {self.stored}, found {self.found}'


def replay(
    walk: Rollout,
    simulator: Simulator,
    world: World,
    episodes: Sequence[Episode],
    *,
    protocol: Protocol,
    leader: Leader | None = None,
) -> tuple[Difference, ...]:
    """What differs when a walk is done again, at most one difference for each of its episodes.

    The agent's actions are those stored; where it was led, the leader leads it again.
    """
    return tuple(_differences(walk, _again(walk, Stage(simulator, world, episodes, protocol=protocol, leader=leader))))


def _again(walk: Rollout, stage: Stage) -> Sequence[Trajectory]:
    actions = [_script(trajectory) for trajectory in walk.trajectories]
    try:
        stage.open()
    except Exception as error:
        stage.fail(failure(error), lost=True)
    while not stage.over:
        stored = walk.trajectories[stage.number]
        try:
            if stage.phase is not Phase.ACTING:
                stage.lead()
            elif actions[stage.number]:
                stage.act(actions[stage.number].pop())
            elif stored.ending is Ending.STOPPED:
                stage.act(STOP)
            else:
                stage.fail({}, lost=bool(stored.notes.get("lost")))
        except IllegalAction as error:
            stage.fail({"failed": str(error)})
        except Exception as error:
            stage.fail(failure(error), lost=True)
    return stage.trajectories


def _script(trajectory: Trajectory) -> list[int]:
    """The agent's own actions, the last one first: those that led to an acting place other than the first."""
    if trajectory.actions is None:
        return []
    actions = trajectory.actions.tolist()
    phases = trajectory.phases or (Phase.ACTING,) * len(trajectory.places)
    acted = [i for i, phase in enumerate(phases) if phase is Phase.ACTING]
    return [actions[i - 1] for i in reversed(acted[1:])]


def _differences(walk: Rollout, found: Sequence[Trajectory]) -> Iterator[Difference]:
    for stored, again in zip(walk.trajectories, found, strict=True):
        difference = _first_difference(walk.tour_id, stored, again)
        if difference is not None:
            yield difference


def _first_difference(tour_id: str, stored: Trajectory, again: Trajectory) -> Difference | None:
    parted = [
        (step, rank, name)
        for rank, name in enumerate(FIELDS)
        if (step := _parting(_column(stored, name), _column(again, name))) is not None
    ]
    if parted:
        step, _, name = min(parted)
        told = (_told(_column(stored, name), step), _told(_column(again, name), step))
        return Difference(tour_id, stored.episode_id, step, name, *told)
    if stored.ending is not again.ending:
        return Difference(tour_id, stored.episode_id, -1, "ending", stored.ending.value, again.ending.value)
    return None


def _column(trajectory: Trajectory, name: str) -> NDArray[Any] | None:
    values = getattr(trajectory, name)
    if name == "phases":
        return np.array([phase.value for phase in values or (Phase.ACTING,) * len(trajectory.places)])
    return None if values is None else np.asarray(values)


def _parting(stored: NDArray[Any] | None, found: NDArray[Any] | None) -> int | None:
    """The first step at which two columns differ. What was not stored cannot differ."""
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


def _told(column: NDArray[Any] | None, step: int) -> str:
    if column is None or step >= len(column):
        return "nothing"
    value = column[step]
    if np.ndim(value):
        return "(" + ", ".join(f"{x:.6f}" for x in value) + ")"
    return str(value) if column.dtype.kind in "Ui" else f"{value:.6f}"


def replay_all(
    walks: Sequence[Rollout],
    simulator: Simulator,
    worlds: Mapping[str, World],
    episodes: Mapping[str, Episode],
    *,
    protocol: Protocol,
) -> Iterator[tuple[Difference, ...]]:
    """The differences of each walk in turn; `episodes` by id."""
    for walk in walks:
        asked = [episodes[trajectory.episode_id] for trajectory in walk.trajectories]
        yield replay(walk, simulator, worlds[asked[0].world_id], asked, protocol=protocol)
