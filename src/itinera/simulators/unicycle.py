"""Driving as a unicycle: forward and turning speed held for a while, along exact arcs.

The actions are a table of speeds; `point_turn`, `unicycle_6` and `unicycle_15` are those of Yokoyama et al. 2021,
Success Weighted by Completion Time. Nobody drives backwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from itinera.errors import BadArgument
from itinera.simulators.ground import direction, footing_in, wrapped
from itinera.simulators.sensors import CameraSensor, Look, Sight
from itinera.simulators.simulator import Observation
from itinera.worlds import Pose, World
from itinera.worlds.body_state import Footing

Speeds = tuple[float, float]  # metres per second forward, radians per second to the left

VMAX, WMAX = 0.25, math.radians(10)
OFF_ARC = 1e-4  # metres; an arc is checked for contact along chords that leave it by no more


def point_turn(vmax: float = VMAX, wmax: float = WMAX) -> tuple[Speeds, ...]:
    """Four actions: stop, forward, left, right; never forward and turning at once."""
    return (0.0, 0.0), (vmax, 0.0), (0.0, wmax), (0.0, -wmax)


def unicycle_6(vmax: float = VMAX, wmax: float = WMAX) -> tuple[Speeds, ...]:
    """Six actions: those of `point_turn`, then forward to the left and forward to the right."""
    return *point_turn(vmax, wmax), (vmax, wmax), (vmax, -wmax)


def unicycle_15(vmax: float = VMAX, wmax: float = WMAX) -> tuple[Speeds, ...]:
    """Fifteen actions: standing, at half and at full speed, each straight, to the left by halves and to the right."""
    turning = (0.0, wmax / 2, wmax, -wmax / 2, -wmax)
    return tuple((v, w) for v in (0.0, vmax / 2, vmax) for w in turning)


class UnicycleSimulator:
    """A body on a surface that holds the speeds of an action for `hold` seconds; action 0 is STOP, both speeds zero.

    It drives along the arc up to the first contact, found by tracing chords at most 0.1 mm off the arc through every
    cell they cross; there it stays, or slides on along the wall. It turns on either way, as a round body can.
    """

    def __init__(
        self,
        speeds: Sequence[Speeds] = unicycle_6(),
        *,
        hold: float = 1.0,  # seconds
        sliding: bool = False,
        eye: CameraSensor | None = None,  # without one, nothing is drawn
    ) -> None:
        if not (math.isfinite(hold) and hold > 0):
            raise BadArgument(f"Speeds must be held for more than 0 seconds, not {hold}.")
        if not speeds or tuple(speeds[0]) != (0.0, 0.0):
            raise BadArgument("The first of the speeds must be (0, 0): action 0 is STOP.")
        if not all(math.isfinite(v) and math.isfinite(w) and v >= 0 for v, w in speeds):
            raise BadArgument("Speeds must be finite, and nobody drives backwards.")
        self._arcs = [_arc(v * hold, w * hold) for v, w in speeds]
        self._turns = [w * hold for _, w in speeds]
        self._hold, self._sliding = hold, sliding
        self._sight = None if eye is None else Sight(eye)
        self._look: Look | None = None
        self._footing: Footing | None = None
        self._world_id = ""
        self._heading = self._elevation = self._time = 0.0

    def reset(self, world: World, pose: Pose) -> Observation:
        self._footing = footing_in(world, pose)
        self._look = None if self._sight is None else self._sight.of(world)
        self._world_id = world.id
        self._heading, self._elevation, self._time = wrapped(pose.heading), pose.elevation, 0.0
        return self._observation(False)

    def step(self, action: int) -> Observation:
        if self._footing is None:
            raise BadArgument("The drive has not begun. Call start first.")
        if not 0 <= action < len(self._arcs):
            raise BadArgument(f"There is no action {action}: they are 0 to {len(self._arcs) - 1}.")
        clear = self._drive(self._footing, self._arcs[action])
        if action:
            self._heading = wrapped(self._heading + self._turns[action])
            self._time += self._hold
        return self._observation(not clear)

    @property
    def pose(self) -> Pose:
        if self._footing is None:
            raise BadArgument("The drive has not begun. Call start first.")
        return Pose(self._footing.place, self._heading, self._elevation)

    @property
    def actions(self) -> int:
        return len(self._arcs)

    def _drive(self, footing: Footing, arc: Sequence[tuple[float, float]]) -> bool:
        """Whether nothing was in the way."""
        clear, (cos, sin) = True, direction(self._heading)
        for ahead, aside in arc:
            passed = footing.move(ahead * cos - aside * sin, ahead * sin + aside * cos, sliding=self._sliding)
            clear = clear and passed
            if not (passed or self._sliding):
                break
        return clear

    def _observation(self, collided: bool) -> Observation:
        assert self._footing is not None
        place, heading, elevation = self._footing.place, self._heading, self._elevation
        frame = None if self._look is None else self._look(place, heading, elevation)
        return Observation(self._world_id, place, heading, elevation, None, None, frame, None, collided, self._time)


def _arc(length: float, turn: float) -> list[tuple[float, float]]:
    """The chords of an arc as moves ahead and to the left, seen along the heading at its beginning."""
    if not length:
        return []
    # Over an angle a, an arc of radius r is r a² / 8 off its chord.
    pieces = max(1, math.ceil(math.sqrt(length * abs(turn) / (8 * OFF_ARC))))
    points = [_on_arc(length * k / pieces, turn * k / pieces) for k in range(pieces + 1)]
    return [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(points)]


def _on_arc(length: float, turn: float) -> tuple[float, float]:
    """Where one is after so many metres and so much of a turn, without the last digits, in which libraries differ."""
    half = turn / 2
    chord = length * (math.sin(half) / half if half else 1.0)
    return round(chord * math.cos(half), 12), round(chord * math.sin(half), 12)
