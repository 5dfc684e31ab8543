"""What CMA and MAP-CMA share: attention over the instruction and two grids of features, between two GRUs.

A step is: (1) a first GRU over both grids and the previous action; (2) attention of its state over the words; (3)
attention of the words found over the cells of both grids; (4) a second GRU over everything; (5) a linear layer to
the four actions, and the progress monitor. One grid shows the depth image; the other, called visual here, is the
color image of CMA or the map of MAP-CMA.

The first GRU does not read the instruction. So instructions of one path share its states when a policy is unrolled.

Reference: Krantz et al. 2020, Beyond the Nav-Graph: Vision-and-Language Navigation in Continuous Environments.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor, nn

from itinera.policies.base import select_rows
from itinera.policies.ground.attention import attend
from itinera.policies.ground.base import GroundOutput, GroundPolicy, last_steps, texts_per_path
from itinera.policies.ground.image_encoders import TOKENS, make_depth_encoder
from itinera.policies.ground.instruction_encoder import WordEncoder
from itinera.policies.ground.observation import (
    COLLIDED,
    NUM_ACTIONS,
    NUM_PREVIOUS,
    GroundObservation,
    GroundSequence,
)
from itinera.policies.tokenizer import Tokenizer


@dataclass(frozen=True)
class CrossModalConfig:
    """Layer sizes of CMA and MAP-CMA; the defaults are the paper's."""

    word_dim: int = 50
    text_dim: int = 256  # of both directions of the LSTM
    hidden_dim: int = 512  # of either GRU
    key_dim: int = 256  # of all attention
    visual_dim: int = 256  # of the color image or map as a whole, and of what attention finds in it
    depth_dim: int = 128
    action_dim: int = 32
    cell_dim: int = 64  # of the learned embedding of each cell of an image
    depth_encoder: Literal["resnet50", "small"] = "resnet50"
    depth_channels: int = 128  # features of a cell; those of "resnet50" are fixed
    depth_size: int = 256  # pixels of a side
    train_encoders: bool = False  # of images; frozen ones need weights from elsewhere, see `weights.py`
    train_words: bool = True  # the paper's GloVe vectors are frozen
    observe_collisions: bool = False  # a forward step into an obstacle is a previous action of its own
    text_dropout: float = 0.0


SMALL_SIZES: dict[str, Any] = {
    "word_dim": 64,
    "text_dim": 128,
    "hidden_dim": 128,
    "key_dim": 64,
    "visual_dim": 96,
    "depth_dim": 64,
    "action_dim": 16,
    "cell_dim": 8,
    "depth_encoder": "small",
    "depth_channels": 32,
    "depth_size": 64,
    "train_encoders": True,
}
"""Sizes that train on a CPU, with a small depth encoder that is trained too."""


@dataclass(frozen=True, eq=False)
class CMAState:
    """The encoded instructions and the states of both GRUs."""

    vision: Tensor  # (batch, hidden_dim) of the first GRU
    hidden: Tensor  # (batch, hidden_dim) of the second
    text_keys: Tensor  # (batch, max words, key_dim)
    text_values: Tensor  # (batch, max words, text_dim)
    text_mask: Tensor  # (batch, max words) False for padding


@dataclass(frozen=True, eq=False)
class CMAFeatures:
    """What a step needs of its frames."""

    vision: Tensor  # (frames, …) the input of the first GRU
    action: Tensor  # (frames, action_dim) the previous action
    visual: Tensor  # (frames, 16, key_dim + visual_dim) keys and values of the cells of the color image or map
    depth: Tensor  # (frames, 16, key_dim + depth_dim)


C = TypeVar("C", bound=CMAState)


class CrossModalPolicy(GroundPolicy[C, CMAFeatures]):
    """Cross-modal attention between two GRUs; subclasses encode the color image or map."""

    steps_guided: bool = False
    """Whether the second GRU, too, is updated in oracle phases."""

    def __init__(self, columns: Sequence[str], tokenizer: Tokenizer, config: CrossModalConfig | None = None) -> None:
        super().__init__()
        c: CrossModalConfig = self.config_class() if config is None else config
        self.config = c
        self.depth_size = c.depth_size
        self.text_encoder = WordEncoder(
            tokenizer, word_dim=c.word_dim, text_dim=c.text_dim, dropout=c.text_dropout, train_words=c.train_words
        )
        self.depth_encoder = make_depth_encoder(
            c.depth_encoder, c.depth_size, c.depth_channels, trained=c.train_encoders
        )
        self.depth_cells = nn.Parameter(torch.randn(TOKENS, c.cell_dim) * 0.1)
        depth_channels = self.depth_encoder.dim + c.cell_dim
        self.depth_input = nn.Linear(TOKENS * depth_channels, c.depth_dim)
        self.depth_attention = nn.Linear(depth_channels, c.key_dim + c.depth_dim)
        cell_channels, whole_channels = self.make_visual_encoder()
        self.visual_input = nn.Linear(whole_channels, c.visual_dim)
        self.visual_attention = nn.Linear(cell_channels, c.key_dim + c.visual_dim)
        self.action_embedding = nn.Embedding(NUM_PREVIOUS - (not c.observe_collisions), c.action_dim)
        self.vision_gru = nn.GRU(self.vision_dim, c.hidden_dim, batch_first=True)
        self.text_query = nn.Linear(c.hidden_dim, c.key_dim)
        self.text_key = nn.Linear(c.text_dim, c.key_dim)
        self.cell_query = nn.Linear(c.text_dim, c.key_dim)
        self.join = nn.Linear(c.hidden_dim + c.text_dim + c.visual_dim + c.depth_dim + c.action_dim, c.hidden_dim)
        self.state_gru = nn.GRU(c.hidden_dim, c.hidden_dim, batch_first=True)
        self.action_head = nn.Linear(c.hidden_dim, NUM_ACTIONS)
        self.progress_head = nn.Linear(c.hidden_dim, 1)
        nn.init.orthogonal_(self.action_head.weight, gain=0.01)
        nn.init.zeros_(self.action_head.bias)

    @abstractmethod
    def make_visual_encoder(self) -> tuple[int, int]:
        """Make the encoder of the color image or map; the sizes of a cell's features and of those of the whole."""

    @abstractmethod
    def encode_visual(self, observation: GroundObservation) -> tuple[Tensor, Tensor]:
        """(frames, 16, …) the features of the cells, and (frames, …) those of the whole."""

    @property
    def vision_dim(self) -> int:
        """The size of the input of the first GRU."""
        return self.config.visual_dim + self.config.depth_dim + self.config.action_dim

    def encode_instruction(self, words: Tensor, lengths: Tensor) -> C:
        text = self.text_encoder(words, lengths)
        zeros = text.states.new_zeros(len(words), self.config.hidden_dim)
        return self.make_state(zeros, zeros, self.text_key(text.states), text.states, text.mask)

    def make_state(self, *parts: Tensor) -> C:
        """The state at the start of a tour, from its parts."""
        return CMAState(*parts)  # type: ignore[return-value]

    def encode_frames(self, observation: GroundObservation) -> CMAFeatures:
        cells, whole = self.encode_visual(observation)
        depth = add_cells(self.depth_encoder(observation.depth), self.depth_cells)
        action = self.action_embedding(self.previous_actions(observation))
        inputs = torch.relu(self.visual_input(whole)), torch.relu(self.depth_input(depth.flatten(1))), action
        return CMAFeatures(torch.cat(inputs, dim=1), action, self.visual_attention(cells), self.depth_attention(depth))

    def previous_actions(self, observation: GroundObservation) -> Tensor:
        """(frames,) the rows of the embedding of previous actions; unless observed, a collision is a forward step."""
        previous = observation.previous_action
        return previous if self.config.observe_collisions else torch.where(previous == COLLIDED, 2, previous)

    def step(self, state: C, features: CMAFeatures) -> tuple[C, GroundOutput]:
        following = self.see(state, features)
        text = self.read(following, following.vision[:, None])
        joined = self.ground(following.vision[:, None], text, features)
        hidden = self.state_gru(joined, following.hidden[None])[1][0]
        return replace(following, hidden=hidden), self.predict(hidden, self.recall(state))

    def see(self, state: C, features: CMAFeatures) -> C:
        """The state after the first GRU."""
        vision = self.vision_gru(features.vision[:, None], state.vision[None])[1][0]
        return replace(state, vision=vision)

    def unroll(self, state: C, sequence: GroundSequence) -> tuple[C, GroundOutput]:
        """See `GroundPolicy.unroll`. Instructions of a path share what the first one's first GRU remembers."""
        count = texts_per_path(state, sequence)
        if not self.remembers_tours:
            sequence = sequence.without_guided()
        features = self.encode_frames(sequence.frames)
        visions, memories, last = self.see_sequence(state, features, sequence, count)
        layout = sequence.steps if self.steps_guided else sequence.acting
        if layout is not sequence.steps and sequence.acting_frames is not None:
            features = select_rows(features, sequence.acting_frames)
        paths, steps = layout.index.shape
        visions = visions[:, :steps]
        text = self.read(state, visions.repeat_interleave(count, dim=0))
        text = layout.pack(text.reshape(paths, count, steps, -1).transpose(1, 2))  # (steps, count, …)
        vision = layout.pack(visions)[:, None].expand(-1, count, -1)
        joined = layout.pad(self.ground(vision, text, features))  # (paths, steps, count, …)
        joined = joined.transpose(1, 2).reshape(paths * count, steps, -1)
        hidden, _ = self.state_gru(joined, state.hidden[None])
        memory = None if memories is None else memories[:, :steps].repeat_interleave(count, dim=0)
        last_hidden = last_steps(hidden, layout.mask.repeat_interleave(count, dim=0))
        acting = sequence.mask.shape[1]
        memory = None if memory is None else memory[:, :acting]
        return replace(last, hidden=last_hidden), self.predict(hidden[:, :acting], memory)

    def see_sequence(
        self, state: C, features: CMAFeatures, sequence: GroundSequence, count: int
    ) -> tuple[Tensor, Tensor | None, C]:
        """The states (paths, frames, hidden_dim) of the first GRU, what `recall` returns before each, the last state.

        `count` is the number of instructions, and rows of the state, of a path.
        """
        layout = sequence.steps
        visions, _ = self.vision_gru(layout.pad(features.vision), state.vision[::count][None].contiguous())
        last = last_steps(visions, layout.mask).repeat_interleave(count, dim=0)
        return visions, None, replace(state, vision=last)

    def read(self, state: C, visions: Tensor) -> Tensor:
        """(batch, steps, text_dim) what attention finds in the instruction for states of the first GRU."""
        return attend(self.text_query(visions), state.text_keys, state.text_values, state.text_mask)

    def ground(self, vision: Tensor, text: Tensor, features: CMAFeatures) -> Tensor:
        """(frames, texts, hidden_dim) the input of the second GRU; `vision` and `text` are (frames, texts, …)."""
        key_dim = self.config.key_dim
        query = self.cell_query(text)
        found = [
            attend(query, cells[..., :key_dim], cells[..., key_dim:]) for cells in (features.visual, features.depth)
        ]
        action = features.action[:, None].expand(-1, text.shape[1], -1)
        joined: Tensor = torch.relu(self.join(torch.cat([vision, text, *found, action], dim=2)))
        return joined

    def recall(self, state: C) -> Tensor | None:
        """(batch, …) what `predict` needs of the state before a step besides the second GRU's."""
        return None

    def predict(self, hidden: Tensor, memory: Tensor | None) -> GroundOutput:
        """The output for states (…, hidden_dim) of the second GRU."""
        return GroundOutput(self.action_head(hidden), torch.tanh(self.progress_head(hidden)[..., 0]))


def add_cells(features: Tensor, cells: Tensor) -> Tensor:
    """(n, 16, dim + cell_dim) the features of cells with the learned embedding of each."""
    return torch.cat([features, cells.expand(len(features), -1, -1)], dim=2)
