from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.hearth.geometry.solids import Solids
from itinera.simulators.view_features import BATCH_NODES, RENDERED, annotated_views, frequent_names, rendered_views
from itinera.worlds import Euclidean, NavGraph, Room, VisibleObject, World
from itinera.worlds.labels import ROOM_NAMES

NORTH, SOUTH = 12, 18  # level views along +y and -y


def screen(left: float, right: float) -> Solids:
    """A red wall 3 m north of the origin, seen from there, much higher than any view."""
    solids = Solids()
    corners = [(left, 3.0, -50.0), (right, 3.0, -50.0), (right, 3.0, 50.0), (left, 3.0, 50.0)]
    solids.polygon(corners, "wall", 0, (200, 0, 0))
    return solids


def alone(*places: tuple[float, float, float]) -> World:
    return World("field", NavGraph.from_edges({f"n{k}": place for k, place in enumerate(places)}, []))


def seen(world: World, solids: Solids, node: str = "n0") -> dict[str, np.ndarray]:
    """What is seen from a node, (36,) by column."""
    source = rendered_views({"field": world}, {"field": solids.mesh()})
    return dict(zip(source.columns, source.at("field", node).T, strict=True))


def test_a_view_is_told_by_its_classes_colours_and_depths():
    views = seen(alone((0, 0, 1.5)), screen(-50, 50))
    assert views["share of wall"][NORTH] == 1
    assert views["share of void"][SOUTH] == 1
    for third in ("left", "middle", "right"):
        assert views[f"red, {third}"][NORTH] > 0.4 > views[f"red, {third}"][SOUTH] == 0
        assert views[f"green, {third}"][NORTH] == 0
        assert views[f"depth, {third}"][NORTH] == views[f"least depth, {third}"][NORTH] == np.float32(0.3)
        assert views[f"depth, {third}"][SOUTH] == 1  # nothing there counts as far away


def test_thirds_are_told_apart():
    views = seen(alone((0, 0, 1.5)), screen(0, 50))
    assert views["share of wall"][NORTH] == 0.5
    depths = [views[f"depth, {third}"][NORTH] for third in ("left", "middle", "right")]
    assert depths == pytest.approx([1.0, (1 + 0.3) / 2, 0.3])
    assert [views[f"least depth, {third}"][NORTH] for third in ("left", "middle")] == pytest.approx([1.0, 0.3])


def test_rows_look_down_level_and_up():
    solids = Solids()
    solids.polygon([(-50, -50, 0), (50, -50, 0), (50, 50, 0), (-50, 50, 0)], "floor", 0, (9, 9, 9))
    floor = seen(alone((0, 0, 1.5)), solids)["share of floor"].reshape(3, 12)
    assert (floor[0] > floor[1]).all()
    assert (floor[2] == 0).all()  # the lower edge of the view is level


def test_what_is_seen_does_not_depend_on_how_many_are_drawn_together():
    places = [(0.1 * k, 0.2 * k, 1.5) for k in range(BATCH_NODES + 3)]
    mesh = screen(0, 50)
    together = seen(alone(*places), mesh, f"n{BATCH_NODES + 1}")
    one = seen(alone(places[BATCH_NODES + 1]), mesh)
    assert all((together[column] == one[column]).all() for column in RENDERED)


def test_views_are_worked_out_once_and_cannot_be_written_to():
    source = rendered_views({"field": alone((0, 0, 1.5))}, {"field": screen(0, 1).mesh()})
    views = source.at("field", "n0")
    assert views.shape == (36, source.size) == (36, 57)
    assert views.dtype == np.float32
    assert np.shares_memory(source.at("field", "n0"), views)
    with pytest.raises(ValueError, match="read-only"):
        views[0, 0] = 1


def thing(name: str, views: list[int], sides: list[tuple[float, float]]) -> VisibleObject:
    boxes = np.array([(0, 0, *side) for side in sides]).reshape(-1, 4)
    return VisibleObject("1", name, np.array(views, dtype=np.int64), boxes)


# a, in the kitchen, sees two lamps, in views 3 and 4; b lies north of it, in the hall; c's room is unknown.
HOUSE = World(
    "house",
    NavGraph.from_edges({"a": (0, 0, 0), "b": (0, 2, 0), "c": (2, 0, 0)}, [("a", "b"), ("a", "c")]),
    rooms={"a": Room("k"), "b": Room("h")},
    objects={
        "a": (
            thing("lamp", [3, 4], [(64, 48), (640, 480)]),
            thing("lamp", [3, 4], [(320, 240), (64, 48)]),
            thing("bed", [5], [(320, 120)]),
            thing("rug", [], []),
        ),
        "b": (thing("lamp", [0], [(1, 1)]), thing("chair", [1], [(1, 1)])),
    },
)


def columns_of(names: list[str], node: str) -> dict[str, np.ndarray]:
    source = annotated_views({"house": HOUSE}, names)
    assert source.size == len(names) + 2 * len(ROOM_NAMES)
    return dict(zip(source.columns, source.at("house", node).T, strict=True))


def test_objects_are_told_by_how_large_the_largest_of_a_name_looks():
    views = columns_of(["lamp", "bed"], "a")
    expected = np.zeros(36)
    expected[[3, 4]] = 0.5, 1.0  # of 1/100 and 1/4 of the view the larger, of all of it and 1/100 too
    assert views["lamp"].tolist() == pytest.approx(expected.tolist())
    assert views["bed"][5] == pytest.approx(math.sqrt(1 / 8))
    assert set(views) - {"lamp", "bed"} == {f"{how} {kind}" for how in ("in", "to") for kind in ROOM_NAMES.values()}


def test_rooms_are_told_where_one_stands_and_where_ways_lead():
    views = columns_of([], "a")
    assert (views["in kitchen"] == 1).all()
    assert np.flatnonzero(views["to hallway"]).tolist() == [NORTH]
    assert sum(column.sum() for column in views.values()) == 36 + 1  # nothing is said of the room of c
    assert np.flatnonzero(columns_of([], "c")["to kitchen"]).tolist() == [21]
    assert not any(column.any() for name, column in columns_of([], "c").items() if name.startswith("in "))


def test_with_a_reach_what_is_farther_off_is_told_of_the_views_that_look_there():
    source = annotated_views({"house": HOUSE}, ["lamp", "rug"], reach=10.0)
    views = dict(zip(source.columns, source.at("house", "a").T, strict=True))
    north = [0, 1, 11, 12, 13, 23, 24, 25, 35]  # up to 30 degrees to either side
    assert np.flatnonzero(views["towards lamp"]).tolist() == np.flatnonzero(views["towards hallway"]).tolist() == north
    assert views["towards lamp"][NORTH] == pytest.approx(math.exp(-2 / 5))  # two metres off, of a reach of ten
    assert not views["towards rug"].any()  # listed at a, but seen from nowhere
    assert not views["towards kitchen"].any()  # where one is lies in no direction
    assert not views["to the same room"].any()
    assert not dict(zip(source.columns, source.at("house", "b").T, strict=True))["towards hallway"].any()


def test_ways_within_a_room_are_told():
    hall = replace(HOUSE, rooms={"a": Room("h", "1"), "b": Room("h", "1"), "c": Room("h", "2")})
    source = annotated_views({"house": hall}, [], reach=10.0)
    same = dict(zip(source.columns, source.at("house", "a").T, strict=True))["to the same room"]
    assert np.flatnonzero(same).tolist() == [NORTH]  # c lies in another hall


def test_frequent_names_are_those_seen_from_the_most_nodes():
    assert frequent_names({"house": HOUSE}) == ("lamp", "bed", "chair")  # a rug is listed, but not seen
    assert frequent_names({"house": HOUSE}, max_names=1) == ("lamp",)


def test_what_is_not_known_is_told():
    source = annotated_views({"house": HOUSE, "field": World("field", Euclidean())}, [])
    with pytest.raises(BadArgument, match="World hut is not among the worlds"):
        source.at("hut", "a")
    with pytest.raises(BadArgument, match="z is not a node of world house"):
        source.at("house", "z")
    with pytest.raises(BadArgument, match="World field is not a navigation graph"):
        source.at("field", "a")
    with pytest.raises(BadArgument, match="World house has no mesh"):
        rendered_views({"house": HOUSE}, {}).at("house", "a")
    with pytest.raises(BadArgument, match="must be different"):
        annotated_views({}, ["lamp", "lamp"])
