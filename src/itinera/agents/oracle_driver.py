"""The shortest-path expert for bodies that hold speeds: it steers to the goal along a shortest path on the ground.

With speeds that either move or turn, it turns towards the next bend and drives straight; with arcs, it pursues the bend
while driving. Start with `make_driver`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from itinera.agents.oracle import ShortestPathExpert, stopping_distance
from itinera.errors import BadArgument
from itinera.simulators.simulator import STOP, Observation
from itinera.simulators.unicycle import Speeds, UnicycleSimulator
from itinera.tasks import Episode, Protocol, Tour
from itinera.worlds import Array, Place, Pose, World
from itinera.worlds.distance_field import snap_to_ground
from itinera.worlds.surface import Surface

BEND_DISTANCE = 0.15  # metres from a bend at which it steers for the next one
DIGITS = 9  # of seconds when compared; the last ones differ between machines


def make_driver(
    episodes: Sequence[Episode],
    worlds: Mapping[str, World],
    protocol: Protocol,
    speeds: Sequence[Speeds],
    *,
    hold: float = 1.0,
    tours: Sequence[Tour] = (),
) -> ShortestPathExpert:
    """An agent that drives to the nearest goal of every episode with a table of speeds, each held for `hold` seconds.

    Table and seconds must be those of the `UnicycleSimulator` it is used with.
    """
    controller = partial(DriveController, speeds=speeds, hold=hold)
    return ShortestPathExpert(episodes, worlds, protocol, tours=tours, make_controller=controller)


@dataclass(frozen=True)
class _Pivot:
    """A turn in place, by one action repeatedly and perhaps another at the end."""

    turn: float  # total radians, counter-clockwise
    action: int  # the first one; STOP for no turn


class DriveController:
    """The actions that lead to a goal, one at a time.

    It simulates every turn in place followed by one forward action, discards those that collide, and takes the one with
    the earliest estimated arrival: the fastest leg to the next bend without obstacles, then the rest of the shortest
    path at full speed.
    """

    def __init__(
        self, surface: Surface, goal: Place, protocol: Protocol, *, speeds: Sequence[Speeds], hold: float
    ) -> None:
        self._vmax, self._wmax = max(v for v, _ in speeds), max(w for _, w in speeds)
        self._pivots = [(action, w * hold) for action, (v, w) in enumerate(speeds) if v == 0 and w != 0]
        self._ahead = [action for action, (v, _) in enumerate(speeds) if v > 0]
        if not self._ahead or not {1.0, -1.0} <= {math.copysign(1.0, turn) for _, turn in self._pivots}:
            raise BadArgument("A driver needs speeds that move forward and that turn in place to either side.")
        self._arcs = any(v > 0 and w != 0 for v, w in speeds)
        self._hold, self._radius = hold, stopping_distance(protocol)
        self._surface, self._field = surface, surface.field(np.asarray(goal, dtype=np.float64)[None])
        self._body, self._world = UnicycleSimulator(speeds, hold=hold), World("", surface)

    def __call__(self, observation: Observation) -> int:
        """The next action."""
        position = np.asarray(observation.place, dtype=np.float64)
        distance = float(self._field.distances(position[None])[0])
        if not self._radius < distance < math.inf:
            return STOP
        best, chosen = math.inf, STOP
        for seconds, pivots in self._pivots_by_time():
            # No later candidate can arrive before one that drives straight to the goal from here.
            if round(seconds + distance / self._vmax, DIGITS) >= best:
                break
            for left, action in self._simulate(observation, pivots):
                if round(seconds + left, DIGITS) < best:
                    best, chosen = round(seconds + left, DIGITS), action
        return chosen

    def _pivots_by_time(self) -> Iterator[tuple[float, list[_Pivot]]]:
        """All turns in place up to half a turn, the shortest in time first."""
        yield 0.0, [_Pivot(0.0, STOP)]
        sides = [[p for p in self._pivots if p[1] * side > 0] for side in (1, -1)]
        widest = max(abs(turn) for _, turn in self._pivots)
        for count in range(1, math.ceil(math.pi / widest) + 1):
            pivots = []
            for side in sides:
                fast, whole = max(side, key=lambda pivot: abs(pivot[1]))
                pivots += [_Pivot((count - 1) * whole + turn, action if count == 1 else fast) for action, turn in side]
            yield count * self._hold, pivots

    def _simulate(self, observation: Observation, pivots: Sequence[_Pivot]) -> list[tuple[float, int]]:
        """Seconds from the end of each turn to the goal, for each forward action without collision, and the action to
        take first."""
        firsts, ends = [], []
        for pivot in pivots:
            for action in self._ahead:
                self._body.reset(self._world, Pose(observation.place, observation.heading + pivot.turn))
                end = self._body.step(action)
                if not end.collided:
                    firsts.append(pivot.action or action)
                    ends.append(end)
        if not ends:
            return []
        places, headings = np.array([end.place for end in ends]), np.array([end.heading for end in ends])
        left = self._hold + self._estimate_seconds(places, headings)
        return list(zip(left.tolist(), firsts, strict=True))

    def _estimate_seconds(self, places: Array, headings: Array) -> Array:
        """(n,) estimated seconds from poses to the goal, obstacles on the next leg ignored; 0 where it may stop."""
        from itinera.planners.motion.dynamics import (  # slow to import, and only drivers need it
            plan_legs,
            point_turn,
            unicycle,
        )

        ground, field = self._surface.ground, self._field
        points_on_ground = snap_to_ground(ground, places)
        distances, first = field.lookup(points_on_ground)
        bend = np.where(first == -1, field.turn[points_on_ground.cells], first)
        for _ in range(2):
            points = np.column_stack([field.turns["u"][bend], field.turns["v"][bend]]) * ground.size + ground.origin
            bend_distances = np.hypot(*(points - places[:, :2]).T)
            onward = field.turns["onward"][bend]
            bend = np.where((bend_distances < BEND_DISTANCE) & (onward >= 0), onward, bend)
        dynamics = (unicycle if self._arcs else point_turn)(self._vmax, self._wmax)
        _, leg = plan_legs(dynamics, np.column_stack([places[:, :2], headings]), points)
        seconds = distances / self._vmax + leg - bend_distances / self._vmax
        return np.where(distances <= self._radius, 0.0, seconds)
