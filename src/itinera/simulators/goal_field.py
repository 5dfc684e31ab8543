"""Distance fields of goals for many bodies: computed as far as the bodies are, farther when one strays, and packed
while nobody goes there.
"""

from __future__ import annotations

import math

import numpy as np

from itinera.planners.motion.geodesic_follower import ExpertLabels, label_actions
from itinera.worlds import Array, Place
from itinera.worlds.distance_field import DistanceField, snap_to_ground
from itinera.worlds.packed_field import PackedField
from itinera.worlds.surface import Surface

MARGINS = (1.5, 4.0)  # metres beyond the farthest body, first and after it strayed; then the whole field
_ROUNDING = 0.5  # metres; the field is whole up to its reach, except for some cells near the edge


class GoalField:
    """The expert's labels on the way to one goal, from a field that grows; they equal those of the whole field."""

    def __init__(self, surface: Surface, goal: Place) -> None:
        """Raises BadArgument if the goal is not on the surface."""
        self._ground = surface.ground
        self._goal = snap_to_ground(self._ground, np.asarray(goal, dtype=np.float64)[None])
        self._field: DistanceField | None = None
        self._packed: PackedField | None = None
        self._reach = -math.inf  # metres from the goal up to which distances and routes are known
        self._margins = list(MARGINS)

    def label(
        self, positions: Array, headings: Array, *, step: float, turn: float, radius: float, sliding: bool
    ) -> ExpertLabels:
        """What `follow_geodesic` would do next at each pose; see `label_actions`."""
        needed = 2 * step + _ROUNDING  # the expert looks two steps ahead
        while True:
            if self._field is None and self._packed is not None:
                self._field = self._packed.unpack(self._ground)
            if self._field is not None:
                labels = label_actions(
                    self._field, positions, headings, step=step, turn=turn, radius=radius, sliding=sliding
                )
                if (labels.distances + needed <= self._reach).all():
                    return labels
            self._grow(positions)

    def pack(self) -> None:
        """Take less memory until the next call of `label`."""
        if self._field is not None and self._packed is None:
            self._packed = PackedField.pack(self._field)
        self._field = None

    def _grow(self, positions: Array) -> None:
        """Compute the field around these positions, farther than the last time."""
        self._packed = None
        if not self._margins:
            self._field, self._reach = DistanceField.compute(self._ground, self._goal), math.inf
            return
        margin, spots = self._margins.pop(0), snap_to_ground(self._ground, positions)
        self._field = DistanceField.compute(self._ground, self._goal, until=spots, margin=margin)
        # Where a position is unreachable, the wave went everywhere before it gave up.
        self._reach = float(self._field.lookup(spots)[0].max()) + margin
