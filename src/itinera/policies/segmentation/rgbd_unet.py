"""A small encoder-decoder with skip connections for color and depth: about a millisecond per 128 x 128 image on a core.

The first layer and the last one are strided, so that no feature map has the full resolution: the logits of 2 x 2 pixels
come from one place at half resolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate, pixel_shuffle

from itinera.policies.segmentation.network import SegmentationNetwork, focal_length
from itinera.policies.tokenizer import Tokenizer

FEATURES = 8  # per pixel: color, inverse depth, height above the camera, and the surface normal's three components


@dataclass(frozen=True)
class RGBDUNetConfig:
    """The sizes of a network."""

    dim_2: int = 32  # feature maps at 1/2 of the resolution
    dim_4: int = 64
    dim_8: int = 96
    dim_16: int = 128
    encoder_layers: int = 2  # blocks at each of the three lower resolutions
    fov_deg: int = 90  # horizontal field of view of the camera


class Block(nn.Module):
    """A residual block: a depthwise convolution, then two pointwise ones."""

    def __init__(self, dim: int, size: int = 5, ratio: int = 2) -> None:
        super().__init__()
        self.depthwise = conv_bn(dim, dim, size, groups=dim)
        self.expand = conv_bn(dim, ratio * dim, 1)
        self.reduce = conv_bn(ratio * dim, dim, 1)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.reduce(torch.relu(self.expand(self.depthwise(x))))
        return torch.relu(x + y)


def conv_bn(inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs))


class RGBDUNet(SegmentationNetwork):
    """Logits of labels from color and depth."""

    multiple = 16

    def __init__(
        self, labels: Sequence[str], tokenizer: Tokenizer | None = None, config: RGBDUNetConfig = RGBDUNetConfig()
    ) -> None:
        super().__init__()
        c = self.config = config
        dims = (c.dim_2, c.dim_4, c.dim_8, c.dim_16)
        self.stem = conv_bn(FEATURES, c.dim_2, 3, 2)
        self.first = Block(c.dim_2, 3, 1)
        self.down = nn.ModuleList(conv_bn(a, b, 3, 2) for a, b in pairwise(dims))
        self.encoder = nn.ModuleList(nn.Sequential(*(Block(dim) for _ in range(c.encoder_layers))) for dim in dims[1:])
        self.context = nn.Linear(c.dim_16, c.dim_16)
        self.up = nn.ModuleList(conv_bn(b, a, 1) for a, b in pairwise(dims))
        self.decoder = nn.ModuleList([Block(c.dim_2, 3, 1), *(Block(dim) for dim in dims[1:-1])])
        self.head = nn.Conv2d(c.dim_2, 4 * len(labels), 1)

    def forward(self, rgb: Tensor, depth: Tensor) -> Tensor:
        return pixel_shuffle(self.half_logits(rgb, depth), 2)

    def half_logits(self, rgb: Tensor, depth: Tensor) -> Tensor:
        """(n, 4 labels, height / 2, width / 2): logits of 2 x 2 pixels at each place, as `pixel_shuffle` expects."""
        x = torch.relu(self.stem(pixel_features(rgb, depth, self.config.fov_deg)))
        maps = [self.first(x)]
        for down, blocks in zip(self.down, self.encoder, strict=True):
            maps.append(blocks(torch.relu(down(maps[-1]))))
        x = maps.pop()
        x = x + self.context(x.mean(dim=(2, 3)))[:, :, None, None]
        for up, block, skip in zip(reversed(self.up), reversed(self.decoder), reversed(maps), strict=True):
            x = block(torch.relu(skip + interpolate(up(x), scale_factor=2.0, mode="nearest")))
        logits: Tensor = self.head(x)
        return logits


def pixel_features(rgb: Tensor, depth: Tensor, fov_deg: float) -> Tensor:
    """(n, FEATURES, height, width): what the first layer sees, from color and depth."""
    height, width = depth.shape[2:]
    focal = focal_length(width, fov_deg)
    across = ((torch.arange(width, device=depth.device, dtype=depth.dtype) + 0.5) - width / 2) / focal
    down = ((torch.arange(height, device=depth.device, dtype=depth.dtype) + 0.5) - height / 2) / focal
    near = depth.clamp(0.05, 20.0)
    x, y = near * across, near * down[:, None]
    inverse = 1 / near
    # Differences between the pixels around each one; the border repeats its neighbor's.
    points = torch.cat([x, y, near], dim=1)
    right = nn.functional.pad(points[..., 1:-1, 2:] - points[..., 1:-1, :-2], (1, 1, 1, 1), mode="replicate")
    below = nn.functional.pad(points[..., 2:, 1:-1] - points[..., :-2, 1:-1], (1, 1, 1, 1), mode="replicate")
    normal = nn.functional.normalize(torch.cross(below, right, dim=1), dim=1, eps=1e-6)
    features = torch.cat([2 * rgb - 1, inverse.clamp(max=3) - 0.5, -y.clamp(-3, 2), normal], dim=1)
    return features.contiguous(memory_format=torch.channels_last)
