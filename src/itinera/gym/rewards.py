"""What a step is worth: functions from what happened to a number, handed to an environment by whoever trains.

The four here are of two papers; yours is any function of a `Happened`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeAlias, cast

import numpy as np

from itinera.errors import BadArgument
from itinera.metrics.attempts import Attempts
from itinera.metrics.fidelity import cls
from itinera.metrics.reaching import success
from itinera.records import Ending
from itinera.tasks import Episode, Protocol
from itinera.worlds import Euclidean, NavGraph, Place, Places, Ragged, Space, World
from itinera.worlds.distance_field import DistanceField
from itinera.worlds.surface import Surface

SLACK = 0.01  # taken from every step's reward by `shaped` and `Decaying`
REACHED = 2.5  # what they give for a success
FIELDS = 24  # distances to so many goals on the ground are kept, about a megabyte each

Distance: TypeAlias = Callable[[Place], float]  # metres from a place


@dataclass(frozen=True, eq=False)
class Happened:
    """One step of an agent and all that a reward may ask about it."""

    episode: Episode
    world: World
    protocol: Protocol
    action: int
    before: Place  # where it was chosen
    places: Sequence[Place]  # walked in this episode, the start first, the present place last; grows with every step
    ending: Ending | None  # None: the episode goes on
    to_goal: Distance  # to the nearest goal by the world's own distance; quick, however often it is asked

    @property
    def nearer(self) -> float:
        """Metres that the step came nearer to the goal; 0 where no way leads there."""
        come = self.to_goal(self.before) - self.to_goal(self.places[-1])
        return come if math.isfinite(come) else 0.0

    @property
    def succeeded(self) -> bool:
        """Whether the episode has ended in success by its protocol; one that failed has not, wherever it ended."""
        if self.ending in (None, Ending.FAILED):
            return False
        far = self.to_goal(self.places[-1])
        if math.isinf(far):
            return False
        # How far the goal is has been measured already, so it may as well lie along a straight line.
        place, goal = np.array([[far, 0.0, 0.0]]), np.zeros((1, 3))
        near = self._attempt(Euclidean(), place, place, goal)
        return bool(success(near, radius=self.protocol.success_radius, needs_stop=self.protocol.needs_stop)[0])

    @property
    def attempt(self) -> Attempts:
        """The walk so far beside its episode, as every metric takes it: a batch of one."""
        on_graph = isinstance(self.places[0], str)
        walked = self.places if on_graph else np.array(self.places, dtype=np.float64)
        return self._attempt(self.world.space, cast(Places, walked), self.episode.reference, self.episode.goals)

    def _attempt(self, space: Space, walked: Places, reference: Places, goals: Places) -> Attempts:
        unknown = np.full(1, np.nan)
        return Attempts(
            space,
            walked=Ragged.of([space.locate(walked)]),
            reference=Ragged.of([space.locate(reference)]),
            goals=Ragged.of([space.locate(goals)]),
            stopped=np.array([self.ending is Ending.STOPPED]),
            stated=unknown,
            durations=unknown,
        )


Reward: TypeAlias = Callable[[Happened], float]


def goal_oriented(happened: Happened) -> float:
    """Metres nearer to the goal, and 1 for ending in success.

    Where an episode runs out of steps, its last step earns both.
    Reference: Jain et al. 2019, Stay on the Path, equation 11.
    """
    return happened.nearer + happened.succeeded


def fidelity_oriented(happened: Happened) -> float:
    """0 until the end, then 1 for success plus CLS.

    Reference: Jain et al. 2019, Stay on the Path, equation 12.
    """
    if happened.ending in (None, Ending.FAILED):
        return 0.0
    if not len(happened.episode.reference):
        raise BadArgument(f"Episode {happened.episode.id} has no reference to be faithful to. Give another reward.")
    faithful = cls(happened.attempt, threshold=happened.protocol.success_radius)
    return happened.succeeded + float(faithful[0])


def shaped(happened: Happened) -> float:
    """Metres nearer to the goal less 0.01 for the step, and 2.5 for ending in success.

    Reference: Yokoyama et al. 2021, Success Weighted by Completion Time, equation 3.
    """
    return happened.nearer - SLACK + REACHED * happened.succeeded


class Decaying:
    """`shaped`, but coming nearer counts for less with every step, and for nothing after so many steps.

    All environments of a process that are given the same one share its count. Give as many steps as are taken in this
    process, and set `taken` to go on with a training that was interrupted.
    Reference: Yokoyama et al. 2021, Success Weighted by Completion Time, equation 4.
    """

    def __init__(self, steps: int) -> None:
        if steps < 1:
            raise BadArgument(f"A reward decays over at least 1 step, not {steps}.")
        self.steps = steps
        self.taken = 0

    def __call__(self, happened: Happened) -> float:
        share = max(0.0, 1.0 - self.taken / self.steps)
        self.taken += 1
        # Not multiplied where nothing is left, so that training is spared the distances.
        nearer = share * happened.nearer if share else 0.0
        return nearer - SLACK + REACHED * happened.succeeded


def distance_to_goal(world: World, episode: Episode) -> Distance:
    """The distance from any place to an episode's nearest goal; nothing is worked out before it is asked."""
    measure = cache(lambda: _measure(world.space, episode))
    last: tuple[Place | None, float] = None, 0.0  # where a step ends, the next begins

    def distance(place: Place) -> float:
        nonlocal last
        if place is not last[0]:
            last = place, measure()(place)
        return last[1]

    return distance


def _measure(space: Space, episode: Episode) -> Distance:
    goals = episode.goals
    if episode.goals_withheld:
        raise BadArgument(f"The goal of episode {episode.id} is withheld. Give a reward that needs none.")
    if isinstance(space, NavGraph):
        index, far = space.index, space.distances[:, space.locate(goals)].min(axis=1)
        return lambda place: float(far[index[str(place)]])
    if isinstance(space, Surface):
        field = _field(space, tuple(map(tuple, np.asarray(goals, dtype=np.float64).tolist())))
        return lambda place: float(field.at(np.asarray(place)[None])[0])
    return lambda place: float(space.between(cast(Places, [place]), goals)[0].min())


@lru_cache(FIELDS)
def _field(surface: Surface, goals: tuple[tuple[float, ...], ...]) -> DistanceField:
    return surface.field(np.array(goals))
