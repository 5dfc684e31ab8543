"""Polar views: what is called how, by direction and distance, at a place on the ground.

A polar view is a list of labels: instances of the mesh, and the rooms of visible floor, in polar cells of 24 bins of
15° by three distance bands. `LabelWords` has the words of each label of a world. Labels are annotations (`true`
semantics); a recognizer offers its own labels and words through the same two types.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.policies.ground._polar_kernels import BANDS, BINS, count_labels, expand_words
from itinera.policies.tokenizer import tokenize
from itinera.rendering.camera import Camera, Frame
from itinera.simulators.sensors import CameraSensor
from itinera.worlds import Array, Instance, World
from itinera.worlds.labels import MAP_CLASSES, MPCAT40, ROOM_NAMES
from itinera.worlds.regions import RegionGrid

BIN = math.tau / BINS  # radians; bin 0 is ahead, bins count counter-clockwise
BAND_LIMITS = (1.8, 4.0)  # metres, the ends of the first two distance bands
FAR = 5.0  # metres, of free distances
OBSTACLE_BAND = (0.15, 1.4)  # metres above the floor between which something is in the way
MIN_PIXELS = 6  # of a label in a cell
NUMBERS = ("sine", "cosine", "free", "nearest", "known", "back", "blocked", "ahead", "behind")
"""The numbers of a bin: its direction, the median and minimum of the distance to an obstacle over its columns in units
of FAR, whether it has been in view, whether the agent came from there, whether its last step there was blocked."""

CAMERA = Camera(128, 128, math.pi / 2)
CHANNELS = ("depth", "classes", "instances")
PANORAMA = CameraSensor(CAMERA, channels=CHANNELS, around=4)
FRONT = CameraSensor(CAMERA, channels=CHANNELS)
FLOOR = MPCAT40.index("floor")


@dataclass(frozen=True, eq=False)
class PolarViews:
    """The labels and numbers of n places."""

    starts: NDArray[np.int64]  # (n + 1,) the entries of place i are starts[i] up to starts[i + 1]
    cells: NDArray[np.uint8]  # (m,) bin * 3 + band
    labels: NDArray[np.uint16]  # (m,)
    weights: NDArray[np.float32]  # (m,) log(1 + pixels)
    numbers: NDArray[np.float32]  # (n, 24, 9) NUMBERS of each bin

    def __len__(self) -> int:
        return len(self.numbers)

    def select(self, rows: NDArray[np.int64]) -> PolarViews:
        """The views of these places, in this order."""
        counts = self.starts[rows + 1] - self.starts[rows]
        starts = np.concatenate([[0], np.cumsum(counts)])
        entries = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], counts)
        return PolarViews(starts, self.cells[entries], self.labels[entries], self.weights[entries], self.numbers[rows])

    @classmethod
    def concatenate(cls, parts: Sequence[PolarViews]) -> PolarViews:
        """The places of several views, one after another."""
        counts = np.concatenate([np.diff(part.starts) for part in parts])
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        cells, labels, weights, numbers = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("cells", "labels", "weights", "numbers")
        )
        return cls(starts, cells, labels, weights, numbers)


@dataclass(frozen=True, eq=False)
class LabelWords:
    """The words of each label of a world, as token ids; those of label k are ids[starts[k]:starts[k + 1]]."""

    starts: NDArray[np.int64]
    ids: NDArray[np.int64]

    @classmethod
    def from_texts(cls, texts: Mapping[int, str], index: Mapping[str, int]) -> LabelWords:
        """The words of the text of each label; words that are not in the index are left out."""
        rows = [[index[w] for w in tokenize(texts.get(k, "")) if w in index] for k in range(max(texts, default=-1) + 1)]
        starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        return cls(starts, np.array([word for row in rows for word in row], dtype=np.int64))

    def expand(self, views: PolarViews) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The word and the entry of each word in sight, and (n,) how many words each place has."""
        counts, room = np.empty(len(views), np.int64), 4 * len(views.cells) + 1
        while True:
            words, entries = np.empty(room, np.int64), np.empty(room, np.int64)
            n = expand_words(views.starts, views.labels, self.starts, self.ids, counts, words, entries)
            if n <= room:
                return words[:n], entries[:n], counts
            room = n


@dataclass(frozen=True)
class LabelNames:
    """What the labels of a world are called: its instances and, after them, the rooms of its regions."""

    instances: dict[int, Instance]
    rooms: tuple[str, ...]  # the code of each region, "k" for kitchen

    @classmethod
    def from_world(cls, world: World) -> LabelNames:
        return cls(dict(world.instances), tuple(region.label for region in world.regions))

    @property
    def offset(self) -> int:
        """The label of the first region; labels below are instances."""
        return max(self.instances, default=0) + 1

    def texts(self, kind: str = "names") -> dict[int, str]:
        """The text of each label: "names" of things and rooms, "things" alone, or the paper's 13 "classes"."""
        if kind == "classes":
            return {k: thing.category for k, thing in self.instances.items() if thing.category in MAP_CLASSES[1:]}
        texts = {k: describe_instance(thing) for k, thing in self.instances.items()}
        if kind == "names":
            texts |= {self.offset + k: ROOM_NAMES.get(code, "") for k, code in enumerate(self.rooms)}
        return texts


def describe_instance(thing: Instance) -> str:
    """The color, shape, material and name of an instance."""
    return " ".join(filter(None, (thing.color, thing.shape, thing.material, thing.name)))


def label_vocabulary(names: Iterable[LabelNames], kind: str = "names") -> set[str]:
    """All words of the labels of some worlds."""
    return {word for labels in names for text in labels.texts(kind).values() for word in tokenize(text)}


@dataclass(frozen=True, eq=False)
class PolarReader:
    """Reads the labels in frames of one world."""

    grid: RegionGrid
    offset: int  # the label of the first region

    @classmethod
    def for_world(cls, world: World) -> PolarReader:
        return cls(RegionGrid.from_regions(world.regions), LabelNames.from_world(world).offset)

    def read(
        self, frames: Frame, positions: Array, headings: Array, sensor: CameraSensor
    ) -> tuple[PolarViews, NDArray[np.float32]]:
        """The views of n places and (n, 24, 2) free distances, NaN where no view shows a bin.

        frames: (n, v, height, width) channels of the views of a sensor at positions (n, 3) on the floor.
        The numbers of the views are zero, see `bin_numbers`.
        """
        n, views = frames.depth.shape[:2]
        columns, slants, rises = camera_optics(sensor.camera, views)
        eyes = np.asarray(positions, np.float64) + np.array([0.0, 0.0, sensor.height])
        turned = np.asarray(headings, np.float64)[:, None] + np.arange(views) * (math.tau / views)
        band = np.array(OBSTACLE_BAND) - sensor.height
        starts, free = np.empty(n + 1, np.int64), np.empty((n, BINS, 2), np.float32)
        room = 512 * n
        while True:
            cells, labels = np.empty(room, np.uint8), np.empty(room, np.uint16)
            pixels = np.empty(room, np.int32)
            total = count_labels(
                frames.depth, frames.instances, frames.classes, eyes, turned, columns, slants, rises,
                np.array(BAND_LIMITS), FLOOR, self.offset, self.grid.origin, self.grid.cell, self.grid.floors,
                self.grid.index, band, FAR, MIN_PIXELS, starts, cells, labels, pixels, free,
            )  # fmt: skip
            if total <= room:
                break
            room = total
        weights = through_half(np.log1p(pixels[:total]))
        numbers = np.zeros((n, BINS, len(NUMBERS)), np.float32)
        return PolarViews(starts, cells[:total].copy(), labels[:total].copy(), weights, numbers), free


@lru_cache
def camera_optics(camera: Camera, views: int) -> tuple[NDArray[np.int64], Array, Array]:
    """(v, w) the bin of each column, (w,) metres to the left and (h,) up per metre of depth."""
    slants = np.asarray((camera.width / 2 - (np.arange(camera.width) + 0.5)) / camera.focal, dtype=np.float64)
    rises = np.asarray((camera.height / 2 - (np.arange(camera.height) + 0.5)) / camera.focal, dtype=np.float64)
    bearings = np.arange(views)[:, None] * (math.tau / views) + np.arctan(slants)
    return np.floor(bearings / BIN + 0.5).astype(np.int64) % BINS, slants, rises


def bin_numbers(free: NDArray[np.float32], back: NDArray[np.int64], blocked: NDArray[np.bool_]) -> NDArray[np.float32]:
    """(n, 24, 9) the numbers of bins. free: (n, 24, 2), NaN where unknown; back: (n,) a bin, -1 for none."""
    n = len(free)
    known = np.isfinite(free[:, :, 0])
    numbers = np.zeros((n, BINS, len(NUMBERS)), np.float32)
    angles = np.arange(BINS) * BIN
    numbers[:, :, 0], numbers[:, :, 1] = np.sin(angles), np.cos(angles)
    numbers[:, :, 2:4] = np.where(known[:, :, None], np.nan_to_num(free) / FAR, 0.0)
    numbers[:, :, 4] = known
    rows = np.flatnonzero(back >= 0)
    numbers[rows, back[rows], 5] = 1.0
    numbers[:, 0, 6] = blocked
    numbers[:, 0, 7], numbers[:, BINS // 2, 8] = 1.0, 1.0
    return through_half(numbers)


def through_half(values: NDArray[Any]) -> NDArray[np.float32]:
    """The values in half precision, as they are stored for training, so that an agent sees the same ones."""
    return values.astype(np.float16).astype(np.float32)


def mirror(views: PolarViews, places: NDArray[np.bool_]) -> PolarViews:
    """The views with left and right exchanged at some places (n,)."""
    flip = np.repeat(places, np.diff(views.starts))
    bins, bands = views.cells // BANDS, views.cells % BANDS
    cells = np.where(flip, (BINS - bins) % BINS * BANDS + bands, views.cells).astype(np.uint8)
    numbers = views.numbers.copy()
    numbers[places] = numbers[places][:, (BINS - np.arange(BINS)) % BINS]
    numbers[places, :, 0] *= -1
    return PolarViews(views.starts, cells, views.labels, views.weights, numbers)
