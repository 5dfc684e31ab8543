"""Scene maps: the navigable ground, and storeys by height."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.reports.replay.scene_map import StoreyLevels, make_scene_map
from itinera.worlds import NavGraph, World
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, room

NOWHERE = np.empty((0, 3))


def test_the_ground_of_a_mesh_is_drawn_row_by_row():
    surface = Surface.from_mesh(room(4.0, 3.0, boxes=[((1, 1, 0), (2, 2, 1))]), **ROBOT)
    world = World("room", surface)
    (storey,) = make_scene_map(world, StoreyLevels.of(world, None, NOWHERE), house=None, drawn=NOWHERE).storeys
    ((_, _, _, runs),) = [(d.fill, d.line, d.width, d.outlines) for d in storey.drawings]
    lines = np.array(runs)
    area = (lines[:, 2] - lines[:, 0]).sum() * 100 * surface.ground.size / 1e4
    assert area == pytest.approx(surface.area[0], rel=0.02)
    # No run crosses the box, nor lies on it.
    middle = lines[(lines[:, 1] > 100) & (lines[:, 1] < 200)]
    assert ((middle[:, 2] <= 100) | (middle[:, 0] >= 200)).all()


@pytest.mark.parametrize(
    ("heights", "levels"),
    [
        ([0.0, 0.1, -0.1, 0.0], [0.0]),
        ([0.0] * 9 + [1.5, 3.0, 3.0, 3.1], [0.0, 3.0]),
        ([1.5] * 50 + [4.0], [1.5]),
        ([], [0.0]),
    ],
    ids=["one floor", "a landing is none", "a single place is none", "nothing known"],
)
def test_storeys_are_heights_that_many_places_share(heights, levels):
    points = np.array([(0.0, 0.0, z) for z in heights]).reshape(-1, 3)
    graph = NavGraph(tuple(map(str, range(len(points)))), points, np.empty((0, 2), dtype=np.int64))
    assert StoreyLevels.of(World("w", graph), None, NOWHERE).heights.tolist() == levels


def test_a_place_belongs_to_the_storey_below_it():
    levels = StoreyLevels(np.array([0.0, 3.0]), 0.5)
    assert levels.at(np.array([-4.0, 0.0, 2.4, 2.6, 9.0])).tolist() == [0, 0, 0, 1, 1]


def test_everything_shown_is_within_the_bounds():
    world = World("w", NavGraph.from_edges({"a": (0, 0, 0), "b": (2, 1, 0)}, [("a", "b")]))
    far = np.array([(-5.0, 7.0, 0.0)])
    scene = make_scene_map(world, StoreyLevels.of(world, None, far), house=None, drawn=far)
    assert scene.bounds == [-560, -60, 260, 760]
