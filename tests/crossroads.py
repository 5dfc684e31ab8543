"""A crossroads for studies of skills: one walks north from `s` to `c`, where ways go off at chosen angles.

Beyond each way `n0`, `n1`, … there is nothing, so that its place alone decides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from itinera.records.action_probabilities import Leaning
from itinera.skills.truncation import Cut
from itinera.tasks import Episode, Instruction
from itinera.worlds import NavGraph, Pose, World


def crossroads(*degrees: float, name: str = "house", **known: Any) -> World:
    """The world with a way so many degrees to the right of straight ahead, for each; `s` lies behind."""
    places = {"s": (0.0, -2.0, 0.0), "c": (0.0, 0.0, 0.0)}
    for k, degree in enumerate(degrees):
        angle = math.radians(90 - degree)
        places[f"n{k}"] = (2 * math.cos(angle), 2 * math.sin(angle), 0.0)
    return World(name, NavGraph.from_edges(places, [("c", node) for node in places if node != "c"]), **known)


def cut_at(
    *nodes: str, name: str = "7_1", text: str = "Go on.", ahead: str = "", edges: int = 0, world_id: str = "house"
) -> Cut:
    """An episode cut after these nodes; its own path goes on to "end"."""
    path = (*nodes, "end")
    source = Episode(name, world_id, Pose(nodes[0]), path[-1:], path, Instruction("Go on and on."), path_id="7")
    return Cut(source, nodes, text, ahead, edges)


def leaning(
    world: World, at: str, shares: Mapping[str, float], *, stop: float = 0.0, walked: Sequence[str] = ()
) -> Leaning:
    """An answer at a node: these shares of its neighbours, none for the others."""
    graph = world.space
    assert isinstance(graph, NavGraph)
    nodes = graph.neighbours(at)
    probabilities = np.array([stop, *(shares.get(node, 0.0) for node in nodes)])
    headings = np.array([graph.heading(at, node) for node in nodes])
    return Leaning("t", math.pi / 2, nodes, headings, probabilities, tuple(walked))
