"""A crossroads for skill studies: the agent arrives at `c` from `s` in the south; edges leave `c` at given angles.

The neighbors `n0`, `n1`, … are dead ends, so that only their directions matter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from itinera.records.action_probabilities import ActionDistribution
from itinera.skills.truncation import Truncation
from itinera.tasks import Episode, Instruction
from itinera.worlds import NavGraph, Pose, World


def crossroads(*degrees: float, name: str = "house", **known: Any) -> World:
    """A world with one edge per angle, in degrees to the right of straight ahead; `s` is behind."""
    places = {"s": (0.0, -2.0, 0.0), "c": (0.0, 0.0, 0.0)}
    for k, degree in enumerate(degrees):
        angle = math.radians(90 - degree)
        places[f"n{k}"] = (2 * math.cos(angle), 2 * math.sin(angle), 0.0)
    return World(name, NavGraph.from_edges(places, [("c", node) for node in places if node != "c"]), **known)


def truncate_at(
    *nodes: str, name: str = "7_1", text: str = "Go on.", ahead: str = "", edges: int = 0, world_id: str = "house"
) -> Truncation:
    """An episode truncated after these nodes; its complete path continues to "end"."""
    path = (*nodes, "end")
    source = Episode(name, world_id, Pose(nodes[0]), path[-1:], path, Instruction("Go on and on."), path_id="7")
    return Truncation(source, nodes, text, ahead, edges)


def distribution(
    world: World, at: str, shares: Mapping[str, float], *, stop: float = 0.0, greedy_path: Sequence[str] = ()
) -> ActionDistribution:
    """An action distribution at a node: these probabilities, 0 for the other neighbors."""
    graph = world.space
    assert isinstance(graph, NavGraph)
    nodes = graph.neighbors(at)
    probabilities = np.array([stop, *(shares.get(node, 0.0) for node in nodes)])
    headings = np.array([graph.heading(at, node) for node in nodes])
    return ActionDistribution("t", math.pi / 2, nodes, headings, probabilities, tuple(greedy_path))
