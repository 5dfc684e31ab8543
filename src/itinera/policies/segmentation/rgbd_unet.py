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
from torch.nn.functional import conv2d, interpolate, relu

from itinera.policies.segmentation.network import SegmentationNetwork, focal_length
from itinera.policies.tokenizer import Tokenizer

FEATURES = 5  # per pixel: color, inverse depth, height above the camera
NEAREST, FARTHEST = 0.3, 30.0  # metres; other depths are clamped


@dataclass(frozen=True)
class RGBDUNetConfig:
    """The sizes of a network."""

    dim_2: int = 16  # channels at 1/2 of the resolution
    dim_4: int = 48
    dim_8: int = 96
    dim_16: int = 128
    quarter_layers: int = 1  # blocks of the encoder at 1/4 of the resolution
    eighth_layers: int = 3
    sixteenth_layers: int = 3
    fov_deg: int = 90  # horizontal field of view of the camera


class Block(nn.Module):
    """A residual block: a depthwise convolution, then two pointwise ones."""

    def __init__(self, dim: int, size: int = 5, ratio: int = 2) -> None:
        super().__init__()
        self.depthwise = conv_bn(dim, dim, size, groups=dim)
        self.expand = conv_bn(dim, ratio * dim, 1)
        self.reduce = conv_bn(ratio * dim, dim, 1)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.reduce(relu(self.expand(self.depthwise(x)), inplace=True))
        return relu(y.add_(x), inplace=True)


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
        self.num_labels = len(labels)
        dims = (c.dim_2, c.dim_4, c.dim_8, c.dim_16)
        self.stem = conv_bn(FEATURES, c.dim_2, 3, 2)
        self.normal_stem = nn.Conv2d(3, c.dim_2, 1, bias=False)
        self.first = Block(c.dim_2, 3, 1)
        self.down = nn.ModuleList(conv_bn(a, b, 3, 2) for a, b in pairwise(dims))
        layers = ((c.dim_4, 3, c.quarter_layers), (c.dim_8, 5, c.eighth_layers), (c.dim_16, 5, c.sixteenth_layers))
        self.encoder = nn.ModuleList(nn.Sequential(*(Block(dim, size) for _ in range(n))) for dim, size, n in layers)
        self.context = nn.Linear(c.dim_16, c.dim_16)
        self.up = nn.ModuleList(conv_bn(b, a, 1) for a, b in pairwise(dims))
        self.decoder = nn.ModuleList([Block(c.dim_2, 3, 1), Block(c.dim_4, 3), Block(c.dim_8, 5)])
        self.head = nn.Conv2d(c.dim_2, 4 * len(labels), 1)
        self.to(memory_format=torch.channels_last)

    def forward(self, rgb: Tensor, depth: Tensor) -> Tensor:
        logits = self.grouped_logits(rgb, depth)
        n, height, width = logits.shape[:3]
        return logits.permute(0, 5, 1, 3, 2, 4).reshape(n, self.num_labels, 2 * height, 2 * width)

    def predict(self, rgb: Tensor, depth: Tensor) -> Tensor:
        best = self.grouped_logits(rgb, depth).argmax(dim=-1).to(torch.uint8)
        return best.transpose(2, 3).reshape(len(best), 2 * best.shape[1], 2 * best.shape[2])

    def grouped_logits(self, rgb: Tensor, depth: Tensor) -> Tensor:
        """(n, height / 2, width / 2, 2, 2, labels): as the head computes them, without a copy."""
        logits: Tensor = self.head(self.encode(rgb, depth))
        return logits.permute(0, 2, 3, 1).unflatten(3, (2, 2, self.num_labels))

    def corner_logits(self, rgb: Tensor, depth: Tensor, corner: int) -> Tensor:
        """(n, labels, height / 2, width / 2): of every second pixel in every second row; `corner` (0 … 3) says which.

        Training on one corner at a time takes much less time than on all of them.
        """
        part = slice(corner * self.num_labels, (corner + 1) * self.num_labels)
        return conv2d(self.encode(rgb, depth), self.head.weight[part], self.head.bias[part])  # type: ignore[index]

    def encode(self, rgb: Tensor, depth: Tensor) -> Tensor:
        """(n, dim_2, height / 2, width / 2): what the head sees."""
        pixels, normals = pixel_features(rgb, depth, self.config.fov_deg)
        maps = [self.first(relu(self.stem(pixels).add_(self.normal_stem(normals)), inplace=True))]
        for down, blocks in zip(self.down, self.encoder, strict=True):
            maps.append(blocks(relu(down(maps[-1]), inplace=True)))
        x = maps.pop()
        x = x + self.context(x.mean(dim=(2, 3)))[:, :, None, None]
        for up, block, skip in zip(reversed(self.up), reversed(self.decoder), reversed(maps), strict=True):
            x = block(relu(interpolate(up(x), scale_factor=2.0, mode="nearest").add_(skip), inplace=True))
        return x


def pixel_features(rgb: Tensor, depth: Tensor, fov_deg: float) -> tuple[Tensor, Tensor]:
    """What the first layers see: (n, FEATURES, height, width) and normals (n, 3, height / 2, width / 2)."""
    height, width = depth.shape[2:]
    focal = focal_length(width, fov_deg)
    columns, rows = (torch.arange(side, device=depth.device, dtype=depth.dtype) for side in (width, height))
    x, y = (columns + (0.5 - width / 2)) / focal, ((rows + (0.5 - height / 2)) / focal)[:, None]
    near = depth.clamp(NEAREST, FARTHEST)
    inverse = near.reciprocal()
    pixels = torch.empty((len(rgb), FEATURES, height, width), device=depth.device, dtype=depth.dtype)
    pixels = pixels.contiguous(memory_format=torch.channels_last)
    torch.sub(rgb, 0.5, out=pixels[:, :3])
    pixels[:, 3:4] = inverse
    torch.mul(near, -y, out=pixels[:, 4:])
    # A plane's inverse depth is linear in x and y; its slopes and its value at the center are the normal's components.
    a, b, c, d = inverse[..., ::2, ::2], inverse[..., ::2, 1::2], inverse[..., 1::2, ::2], inverse[..., 1::2, 1::2]
    across, down = (b - a + d - c) * (focal / 2), (c - a + d - b) * (focal / 2)
    ahead = a - across * x[::2] - down * y[::2]
    scale = (across * across + down * down + ahead * ahead).clamp_min_(1e-12).rsqrt_()
    return pixels, torch.cat([across * scale, down * scale, ahead * scale], dim=1)
