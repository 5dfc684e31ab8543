"""The speaker: generates an instruction for a path, and scores how well an instruction describes one.

Reference: introduced by Fried et al. 2018; this is the version of Tan et al. 2019 (EnvDrop), with two LSTMs over the
path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from itinera.policies.encoders import SoftDotAttention, VisualEncoder, encode_observation, mask_features
from itinera.policies.observation import BatchObservation, make_padded_index, pad_rows
from itinera.policies.text_encoder import final_states, locked_dropout, run_bidirectional
from itinera.policies.tokenizer import END, PAD, UNKNOWN, Tokenizer


@dataclass(frozen=True)
class SpeakerConfig:
    """Layer sizes of `Speaker`; the defaults are those of the authors' code."""

    word_dim: int = 256
    visual_dim: int = 2176
    path_dim: int = 512  # both directions together
    hidden_dim: int = 512
    dropout: float = 0.6
    use_panorama: bool = True  # attend to all 36 views; otherwise to the place and its candidates


PAPER = SpeakerConfig()
SMALL = SpeakerConfig(word_dim=96, visual_dim=192, path_dim=192, hidden_dim=192, dropout=0.2, use_panorama=False)
"""About 1.2 M parameters; trains in minutes on a CPU."""


@dataclass(frozen=True, eq=False)
class ObservedPaths:
    """Paths with the observation and the action at each of their places."""

    observation: BatchObservation  # of all places of the first path, then of the second, …
    action: Tensor  # (places,) STOP at the last place of each path
    counts: Tensor  # (paths,) places of each


@dataclass(frozen=True, eq=False)
class SpeakerState:
    """Encoded paths and the state of the decoder."""

    places: Tensor  # (paths, max places, path_dim)
    word_parts: Tensor  # (paths, max places, word_dim) the chosen candidates in the space of words
    mask: Tensor  # (paths, max places)
    hidden: Tensor  # (paths, hidden_dim)
    cell: Tensor  # (paths, hidden_dim)


class BiLSTM(nn.Module):
    """A bidirectional LSTM over padded sequences."""

    def __init__(self, input_dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.forward_lstm = nn.LSTM(input_dim, hidden_dim // 2, batch_first=True)
        self.backward_lstm = nn.LSTM(input_dim, hidden_dim // 2, batch_first=True)

    def forward(self, steps: Tensor, counts: Tensor) -> Tensor:
        return run_bidirectional(self.forward_lstm, self.backward_lstm, steps, counts)


class Speaker(nn.Module):
    """Encodes a path, then decodes an instruction word by word.

    Unlike the authors' model it can copy names: a feature raises the logits of the words in its name.
    """

    def __init__(self, columns: Sequence[str], tokenizer: Tokenizer, config: SpeakerConfig = PAPER) -> None:
        super().__init__()
        c = config
        self.uses_panorama = c.use_panorama
        self.embedding = nn.Embedding(len(tokenizer), c.word_dim, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.visual_encoder = VisualEncoder(columns, tokenizer, word_dim=c.word_dim, visual_dim=c.visual_dim)
        self.stop_embedding = nn.Parameter(torch.randn(c.visual_dim) * 0.1)
        self.action_lstm = BiLSTM(c.visual_dim, c.path_dim)
        self.visual_attention = SoftDotAttention(c.path_dim, c.visual_dim)
        self.view_context = nn.Linear(c.visual_dim + c.path_dim, c.path_dim, bias=False)
        self.context_lstm = BiLSTM(c.path_dim, c.path_dim)
        self.initial_state = nn.Linear(c.path_dim, 2 * c.hidden_dim)
        self.lstm = nn.LSTM(c.word_dim, c.hidden_dim, batch_first=True)
        self.path_query = nn.Linear(c.hidden_dim, c.path_dim, bias=False)
        self.path_context = nn.Linear(c.path_dim + c.hidden_dim, c.hidden_dim, bias=False)
        self.word_head = nn.Linear(c.hidden_dim, len(tokenizer))
        self.name_gate = nn.Linear(c.hidden_dim, c.word_dim)
        nn.init.ones_(self.name_gate.bias)
        self.dropout = nn.Dropout(c.dropout)

    def encode_paths(self, paths: ObservedPaths, *, environment: Tensor | None = None) -> SpeakerState:
        """The state before the first word; `environment` (features,) is a sample of `sample_environment`."""
        embeddings = mask_features(self.visual_encoder.embed_features(self.embedding.weight), environment)
        encoded = encode_observation(
            self.visual_encoder, embeddings, paths.observation, use_panorama=self.uses_panorama
        )
        padded_index = make_padded_index(paths.counts)
        mask = padded_index < len(paths.action)
        word_parts, rows = self.visual_encoder.word_part(encoded.pooled), len(encoded.candidates)
        word_parts = pad_rows(_select_actions(paths, word_parts[:rows], word_parts[rows:]), padded_index)
        actions = _select_actions(paths, encoded.candidates, encoded.place + self.stop_embedding)
        actions = self._locked_dropout(pad_rows(actions, padded_index))
        steps = self.action_lstm(actions, paths.counts)[mask]  # packed again
        visual = self.visual_attention(self.dropout(steps), encoded.views, encoded.mask, encoded.views)
        context = self.view_context(torch.cat([visual, steps], dim=1)).tanh()
        places = self.context_lstm(self._locked_dropout(pad_rows(context, padded_index)), paths.counts)
        places = self._locked_dropout(places)
        hidden, cell = self.initial_state(final_states(places, paths.counts)).tanh().chunk(2, dim=1)
        return SpeakerState(places, word_parts, mask, hidden.contiguous(), cell.contiguous())

    def _locked_dropout(self, values: Tensor) -> Tensor:
        return locked_dropout(values, self.dropout.p, training=self.training)

    def decode(self, state: SpeakerState, previous: Tensor) -> tuple[SpeakerState, Tensor]:
        """The next state, and (paths, n, vocabulary) logits of the words that follow the `previous` ones (paths, n)."""
        words = self._locked_dropout(self.embedding(previous))
        states, (hidden, cell) = self.lstm(words, (state.hidden[None], state.cell[None]))
        states = self._locked_dropout(states)
        scores = self.path_query(states) @ state.places.transpose(1, 2)
        weights = scores.masked_fill(~state.mask[:, None], -torch.inf).softmax(dim=2)
        context = self.path_context(torch.cat([weights @ state.places, states], dim=2)).tanh()
        context = self._locked_dropout(context)
        name_logits = (weights @ state.word_parts * self.name_gate(context)) @ self.embedding.weight.t()
        return replace(state, hidden=hidden[0], cell=cell[0]), self.word_head(context) + name_logits

    def word_losses(self, state: SpeakerState, words: Tensor, lengths: Tensor) -> Tensor:
        """(paths, max words + 1) the cross-entropy of each word of texts and of their END; zeros for padding."""
        targets = torch.cat([words, words.new_full((len(words), 1), PAD)], dim=1)
        targets = targets.scatter(1, lengths[:, None], END)
        previous = targets.roll(1, dims=1)
        previous[:, 0] = END  # END of the preceding text also marks the beginning
        _, logits = self.decode(state, previous)
        return cross_entropy(logits.transpose(1, 2), targets, ignore_index=PAD, reduction="none")

    @torch.no_grad()
    def generate(
        self, state: SpeakerState, *, max_words: int = 80, rng: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """Token ids (paths, max length) and lengths (paths,): greedy decoding, or sampling with `rng`.

        UNKNOWN is never generated; an empty text is a single END.
        """
        device = state.places.device
        previous = torch.full((len(state.places), 1), END, device=device)
        done, generated = torch.zeros(len(previous), dtype=torch.bool, device=device), list[Tensor]()
        while len(generated) < max_words and not bool(done.all()):
            state, logits = self.decode(state, previous)
            logits[:, 0, [PAD, UNKNOWN]] = -torch.inf
            previous = logits[:, 0].argmax(1, keepdim=True) if rng is None else _sample(logits[:, 0], rng)
            previous = previous.masked_fill(done[:, None], PAD)
            generated.append(previous)
            done = done | (previous.squeeze(1) == END)
        words = torch.cat(generated, dim=1)
        lengths = ((words != PAD) & (words != END)).sum(dim=1)
        lengths = lengths.clamp_min(1)  # an empty text is encoded as END
        words = words.masked_fill(torch.arange(words.shape[1], device=device) >= lengths[:, None], PAD)
        return words[:, : int(lengths.max())], lengths


def _select_actions(paths: ObservedPaths, candidates: Tensor, place: Tensor) -> Tensor:
    """(places, dim) the candidate chosen at each place, or the place itself for STOP."""
    moving = paths.action.nonzero().squeeze(1)
    rows = paths.observation.padded_index[moving, paths.action[moving] - 1]
    return place.index_copy(0, moving, candidates.index_select(0, rows))


def _sample(logits: Tensor, rng: torch.Generator) -> Tensor:
    return torch.multinomial(logits.softmax(dim=1), 1, generator=rng)
