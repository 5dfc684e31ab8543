"""MAP-CMA: CMA with an egocentric semantic map in the place of the color image.

The policy itself remembers nothing of earlier episodes; its map may. How long a map is kept is not the policy's
business but that of the agent (`agent.py`) or of training.

Reference: Krantz et al. 2022, Iterative Vision-and-Language Navigation, section 4.2.2 and Figure 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

from itinera.policies.ground.cross_modal import SMALL_SIZES, CMAState, CrossModalConfig, CrossModalPolicy
from itinera.policies.ground.map_encoder import TOKENS, BagMapEncoder, ConvolutionalMapEncoder
from itinera.policies.ground.observation import GroundObservation


@dataclass(frozen=True)
class MapCMAConfig(CrossModalConfig):
    """Layer sizes of `MapCMA`; the defaults are the paper's."""

    map_encoder: Literal["convolutional", "bag"] = "convolutional"
    map_channels: int = 128  # features of a cell of 1.6 m
    num_classes: int = 13  # of occupied cells, void included
    map_positions: bool = False  # whether attention knows which cell is where


SMALL_MAP: dict[str, Any] = {"map_encoder": "bag", "map_channels": 48, "map_positions": True}
SMALL = MapCMAConfig(**SMALL_SIZES, **SMALL_MAP)


class MapCMA(CrossModalPolicy[CMAState]):
    """Cross-modal attention over the instruction, a map and the depth image."""

    config_class = MapCMAConfig
    uses_map = True

    def make_visual_encoder(self) -> tuple[int, int]:
        c = cast(MapCMAConfig, self.config)
        make = BagMapEncoder if c.map_encoder == "bag" else ConvolutionalMapEncoder
        self.map_encoder = make(c.num_classes, c.map_channels)
        self.map_cells = nn.Parameter(torch.randn(TOKENS, c.map_channels) * 0.1) if c.map_positions else None
        return c.map_channels, TOKENS * c.map_channels

    def encode_visual(self, observation: GroundObservation) -> tuple[Tensor, Tensor]:
        """See `CrossModalPolicy`; the whole is all cells side by side."""
        assert observation.map is not None
        cells: Tensor = self.map_encoder(observation.map)
        whole = cells.flatten(1)
        return (cells if self.map_cells is None else cells + self.map_cells), whole
