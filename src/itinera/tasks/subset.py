"""Named subsets: episodes drawn from a split at random, with all that is needed to estimate the split's mean from them.

`itinera.analysis.sampling` draws them, `itinera.analysis.extrapolation` estimates, `formats/subsets.py` is their file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from itinera.tasks.split import digest_ids


@dataclass(frozen=True)
class SampledPath:
    """A path that was drawn: the number of its episodes in the split, and the ids of those drawn."""

    episodes: int
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Stratum:
    """Episodes of a kind, of which a fixed number is drawn."""

    name: str  # "17DRP5sb8fy, length 4 – 5"
    paths: int  # in the split
    episodes: int  # in the split
    sample: tuple[SampledPath, ...]


@dataclass(frozen=True, eq=False)
class Subset:
    """Episodes drawn from a split: the same split, size, strata and seed give the same ones."""

    split: str  # its name
    total: int  # its episodes
    split_digest: str  # of their ids and scenes, by `digest_episodes`
    by: tuple[str, ...]  # what the strata are made of
    seed: int
    strata: tuple[Stratum, ...]
    scenes: Mapping[str, int]  # episodes of each scene in the split
    worst_half_width: float  # at most, of the 95 % interval of a metric between 0 and 1, whatever the agent
    half_widths: Mapping[str, float] = field(default_factory=dict)  # by metric, of an agent like the reference
    reference: str = ""  # the file of the reference's scores

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The episodes, stratum by stratum."""
        return tuple(name for stratum in self.strata for path in stratum.sample for name in path.ids)

    @property
    def digest(self) -> str:
        """Of the ids, in any order: the same as that of the part of the split in score bundles."""
        return digest_ids(self.ids)

    @property
    def label(self) -> str:
        """The subset in a few words, for tables: "subset of R2R_val_unseen, 1f2e3d4c5b6a7988"."""
        return f"subset of {self.split}, {self.digest}"

    def __len__(self) -> int:
        return len(self.ids)

    def fits(self, ids: Sequence[str], scenes: Sequence[str]) -> bool:
        """Whether these are all episodes of the split, or exactly those of the subset."""
        return digest_episodes(ids, scenes) == self.split_digest or set(ids) == set(self.ids)


def digest_episodes(ids: Iterable[str], scenes: Iterable[str]) -> str:
    """A digest of episodes and the scene of each: 16 hexadecimal digits, whatever their order."""
    pairs = sorted(zip(ids, scenes, strict=True))
    return hashlib.blake2b(json.dumps(pairs).encode(), digest_size=8).hexdigest()
