"""Driving among waypoints: names of places, primitive actions, and the driver without a map."""

from __future__ import annotations

import math

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.simulators.ground import FORWARD, LEFT, RIGHT, GroundSimulator
from itinera.simulators.waypoint_drivers import straight_driver
from itinera.simulators.waypoint_simulator import LONGEST_DRIVE, MERGE_DISTANCE, WaypointSimulator
from itinera.simulators.waypoints import Waypoints
from itinera.tasks.protocol import R2R_CE
from itinera.worlds import Pose, World
from itinera.worlds.surface import Surface
from worlds.rooms import ROBOT, room

MESH = room(12, 12, boxes=[((5, 5, 0), (7, 7, 1.0))])
HALL = World("hall", Surface.from_mesh(MESH, **ROBOT), mesh=MESH)


class Compass:
    """Waypoints 2 m to the east, north, west and south."""

    def find(self, surroundings):
        return Waypoints(surroundings.place + 2.0 * np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]]))


def simulator(source=None) -> WaypointSimulator:
    return WaypointSimulator(GroundSimulator.for_protocol(R2R_CE), source or Compass(), straight_driver(R2R_CE))


def start(x: float, y: float, heading_deg: float = 0.0) -> Pose:
    return Pose(np.array([x, y, 0.0]), math.radians(heading_deg))


def towards(observation, heading_deg: float) -> int:
    """The action that leads in this direction."""
    aside = np.remainder(observation.candidates.headings - math.radians(heading_deg) + math.pi, math.tau) - math.pi
    return 1 + int(np.abs(aside).argmin())


def test_the_agent_observes_candidates_and_the_name_of_its_place():
    waypoints = simulator()
    seen = waypoints.reset(HALL, start(2, 2, 90))
    assert isinstance(seen.place, str)
    assert waypoints.actions == 5
    assert len(set(seen.candidates.nodes) | {seen.place}) == 5
    assert seen.heading == pytest.approx(math.pi / 2)
    np.testing.assert_allclose(seen.candidates.distances, 2.0)
    assert (seen.views, seen.frame) == (None, None)
    assert sorted(np.degrees(seen.candidates.headings).round()) == [-90, 0, 90, 180]


def test_a_drive_turns_and_steps_as_the_body_does():
    waypoints, body = simulator(), GroundSimulator.for_protocol(R2R_CE)
    seen = waypoints.reset(HALL, start(2, 2, 0))
    body.reset(HALL, start(2, 2, 0))
    moves = list(waypoints.drive(towards(seen, 90)))
    assert [action for action, _ in moves] == [LEFT] * 6 + [FORWARD] * 8
    for action, reached in moves:
        expected = body.step(action)
        assert (reached.place.tolist(), reached.heading) == (expected.place.tolist(), expected.heading)
        assert (reached.collided, reached.time) == (expected.collided, expected.time)
    np.testing.assert_allclose(waypoints.body.place, [2, 4, 0], atol=1e-6)
    assert waypoints.pose.place.tolist() == waypoints.body.place.tolist()
    assert waypoints.observation.place == seen.candidates.nodes[towards(seen, 90) - 1]
    assert waypoints.observation.time == 14.0


def test_a_visited_place_keeps_its_name():
    waypoints = simulator()
    first = waypoints.reset(HALL, start(2, 2))
    second = waypoints.step(towards(first, 0))
    assert first.place in second.candidates.nodes
    assert second.candidates.nodes[towards(second, 180) - 1] == first.place
    again = waypoints.step(towards(second, 180))
    assert again.place == first.place
    assert again.candidates.nodes[towards(again, 0) - 1] == second.place
    assert len(set(again.candidates.nodes)) == len(again.candidates.nodes)
    assert again.place not in again.candidates.nodes


def test_a_round_trip_closes_within_the_merge_distance():
    waypoints = simulator()
    seen = first = waypoints.reset(HALL, start(2, 2, 10))
    for heading in (0, 90, 180, 270):
        seen = waypoints.step(towards(seen, heading))
    assert seen.place == first.place
    assert np.linalg.norm(waypoints.body.place[:2] - [2, 2]) <= MERGE_DISTANCE


def test_the_way_back_is_offered_even_where_the_source_finds_none():
    class OnlyEast:
        def find(self, surroundings):
            return Waypoints(surroundings.place + np.array([[2.0, 0.0, 0.0]]))

    waypoints = simulator(OnlyEast())
    first = waypoints.reset(HALL, start(2, 2))
    assert len(first.candidates.nodes) == 1
    second = waypoints.step(1)
    assert first.place in second.candidates.nodes
    assert len(second.candidates.nodes) == 2


def test_a_drive_ends_at_what_blocks_it():
    waypoints = simulator()
    seen = waypoints.reset(HALL, start(4, 6))
    moves = list(waypoints.drive(towards(seen, 0)))  # into the box, whose side is at x = 5
    assert len(moves) < LONGEST_DRIVE
    assert moves[-1][1].collided
    assert waypoints.body.place[0] == pytest.approx(4.9, abs=0.05)


def test_a_drive_takes_at_least_one_action():
    class Here:
        def find(self, surroundings):
            return Waypoints(surroundings.place + np.array([[0.05, 0.0, 0.0]]))

    waypoints = simulator(Here())
    waypoints.reset(HALL, start(2, 2))
    assert [action for action, _ in waypoints.drive(1)] == [LEFT]


def test_a_drive_that_is_left_leaves_the_body_where_it_is():
    waypoints = simulator()
    seen = waypoints.reset(HALL, start(2, 2))
    for number, _ in enumerate(waypoints.drive(towards(seen, 0)), start=1):
        if number == 3:
            break
    np.testing.assert_allclose(waypoints.body.place, [2.75, 2, 0], atol=1e-6)
    assert waypoints.observation.time == 3.0


def test_a_driver_turns_the_shorter_way():
    waypoints = simulator()
    seen = waypoints.reset(HALL, start(4, 4, 0))
    assert next(waypoints.drive(towards(seen, -90)))[0] == RIGHT
    assert waypoints.step(0).place == waypoints.observation.place  # STOP changes nothing


def approach(waypoints, **chances: float) -> np.ndarray:
    """How far the body goes before a stop, with these chances of the ways east, north, west and south."""
    seen, before = waypoints.observation, np.array(waypoints.body.place)
    probabilities = np.zeros(5)
    for name, heading in (("east", 0), ("north", 90), ("west", 180), ("south", 270)):
        probabilities[towards(seen, heading)] = chances.get(name, 0.0)
    probabilities[0] = 1 - probabilities.sum()
    for _ in waypoints.approach(probabilities):
        pass
    return (np.asarray(waypoints.body.place) - before)[:2]


@pytest.mark.parametrize(
    ("chances", "expected"),
    [
        ({"east": 0.25}, (1.0, 0.0)),  # 2 · 0.25 · 2 m
        ({"east": 0.25, "west": 0.25}, (0.0, 0.0)),
        ({"east": 0.375, "west": 0.125}, (1.0, 0.0)),
        ({"north": 0.45}, (0.0, 1.5)),  # 1.8 m, of which 1.5
        ({}, (0.0, 0.0)),
    ],
)
def test_before_a_stop_the_body_goes_where_probabilities_lead_on(chances, expected):
    waypoints = WaypointSimulator(
        GroundSimulator.for_protocol(R2R_CE), Compass(), straight_driver(R2R_CE), stops_between=True
    )
    assert waypoints.stops_between
    waypoints.reset(HALL, start(2, 2))
    assert approach(waypoints, **chances) == pytest.approx(expected, abs=1e-6)


def test_an_approach_ends_at_a_wall_and_leaves_the_body_there():
    waypoints = simulator()
    waypoints.reset(HALL, start(4, 6))
    moved = approach(waypoints, east=0.4)  # the side of the box is 1 m ahead
    assert moved == pytest.approx((0.9, 0.0), abs=0.05)
    assert waypoints.body.collided
    assert waypoints.pose.place.tolist() == waypoints.body.place.tolist()


def test_actions_that_do_not_exist_are_refused():
    waypoints = simulator()
    with pytest.raises(BadArgument, match="call reset first"):
        waypoints.step(1)
    waypoints.reset(HALL, start(2, 2))
    with pytest.raises(BadArgument, match=r"action must be 0 \(STOP\) to 4, the waypoints here, not 5"):
        waypoints.step(5)
