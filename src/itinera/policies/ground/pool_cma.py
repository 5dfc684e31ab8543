"""PoolCMA and PoolEndCMA: CMA with a vector that keeps the maximum of the first GRU's states over a tour.

Both GRUs are reset in every episode. The memory starts at 0, is an input of the first GRU, and then becomes the
element-wise maximum of itself and the new state; no gradient flows through it. PoolEndCMA also joins the memory, as it
was before the step, to the state from which the action and the progress are predicted.

Only the first GRU needs the memory of the step before. So it is unrolled step by step, and everything else at once.

In oracle phases the first GRU continues and its states are pooled. The released code resets it at every step there,
because the episode is over.

Reference: Krantz et al. 2022, Iterative Vision-and-Language Navigation, section 4.2.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from itinera.policies.ground.base import GroundOutput, last_steps
from itinera.policies.ground.cma import SMALL_IMAGE, CMAConfig, ImagePolicy
from itinera.policies.ground.cross_modal import SMALL_SIZES, CMAFeatures, CMAState
from itinera.policies.ground.observation import GroundSequence
from itinera.policies.tokenizer import Tokenizer


@dataclass(frozen=True)
class PoolCMAConfig(CMAConfig):
    """Layer sizes of `PoolCMA` and `PoolEndCMA`; the defaults are the paper's."""


SMALL = PoolCMAConfig(**SMALL_SIZES, **SMALL_IMAGE)


@dataclass(frozen=True, eq=False)
class PoolState(CMAState):
    """The state of a CMA and the memory of the tour."""

    memory: Tensor  # (batch, hidden_dim) the maximum of the first GRU's states, at least 0


class PoolCMA(ImagePolicy[PoolState]):
    """CMA whose first GRU receives the memory of the tour."""

    config_class: type[Any] = PoolCMAConfig
    remembers_tours = True

    @property
    def vision_dim(self) -> int:
        return super().vision_dim + self.config.hidden_dim

    def make_state(self, *parts: Tensor) -> PoolState:
        vision, hidden, text_keys, text_values, text_mask = parts
        return PoolState(vision, hidden, text_keys, text_values, text_mask, torch.zeros_like(vision))

    def update_instruction(self, state: PoolState, words: Tensor, lengths: Tensor) -> PoolState:
        """The state before the next episode: all is new but the memory."""
        return replace(self.encode_instruction(words, lengths), memory=state.memory)

    def remember(self, state: PoolState, features: CMAFeatures) -> PoolState:
        return self.see(state, features)

    def recall(self, state: PoolState) -> Tensor:
        return state.memory

    def see(self, state: PoolState, features: CMAFeatures) -> PoolState:
        inputs = torch.cat([features.vision, state.memory], dim=1)
        vision = self.vision_gru(inputs[:, None], state.vision[None])[1][0]
        return replace(state, vision=vision, memory=torch.maximum(state.memory, vision.detach()))

    def see_sequence(
        self, state: PoolState, features: CMAFeatures, sequence: GroundSequence, count: int
    ) -> tuple[Tensor, Tensor, PoolState]:
        """See `CrossModalPolicy`; the memory is that before each step."""
        layout, size = sequence.steps, features.vision.shape[1]
        input_weight, recurrent_weight, input_bias, recurrent_bias = self.vision_gru.all_weights[0]
        # The part of the input that does not depend on the memory, for all steps at once.
        inputs = layout.pad(linear(features.vision, input_weight[:, :size], input_bias))
        weight, vision, memory = input_weight[:, size:], state.vision[::count], state.memory[::count]
        visions, memories, last_memory = [], [], memory
        for step in range(inputs.shape[1]):
            memories.append(memory)
            given = inputs[:, step] + linear(memory, weight)
            vision = _gru_step(given, linear(vision, recurrent_weight, recurrent_bias), vision)
            visions.append(vision)
            memory = torch.maximum(memory, vision.detach())
            last_memory = torch.where(layout.mask[:, step, None], memory, last_memory)
        seen = torch.stack(visions, dim=1)
        last = (last_steps(seen, layout.mask), last_memory)
        vision, memory = (values.repeat_interleave(count, dim=0) for values in last)
        return seen, torch.stack(memories, dim=1), replace(state, vision=vision, memory=memory)


class PoolEndCMA(PoolCMA):
    """PoolCMA that also predicts from the memory of the tour."""

    def __init__(self, columns: Sequence[str], tokenizer: Tokenizer, config: PoolCMAConfig | None = None) -> None:
        super().__init__(columns, tokenizer, config)
        self.memory_join = nn.Linear(2 * self.config.hidden_dim, self.config.hidden_dim)

    def predict(self, hidden: Tensor, memory: Tensor | None) -> GroundOutput:
        assert memory is not None
        return super().predict(torch.relu(self.memory_join(torch.cat([hidden, memory], dim=-1))), None)


def _gru_step(given: Tensor, recurrent: Tensor, state: Tensor) -> Tensor:
    """(batch, dim) the next state of a GRU from both parts (batch, 3 dim) of its gates."""
    given_reset, given_update, given_new = given.chunk(3, dim=1)
    reset, update, new = recurrent.chunk(3, dim=1)
    reset, update = torch.sigmoid(given_reset + reset), torch.sigmoid(given_update + update)
    candidate = torch.tanh(given_new + reset * new)
    return candidate + update * (state - candidate)
