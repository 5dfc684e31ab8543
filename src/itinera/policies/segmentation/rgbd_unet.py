"""A small encoder-decoder for color and depth: less than a millisecond per 128 x 128 image on a core.

It works on every second pixel of every second row. A pixel between those gets the label of the one that resembles it
most in color and depth: objects end where color or depth jump, so borders stay sharp at a quarter of the cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate, pixel_shuffle, relu

from itinera.policies.segmentation.network import SegmentationNetwork, best_labels, conv_bn, focal_length
from itinera.policies.tokenizer import Tokenizer

FEATURES = 8  # per pixel: color, inverse depth, height above the camera, three components of the surface normal
NEAREST, FARTHEST = 0.3, 30.0  # metres; other depths are clamped
COLOR_WEIGHTS = (1.13, 1.71, 0.87)  # of red, green and blue, where pixels are compared


@dataclass(frozen=True)
class RGBDUNetConfig:
    """The sizes of a network; resolutions are fractions of the pixels it works on."""

    dim_2: int = 32  # channels at 1/2 of the resolution
    dim_4: int = 48
    dim_8: int = 96
    dim_16: int = 128
    quarter_layers: int = 2  # blocks of the encoder at 1/4 of the resolution
    eighth_layers: int = 3
    sixteenth_layers: int = 2
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


class RGBDUNet(SegmentationNetwork):
    """Logits of labels from color and depth."""

    multiple = 32

    def __init__(
        self, labels: Sequence[str], tokenizer: Tokenizer | None = None, config: RGBDUNetConfig = RGBDUNetConfig()
    ) -> None:
        super().__init__()
        c = self.config = config
        dims = (c.dim_2, c.dim_4, c.dim_8, c.dim_16)
        self.stem = conv_bn(FEATURES, c.dim_2, 3, 2)
        self.first = Block(c.dim_2, 3, 1)
        self.down = nn.ModuleList(conv_bn(a, b, 3, 2) for a, b in pairwise(dims))
        layers = ((c.dim_4, c.quarter_layers), (c.dim_8, c.eighth_layers), (c.dim_16, c.sixteenth_layers))
        self.encoder = nn.ModuleList(nn.Sequential(*(Block(dim) for _ in range(count))) for dim, count in layers)
        self.context = nn.Linear(c.dim_16, c.dim_16)
        self.up = nn.ModuleList(conv_bn(b, a, 1) for a, b in pairwise(dims))
        self.decoder = nn.ModuleList([Block(c.dim_2, 3, 1), Block(c.dim_4), Block(c.dim_8)])
        self.head = nn.Conv2d(c.dim_2, 4 * len(labels), 1)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, rgb: Tensor, depth: Tensor) -> Tensor:
        return upsample_guided(self.coarse_logits(rgb, depth), rgb, depth)

    def predict(self, rgb: Tensor, depth: Tensor) -> Tensor:
        return upsample_guided(best_labels(self.coarse_logits(rgb, depth))[:, None], rgb, depth)[:, 0]

    def add_offsets(self, offsets: Tensor) -> None:
        """Add a number to all logits of each label: offsets (labels,)."""
        with torch.no_grad():
            self.head.bias += offsets.to(self.head.weight).repeat_interleave(4)  # type: ignore[operator]

    def coarse_logits(self, rgb: Tensor, depth: Tensor) -> Tensor:
        """(n, labels, height / 2, width / 2): logits of every second pixel of every second row."""
        x = pixel_features(rgb, depth, self.config.fov_deg)
        maps = [self.first(relu(self.stem(x), inplace=True))]
        for down, blocks in zip(self.down, self.encoder, strict=True):
            maps.append(blocks(relu(down(maps[-1]), inplace=True)))
        x = maps.pop()
        x = x + self.context(x.mean(dim=(2, 3)))[:, :, None, None]
        for up, block, skip in zip(reversed(self.up), reversed(self.decoder), reversed(maps), strict=True):
            x = block(relu(interpolate(up(x), scale_factor=2.0, mode="nearest").add_(skip), inplace=True))
        return pixel_shuffle(self.head(x).contiguous(), 2)


def pixel_features(rgb: Tensor, depth: Tensor, fov_deg: float) -> Tensor:
    """(n, FEATURES, height / 2, width / 2): what the first layer sees of every second pixel of every second row."""
    height, width = depth.shape[2:]
    focal = focal_length(width, fov_deg)
    columns, rows = (torch.arange(side, device=depth.device, dtype=depth.dtype) for side in (width, height))
    x, y = (columns + (0.5 - width / 2)) / focal, ((rows + (0.5 - height / 2)) / focal)[:, None]
    near = depth.clamp(NEAREST, FARTHEST)
    inverse = near.reciprocal()
    # A plane's inverse depth is linear in x and y; its slopes and its value at the center are the normal's components.
    a, b, c = inverse[..., ::2, ::2], inverse[..., ::2, 1::2], inverse[..., 1::2, ::2]
    across, down = (b - a) * focal, (c - a) * focal
    ahead = a - across * x[::2] - down * y[::2]
    scale = (across * across + down * down + ahead * ahead).clamp_min(1e-12).rsqrt()
    features = [rgb[..., ::2, ::2] - 0.5, a, near[..., ::2, ::2] * -y[::2], across * scale, down * scale, ahead * scale]
    return torch.cat(features, dim=1).contiguous(memory_format=torch.channels_last)


def upsample_guided(coarse: Tensor, rgb: Tensor, depth: Tensor) -> Tensor:
    """Values (n, c, height, width) of all pixels from those of every second one of every second row.

    A pixel in between takes the value of whichever of its two or four neighbors has the most similar color and inverse
    depth.
    """
    # One number per pixel is enough to compare: colors that differ hardly ever have the same sum with these weights.
    guide = rgb.permute(0, 2, 3, 1) @ rgb.new_tensor(COLOR_WEIGHTS) + depth[:, 0].clamp(NEAREST, FARTHEST).reciprocal()
    known = guide[:, ::2, ::2].contiguous()
    fine = coarse.new_empty((*coarse.shape[:2], *depth.shape[2:]))
    fine[..., ::2, ::2] = coarse
    for row, column in ((0, 1), (1, 0), (1, 1)):
        own = guide[:, row::2, column::2].contiguous()
        best, least = coarse, (own - known).abs_()
        for down, right in ((0, 1), (1, 0), (1, 1)):
            if down <= row and right <= column:
                difference = (own - _shift(known, down, right)).abs_()
                best = torch.where((difference < least)[:, None], _shift(coarse, down, right), best)
                least = torch.minimum(difference, least)
        fine[..., row::2, column::2] = best
    return fine


def _shift(values: Tensor, down: int, right: int) -> Tensor:
    """The values of the next row, the next column, or both; those of the last repeat."""
    if down:
        values = torch.cat([values[..., 1:, :], values[..., -1:, :]], dim=-2)
    return torch.cat([values[..., 1:], values[..., -1:]], dim=-1) if right else values
