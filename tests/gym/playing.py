"""Small places to play in, and an agent that repeats the actions of an environment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from itinera.agents.agent import Agent
from itinera.gym.task_set import TaskSet
from itinera.records import Rollout
from itinera.runs.rollout import rollout
from itinera.simulators.simulator import Simulator
from itinera.tasks import Instruction, Split, Tour
from itinera.worlds import Pose, World
from itinera.worlds.surface import Surface
from scripted_agents import Still
from text_worlds import STREET, episode, graph
from worlds.rooms import ROBOT, room

MESH = room(12, 4)
HOUSE = World("house", graph(STREET), mesh=MESH)  # 2 m from node to node
HALL = World("house", Surface.from_mesh(MESH, **ROBOT), mesh=MESH)
WORLDS, GROUNDS = {"house": HOUSE}, {"house": HALL}


def on_graph(*references: str, tours: Iterable[Iterable[str]] = ()) -> Split:
    """Episodes "0", "1", … along these nodes, told by their goals."""
    episodes = tuple(
        episode(str(k), nodes, instruction=Instruction(f"To {nodes[-1]}!")) for k, nodes in enumerate(references)
    )
    return Split("drawn", episodes, tuple(Tour(f"t{k}", "house", tuple(ids)) for k, ids in enumerate(tours)))


def on_ground(*ends: tuple[float, float], tours: Iterable[Iterable[str]] = ()) -> Split:
    """Episodes "0", "1", … along the middle of the hall, from one x to the other, facing along +x."""
    places = [np.array([(x, 2.0, 0.0) for x in pair]) for pair in ends]
    episodes = tuple(
        episode(str(k), place, start=Pose(place[0]), instruction=Instruction(f"To {place[1, 0]}!"))
        for k, place in enumerate(places)
    )
    toured = tuple(Tour(f"t{k}", "house", tuple(ids)) for k, ids in enumerate(tours))
    return Split("hall", episodes, toured, protocol="r2r-ce")


class Repeating(Still):
    """Does what it was given to do, one after another."""

    def __init__(self, actions: Iterable[int]) -> None:
        self.left = list(actions)

    def act(self, observation: Any) -> Any:
        return self.left.pop(0)


def walked_by(agent: Agent, place: TaskSet, simulator: Simulator, tour: Tour) -> Rollout:
    """The walk of a run of this agent."""
    episodes = [place.split.by_id[name] for name in tour.episode_ids]
    world = place.worlds[tour.world_id]
    return rollout(agent, simulator, world, tour, episodes, protocol=place.protocol, seed=0)


def told(found: Rollout) -> list[Any]:
    """All that a walk keeps, in a form that can be compared."""
    return [
        (
            t.episode_id,
            [place if isinstance(place, str) else place.tolist() for place in t.places],
            t.headings.tolist(),
            t.elevations.tolist(),
            t.actions.tolist(),
            None if t.times is None else t.times.tolist(),
            t.phases,
            t.ending,
            dict(t.notes),
        )
        for t in found.trajectories
    ]
