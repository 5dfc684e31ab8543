"""Encoders of depth and color images into 4 x 4 cells of features: ResNet-50 as in VLN-CE, and small ones for CPUs."""

from __future__ import annotations

from typing import TypeAlias

import torch
from torch import Tensor, nn

from itinera.errors import BadArgument
from itinera.policies.ground.observation import to_unit
from itinera.policies.ground.resnet import DepthResNet, ImageResNet

TOKENS = 16  # 4 x 4 cells of features
RESNET = "resnet50"  # the kind of encoder that is not the small one


class SmallImageEncoder(nn.Module):
    """(n, 16, dim) features of images (n, channels, size, size): three convolutions, the first without overlap."""

    def __init__(self, channels: int, size: int, dim: int) -> None:
        super().__init__()
        if size % TOKENS:
            raise BadArgument(f"The images of a small encoder have a multiple of {TOKENS} pixels, not {size}.")
        self.dim = dim
        patch = size // TOKENS
        self.first = nn.Conv2d(channels, dim // 2, patch, stride=patch)
        self.second = nn.Conv2d(dim // 2, 3 * dim // 4, 3, stride=2, padding=1)
        self.third = nn.Conv2d(3 * dim // 4, dim, 3, stride=2, padding=1)

    def forward(self, images: Tensor) -> Tensor:
        features = torch.relu(self.second(torch.relu(self.first(to_unit(images)))))
        return torch.relu(self.third(features)).flatten(2).transpose(1, 2)


class FrozenEncoder(nn.Module):
    """An encoder whose weights are not trained and whose normalization does not change; no gradients are kept."""

    def __init__(self, encoder: nn.Module, dim: int) -> None:
        super().__init__()
        self.encoder = encoder.requires_grad_(False).eval()
        self.dim = dim

    def train(self, mode: bool = True) -> FrozenEncoder:
        """Always in evaluation mode."""
        super().train(False)
        self.training = mode
        return self

    def forward(self, images: Tensor) -> Tensor:
        with torch.no_grad():
            features: Tensor = self.encoder(images)
        return features


ImageEncoder: TypeAlias = SmallImageEncoder | DepthResNet | ImageResNet | FrozenEncoder


def make_depth_encoder(kind: str, size: int, dim: int, *, trained: bool) -> ImageEncoder:
    """The encoder of depth images of `size` pixels; the small one has `dim` features, DD-PPO's always 128."""
    if kind == RESNET and size != DepthResNet.size:
        raise BadArgument(f"ResNet-50 sees depth images of {DepthResNet.size} pixels, not {size}.")
    encoder = DepthResNet() if kind == RESNET else SmallImageEncoder(1, size, dim)
    return encoder if trained else FrozenEncoder(encoder, encoder.dim)


def make_image_encoder(kind: str, size: int, dim: int, *, trained: bool) -> ImageEncoder:
    """The encoder of color images of `size` pixels; the small one has `dim` features, ResNet-50 always 2048."""
    encoder = ImageResNet() if kind == RESNET else SmallImageEncoder(3, size, dim)
    return encoder if trained else FrozenEncoder(encoder, encoder.dim)
