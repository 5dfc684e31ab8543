"""The contract of a segmentation network: color and depth of a camera in, logits of labels out."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval


class SegmentationNetwork(nn.Module, ABC):
    """A network that labels every pixel; whatever normalization it needs happens inside.

    `multiple` is what the height and the width of an image must be divisible by.
    """

    multiple: int = 1

    @abstractmethod
    def forward(self, rgb: Tensor, depth: Tensor) -> Tensor | tuple[Tensor, ...]:
        """Logits (n, labels, height, width) of color (n, 3, height, width), 0 to 1, and depth (n, 1, height, width).

        Depth is in metres along the optical axis, inf in the background. In training mode a network may return
        further logits at lower resolutions, for deep supervision.
        """

    def predict(self, rgb: Tensor, depth: Tensor) -> Tensor:
        """(n, height, width) the most probable labels, as bytes."""
        logits = self(rgb, depth)
        assert isinstance(logits, Tensor), "predict needs a network in evaluation mode"
        return best_labels(logits)

    def merge_layers(self) -> SegmentationNetwork:
        """The network itself, in evaluation mode, with every batch normalization merged into its convolution.

        It computes the same and faster, but its weights have other names and it cannot be trained any more.
        """
        for module in list(self.modules()):
            if isinstance(module, nn.Sequential) and len(module) == 2 and isinstance(module[1], nn.BatchNorm2d):
                convolution = module[0]
                assert isinstance(convolution, (nn.Conv2d, nn.ConvTranspose2d))
                transposed = isinstance(convolution, nn.ConvTranspose2d)
                module[0], module[1] = fuse_conv_bn_eval(convolution, module[1], transposed), nn.Identity()
        return self


def best_labels(logits: Tensor) -> Tensor:
    """(n, …) the labels with the greatest logits (n, labels, …), as bytes; the first of equals. Argmax is slower."""
    best = torch.zeros_like(logits[:, 0], dtype=torch.uint8)
    greatest = logits[:, 0]
    for label in range(1, logits.shape[1]):
        best.masked_fill_(logits[:, label] > greatest, label)
        greatest = torch.maximum(greatest, logits[:, label])
    return best


def conv_bn(inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """A convolution and its batch normalization, without activation."""
    convolution = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs))


def focal_length(width: int, fov_deg: float) -> float:
    """The focal length in pixels of an image `width` pixels wide."""
    return 0.5 * width / math.tan(math.radians(fov_deg) / 2)
