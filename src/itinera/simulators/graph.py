"""Walking on a navigation graph as Matterport's simulator has it: choose a node one step away, or stop.

One faces one of 36 views: the one nearest to where one looked at the start, and after a move the one in which the node
moved to was seen best.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from weakref import WeakKeyDictionary

from itinera.errors import BadArgument
from itinera.hearth.language.scene_description import Outlook, stranger
from itinera.rendering.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS, nearest_view
from itinera.simulators.candidates import graph_candidates
from itinera.simulators.simulator import STOP, Candidates, Observation
from itinera.simulators.view_features import ViewSource
from itinera.worlds import NavGraph, Pose, World

# Plain lists: a step looks up one number, for which arrays are slow.
_HEADINGS: list[float] = VIEW_HEADINGS.tolist()
_ELEVATIONS: list[float] = VIEW_ELEVATIONS.tolist()


class GraphSimulator:
    """A body on a graph. Action k leads along the k-th of the ways it is shown, counted from 1; 0 is STOP.

    views: features of the views around. sights: by world and node, what can be told of a place in words; whoever is
    shown it learns no names of places, and its ways stand in the order of the actions.
    """

    def __init__(
        self, views: ViewSource | None = None, *, sights: Mapping[str, Mapping[str, Outlook]] | None = None
    ) -> None:
        self._views, self._sights = views, sights
        self._known: WeakKeyDictionary[World, dict[str, _Spot]] = WeakKeyDictionary()
        self._spot: _Spot | None = None
        self._world_id = ""
        self._view = 0

    def reset(self, world: World, pose: Pose) -> Observation:
        spots = self._known.get(world)
        if spots is None:
            spots = self._known[world] = _spots(world, self._sights)
        if not isinstance(pose.place, str) or pose.place not in spots:
            raise BadArgument(f"{pose.place} is not a node of world {world.id}, so no one can stand there.")
        self._world_id, self._spot = world.id, spots[pose.place]
        self._view = nearest_view(pose.heading, pose.elevation)
        return self._look(self._spot)

    def step(self, action: int) -> Observation:
        spot = self._here
        if action != STOP:
            if not 0 < action <= len(spot.beyond):
                raise BadArgument(f"There is no action {action} at {spot.node}: it has {len(spot.beyond)} ways on.")
            self._view = spot.views[action - 1]
            self._spot = spot = spot.beyond[action - 1]
        return self._look(spot)

    @property
    def pose(self) -> Pose:
        return Pose(self._here.node, _HEADINGS[self._view], _ELEVATIONS[self._view])

    @property
    def actions(self) -> int:
        return 1 + len(self._here.beyond)

    @property
    def _here(self) -> _Spot:
        if self._spot is None:
            raise BadArgument("The walk has not begun. Call start first.")
        return self._spot

    def _look(self, spot: _Spot) -> Observation:
        views = None if self._views is None else self._views.at(self._world_id, spot.node)
        view = self._view
        return Observation(
            self._world_id,
            spot.node,
            _HEADINGS[view],
            _ELEVATIONS[view],
            spot.candidates,
            views,
            None,
            spot.description,
        )


class _Spot:
    """A node as a step needs it."""

    __slots__ = ("beyond", "candidates", "description", "node", "views")

    def __init__(self, node: str, candidates: Candidates, description: Outlook | None) -> None:
        self.node, self.candidates, self.description = node, candidates, description
        self.views: list[int] = candidates.views.tolist()
        self.beyond: list[_Spot] = []  # where each action leads, in the order of the ways


def _spots(world: World, sights: Mapping[str, Mapping[str, Outlook]] | None) -> dict[str, _Spot]:
    if not isinstance(world.space, NavGraph):
        raise BadArgument(f"World {world.id} is no navigation graph. Walk in it with a simulator of the ground.")
    candidates = graph_candidates(world.space)
    if sights is None:
        spots = {node: _Spot(node, candidates[node], None) for node in candidates}
    else:
        told = _told(world.id, sights)
        spots = {
            node: _Spot(node, candidates[node], _sight(world.id, node, candidates[node], told)) for node in candidates
        }
    for spot in spots.values():
        spot.beyond = [spots[node] for node in spot.candidates.nodes]
    return spots


def _told(world_id: str, sights: Mapping[str, Mapping[str, Outlook]]) -> Mapping[str, Outlook]:
    if world_id not in sights:
        raise BadArgument(f"What is seen in world {world_id} is not told. Give sights of the worlds that are walked.")
    return sights[world_id]


def _sight(world_id: str, node: str, candidates: Candidates, told: Mapping[str, Outlook]) -> Outlook:
    """What a stranger sees, the ways in the order of the actions."""
    outlook = told.get(node)
    onward = {} if outlook is None else {way.node: way for way in outlook.candidates}
    if outlook is None or onward.keys() != set(candidates.nodes):
        raise BadArgument(
            f"The sight from {node} does not tell of the ways that world {world_id} has there. "
            "Take both from the same house."
        )
    return stranger(replace(outlook, candidates=tuple(onward[other] for other in candidates.nodes)))
