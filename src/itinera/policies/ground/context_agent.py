"""What the agents of trained policies on the ground share: the policy, what it requires, and the context of a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, Self, TypeVar

import torch
from torch import Tensor

from itinera.errors import BadArgument
from itinera.mapping.config import MapLifetime
from itinera.policies.ground.requirements import GroundContext, GroundRequirements
from itinera.policies.tokenizer import Tokenizer
from itinera.rendering.camera import Frame
from itinera.simulators.simulator import Observation
from itinera.tasks import Instruction

PolicyType = TypeVar("PolicyType")
CAMERA_REMEDY = "Use camera=agent.requirements.camera(); itinera.run does so by itself."


class ContextAgent(ABC, Generic[PolicyType]):
    """An agent of a trained policy in the context of a run.

    `requirements` are the camera and the maps it needs, `context` is what a run gives it besides observations.
    `fingerprint` identifies the weights, `metadata` says how they were trained. `prepare` makes the memory.
    """

    def __init__(
        self,
        policy: PolicyType,
        tokenizer: Tokenizer,
        requirements: GroundRequirements,
        *,
        context: GroundContext | None = None,
        max_words: int = 80,
        fingerprint: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.requirements, self.fingerprint, self.metadata = requirements, fingerprint, dict(metadata or {})
        self.context = GroundContext() if context is None else context
        self._policy, self._tokenizer, self._max_words = policy, tokenizer, max_words
        self.prepare()

    @abstractmethod
    def prepare(self) -> None:
        """Make the agent's memory, in its context; called once."""

    def with_context(self, context: GroundContext) -> Self:
        """The same agent in another context, without memory."""
        return type(self)(
            self._policy,
            self._tokenizer,
            self.requirements,
            context=context,
            max_words=self._max_words,
            fingerprint=self.fingerprint,
            metadata=self.metadata,
        )

    @property
    def lifetime(self) -> MapLifetime:
        """How long a map is kept."""
        return self.requirements.lifetime if self.context.lifetime is None else self.context.lifetime

    def encode_words(self, instruction: Instruction) -> tuple[Tensor, Tensor]:
        """(1, words) the numbers of the words, and how many there are (1,)."""
        words = torch.from_numpy(self._tokenizer.encode(instruction.text, max_length=self._max_words))[None]
        return words, torch.tensor([words.shape[1]])

    def require_frame(self, observation: Observation) -> Frame:
        """The camera image of an observation; raises BadArgument if it has none."""
        if observation.frame is None:
            kind = "is on a navigation graph" if observation.candidates is not None else "has no camera image"
            camera = self.requirements.describe_camera()
            raise BadArgument(f"This agent needs {camera}, but the observation {kind}. {CAMERA_REMEDY}")
        return observation.frame
