"""A PointNav policy as an agent: it knows where its goal is, and where it is itself, as the paper's robots do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from itinera.errors import BadArgument
from itinera.policies.ground.requirements import GroundContext
from itinera.policies.pointnav.observation import make_tensors
from itinera.policies.pointnav.policy import PointNavPolicy
from itinera.policies.pointnav.requirements import PointNavRequirements
from itinera.simulators.simulator import Observation
from itinera.tasks import Instruction
from itinera.worlds import Array


class PointNavAgent:
    """Chooses the most probable action of a policy.

    `requirements` are the sensor it needs, `fingerprint` identifies the weights, `metadata` says how they were trained.
    With a gate in its requirements, it does not stop farther from the goal than that.
    """

    def __init__(
        self,
        policy: PointNavPolicy,
        requirements: PointNavRequirements,
        *,
        context: GroundContext | None = None,
        fingerprint: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.requirements, self.fingerprint, self.metadata = requirements, fingerprint, dict(metadata or {})
        self._policy = policy
        if context is not None and context.num_actions != policy.config.num_actions:
            drive = {4: "point-turn", 6: "unicycle-6", 15: "unicycle-15"}.get(policy.config.num_actions, "NAME")
            raise BadArgument(
                f"This model was trained on a robot with {policy.config.num_actions} actions, but this one has "
                f"{context.num_actions}: give --drive {drive} (drive=)."
            )
        self._goal: Array | None = None
        self._forget()

    def with_context(self, context: GroundContext) -> PointNavAgent:
        """The same agent in another context, without memory."""
        return PointNavAgent(
            self._policy,
            self.requirements,
            context=context,
            fingerprint=self.fingerprint,
            metadata=self.metadata,
        )

    def reset(self, rng: np.random.Generator) -> None:
        """Start in a new scene without any memory."""
        # A batch of one gains nothing from threads, and with one thread results do not depend on other processes.
        torch.set_num_threads(1)
        self._goal = None
        self._forget()

    def start_episode(self, instruction: Instruction) -> None:
        """Take the goal of the next episode."""
        if instruction.point_goal is None:
            raise BadArgument("This agent needs a point as its goal: give PointNav tasks, which have one per episode.")
        self._goal = np.array(instruction.point_goal)
        self._forget()

    def act(self, observation: Observation) -> int:
        """The most probable action."""
        self._last_action = int(self._forward(observation).argmax())
        return self._last_action

    def action_probabilities(self, observation: Observation) -> Array:
        """(actions,) the probability of each action, STOP first."""
        return np.asarray(self._forward(observation).double().softmax(dim=0).numpy())

    def observe(self, observation: Observation) -> None:
        """Nothing: the memory of a PointNav agent is that of its episode."""

    def _forget(self) -> None:
        self._state = self._policy.start(1)
        self._last_action, self._start = 0, 1.0
        self._seen: Observation | None = None
        self._logits = torch.zeros(0)

    def _forward(self, observation: Observation) -> Tensor:
        """(actions,) the logits; a second call with the same observation does not step the policy again."""
        if observation is self._seen:
            return self._logits
        arrays = self._measure(observation)
        starts, actions = torch.tensor([self._start]), torch.tensor([self._last_action])
        tensors = make_tensors(arrays, self._policy.config.sensor, actions, starts)
        with torch.no_grad():
            output, self._state = self._policy(tensors, self._state)
        logits: Tensor = output.logits[0, 0]
        gate = self.requirements.gate
        if gate is not None and arrays["pointgoal"][0, 0] >= gate:
            logits = torch.cat([logits.new_tensor([-math.inf]), logits[1:]])
        self._seen, self._logits, self._start = observation, logits, 0.0
        return logits

    def _measure(self, observation: Observation) -> dict[str, NDArray[np.float32]]:
        """The arrays of a stage with one robot."""
        if self._goal is None:
            raise BadArgument("The agent has no goal yet. Call start_episode first.")
        if isinstance(observation.place, str):
            raise BadArgument("This agent drives on the ground, but the observation is on a navigation graph.")
        ahead, aside = (self._goal - np.asarray(observation.place))[:2].tolist()
        bearing = (math.atan2(aside, ahead) - observation.heading + math.pi) % math.tau - math.pi
        found = {
            "pointgoal": np.array([[math.hypot(ahead, aside), bearing]], dtype=np.float32),
            "contact": np.array([observation.collided], dtype=np.float32),
        }
        if self.requirements.scan is not None:
            found["scan"] = self._take_scan(observation)
        if self.requirements.depth is not None:
            found["depth"] = self._take_depth(observation)
        return found

    def _take_scan(self, observation: Observation) -> NDArray[np.float32]:
        scan = observation.scan
        if scan is None or scan.shape != (self.requirements.rays,):
            raise self._lacks("scan")
        return np.asarray(scan, dtype=np.float32)[None]

    def _take_depth(self, observation: Observation) -> NDArray[np.float32]:
        sensor, size = self.requirements.depth, self.requirements.size
        assert sensor is not None
        if observation.frame is None or observation.frame.depth.shape != (size, size):
            raise self._lacks("depth image")
        (rows, columns), (high, wide) = sensor.shape, sensor.pool
        depth = observation.frame.depth.reshape(rows, high, columns, wide).min(axis=(1, 3))
        return np.asarray(np.minimum(depth, sensor.max_range), dtype=np.float32)[None]

    def _lacks(self, what: str) -> BadArgument:
        return BadArgument(
            f"This agent needs {self.requirements.describe()}, but the observation has no such {what}. itinera.run "
            "gives it by itself."
        )
