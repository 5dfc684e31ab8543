"""Leaders: the way over the ground to a goal, to a start, and out of what cannot be done."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.records import Phase, Rollout
from itinera.runs.guidance import make_guide
from itinera.runs.replay import replay_rollout
from itinera.runs.rollout import rollout
from itinera.runs.tour_loop import TourLoop
from itinera.simulators.ground import GroundSimulator
from itinera.tasks import Guidance, Tour
from itinera.tasks.protocol import IVLN, IVLN_CE, IVLN_CE_TEST, R2R_CE
from itinera.worlds import Euclidean, Pose, World
from itinera.worlds.surface import Surface
from scripted_agents import Still
from text_worlds import episode
from worlds.rooms import ROBOT, room

# A box stands in the middle, so that ways bend.
HALL = World("house", Surface.from_mesh(room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8))]), **ROBOT))
ALCOVE = World("house", Surface.from_mesh(room(6, 4, boxes=[((2, 0, 0), (3, 4, 1.8))]), **ROBOT))  # cut in two


def errand(name, start, goal, facing=0.0):
    places = np.array([(*start, 0.0), (*goal, 0.0)])
    return episode(name, places, start=Pose(places[0], facing))


ERRANDS = (errand("1", (1, 2), (4, 2)), errand("2", (5, 3), (1, 1), math.radians(100)), errand("3", (5, 1), (5, 3)))


def walked(protocol=IVLN_CE, world=HALL, episodes=ERRANDS):
    tour = Tour("t", "house", tuple(e.id for e in episodes))
    body = GroundSimulator.for_protocol(protocol)
    return rollout(Still(), body, world, tour, episodes, protocol=protocol, seed=0)


def phases(trajectory):
    return {phase: [i for i, p in enumerate(trajectory.phases or ()) if p is phase] for phase in Phase}


def test_the_ground_is_walked_to_the_goal_and_to_the_next_start():
    first, second, third = walked().trajectories
    goal = phases(first)[Phase.GUIDED_TO_GOAL]
    assert HALL.space.between(first.places[-1:], ERRANDS[0].goals)[0, 0] <= 0.25
    assert len(goal) > 10
    led, acted = phases(second)[Phase.GUIDED_TO_START], phases(second)[Phase.ACTING]
    np.testing.assert_array_equal(second.places[led[0]], first.places[-1])
    (begun,) = acted
    assert np.linalg.norm(second.places[begun] - ERRANDS[1].start.place) <= 0.25
    assert abs(math.remainder(second.headings[begun] - ERRANDS[1].start.heading, math.tau)) <= math.radians(7.5)
    assert len(third.actions) == len(third.places) - 1
    assert (np.diff(second.times) == 1).all()


def test_an_exact_start_is_the_tasks_own_pose():
    second = walked(replace(IVLN_CE, guidance=Guidance())).trajectories[1]
    begun = phases(second)[Phase.ACTING][0]
    np.testing.assert_allclose(second.places[begun], ERRANDS[1].start.place, atol=1e-6)
    assert second.headings[begun] == pytest.approx(ERRANDS[1].start.heading)
    assert second.actions[begun - 1] == -1
    assert (np.diff(second.times) >= 0).all()


def test_the_test_splits_rule_goes_straight_to_the_start():
    first, second, _ = walked(IVLN_CE_TEST).trajectories
    assert len(first.places) == 1
    assert len(phases(second)[Phase.GUIDED_TO_START]) > 10


def test_where_there_is_no_way_the_leader_gives_up_and_the_agent_is_placed():
    first, second, third = walked(world=ALCOVE).trajectories
    assert first.notes["guided to goal"].startswith("gave up: ")
    assert second.notes["guided to start"].startswith("placed: ")
    assert "guided to start" not in third.notes
    np.testing.assert_allclose(second.acting_places[0], ERRANDS[1].start.place, atol=1e-6)


@pytest.mark.parametrize("protocol", [IVLN_CE, IVLN_CE_TEST, replace(IVLN_CE, guidance=Guidance()), R2R_CE])
@pytest.mark.parametrize("world", [HALL, ALCOVE], ids=["hall", "alcove"])
def test_walks_on_the_ground_are_found_the_same_again(protocol, world):
    stored = walked(protocol, world)
    assert replay_rollout(stored, GroundSimulator.for_protocol(protocol), world, ERRANDS, protocol=protocol) == ()


def test_collisions_are_recorded_on_the_ground_and_compared_when_walked_again():
    stored = walked()
    for trajectory in stored.trajectories:
        assert trajectory.collided.dtype == bool
        assert len(trajectory.collided) == len(trajectory.actions)
    first, *others = stored.trajectories
    denied = first.collided.copy()
    denied[3] = not denied[3]
    body = GroundSimulator.for_protocol(IVLN_CE)
    changed = Rollout("t", (replace(first, collided=denied), *others))
    (found,) = replay_rollout(changed, body, HALL, ERRANDS, protocol=IVLN_CE)
    assert (found.step, found.field, {found.stored, found.found}) == (3, "collided", {"True", "False"})
    unsaid = Rollout("t", tuple(replace(trajectory, collided=None) for trajectory in stored.trajectories))
    assert replay_rollout(unsaid, body, HALL, ERRANDS, protocol=IVLN_CE) == ()


def test_a_leader_pushed_off_its_trail_finds_another():
    body = GroundSimulator.for_protocol(IVLN_CE)
    seen = body.reset(HALL, Pose(np.array([1.0, 2.0, 0.0])))
    way = make_guide(IVLN_CE)(HALL, Pose(np.array([5.0, 2.0, 0.0])), facing=False)
    way(seen)
    seen = body.reset(HALL, Pose(np.array([1.0, 0.5, 0.0]), math.pi))
    for _ in range(100):
        action = way(seen)
        if action == 0:
            break
        seen = body.step(action)
    assert np.linalg.norm(seen.place[:2] - (5.0, 2.0)) <= 0.25


def test_nobody_leads_where_nothing_is_known_of_the_ground():
    with pytest.raises(BadArgument, match="neither a graph nor a surface"):
        make_guide(IVLN)(World("house", Euclidean()), Pose(np.zeros(3)), facing=False)
    with pytest.raises(BadArgument, match="has no step size and turn angle"):
        make_guide(IVLN)(HALL, Pose(np.zeros(3)), facing=False)


def test_the_agent_sees_every_place_it_is_led_past():
    loop = TourLoop(GroundSimulator.for_protocol(IVLN_CE), HALL, ERRANDS[:2], protocol=IVLN_CE)
    loop.reset()
    loop.act(0)
    seen = 0
    while loop.phase is not Phase.ACTING:
        loop.guide()
        seen += 1
    loop.act(0)
    first, second = loop.trajectories
    assert seen == len(first.actions) + len(second.actions)
