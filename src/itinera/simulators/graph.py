"""The simulator of navigation graphs, as Matterport3DSimulator: move to an adjacent node, or stop.

The agent faces one of 36 views: at the start the one nearest to its pose, and after a move the one whose center was
nearest to the direction of the move.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakKeyDictionary

from itinera.errors import BadArgument
from itinera.hearth.language.scene_description import SceneDescription, anonymize
from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS, nearest_view
from itinera.simulators.candidates import graph_candidates
from itinera.simulators.simulator import STOP, Candidates, Observation
from itinera.worlds import NavGraph, Pose, World

if TYPE_CHECKING:
    from itinera.simulators.view_features import ViewSource

# Plain lists: looking up one number in an array is slow.
_HEADINGS: list[float] = VIEW_HEADINGS.tolist()
_ELEVATIONS: list[float] = VIEW_ELEVATIONS.tolist()

Descriptions: TypeAlias = Mapping[str, Mapping[str, SceneDescription]]  # world id -> node -> description


class GraphSimulator:
    """An agent on a navigation graph. Action k leads to the k-th candidate, counted from 1; 0 is STOP.

    views: features of the 36 views of each node. descriptions: scene descriptions by world and node; observations
    contain them without node names, with candidates in the order of the actions.
    """

    def __init__(self, views: ViewSource | None = None, *, descriptions: Descriptions | None = None) -> None:
        self._views, self._descriptions = views, descriptions
        self._nodes_by_world: WeakKeyDictionary[World, dict[str, _Node]] = WeakKeyDictionary()
        self._node: _Node | None = None
        self._world_id = ""
        self._view = 0

    def reset(self, world: World, pose: Pose) -> Observation:
        nodes = self._nodes_by_world.get(world)
        if nodes is None:
            nodes = self._nodes_by_world[world] = _make_nodes(world, self._descriptions)
        if not isinstance(pose.place, str) or pose.place not in nodes:
            raise BadArgument(f"{pose.place} is not a node of world {world.id}.")
        self._world_id, self._node = world.id, nodes[pose.place]
        self._view = nearest_view(pose.heading, pose.elevation)
        return self._observe(self._node)

    def step(self, action: int) -> Observation:
        here = self._here
        if action != STOP:
            if not 0 < action <= len(here.successors):
                raise BadArgument(
                    f"action must be 0 (STOP) to {len(here.successors)}, the candidates of {here.node}, not {action}."
                )
            self._view = here.views[action - 1]
            self._node = here = here.successors[action - 1]
        return self._observe(here)

    @property
    def pose(self) -> Pose:
        return Pose(self._here.node, _HEADINGS[self._view], _ELEVATIONS[self._view])

    @property
    def actions(self) -> int:
        return 1 + len(self._here.successors)

    @property
    def _here(self) -> _Node:
        if self._node is None:
            raise BadArgument("No episode is running: call reset first.")
        return self._node

    def _observe(self, here: _Node) -> Observation:
        views = None if self._views is None else self._views.at(self._world_id, here.node)
        view = self._view
        return Observation(
            self._world_id,
            here.node,
            _HEADINGS[view],
            _ELEVATIONS[view],
            here.candidates,
            views,
            None,
            here.description,
        )


class _Node:
    """A node with everything that a step looks up."""

    __slots__ = ("candidates", "description", "node", "successors", "views")

    def __init__(self, node: str, candidates: Candidates, description: SceneDescription | None) -> None:
        self.node, self.candidates, self.description = node, candidates, description
        self.views: list[int] = candidates.views.tolist()
        self.successors: list[_Node] = []  # of each action, in the order of the candidates


def _make_nodes(world: World, descriptions: Descriptions | None) -> dict[str, _Node]:
    if not isinstance(world.space, NavGraph):
        raise BadArgument(f"World {world.id} is not a navigation graph. Use a simulator on the ground.")
    candidates = graph_candidates(world.space)
    if descriptions is None:
        nodes = {node: _Node(node, candidates[node], None) for node in candidates}
    else:
        if world.id not in descriptions:
            raise BadArgument(f"There are no scene descriptions of world {world.id}. Give those of all worlds.")
        nodes = {
            node: _Node(node, own, _order_description(world.id, node, own, descriptions[world.id].get(node)))
            for node, own in candidates.items()
        }
    for here in nodes.values():
        here.successors = [nodes[node] for node in here.candidates.nodes]
    return nodes


def _order_description(
    world_id: str, node: str, candidates: Candidates, description: SceneDescription | None
) -> SceneDescription:
    """The description without node names, its candidates in the order of the actions."""
    described = {} if description is None else {candidate.node: candidate for candidate in description.candidates}
    if description is None or described.keys() != set(candidates.nodes):
        raise BadArgument(
            f"The scene description of {node} does not have the candidates of world {world_id} there. "
            "Take both from the same house."
        )
    return anonymize(replace(description, candidates=tuple(described[other] for other in candidates.nodes)))
