"""Goal tables give the distances of fields, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.worlds import goal_table
from itinera.worlds.distance_field import snap_to_ground
from itinera.worlds.goal_table import GoalTable, digest_ground
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, room, storeys

SURFACES = {
    "stairs": Surface.from_mesh(storeys(), **ROBOT),
    "apart": Surface.from_mesh(storeys(stairs=False), **ROBOT),
    "boxes": Surface.from_mesh(room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8)), ((4.5, 0, 0), (4.7, 2.5, 2))]), **ROBOT),
}


@pytest.mark.parametrize("name", SURFACES)
def test_distances_equal_those_of_a_field(name):
    surface, rng = SURFACES[name], np.random.default_rng(5)
    goals, points = surface.sample(rng, 5, island=None), surface.sample(rng, 3000, island=None)
    table, spots = GoalTable.compute(surface.ground, goals), snap_to_ground(surface.ground, points)
    assert len(table) == 5
    for row in range(5):
        field = surface.field(goals[row : row + 1])
        np.testing.assert_array_equal(table.lookup(surface.ground, row, spots), field.lookup(spots)[0])
    distances = table.distances(surface.ground, 0, points)
    assert np.isinf(distances).any() == (name == "apart")
    assert (len(table.rising) > 100) == (name == "stairs")


def test_a_field_of_several_goals_fits_into_one_row():
    surface = SURFACES["boxes"]
    goals = surface.sample(np.random.default_rng(1), 3)
    field, points = surface.field(goals), surface.sample(np.random.default_rng(2), 200)
    table = GoalTable.from_fields([field], goals[:1])
    np.testing.assert_array_equal(table.distances(surface.ground, 0, points), field.distances(points))


def test_tables_of_one_ground_join_and_no_goals_make_an_empty_one():
    surface = SURFACES["stairs"]
    goals, ground = surface.sample(np.random.default_rng(1), 3), surface.ground
    parts = [
        GoalTable.compute(ground, goals[:1]),
        GoalTable.compute(ground, goals[:0]),
        GoalTable.compute(ground, goals[1:]),
    ]
    joined, whole = GoalTable.join(parts, len(ground)), GoalTable.compute(ground, goals)
    assert [len(part) for part in parts] == [1, 0, 2]
    assert all(np.array_equal(vars(joined)[name], vars(whole)[name]) for name in vars(whole))


def test_a_row_is_small():
    surface = SURFACES["boxes"]
    field = surface.field(np.array([[1.0, 1.0, 0.0]]))
    whole = field.cell_distances.nbytes + field.turn.nbytes + field.turns.nbytes
    assert GoalTable.from_fields([field], np.zeros((1, 3))).nbytes < whole / 4


def test_more_turns_than_a_code_can_name_are_refused(monkeypatch):
    monkeypatch.setattr(goal_table, "MAX_TURNS", 1)
    with pytest.raises(BadArgument, match="a goal table has room for 1"):
        GoalTable.compute(SURFACES["boxes"].ground, np.array([[1.0, 1.0, 0.0]]))


def test_the_digest_tells_grounds_apart():
    one, other = SURFACES["stairs"].ground, SURFACES["apart"].ground
    assert digest_ground(one) == digest_ground(one) != digest_ground(other)
    assert len(digest_ground(one)) == 16
