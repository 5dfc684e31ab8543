"""The style *pixel*: the model points at the floor in the image, and the robot goes there, as InternVLA-N1 is asked.

The depth of the pixel gives the bearing and the distance of its place over the ground; the robot turns to it and steps,
at most eight steps. For places outside the image the model turns in words, and it stops in words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from itinera.agents.decisions import MAX_STEPS
from itinera.agents.services.prompts import Question, Unparsable, clean_answer, find_action
from itinera.agents.services.words import GroundHistory, describe_moves, fall_back_on_ground, parse_moves
from itinera.errors import BadArgument
from itinera.simulators.ground import FORWARD, LEFT, RIGHT
from itinera.simulators.sensors import CameraSensor
from itinera.simulators.simulator import Observation
from itinera.tasks import Instruction, Protocol

SYSTEM = """\
You are a robot that carries out a navigation instruction inside a building. At each step you receive the image of the \
camera in front of you, {width} pixels wide and {height} pixels high, and decide where to go next: give the pixel x, y \
of a point on the floor of the last image, with x from 0 at the left to {right} at the right and y from 0 at the top \
to {bottom} at the bottom. You go towards it, at most {reach:.1f} m. If the right way is not in the image, answer \
"turn left 60 degrees" or "turn right 60 degrees" (any angle). Answer "stop" if you are at the place where the \
instruction ends. You cannot move any more after you stop, and you succeed only if you stop near the right place.

You may explain your decision in one or two sentences. End your answer with a line of the form:
Action: {middle}, {bottom}"""

_NUMBER = r"(-?\d{1,6}(?:\.\d{1,6})?)"
_PIXEL = re.compile(
    rf"[\s\"'*`(\[<]*(?:x\s*[=:]\s*)?{_NUMBER}\s*[,;\s]\s*(?:y\s*[=:]\s*)?{_NUMBER}[\s\"'*`)\]>.}}]*", re.IGNORECASE
)


class PixelStyle:
    """Questions that are answered by a pixel of the image."""

    def __init__(self, protocol: Protocol, sensor: CameraSensor, *, history: int) -> None:
        if protocol.step_size is None or protocol.turn_angle is None:
            raise BadArgument(f"Protocol {protocol.name} has no step size and turn angle: --prompt pixel needs both.")
        self._protocol, self._sensor = protocol, sensor
        self._step, self._turn = protocol.step_size, protocol.turn_angle
        self._memory = GroundHistory(history)
        width, height = sensor.camera.width, sensor.camera.height
        self.system = SYSTEM.format(
            width=width,
            height=height,
            right=width - 1,
            bottom=height - 1,
            middle=width // 2,
            reach=MAX_STEPS * self._step,
        )

    def reset(self) -> None:
        self._memory.start_episode(Instruction(""))

    def start_episode(self, instruction: Instruction) -> None:
        self._memory.start_episode(instruction)

    def observe(self, observation: Observation) -> None:
        """Nothing: images are those of questions."""

    def ask(self, observation: Observation) -> Question:
        return self._memory.question(observation, "")

    def parse(self, answer: str, observation: Observation) -> Sequence[int]:
        text = clean_answer(answer)
        stated = find_action(text) or text
        found = _PIXEL.fullmatch(stated)
        if found is None:
            actions = parse_moves(stated, self._protocol)
        else:
            actions = self._go_to(float(found[1]), float(found[2]), observation)
        self._memory.remember(describe_moves(actions, self._protocol))
        return actions

    def fall_back(self, rule: str, observation: Observation, rng: np.random.Generator) -> int:
        action = fall_back_on_ground(rule, rng)
        self._memory.remember(describe_moves([action], self._protocol))
        return action

    def _go_to(self, x: float, y: float, observation: Observation) -> list[int]:
        camera, frame = self._sensor.camera, observation.frame
        assert frame is not None
        if not (0 <= x <= camera.width and 0 <= y <= camera.height):
            raise Unparsable(
                f"names the pixel {x:g}, {y:g} outside the image of {camera.width} x {camera.height} pixels"
            )
        column, row = min(int(x), camera.width - 1), min(int(y), camera.height - 1)
        depth = float(frame.depth[row, column])
        if not math.isfinite(depth) or depth <= 0:
            raise Unparsable(f"names the pixel {x:g}, {y:g}, where the camera sees no surface")
        elevation = observation.elevation + self._sensor.elevation
        bearing, distance = locate_pixel(
            column + 0.5 - camera.width / 2, row + 0.5 - camera.height / 2, depth, camera.focal, elevation
        )
        turns = round(bearing / self._turn)
        steps = min(max(1, round(distance / self._step)), MAX_STEPS)
        return [LEFT if turns > 0 else RIGHT] * abs(turns) + [FORWARD] * steps


def locate_pixel(right: float, down: float, depth: float, focal: float, elevation: float) -> tuple[float, float]:
    """Bearing and distance over the ground of what a pixel shows: radians counter-clockwise from ahead, and metres.

    right, down: pixels from the middle of the image. depth: metres along the optical axis. elevation: of the axis.

    >>> locate_pixel(-100.0, 0.0, 2.0, 100.0, 0.0)
    (0.7853981633974483, 2.8284271247461903)
    """
    aside, below = depth * right / focal, depth * down / focal
    ahead = depth * math.cos(elevation) + below * math.sin(elevation)
    return math.atan2(-aside, ahead), math.hypot(aside, ahead)
