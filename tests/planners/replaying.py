"""An independent replay of drives: integrated by itself, and checked between all crossings of cell borders."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

GRAZE = 1e-6  # metres: deeper in a blocked cell than this is a contact


def at(pose, metres, turn, share):
    """The pose after a share of a move, by the textbook's circle."""
    x, y, heading = pose
    s, a = metres * share, turn * share
    if abs(turn) < 1e-12:
        return x + s * math.cos(heading), y + s * math.sin(heading), heading + a
    radius = metres / turn
    return (
        x + radius * (math.sin(heading + a) - math.sin(heading)),
        y - radius * (math.cos(heading + a) - math.cos(heading)),
        heading + a,
    )


def crossings(pose, metres, turn, resolution):
    """Shares of a move at which it meets a border of cells, 0 and 1 included; solved, not sampled."""
    x, y, heading = pose
    found = [0.0, 1.0]
    if metres == 0:
        return found
    reach = abs(metres) / resolution + 2
    for axis, middle in enumerate((x, y)):
        first, last = math.floor(middle / resolution - reach), math.ceil(middle / resolution + reach)
        for line in range(first, last + 1):
            found += _meets(line * resolution - middle, heading, metres, turn, axis)
    return sorted(share for share in found if 0 <= share <= 1)


def _meets(offset, heading, metres, turn, axis):
    if abs(turn) < 1e-12:
        speed = metres * (math.cos(heading) if axis == 0 else math.sin(heading))
        return [] if speed == 0 else [offset / speed]
    radius = metres / turn
    # sin(heading + a) = sin(heading) + offset / radius along x, and -cos(…) = -cos(heading) + offset / radius along y.
    value = (math.sin(heading) if axis == 0 else -math.cos(heading)) + offset / radius
    if abs(value) > 1:
        return []
    base = math.asin(value) if axis == 0 else math.acos(-value)
    angles = (base, math.pi - base) if axis == 0 else (base, -base)
    return [(angle + 2 * math.pi * k - heading) / turn for angle in angles for k in range(-3, 4)]


def contact(drive, allowed, resolution):
    """The first move that enters a cell that is not allowed, -1 if none does, and the pose it ends in."""
    pose = tuple(drive.start)
    for number, (metres, turn) in enumerate(drive.moves.tolist()):
        shares = crossings(pose, metres, turn, resolution)
        for before, after in pairwise(shares):
            if after - before > 1e-12 and not _stands(
                at(pose, metres, turn, (before + after) / 2), allowed, resolution
            ):
                return number, pose
        pose = at(pose, metres, turn, 1.0)
    return -1, pose


def _stands(pose, allowed, resolution):
    """Whether a place is in an allowed cell, or no deeper in another than a graze."""
    rows, columns = allowed.shape
    for dx in (-GRAZE, GRAZE):
        for dy in (-GRAZE, GRAZE):
            column, row = math.floor((pose[0] + dx) / resolution), math.floor((pose[1] + dy) / resolution)
            if 0 <= row < rows and 0 <= column < columns and allowed[row, column]:
                return True
    return False


def seconds(drive, dynamics):
    """The time of a drive, move by move, by the law of a unicycle."""
    total = 0.0
    for metres, turn in drive.moves.tolist():
        total += max(abs(metres) / dynamics.vmax, abs(turn) / dynamics.wmax if np.isfinite(dynamics.wmax) else 0.0)
    return total
