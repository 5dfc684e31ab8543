"""Instruction encoders of policies on the ground: a vector per word, or one of the whole text."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from itinera.policies.text_encoder import BiLSTMTextEncoder
from itinera.policies.tokenizer import PAD, Tokenizer


@dataclass(frozen=True, eq=False)
class TextFeatures:
    """Encoded instructions."""

    states: Tensor  # (batch, max words, text_dim) of each word in its context
    mask: Tensor  # (batch, max words) False for padding


class WordEncoder(nn.Module):
    """A bidirectional LSTM over the words of an instruction, as in CMA.

    VLN-CE takes frozen 50-d GloVe vectors. Here the vectors are learned unless `train_words` is false; see
    `weights.load_word_vectors`. The layers are those of the policies on graphs (`text_encoder.py`), so that
    weights may be carried over.
    """

    def __init__(
        self, tokenizer: Tokenizer, *, word_dim: int, text_dim: int, dropout: float = 0.0, train_words: bool = True
    ) -> None:
        super().__init__()
        self.encoder = BiLSTMTextEncoder(len(tokenizer), word_dim=word_dim, hidden_dim=text_dim, dropout=dropout)
        self.embedding.weight.requires_grad_(train_words)

    @property
    def embedding(self) -> nn.Embedding:
        """The word vectors."""
        return self.encoder.embedding

    def forward(self, words: Tensor, lengths: Tensor) -> TextFeatures:
        text = self.encoder(words, lengths)
        return TextFeatures(text.states, text.mask)


class SentenceEncoder(nn.Module):
    """The last state of an LSTM over the words of an instruction, as in Seq2Seq."""

    def __init__(self, tokenizer: Tokenizer, *, word_dim: int, text_dim: int, train_words: bool = True) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(tokenizer), word_dim, padding_idx=PAD)
        self.embedding.weight.requires_grad_(train_words)
        self.lstm = nn.LSTM(word_dim, text_dim, batch_first=True)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        states, _ = self.lstm(self.embedding(words))
        row = torch.arange(len(words), device=words.device)
        last: Tensor = states[row, lengths - 1]
        return last
