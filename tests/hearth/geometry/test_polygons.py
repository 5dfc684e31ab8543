"""Areas and triangles of simple polygons."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from itinera.hearth.geometry.polygons import area, triangulate
from itinera.worlds import Array


@st.composite
def skylines(draw: st.DrawFn) -> Array:
    """Polygons of level and upright walls: a street front of houses of different heights."""
    heights = draw(st.lists(st.integers(1, 9), min_size=1, max_size=7))
    corners: list[tuple[float, float]] = [(0, 0), (len(heights), 0)]
    for k in range(len(heights) - 1, -1, -1):
        corners += [(k + 1, heights[k]), (k, heights[k])]
    kept = [p for k, p in enumerate(corners) if p != corners[k - 1]]
    before, after = [kept[-1], *kept[:-1]], [*kept[1:], kept[0]]
    bends = [
        b
        for a, b, c in zip(before, kept, after, strict=True)
        if (b[0] - a[0]) * (c[1] - b[1]) != (b[1] - a[1]) * (c[0] - b[0])
    ]
    return np.array(bends, dtype=np.float64)


@given(skylines())
def test_triangles_cover_the_polygon_and_keep_its_sense(outline: Array) -> None:
    triangles = triangulate(outline)
    assert len(triangles) == len(outline) - 2
    areas = [area(triangle) for triangle in triangles]
    assert min(areas) > 0
    assert sum(areas) == area(outline)


@given(skylines(), st.integers(0, 20))
def test_area_does_not_depend_on_the_first_corner_and_has_a_sign(outline: Array, shift: int) -> None:
    assert area(np.roll(outline, shift, axis=0)) == area(outline)
    assert area(outline[::-1]) == -area(outline)


def test_a_floor_with_a_stairwell_is_cut_into_plump_triangles() -> None:
    outline = np.array([(0, 0), (2.3, 0), (2.3, 5.8), (0, 5.8), (0, 4.7), (1.05, 4.7), (1.05, 0.6), (0, 0.6)])
    assert sum(area(t) for t in triangulate(outline)) == np.round(2.3 * 5.8 - 1.05 * 4.1, 9)
