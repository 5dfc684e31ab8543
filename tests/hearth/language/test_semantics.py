from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.hearth.language.references import Reference, relative_side, wrap_angle
from itinera.hearth.language.scene_description import (
    DescribedCandidate,
    DescribedDoor,
    DescribedObject,
    SceneDescription,
)
from itinera.hearth.language.semantics import (
    Act,
    Clause,
    Progress,
    candidate_scores,
    is_done,
    name_turn,
    resolve_target,
)
from itinera.hearth.language.vocabulary import TURNS


def way(
    degrees: float, distance: float = 2.0, *, room: str = "h", through: str = "", climb: int = 0
) -> DescribedCandidate:
    return DescribedCandidate("", math.radians(degrees), distance, climb, room, through)


def landmark(name: str, degrees: float, distance: float, color: str = "") -> DescribedObject:
    return DescribedObject(name, color, "", math.radians(degrees), distance, 1.0)


def view(
    *candidates: DescribedCandidate,
    objects: tuple[DescribedObject, ...] = (),
    doors: tuple[DescribedDoor, ...] = (),
    room: str = "h",
) -> SceneDescription:
    return SceneDescription("", room, objects, candidates, doors)


def best(clause: Clause, description: SceneDescription, progress: Progress | None = None) -> int:
    progress = resolve_target(clause, description, progress or Progress(0.0, False))
    scores = candidate_scores(clause, description, progress)
    return scores.index(max(scores))


CROSSING = view(way(0), way(80), way(-80), way(180))
RED, BLUE = landmark("sofa", 80, 3.0, "red"), landmark("sofa", -80, 3.0, "blue")


@given(st.floats(-20, 20))
def test_an_angle_and_its_wrapped_self_point_the_same_way(angle):
    assert -math.pi < wrap_angle(angle) <= math.pi
    assert math.cos(wrap_angle(angle)) == pytest.approx(math.cos(angle), abs=1e-9)


@given(st.sampled_from(sorted(TURNS)))
def test_each_turn_has_its_own_name(turn):
    assert name_turn(TURNS[turn]) == turn


@pytest.mark.parametrize(
    ("degrees", "distance", "side"),
    [
        (0, 5, "ahead"),
        (15, 1, "ahead"),
        (90, 1, "left"),
        (-90, 1, "right"),
        (180, 2, "behind"),
        (-175, 2, "behind"),
        (10, 6, "left"),
        (-10, 6, "right"),
    ],
)
def test_sides_are_those_of_whoever_faces_there(degrees, distance, side):
    assert relative_side(landmark("sofa", degrees, distance), 0.0) == side
    assert relative_side(landmark("sofa", degrees + 70, distance), math.radians(70)) == side


@pytest.mark.parametrize(("turn", "right"), [("forward", 0), ("left", 1), ("right", 2), ("around", 3)])
def test_a_turn_leads_that_way(turn, right):
    assert best(Clause(Act.GO, turn), CROSSING) == right


def test_a_turn_is_taken_from_where_one_faces():
    assert best(Clause(Act.GO, "left"), CROSSING, Progress(math.radians(-80), True)) == 0


@pytest.mark.parametrize(("stride", "right"), [("short", 1), ("long", 0)])
def test_of_two_ways_ahead_the_stride_tells_which(stride, right):
    assert best(Clause(Act.GO, "forward", stride=stride), view(way(5, 4.0), way(-5, 1.0), way(90, 0.5))) == right


@pytest.mark.parametrize("act", [Act.TOWARDS, Act.REACH])
@pytest.mark.parametrize(("color", "right"), [("red", 1), ("blue", 2)])
def test_colour_tells_two_sofas_apart(act, color, right):
    description = view(*CROSSING.candidates, objects=(RED, BLUE))
    assert best(Clause(act, landmark=Reference("sofa", color)), description) == right


def test_an_office_chair_is_a_chair_but_a_chair_no_office_chair():
    assert Reference("chair").matches(landmark("office chair", 0, 1), 0.0)
    assert not Reference("office chair").matches(landmark("chair", 0, 1), 0.0)


@pytest.mark.parametrize(("side", "right"), [("left", 1), ("right", 0)])
def test_a_thing_is_passed_on_the_side_that_is_said(side, right):
    description = view(way(50), way(-10), objects=(landmark("sofa", 20, 1.5),))
    assert best(Clause(Act.PASS, landmark=Reference("sofa"), side=side), description) == right


def test_entering_takes_the_way_into_that_room():
    description = view(way(0), way(80, room="k", through="door"), way(-80, room="b", through="door"))
    assert best(Clause(Act.ENTER, room="b"), description) == 2


def test_entering_a_room_seen_through_a_door_goes_to_the_door():
    kitchen = DescribedDoor(math.radians(80), 4.0, "k", "", False)
    assert best(Clause(Act.ENTER, room="k"), view(way(0), way(80), way(-80), doors=(kitchen,))) == 1


def test_the_second_door_is_the_second_on_that_side():
    doors = tuple(DescribedDoor(math.radians(a), d, "", "", False) for a, d in ((70, 2.0), (40, 4.0), (-70, 1.0)))
    description = view(
        way(70, 3.0, through="door"), way(40, 5.0, through="door"), way(-70, 2.0, through="door"), doors=doors
    )
    assert best(Clause(Act.DOOR, side="left", rank=2), description) == 1


def test_a_door_stays_the_one_first_meant():
    first, second = (DescribedDoor(math.radians(60), d, "", "", False) for d in (2.0, 6.0))
    clause = Clause(Act.DOOR, side="left", rank=2)
    progress = resolve_target(clause, view(way(60), doors=(first, second)), Progress(0.0, False))
    later = resolve_target(clause, view(way(60), doors=(second,)), progress.advance(way(60)))
    assert later.target == progress.target


@pytest.mark.parametrize(("act", "right"), [(Act.UP, 0), (Act.DOWN, 1)])
def test_stairs_are_taken_up_or_down(act, right):
    assert best(Clause(act), view(way(0, climb=1), way(10, climb=-1), way(-90))) == right


def test_no_one_turns_back_without_being_told():
    description = view(way(180, room="k", through="door"), way(100, room="b", through="door"))
    assert best(Clause(Act.LEAVE, room="h"), description, Progress(0.0, True)) == 1
    assert best(Clause(Act.LEAVE, "around", room="h"), description, Progress(0.0, True)) == 0


def test_where_nothing_tells_one_goes_straight_on():
    for act in (Act.ENTER, Act.LEAVE, Act.UP):
        assert best(Clause(act, room="h"), CROSSING) == 0


ONE_STEP = Progress(0.0, False).advance(way(0))


@pytest.mark.parametrize(
    ("clause", "description", "over"),
    [
        (Clause(Act.GO, "forward"), CROSSING, True),
        (Clause(Act.ENTER, room="k"), view(way(0), room="k"), False),  # it was in the kitchen all the time
        (Clause(Act.LEAVE, room="h"), CROSSING, False),
        (Clause(Act.END, room="h"), CROSSING, False),
        (Clause(Act.END, room="h"), view(way(90), way(180)), True),
        (Clause(Act.UP), CROSSING, False),
        (Clause(Act.STOP), CROSSING, True),
        (Clause(Act.REACH, landmark=Reference("sofa")), view(way(0), objects=(landmark("sofa", 0, 3.0),)), False),
        (Clause(Act.REACH, landmark=Reference("sofa")), view(way(180), objects=(landmark("sofa", 0, 1.0),)), True),
        (Clause(Act.PASS, landmark=Reference("sofa")), view(way(0), objects=(landmark("sofa", 30, 3.0),)), False),
        (Clause(Act.PASS, landmark=Reference("sofa")), view(way(0), objects=(landmark("sofa", 150, 1.0),)), True),
    ],
    ids=lambda value: value.act.value if isinstance(value, Clause) else None,
)
def test_after_a_step_one_knows_whether_a_clause_is_done(clause, description, over):
    assert is_done(clause, description, resolve_target(clause, description, ONE_STEP)) is over


def test_a_room_is_entered_and_left_by_its_door():
    through = Progress(0.0, False).advance(way(0, through="door"))
    assert is_done(Clause(Act.ENTER, room="k"), view(way(0), room="k"), through)
    assert is_done(Clause(Act.LEAVE, room="h"), view(way(0), room="k"), through)
    assert is_done(Clause(Act.DOOR), view(way(0), room="k"), through)


def test_stairs_end_where_no_way_goes_on_up():
    up = Progress(0.0, False).advance(way(0, climb=1))
    assert not is_done(Clause(Act.UP), view(way(0, climb=1)), up)
    assert is_done(Clause(Act.UP, stride="short"), view(way(0, climb=1)), up)
    assert is_done(Clause(Act.UP), view(way(0)), up)
