"""Spaces: the distances and routes that every metric needs from a world.

Navigation graphs, surfaces and open space implement it. Test your own class with
`itinera.worlds.checks.check_space`.
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
    """A set of places with distances. Metres; unreachable is inf; may be asymmetric (one-way doors)."""

    def locate(self, places: Places) -> NDArray[Any]:
        """The places in this space's own representation, (n,) node indices or (n, 3) metres; unknown places raise."""
        ...

    def between(self, a: Places, b: Places) -> Array:
        """(len(a), len(b)) distances from a[i] to b[j]."""
        ...

    def along(self, places: Places) -> Array:
        """(len(places) - 1,) the length of each step."""
        ...

    def route(self, start: Place, goal: Place) -> Places:
        """A shortest path, both ends included; raises NoRoute."""
        ...


@runtime_checkable
class BatchSpace(Space, Protocol):
    """A space that measures many pairs of located rows in one call."""

    def blocks(self, a: Ragged, b: Ragged) -> Array:
        """Distances a[k] x b[k] of every row k, row-major, concatenated."""
        ...

    def steps(self, rows: Ragged) -> Array:
        """The length of each step within each row, concatenated."""
        ...
