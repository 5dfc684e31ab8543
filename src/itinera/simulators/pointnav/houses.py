"""The houses of a stage, one after the other in the same arrays, with the distances to their goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike

from itinera.tasks import Episode
from itinera.worlds import Array, World


class PointNavHouses:
    """Houses and their goals. Make one with `load`; stages and episode sources share it."""

    @classmethod
    def load(
        cls,
        worlds: Mapping[str, World],
        goals: Mapping[str, Array],
        *,
        scan: bool = False,
        depth: bool = False,
        cache: str | PathLike[str] | None = None,
    ) -> PointNavHouses:
        """The houses of these goals (g, 3) by world id; a goal takes 30 to 40 ms unless `cache` has its table.

        `cache` is a folder of goal tables, written where they are missing or of another house.
        """
        raise NotImplementedError


def sample_goals(worlds: Mapping[str, World], count: int, seed: int) -> dict[str, Array]:
    """`count` goals anywhere on the largest island of each world, the same for the same seed."""
    raise NotImplementedError


def episode_goals(episodes: Sequence[Episode]) -> dict[str, Array]:
    """The goals of these episodes by world id, each once."""
    raise NotImplementedError
