"""Somewhere distances make sense: the one thing every metric needs from a world.

Node graphs and open space both are one; a newcomer's class can be tried with `itinera.worlds.checks.check_space`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from itinera.worlds.ragged import Ragged

Array: TypeAlias = NDArray[np.float64]
Place: TypeAlias = str | Array  # a node id in a graph; (3,) metres elsewhere
Places: TypeAlias = Sequence[str] | Array  # node ids; (n, 3) metres


class Space(Protocol):
    """Somewhere distances make sense. Metres; unreachable is inf; may be asymmetric (one-way doors)."""

    def locate(self, places: Places) -> NDArray[Any]:
        """The places in this space's own terms, (n,) node indices or (n, 3) metres; unknown ones raise."""
        ...

    def between(self, a: Places, b: Places) -> Array:
        """(len(a), len(b)) distances from a[i] to b[j]."""
        ...

    def along(self, places: Places) -> Array:
        """(len(places) - 1,) the length of each step taken."""
        ...

    def route(self, start: Place, goal: Place) -> Places:
        """A shortest way, both ends included; raises NoRoute."""
        ...


@runtime_checkable
class BatchSpace(Space, Protocol):
    """A space that measures many pairs of located rows at once."""

    def blocks(self, a: Ragged, b: Ragged) -> Array:
        """Distances a[k] x b[k] of every row k, row-major, end to end."""
        ...

    def steps(self, rows: Ragged) -> Array:
        """The length of each step within each row, end to end."""
        ...


def blocks(space: Space, a: Ragged, b: Ragged) -> Array:
    """Distances a[k] x b[k] of every row k, row-major, end to end: at once where the space can, else row by row."""
    if isinstance(space, BatchSpace):
        return space.blocks(a, b)
    parts = [np.asarray(space.between(a[k], b[k]), dtype=np.float64).ravel() for k in range(len(a))]
    return np.concatenate(parts) if parts else np.empty(0)


def steps(space: Space, rows: Ragged) -> Array:
    """The length of each step within each row, end to end: at once where the space can, else row by row."""
    if isinstance(space, BatchSpace):
        return space.steps(rows)
    parts = [np.asarray(space.along(rows[k]), dtype=np.float64) for k in range(len(rows)) if len(rows[k]) > 1]
    return np.concatenate(parts) if parts else np.empty(0)
