"""LSTM encoders of instructions: token ids in, a vector per word out."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from itinera.policies.tokenizer import PAD


@dataclass(frozen=True, eq=False)
class EncodedText:
    """Encoded instructions."""

    embeddings: Tensor  # (batch, max words, word_dim) of each word
    states: Tensor  # (batch, max words, hidden_dim) of each word in its context
    mask: Tensor  # (batch, max words) False for padding
    summary: Tensor  # (batch, hidden_dim) of the whole text


def locked_dropout(values: Tensor, rate: float, *, training: bool) -> Tensor:
    """Values (batch, n, dim) with the same dimensions dropped at every position of a sequence.

    Gal and Ghahramani 2016. Sampling a mask per word takes longer than the rest of the encoder.
    """
    if not training or rate == 0:
        return values
    return values * sample_dropout_mask(len(values), values.shape[2], rate, device=values.device)[:, None]


def sample_dropout_mask(batch_size: int, dim: int, rate: float, *, device: torch.device) -> Tensor:
    """(batch, dim) 0 with probability `rate`, else 1 / (1 - rate), so that the mean is 1."""
    return (torch.rand(batch_size, dim, device=device) >= rate) / (1 - rate)


class BiLSTMTextEncoder(nn.Module):
    """Word embeddings and a bidirectional LSTM; `hidden_dim` is that of both directions together."""

    def __init__(
        self, vocab_size: int, *, word_dim: int, hidden_dim: int, num_layers: int = 1, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, word_dim, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=1.0)
        dims = [word_dim] + [hidden_dim] * (num_layers - 1)
        self.forward_lstm = nn.ModuleList(nn.LSTM(dim, hidden_dim // 2, batch_first=True) for dim in dims)
        self.backward_lstm = nn.ModuleList(nn.LSTM(dim, hidden_dim // 2, batch_first=True) for dim in dims)
        self.dropout = dropout

    def forward(self, words: Tensor, lengths: Tensor) -> EncodedText:
        mask = torch.arange(words.shape[1], device=words.device) < lengths[:, None]
        embedded = locked_dropout(self.embedding(words), self.dropout, training=self.training)
        states = embedded
        for ahead, back in zip(self.forward_lstm, self.backward_lstm, strict=True):
            states = run_bidirectional(ahead, back, states, lengths)
            states = locked_dropout(states, self.dropout, training=self.training)
        return EncodedText(embedded, states, mask, final_states(states, lengths))


def run_bidirectional(ahead: nn.Module, back: nn.Module, states: Tensor, lengths: Tensor) -> Tensor:
    """(batch, n, 2 dim) the states of two LSTMs, one over each sequence and one over its reverse."""
    # Packed sequences take twice as long: in the backward pass every step adds to a gradient of the whole sequence.
    onward, _ = ahead(states)
    backward, _ = back(reverse_padded(states, lengths))
    return torch.cat([onward, reverse_padded(backward, lengths)], dim=2)


def reverse_padded(states: Tensor, lengths: Tensor) -> Tensor:
    """(batch, n, dim) each sequence reversed within its length; padding stays in place."""
    column = torch.arange(states.shape[1], device=states.device)
    reverse = lengths[:, None] - 1 - column
    row = torch.arange(len(states), device=states.device)[:, None]
    index = torch.where(reverse >= 0, reverse, column) + states.shape[1] * row
    return states.flatten(0, 1).index_select(0, index.reshape(-1)).reshape(states.shape)


def final_states(states: Tensor, lengths: Tensor) -> Tensor:
    """(batch, dim) the last state of the forward direction and the first of the backward one."""
    half = states.shape[2] // 2
    last = states[torch.arange(len(states), device=states.device), lengths - 1, :half]
    return torch.cat([last, states[:, 0, half:]], dim=1)
