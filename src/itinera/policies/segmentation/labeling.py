"""Label images from a segmentation model, in batches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from itinera.errors import BadArgument, BadFile, Fault
from itinera.policies.checkpoint import Model, read_model
from itinera.policies.segmentation.network import SegmentationNetwork

BATCH = 16  # images at a time: their feature maps stay in the processor's cache


class Segmenter:
    """A segmentation model that predicts label images, without gradients.

    The model must not be trained afterwards: its layers are merged where that is faster.
    """

    def __init__(self, model: Model, *, device: str = "cpu") -> None:
        network = model.policy
        if not isinstance(network, SegmentationNetwork):
            raise BadArgument(f"A model of kind {model.card.kind} predicts no label images. Use rgbd-unet or rednet.")
        self.card, self.fingerprint = model.card, model.fingerprint
        self._network = network.to(device).eval().merge_layers()

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of each label; label 0 is void."""
        return self.card.columns

    def predict(self, rgb: NDArray[np.uint8], depth: NDArray[np.float32]) -> NDArray[np.uint8]:
        """(n, height, width) the labels of colors (n, height, width, 3) and depths (n, height, width), metres."""
        if rgb.shape != (*depth.shape, 3) or depth.ndim != 3:
            raise BadArgument(f"Colors and depths must be of the same images; got {rgb.shape} and {depth.shape}.")
        if any(side % self._network.multiple for side in depth.shape[1:]):
            sides = f"{depth.shape[2]} x {depth.shape[1]}"
            raise BadArgument(f"Image sides must be multiples of {self._network.multiple} pixels (got {sides}).")
        found = np.empty(depth.shape, np.uint8)
        with torch.inference_mode():
            for first in range(0, len(depth), BATCH):
                part = slice(first, first + BATCH)
                found[part] = self._network.predict(*self._tensors(rgb[part], depth[part])).cpu().numpy()
        return found

    def _tensors(self, rgb: NDArray[np.uint8], depth: NDArray[np.float32]) -> tuple[torch.Tensor, torch.Tensor]:
        device = next(self._network.parameters()).device
        return image_tensors(torch.from_numpy(rgb).to(device), torch.from_numpy(depth).to(device))


def image_tensors(rgb: torch.Tensor, depth: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Color (n, 3, height, width), 0 to 1, and depth (n, 1, height, width) as networks expect them, from images."""
    return rgb.permute(0, 3, 1, 2).float() / 255, depth[:, None]


def read_segmenter(path: Path, *, device: str = "cpu") -> Segmenter:
    """The segmenter of a model file; raises BadFile if it is none."""
    model = read_model(path).model
    if not isinstance(model.policy, SegmentationNetwork):
        problem = f"is a model of kind {model.card.kind}, which predicts no label images."
        raise BadFile(str(path), [Fault("", problem, "Give a segmentation model.")])
    return Segmenter(model, device=device)
