"""TourHAMT: HAMT whose history includes the steps of earlier episodes of a tour.

The paper and the released code differ in details. Here the latest 50 history tokens are visible, [PREV] and [CLS]
included, and the oldest steps are dropped first (the released code may drop [CLS]). Steps of oracle phases are history
steps like any other; their numbers continue those of the agent's own steps.

[PREV] signals that there were earlier episodes. It cannot tell which steps belong to them, because attention does not
know the order of tokens and every episode counts its steps from 0. The same holds for the paper's model.

Reference: Krantz et al. 2022, Iterative Vision-and-Language Navigation, section 4.1 and Table 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import torch
from torch import Tensor, nn

from itinera.policies import hamt
from itinera.policies.hamt import HAMT, HAMTConfig, HAMTState
from itinera.policies.observation import ANGLE_DIM, GEOMETRY_DIM
from itinera.policies.tokenizer import Tokenizer
from itinera.rendering.panorama import VIEWS


@dataclass(frozen=True)
class TourHAMTConfig(HAMTConfig):
    """Layer sizes of `TourHAMT`; the defaults are the paper's."""

    max_step_positions: int = 50
    history_budget: int = 50  # history tokens, [PREV] and [CLS] included
    use_prev_token: bool = True  # the token [PREV] precedes the steps of earlier episodes


SMALL = TourHAMTConfig(**asdict(hamt.SMALL))


@dataclass(frozen=True)
class TourHAMTVariant:
    """A row of the paper's Table 2."""

    previous_history: bool  # PH: the steps of earlier episodes are in the history
    trained_history: bool  # TH: gradients flow through history tokens, those of earlier episodes included
    prev_token: bool  # PHI: the token [PREV]
    inflection_weighting: bool  # IW: see `itinera.training.losses.inflection_weighted_loss`

    @property
    def kind(self) -> str:
        """The kind of model (`checkpoint.POLICIES`)."""
        return "tour-hamt" if self.previous_history else "hamt"

    def configure(self, config: HAMTConfig) -> HAMTConfig:
        """The configuration of this variant with the sizes of another."""
        config = replace(config, train_history=self.trained_history)
        if not self.previous_history:
            return config
        return TourHAMTConfig(**asdict(config) | {"use_prev_token": self.prev_token})


TABLE_2 = {
    1: TourHAMTVariant(False, False, False, False),
    2: TourHAMTVariant(True, True, True, True),
    3: TourHAMTVariant(True, True, True, False),
    4: TourHAMTVariant(True, True, False, False),
    5: TourHAMTVariant(True, False, False, False),
}
"""The rows of Table 2; the first is HAMT."""


class TourHAMT(HAMT):
    """HAMT with memory of earlier episodes."""

    def __init__(self, columns: Sequence[str], tokenizer: Tokenizer, config: TourHAMTConfig | None = None) -> None:
        config = config or TourHAMTConfig()
        super().__init__(columns, tokenizer, config)
        self.step_budget = config.history_budget - 1 - config.use_prev_token
        self.prev_token = nn.Parameter(torch.zeros(config.hidden_dim)) if config.use_prev_token else None

    def encode_instruction(self, words: Tensor, lengths: Tensor) -> HAMTState:
        """The state before the first episode of a tour."""
        place_dim = self.num_features
        if self.config.use_panorama:
            place_dim += VIEWS * (self.num_features + ANGLE_DIM)
        width = place_dim + self.num_features + GEOMETRY_DIM
        raw = torch.zeros(len(words), 0, width, device=words.device)
        return replace(super().encode_instruction(words, lengths), raw_history=raw)

    def update_instruction(self, state: HAMTState, words: Tensor, lengths: Tensor) -> HAMTState:
        """The state before the next episode.

        Tokens of earlier steps are computed again from raw features, so that they are trained with this episode.
        """
        steps, moves, mask = self._latest_steps(state)
        fresh = self.encode_instruction(words, lengths)
        tokens = self.history_tokens(steps.flatten(0, 1), moves.reshape(-1), fresh.embeddings)
        tokens = tokens.reshape(*mask.shape, self.config.hidden_dim)
        return replace(fresh, earlier=steps, earlier_moves=moves, earlier_mask=mask, earlier_tokens=tokens)

    def _latest_steps(self, state: HAMTState) -> tuple[Tensor, Tensor, Tensor]:
        """Raw features of the latest steps of all episodes, the number of each within its episode, and their mask."""
        assert state.raw_history is not None
        steps, mask = state.raw_history, state.history_mask
        moves = mask.cumsum(dim=1) - mask.long()
        if state.earlier is not None and state.earlier_moves is not None and state.earlier_mask is not None:
            steps, moves = torch.cat([state.earlier, steps], dim=1), torch.cat([state.earlier_moves, moves], dim=1)
            mask = torch.cat([state.earlier_mask, mask], dim=1)
        count = min(self.step_budget, int(mask.sum(dim=1).max())) if mask.shape[1] else 0
        # A stable sort puts padding first and keeps the order of the steps; the last `count` columns remain.
        order = mask.long().argsort(dim=1, stable=True)[:, mask.shape[1] - count :]
        row = torch.arange(len(order), device=order.device)[:, None]
        return steps[row, order], moves[row, order], mask[row, order]

    def visible_history(self, state: HAMTState) -> tuple[Tensor, Tensor]:
        tokens, mask = state.history, state.history_mask
        if state.earlier_tokens is not None and state.earlier_mask is not None:
            tokens = torch.cat([state.earlier_tokens, tokens], dim=1)
            mask = torch.cat([state.earlier_mask, mask], dim=1)
        age = mask.flip(1).cumsum(dim=1).flip(1)  # 1 for the latest step, 2 for the one before, …
        mask = mask & (age <= self.step_budget)
        if state.earlier_tokens is not None and self.prev_token is not None:
            batch_size = len(tokens)
            token = self.history_norm(self.prev_token + self.token_types.weight[hamt.HISTORY_TOKEN])
            tokens = torch.cat([token.expand(batch_size, 1, -1), tokens], dim=1)
            mask = torch.cat([mask.new_ones(batch_size, 1), mask], dim=1)
        return tokens, mask
