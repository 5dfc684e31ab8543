"""The fastest way there: intervals that hold, drives that prove them, and the laws of time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.planners.motion import fastest as door
from itinera.planners.motion.dynamics import holonomic, point_turn, unicycle
from itinera.planners.motion.fastest import ToGoal, dynamics_named, fastest
from itinera.planners.motion.rrt_star import best_of_several
from itinera.seeding import generator
from itinera.worlds.grid import Grid
from planners.floors import ROOMS, grid
from planners.replaying import contact, seconds

RADIUS = 0.2
FLOOR = grid(ROOMS, size=0.4, resolution=0.1)
SLOW, QUICK = math.radians(10), math.radians(30)
DYNAMICS = [unicycle(), unicycle(wmax=QUICK), unicycle(reverse=True), point_turn(), holonomic()]


def places(floor, radius=RADIUS):
    return st.sampled_from([tuple(cell) for cell in np.argwhere(floor.allowed(radius))])


def middle(cell, floor=FLOOR):
    return (np.array(cell[::-1]) + 0.5) * floor.resolution


def proved(found, floor, radius, dynamics, start, goal, goal_radius=0.0):
    """The claims of an answer, checked by another hand."""
    assert 0 <= found.low <= found.high + 1e-9
    number, end = contact(found.drive, floor.allowed(radius), floor.resolution)
    assert number == -1
    assert math.dist(end[:2], goal) <= goal_radius + 1e-6
    assert found.drive.start.tolist() == pytest.approx(list(start))
    assert seconds(found.drive, dynamics) == pytest.approx(found.high, abs=1e-3)
    assert found.high >= math.dist(start[:2], goal) / dynamics.vmax - goal_radius / dynamics.vmax - 1e-9


@pytest.mark.parametrize("dynamics", DYNAMICS, ids=lambda d: f"{d.name} {d.wmax:.2f} {d.reverse}")
@settings(max_examples=6)
@given(begin=places(FLOOR), end=places(FLOOR), heading=st.floats(-3, 3), goal_radius=st.sampled_from([0.0, 0.3]))
def test_every_answer_is_proved_by_its_drive(dynamics, begin, end, heading, goal_radius):
    start, goal = np.array([*middle(begin), heading]), middle(end)
    found = fastest(FLOOR, start, goal, dynamics=dynamics, goal_radius=goal_radius, trees=1)
    proved(found, FLOOR, RADIUS, dynamics, start, goal, goal_radius)
    inside = math.dist(start[:2], goal) <= goal_radius
    assert (found.high == 0) == inside


@settings(max_examples=8)
@given(begin=places(FLOOR), end=places(FLOOR), heading=st.floats(-3, 3))
def test_time_never_falls_when_a_robot_can_do_less(begin, end, heading):
    start, goal = np.array([*middle(begin), heading]), middle(end)

    def asked(dynamics, radius=RADIUS):
        return fastest(FLOOR, start, goal, dynamics=dynamics, radius=radius, trees=0)

    able = asked(unicycle())
    less = [asked(point_turn()), asked(unicycle(vmax=0.2)), asked(unicycle(wmax=SLOW / 2))]
    more = [asked(unicycle(wmax=QUICK)), asked(unicycle(vmax=0.4)), asked(holonomic()), asked(unicycle(), radius=0.1)]
    assert all(able.low <= other.high + 1e-9 for other in less)
    assert all(other.low <= able.high + 1e-9 for other in more)


def mirrored(floor, pose):
    width = floor.size[0]
    heading = [math.pi - value for value in pose[2:]]
    return Grid(floor.blocked[:, ::-1], floor.resolution), np.array([width - pose[0], pose[1], *heading])


def turned(floor, pose):
    """By a quarter to the left."""
    height = floor.size[1]
    heading = [value + math.pi / 2 for value in pose[2:]]
    return Grid(np.rot90(floor.blocked, -1), floor.resolution), np.array([height - pose[1], pose[0], *heading])


@pytest.mark.parametrize("changed", [mirrored, turned])
@settings(max_examples=6)
@given(begin=places(FLOOR), end=places(FLOOR), heading=st.floats(-3, 3))
def test_a_map_seen_from_another_side_gives_the_same_time(changed, begin, end, heading):
    start, goal = np.array([*middle(begin), heading]), middle(end)
    floor, there = changed(FLOOR, start)
    seen = fastest(floor, there, changed(FLOOR, goal)[1][:2], trees=0)
    found = fastest(FLOOR, start, goal, trees=0)
    assert seen.low == pytest.approx(found.low, abs=1e-4)
    assert seen.low <= found.high + 1e-9
    assert found.low <= seen.high + 1e-9


def test_the_same_question_has_the_same_answer():
    start, goal = (1.0, 1.0, 2.0), (6.0, 3.4)
    one, two = (fastest(FLOOR, start, goal, trees=2, seed=5) for _ in range(2))
    assert one.high == two.high
    assert one.drive.moves.tolist() == two.drive.moves.tolist()


def test_what_cannot_be_reached_takes_forever():
    apart = np.zeros((20, 40), dtype=bool)
    apart[:, 20] = True
    found = fastest(Grid(apart, 0.1), (0.5, 1.0, 0.0), (3.5, 1.0))
    assert (found.low, found.high, found.drive) == (math.inf, math.inf, None)


def test_looking_at_the_surroundings_only_loses_nothing():
    wide = Grid(np.pad(FLOOR.blocked, 40), FLOOR.resolution)
    start, goal, shift = np.array([1.0, 1.0, 0.5]), np.array([6.0, 1.0]), np.array([4.0, 4.0, 0.0])
    moved = fastest(wide, start + shift, goal + 4, trees=0)
    near = fastest(FLOOR, start, goal, trees=0)
    assert moved.low == pytest.approx(near.low, abs=1e-6)
    assert moved.high == pytest.approx(near.high, rel=1e-3)
    proved(moved, wide, RADIUS, unicycle(), start + shift, goal + 4)


def test_a_large_map_has_a_field_of_fewer_headings(monkeypatch):
    monkeypatch.setattr(door, "MOST_BYTES", 4 * FLOOR.blocked.size * 22)
    assert len(ToGoal(FLOOR, np.array([1.0, 1.0]), unicycle()).field.seconds) == 20


@pytest.mark.parametrize(
    ("start", "goal", "more", "words"),
    [
        ((0.0, 0.0, 0.0), (1.0, 1.0), {}, "cannot stand at the start"),
        ((1.0, 1.0, 0.0), (0.1, 0.1), {}, "cannot stand at the goal"),
        ((1.0, 1.0, 0.0), (99.0, 1.0), {}, "off the map"),
        ((1.0, math.nan, 0.0), (1.0, 1.0), {}, "A start is a pose"),
        ((1.0, 1.0, 0.0), (1.0, math.inf), {}, "A goal is a point"),
        ((1.0, 1.0, 0.0), (1.0, 1.2), {"goal_radius": -1.0}, "goal's radius"),
    ],
)
def test_a_question_that_makes_no_sense_is_told_so(start, goal, more, words):
    with pytest.raises(BadArgument, match=words):
        fastest(FLOOR, start, goal, **more)


def test_dynamics_go_by_their_names():
    assert dynamics_named("point-turn", 0.3, SLOW) == point_turn(0.3, SLOW)
    assert dynamics_named("unicycle", 0.3, SLOW, reverse=True).reverse
    with pytest.raises(BadArgument, match="no dynamics 'tank'"):
        dynamics_named("tank", 0.3, SLOW)
    with pytest.raises(BadArgument, match="backwards"):
        dynamics_named("holonomic", 0.3, SLOW, reverse=True)


# Real maps and Hearth's floors.

QUERIES = 20  # on each floor
REACH = 12.0  # metres, as the crow flies


def asked_on(floor, name, count, radius):
    """Starts and goals on the largest connected part."""
    parts = floor.parts(radius)
    cells = np.argwhere(parts == np.argmax(np.bincount(parts.ravel())[1:]) + 1)
    rng = generator(1, "queries", name)
    for _ in range(count):
        begin = cells[rng.integers(len(cells))]
        apart = np.hypot(*(cells - begin).T) * floor.resolution
        near = cells[(apart < REACH) & (apart > 0.3)]
        start = np.array([*middle(tuple(begin), floor), rng.uniform(-math.pi, math.pi)])
        yield start, middle(tuple(near[rng.integers(len(near))]), floor)


def real_floors(data):
    from itinera.formats.rosmap import read_map

    for file in sorted((data / "maps").rglob("*.yaml")):
        yield str(file.relative_to(data)), read_map(file), RADIUS


def hearth_floors():
    from itinera.builders.hearth import ground_world
    from itinera.worlds.storey_grid import grid_of_surface

    for index in (1, 11):
        surface = ground_world(1, index, radius=RADIUS, height=1.5).space
        yield f"hearth-{index}", grid_of_surface(surface, 0.0), 0.0


@pytest.mark.real
def test_some_queries_on_real_maps(data):
    for name, floor, radius in list(real_floors(data))[:3]:
        for start, goal in asked_on(floor, name, 2, radius):
            found = fastest(floor, start, goal, radius=radius, trees=1)
            proved(found, floor, radius, unicycle(), start, goal)


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize(("wmax", "gap"), [(SLOW, 0.08), (QUICK, 0.02)], ids=["10 deg/s", "30 deg/s"])
def test_two_hundred_queries_on_real_maps_and_hearth(data, wmax, gap, capsys):
    """No failure, every drive replayed, and two planners that agree: printed as a table."""
    dynamics = unicycle(wmax=wmax)
    rows = []
    for name, floor, radius in [*real_floors(data), *hearth_floors()]:
        for start, goal in asked_on(floor, name, QUERIES, radius):
            by_field = fastest(floor, start, goal, dynamics=dynamics, radius=radius, trees=0)
            proved(by_field, floor, radius, dynamics, start, goal)
            to_goal = ToGoal(floor, goal, dynamics, radius)
            allowed, hints = floor.allowed(radius), by_field.drive.sampled(dynamics, step=0.5)[:, :2]
            by_trees = best_of_several(allowed, floor.resolution, dynamics, start, goal, hints=hints)
            assert by_trees is not None
            times = (by_field.high, by_trees.duration(dynamics))
            rows.append((by_field.low, *times, to_goal.bound.shortest(start[None, :2])[0] / dynamics.vmax))
    low, field, trees, straight = np.array(rows).T
    best = np.minimum(field, trees)
    agree = np.mean(np.abs(field - trees) <= 0.005 * best)
    gaps, plain = 1 - low / best, 1 - straight / best
    with capsys.disabled():
        told = f"gap {np.median(gaps):.2%} median, {np.quantile(gaps, 0.9):.1%} in a tenth, L/v {np.median(plain):.2%}"
        print(f"\n{len(rows)} queries, {math.degrees(wmax):.0f} deg/s: agree {agree:.1%}; {told}")
    assert len(rows) >= 200
    assert gaps.min() >= -1e-9
    assert np.median(gaps) <= gap
    assert agree >= 0.95
