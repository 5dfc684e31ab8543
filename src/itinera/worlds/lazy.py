"""Things by name that are made when they are asked for, because making one takes a while and few are needed at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")

KEPT = 4  # worlds in memory; with a surface, a mesh and what a camera needs, a house has about 30 MB


class OnDemand(Mapping[str, T]):
    """Worlds, or what belongs to them, by id; the ones used last are kept."""

    def __init__(self, ids: Iterable[str], make: Callable[[str], T], *, kept: int = KEPT) -> None:
        self._ids = dict.fromkeys(ids)
        self._make = lru_cache(kept)(make)

    def __getitem__(self, world_id: str) -> T:
        if world_id not in self._ids:
            raise KeyError(world_id)
        return self._make(world_id)

    def __contains__(self, world_id: object) -> bool:
        return world_id in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)
