"""Whole plans: a dozen houses in every run, two hundred in the slow one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from itinera.hearth.geometry.polygons import area
from itinera.hearth.layout.families import FAMILIES, HouseType, draw_house_type
from itinera.hearth.layout.generate import generate_floor_plan
from itinera.hearth.layout.plan import OUTSIDE, FloorPlan, PlannedRoom
from itinera.seeding import generator
from itinera.worlds import Array
from itinera.worlds.labels import ROOM_NAMES

SIZES = {  # least and most square metres between the walls
    "b": (11, 32),
    "a": (4, 13.5),
    "t": (2.2, 5.5),
    "c": (2.3, 9.5),
    "k": (13, 33),
    "d": (13, 33),
    "l": (25, 66),
    "e": (7, 22),
    "f": (20, 50),
    "o": (9, 26),
    "g": (25, 48),
}


@pytest.fixture(
    scope="module", params=[range(12), pytest.param(range(12, 200), marks=pytest.mark.slow)], ids=["12", "200"]
)
def plans(request: pytest.FixtureRequest, plan_of: Callable[[int], FloorPlan]) -> list[FloorPlan]:
    return [plan_of(index) for index in request.param]


def rooms_of(plans: list[FloorPlan]) -> Iterator[tuple[FloorPlan, PlannedRoom]]:
    return ((plan, room) for plan in plans for room in plan.rooms)


def walls_of(outline: Array) -> list[tuple[Array, Array]]:
    return list(zip(outline, np.roll(outline, -1, axis=0), strict=True))


def graph_of(plan: FloorPlan) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(room.index for room in plan.rooms)
    graph.add_edges_from(passage.rooms for passage in plan.passages if OUTSIDE not in passage.rooms)
    graph.add_edges_from(stairs.rooms for stairs in plan.staircases)
    return graph


def contains(outline: Array, points: Array) -> Array:
    """Whether each point (n, 2) is inside, by counting the walls to its right."""
    inside = np.zeros(len(points), dtype=bool)
    for a, b in walls_of(outline):
        crosses = (a[1] > points[:, 1]) != (b[1] > points[:, 1])
        with np.errstate(divide="ignore", invalid="ignore"):
            x = a[0] + (points[:, 1] - a[1]) * (b[0] - a[0]) / (b[1] - a[1])
        inside ^= crosses & (points[:, 0] < x)
    return inside


def grid_in(outline: Array, step: float = 0.25) -> Array:
    low, high = outline.min(axis=0), outline.max(axis=0)
    xs, ys = (np.arange(low[k] + step / 3, high[k], step) for k in (0, 1))
    points = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    return points[contains(outline, points)]


def test_the_same_generator_draws_the_same_plan() -> None:
    first, second = (generate_floor_plan(generator(1, "house", "3", "plan")) for _ in range(2))
    assert len(first.rooms) == len(second.rooms)
    for a, b in zip(first.rooms, second.rooms, strict=True):
        assert a.kind == b.kind
        assert a.outline.tobytes() == b.outline.tobytes()
    for p, q in zip(first.passages, second.passages, strict=True):
        assert (p.rooms, p.width, p.center.tobytes()) == (q.rooms, q.width, q.center.tobytes())


def test_houses_differ(plans: list[FloorPlan]) -> None:
    assert len({b"".join(room.outline.tobytes() for room in plan.rooms) for plan in plans}) == len(plans)


def test_indices_are_places(plans: list[FloorPlan]) -> None:
    for plan in plans:
        assert [room.index for room in plan.rooms] == list(range(len(plan.rooms)))
        assert [passage.index for passage in plan.passages] == list(range(len(plan.passages)))


def test_kinds_are_matterports(plans: list[FloorPlan]) -> None:
    assert {room.kind for _, room in rooms_of(plans)} <= set(ROOM_NAMES)


def test_outlines_are_simple_and_counter_clockwise(plans: list[FloorPlan]) -> None:
    for plan, room in rooms_of(plans):
        assert area(room.outline) > 0
        pieces = walls_of(room.outline)
        for i, j in combinations(range(len(pieces)), 2):
            if j - i > 1 and (i, j) != (0, len(pieces) - 1):
                assert not cross(*pieces[i], *pieces[j]), (plan.rooms.index(room), i, j)


def cross(a: Array, b: Array, c: Array, d: Array) -> bool:
    """Whether two segments touch."""

    def side(p: Array, q: Array, r: Array) -> float:
        return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    boxes_meet = (np.minimum(a, b) <= np.maximum(c, d)).all() and (np.minimum(c, d) <= np.maximum(a, b)).all()
    return bool(boxes_meet) and side(a, b, c) * side(a, b, d) <= 0 and side(c, d, a) * side(c, d, b) <= 0


def test_outlines_lie_on_centimetres_and_have_no_tiny_walls(plans: list[FloorPlan]) -> None:
    for _, room in rooms_of(plans):
        assert np.abs(room.outline * 100 - np.round(room.outline * 100)).max() < 1e-9
        assert min(np.hypot(*(b - a)) for a, b in walls_of(room.outline)) >= 0.4


def test_rooms_of_a_storey_do_not_overlap(plans: list[FloorPlan]) -> None:
    for plan in plans:
        for a, b in combinations(plan.rooms, 2):
            apart = (a.outline.max(axis=0) < b.outline.min(axis=0)) | (b.outline.max(axis=0) < a.outline.min(axis=0))
            if a.storey == b.storey and not apart.any():
                assert not contains(b.outline, grid_in(a.outline)).any()
                assert not contains(a.outline, grid_in(b.outline)).any()


def test_rooms_have_the_size_of_their_kind(plans: list[FloorPlan]) -> None:
    for _, room in rooms_of(plans):
        low, high = SIZES.get(room.kind, (0, 200))
        assert low <= area(room.outline) <= high, room.kind


def test_proportions_are_not_silly(plans: list[FloorPlan]) -> None:
    for _, room in rooms_of(plans):
        sides = np.sort(room.outline.max(axis=0) - room.outline.min(axis=0))
        assert room.kind in "hspxy" or sides[1] <= 2.25 * sides[0], (room.kind, sides)


def test_no_corridor_is_longer_than_fourteen_metres(plans: list[FloorPlan]) -> None:
    for _, room in rooms_of(plans):
        if room.kind == "h":
            assert np.ptp(room.outline, axis=0).max() <= 14.3


def test_halls_are_wide_enough(plans: list[FloorPlan]) -> None:
    for _, room in rooms_of(plans):
        if room.kind == "h":
            for a, b in combinations(walls_of(room.outline), 2):
                assert facing_distance(*a, *b) >= 1.2


def facing_distance(a: Array, b: Array, c: Array, d: Array) -> float:
    """How far two walls of a room that look at each other are apart; inf if they do not."""
    u, v = (b - a) / np.hypot(*(b - a)), (d - c) / np.hypot(*(d - c))
    if u @ v > -0.999:
        return np.inf
    s = sorted((float((c - a) @ u), float((d - a) @ u)))
    inwards = float((c - a) @ np.array([-u[1], u[0]]))
    return inwards if inwards > 0 and s[0] < np.hypot(*(b - a)) - 1e-6 and s[1] > 1e-6 else np.inf


def test_houses_have_eight_to_thirty_rooms_and_not_all_the_same(plans: list[FloorPlan]) -> None:
    counts = [sum(not room.outdoor for room in plan.rooms) for plan in plans]
    assert min(counts) >= 8
    assert max(counts) <= 30
    assert 15 <= np.mean(counts) <= 24
    assert np.std(counts) > 1.5


def test_floor_area_is_that_of_large_houses(plans: list[FloorPlan]) -> None:
    areas = [sum(area(room.outline) for room in plan.rooms if not room.outdoor) for plan in plans]
    assert min(areas) > 100
    assert max(areas) < 640
    assert 220 <= np.mean(areas) <= 400


def test_about_two_of_three_houses_have_stairs_of_several_shapes(plans: list[FloorPlan]) -> None:
    types = [draw_house_type(generator(k, "type")) for k in range(400)]
    assert 0.6 <= np.mean([house.storeys > 1 for house in types]) <= 0.72
    assert {house.storeys for house in types} == {1, 2, 3}
    assert {house.family for house in types} == set(FAMILIES)
    for plan in plans:
        assert len(plan.staircases) == plan.storeys - 1
        assert len({stairs.shape for stairs in plan.staircases}) <= 1
    shapes = {stairs.shape for plan in plans for stairs in plan.staircases}
    assert shapes <= {"straight", "L", "U"}
    assert len(shapes) == 3 if len(plans) > 100 else len(shapes) >= 2


def test_many_houses_have_a_terrace_a_garden_a_balcony_or_a_garage(plans: list[FloorPlan]) -> None:
    for kind, least, most in (("p", 0.5, 1.0), ("x", 0.3, 0.95), ("y", 0.2, 0.9), ("g", 0.02, 0.6)):
        share = np.mean([any(room.kind == kind for room in plan.rooms) for plan in plans])
        assert least <= share <= most, kind


def test_outdoors_lies_on_the_ground_or_is_a_balcony_upstairs(plans: list[FloorPlan]) -> None:
    for _plan, room in rooms_of(plans):
        assert room.outdoor == (room.kind in "pxy")
        assert (room.storey > 0) == (room.kind == "y") or not room.outdoor


def test_every_open_side_outdoors_has_a_fence(plans: list[FloorPlan]) -> None:
    for plan, room in rooms_of(plans):
        if not room.outdoor:
            continue
        fences = [fence for fence in plan.fences if fence.room == room.index]
        for a, b in walls_of(room.outline):
            middle, ahead = (a + b) / 2, (b - a) / np.hypot(*(b - a))
            beyond = middle + 0.4 * np.array([ahead[1], -ahead[0]])
            inside = any(contains(r.outline, beyond[None])[0] for r in plan.rooms if r.storey == room.storey)
            between = [np.abs((f.start + f.end) / 2 - middle).max() < 0.3 for f in fences]
            assert inside or any(between) or len(fences) > 3, (room.kind, a, b)


def test_every_house_has_what_one_needs(plans: list[FloorPlan]) -> None:
    for plan in plans:
        kinds = Counter(room.kind for room in plan.rooms)
        assert kinds["k"] == kinds["e"] == kinds["l"] == 1
        assert kinds["b"] >= 1
        assert 1 <= kinds["a"] <= kinds["b"] + 1
        assert kinds["h"] == plan.storeys
        assert any(room.kind in "at" and room.storey == 0 for room in plan.rooms)


def test_no_room_is_reached_only_through_a_bath_a_closet_or_a_bedroom(plans: list[FloorPlan]) -> None:
    for plan in plans:
        graph = graph_of(plan)
        assert nx.is_connected(graph)
        for room in plan.rooms:
            others = [
                r.index for r in plan.rooms if r.index != room.index and not (room.kind == "b" and r.kind in "acSy")
            ]
            if room.kind in "abct":
                assert nx.is_connected(graph.subgraph(others)), (room.kind, room.index)


def test_closets_and_baths_have_likely_neighbours(plans: list[FloorPlan]) -> None:
    likely = {"c": "bh", "a": "bhe", "t": "he", "s": "h", "e": "hldfnokiv", "p": "ldkfnx", "y": "borifhnw"}
    for plan in plans:
        graph = graph_of(plan)
        stairs = {frozenset(stairs.rooms) for stairs in plan.staircases}
        for room in plan.rooms:
            for other in graph[room.index]:
                if room.kind in likely and frozenset((room.index, other)) not in stairs:
                    assert plan.rooms[other].kind in likely[room.kind] or room.kind in likely.get(
                        plan.rooms[other].kind, ""
                    )


def test_kitchens_are_mostly_next_to_where_one_eats(plans: list[FloorPlan]) -> None:
    with_dining = [plan for plan in plans if any(room.kind == "d" for room in plan.rooms)]
    next_door = 0
    for plan in with_dining:
        kitchen = next(room.index for room in plan.rooms if room.kind == "k")
        within_two = nx.single_source_shortest_path_length(graph_of(plan), kitchen, cutoff=1)
        next_door += any(plan.rooms[k].kind == "d" for k in within_two)
    assert next_door == len(with_dining)


def test_there_is_more_than_one_way(plans: list[FloorPlan]) -> None:
    loops = [graph_of(plan).number_of_edges() - len(plan.rooms) + 1 for plan in plans]
    assert np.mean([n >= 1 for n in loops]) >= 0.9
    assert np.mean([n >= 2 for n in loops]) >= 0.4


def test_many_rooms_are_not_rectangles(plans: list[FloorPlan]) -> None:
    corners = np.array([len(room.outline) for _, room in rooms_of(plans)])
    assert np.mean(corners != 4) > 0.15
    slanted = [any((np.abs(b - a) > 0.05).all() for a, b in walls_of(room.outline)) for _, room in rooms_of(plans)]
    assert 0.02 < np.mean(slanted) < 0.3


def test_passages_pierce_the_walls_of_both_rooms_away_from_corners(plans: list[FloorPlan]) -> None:
    for plan in plans:
        for passage in plan.passages:
            for which, room in enumerate(passage.rooms):
                if room != OUTSIDE:
                    middle = passage.center + passage.normal * passage.depth * (which - 0.5)
                    assert margin(plan.rooms[room].outline, middle, passage.normal, passage.width) >= 0.15 - 1e-6


def margin(outline: Array, middle: Array, normal: Array, width: float) -> float:
    """How far a hole of a wall is from that wall's nearer end; -inf if it is in no wall."""
    for a, b in walls_of(outline):
        length = np.hypot(*(b - a))
        u = (b - a) / length
        off, s = abs(float((middle - a) @ np.array([-u[1], u[0]]))), float((middle - a) @ u)
        if off < 1e-4 and abs(float(u @ normal)) < 1e-4 and 0 < s < length:
            return float(min(s, length - s) - width / 2)
    return -np.inf


def test_widths_and_heights_let_a_robot_through(plans: list[FloorPlan]) -> None:
    for plan in plans:
        for passage in plan.passages:
            assert 0.8 <= passage.width <= (8.0 if passage.wide else 2.5)
            assert passage.height == (2.3 if passage.wide else 2.1)
            assert passage.height < plan.rooms[passage.rooms[0]].height
        assert any(passage.wide for passage in plan.passages)


def test_holes_of_a_wall_do_not_overlap(plans: list[FloorPlan]) -> None:
    for plan, room in rooms_of(plans):
        holes = [
            (p.center + p.normal * p.depth * (w - 0.5), p.normal, p.width)
            for p in plan.passages
            for w in (0, 1)
            if p.rooms[w] == room.index
        ] + [(w.center, w.normal, w.width) for w in plan.windows if w.room == room.index]
        for (m, n, w), (m2, n2, w2) in combinations(holes, 2):
            along = np.array([-n[1], n[0]])
            if abs(float(n @ n2)) > 0.99 and abs(float((m2 - m) @ n)) < 0.01:
                assert abs(float((m2 - m) @ along)) >= (w + w2) / 2 + 0.1


def test_there_is_one_front_door_and_it_leads_out(plans: list[FloorPlan]) -> None:
    for plan in plans:
        closed = [passage for passage in plan.passages if OUTSIDE in passage.rooms]
        (front,) = [passage for passage in closed if plan.rooms[passage.rooms[0]].kind == "e"]
        assert {plan.rooms[passage.rooms[0]].kind for passage in closed} <= {"e", "g"}
        assert plan.rooms[front.rooms[0]].kind == "e"
        assert front.rooms[1] == OUTSIDE
        assert not front.wide
        steps = front.center + np.linspace(0.2, 1.0, 5)[:, None] * front.normal
        assert not any(contains(room.outline, steps).any() for room in plan.rooms if room.storey == 0)


def test_windows_look_outside_and_lie_in_a_wall(plans: list[FloorPlan]) -> None:
    for plan in plans:
        for window in plan.windows:
            room = plan.rooms[window.room]
            assert margin(room.outline, window.center, window.normal, window.width) >= 0.1
            ahead = window.center + np.linspace(0.1, 1.2, 6)[:, None] * window.normal
            indoors = [r for r in plan.rooms if r.storey == room.storey and not r.outdoor]
            assert not any(contains(r.outline, ahead).any() for r in indoors)
            assert room.floor + 0.3 <= window.sill < window.top <= room.floor + room.height - 0.2
            assert room.kind not in "cg"


def test_most_entries_have_a_window_beside_the_front_door(plans: list[FloorPlan]) -> None:
    entries = [(plan, room) for plan, room in rooms_of(plans) if room.kind == "e"]
    assert np.mean([any(w.room == room.index for w in plan.windows) for plan, room in entries]) > 0.6


def test_gardens_of_row_houses_do_not_reach_behind_the_neighbors() -> None:
    plans = [plan_of_family("row house", storeys, index) for storeys in (2, 3) for index in range(10)]
    gardens = [(plan, room) for plan, room in rooms_of(plans) if room.kind == "x"]
    for plan, garden in gardens:
        house = np.concatenate([room.outline for room in plan.rooms if not room.outdoor and room.storey == 0])
        low, high = house.min(axis=0) - garden.outline.min(axis=0), garden.outline.max(axis=0) - house.max(axis=0)
        assert np.maximum(low, high).min() < 0.1, "wider than the house"
    assert len(gardens) > 10


def plan_of_family(family: str, storeys: int, index: int) -> FloorPlan:
    return generate_floor_plan(generator(index, family, str(storeys)), HouseType(family, storeys, open_plan=False))


def test_most_living_rooms_and_bedrooms_have_windows(plans: list[FloorPlan]) -> None:
    lit = [
        any(window.room == room.index for window in plan.windows) for plan, room in rooms_of(plans) if room.kind in "lb"
    ]
    assert np.mean(lit) > 0.9


def test_open_leaves_stand_in_a_room_and_clear_of_every_passage(plans: list[FloorPlan]) -> None:
    leaves = 0
    for plan in plans:
        for passage in plan.passages:
            if passage.leaf is None:
                continue
            leaves += 1
            x0, y0, x1, y1 = passage.leaf
            corners = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
            assert any(contains(plan.rooms[room].outline, corners).all() for room in passage.rooms)
            for other in plan.passages:
                if other.floor == passage.floor:
                    along = np.array([-other.normal[1], other.normal[0]])
                    s, d = (corners - other.center) @ along, (corners - other.center) @ other.normal
                    before = (
                        np.abs(d).min() < 0.5 and s.max() > -other.width / 2 + 1e-6 and s.min() < other.width / 2 - 1e-6
                    )
                    assert not before
    doors = sum(not p.wide and OUTSIDE not in p.rooms for plan in plans for p in plan.passages)
    assert leaves > 0.4 * doors


def test_stairs_are_comfortable_and_leave_room_beside_them(plans: list[FloorPlan]) -> None:
    for plan in plans:
        for stairs in plan.staircases:
            low, high = (plan.rooms[k] for k in stairs.rooms)
            assert (low.kind, high.kind) == ("s", "s")
            assert np.array_equal(low.outline, high.outline)
            assert (stairs.foot[2], stairs.head[2]) == (low.floor, high.floor)
            for flight in stairs.flights:
                run = float(np.hypot(*(flight.head - flight.foot)[:2]))
                assert 0.16 <= (flight.head[2] - flight.foot[2]) / flight.steps <= 0.19
                assert 0.255 <= run / (flight.steps - 1) <= 0.3
                assert flight.width >= 1.0
            for area_ in stairs.areas:
                assert (area_[:2] >= low.outline.min(axis=0) - 1e-3).all()
                assert (area_[2:] <= low.outline.max(axis=0) + 1e-3).all()


def test_flights_meet_at_their_landings(plans: list[FloorPlan]) -> None:
    for stairs in (stairs for plan in plans for stairs in plan.staircases):
        assert len(stairs.landings) == len(stairs.flights) - 1 == (stairs.shape != "straight")
        for before, landing, after in zip(stairs.flights, stairs.landings, stairs.flights[1:], strict=False):
            assert before.head[2] == landing.floor == after.foot[2]
            for end in (before.head, after.foot):
                low, high = landing.area[:2] - 1e-3, landing.area[2:] + 1e-3
                assert (low <= end[:2]).all()
                assert (end[:2] <= high).all()


def test_no_bedroom_is_entered_from_a_kitchen_or_another_bedroom(plans: list[FloorPlan]) -> None:
    for plan, room in rooms_of(plans):
        if room.kind == "b":
            kinds = {plan.rooms[k].kind for k in graph_of(plan)[room.index]}
            assert kinds <= set("hesacSy")
            assert kinds & set("hes")


def test_the_upper_floor_is_a_slab_above_the_lower_ceiling(plans: list[FloorPlan]) -> None:
    for _, room in rooms_of(plans):
        assert 2.5 <= room.height <= 3.0
        assert room.floor == pytest.approx(room.storey * (room.height + 0.3), abs=1e-9)
