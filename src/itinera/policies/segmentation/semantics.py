"""Where the labels of pixels come from: the scene itself (true), or a network that sees color and depth (inferred).

A `SemanticSource` turns rendered frames into label images, which maps and panoramas consume without knowing which
source it was. This module does not need torch; it is imported when a model file is read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.policies.pretrained import SUFFIX, missing_extra
from itinera.rendering.camera import Frame
from itinera.worlds.labels import MAP_CLASSES, MPCAT40

if TYPE_CHECKING:
    from itinera.policies.segmentation.labeling import Segmenter

TRUE, INFERRED = "true", "inferred"
PRETRAINED = Path(__file__).parent / f"rgbd-unet{SUFFIX}"  # the model of inferred labels that comes with Itinera


class SemanticSource(Protocol):
    """Label images from frames."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of each label; label 0 is void."""

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels that frames must have."""

    @property
    def fingerprint(self) -> str:
        """What the labels depend on besides the frames: "true", or the digest of a model."""

    def __call__(self, frames: Frame) -> NDArray[np.uint8]:
        """(n, height, width) indices into `labels`, for n frames; frames are not changed."""


class TrueSemantics:
    """The labels of the scene: its MPCAT40 classes, of which those without a label are void."""

    channels: tuple[str, ...] = ("classes",)
    fingerprint = TRUE

    def __init__(self, labels: Sequence[str] = MAP_CLASSES) -> None:
        self.labels = tuple(labels)
        self._table = class_table(self.labels)

    def __call__(self, frames: Frame) -> NDArray[np.uint8]:
        return self._table[frames.classes]


class InferredSemantics:
    """The labels that a segmentation network predicts from color and depth."""

    channels: tuple[str, ...] = ("rgb", "depth")

    def __init__(self, segmenter: Segmenter) -> None:
        self._segmenter = segmenter
        self.labels, self.fingerprint = segmenter.labels, segmenter.fingerprint

    def __call__(self, frames: Frame) -> NDArray[np.uint8]:
        return self._segmenter.predict(frames.rgb, frames.depth)


def load_semantics(source: str | Path = TRUE, labels: Sequence[str] = MAP_CLASSES) -> SemanticSource:
    """The source of labels named "true", "inferred" (the pretrained network) or by a model file.

    Raises BadArgument if the model predicts other labels than `labels`.
    """
    if source == TRUE:
        return TrueSemantics(labels)
    found = InferredSemantics(_load_segmenter(_model_path(str(source))))
    if found.labels != tuple(labels):
        expected = f"{len(labels)} labels ({', '.join(labels[1:4])}, …)"
        raise BadArgument(
            f"The segmentation model {source} predicts {len(found.labels)} labels ({', '.join(found.labels[1:4])}, …), "
            f"not the {expected} that are needed. Give a model trained for those."
        )
    return found


def class_table(labels: Sequence[str]) -> NDArray[np.uint8]:
    """(256,) the label of each MPCAT40 class; 0 where none of `labels` has its name."""
    table = np.zeros(256, np.uint8)
    table[: len(MPCAT40)] = name_table(MPCAT40, labels)
    return table


def name_table(names: Collection[str], labels: Sequence[str]) -> NDArray[np.uint8]:
    """(n,) the label of each name; 0 where none of `labels` is that name."""
    if len(labels) > 256:
        raise BadArgument(f"A label image has at most 256 labels; got {len(labels):,}.")
    index = {label: k for k, label in enumerate(labels) if k > 0}
    return np.array([index.get(name, 0) for name in names], np.uint8)


def _model_path(source: str) -> Path:
    if source == INFERRED:
        return PRETRAINED
    if not source.endswith(SUFFIX):
        raise BadArgument(f"Semantics are {TRUE!r}, {INFERRED!r} or a model file (*{SUFFIX}), not {source!r}.")
    return Path(source)


@cache
def _load_segmenter(path: Path) -> Segmenter:
    try:
        from itinera.policies.segmentation.labeling import read_segmenter
    except ImportError as error:
        raise missing_extra("Inferred semantics", error) from None
    return read_segmenter(path)
