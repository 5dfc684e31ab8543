"""A field without walls for tests of PPO: the goal is in the direction of its bearing, and nothing else matters."""

from __future__ import annotations

import math

import numpy as np

from itinera.seeding import generator
from itinera.simulators.pointnav.vectorized import Endings, StageStep

STEP, TURN, RADIUS = 0.25, math.radians(30), 0.3


class Field:
    """Where episodes begin: at most `max_distance` metres from the goal."""

    max_distance = 1.0


class OpenField:
    """Robots with the actions stop, forward, left and right; an episode has at most `limit` steps."""

    num_actions = 4

    def __init__(self, num_envs: int, field: Field, *, first_env: int = 0, limit: int = 30) -> None:
        self.num_envs, self.field, self.first_env, self.limit = num_envs, field, first_env, limit
        self.steps_taken = 0
        self.seeds: list[int | None] = []  # of the resets
        self.reset(0)

    def reset(self, seed: int | None = None):
        self.seeds.append(seed)
        self.rngs = [generator(seed or 0, "field", str(self.first_env + k)) for k in range(self.num_envs)]
        n = self.num_envs
        self.goal, self.start = np.zeros((n, 2)), np.zeros(n)  # metres ahead and to the left of the robot
        self.steps, self.driven = np.zeros(n, dtype=np.int64), np.zeros(n)
        for k in range(n):
            self._begin(k)
        return self._observe()

    def _begin(self, k: int) -> None:
        distance = self.rngs[k].uniform(0.6, self.field.max_distance)
        angle = self.rngs[k].uniform(-math.pi, math.pi)
        self.goal[k] = distance * math.cos(angle), distance * math.sin(angle)
        self.start[k], self.steps[k], self.driven[k] = distance, 0, 0.0

    def _observe(self):
        x, y = self.goal.T
        pointgoal = np.stack([np.hypot(x, y), np.arctan2(y, x)], axis=1).astype(np.float32)
        return {"pointgoal": pointgoal, "contact": np.zeros(self.num_envs, dtype=np.float32)}

    def step(self, actions):
        before = np.hypot(*self.goal.T)
        self.goal[actions == 1, 0] -= STEP
        self.driven[actions == 1] += STEP
        for action, turn in ((2, TURN), (3, -TURN)):
            rows = actions == action
            x, y = self.goal[rows].T
            cos, sin = math.cos(turn), math.sin(turn)
            self.goal[rows] = np.stack([cos * x + sin * y, cos * y - sin * x], axis=1)
        after = np.hypot(*self.goal.T)
        self.steps += 1
        self.steps_taken += self.num_envs
        terminated = actions == 0
        truncated = ~terminated & (self.steps >= self.limit)
        success = terminated & (after <= RADIUS)
        rewards = before - after - 0.01 + 2.5 * success
        index = np.flatnonzero(terminated | truncated)
        spl = success * self.start / np.maximum(self.start, self.driven)
        last = {name: values[index] for name, values in self._observe().items()}
        endings = Endings(
            index=index,
            episode_ids=("",) * len(index),
            stopped=terminated[index],
            success=success[index],
            spl=spl[index],
            lengths=self.driven[index],
            steps=self.steps[index].copy(),
            seconds=self.steps[index].astype(float),
            distances=after[index],
            start_distances=self.start[index].copy(),
            contacts=np.zeros(len(index), dtype=np.int64),
        )
        for k in index:
            self._begin(k)
        return StageStep(
            self._observe(), rewards, terminated, truncated, last, endings, np.zeros(self.num_envs, dtype=bool)
        )
