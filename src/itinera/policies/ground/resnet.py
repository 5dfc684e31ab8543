"""ResNet-50 as the encoder of depth and color images, in the sizes of VLN-CE.

`DepthResNet` is the depth encoder of DD-PPO (Wijmans et al. 2020): group normalization, base width 32, and a last
convolution to 128 channels. `ImageResNet` is ResNet-50 of He et al. 2016 without its classifier. Parameters have the
names of the published checkpoints, so that `weights.py` can load them; no weights come with Itinera.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from itinera.policies.ground.observation import to_unit

EXPANSION = 4
BLOCKS = (3, 4, 6, 3)  # of each stage
GRID = 4  # cells of a side of the features


class DepthResNet(nn.Module):
    """(n, 16, 128) features of depth images (n, 1, 256, 256)."""

    dim = 128
    size = 256  # pixels of a side

    def __init__(self, base_width: int = 32) -> None:
        super().__init__()
        self.backbone = _GroupNormResNet(base_width)
        self.compression = nn.Sequential(
            nn.Conv2d(8 * EXPANSION * base_width, self.dim, 3, padding=1, bias=False),
            nn.GroupNorm(1, self.dim),
            nn.ReLU(),
        )

    def forward(self, depth: Tensor) -> Tensor:
        features: Tensor = self.compression(self.backbone(functional.avg_pool2d(to_unit(depth), 2)))
        return features.flatten(2).transpose(1, 2)


class ImageResNet(nn.Module):
    """(n, 16, 2048) features of color images (n, 3, size, size), averaged over 4 x 4 areas.

    As in VLN-CE, colors are divided by 255 and not normalized by the mean and deviation of ImageNet.
    """

    dim = 2048

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.layer1, self.layer2, self.layer3, self.layer4 = (
            _stage(_BatchNormBlock, 64, k, stage) for k, stage in enumerate(BLOCKS)
        )

    def forward(self, images: Tensor) -> Tensor:
        features = torch.relu(self.bn1(self.conv1(to_unit(images))))
        features = functional.max_pool2d(features, 3, stride=2, padding=1)
        features = self.layer4(self.layer3(self.layer2(self.layer1(features))))
        return functional.adaptive_avg_pool2d(features, GRID).flatten(2).transpose(1, 2)


class _GroupNormResNet(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Sequential(
            nn.Conv2d(1, width, 7, stride=2, padding=3, bias=False), nn.GroupNorm(width // 2, width), nn.ReLU()
        )
        self.layer1, self.layer2, self.layer3, self.layer4 = (
            _stage(_GroupNormBlock, width, k, stage) for k, stage in enumerate(BLOCKS)
        )

    def forward(self, images: Tensor) -> Tensor:
        features = functional.max_pool2d(self.conv1(images), 3, stride=2, padding=1)
        deepest: Tensor = self.layer4(self.layer3(self.layer2(self.layer1(features))))
        return deepest


class _BatchNormBlock(nn.Module):
    """Three convolutions, 1 x 1, 3 x 3 and 1 x 1, around a shortcut."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = EXPANSION * width
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs)
        self.downsample = (
            nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs))
            if stride > 1 or inputs != outputs
            else nn.Identity()
        )

    def forward(self, features: Tensor) -> Tensor:
        inner = torch.relu(self.bn1(self.conv1(features)))
        inner = torch.relu(self.bn2(self.conv2(inner)))
        return torch.relu(self.bn3(self.conv3(inner)) + self.downsample(features))


class _GroupNormBlock(nn.Module):
    """The same with group normalization: half as many groups as the network's base width."""

    def __init__(self, inputs: int, width: int, stride: int, groups: int = 16) -> None:
        super().__init__()
        outputs = EXPANSION * width
        self.convs = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False),
            nn.GroupNorm(groups, width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False),
            nn.GroupNorm(groups, width),
            nn.ReLU(),
            nn.Conv2d(width, outputs, 1, bias=False),
            nn.GroupNorm(groups, outputs),
        )
        self.downsample = (
            nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.GroupNorm(groups, outputs))
            if stride > 1 or inputs != outputs
            else nn.Identity()
        )

    def forward(self, features: Tensor) -> Tensor:
        return torch.relu(self.convs(features) + self.downsample(features))


def _stage(block: type[_BatchNormBlock] | type[_GroupNormBlock], base: int, stage: int, count: int) -> nn.Sequential:
    """The blocks of a stage; all but the first stage halve the image in their first block."""
    width = base << stage
    inputs = base if stage == 0 else 2 * width  # the stage before has half the width, expanded by 4
    stride = 1 if stage == 0 else 2
    blocks = [block(inputs if k == 0 else EXPANSION * width, width, stride if k == 0 else 1) for k in range(count)]
    return nn.Sequential(*blocks)
