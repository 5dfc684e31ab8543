"""An agent that knows the answers: it goes to the goal by a shortest way, on graphs and on the ground.

Its privilege shows where it is built. Nobody tells it which episode it is on either: it knows it by the words, the
place where it begins, and what came before on the tour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import cast

import numpy as np

from itinera.agents.path_tracking import Trailing
from itinera.errors import BadArgument
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import Episode, Instruction, Protocol, Tour
from itinera.worlds import Array, NavGraph, Place, Places, World
from itinera.worlds.surface import Surface

NEAR_START = 1.0  # metres; whoever is led to a start on the ground does not come to its very position
NEAR_GOAL = 0.5  # metres from the goal where it stops on the ground, as VLN-CE's expert does
WELL_WITHIN = 0.9  # of the success radius, where that is smaller

Way = Callable[[Observation], int]  # the action to take from here
OverGround = Callable[[Surface, Place, Protocol], Way]  # the way to a goal, by a protocol


class Expert:
    """Walks every episode by a shortest way to its nearest goal, and stops there."""

    def __init__(
        self,
        episodes: Sequence[Episode],
        worlds: Mapping[str, World],
        protocol: Protocol,
        *,
        tours: Sequence[Tour] = (),
        over_ground: OverGround | None = None,  # how it goes there; by a trail of steps and turns unless given
    ) -> None:
        self._worlds, self._protocol = worlds, protocol
        self._over_ground = over_ground or _trailing
        self._asked: dict[tuple[str, Instruction], list[Episode]] = {}
        for episode in episodes:
            self._asked.setdefault((episode.world_id, episode.instruction), []).append(episode)
        self._after = {a: b for tour in tours for a, b in pairwise(tour.episode_ids)}

    def reset(self, rng: np.random.Generator) -> None:
        """A new tour. Nothing is left to chance."""
        self._last = ""  # the episode before

    def start_episode(self, instruction: Instruction) -> None:
        self._brief = instruction
        self._way: Way | None = None

    def act(self, observation: Observation) -> int:
        if self._way is None:
            episode = self._which(observation)
            self._last = episode.id
            self._way = self._way_to_goal(episode, observation)
        return self._way(observation)

    def observe(self, observation: Observation) -> None:
        """It knows the place."""

    def _which(self, observation: Observation) -> Episode:
        """The episode that begins here with these words."""
        found = self._asked.get((observation.world_id, self._brief), [])
        far = [_apart(episode.start.place, observation.place) for episode in found]
        nearest = min(far, default=np.inf)
        found = [episode for episode, gap in zip(found, far, strict=True) if gap == nearest <= NEAR_START]
        if not found:
            raise BadArgument(
                f"The expert knows no episode that begins here in world {observation.world_id} with these words. "
                "Give it the tasks that are walked."
            )
        following = [episode for episode in found if episode.id == self._after.get(self._last)]
        if not following and len({_told(episode.goals) for episode in found}) > 1:
            names = ", ".join(episode.id for episode in found[:3])
            raise BadArgument(f"Episodes {names} begin alike and lead elsewhere: an expert cannot tell them apart.")
        return (following or found)[0]

    def _way_to_goal(self, episode: Episode, observation: Observation) -> Way:
        if episode.goals_withheld:
            raise BadArgument(f"The goal of episode {episode.id} is withheld, so not even an expert knows it.")
        world = self._worlds[episode.world_id]
        far = world.space.between(cast(Places, [observation.place]), episode.goals)[0]
        goal = episode.goals[int(np.argmin(far))]
        if isinstance(world.space, NavGraph):
            return _along_edges(world.space, str(observation.place), str(goal))
        if isinstance(world.space, Surface):
            return self._over_ground(world.space, goal, self._protocol)
        raise BadArgument(f"World {world.id} is neither a graph nor a walkable surface: an expert finds no way in it.")


class GraphExpert:
    """Knows the goals of one task on a graph: from wherever it stands, it takes a shortest way to the nearest.

    It need not be told which episode it is on, so it can also be asked after it was led along a path not its own.
    """

    def __init__(self, graph: NavGraph, goals: Places) -> None:
        if not len(goals):
            raise BadArgument("The goals of this task are withheld, so not even an expert knows them.")
        self._graph, self._goals = graph, goals

    def reset(self, rng: np.random.Generator) -> None:
        """Nothing is left to chance."""

    def start_episode(self, instruction: Instruction) -> None:
        """It knows where the words lead."""

    def act(self, observation: Observation) -> int:
        assert observation.candidates is not None
        here = str(observation.place)
        far = self._graph.between([here], self._goals)[0]
        route = self._graph.route(here, str(self._goals[int(np.argmin(far))]))
        return 1 + observation.candidates.nodes.index(route[1]) if len(route) > 1 else STOP

    def observe(self, observation: Observation) -> None:
        """It knows the place."""

    def action_probabilities(self, observation: Observation) -> Array:
        assert observation.candidates is not None
        return np.asarray(np.eye(1 + len(observation.candidates.nodes))[self.act(observation)])


def _apart(a: Place, b: Place) -> float:
    """Metres in a straight line; nodes are the same or not."""
    if isinstance(a, str) or isinstance(b, str):
        return 0.0 if a is b or a == b else np.inf
    return float(np.linalg.norm(np.asarray(a) - np.asarray(b)))


def _told(places: Places) -> str:
    return repr([place if isinstance(place, str) else np.asarray(place).tolist() for place in places])


def _along_edges(graph: NavGraph, start: str, goal: str) -> Way:
    left = list(graph.route(start, goal))[:0:-1]

    def way(observation: Observation) -> int:
        if not left:
            return STOP
        assert observation.candidates is not None
        return 1 + observation.candidates.nodes.index(left.pop())

    return way


def _trailing(surface: Surface, goal: Place, protocol: Protocol) -> Way:
    if protocol.step_size is None or protocol.turn_angle is None:
        raise BadArgument(f"Protocol {protocol.name} has no step and turn, so an expert cannot walk by it.")
    return Trailing(surface, goal, protocol, radius=near_enough(protocol))


def near_enough(protocol: Protocol) -> float:
    """Metres from its goal where an expert stops on the ground."""
    return min(NEAR_GOAL, WELL_WITHIN * protocol.success_radius)
