from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import grid_house
from itinera.hearth.language.landmarks import ReferenceHabits, refer
from itinera.hearth.language.references import LAST, RELATIONS, Reference, matching_objects
from itinera.hearth.language.scene_description import DescribedObject, SceneDescription
from itinera.seeding import generator


def thing(name: str, x: float, y: float, *, size: float = 0.6, height: float = 0.4, color: str = "") -> DescribedObject:
    return DescribedObject(name, color, "", math.atan2(y, x), math.hypot(x, y), size, height=height)


BED = thing("bed", 4.0, 2.0, size=2.0)
CHAIR = thing("chair", 4.0, 0.5)
WINDOW = thing("window", 4.0, -1.0, height=1.4)
DESK = thing("desk", 3.0, -3.0, size=1.4)
LAMP = thing("lamp", 3.2, -3.0, size=0.3, height=0.9)
PICTURE = thing("picture", 3.3, -3.1, height=1.5)
OTHER_CHAIR = thing("chair", 2.0, -3.6)
STOOL = thing("stool", 5.6, 2.8)
SCENE = SceneDescription("", "b", (BED, CHAIR, WINDOW, DESK, LAMP, PICTURE, OTHER_CHAIR, STOOL), (), ())


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        (Reference("chair", relation="between", anchors=(Reference("bed"), Reference("window"))), [CHAIR]),
        (Reference("chair", relation="right of", anchors=(Reference("bed"),)), [CHAIR]),
        (Reference("chair", relation="left of", anchors=(Reference("window"),)), [CHAIR]),
        (Reference("chair", relation="next to", anchors=(Reference("desk"),)), [OTHER_CHAIR]),
        (Reference("lamp", relation="on", anchors=(Reference("desk"),)), [LAMP]),
        (Reference("desk", relation="with", anchors=(Reference("lamp"),)), [DESK]),
        (Reference("picture", relation="above", anchors=(Reference("desk"),)), [PICTURE]),
        (Reference("desk", relation="below", anchors=(Reference("picture"),)), [DESK]),
        (Reference("lamp", relation="next to", anchors=(Reference("desk"),)), []),
        (Reference("stool", relation="behind", anchors=(Reference("bed"),)), [STOOL]),
        (Reference("chair", rank=1), [CHAIR]),
        (Reference("chair", rank=LAST), [OTHER_CHAIR]),
        (Reference("chair", relation="next to", anchors=(Reference("piano"),)), []),
    ],
)
def test_relations_hold_as_the_viewer_sees_them(reference, found):
    assert matching_objects(reference, SCENE, 0.0) == found


def test_two_chairs_are_one_group_if_they_are_together():
    near = SceneDescription("", "b", (thing("chair", 3, 1), thing("chair", 3, -1)), (), ())
    (group,) = matching_objects(Reference("chair", count=2), near, 0.0)
    assert (group.distance, group.heading) == pytest.approx((3.0, 0.0))
    apart = SceneDescription("", "b", (thing("chair", 3, 4), thing("chair", 3, -4)), (), ())
    assert matching_objects(Reference("chair", count=2), apart, 0.0) == []
    assert matching_objects(Reference("chair", count=3), near, 0.0) == []


def test_what_is_near_is_not_in_the_distance():
    scene = SceneDescription("", "b", (thing("chair", 3, 1), thing("chair", 8, 1)), (), ())
    assert matching_objects(Reference("chair", far=True), scene, 0.0) == [scene.objects[1]]


places = st.tuples(st.floats(-6, 6), st.floats(-6, 6)).filter(lambda place: math.hypot(*place) > 0.5)


@given(places, places)
def test_nothing_is_left_and_right_of_the_same_thing(a, b):
    one, other = thing("chair", *a), thing("table", *b)
    assert not (RELATIONS["left of"](one, other) and RELATIONS["right of"](one, other))
    assert RELATIONS["next to"](one, other) == RELATIONS["next to"](other, one)
    assert RELATIONS["on"](one, other) == RELATIONS["with"](other, one)


@pytest.mark.parametrize("seed", range(3))
def test_an_expression_refers_to_the_landmark_and_to_nothing_else(seed):
    rng = generator(seed, "refer")
    habits = ReferenceHabits(relation=0.5, group=0.5, far=0.5)
    for description in list(grid_house.place(seed).descriptions.values())[:20]:
        for landmark in description.objects:
            found = refer(landmark, description, 0.3, rng, habits)
            if found is not None:
                assert matching_objects(found[1], description, 0.3) == [found[0]]


def test_relations_are_used_where_nothing_else_helps():
    twins = thing("chair", 4.0, 0.5), thing("chair", 4.0, -0.6), thing("chair", 1.5, 3.0)
    scene = SceneDescription("", "b", (*twins, thing("piano", 4.0, 1.5, size=1.4)), (), ())
    habits = ReferenceHabits(relation=1.0, group=0.0)
    found = refer(twins[0], scene, 0.0, generator(1), habits)
    assert found is not None
    assert found[1].anchors == (Reference("piano"),)


def test_what_a_language_has_no_word_for_is_not_mentioned():
    habits = ReferenceHabits(can_name=lambda name: name != "bed")
    assert refer(BED, SCENE, 0.0, generator(0), habits) is None
