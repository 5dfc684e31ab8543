"""Triangles of simple closed solids, (n, 3, 3), wound outward: the parts of furniture.

Sizes come first, then heights, then the position of the center. Sines are rounded before use, so that the bytes of a
house do not depend on the last bit of a sine.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import numpy as np

from itinera.worlds import Array

_SQUARE = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])


def rounded_cos_sin(turn: float) -> tuple[float, float]:
    """Cosine and sine, rounded to a millionth."""
    return round(float(np.cos(turn)), 6), round(float(np.sin(turn)), 6)


def block(width: float, depth: float, low: float, high: float, x: float = 0.0, y: float = 0.0) -> Array:
    """A box centered at (x, y)."""
    return _unit_box() * (width, depth, high - low) + (x, y, low)


def slanted_block(
    width: float, depth: float, low: float, high: float, x: float = 0.0, y: float = 0.0, *, over: float
) -> Array:
    """A box whose top is shifted along y by `over`: the back of a chair."""
    corners = block(width, depth, low, high, x, y)
    corners[..., 1] += over * (corners[..., 2] - low) / (high - low)
    return corners


def tube(
    radius: float,
    low: float,
    high: float,
    x: float = 0.0,
    y: float = 0.0,
    *,
    top: float | None = None,
    sides: int = 10,
) -> Array:
    """An upright cylinder, or a truncated cone with another radius at the top."""
    corners = _unit_tube(sides).copy()
    upper = radius if top is None else top
    corners[..., :2] *= (radius + (upper - radius) * corners[..., 2])[..., None]
    corners[..., 2] = low + (high - low) * corners[..., 2]
    corners[..., 0] += x
    corners[..., 1] += y
    return corners


def ball(
    width: float, depth: float, height: float, x: float = 0.0, y: float = 0.0, z: float = 0.0, *, sides: int = 8
) -> Array:
    """A rounded blob centered at (x, y, z)."""
    return _unit_ball(sides) * (width / 2, depth / 2, height / 2) + (x, y, z)


def wheel(radius: float, thick: float, x: float, y: float, z: float, *, sides: int = 12) -> Array:
    """A cylinder along x, centered at (x, y, z)."""
    upright = tube(radius, -thick / 2, thick / 2, sides=sides)
    return upright[..., [2, 0, 1]] + (x, y, z)


def disc(radius: float, thick: float, x: float, y: float, z: float, *, sides: int = 12) -> Array:
    """A cylinder along y, centered at (x, y, z)."""
    upright = tube(radius, -thick / 2, thick / 2, sides=sides)
    return upright[..., [1, 2, 0]] + (x, y, z)


def bar(start: tuple[float, float, float], end: tuple[float, float, float], thick: float) -> Array:
    """A square bar from one point to another."""
    along = tuple(b - a for a, b in zip(start, end, strict=True))
    length = math.hypot(*along)
    upright = abs(along[2]) > 0.9 * length
    side = _cross((1.0, 0.0, 0.0) if upright else (0.0, 0.0, 1.0), along)
    wide = math.hypot(*side)
    other = _cross(along, side)
    unit = _unit_box()
    across = unit[..., :1] * np.array(side) / wide + unit[..., 1:2] * np.array(other) / (wide * length)
    placed: Array = np.array(start) + thick * across + unit[..., 2:] * np.array(along)
    return placed


def legs(width: float, depth: float, high: float, thick: float, inset: float = 0.0, low: float = 0.0) -> Array:
    """Four square legs under the corners of a top."""
    x, y = width / 2 - inset - thick / 2, depth / 2 - inset - thick / 2
    return np.concatenate([block(thick, thick, low, high, i * x, j * y) for i in (-1, 1) for j in (-1, 1)])


def rotate(corners: Array, turn: float) -> Array:
    """The solid rotated counter-clockwise about the vertical axis through the origin."""
    cos, sin = rounded_cos_sin(turn)
    x, y, z = corners[..., 0], corners[..., 1], corners[..., 2]
    return np.stack([x * cos - y * sin, x * sin + y * cos, z], axis=-1)


def translate(corners: Array, x: float, y: float, z: float = 0.0) -> Array:
    """The solid, translated."""
    there: Array = corners + np.array((x, y, z))
    return there


def _cross(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, float, float]:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@cache
def _unit_box() -> Array:
    bottom = np.column_stack([_SQUARE, np.zeros(4)])
    return _loft([bottom, bottom + np.array((0, 0, 1))])


@cache
def _unit_tube(sides: int) -> Array:
    ring = _ring(sides)
    return _loft([np.column_stack([ring, np.full(sides, z)]) for z in (0.0, 1.0)])


@cache
def _unit_ball(sides: int) -> Array:
    # Height and radius of each ring: fewer for small objects.
    few = ((-1.0, 0.45), (0.0, 1.0), (1.0, 0.45))
    heights = few if sides <= 6 else ((-1.0, 0.4), (-0.4, 0.94), (0.4, 0.94), (1.0, 0.4))
    ring = _ring(sides)
    return _loft([np.column_stack([ring * radius, np.full(sides, z)]) for z, radius in heights])


def _ring(sides: int) -> Array:
    # Offset by half a step, so that a square tube has axis-aligned faces; the radius is to the corners.
    return np.array([rounded_cos_sin(2 * np.pi * (k + 0.5) / sides) for k in range(sides)])


def _loft(rings: list[Array]) -> Array:
    """The closed solid through rings of equally many corners, lowest first, each counter-clockwise from above."""
    pieces = []
    for lower, upper in pairwise(rings):
        after, over = np.roll(lower, -1, axis=0), np.roll(upper, -1, axis=0)
        pieces += [np.stack([lower, after, over], axis=1), np.stack([lower, over, upper], axis=1)]
    pieces += [_fan(rings[-1]), _fan(rings[0][::-1])]
    return np.concatenate(pieces)


def _fan(ring: Array) -> Array:
    return np.stack([np.repeat(ring[:1], len(ring) - 2, axis=0), ring[1:-1], ring[2:]], axis=1)
