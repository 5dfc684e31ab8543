"""Walking on the ground by fixed steps and turns, as VLN-CE's and PointNav's robots do.

The robot is an upright cylinder; the surface it walks on was found for its radius and height.
"""

from __future__ import annotations

import math

from itinera.errors import BadArgument
from itinera.simulators.sensors import CameraSensor, Look, Sight
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import Protocol
from itinera.worlds import Pose, World
from itinera.worlds.body_state import Footing
from itinera.worlds.surface import Surface

FORWARD, LEFT, RIGHT, UP, DOWN = 1, 2, 3, 4, 5
SECONDS = 1.0  # an action takes; robots are asked for one once a second


class GroundSimulator:
    """A body on a surface: 0 STOP, 1 forward, 2 left, 3 right, and where it can tilt its view, 4 up and 5 down.

    A step that meets a wall ends there, or slides on along it; either way `collided` tells that it came short.
    """

    def __init__(
        self,
        *,
        step: float = 0.25,  # metres forward
        turn: float = math.radians(15),
        tilt: float | None = None,  # radians; None: it always looks level, or as it looked at the start
        sliding: bool = True,
        eye: CameraSensor | None = None,  # without one, nothing is drawn
    ) -> None:
        if not (math.isfinite(step) and step > 0):
            raise BadArgument(f"A step must be longer than 0 m, not {step}.")
        for name, angle in (("turn", turn), ("tilt", math.pi if tilt is None else tilt)):
            if not 0 < angle <= math.pi:
                raise BadArgument(f"A {name} must lie between 0 and pi radians, not {angle}.")
        self._step, self._turn, self._tilt, self._sliding = step, turn, tilt, sliding
        turns = round(math.tau / turn)
        self._turns = turns if math.isclose(turns * turn, math.tau, rel_tol=1e-9) else 0  # to face the same way again
        self._sight = None if eye is None else Sight(eye)
        self._look: Look | None = None
        self._footing: Footing | None = None
        self._world_id = ""
        self._first = 0.0  # the heading at the start
        self._turned = 0  # turns to the left since
        self._facings: dict[int, tuple[float, float, float]] = {}
        self._elevation = self._time = 0.0

    @classmethod
    def for_protocol(cls, protocol: Protocol, *, eye: CameraSensor | None = None) -> GroundSimulator:
        """The body a protocol speaks of."""
        if protocol.step_size is None or protocol.turn_angle is None:
            raise BadArgument(f"Protocol {protocol.name} has no step and turn, so nobody walks on the ground by it.")
        return cls(
            step=protocol.step_size,
            turn=protocol.turn_angle,
            tilt=protocol.tilt_angle,
            sliding=bool(protocol.sliding),
            eye=eye,
        )

    def reset(self, world: World, pose: Pose) -> Observation:
        self._footing = footing_in(world, pose)
        self._look = None if self._sight is None else self._sight.of(world)
        self._world_id = world.id
        self._first, self._turned, self._facings = wrapped(pose.heading), 0, {}
        self._elevation, self._time = pose.elevation, 0.0
        return self._observation(False)

    def step(self, action: int) -> Observation:
        footing, collided = self._footing, False
        if footing is None:
            raise BadArgument("The walk has not begun. Call start first.")
        if action == FORWARD:
            _, dx, dy = self._facing()
            collided = not footing.move(dx, dy, sliding=self._sliding)
        elif action in (LEFT, RIGHT):
            self._turned += 1 if action == LEFT else -1
            if self._turns:
                self._turned %= self._turns
        elif self._tilt is not None and action in (UP, DOWN):
            lifted = self._elevation + (self._tilt if action == UP else -self._tilt)
            self._elevation = max(-math.pi / 2, min(math.pi / 2, lifted))
        elif action != STOP:
            raise BadArgument(f"There is no action {action}: they are 0 to {self.actions - 1}.")
        if action != STOP:
            self._time += SECONDS
        return self._observation(collided)

    @property
    def pose(self) -> Pose:
        if self._footing is None:
            raise BadArgument("The walk has not begun. Call start first.")
        return Pose(self._footing.place, self._facing()[0], self._elevation)

    @property
    def actions(self) -> int:
        return 4 if self._tilt is None else 6

    def _facing(self) -> tuple[float, float, float]:
        """The heading, and how far a step leads along x and y."""
        found = self._facings.get(self._turned)
        if found is None:
            heading = wrapped(self._first + self._turned * self._turn)
            along_x, along_y = direction(heading)
            found = self._facings[self._turned] = heading, along_x * self._step, along_y * self._step
        return found

    def _observation(self, collided: bool) -> Observation:
        assert self._footing is not None
        place, heading, elevation = self._footing.place, self._facing()[0], self._elevation
        frame = None if self._look is None else self._look(place, heading, elevation)
        return Observation(self._world_id, place, heading, elevation, None, None, frame, None, collided, self._time)


def footing_in(world: World, pose: Pose) -> Footing:
    """Where a body put at this pose stands."""
    if not isinstance(world.space, Surface):
        raise BadArgument(f"World {world.id} has no walkable surface, so nobody can walk freely in it.")
    if isinstance(pose.place, str):
        raise BadArgument(f"{pose.place} is the name of a node; on the ground one starts at a position (x, y, z).")
    if not (math.isfinite(pose.heading) and math.isfinite(pose.elevation)):
        raise BadArgument(f"A heading and an elevation must be finite, not {pose.heading} and {pose.elevation}.")
    return Footing(world.space, pose.place)


def wrapped(angle: float) -> float:
    """The same angle in (-pi, pi]."""
    turned = math.remainder(angle, math.tau)
    return turned if turned > -math.pi else math.pi


def direction(heading: float) -> tuple[float, float]:
    """The unit vector along a heading, without the last digits, in which libraries differ."""
    return round(math.cos(heading), 12), round(math.sin(heading), 12)
