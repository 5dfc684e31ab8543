"""Frames of a sensor at one place, for tests of what agents see."""

from __future__ import annotations

import numpy as np

from itinera.training.ground.decision_rolls import FrameRenderer


def render(world, sensor, position, heading):
    """(1, views, height, width) channels."""
    return FrameRenderer(world, sensor)(np.asarray(position, dtype=float)[None], np.array([heading]))
