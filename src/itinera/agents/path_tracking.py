"""Tracking of a planned path on the ground, replanned only if the body leaves it."""

from __future__ import annotations

import numpy as np

from itinera.simulators.simulator import STOP, Observation
from itinera.tasks.protocol import Protocol
from itinera.worlds import Array, Place, Pose
from itinera.worlds.surface import Surface

REPLAN_DISTANCE = 1e-3  # metres from the planned position


class PathTracker:
    """The actions of the greedy geodesic follower to a goal, one at a time, with the step and turn of a protocol.

    If no path reaches the goal, it ends with STOP where no step leads nearer, as Habitat's follower does.
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
        self.reached = False  # whether the planned path reaches the goal

    def __call__(self, observation: Observation) -> int:
        """The next action; after STOP, always STOP."""
        if self._stopped:
            return STOP
        position = np.asarray(observation.place, dtype=np.float64)
        if self._at == len(self._actions) or np.abs(self._positions[self._at] - position).max() > REPLAN_DISTANCE:
            self._plan(observation)
        self._at += 1
        self._stopped = self._actions[self._at - 1] == STOP
        return self._actions[self._at - 1]

    def _plan(self, observation: Observation) -> None:
        from itinera.planners.motion.geodesic_follower import (
            follow_geodesic,  # takes long to load, and on graphs nobody needs it
        )

        trail = follow_geodesic(
            self._surface,
            Pose(observation.place, observation.heading),
            self._goal,
            step=self._step,
            turn=self._turn,
            radius=self._radius,
            sliding=self._sliding,
            max_actions=self._limit,
        )
        self._positions, self._actions, self._at = trail.positions, trail.actions.tolist(), 0
        self.reached = trail.reached
