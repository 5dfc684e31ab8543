"""The greedy follower: it arrives, by a way hardly longer than the shortest, with actions that can be taken again."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.planners.motion.geodesic_follower import FollowedPath, follow_geodesic, follow_waypoints
from itinera.worlds import Pose
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, mapped, room, storeys

BOXES = [((2, 0, 0), (2.2, 3, 2.5)), ((4, 1, 0), (4.2, 4, 2.5)), ((4.8, 1.5, 0), (5.3, 2.0, 0.8))]
HALL = Surface.from_mesh(room(6, 4, boxes=BOXES), **ROBOT)
HOUSE = Surface.from_mesh(storeys(), **ROBOT)
STOP, FORWARD, LEFT, RIGHT = range(4)
START, GOAL = np.array([1.0, 1.0, 0.0]), np.array([5.5, 0.5, 0.0])


def replayed(surface: Surface, trail: FollowedPath, *, step: float, turn: float, sliding: bool) -> np.ndarray:
    """Where the actions of a trail lead, taken one by one."""
    place, heading = trail.positions[0], trail.headings[0]
    places = [place]
    for action in trail.actions[:-1]:
        if action == FORWARD:
            place = surface.advance(place, heading, step, sliding=sliding)
        else:
            heading += turn if action == LEFT else -turn
        places.append(place)
    return np.array(places)


@pytest.mark.parametrize("surface", [HALL, HOUSE], ids=["hall", "house"])
@pytest.mark.parametrize(
    ("degrees", "sliding", "longer"), [(15, True, 1.08), (30, True, 1.15), (15, False, 1.15), (30, False, 1.3)]
)
def test_it_arrives_by_a_way_hardly_longer_than_the_shortest(surface, degrees, sliding, longer):
    rng = np.random.default_rng(degrees)
    places = surface.sample(rng, 24)
    for goal, start in zip(places[::2], places[1::2], strict=True):
        field = surface.field(goal[None])
        trail = follow_geodesic(
            surface, Pose(start, rng.uniform(-3, 3)), field, turn=np.radians(degrees), sliding=sliding
        )
        assert trail.reached
        assert field.distances(trail.positions[-1:])[0] <= 0.25
        walked = np.linalg.norm(np.diff(trail.positions, axis=0), axis=1).sum()
        assert walked <= longer * field.distances(start[None])[0] + 0.25


@pytest.mark.parametrize("sliding", [True, False])
def test_its_actions_taken_again_lead_the_same_way(sliding):
    trail = follow_geodesic(HOUSE, Pose(np.array([7.0, 3.0, 0.0]), 1.0), np.array([7.0, 3.0, 2.7]), sliding=sliding)
    again = replayed(HOUSE, trail, step=0.25, turn=np.radians(15), sliding=sliding)
    np.testing.assert_allclose(again, trail.positions, atol=1e-6)
    assert trail.positions[-1, 2] == pytest.approx(2.7, abs=1e-3)


def test_a_trail_says_what_was_done_where():
    trail = follow_geodesic(HALL, Pose(START, np.pi / 2), np.array([1.0, 3.0, 0.0]), radius=0.3)
    # Seven steps of 0.25 m leave 0.25 m.
    assert trail.actions.tolist() == [FORWARD] * 7 + [STOP]
    np.testing.assert_allclose(trail.positions[:, 1], 1.0 + 0.25 * np.arange(8), atol=1e-6)
    np.testing.assert_allclose(trail.headings, np.pi / 2)


def test_it_turns_by_the_shorter_side():
    behind = follow_geodesic(HALL, Pose(START, np.radians(-60)), np.array([1.0, 3.0, 0.0]))
    assert behind.actions[:11].tolist() == [LEFT] * 10 + [FORWARD]
    assert (np.abs(behind.headings) <= np.pi).all()


def test_at_the_goal_it_only_stops():
    trail = follow_geodesic(HALL, Pose(START, 0.7), START + 0.1, radius=0.25)
    assert trail.reached
    assert trail.actions.tolist() == [STOP]
    assert trail.headings.tolist() == [0.7]


def test_it_passes_each_waypoint_in_order():
    waypoints = [np.array([1.0, 3.5, 0.0]), np.array([3.0, 0.5, 0.0]), np.array([1.0, 0.5, 0.0]), GOAL]
    trail = follow_waypoints(HALL, Pose(START), waypoints, radius=0.3)
    assert trail.reached
    near = HALL.between(trail.positions, np.array(waypoints)) <= 0.3
    first = [int(np.argmax(near[:, 0]))]
    for k in range(1, 4):
        first.append(first[-1] + int(np.argmax(near[first[-1] :, k])))
        assert near[first[-1], k]
    assert first[-1] == len(trail.actions) - 1
    assert (trail.actions == STOP).sum() == 1


def test_fields_may_be_given_for_places():
    places = follow_waypoints(HALL, Pose(START), [START, GOAL])
    fields = follow_waypoints(HALL, Pose(START), [HALL.field(place[None]) for place in (START, GOAL)])
    np.testing.assert_array_equal(places.actions, fields.actions)
    np.testing.assert_array_equal(places.positions, fields.positions)


def test_it_gives_up_where_no_way_leads():
    trail = follow_geodesic(mapped(".#."), Pose(np.array([0.5, 0.5, 0.0])), np.array([2.5, 0.5, 0.0]))
    assert not trail.reached
    assert trail.actions.tolist() == [STOP]


def test_it_gives_up_before_it_takes_too_many_actions():
    whole = follow_geodesic(HALL, Pose(START), GOAL)
    assert not follow_geodesic(HALL, Pose(START), GOAL, max_actions=len(whole.actions) - 1).reached
    short = follow_geodesic(HALL, Pose(START), GOAL, max_actions=20)
    assert len(short.actions) <= 20
    assert short.actions[-1] == STOP
    assert follow_geodesic(HALL, Pose(START), GOAL, max_actions=len(whole.actions)).reached


def test_it_gives_up_where_the_goal_is_smaller_than_its_step():
    trail = follow_geodesic(HALL, Pose(START), np.array([1.0, 3.1, 0.0]), radius=0.0)
    assert not trail.reached
    assert len(trail.actions) < 100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": 0.0}, "step must be above 0 m"),
        ({"radius": -1.0}, "radius at least 0 m"),
        ({"turn": 0.0}, "turn must be above 0 and at most pi"),
        ({"max_actions": 0}, "max_actions must be at least 1"),
    ],
    ids=str,
)
def test_senseless_options_are_refused(options, message):
    with pytest.raises(BadArgument, match=message):
        follow_geodesic(HALL, Pose(START), GOAL, **options)


def test_there_must_be_somewhere_to_go_and_on_the_same_surface():
    with pytest.raises(BadArgument, match="at least one waypoint"):
        follow_waypoints(HALL, Pose(START), [])
    with pytest.raises(BadArgument, match="belongs to another surface"):
        follow_geodesic(HALL, Pose(START), HOUSE.field(START[None]))
