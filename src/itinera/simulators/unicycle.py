"""The unicycle simulator: each action holds a speed and a turning speed for a while, along an exact arc.

The actions are a table of speeds; `point_turn`, `unicycle_6` and `unicycle_15` are those of Yokoyama et al. 2021,
Success Weighted by Completion Time. There is no reverse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from itinera.errors import BadArgument
from itinera.simulators.ground import place_body, unit_vector, wrap_angle
from itinera.simulators.pointnav.scan_renderer import ScanRenderer, TakeScan
from itinera.simulators.pointnav.sensors import ScanSensor
from itinera.simulators.sensors import CameraRenderer, CameraSensor, RenderFrame
from itinera.simulators.simulator import STOP, Observation
from itinera.worlds import Pose, World
from itinera.worlds.body_state import BodyState

Speeds = tuple[float, float]  # metres per second forward, radians per second to the left

VMAX, WMAX = 0.25, math.radians(10)
OFF_ARC = 1e-4  # metres, the largest distance of an arc from the chords along which collisions are checked


def point_turn(vmax: float = VMAX, wmax: float = WMAX) -> tuple[Speeds, ...]:
    """Four actions: stop, forward, left, right; never forward and turning at once."""
    return (0.0, 0.0), (vmax, 0.0), (0.0, wmax), (0.0, -wmax)


def unicycle_6(vmax: float = VMAX, wmax: float = WMAX) -> tuple[Speeds, ...]:
    """Six actions: those of `point_turn`, then forward to the left and forward to the right."""
    return *point_turn(vmax, wmax), (vmax, wmax), (vmax, -wmax)


def unicycle_15(vmax: float = VMAX, wmax: float = WMAX) -> tuple[Speeds, ...]:
    """Fifteen actions: speeds 0, 1/2 and 1 times vmax, each with turning speeds 0, ±1/2 and ±1 times wmax."""
    turning = (0.0, wmax / 2, wmax, -wmax / 2, -wmax)
    return tuple((v, w) for v in (0.0, vmax / 2, vmax) for w in turning)


class UnicycleSimulator:
    """A robot on a surface that holds the speeds of an action for `hold` seconds; action 0 is STOP, with speeds 0.

    It drives along the arc up to the first collision, found along chords at most 0.1 mm off the arc; there it stays, or
    slides along the wall. It completes its turn in either case, because it is round.
    """

    def __init__(
        self,
        speeds: Sequence[Speeds] = unicycle_6(),
        *,
        hold: float = 1.0,  # seconds
        sliding: bool = False,
        camera: CameraSensor | None = None,  # None: observations have no frame
        scan: ScanSensor | None = None,  # None: observations have no scan
    ) -> None:
        if not (math.isfinite(hold) and hold > 0):
            raise BadArgument(f"hold must be above 0 seconds, not {hold}.")
        if not speeds or tuple(speeds[0]) != (0.0, 0.0):
            raise BadArgument("The first pair of speeds must be (0, 0): action 0 is STOP.")
        if not all(math.isfinite(v) and math.isfinite(w) and v >= 0 for v, w in speeds):
            raise BadArgument("Speeds must be finite, and forward speeds at least 0.")
        self._speeds = tuple(speeds)
        self._arcs = [make_arc(v * hold, w * hold) for v, w in speeds]
        self._turns = [w * hold for _, w in speeds]
        self._hold, self._sliding = hold, sliding
        self._renderer = None if camera is None else CameraRenderer(camera)
        self._scanner = None if scan is None else ScanRenderer(scan)
        self._scan: TakeScan | None = None
        self._render: RenderFrame | None = None
        self._body: BodyState | None = None
        self._world_id = ""
        self._last = STOP
        self._heading = self._elevation = self._time = 0.0

    def reset(self, world: World, pose: Pose) -> Observation:
        self._body = place_body(world, pose)
        self._render = None if self._renderer is None else self._renderer.for_world(world)
        self._scan = None if self._scanner is None else self._scanner.for_body(world, self._body)
        self._world_id, self._last = world.id, STOP
        self._heading, self._elevation, self._time = wrap_angle(pose.heading), pose.elevation, 0.0
        return self._observation(False)

    def step(self, action: int) -> Observation:
        if self._body is None:
            raise BadArgument("No episode is running: call reset first.")
        if not 0 <= action < len(self._arcs):
            raise BadArgument(f"action must be 0 to {len(self._arcs) - 1}, not {action}.")
        clear = self._drive(self._body, self._arcs[action])
        self._last = action
        if action:
            self._heading = wrap_angle(self._heading + self._turns[action])
            self._time += self._hold
        return self._observation(not clear)

    def wait(self, seconds: float) -> None:
        self._time += seconds

    def continue_action(self, seconds: float) -> Observation:
        """The observation after the last action went on for some seconds more."""
        if self._body is None:
            raise BadArgument("No episode is running: call reset first.")
        speed, turning = self._speeds[self._last]
        clear = self._drive(self._body, make_arc(speed * seconds, turning * seconds))
        self._heading = wrap_angle(self._heading + turning * seconds)
        self._time += seconds
        return self._observation(not clear)

    @property
    def pose(self) -> Pose:
        if self._body is None:
            raise BadArgument("No episode is running: call reset first.")
        return Pose(self._body.place, self._heading, self._elevation)

    @property
    def actions(self) -> int:
        return len(self._arcs)

    def _drive(self, body: BodyState, arc: Sequence[tuple[float, float]]) -> bool:
        """Drive along an arc; whether there was no collision."""
        clear, (cos, sin) = True, unit_vector(self._heading)
        for ahead, aside in arc:
            passed = body.move(ahead * cos - aside * sin, ahead * sin + aside * cos, sliding=self._sliding)
            clear = clear and passed
            if not (passed or self._sliding):
                break
        return clear

    def _observation(self, collided: bool) -> Observation:
        assert self._body is not None
        place, heading, elevation = self._body.place, self._heading, self._elevation
        frame = None if self._render is None else self._render(place, heading, elevation)
        scan = None if self._scan is None else self._scan(self._body, heading)
        return Observation(
            self._world_id, place, heading, elevation, None, None, frame, None, collided, self._time, scan
        )


def make_arc(length: float, turn: float) -> list[tuple[float, float]]:
    """The chords of an arc as moves ahead and to the left, relative to the heading at its start."""
    if not length:
        return []
    # An arc of radius r over an angle a is at most r a² / 8 off its chord.
    pieces = max(1, math.ceil(math.sqrt(length * abs(turn) / (8 * OFF_ARC))))
    points = [_on_arc(length * k / pieces, turn * k / pieces) for k in range(pieces + 1)]
    return [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(points)]


def _on_arc(length: float, turn: float) -> tuple[float, float]:
    """The point after some metres and a turn, rounded to 12 digits: the last ones differ between math libraries."""
    half = turn / 2
    chord = length * (math.sin(half) / half if half else 1.0)
    return round(chord * math.cos(half), 12), round(chord * math.sin(half), 12)
