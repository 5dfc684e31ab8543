from __future__ import annotations

import numpy as np
import pytest

import grid_house
from itinera.hearth.language.path_context import PathContext
from itinera.hearth.language.references import Reference
from itinera.hearth.language.segmentation import ORDINARY, STEPS, choose_segments
from itinera.hearth.language.semantics import Act, Clause
from itinera.hearth.layout.plan import Passage
from itinera.seeding import generator


@pytest.fixture
def hall():
    """A hall with three doors on its left, a closet behind each, and two red sofas at its end."""
    room = grid_house.square(0, "h", np.zeros(2), (12.0, 2.0))
    closets = [grid_house.square(k, "c", np.array([4.0 * (k - 1), 2.0]), (4.0, 3.0)) for k in (1, 2, 3)]
    centres = [np.array([x, 2.0]) for x in (2.0, 6.0, 10.0)]
    up = np.array([0.0, 1.0])
    doors = [Passage(k, (0, k + 1), False, center, up, 0.9, 2.1, 0.14, 0.0) for k, center in enumerate(centres)]
    ends = [0.0, *(x + side for x in (2.0, 6.0, 10.0) for side in (-0.45, 0.45)), 12.0]
    walls = [(np.array([a, 2.0]), np.array([b, 2.0])) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    walls += [(np.array([x, 2.0]), np.array([x, 5.0])) for x in (4.0, 8.0)]
    items = [grid_house.thing(k, "sofa", (11.5, y), "red") for k, y in ((1, 0.4), (2, 1.6))]
    points = [np.array([x, 1.0]) for x in (0.5, 2.0, 4.0, 6.0, 8.0, 10.0)] + [c + 1.0 * up for c in centres]
    return grid_house.furnished([room, *closets], doors, walls, items, points, [0] * 6 + [1, 2, 3])


def nodes(place, *numbers):
    return [place.graph.nodes[k] for k in numbers]


def test_doors_are_counted_along_what_is_seen(hall):
    context = PathContext(hall.descriptions, nodes(hall, 0, 1, 2, 3, 7), 0.0)
    follow = {rank: context.follow(Clause(Act.DOOR, side="left", rank=rank), 0) for rank in (1, 2, 3)}
    assert follow == {1: None, 2: 4, 3: None}
    chosen = [choose_segments(context, generator(k, "hall"), ORDINARY) for k in range(20)]
    assert Clause(Act.DOOR, side="left", rank=2) in [segment.clause for segments in chosen for segment in segments]


def test_a_door_that_is_not_the_only_one_is_never_just_the_door(hall):
    context = PathContext(hall.descriptions, nodes(hall, 0, 1, 2, 3, 7), 0.0)
    assert context.follow(Clause(Act.DOOR), 0) is None
    assert context.follow(Clause(Act.ENTER, room="c"), 0) is None


def test_two_red_sofas_are_never_the_red_sofa(hall):
    context = PathContext(hall.descriptions, nodes(hall, 0, 1, 2, 3, 4, 5), 0.0)
    assert context.follow(Clause(Act.REACH, landmark=Reference("sofa", "red")), 0) is None
    for k in range(20):
        for segment in choose_segments(context, generator(k, "sofas"), STEPS):
            words = segment.clause.landmark
            assert words is None or words.side or words.rank or words.count == 2


def test_a_clause_that_also_fits_another_way_is_not_sure(hall):
    context = PathContext(hall.descriptions, nodes(hall, 2, 3, 7), 0.0)
    assert context.follow(Clause(Act.GO, "forward"), 0) == 1
    assert context.follow(Clause(Act.GO, "left"), 1) == 2
    assert context.follow(Clause(Act.GO, "left"), 0) is None
    assert context.follow(Clause(Act.LEAVE, room="h"), 1) == 2
