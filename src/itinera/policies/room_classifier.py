"""A classifier of rooms: which type of room a place is in, and whether it is the room of the observer.

It takes how near the nearest visible thing of each name is (`simulators/inferred_views.py`), no image.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from itinera.policies.tokenizer import Tokenizer
from itinera.simulators.inferred_views import NEARNESS_SCALES
from itinera.simulators.views_at import NUM_ROOMS
from itinera.worlds import Array


@dataclass(frozen=True)
class RoomClassifierConfig:
    """Layer sizes."""

    hidden_dim: int = 96
    pair_dim: int = 48
    dropout: float = 0.3


class RoomClassifier(nn.Module):
    """Logits of the room type of each place, and of whether it is the same room as the observer's."""

    def __init__(
        self, columns: Sequence[str], tokenizer: Tokenizer, config: RoomClassifierConfig | None = None
    ) -> None:
        """`columns` are the names of things; the tokenizer is not used."""
        super().__init__()
        c = config or RoomClassifierConfig()
        self.names = tuple(columns)
        features = len(NEARNESS_SCALES) * (len(columns) + 1)
        self.encoder = nn.Sequential(
            nn.Dropout(c.dropout / 3), nn.Linear(features, c.hidden_dim), nn.ReLU(), nn.Dropout(c.dropout)
        )
        self.room = nn.Linear(c.hidden_dim, NUM_ROOMS)
        self.pair = nn.Sequential(
            nn.Linear(2 * c.hidden_dim + len(NEARNESS_SCALES), c.pair_dim),
            nn.ReLU(),
            nn.Dropout(c.dropout),
            nn.Linear(c.pair_dim, 1),
        )

    def forward(self, nearness: Tensor, observers: Tensor) -> tuple[Tensor, Tensor]:
        """(n, rooms) and (n,) logits for features (n, …); `observers` (n,) are the rows of the observers' places."""
        hidden = self.encoder(nearness)
        away = nearness[:, -len(NEARNESS_SCALES) :]
        pairs = torch.cat([hidden, hidden.index_select(0, observers), away], dim=1)
        return self.room(hidden), self.pair(pairs).squeeze(1)

    @torch.no_grad()
    def classify(self, nearness: NDArray[np.float32]) -> tuple[Array, Array]:
        """The probabilities that `inferred_views.RoomClassifier` asks for; the first place is the observer's."""
        features = torch.from_numpy(nearness)
        rooms, same = self(features, torch.zeros(len(features), dtype=torch.int64, device=features.device))
        return rooms.double().softmax(dim=1).numpy(), same.double().sigmoid().numpy()


ROOM_CLASSIFIER = Path(__file__).parent / "pretrained" / "perception" / "room-classifier.safetensors"
"""The model that comes with Itinera."""


def load_room_classifier(path: Path = ROOM_CLASSIFIER) -> RoomClassifier:
    """The classifier of a model file, ready to classify."""
    from itinera.policies.checkpoint import read_model

    torch.set_num_threads(1)
    model = read_model(path).model.policy
    assert isinstance(model, RoomClassifier)
    return model.eval()
