"""Walking over the ground by a trail that is foreseen once, as long as the body goes where it was expected."""

from __future__ import annotations

import numpy as np

from itinera.simulators.simulator import STOP, Observation
from itinera.tasks.protocol import Protocol
from itinera.worlds import Array, Place, Pose
from itinera.worlds.surface import Surface

OFF_TRAIL = 1e-3  # metres from where it expected to be, from which on a new trail is looked for


class Trailing:
    """The actions of the greedy follower to a goal, one at a time, by the step and turn of a protocol.

    A trail that gave up is walked as well: it ends with STOP where no step leads nearer, as Habitat's follower does.
    """

    def __init__(self, surface: Surface, goal: Place, protocol: Protocol, *, radius: float, limit: int = 1000) -> None:
        assert protocol.step_size is not None
        assert protocol.turn_angle is not None
        self._surface, self._goal, self._radius, self._limit = surface, goal, radius, limit
        self._step, self._turn, self._sliding = protocol.step_size, protocol.turn_angle, bool(protocol.sliding)
        self._positions: Array = np.empty((0, 3))
        self._actions: list[int] = []
        self._at = 0
        self._stopped = False
        self.reached = False  # whether the trail walked leads to the goal

    def __call__(self, observation: Observation) -> int:
        """What to do from here; once STOP, always STOP."""
        if self._stopped:
            return STOP
        here = np.asarray(observation.place, dtype=np.float64)
        if self._at == len(self._actions) or np.abs(self._positions[self._at] - here).max() > OFF_TRAIL:
            self._foresee(observation)
        self._at += 1
        self._stopped = self._actions[self._at - 1] == STOP
        return self._actions[self._at - 1]

    def _foresee(self, observation: Observation) -> None:
        from itinera.planners.motion.geodesic_follower import (
            follow,  # takes long to load, and on graphs nobody needs it
        )

        trail = follow(
            self._surface,
            Pose(observation.place, observation.heading),
            self._goal,
            step=self._step,
            turn=self._turn,
            radius=self._radius,
            sliding=self._sliding,
            limit=self._limit,
        )
        self._positions, self._actions, self._at = trail.positions, trail.actions.tolist(), 0
        self.reached = trail.reached
