"""A driver that knows the answers: it steers to the goal by the speeds it has, along a shortest way over the ground.

With speeds that never go together it turns towards the next bend and goes straight; with arcs among them it pursues the
bend while driving. Start with `driver`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from itinera.agents.oracle import Expert, near_enough
from itinera.errors import BadArgument
from itinera.simulators.simulator import STOP, Observation
from itinera.simulators.unicycle import Speeds, UnicycleSimulator
from itinera.tasks import Episode, Protocol, Tour
from itinera.worlds import Array, Place, Pose, World
from itinera.worlds.distance_field import stand
from itinera.worlds.surface import Surface

PASSED = 0.15  # metres from a bend where the next one is steered for
DIGITS = 9  # of seconds that are compared; the last ones differ between machines


def driver(
    episodes: Sequence[Episode],
    worlds: Mapping[str, World],
    protocol: Protocol,
    speeds: Sequence[Speeds],
    *,
    hold: float = 1.0,
    tours: Sequence[Tour] = (),
) -> Expert:
    """An agent that drives every episode to its nearest goal by a table of speeds, each held for `hold` seconds.

    The table and the seconds must be those of the body that it drives, a `UnicycleSimulator`.
    """
    return Expert(episodes, worlds, protocol, tours=tours, over_ground=partial(Course, speeds=speeds, hold=hold))


@dataclass(frozen=True)
class _Pivot:
    """A turn on the spot, by one action again and again and perhaps another at the end."""

    turn: float  # radians to the left, in all
    action: int  # the first of them; STOP for no turn at all


class Course:
    """The actions that lead to a goal, one at a time.

    From where it is it foresees every pivot followed by one action ahead, leaves out what would meet a wall, and takes
    the one from which it would be there soonest: by the fastest leg to the next bend in the open, then along the rest
    of the shortest way at full speed.
    """

    def __init__(
        self, surface: Surface, goal: Place, protocol: Protocol, *, speeds: Sequence[Speeds], hold: float
    ) -> None:
        self._vmax, self._wmax = max(v for v, _ in speeds), max(w for _, w in speeds)
        self._pivots = [(action, w * hold) for action, (v, w) in enumerate(speeds) if v == 0 and w != 0]
        self._ahead = [action for action, (v, _) in enumerate(speeds) if v > 0]
        if not self._ahead or not {1.0, -1.0} <= {math.copysign(1.0, turn) for _, turn in self._pivots}:
            raise BadArgument("A driver needs speeds to go ahead and to turn on the spot to either side.")
        self._arcs = any(v > 0 and w != 0 for v, w in speeds)
        self._hold, self._radius = hold, near_enough(protocol)
        self._surface, self._field = surface, surface.field(np.asarray(goal, dtype=np.float64)[None])
        self._body, self._world = UnicycleSimulator(speeds, hold=hold), World("", surface)

    def __call__(self, observation: Observation) -> int:
        """What to do from here."""
        here = np.asarray(observation.place, dtype=np.float64)
        far = float(self._field.at(here[None])[0])
        if not self._radius < far < math.inf:
            return STOP
        best, chosen = math.inf, STOP
        for seconds, pivots in self._by_seconds():
            # Whatever comes later cannot be sooner than by going straight to the goal from here.
            if round(seconds + far / self._vmax, DIGITS) >= best:
                break
            for left, action in self._foreseen(observation, pivots):
                if round(seconds + left, DIGITS) < best:
                    best, chosen = round(seconds + left, DIGITS), action
        return chosen

    def _by_seconds(self) -> Iterator[tuple[float, list[_Pivot]]]:
        """All pivots up to half a turn, those that take no time first."""
        yield 0.0, [_Pivot(0.0, STOP)]
        sides = [[p for p in self._pivots if p[1] * side > 0] for side in (1, -1)]
        widest = max(abs(turn) for _, turn in self._pivots)
        for count in range(1, math.ceil(math.pi / widest) + 1):
            pivots = []
            for side in sides:
                fast, whole = max(side, key=lambda pivot: abs(pivot[1]))
                pivots += [_Pivot((count - 1) * whole + turn, action if count == 1 else fast) for action, turn in side]
            yield count * self._hold, pivots

    def _foreseen(self, observation: Observation, pivots: Sequence[_Pivot]) -> list[tuple[float, int]]:
        """The seconds from the end of each pivot to the goal by each clear action ahead, with what to do first."""
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
        left = self._hold + self._seconds(np.array([end.place for end in ends]), np.array([e.heading for e in ends]))
        return list(zip(left.tolist(), firsts, strict=True))

    def _seconds(self, places: Array, headings: Array) -> Array:
        """(n,) seconds from poses to the goal, walls beside the next leg aside; 0 where it may stop."""
        from itinera.planners.motion.dynamics import (  # takes long to load; who walks can do without
            legs,
            point_turn,
            unicycle,
        )

        ground, field = self._surface.ground, self._field
        spots = stand(ground, places)
        far, first = field.read(spots)
        bend = np.where(first == -1, field.turn[spots.cells], first)
        for _ in range(2):
            points = np.column_stack([field.turns["u"][bend], field.turns["v"][bend]]) * ground.size + ground.origin
            away = np.hypot(*(points - places[:, :2]).T)
            onward = field.turns["onward"][bend]
            bend = np.where((away < PASSED) & (onward >= 0), onward, bend)
        dynamics = (unicycle if self._arcs else point_turn)(self._vmax, self._wmax)
        _, leg = legs(dynamics, np.column_stack([places[:, :2], headings]), points)
        return np.where(far <= self._radius, 0.0, far / self._vmax + leg - away / self._vmax)
