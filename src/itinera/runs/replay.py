"""Replays of recorded rollouts: the stored actions in the same worlds must lead to the same places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault
from itinera.records import Ending, Phase, Predictions, Rollout, Trajectory
from itinera.records.trajectory import CONTINUED
from itinera.runs.guidance import Guide
from itinera.runs.rollout import describe_failure
from itinera.runs.tour_loop import IllegalAction, TourLoop
from itinera.simulators.simulator import STOP, Simulator
from itinera.tasks import Episode, Protocol, Split, Tour
from itinera.worlds import Places, World

TOLERANCE = 1e-6  # metres, radians and seconds; far below a step, far above what machines differ by

FIELDS = ("places", "headings", "elevations", "times", "phases", "actions", "collided")


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
    return tuple(_differences(rollout, _replay(rollout, loop, may_continue=True)))


def _replay(rollout: Rollout, loop: TourLoop, *, may_continue: bool) -> Sequence[Trajectory]:
    """The trajectories of the stored actions; `may_continue` allows bodies that moved while the agent thought."""
    decisions = [_agent_decisions(trajectory, may_continue=may_continue) for trajectory in rollout.trajectories]
    try:
        loop.reset()
    except Exception as error:
        loop.fail(describe_failure(error), lost=True)
    while not loop.done:
        stored = rollout.trajectories[loop.episode_index]
        try:
            if loop.phase is not Phase.ACTING:
                loop.guide()
            elif decisions[loop.episode_index]:
                _decide(loop, decisions[loop.episode_index].pop())
            else:
                loop.fail({}, lost=bool(stored.notes.get("lost")))
        except IllegalAction as error:
            loop.fail({"failed": str(error)})
        except Exception as error:
            loop.fail(describe_failure(error), lost=True)
    return loop.trajectories


@dataclass(frozen=True)
class _Decision:
    """An action of the agent, and the seconds in which it chose it."""

    action: int
    thinking: float | None  # None: the record does not say
    continued: bool = False  # whether the last action went on meanwhile


def _decide(loop: TourLoop, decision: _Decision) -> None:
    if decision.thinking is not None:
        loop.think(decision.thinking, overlap=decision.continued)
    loop.act(decision.action)


def _agent_decisions(trajectory: Trajectory, *, may_continue: bool) -> list[_Decision]:
    """The agent's own decisions, the last one first: the actions after each acting place, and STOP."""
    actions = [] if trajectory.actions is None else trajectory.actions.tolist()
    thinking = [None] * len(trajectory.places) if trajectory.thinking is None else trajectory.thinking.tolist()
    phases = trajectory.phases or (Phase.ACTING,) * len(trajectory.places)
    acted = [i for i, phase in enumerate(phases) if phase is Phase.ACTING]
    taken = [(actions[i], thinking[i]) for i in acted[:-1] if i < len(actions)]
    if trajectory.ending is Ending.STOPPED:
        taken.append((STOP, thinking[acted[-1]] if acted else None))
    decisions: list[_Decision] = []
    continued: float | None = None  # the seconds that the last action went on
    for action, seconds in taken:
        if action == CONTINUED and may_continue:
            continued = (continued or 0.0) + (seconds or 0.0)
            continue
        decisions.append(_Decision(action, seconds if continued is None else continued, continued is not None))
        continued = None
    return decisions[::-1]


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
    return str(value) if column.dtype.kind in "Uib" else f"{value:.6f}"


def replay_tours(
    predictions: Predictions, split: Split, simulator: Simulator, worlds: Mapping[str, World], *, protocol: Protocol
) -> Iterator[tuple[Rollout, tuple[Difference, ...]]]:
    """The replay of each answered tour of a split (or single episode), and its differences.

    Tours, their order and their guidance are those of the split. An episode without a trajectory counts as failed at
    its start; its replay is left out. Start with `find_entry_faults`, which refuses what cannot be replayed.
    """
    stored = {trajectory.episode_id: trajectory for trajectory in predictions}
    for tour in split.tours or tuple(Tour(e.id, e.world_id, (e.id,)) for e in split):
        answered = [name for name in tour.episode_ids if name in stored]
        if not answered:
            continue
        episodes = [split.by_id[name] for name in tour.episode_ids]
        given = tuple(stored.get(episode.id) or _absent(episode) for episode in episodes)
        rollout = Rollout(tour.id, given)
        loop = TourLoop(simulator, _find_world(worlds, tour.world_id), episodes, protocol=protocol)
        found = _replay(rollout, loop, may_continue=False)
        kept = [k for k, name in enumerate(tour.episode_ids) if name in stored]
        claimed, again = (Rollout(tour.id, tuple(many[k] for k in kept)) for many in (given, found))
        yield again, tuple(_differences(claimed, again.trajectories))


def _absent(episode: Episode) -> Trajectory:
    """The stand-in for an episode without a trajectory: no action, and a failure."""
    place = episode.start.place
    places: Places = (place,) if isinstance(place, str) else np.asarray(place)[None]
    return Trajectory(episode.id, places, actions=np.empty(0, dtype=np.int64), ending=Ending.FAILED)


def _find_world(worlds: Mapping[str, World], world_id: str) -> World:
    if world_id not in worlds:
        raise BadArgument(f"World {world_id} is not among the worlds given. Check --worlds.")
    return worlds[world_id]


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
        world = _find_world(worlds, own[0].world_id)
        yield replay_rollout(rollout, simulator, world, own, protocol=protocol)


@dataclass(frozen=True)
class ReplayReport:
    """The differences between stored trajectories and their replay, at most one per episode."""

    differences: tuple[Difference, ...]
    episodes: int  # replayed
    missing: tuple[str, ...]  # episodes of the tasks without a trajectory

    @property
    def identical(self) -> bool:
        """Whether every trajectory is reproduced."""
        return not self.differences


def check_replayable(predictions: Predictions, split: Split) -> None:
    """Refuse predictions that cannot be replayed: faults of the entry, no actions, other tours than the tasks'."""
    faults = [*find_entry_faults(predictions, split), *_tour_faults(predictions, split)]
    faults += [
        Fault(f'episode "{trajectory.episode_id}"', "has no actions.", "Only predictions of `itinera run` have them.")
        for trajectory in predictions
        if trajectory.actions is None
    ]
    if faults:
        raise BadFile(predictions.source, faults)


def find_entry_faults(predictions: Predictions, split: Split) -> Iterator[Fault]:
    """Episodes that the tasks do not contain or that are answered twice, rollouts and trajectories that are empty."""
    if not len(predictions.rollouts):
        yield Fault("", "contains no rollouts.", "Run the agent again.")
    seen: set[str] = set()
    for number, rollout in enumerate(predictions.rollouts, start=1):
        if not rollout.trajectories:
            yield Fault(f'rollout {number} ("{rollout.tour_id}")', "has no trajectories.", "Leave it out.")
        for trajectory in rollout.trajectories:
            where = f'episode "{trajectory.episode_id}"'
            if trajectory.episode_id not in split.by_id:
                yield Fault(where, f"is not in {split.name}.", "Give the tasks of the run.")
            elif trajectory.episode_id in seen:
                yield Fault(where, "has two trajectories.", "Keep one trajectory for each episode.")
            if not len(trajectory.acting_places):
                yield Fault(where, "has no places.", "A trajectory must include its start.")
            seen.add(trajectory.episode_id)


def _tour_faults(predictions: Predictions, split: Split) -> Iterator[Fault]:
    tours = {tour.id: tour.episode_ids for tour in split.tours}
    for rollout in predictions.rollouts if tours else ():
        ids = tuple(trajectory.episode_id for trajectory in rollout.trajectories)
        expected = tours.get(rollout.tour_id)
        if expected is None or ids != expected[: len(ids)]:  # a run may have ended within a tour
            problem = "is not a tour of these tasks." if expected is None else "visits other episodes than the tour."
            yield Fault(f'rollout "{rollout.tour_id}"', problem, "Give the tours of the run.")
