"""What each action does to a body on the ground, as tables: steps and turns, or speeds that are held for a while."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.simulators.factory import make_speeds
from itinera.simulators.ground import SECONDS, GroundSimulator
from itinera.simulators.unicycle import Speeds, UnicycleSimulator, make_arc
from itinera.tasks import Protocol
from itinera.worlds import Array


@dataclass(frozen=True, eq=False)
class Motion:
    """The moves and the turn of each action; action 0 is STOP. Start with `steps`, `speeds` or `for_protocol`."""

    chords: Array  # (actions, k, 2) the moves in order: metres ahead and to the left of the heading before the action
    pieces: NDArray[np.int64]  # (actions,) the number of moves
    turns: Array  # (actions,) to the left, after the moves: multiples of `turn`, or radians where that is 0
    turn: float  # radians; 0: headings add up instead of being whole turns from the first
    period: int  # turns in a full circle; 0 if not a whole number
    duration: float  # seconds of an action

    @classmethod
    def steps(cls, step: float = 0.25, turn: float = math.radians(15)) -> Motion:
        """The motion of `GroundSimulator`: 1 forward, 2 left, 3 right."""
        GroundSimulator(step=step, turn=turn)  # refuses impossible values
        period = round(math.tau / turn)
        closes = math.isclose(period * turn, math.tau, rel_tol=1e-9)
        table = _tables([[], [(step, 0.0)], [], []])
        return cls(*table, np.array([0.0, 0.0, 1.0, -1.0]), turn, period if closes else 0, SECONDS)

    @classmethod
    def speeds(cls, speeds: Sequence[Speeds], *, hold: float = 1.0) -> Motion:
        """The motion of `UnicycleSimulator`: each action holds its speeds for `hold` seconds."""
        UnicycleSimulator(speeds, hold=hold)  # refuses impossible values
        table = _tables([make_arc(v * hold, w * hold) for v, w in speeds])
        return cls(*table, np.array([w * hold for _, w in speeds]), 0.0, 0, hold)

    @classmethod
    def for_protocol(cls, protocol: Protocol) -> Motion:
        """The motion of a protocol on the ground."""
        if protocol.step_size is None or protocol.turn_angle is None:
            raise BadArgument(f"Protocol {protocol.name} has no step size and turn angle: it is not on the ground.")
        if protocol.tilt_angle is not None:
            raise BadArgument(f"Protocol {protocol.name} tilts the camera, which many bodies at once cannot do.")
        if protocol.drive is not None:
            return cls.speeds(make_speeds(protocol))
        return cls.steps(protocol.step_size, protocol.turn_angle)

    @property
    def step_and_turn(self) -> tuple[float, float]:
        """The metres of action 1 and radians of action 2, if 1, 2, 3 are forward, left, right; else it raises."""
        angles = self.turns * (self.turn or 1.0)
        (step, aside), turn = self.chords[1, 0].tolist(), float(angles[2])
        if self.pieces[:4].tolist() != [0, 1, 0, 0] or aside or angles[1] or not step > 0 or not turn == -angles[3] > 0:
            raise BadArgument("The expert needs actions 1 to 3 to be forward, left and right, as those of point_turn.")
        return step, turn

    def __len__(self) -> int:
        """The number of actions."""
        return len(self.pieces)


def _tables(moves: Sequence[Sequence[tuple[float, float]]]) -> tuple[Array, NDArray[np.int64]]:
    """The moves of each action, padded to the same number, and how many there are."""
    pieces = np.array([len(rows) for rows in moves], dtype=np.int64)
    chords = np.zeros((len(moves), max(1, int(pieces.max())), 2))
    for action, rows in enumerate(moves):
        chords[action, : len(rows)] = np.reshape(rows, (-1, 2))
    return chords, pieces
