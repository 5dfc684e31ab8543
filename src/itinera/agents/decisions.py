"""Decisions: a bearing and a number of steps, or stop; and the controller that carries one out as primitive actions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from itinera.errors import BadArgument
from itinera.simulators.ground import FORWARD, LEFT, RIGHT, wrap_angle
from itinera.simulators.simulator import Observation
from itinera.tasks import Protocol
from itinera.worlds import Array

BINS = 24  # bearings; bin 0 is ahead, bins count counter-clockwise
BIN = math.tau / BINS  # radians
MAX_STEPS = 8  # of a decision
MIN_PROGRESS = 0.5  # share of a step; a shorter one is blocked and ends the decision
NEAR = 0.05  # metres; an earlier place this close has no direction


@dataclass(frozen=True)
class Decision:
    """Turn to a bearing and go some steps; no steps means stop."""

    bin: int  # 0 … 23
    steps: int  # 1 … 8; 0 to stop

    @property
    def stops(self) -> bool:
        return self.steps == 0


STOP_HERE = Decision(0, 0)


def bearing_bin(angle: float) -> int:
    """The bin of an angle from straight ahead, radians counter-clockwise.

    >>> bearing_bin(0.1), bearing_bin(math.radians(16)), bearing_bin(math.radians(-16)), bearing_bin(math.pi)
    (0, 1, 23, 12)
    """
    return math.floor(angle / BIN + 0.5) % BINS


def back_bin(origin: Array | None, observation: Observation) -> int:
    """The bin in which an earlier place lies from here; -1 for none, or if it is here."""
    if origin is None:
        return -1
    away = origin - np.asarray(observation.place, dtype=np.float64)
    if math.hypot(away[0], away[1]) < NEAR:
        return -1
    return bearing_bin(wrap_angle(math.atan2(away[1], away[0]) - observation.heading))


class DecisionController:
    """Carries out decisions: first turns by the shorter side, then steps until one is blocked.

    `blocked` says whether a step of the last decision was blocked.
    """

    def __init__(self, protocol: Protocol) -> None:
        if protocol.step_size is None or protocol.turn_angle is None:
            raise BadArgument(f"Protocol {protocol.name} has no step size and turn angle, which decisions need.")
        self._step, self._turn = protocol.step_size, protocol.turn_angle
        self.reset()

    def reset(self) -> None:
        """Forget the decision in progress."""
        self._turns_left = self._steps_left = 0
        self._last: Array | None = None  # where the last step began
        self.blocked = False

    def start(self, decision: Decision) -> None:
        """Start to carry out a decision."""
        bearing = decision.bin if decision.bin <= BINS // 2 else decision.bin - BINS
        self._turns_left = round(bearing * BIN / self._turn)
        self._steps_left = decision.steps
        self._last, self.blocked = None, False

    def act(self, observation: Observation) -> int | None:
        """The next primitive action; None if the decision is done and another one is due."""
        if self._last is not None:
            gone = float(np.linalg.norm(np.asarray(observation.place, dtype=np.float64) - self._last))
            if observation.collided and gone < MIN_PROGRESS * self._step:
                self.blocked, self._steps_left = True, 0
        if self._turns_left:
            side = 1 if self._turns_left > 0 else -1
            self._turns_left -= side
            return LEFT if side > 0 else RIGHT
        if not self._steps_left:
            self._last = None
            return None
        self._steps_left -= 1
        self._last = np.array(observation.place, dtype=np.float64)
        return FORWARD
