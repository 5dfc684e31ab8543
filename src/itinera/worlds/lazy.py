"""A mapping whose values are computed on first access, for values that are slow to make and large to keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")

CACHE_SIZE = 4  # worlds in memory; a house with its surface, mesh and rasterizer takes about 30 MB


class LazyMapping(Mapping[str, T]):
    """Worlds, or values that belong to worlds, by id; computed on access, with the most recently used ones cached."""

    def __init__(
        self,
        ids: Iterable[str],
        make: Callable[[str], T],
        *,
        cache_size: int = CACHE_SIZE,
        reload: Callable[[], Mapping[str, T]] | None = None,
    ) -> None:
        """`reload` makes the mapping again in another process, to which it is sent instead of the values."""
        self._ids, self._reload = dict.fromkeys(ids), reload
        self._make = lru_cache(cache_size)(make)

    def __reduce__(self) -> tuple[Callable[[], Mapping[str, T]], tuple[()]]:
        if self._reload is None:
            raise TypeError("worlds that were not given as the path of a folder stay in this process")
        return self._reload, ()

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
