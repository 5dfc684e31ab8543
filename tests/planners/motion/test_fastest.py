"""The fastest way there: intervals that hold, drives that prove them, and the laws of time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.planners.motion import fastest as door
from itinera.planners.motion.dynamics import Drive, holonomic, make_dynamics, point_turn, unicycle
from itinera.planners.motion.fastest import GoalPlanner, fastest
from itinera.planners.motion.local_search import optimize_drive
from itinera.planners.motion.rrt_star import plan_with_trees, rrt_star
from itinera.planners.motion.value_field import ValueField, lower_bound
from itinera.seeding import generator
from itinera.worlds.grid import Grid
from planners.floors import ROOMS, grid
from planners.replaying import contact, seconds

RADIUS = 0.2
FLOOR = grid(ROOMS, size=0.4, resolution=0.1)
SLOW, QUICK = math.radians(10), math.radians(30)
DYNAMICS = [unicycle(), unicycle(wmax=QUICK), unicycle(reverse=True), point_turn(), holonomic()]


def places(floor, radius=RADIUS):
    return st.sampled_from([tuple(cell) for cell in np.argwhere(floor.free_cells(radius))])


def middle(cell, floor=FLOOR):
    return floor.to_map((np.array(cell[::-1]) + 0.5) * floor.resolution)


def proved(found, floor, radius, dynamics, start, goal, goal_radius=0.0):
    """The claims of an answer, checked by another hand."""
    assert 0 <= found.lower <= found.upper + 1e-9
    local = Drive(floor.to_local(found.drive.start), found.drive.moves)
    number, end = contact(local, floor.free_cells(radius), floor.resolution)
    assert number == -1
    end = floor.to_map(end)
    assert math.dist(end[:2], goal) <= goal_radius + 1e-6
    assert found.drive.start.tolist() == pytest.approx(list(start))
    assert seconds(found.drive, dynamics) == pytest.approx(found.upper, abs=1e-3)
    assert found.upper >= math.dist(start[:2], goal) / dynamics.vmax - goal_radius / dynamics.vmax - 1e-9


@pytest.mark.parametrize("dynamics", DYNAMICS, ids=lambda d: f"{d.name} {d.wmax:.2f} {d.reverse}")
@settings(max_examples=3)
@given(begin=places(FLOOR), end=places(FLOOR), heading=st.floats(-3, 3), goal_radius=st.sampled_from([0.0, 0.3]))
def test_every_answer_is_proved_by_its_drive(dynamics, begin, end, heading, goal_radius):
    start, goal = np.array([*middle(begin), heading]), middle(end)
    found = fastest(FLOOR, start, goal, dynamics=dynamics, goal_radius=goal_radius, trees=1)
    proved(found, FLOOR, RADIUS, dynamics, start, goal, goal_radius)
    inside = math.dist(start[:2], goal) <= goal_radius
    assert (found.upper == 0) == inside


@settings(max_examples=3)
@given(begin=places(FLOOR), end=places(FLOOR), heading=st.floats(-3, 3))
def test_time_never_falls_when_a_robot_can_do_less(begin, end, heading):
    start, goal = np.array([*middle(begin), heading]), middle(end)

    def asked(dynamics, radius=RADIUS):
        return fastest(FLOOR, start, goal, dynamics=dynamics, radius=radius, trees=0)

    able = asked(unicycle())
    less = [asked(point_turn()), asked(unicycle(vmax=0.2)), asked(unicycle(wmax=SLOW / 2))]
    more = [asked(unicycle(wmax=QUICK)), asked(unicycle(vmax=0.4)), asked(holonomic()), asked(unicycle(), radius=0.1)]
    assert all(able.lower <= other.upper + 1e-9 for other in less)
    assert all(other.lower <= able.upper + 1e-9 for other in more)


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
@settings(max_examples=3)
@given(begin=places(FLOOR), end=places(FLOOR), heading=st.floats(-3, 3))
def test_a_map_seen_from_another_side_gives_the_same_time(changed, begin, end, heading):
    start, goal = np.array([*middle(begin), heading]), middle(end)
    floor, there = changed(FLOOR, start)
    seen = fastest(floor, there, changed(FLOOR, goal)[1][:2], trees=0)
    found = fastest(FLOOR, start, goal, trees=0)
    assert seen.lower == pytest.approx(found.lower, abs=1e-4)
    assert seen.lower <= found.upper + 1e-9
    assert found.lower <= seen.upper + 1e-9


def test_the_same_question_has_the_same_answer():
    start, goal = (1.0, 1.0, 2.0), (6.0, 3.4)
    one, two = (fastest(FLOOR, start, goal, trees=2, seed=5) for _ in range(2))
    assert one.upper == two.upper
    assert one.drive.moves.tolist() == two.drive.moves.tolist()


def test_what_cannot_be_reached_takes_forever():
    apart = np.zeros((20, 40), dtype=bool)
    apart[:, 20] = True
    found = fastest(Grid(apart, 0.1), (0.5, 1.0, 0.0), (3.5, 1.0))
    assert (found.lower, found.upper, found.drive) == (math.inf, math.inf, None)


def test_looking_at_the_surroundings_only_loses_nothing():
    wide = Grid(np.pad(FLOOR.blocked, 40), FLOOR.resolution)
    start, goal, shift = np.array([1.0, 1.0, 0.5]), np.array([6.0, 1.0]), np.array([4.0, 4.0, 0.0])
    moved = fastest(wide, start + shift, goal + 4, trees=0)
    near = fastest(FLOOR, start, goal, trees=0)
    assert moved.lower == pytest.approx(near.lower, abs=1e-6)
    assert moved.upper == pytest.approx(near.upper, rel=1e-3)
    proved(moved, wide, RADIUS, unicycle(), start + shift, goal + 4)


def placed(floor, origin, rotation=0.0, scale=1.0):
    """The same cells elsewhere on the map, and larger or smaller."""
    return Grid(floor.blocked, scale * floor.resolution, origin=origin, rotation=rotation)


sixteenths = st.integers(-1600, 1600).map(lambda n: n / 16)  # sums of these are exact, so answers are equal to the bit
COARSE = Grid(FLOOR.blocked, 0.125)  # metres, a power of 2


@settings(max_examples=4)
@given(begin=places(COARSE), end=places(COARSE), heading=st.floats(-3, 3), origin=st.tuples(sixteenths, sixteenths))
def test_moving_the_origin_and_the_poses_together_changes_nothing(begin, end, heading, origin):
    start, goal = np.array([*middle(begin, COARSE), heading]), middle(end, COARSE)
    moved = placed(COARSE, origin)
    here = fastest(COARSE, start, goal, trees=1)
    there = fastest(moved, start + np.array([*origin, 0.0]), goal + origin, trees=1)
    assert (there.lower, there.upper) == (here.lower, here.upper)
    assert there.drive.moves.tolist() == here.drive.moves.tolist()
    assert there.drive.start.tolist() == pytest.approx([*(start[:2] + origin), heading])
    assert there.drive.poses[-1, :2].tolist() == pytest.approx((goal + origin).tolist())
    assert there.drive.is_collision_free(moved, RADIUS)
    assert there.alternatives["holonomic"].upper == here.alternatives["holonomic"].upper


coordinates = st.floats(-100, 100, allow_nan=False)


@settings(max_examples=4)
@given(
    begin=places(FLOOR),
    end=places(FLOOR),
    heading=st.floats(-3, 3),
    origin=st.tuples(coordinates, coordinates),
    rotation=st.floats(-4, 4),
    scale=st.sampled_from([0.5, 1.0, 2.0]),
)
def test_a_map_may_lie_anywhere_in_its_frame_at_any_resolution(begin, end, heading, origin, rotation, scale):
    # Twice the size at twice the speed takes the same time.
    robot, size = unicycle(vmax=0.25 * scale), scale * RADIUS
    moved = placed(FLOOR, origin, rotation, scale)
    local = np.array([*middle(begin), heading]) * [scale, scale, 1.0]
    start, goal = moved.to_map(local), moved.to_map(middle(end) * scale)
    here = fastest(FLOOR, [*middle(begin), heading], middle(end), trees=0)
    there = fastest(moved, start, goal, dynamics=robot, radius=size, trees=0)
    proved(there, moved, size, robot, start, goal)
    assert there.lower == pytest.approx(here.lower, abs=1e-4)
    assert there.lower <= here.upper + 1e-6
    assert here.lower <= there.upper + 1e-6


ORIGIN, YAW = (10.0, 5.0), 0.5
SHIFTED = placed(FLOOR, ORIGIN, YAW)
LOCAL_START, LOCAL_GOAL = np.array([1.0, 1.0, 2.0]), np.array([6.0, 3.4])


def test_every_planner_takes_and_returns_coordinates_of_the_map():
    start, goal, robot = SHIFTED.to_map(LOCAL_START), SHIFTED.to_map(LOCAL_GOAL), unicycle()
    field, local = ValueField.solve(SHIFTED, goal, robot), ValueField.solve(FLOOR, LOCAL_GOAL, robot)
    assert field.time(start) == pytest.approx(local.time(LOCAL_START), abs=0.1)
    path = field.rollout(start)
    assert path[[0, -1]].ravel().tolist() == pytest.approx([*start[:2], *goal])
    assert (SHIFTED.component_at(path, RADIUS) > 0).all()
    low, expected = lower_bound(SHIFTED, goal, robot), lower_bound(FLOOR, LOCAL_GOAL, robot)
    assert low.at(start) == pytest.approx(expected.at(LOCAL_START), abs=1e-6)
    assert low.shortest(start[:2]) == pytest.approx(expected.shortest(LOCAL_START[:2]), abs=1e-6)
    tree = rrt_star(SHIFTED, start, goal, robot, hints=path, nodes=400)
    assert tree.places[0].tolist() == pytest.approx(start[:2].tolist())
    assert (SHIFTED.component_at(tree.places, RADIUS) > 0).all()
    for drive in (tree.drive, optimize_drive(SHIFTED, start, goal, robot, path)):
        assert drive.is_collision_free(SHIFTED, RADIUS)
        assert drive.poses[-1, :2].tolist() == pytest.approx(goal.tolist())
    assert GoalPlanner(SHIFTED, goal, robot).plan(start).drive.is_collision_free(SHIFTED, RADIUS)


def test_a_wrong_place_is_named_in_coordinates_of_the_map():
    with pytest.raises(BadArgument, match=r"cannot be at the start, \(1, 1\)"):
        fastest(SHIFTED, (1.0, 1.0, 0.0), SHIFTED.to_map(LOCAL_GOAL))


def test_the_drive_of_a_simpler_robot_is_taken_where_it_is_faster():
    slow = unicycle(wmax=math.radians(90))
    found = fastest(FLOOR, (1.0, 1.0, 2.0), (6.0, 3.4), dynamics=slow, trees=0)
    assert found.alternatives.keys() == {"point-turn", "holonomic"}
    for other in found.alternatives.values():
        assert found.upper <= other.drive.duration(slow) + 1e-9
    assert fastest(FLOOR, (1.0, 1.0, 2.0), (6.0, 3.4), dynamics=holonomic(), trees=0).alternatives == {}


def test_an_answer_says_its_bounds():
    found = fastest(FLOOR, (1.0, 1.0, 0.0), (2.0, 1.0), trees=0)
    assert repr(found) == "TimeBounds(4.00 to 4.00 s, unicycle, 1.00 m driven)"
    assert repr(found.drive).startswith("Drive(from (1.00, 1.00) to (2.00, 1.00), 1.00 m")


def test_a_large_map_has_a_field_of_fewer_headings(monkeypatch):
    monkeypatch.setattr(door, "MAX_FIELD_BYTES", 4 * FLOOR.blocked.size * 22)
    assert len(GoalPlanner(FLOOR, np.array([1.0, 1.0]), unicycle()).value_field.seconds) == 20


@pytest.mark.parametrize(
    ("start", "goal", "more", "words"),
    [
        ((0.0, 0.0, 0.0), (1.0, 1.0), {}, "cannot be at the start"),
        ((1.0, 1.0, 0.0), (0.1, 0.1), {}, "cannot be at the goal"),
        ((1.0, 1.0, 0.0), (99.0, 1.0), {}, "outside the map"),
        ((1.0, math.nan, 0.0), (1.0, 1.0), {}, "must be a pose"),
        ((1.0, 1.0, 0.0), (1.0, math.inf), {}, "must be a point"),
        ((1.0, 1.0, 0.0), (1.0, 1.2), {"goal_radius": -1.0}, "goal_radius must be"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(start, goal, more, words):
    with pytest.raises(BadArgument, match=words):
        fastest(FLOOR, start, goal, **more)


def test_dynamics_go_by_their_names():
    assert make_dynamics("point-turn", 0.3, SLOW) == point_turn(0.3, SLOW)
    assert make_dynamics("unicycle", 0.3, SLOW, reverse=True).reverse
    with pytest.raises(BadArgument, match=r"dynamics must be one of unicycle.* not 'tank'"):
        make_dynamics("tank", 0.3, SLOW)
    with pytest.raises(BadArgument, match="backwards"):
        make_dynamics("holonomic", 0.3, SLOW, reverse=True)


# Real maps and Hearth's floors.

QUERIES = 20  # on each floor
REACH = 12.0  # metres, as the crow flies


def asked_on(floor, name, count, radius):
    """Starts and goals on the largest connected part."""
    parts = floor.components(radius)
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
    from itinera.hearth.ground import ground_world
    from itinera.worlds.storey_grid import grid_from_surface

    for index in (1, 11):
        surface = ground_world(1, index, radius=RADIUS, height=1.5).space
        yield f"hearth-{index}", grid_from_surface(surface, 0.0), 0.0


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
            planner = GoalPlanner(floor, goal, dynamics, radius)
            hints = by_field.drive.sample(dynamics, step=0.5)[:, :2]
            by_trees = plan_with_trees(floor, start, goal, dynamics, radius=radius, hints=hints)
            assert by_trees is not None
            times = (by_field.upper, by_trees.duration(dynamics))
            rows.append((by_field.lower, *times, planner.lower_bound.shortest(start[None, :2])[0] / dynamics.vmax))
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
