"""Rewards: functions from a transition to a number, passed to an environment.

The four here are from two papers; a reward of yours is any function of a `Transition`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from os import PathLike
from typing import TypeAlias, cast

import numpy as np

from itinera.errors import BadArgument
from itinera.formats.goal_tables import GoalTableFolder
from itinera.metrics.attempts import Attempts
from itinera.metrics.fidelity import cls
from itinera.metrics.goal import success
from itinera.records import Ending
from itinera.simulators.pointnav.house_set import episode_goals
from itinera.tasks import Episode, Protocol
from itinera.worlds import Array, Euclidean, NavGraph, Place, Places, Ragged, Space, World
from itinera.worlds._goal_table_kernels import MAX_TURNS
from itinera.worlds.goal_table import GoalTable
from itinera.worlds.surface import Surface

SLACK = 0.01  # subtracted from the reward of every step by `shaped_reward` and `DecayingReward`
SUCCESS_REWARD = 2.5  # of the same
CACHE_SIZE = 256  # goals on the ground whose distances are kept, a sixth to a third of a megabyte each

_UNREWARDED = (None, Ending.FAILED, Ending.FELL, Ending.STUCK)  # None: the episode continues
Distance: TypeAlias = Callable[[Place], float]  # metres from a place
FindDistance: TypeAlias = Callable[[World, Episode], Distance]  # to the nearest goal of an episode


@dataclass(frozen=True, eq=False)
class Transition:
    """One step of an agent, with everything a reward may need."""

    episode: Episode
    world: World
    protocol: Protocol
    action: int
    previous_place: Place  # where the action was chosen
    places: Sequence[Place]  # of this episode, from the start to the current place; grows with every step
    ending: Ending | None  # None: the episode continues
    distance_to_goal: Distance  # to the nearest goal by the world's own distance; cached

    @property
    def progress(self) -> float:
        """Metres by which the step reduced the distance to the goal; 0 if the goal cannot be reached."""
        reduced = self.distance_to_goal(self.previous_place) - self.distance_to_goal(self.places[-1])
        return reduced if math.isfinite(reduced) else 0.0

    @property
    def is_success(self) -> bool:
        """Whether the episode ended in success by its protocol; a failed episode did not, wherever it ended."""
        if self.ending in _UNREWARDED:
            return False
        distance = self.distance_to_goal(self.places[-1])
        if math.isinf(distance):
            return False
        # The distance is known already, so the goal may as well lie along a straight line.
        place, goal = np.array([[distance, 0.0, 0.0]]), np.zeros((1, 3))
        near = self._attempt(Euclidean(), place, place, goal)
        return bool(success(near, radius=self.protocol.success_radius, needs_stop=self.protocol.needs_stop)[0])

    @property
    def attempt(self) -> Attempts:
        """The path so far beside its episode, as metrics take it: a batch of one."""
        on_graph = isinstance(self.places[0], str)
        path = self.places if on_graph else np.array(self.places, dtype=np.float64)
        return self._attempt(self.world.space, cast(Places, path), self.episode.reference, self.episode.goals)

    def _attempt(self, space: Space, path: Places, reference: Places, goals: Places) -> Attempts:
        return Attempts(
            space,
            path=Ragged.from_rows([space.locate(path)]),
            reference=Ragged.from_rows([space.locate(reference)]),
            goals=Ragged.from_rows([space.locate(goals)]),
            stopped=np.array([self.ending is Ending.STOPPED]),
        )


Reward: TypeAlias = Callable[[Transition], float]


def goal_oriented_reward(transition: Transition) -> float:
    """The goal-oriented reward: progress to the goal in metres, and 1 for success at the end.

    If an episode runs out of steps, its last step gets both.
    Reference: Jain et al. 2019, Stay on the Path, equation 11.
    """
    return transition.progress + transition.is_success


def fidelity_oriented_reward(transition: Transition) -> float:
    """The fidelity-oriented reward: 0 until the end, then 1 for success plus CLS.

    Reference: Jain et al. 2019, Stay on the Path, equation 12.
    """
    if transition.ending in _UNREWARDED:
        return 0.0
    if not len(transition.episode.reference):
        raise BadArgument(
            f"Episode {transition.episode.id} has no reference path, which this reward needs. Use another reward."
        )
    fidelity = cls(transition.attempt, threshold=transition.protocol.success_radius)
    return transition.is_success + float(fidelity[0])


def shaped_reward(transition: Transition) -> float:
    """Progress to the goal in metres minus 0.01 per step, and 2.5 for success at the end.

    Reference: Yokoyama et al. 2021, Success Weighted by Completion Time, equation 3.
    """
    return transition.progress - SLACK + SUCCESS_REWARD * transition.is_success


class DecayingReward:
    """`shaped_reward` whose progress term decays linearly to 0 over a number of steps.

    All environments of a process that share an object share its count of steps. To resume training, set `taken`.
    Reference: Yokoyama et al. 2021, Success Weighted by Completion Time, equation 4.
    """

    def __init__(self, steps: int) -> None:
        if steps < 1:
            raise BadArgument(f"steps must be ≥ 1 (got {steps}).")
        self.steps = steps
        self.taken = 0

    def __call__(self, transition: Transition) -> float:
        share = max(0.0, 1.0 - self.taken / self.steps)
        self.taken += 1
        # Progress is not computed once it has no weight, which saves the distances.
        progress = share * transition.progress if share else 0.0
        return progress - SLACK + SUCCESS_REWARD * transition.is_success


def distance_to_goal(world: World, episode: Episode) -> Distance:
    """The distance from any place to an episode's nearest goal, computed on first use."""
    measure = cache(lambda: _measure(world.space, episode))
    last: tuple[Place | None, float] = None, 0.0  # a step begins where the last one ended

    def distance(place: Place) -> float:
        nonlocal last
        if place is not last[0]:
            last = place, measure()(place)
        return last[1]

    return distance


def _measure(space: Space, episode: Episode) -> Distance:
    goals = episode.goals
    if episode.goals_withheld:
        raise BadArgument(f"The goal of episode {episode.id} is withheld. Use a reward that needs none.")
    if isinstance(space, NavGraph):
        index, distances = space.index, space.distances[:, space.locate(goals)].min(axis=1)
        return lambda place: float(distances[index[str(place)]])
    if isinstance(space, Surface):
        distances = _ground_distances(space, tuple(map(tuple, np.asarray(goals, dtype=np.float64).tolist())))
        return lambda place: float(distances(np.asarray(place)[None])[0])
    return lambda place: float(space.between(cast(Places, [place]), goals)[0].min())


@lru_cache(CACHE_SIZE)
def _ground_distances(surface: Surface, goals: tuple[tuple[float, ...], ...]) -> Callable[[Array], Array]:
    """The distances to the nearest goal; 30 to 40 ms the first time."""
    field = surface.field(np.array(goals))
    if len(field.turns) > MAX_TURNS:
        return field.distances
    return partial(GoalTable.from_fields([field], np.array(goals[:1])).distances, surface.ground, 0)


class TabledDistances:
    """`distance_to_goal` for episodes with one goal each, by goal tables in a folder instead of fields in memory.

    The first episode of a house makes the table of all its goals, or reads it; no later one has to wait.
    """

    def __init__(self, episodes: Sequence[Episode], folder: str | PathLike[str]) -> None:
        self._find_table, self._goals = GoalTableFolder(folder), episode_goals(episodes)
        self._tables: dict[str, GoalTable] = {}

    def __call__(self, world: World, episode: Episode) -> Distance:
        """The distance from any place to the goal of an episode."""
        if not isinstance(world.space, Surface):
            return distance_to_goal(world, episode)
        ground, goals = world.space.ground, self._goals[world.id]
        if world.id not in self._tables:
            self._tables[world.id] = self._find_table(world.id, ground, goals)
        table, goal = self._tables[world.id], np.asarray(episode.goals, dtype=np.float64)[0]
        row = int(np.flatnonzero((goals == goal).all(axis=1))[0])
        return lambda place: float(table.distances(ground, row, np.asarray(place)[None])[0])
