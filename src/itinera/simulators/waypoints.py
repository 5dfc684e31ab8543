"""Waypoints: where a body on the ground could go next, as the candidates that agents of graphs choose from.

Three sources: the viewpoints of the house that are adjacent on its graph; straight ways over the surface of a wider
robot; straight ways over a height map of the depth panorama, which needs no map.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.hearth.season import MAX_ROBOT_RADIUS
from itinera.hearth.viewpoints import EYE_HEIGHT
from itinera.rendering.cube_map import cube_map
from itinera.simulators._waypoint_kernels import map_heights, measure_reaches
from itinera.simulators.surroundings import Surroundings
from itinera.worlds import Array, NavGraph, World
from itinera.worlds.surface import Surface

WAYPOINTS = ("graph", "surface", "depth")  # the names of the sources
STOPS = ("waypoint", "between")  # where a body stops: at a waypoint, or somewhere between them

RAYS = 72  # headings that are tried
REACH = 4.0  # metres; how far ways are followed
LENGTH = 2.25  # metres to a waypoint at most, as viewpoints of Matterport are apart
MARGIN = 0.15  # metres that a waypoint stays from the end of its way
SHORTEST = 0.75  # metres; shorter ways are none
SUPPRESSED = math.radians(40)  # to either side of a chosen way
MAX_WAYPOINTS = 7
CELL = 0.05  # metres, of the height map
CLIMB, GAP = 0.25, 0.45  # metres: the highest step, and the longest unknown stretch
SIDES = np.array([0.0, -0.16, 0.16])  # metres to the side of the lines that must be free
NODE_DISTANCE = 2.0  # metres from the nearest node within which a body is on the graph

_ANGLES = np.arange(RAYS) * (math.tau / RAYS)
_DIRECTIONS = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)]).round(12)


@dataclass(frozen=True, eq=False)
class Waypoints:
    """Places to go to, on the ground, and their names where they have some; `here` names the place of the body."""

    places: Array  # (k, 3)
    names: tuple[str, ...] = ()
    here: str = ""


class WaypointSource(Protocol):
    """Finds the waypoints around a body."""

    def find(self, surroundings: Surroundings) -> Waypoints: ...


class GraphWaypoints:
    """The nodes of a graph that are adjacent to the nearest one: true viewpoints, at their places on the ground."""

    def __init__(self, worlds: Mapping[str, World]) -> None:
        self._worlds = worlds

    def find(self, surroundings: Surroundings) -> Waypoints:
        graph = self._worlds[surroundings.world.id].space
        assert isinstance(graph, NavGraph)
        distances = np.linalg.norm(graph.positions - surroundings.eye, axis=1).round(6)
        here = int(np.argmin(distances))
        if distances[here] > NODE_DISTANCE:
            x, y, z = surroundings.place
            raise BadArgument(
                f"({x:.2f}, {y:.2f}, {z:.2f}) is {distances[here]:.2f} m from the nearest viewpoint of world "
                f"{surroundings.world.id} (limit {NODE_DISTANCE:g} m). Use waypoints surface or depth."
            )
        found = np.flatnonzero(graph.adjacency[here])
        places = graph.positions[found] - np.array([0.0, 0.0, EYE_HEIGHT])
        return Waypoints(places, tuple(graph.nodes[k] for k in found), graph.nodes[here])


class SurfaceWaypoints:
    """The ends of straight ways over the surface of the widest robot that fits through the houses."""

    def __init__(self, *, radius: float = MAX_ROBOT_RADIUS, height: float = EYE_HEIGHT) -> None:
        self._radius, self._height = radius, height
        self._surfaces: WeakKeyDictionary[World, Surface] = WeakKeyDictionary()

    def find(self, surroundings: Surroundings) -> Waypoints:
        surface = self._surface(surroundings.world)
        start, gaps = surface.snap(surroundings.place[None])
        if not np.isfinite(gaps[0]):
            return Waypoints(np.empty((0, 3)))
        starts = np.broadcast_to(start, (RAYS, 3))
        ends = surface.advance(starts, _ANGLES, REACH, sliding=False)
        reaches = np.linalg.norm(ends[:, :2] - start[:, :2], axis=1)
        chosen = suppress(reaches)
        places = [surface.advance(start[0], _ANGLES[k], _length(reaches[k]), sliding=False) for k in chosen]
        return Waypoints(np.array(places).reshape(-1, 3))

    def _surface(self, world: World) -> Surface:
        found = self._surfaces.get(world)
        if found is None:
            if world.mesh is None:
                raise BadArgument(f"World {world.id} has no mesh to find waypoints in. Use a Hearth season.")
            found = Surface.from_mesh(world.mesh, radius=self._radius, height=self._height)
            self._surfaces[world] = found
        return found


class DepthWaypoints:
    """The ends of straight ways over the height map of a depth panorama; nothing else is known."""

    def find(self, surroundings: Surroundings) -> Waypoints:
        heights = height_map(surroundings.panorama.depth)
        reaches, steps = np.empty(RAYS), np.zeros((RAYS, round(REACH / CELL)))
        measure_reaches(heights, _DIRECTIONS, SIDES, CELL, REACH, CLIMB, GAP, reaches, steps)
        chosen = suppress(reaches)
        lengths = np.array([_length(reaches[k]) for k in chosen])
        rises = np.array([steps[k, round(n / CELL) - 1] for k, n in zip(chosen, lengths, strict=True)])
        offsets = np.column_stack([_DIRECTIONS[chosen] * lengths[:, None], rises])
        return Waypoints(surroundings.place + offsets)


def height_map(depths: NDArray[np.float32]) -> NDArray[np.float32]:
    """(n, n) the height of the highest visible point of each cell around the body; see `map_heights`."""
    half = round((REACH + float(np.abs(SIDES).max())) / CELL) + 1
    heights = np.empty((2 * half + 1, 2 * half + 1), np.float32)
    map_heights(depths.ravel(), cube_map().rays, EYE_HEIGHT, CELL, heights)
    return heights


def suppress(reaches: Array) -> NDArray[np.int64]:
    """(k,) the chosen ways of those in all directions: the farthest, then the farthest not beside a chosen one."""
    left = np.where(reaches >= SHORTEST, reaches.round(6), -1.0)
    chosen = list[int]()
    while len(chosen) < MAX_WAYPOINTS and left.max() > 0:
        best = int(left.argmax())
        chosen.append(best)
        aside = np.abs(np.remainder(_ANGLES - _ANGLES[best] + math.pi, math.tau) - math.pi)
        left[aside.round(9) < round(SUPPRESSED, 9)] = -1.0
    return np.array(chosen, dtype=np.int64)


def _length(reach: float) -> float:
    """How far a waypoint is along a way of this reach."""
    return float(min(LENGTH, reach - MARGIN))
