"""HAMT with the heads of its pretraining tasks. The tasks are in `training/pretraining.py`."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from itinera.policies.hamt import HAMT, HAMTConfig
from itinera.policies.tokenizer import Tokenizer


def _make_head(input_dim: int, hidden_dim: int, output_dim: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(input_dim, hidden_dim),
        nn.ReLU(),
        nn.LayerNorm(hidden_dim, eps=1e-12),
        nn.Linear(hidden_dim, output_dim),
    )


class HAMTForPretraining(nn.Module):
    """A HAMT policy and a head for each proxy task except SAP, which uses the policy's own action head."""

    def __init__(self, columns: Sequence[str], tokenizer: Tokenizer, config: HAMTConfig | None = None) -> None:
        super().__init__()
        config = config or HAMTConfig()
        dim = config.hidden_dim
        self.policy = HAMT(columns, tokenizer, config)
        self.mask_token = nn.Parameter(torch.randn(dim) * 0.1)
        self.mlm_head = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.LayerNorm(dim, eps=1e-12))
        self.mlm_bias = nn.Parameter(torch.zeros(len(tokenizer)))
        self.sar_head = _make_head(dim, dim, 3)  # heading, elevation, progress
        self.sprel_head = _make_head(2 * dim, dim, 2)  # heading and elevation between two candidates
        self.mrc_head = _make_head(dim, dim, len(columns))
        self.itm_head = _make_head(dim, dim, 1)

    def word_logits(self, tokens: Tensor) -> Tensor:
        """(rows, words) logits of the words at these tokens; the output layer shares the word embeddings."""
        return linear(self.mlm_head(tokens), self.policy.embedding.weight, self.mlm_bias)


def load_pretrained_weights(policy: HAMT, pretrained: HAMTForPretraining) -> HAMT:
    """The policy with the weights of a pretrained model; parameters that only the policy has are kept."""
    policy.load_state_dict(policy.state_dict() | pretrained.policy.state_dict())
    return policy
