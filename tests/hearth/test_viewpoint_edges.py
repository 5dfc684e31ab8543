"""How edges are chosen: what is in sight, and which links are left out."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from itinera.hearth._kernels import clear_lines
from itinera.hearth.viewpoint_edges import DETOUR, MAX_EDGE, sparsify_edges, visible_pairs
from itinera.worlds import NavGraph
from itinera.worlds.mesh import Mesh

coordinates = st.integers(-40, 40).map(lambda tenths: tenths / 10)
points = st.tuples(coordinates, coordinates, coordinates).map(np.array)


def slow_clear(start, end, corners):
    """Whether no triangle cuts the line: solve for where it meets each plane. None where it is too close to tell."""
    for a, b, c in corners:
        system = np.column_stack([b - a, c - a, start - end])
        if abs(np.linalg.det(system)) < 1e-9:
            if abs(np.dot(np.cross(b - a, c - a), start - a)) < 1e-9:
                return None  # along the plane
            continue
        u, v, along = np.linalg.solve(system, start - a)
        margins = np.array([u, v, 1 - u - v, along, 1 - along])
        if (np.abs(margins) < 1e-5).any():
            return None
        if (margins > 0).all():
            return False
    return True


@given(start=points, end=points, corners=st.lists(st.tuples(points, points, points), min_size=1, max_size=6))
@settings(max_examples=200)
def test_a_line_is_clear_where_no_triangle_cuts_it(start, end, corners):
    triangles = np.array(corners)
    expected, clear = slow_clear(start, end, triangles), np.empty(1, dtype=bool)
    clear_lines(start[None], end[None], triangles, clear)
    assert expected is None or clear[0] == expected


def test_eyes_see_each_other_over_a_low_wall_but_not_through_a_high_one():
    eyes = np.array([(0, 0, 1.5), (2, 0, 1.5), (0, 2, 1.5)])
    low = [((1, -1, 0), (1, 1, 0), (1, 1, 1.4)), ((1, -1, 0), (1, 1, 1.4), (1, -1, 1.4))]
    high = [((-1, 1, 0), (1, 0.9, 0), (0, 1, 4))]
    mesh = Mesh.from_triangles(np.array(low + high).reshape(-1, 3), np.arange(9, dtype=np.int32).reshape(-1, 3))
    assert visible_pairs(mesh, eyes).tolist() == [[False, True, False], [True, False, True], [False, True, False]]


def test_an_edge_is_left_out_where_others_lead_nearly_as_straight():
    eyes = np.array([(0, 0, 1.5), (1, 0, 1.5), (2, 0.1, 1.5), (1, 1.5, 1.5)])
    linked = ~np.eye(4, dtype=bool)
    assert {tuple(edge) for edge in sparsify_edges(eyes, linked)} == {(0, 1), (1, 2), (1, 3), (0, 3), (2, 3)}


@given(st.lists(points, min_size=2, max_size=12, unique_by=tuple), st.randoms(use_true_random=False))
def test_thinning_out_lengthens_no_way_by_more_than_the_detour_allowed(places, chance):
    eyes = np.array(places)
    linked = np.triu([[chance.random() < 0.7 for _ in places] for _ in places], 1)
    linked = linked | linked.T
    names = tuple(map(str, range(len(places))))
    gaps = np.linalg.norm(eyes[:, None] - eyes, axis=2)
    whole = np.argwhere(np.triu(linked & (gaps <= MAX_EDGE)))
    before, after = (
        NavGraph(names, eyes, whole).distances,
        NavGraph(names, eyes, sparsify_edges(eyes, linked)).distances,
    )
    assert (np.isfinite(before) == np.isfinite(after)).all()
    known = np.isfinite(before)
    assert (after[known] <= DETOUR * before[known] + 1e-5).all()
