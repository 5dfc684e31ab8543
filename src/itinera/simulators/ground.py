"""The simulator of discrete actions on the ground, as in VLN-CE and PointNav: fixed steps and turns.

The robot is an upright cylinder; its surface was computed for its radius and height.
"""

from __future__ import annotations

import math

from itinera.errors import BadArgument
from itinera.simulators.pointnav.scan_renderer import ScanRenderer, TakeScan
from itinera.simulators.pointnav.sensors import ScanSensor
from itinera.simulators.sensors import CameraRenderer, CameraSensor, RenderFrame
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import Protocol
from itinera.worlds import Array, Pose, World
from itinera.worlds.body_state import BodyState
from itinera.worlds.surface import Surface

FORWARD, LEFT, RIGHT, UP, DOWN = 1, 2, 3, 4, 5
SECONDS = 1.0  # duration of an action


class GroundSimulator:
    """A robot on a surface. Actions: 0 STOP, 1 forward, 2 left, 3 right, and with `tilt` 4 up and 5 down.

    A step that hits a wall ends there or slides along it; `collided` is true in either case.
    """

    def __init__(
        self,
        *,
        step: float = 0.25,  # metres forward
        turn: float = math.radians(15),
        tilt: float | None = None,  # radians; None: the camera keeps its elevation at the start
        sliding: bool = True,
        camera: CameraSensor | None = None,  # None: observations have no frame
        scan: ScanSensor | None = None,  # None: observations have no scan
    ) -> None:
        if not (math.isfinite(step) and step > 0):
            raise BadArgument(f"step must be above 0 m, not {step}.")
        for name, angle in (("turn", turn), ("tilt", math.pi if tilt is None else tilt)):
            if not 0 < angle <= math.pi:
                raise BadArgument(f"{name} must be above 0 and at most pi radians, not {angle}.")
        self._step, self._turn, self._tilt, self._sliding = step, turn, tilt, sliding
        turns = round(math.tau / turn)
        self._turns = (
            turns if math.isclose(turns * turn, math.tau, rel_tol=1e-9) else 0
        )  # in a full turn; 0 if not a whole number
        self._renderer = None if camera is None else CameraRenderer(camera)
        self._scanner = None if scan is None else ScanRenderer(scan)
        self._scan: TakeScan | None = None
        self._render: RenderFrame | None = None
        self._body: BodyState | None = None
        self._world_id = ""
        self._start_heading = 0.0  # the heading at the start
        self._left_turns = 0  # left turns since
        self._steps_by_turn: dict[int, tuple[float, float, float]] = {}
        self._elevation = self._time = 0.0

    @classmethod
    def for_protocol(
        cls, protocol: Protocol, *, camera: CameraSensor | None = None, scan: ScanSensor | None = None
    ) -> GroundSimulator:
        """The simulator of a protocol."""
        if protocol.step_size is None or protocol.turn_angle is None:
            raise BadArgument(f"Protocol {protocol.name} has no step size and turn angle: it is not on the ground.")
        return cls(
            step=protocol.step_size,
            turn=protocol.turn_angle,
            tilt=protocol.tilt_angle,
            sliding=bool(protocol.sliding),
            camera=camera,
            scan=scan,
        )

    def reset(self, world: World, pose: Pose) -> Observation:
        self._body = place_body(world, pose)
        self._render = None if self._renderer is None else self._renderer.for_world(world)
        self._scan = None if self._scanner is None else self._scanner.for_body(world, self._body)
        self._world_id = world.id
        self._start_heading, self._left_turns, self._steps_by_turn = wrap_angle(pose.heading), 0, {}
        self._elevation, self._time = pose.elevation, 0.0
        return self._observation(False)

    def step(self, action: int) -> Observation:
        body, collided = self._body, False
        if body is None:
            raise BadArgument("No episode is running: call reset first.")
        if action == FORWARD:
            _, dx, dy = self._heading_and_step()
            collided = not body.move(dx, dy, sliding=self._sliding)
        elif action in (LEFT, RIGHT):
            self._left_turns += 1 if action == LEFT else -1
            if self._turns:
                self._left_turns %= self._turns
        elif self._tilt is not None and action in (UP, DOWN):
            lifted = self._elevation + (self._tilt if action == UP else -self._tilt)
            self._elevation = max(-math.pi / 2, min(math.pi / 2, lifted))
        elif action != STOP:
            raise BadArgument(f"action must be 0 to {self.actions - 1}, not {action}.")
        if action != STOP:
            self._time += SECONDS
        return self._observation(collided)

    def wait(self, seconds: float) -> None:
        self._time += seconds

    @property
    def pose(self) -> Pose:
        if self._body is None:
            raise BadArgument("No episode is running: call reset first.")
        return Pose(self._body.place, self._heading_and_step()[0], self._elevation)

    @property
    def actions(self) -> int:
        return 4 if self._tilt is None else 6

    def _heading_and_step(self) -> tuple[float, float, float]:
        """The heading, and the step along x and y, metres."""
        found = self._steps_by_turn.get(self._left_turns)
        if found is None:
            heading = wrap_angle(self._start_heading + self._left_turns * self._turn)
            along_x, along_y = unit_vector(heading)
            found = self._steps_by_turn[self._left_turns] = heading, along_x * self._step, along_y * self._step
        return found

    def _observation(self, collided: bool) -> Observation:
        assert self._body is not None
        place, heading, elevation = self._body.place, self._heading_and_step()[0], self._elevation
        frame = None if self._render is None else self._render(place, heading, elevation)
        scan = None if self._scan is None else self._scan(self._body, heading)
        return Observation(
            self._world_id, place, heading, elevation, None, None, frame, None, collided, self._time, scan
        )


def place_body(world: World, pose: Pose) -> BodyState:
    """The state of a body placed at this pose."""
    if not isinstance(world.space, Surface):
        raise BadArgument(f"World {world.id} has no surface. Use a scene or a house of a Hearth season.")
    return BodyState(world.space, check_start(pose))


def check_start(pose: Pose) -> Array:
    """The place of a pose, if that is a pose on the ground; raises BadArgument."""
    if isinstance(pose.place, str):
        raise BadArgument(f"The start must be a position (x, y, z) on the ground, not the node {pose.place}.")
    if not (math.isfinite(pose.heading) and math.isfinite(pose.elevation)):
        raise BadArgument(f"Heading and elevation must be finite, not {pose.heading} and {pose.elevation}.")
    return pose.place


def wrap_angle(angle: float) -> float:
    """The same angle in (-pi, pi]."""
    turned = math.remainder(angle, math.tau)
    return turned if turned > -math.pi else math.pi


def unit_vector(heading: float) -> tuple[float, float]:
    """The unit vector along a heading, rounded to 12 digits: the last ones differ between math libraries."""
    return round(math.cos(heading), 12), round(math.sin(heading), 12)
