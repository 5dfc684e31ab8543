"""What judging found: a row per episode and per tour, with all it takes to know how the numbers were made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from itinera.records.provenance import Provenance
from itinera.tasks.fastest_times import ReferenceRobot
from itinera.tasks.protocol import Protocol
from itinera.worlds import Array


@dataclass(frozen=True)
class Column:
    """How to read a metric's numbers."""

    name: str
    unit: Literal["", "m", "steps", "s"] = ""  # without a unit: a fraction between 0 and 1
    better: Literal["higher", "lower", "neither"] = "higher"


@dataclass(frozen=True, eq=False)
class TourTable:
    """A row per tour: the value of each tour metric, and what the tour weighs in that metric's mean."""

    tour_ids: tuple[str, ...]
    world_ids: tuple[str, ...]
    columns: tuple[Column, ...]
    values: Mapping[str, Array]  # metric -> (tours,), NaN where undefined
    weights: Mapping[str, Array]  # metric -> (tours,)

    def __getitem__(self, metric: str) -> Array:
        return self.values[metric]


@dataclass(frozen=True, eq=False)
class Asked:
    """What each episode asks, whoever walks it: how far the goal is, how long the way, and when on a tour it comes."""

    distances: Array  # (episodes,) metres from the start to the nearest goal, inf where no way leads
    lengths: Array  # (episodes,) metres along the reference path, NaN where there is none
    tours: tuple[str, ...]  # (episodes,) the tour an episode belongs to, "" for none
    legs: NDArray[np.int64]  # (episodes,) how many episodes of the tour come before, -1 where there is no tour


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """A row per episode: the value of each metric, NaN where it is undefined."""

    episode_ids: tuple[str, ...]
    world_ids: tuple[str, ...]
    path_ids: tuple[str, ...]
    columns: tuple[Column, ...]
    values: Mapping[str, Array]  # metric -> (episodes,)
    suite: str
    fingerprint: str  # of every definition and convention of the suite
    protocol: Protocol
    missing: NDArray[np.bool_]  # (episodes,) no walk was given; counted as zero
    tours: TourTable | None = None
    provenance: Provenance | None = None
    source: str = ""  # the file the walks came from
    robot: ReferenceRobot | None = None  # whose fastest times SCT weighs by, if any
    asked: Asked | None = None  # not told by bundles of earlier versions

    def __getitem__(self, metric: str) -> Array:
        return self.values[metric]

    def __len__(self) -> int:
        return len(self.episode_ids)
