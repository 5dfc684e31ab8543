"""The simulator of waypoints: agents of graphs act on the ground, by choosing among candidates found around the body.

Action k drives the body to the k-th candidate by primitive actions, which `TourLoop` records and counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.simulators.candidates import list_candidates
from itinera.simulators.ground import LEFT, GroundSimulator
from itinera.simulators.simulator import STOP, Candidates, Observation
from itinera.simulators.surroundings import Scene, Surroundings
from itinera.simulators.views_at import Views
from itinera.simulators.waypoint_drivers import Driver
from itinera.simulators.waypoints import Waypoints, WaypointSource
from itinera.worlds import Array, Pose, World

LONGEST_DRIVE = 60  # primitive actions to one waypoint
MERGE_DISTANCE = 0.8  # metres from a visited place within which a waypoint is that place
APPROACH, LONGEST_APPROACH = 2.0, 1.5  # the factor on the mean of ways before a stop, and its limit in metres


class PoseViews(Protocol):
    """Features of the 36 views at any pose."""

    def at(self, surroundings: Surroundings, candidates: Candidates, places: Array) -> Views:
        """(36, d) the features; the candidates lead to these places (k, 3) on the ground."""
        ...


class WaypointSimulator:
    """A body on the ground whose actions are waypoints: 0 STOP, k drives to the k-th candidate.

    Places have names: those of the source, or numbers in the order in which they were first offered. A waypoint near a
    visited place is that place, with its name, and the place the body came from is always a candidate. A body that is
    guided keeps the names; one that is relocated finds none of its places again, and their names are not used again.
    Observations are those of graphs; `body` is the last one of the body itself.
    """

    def __init__(
        self,
        ground: GroundSimulator,
        source: WaypointSource,
        driver: Driver,
        *,
        views: PoseViews | None = None,
        stops_between: bool = False,
    ) -> None:
        self._ground, self._source, self._driver, self._views = ground, source, driver, views
        self._stops_between = stops_between
        self._scenes: WeakKeyDictionary[World, Scene] = WeakKeyDictionary()
        self._world: World | None = None
        self._body: Observation | None = None
        self._observation: Observation | None = None
        self._names: tuple[str, ...] = ()  # of the candidates of the last observation
        self._places: Array = np.empty((0, 3))  # where they lead
        self._visited: dict[str, Array] = {}  # the place of each name
        self._offered = 0  # names given so far
        self._here = self._previous = ""

    def reset(self, world: World, pose: Pose) -> Observation:
        self._world, self._offered = world, 0
        return self.relocate(pose)

    def relocate(self, pose: Pose) -> Observation:
        """The first observation at another pose of the same world."""
        if self._world is None:
            raise BadArgument("No episode is running: call reset first.")
        self._body = self._ground.reset(self._world, pose)
        self._names, self._places, self._visited = (), np.empty((0, 3)), {}
        self._here = self._previous = ""
        self._observation = None
        return self.observation

    def step(self, action: int) -> Observation:
        for _ in self.drive(action):
            pass
        return self.observation

    def drive(self, action: int) -> Iterator[tuple[int, Observation]]:
        """Each primitive action on the way to a candidate with the observation of the body after it, as it is taken.

        Whoever stops iterating leaves the body where it is. A drive has at least one action, a turn where the body is
        already there, so that every decision counts.
        """
        observation = self.observation
        if action == STOP:
            return
        assert observation.candidates is not None
        if not 0 < action <= len(self._places):
            raise BadArgument(f"action must be 0 (STOP) to {len(self._places)}, the waypoints here, not {action}.")
        name, place = observation.candidates.nodes[action - 1], self._places[action - 1]
        self._previous, self._here = self._here, name
        self._visited.pop(name, None)  # the body may end somewhere else
        moved = False
        for move in self._drive_to(place):
            moved = True
            yield move
        if not moved:
            yield self._take(LEFT)

    def wait(self, seconds: float) -> None:
        self._ground.wait(seconds)

    @property
    def stops_between(self) -> bool:
        """Whether a body goes on by `approach` before it stops."""
        return self._stops_between

    def approach(self, probabilities: Array) -> Iterator[tuple[int, Observation]]:
        """Each primitive action from here to a place between the candidates, where the agent had better stop.

        The goal is no candidate. The probability that an agent still gives to a candidate says that the goal may lie
        there: the body goes along the mean of all ways, weighted by their probabilities (1 + k,), times APPROACH.
        """
        ways = self._places - np.asarray(self.body.place)
        way = APPROACH * (probabilities[1:, None] * ways).sum(axis=0)
        length = float(np.linalg.norm(way))
        if length > LONGEST_APPROACH:
            way *= LONGEST_APPROACH / length
        yield from self._drive_to(np.asarray(self.body.place) + way)

    def _drive_to(self, place: Array) -> Iterator[tuple[int, Observation]]:
        """Each primitive action on the way to a place; none if the body is there, or nothing leads nearer."""
        assert self._world is not None
        controller = self._driver(self._world, place)
        for _ in range(LONGEST_DRIVE):
            primitive = controller(self.body)
            if primitive == STOP:
                return
            yield self._take(primitive)

    def _take(self, primitive: int) -> tuple[int, Observation]:
        self._observation = None
        self._body = self._ground.step(primitive)
        return primitive, self._body

    def step_body(self, action: int) -> Observation:
        """The observation of the body after a primitive action of a guide."""
        if self._here:  # the name of where it is going is found on arrival
            self._previous, self._here = self._here, ""
        return self._take(action)[1]

    @property
    def body(self) -> Observation:
        """The last observation of the body, with its position."""
        if self._body is None:
            raise BadArgument("No episode is running: call reset first.")
        return self._body

    @property
    def observation(self) -> Observation:
        """The observation of the agent where the body is now."""
        if self._observation is None:
            self._observation = self._observe(self.body)
        return self._observation

    @property
    def places(self) -> Array:
        """(k, 3) the places on the ground that the candidates of the observation lead to."""
        return self._places

    @property
    def pose(self) -> Pose:
        return self._ground.pose

    @property
    def actions(self) -> int:
        return 1 + len(self.observation.candidates.nodes if self.observation.candidates else ())

    def _observe(self, body: Observation) -> Observation:
        surroundings = Surroundings(self._scene, np.asarray(body.place))
        found = self._source.find(surroundings)
        names, places = self._name(found, surroundings.place)
        self._visited[self._here] = surroundings.place
        candidates, order = list_candidates(names, places - surroundings.place)
        self._names, self._places = candidates.nodes, places[order]
        views: NDArray[np.float32] | None = None
        if self._views is not None:
            views = self._views.at(surroundings, candidates, self._places)
        return Observation(
            body.world_id, self._here, body.heading, body.elevation, candidates, views,
            collided=body.collided, time=body.time,
        )  # fmt: skip

    def _name(self, found: Waypoints, place: Array) -> tuple[tuple[str, ...], Array]:
        """The names and places of the waypoints, each once; sets the name of this place (3,)."""
        if found.here:
            self._here = found.here
            return found.names, found.places
        if not self._here:
            known = {**dict(zip(self._names, self._places, strict=True)), **self._visited}
            self._here = _find_near(place, known) or self._next_name()
        places: dict[str, Array] = {}
        others = {name: other for name, other in self._visited.items() if name != self._here}
        for waypoint in found.places:
            name = _find_near(waypoint, others)
            if name:
                places[name] = others[name]
            else:
                places[self._next_name()] = waypoint
        if self._previous in others:
            places.setdefault(self._previous, others[self._previous])
        return tuple(places), np.array(list(places.values())).reshape(-1, 3)

    def _next_name(self) -> str:
        self._offered += 1
        return str(self._offered)

    @property
    def _scene(self) -> Scene:
        assert self._world is not None
        scene = self._scenes.get(self._world)
        if scene is None:
            scene = self._scenes[self._world] = Scene(self._world)
        return scene


def _find_near(place: Array, others: Mapping[str, Array]) -> str:
    """The name of the nearest of the other places, if it is near enough to be this one; else nothing."""
    near = [(float(np.linalg.norm(place - other).round(6)), name) for name, other in others.items()]
    distance, name = min(near, default=(np.inf, ""))
    return name if distance <= MERGE_DISTANCE else ""
