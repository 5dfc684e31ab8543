"""Readers of instructions: words in, a vector for each word out."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from itinera.policies.tokenizer import PAD


@dataclass(frozen=True, eq=False)
class Text:
    """Instructions that were read."""

    words: Tensor  # (walkers, longest, word size) the embedding of each word
    states: Tensor  # (walkers, longest, size) each word in its context
    mask: Tensor  # (walkers, longest) whether there is a word
    last: Tensor  # (walkers, size) the whole


def locked_dropout(values: Tensor, share: float, *, training: bool) -> Tensor:
    """Values (walkers, n, size) with some of the numbers of each walker left out, the same ones at every word.

    Gal and Ghahramani 2016. Drawing for each word anew takes longer than all the rest of reading.
    """
    if not training or share == 0:
        return values
    return values * kept_share(len(values), values.shape[2], share)[:, None]


def kept_share(walkers: int, size: int, share: float) -> Tensor:
    """(walkers, size) 0 for the share left out, and so much more than 1 for the others that the mean is 1."""
    return (torch.rand(walkers, size) >= share) / (1 - share)


class LSTMReader(nn.Module):
    """Embeds words and runs LSTMs over them, one in each direction."""

    def __init__(self, vocabulary: int, *, word: int, size: int, layers: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, word, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=1.0)
        inner = [word] + [size] * (layers - 1)
        self.onward = nn.ModuleList(nn.LSTM(given, size // 2, batch_first=True) for given in inner)
        self.backward_ = nn.ModuleList(nn.LSTM(given, size // 2, batch_first=True) for given in inner)
        self.dropout = dropout

    def forward(self, words: Tensor, lengths: Tensor) -> Text:
        mask = torch.arange(words.shape[1]) < lengths[:, None]
        embedded = locked_dropout(self.embedding(words), self.dropout, training=self.training)
        states = embedded
        for onward, back in zip(self.onward, self.backward_, strict=True):
            states = self._both_ways(onward, back, states, lengths)
            states = locked_dropout(states, self.dropout, training=self.training)
        return Text(embedded, states, mask, whole(states, lengths))

    @staticmethod
    def _both_ways(onward: nn.Module, back: nn.Module, states: Tensor, lengths: Tensor) -> Tensor:
        # Packed sequences take twice as long: on the way back every step adds to a gradient of the whole sequence.
        ahead, _ = onward(states)
        behind, _ = back(reversed_within(states, lengths))
        return torch.cat([ahead, reversed_within(behind, lengths)], dim=2)


def reversed_within(states: Tensor, lengths: Tensor) -> Tensor:
    """(walkers, longest, size) each row turned round within its length; what stands behind stays."""
    column = torch.arange(states.shape[1])
    turned = lengths[:, None] - 1 - column
    index = torch.where(turned >= 0, turned, column) + states.shape[1] * torch.arange(len(states))[:, None]
    return states.flatten(0, 1).index_select(0, index.reshape(-1)).reshape(states.shape)


def whole(states: Tensor, lengths: Tensor) -> Tensor:
    """(walkers, size) the last state of the direction ahead and the first of the one back, which have read all."""
    half = states.shape[2] // 2
    last = states[torch.arange(len(states)), lengths - 1, :half]
    return torch.cat([last, states[:, 0, half:]], dim=1)
