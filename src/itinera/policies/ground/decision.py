"""The decision network: it reads an instruction beside named views, and points at a bearing or stops.

A decision is a bearing, one of 24 bins of 15°, and a number of steps; or to stop. Two heads are added: a *pointer* that
scores each bin by what is seen there, and a *flat* one that scores bins by number. The architecture is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from itinera.agents.decisions import BINS, MAX_STEPS, STOP_HERE, Decision
from itinera.mapping.config import MapLifetime
from itinera.policies.ground.polar_views import CAMERA, NUMBERS, LabelWords, PolarViews
from itinera.policies.ground.remembered_views import RICH_MAP
from itinera.policies.ground.requirements import GroundRequirements
from itinera.policies.ground.word_bags import sum_words
from itinera.policies.text_encoder import locked_dropout, run_bidirectional
from itinera.policies.tokenizer import PAD, Tokenizer

BANDS = 3
STOP_BIN = BINS  # the logit of stopping
WINDOW = 2  # bins to either side that count as the same bearing
WEIGHT_SCALE = 1 / 8  # of the weights of words in sight


@dataclass(frozen=True)
class DecisionConfig:
    """Sizes of the network."""

    word_dim: int = 64
    text_dim: int = 128  # of both directions together
    bin_dim: int = 128
    hidden_dim: int = 128
    scorer_dim: int = 64
    dropout: float = 0.2
    remembers: bool = False  # views are those of a map of front views, not of four views all around
    labels: str = "names"  # "names" of things and rooms, "things" without rooms, or the 13 "classes"
    max_decisions: int = 20  # of an episode


SMALL = DecisionConfig(word_dim=32, text_dim=64, bin_dim=64, hidden_dim=64, scorer_dim=32)


def make_requirements(config: DecisionConfig, lifetime: MapLifetime = MapLifetime.EPISODIC) -> GroundRequirements:
    """The camera and map of an agent of this configuration, for its model card."""
    size = CAMERA.width, CAMERA.height
    if config.remembers:
        return GroundRequirements(*size, map=RICH_MAP, lifetime=lifetime, names=True)
    return GroundRequirements(*size, around=4, names=True)


@dataclass(frozen=True, eq=False)
class PolarTensors:
    """The words in sight of n places, and the numbers of their bins."""

    words: Tensor  # (m,) token ids
    rows: Tensor  # (m,) place * 72 + bin * 3 + band
    weights: Tensor  # (m,)
    numbers: Tensor  # (n, 24, 9)

    def to(self, device: torch.device) -> PolarTensors:
        return PolarTensors(*(getattr(self, name).to(device) for name in ("words", "rows", "weights", "numbers")))


def make_tensors(views: PolarViews, words: LabelWords) -> PolarTensors:
    """PolarViews as tensors, in the words of their labels."""
    ids, entries, counts = words.expand(views)
    place = np.repeat(np.arange(len(views)), counts)
    rows = place * (BINS * BANDS) + views.cells[entries]
    weights = views.weights[entries] * np.float32(WEIGHT_SCALE)
    return PolarTensors(*(torch.from_numpy(array) for array in (ids, rows, weights, views.numbers)))


def join_tensors(parts: Sequence[PolarTensors]) -> PolarTensors:
    """The places of several, one after another."""
    offset, rows = 0, []
    for part in parts:
        rows.append(part.rows + offset)
        offset += len(part.numbers) * BINS * BANDS
    words, weights, numbers = (torch.cat([getattr(p, name) for p in parts]) for name in ("words", "weights", "numbers"))
    return PolarTensors(words, torch.cat(rows), weights, numbers)


@dataclass(frozen=True, eq=False)
class BinFeatures:
    """The features of the bins of n places."""

    bins: Tensor  # (n, 24, bin_dim)
    bags: Tensor  # (n, 24, word_dim) the words of a bin at any distance


@dataclass(frozen=True, eq=False)
class DecisionState:
    """The state of a batch of agents."""

    embeddings: Tensor  # (batch, words, word_dim)
    states: Tensor  # (batch, words, text_dim)
    mask: Tensor  # (batch, words) False for padding
    scene: Tensor  # (batch, hidden_dim) what has been seen
    progress: Tensor  # (batch, hidden_dim) what has been done of the instruction
    previous: Tensor  # (batch, bin_dim) the features of the bin taken last


@dataclass(frozen=True, eq=False)
class DecisionOutput:
    """Logits of decisions; `steps_at` scores the number of steps to a bin."""

    logits: Tensor  # (batch, …, 25) the bins, then stop
    query: Tensor  # (batch, …, text_dim + hidden_dim)


class DecisionPolicy(nn.Module):
    """The network. It is made by `DecisionPolicy(columns, tokenizer, config)`; columns are not used."""

    config_class = DecisionConfig
    uses_rgb: bool = False
    uses_names: bool = True
    depth_size: int = 1  # of a side of the images that it sees: any camera will do
    map_size: int = RICH_MAP.size

    def __init__(
        self,
        columns: Sequence[str],
        tokenizer: Tokenizer,
        config: DecisionConfig = DecisionConfig(),
    ) -> None:
        super().__init__()
        c = self.config = config
        self.uses_map = c.remembers
        self.embedding = nn.Embedding(len(tokenizer), c.word_dim, padding_idx=PAD)
        self.forward_gru = nn.GRU(c.word_dim, c.text_dim // 2, batch_first=True)
        self.backward_gru = nn.GRU(c.word_dim, c.text_dim // 2, batch_first=True)
        self.bin_layer = nn.Linear(BANDS * c.word_dim + len(NUMBERS), c.bin_dim)
        self.seen_gru = nn.GRU(2 * c.bin_dim, c.hidden_dim, batch_first=True)
        self.first_text_query = nn.Linear(c.hidden_dim, c.text_dim)
        self.bin_query = nn.Linear(c.text_dim + c.hidden_dim, c.bin_dim)
        self.read_gru = nn.GRU(c.text_dim + c.bin_dim + c.hidden_dim, c.hidden_dim, batch_first=True)
        self.second_text_query = nn.Linear(c.hidden_dim, c.text_dim)
        query_dim = c.text_dim + c.hidden_dim
        self.pointer_query = nn.Linear(query_dim, c.bin_dim)
        self.scorer_bin = nn.Linear(c.bin_dim, c.scorer_dim)
        self.scorer_query = nn.Linear(query_dim, c.scorer_dim)
        self.scorer = nn.Linear(c.scorer_dim, 1)
        self.word_query = nn.Linear(c.word_dim, c.word_dim, bias=False)
        self.flat = nn.Sequential(nn.Linear(query_dim, c.hidden_dim), nn.ReLU(), nn.Linear(c.hidden_dim, BINS + 1))
        self.steps = nn.Sequential(
            nn.Linear(query_dim + c.bin_dim, c.hidden_dim), nn.ReLU(), nn.Linear(c.hidden_dim, MAX_STEPS)
        )

    def encode_instruction(self, words: Tensor, lengths: Tensor) -> DecisionState:
        """The state before the first decision of an episode; words (batch, n) are token ids."""
        c = self.config
        mask = torch.arange(words.shape[1], device=words.device) < lengths[:, None]
        embedded = locked_dropout(self.embedding(words), c.dropout, training=self.training)
        states = run_bidirectional(self.forward_gru, self.backward_gru, embedded, lengths)
        states = locked_dropout(states, c.dropout, training=self.training)
        zeros = embedded.new_zeros(len(words), c.hidden_dim)
        return DecisionState(embedded, states, mask, zeros, zeros, embedded.new_zeros(len(words), c.bin_dim))

    def encode_views(self, views: PolarTensors) -> BinFeatures:
        """The features of places, which depend neither on the instruction nor on earlier places."""
        c, n = self.config, len(views.numbers)
        bags = sum_words(self.embedding.weight, views.words, views.weights, views.rows, n * BINS * BANDS)
        by_band = bags.reshape(n, BINS, BANDS * c.word_dim)
        bins = torch.relu(self.bin_layer(torch.cat([by_band, views.numbers], dim=2)))
        bins = nn.functional.dropout(bins, c.dropout, training=self.training)
        return BinFeatures(bins, bags.reshape(n, BINS, BANDS, c.word_dim).sum(dim=2))

    def forward(self, state: DecisionState, features: BinFeatures) -> tuple[DecisionState, DecisionOutput]:
        """The next state and the output for one place of each agent; then call `take` with the bins chosen."""
        following, output = self.unroll(state, features, previous=state.previous[:, None])
        return following, DecisionOutput(output.logits[:, 0], output.query[:, 0])

    def take(self, state: DecisionState, features: BinFeatures, bins: Tensor) -> DecisionState:
        """The state of agents that took these bins (batch,)."""
        return replace(state, previous=select_bins(features.bins, bins))

    def unroll(
        self, state: DecisionState, features: BinFeatures, *, previous: Tensor
    ) -> tuple[DecisionState, DecisionOutput]:
        """The state after a sequence of places, and the outputs (batch, T, …).

        features: of r * T places, roll by roll. previous: (r, T, bin_dim) of the bin taken before each place.
        The state has as many rows as there are rolls, or k times as many: rows 0 to k - 1 are k instructions of the
        first roll, and so on.
        """
        rolls, steps = previous.shape[:2]
        count = len(state.mask) // rolls
        bins = features.bins.reshape(rolls, steps, BINS, -1)
        bags = features.bags.reshape(rolls, steps, BINS, -1)
        seen, last_seen = self.seen_gru(
            torch.cat([bins.amax(dim=2), previous], dim=2), state.scene[::count][None].contiguous()
        )

        def share(values: Tensor) -> Tensor:
            return values.repeat_interleave(count, dim=0) if count > 1 else values

        seen = share(seen)
        first, _ = self._attend(self.first_text_query(seen), state)
        bin_query = self.bin_query(torch.cat([first, seen], dim=2)).reshape(rolls, count * steps, 1, -1)
        keys = bins.repeat(1, count, 1, 1) if count > 1 else bins
        scores = (bin_query * keys).sum(dim=3) * keys.shape[3] ** -0.5
        looked = (scores.softmax(dim=2)[..., None] * keys).sum(dim=2).reshape(rolls * count, steps, -1)
        read, last_read = self.read_gru(torch.cat([first, looked, seen], dim=2), state.progress[None].contiguous())
        second, weights = self._attend(self.second_text_query(read), state)
        query = torch.cat([second, read], dim=2)
        by_roll = query.reshape(rolls, count, steps, -1)
        pointed = torch.einsum("rktd,rtbd->rktb", self.pointer_query(by_roll), bins) * bins.shape[3] ** -0.5
        hidden = torch.relu(self.scorer_bin(bins)[:, None] + self.scorer_query(by_roll)[:, :, :, None])
        pointed = pointed + self.scorer(hidden)[..., 0]
        words = self.word_query(weights @ state.embeddings).reshape(rolls, count, steps, -1)
        pointed = pointed + torch.einsum("rktd,rtbd->rktb", words, bags) * bags.shape[3] ** -0.5
        logits = self.flat(query)
        pointed = pointed.reshape(rolls * count, steps, BINS)
        logits = torch.cat([logits[..., :BINS] + pointed, logits[..., BINS:]], dim=2)
        following = replace(state, scene=share(last_seen[0]), progress=last_read[0])
        return following, DecisionOutput(logits, query)

    def score_steps(self, query: Tensor, features: Tensor) -> Tensor:
        """(…, 8) the logits of 1 to 8 steps, for the query of an output and the features of the bin chosen."""
        scores: Tensor = self.steps(torch.cat([query, features], dim=-1))
        return scores

    def _attend(self, query: Tensor, state: DecisionState) -> tuple[Tensor, Tensor]:
        """(batch, T, text_dim) the words attended to, and (batch, T, words) their weights."""
        scores = query @ state.states.transpose(1, 2) * state.states.shape[2] ** -0.5
        weights = scores.masked_fill(~state.mask[:, None], -torch.inf).softmax(dim=2)
        return weights @ state.states, weights


def select_bins(features: Tensor, bins: Tensor) -> Tensor:
    """(n, bin_dim) the features of one bin (n,) of each place (n, 24, bin_dim)."""
    return features.gather(1, bins[:, None, None].expand(-1, 1, features.shape[2]))[:, 0]


def window_mass(logits: Tensor) -> Tensor:
    """(…, 25) the log-probability of a bin within WINDOW of each bin, and of stopping."""
    log_probabilities = logits.log_softmax(dim=-1)
    around = [log_probabilities[..., :BINS].roll(shift, dims=-1) for shift in range(-WINDOW, WINDOW + 1)]
    summed = torch.stack(around).logsumexp(dim=0)
    return torch.cat([summed, log_probabilities[..., BINS:]], dim=-1)


def choose_bins(logits: Tensor) -> Tensor:
    """(…) the most probable bearing, or STOP_BIN.

    Training rewards probability anywhere in a window, so windows are compared with stopping; of the best window the
    most probable bin is chosen.
    """
    mass = window_mass(logits)
    best = mass[..., :BINS].argmax(dim=-1)
    offsets = torch.arange(-WINDOW, WINDOW + 1, device=logits.device)
    near = (best[..., None] + offsets) % BINS
    bins = near.gather(-1, logits.gather(-1, near).argmax(dim=-1, keepdim=True))[..., 0]
    stops = mass[..., BINS] > mass.gather(-1, best[..., None])[..., 0]
    return torch.where(stops, STOP_BIN, bins)


def decide(
    policy: DecisionPolicy, state: DecisionState, features: BinFeatures
) -> tuple[DecisionState, list[Decision], Tensor]:
    """The next state, the decision of each agent, and the logits (batch, 25)."""
    state, output = policy(state, features)
    chosen = choose_bins(output.logits)
    bins = chosen.clamp(max=BINS - 1)
    state = policy.take(state, features, bins)
    steps = policy.score_steps(output.query, state.previous).argmax(dim=1) + 1
    rows = zip(chosen.tolist(), steps.tolist(), strict=True)
    return state, [STOP_HERE if bin == STOP_BIN else Decision(bin, count) for bin, count in rows], output.logits
