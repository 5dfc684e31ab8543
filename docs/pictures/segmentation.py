"""The picture of docs/segmentation.md: color, true labels and inferred labels of frames in houses of val-unseen.

    python docs/pictures/segmentation.py

Writes segmentation.png beside this script.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from itinera.hearth.ground import ground_world
from itinera.mapping.labels import MAP_COLORS
from itinera.policies.segmentation.semantics import load_semantics
from itinera.seeding import generator
from itinera.training.segmentation import FrameSampler
from itinera.worlds.labels import MAP_CLASSES

HERE = Path(__file__).parent
HOUSES = (1, 11, 20, 29, 36, 45)  # indices in season 1 of houses of val-unseen
MIN_LABELS = 4  # in a frame; the first random frame of each house with so many is shown
MIN_SHARE = 0.01  # of the pixels, for a label to count


def main() -> None:
    torch.set_num_threads(1)
    inferred = load_semantics("inferred")
    figure = Figure(figsize=(10, 6), layout="constrained")
    axes = figure.subplots(3, len(HOUSES))
    colors = np.array(MAP_COLORS, np.uint8)
    for k, index in enumerate(HOUSES):
        world = ground_world(1, index, radius=0.1)
        sampler = FrameSampler({world.id: world}, MAP_CLASSES)
        seen = sampler.sample_world(world.id, generator(0, "picture"), 100)
        shares = np.stack([(seen.labels == label).mean(axis=(1, 2)) for label in range(1, len(MAP_CLASSES))], axis=1)
        chosen = int(np.argmax((shares > MIN_SHARE).sum(axis=1) >= MIN_LABELS))
        found = inferred(seen.frames)
        for axis, image in zip(
            axes[:, k], (seen.frames.rgb[chosen], colors[seen.labels[chosen]], colors[found[chosen]]), strict=True
        ):
            axis.imshow(image, interpolation="nearest")
            axis.set_xticks([])
            axis.set_yticks([])
    for axis, name in zip(axes[:, 0], ("color", "true", "inferred"), strict=True):
        axis.set_ylabel(name)
    handles = [
        Patch(color=tuple(color / 255), label=name) for name, color in zip(MAP_CLASSES[1:], colors[1:], strict=True)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=6, frameon=False)
    figure.savefig(HERE / "segmentation.png", dpi=90)


if __name__ == "__main__":
    main()
