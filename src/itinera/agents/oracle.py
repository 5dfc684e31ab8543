"""Shortest-path experts, on graphs and on the ground.

They receive the episodes with their goals in the constructor, so the privilege shows where they are built. The current
episode is recognized by its instruction, its start, and the episode before it on the tour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import cast

import numpy as np

from itinera.agents.path_tracking import PathTracker
from itinera.errors import BadArgument
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import Episode, Instruction, Protocol, Tour
from itinera.worlds import Array, NavGraph, Place, Places, World
from itinera.worlds.surface import Surface

START_TOLERANCE = 1.0  # metres; guidance on the ground does not end exactly at the start
STOP_DISTANCE = 0.5  # metres from the goal on the ground, as VLN-CE's expert
SUCCESS_MARGIN = 0.9  # of the success radius, where that is smaller

Controller = Callable[[Observation], int]  # the next action
MakeController = Callable[[Surface, Place, Protocol], Controller]  # for a goal on the ground


class ShortestPathExpert:
    """Takes a shortest path to the nearest goal of every episode, and stops there."""

    def __init__(
        self,
        episodes: Sequence[Episode],
        worlds: Mapping[str, World],
        protocol: Protocol,
        *,
        tours: Sequence[Tour] = (),
        make_controller: MakeController | None = None,  # on the ground; steps and turns unless given
    ) -> None:
        self._worlds, self._protocol = worlds, protocol
        self._make_controller = make_controller or _track_path
        self._episodes: dict[tuple[str, Instruction], list[Episode]] = {}
        for episode in episodes:
            self._episodes.setdefault((episode.world_id, episode.instruction), []).append(episode)
        self._after = {a: b for tour in tours for a, b in pairwise(tour.episode_ids)}

    def reset(self, rng: np.random.Generator) -> None:
        """Start a tour. This agent is deterministic."""
        self._last = ""  # the episode before

    def start_episode(self, instruction: Instruction) -> None:
        self._instruction = instruction
        self._controller: Controller | None = None

    def act(self, observation: Observation) -> int:
        if self._controller is None:
            episode = self._find_episode(observation)
            self._last = episode.id
            self._controller = self._plan(episode, observation)
        return self._controller(observation)

    def observe(self, observation: Observation) -> None:
        """This agent needs no observations between episodes."""

    def _find_episode(self, observation: Observation) -> Episode:
        """The episode that begins here with this instruction."""
        found = self._episodes.get((observation.world_id, self._instruction), [])
        distances = [_distance(episode.start.place, observation.place) for episode in found]
        nearest = min(distances, default=np.inf)
        found = [e for e, distance in zip(found, distances, strict=True) if distance == nearest <= START_TOLERANCE]
        if not found:
            raise BadArgument(
                f"The expert has no episode in world {observation.world_id} with this start and instruction. "
                "Give it the tasks of the run."
            )
        following = [episode for episode in found if episode.id == self._after.get(self._last)]
        if not following and len({_describe(episode.goals) for episode in found}) > 1:
            names = ", ".join(episode.id for episode in found[:3])
            raise BadArgument(
                f"Episodes {names} have the same start and instruction but different goals: the expert cannot "
                "distinguish them."
            )
        return (following or found)[0]

    def _plan(self, episode: Episode, observation: Observation) -> Controller:
        if episode.goals_withheld:
            raise BadArgument(f"The goal of episode {episode.id} is withheld, so the expert cannot be used.")
        world = self._worlds[episode.world_id]
        distances = world.space.between(cast(Places, [observation.place]), episode.goals)[0]
        goal = episode.goals[int(np.argmin(distances))]
        if isinstance(world.space, NavGraph):
            return _follow_route(world.space, str(observation.place), str(goal))
        if isinstance(world.space, Surface):
            return self._make_controller(world.space, goal, self._protocol)
        raise BadArgument(f"World {world.id} is neither a graph nor a surface, so the expert cannot plan in it.")


class GraphExpert:
    """The expert of one task on a graph: from any node, it takes a shortest path to the nearest goal.

    It does not depend on the start, so it can also be queried after a teacher-forced path.
    """

    def __init__(self, graph: NavGraph, goals: Places) -> None:
        if not len(goals):
            raise BadArgument("The goals of this task are withheld, so the expert cannot be used.")
        self._graph, self._goals = graph, goals

    def reset(self, rng: np.random.Generator) -> None:
        """This agent is deterministic."""

    def start_episode(self, instruction: Instruction) -> None:
        """This agent ignores the instruction."""

    def act(self, observation: Observation) -> int:
        assert observation.candidates is not None
        node = str(observation.place)
        distances = self._graph.between([node], self._goals)[0]
        route = self._graph.route(node, str(self._goals[int(np.argmin(distances))]))
        return 1 + observation.candidates.nodes.index(route[1]) if len(route) > 1 else STOP

    def observe(self, observation: Observation) -> None:
        """This agent needs no observations between episodes."""

    def action_probabilities(self, observation: Observation) -> Array:
        assert observation.candidates is not None
        return np.asarray(np.eye(1 + len(observation.candidates.nodes))[self.act(observation)])


def _distance(a: Place, b: Place) -> float:
    """Metres in a straight line; nodes are the same or not."""
    if isinstance(a, str) or isinstance(b, str):
        return 0.0 if a is b or a == b else np.inf
    return float(np.linalg.norm(np.asarray(a) - np.asarray(b)))


def _describe(places: Places) -> str:
    return repr([place if isinstance(place, str) else np.asarray(place).tolist() for place in places])


def _follow_route(graph: NavGraph, start: str, goal: str) -> Controller:
    left = list(graph.route(start, goal))[:0:-1]

    def control(observation: Observation) -> int:
        if not left:
            return STOP
        assert observation.candidates is not None
        return 1 + observation.candidates.nodes.index(left.pop())

    return control


def _track_path(surface: Surface, goal: Place, protocol: Protocol) -> Controller:
    if protocol.step_size is None or protocol.turn_angle is None:
        raise BadArgument(f"Protocol {protocol.name} has no step size and turn angle, which the expert needs.")
    return PathTracker(surface, goal, protocol, radius=stopping_distance(protocol))


def stopping_distance(protocol: Protocol) -> float:
    """Metres from its goal where an expert stops on the ground."""
    return min(STOP_DISTANCE, SUCCESS_MARGIN * protocol.success_radius)
