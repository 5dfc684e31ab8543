"""A distance field in a tenth of its memory, for the goals that nobody is going to at the moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itinera.worlds.distance_field import DistanceField
from itinera.worlds.ground import Ground
from itinera.worlds.space import Array


@dataclass(frozen=True, eq=False)
class PackedField:
    """The turning point of each reached cell; nearly all distances follow from it, the others are listed."""

    reached: NDArray[np.uint8]  # a bit for each cell
    turn: NDArray[np.unsignedinteger]  # (r,) the first turning point of each reached cell
    turns: NDArray[np.void]  # the turning points of the field
    other: NDArray[np.int32]  # (k,) the reached cells, counted from 0, whose path rises: on stairs it is longer
    distances: Array  # (k,) from the center of each of those, in cells

    @classmethod
    def pack(cls, field: DistanceField) -> PackedField:
        """The packed form of a field."""
        reached = field.turn >= 0
        turn, distances = field.turn[reached], field.cell_distances[reached]
        other = np.flatnonzero(_level_distances(field.ground, reached, turn, field.turns) != distances)
        kind = np.min_scalar_type(max(len(field.turns) - 1, 0))
        return cls(np.packbits(reached), turn.astype(kind), field.turns, other.astype(np.int32), distances[other])

    def unpack(self, ground: Ground) -> DistanceField:
        """The field, equal to the last bit, on the ground it was computed on."""
        reached = np.unpackbits(self.reached, count=len(ground)).view(np.bool_)
        distances, turn = np.full(len(ground), np.inf), np.full(len(ground), -1, dtype=np.int32)
        found = _level_distances(ground, reached, self.turn.astype(np.int32), self.turns)
        found[self.other] = self.distances
        distances[reached], turn[reached] = found, self.turn
        return DistanceField(ground, distances, turn, self.turns)

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return sum(array.nbytes for array in (self.reached, self.turn, self.turns, self.other, self.distances))


def _level_distances(
    ground: Ground, reached: NDArray[np.bool_], turn: NDArray[np.int32], turns: NDArray[np.void]
) -> Array:
    """(r,) the distance of each reached cell in cells, if the straight line to its turning point is level."""
    columns = ground.columns[reached]
    du = turns["u"][turn] - columns[:, 0] - 0.5
    dv = turns["v"][turn] - columns[:, 1] - 0.5
    level: Array = turns["far"][turn] + np.sqrt(du * du + dv * dv)
    return level
