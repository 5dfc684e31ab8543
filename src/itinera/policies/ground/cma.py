"""CMA: cross-modal attention over the instruction, color image and depth image. See `cross_modal.py` for its step.

References: Krantz et al. 2020, Beyond the Nav-Graph; Krantz et al. 2022, Iterative Vision-and-Language Navigation,
section 4.2, where it is the agent without memory of earlier episodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

from itinera.policies.ground.cross_modal import SMALL_SIZES, C, CMAState, CrossModalConfig, CrossModalPolicy, add_cells
from itinera.policies.ground.image_encoders import TOKENS, make_image_encoder
from itinera.policies.ground.observation import GroundObservation


@dataclass(frozen=True)
class CMAConfig(CrossModalConfig):
    """Layer sizes of `CMA`; the defaults are the paper's."""

    image_encoder: Literal["resnet50", "small"] = "resnet50"
    image_channels: int = 2048  # features of a cell; those of "resnet50" are fixed
    rgb_size: int = 224  # pixels of a side


SMALL_IMAGE: dict[str, Any] = {"image_encoder": "small", "image_channels": 48, "rgb_size": 32}
SMALL = CMAConfig(**SMALL_SIZES, **SMALL_IMAGE)


class ImagePolicy(CrossModalPolicy[C]):
    """A cross-modal policy that sees the color image beside depth."""

    uses_rgb = True

    def make_visual_encoder(self) -> tuple[int, int]:
        c = cast(CMAConfig, self.config)
        self.rgb_size = c.rgb_size
        self.image_encoder = make_image_encoder(c.image_encoder, c.rgb_size, c.image_channels, trained=c.train_encoders)
        self.image_cells = nn.Parameter(torch.randn(TOKENS, c.cell_dim) * 0.1)
        channels = self.image_encoder.dim + c.cell_dim
        return channels, channels

    def encode_visual(self, observation: GroundObservation) -> tuple[Tensor, Tensor]:
        """See `CrossModalPolicy`; the whole is the mean of the cells."""
        assert observation.rgb is not None
        cells = add_cells(self.image_encoder(observation.rgb), self.image_cells)
        return cells, cells.mean(dim=1)


class CMA(ImagePolicy[CMAState]):
    """Cross-modal attention; every episode starts without memory."""

    config_class = CMAConfig
