"""Tours among waypoints: the phases in primitive actions, what an agent observes of them, and the names of places."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from itinera.records import Ending, Phase
from itinera.runs.replay import replay_rollout
from itinera.runs.rollout import rollout
from itinera.runs.tour_loop import GUIDED_STRIDE, TourLoop
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.simulator import STOP
from itinera.simulators.waypoint_drivers import straight_driver
from itinera.simulators.waypoint_simulator import WaypointSimulator
from itinera.simulators.waypoints import Waypoints
from itinera.tasks import Episode, Guidance, Instruction, Tour
from itinera.tasks.protocol import IVLN_CE, R2R_CE
from itinera.worlds import Pose, World
from itinera.worlds.surface import Surface
from scripted_agents import Still
from worlds.rooms import ROBOT, room

MESH = room(12, 12, boxes=[((5, 5, 0), (7, 7, 1.0))])
HALL = World("hall", Surface.from_mesh(MESH, **ROBOT), mesh=MESH)
PLACED = replace(IVLN_CE, guidance=Guidance(to_goal=False, exact_start=True))


class Compass:
    """Waypoints 2 m to the east, north, west and south."""

    def find(self, surroundings):
        return Waypoints(surroundings.place + 2.0 * np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]]))


def east(observation) -> int:
    """The action that leads east."""
    return 1 + int(np.abs(observation.candidates.headings).argmin())


class East(Still):
    """Goes east once and stops; notes what it observed in each episode, and how."""

    def reset(self, rng):
        self.acted, self.guided = [], []

    def start_episode(self, instruction):
        self.acted.append([])

    def act(self, observation):
        self.acted[-1].append(observation)
        return east(observation) if len(self.acted[-1]) == 1 else STOP

    def observe(self, observation):
        self.guided.append(observation)


def simulator() -> WaypointSimulator:
    return WaypointSimulator(GroundSimulator.for_protocol(R2R_CE), Compass(), straight_driver(R2R_CE))


def errand(name: str, start: tuple[float, float], goal: tuple[float, float], heading_deg: float = 0.0) -> Episode:
    pose = Pose(np.array([*start, 0.0]), math.radians(heading_deg))
    goals = np.array([[*goal, 0.0]])
    return Episode(name, "hall", pose, goals, np.stack([pose.place, goals[0]]), Instruction("Go east."))


# East from the corner, where the goal is to the north; then back at the corner, east again, to the goal.
ERRANDS = (errand("1", (2, 2), (2, 8)), errand("2", (2, 2), (4, 2)), errand("3", (8, 8), (10, 8), 90))
TOUR = Tour("tour", "hall", ("1", "2", "3"))


def run(protocol=IVLN_CE, episodes=ERRANDS):
    agent = East()
    found = rollout(agent, simulator(), HALL, TOUR, episodes, protocol=protocol, seed=0)
    return agent, found.trajectories


def test_guidance_is_recorded_in_primitive_actions():
    _, trajectories = run()
    first, second, third = trajectories
    assert [t.ending for t in trajectories] == [Ending.STOPPED] * 3
    assert set(first.phases) == {Phase.ACTING, Phase.GUIDED_TO_GOAL}
    assert set(second.phases) == set(third.phases) == {Phase.GUIDED_TO_START, Phase.ACTING}
    for t in trajectories:
        assert t.places.shape == (len(t.actions) + 1, 3)
        assert np.linalg.norm(np.diff(t.places, axis=0), axis=1).max() <= 0.25 + 1e-6
        np.testing.assert_allclose(np.diff(t.times), 1.0)
    np.testing.assert_allclose(first.places[-1], [2, 8, 0], atol=0.5)
    acting = second.acting_places
    np.testing.assert_allclose(acting[0], [2, 2, 0], atol=0.5)  # guided there, and not placed
    np.testing.assert_allclose(acting[-1], first.acting_places[-1], atol=0.25)  # the place visited before


def test_the_agent_observes_the_guidance_about_every_stride():
    agent, trajectories = run()
    guided = sum(phase is not Phase.ACTING for t in trajectories for phase in t.phases)
    assert len(agent.guided) < guided / 5
    acted = [observation for episode in agent.acted for observation in episode]
    times = sorted(observation.time for observation in (*acted, *agent.guided))
    places = {t: place for one in trajectories for t, place in zip(_clock(one, trajectories), one.places, strict=True)}
    seen = np.array([places[time] for time in times])
    lengths = np.linalg.norm(np.diff(seen, axis=0), axis=1)
    assert lengths.max() <= GUIDED_STRIDE + 0.25
    assert np.median(lengths) >= 2.0
    assert all(observation.candidates.nodes for observation in agent.guided)


def _clock(trajectory, trajectories):
    """The times of a trajectory since the start of the tour; each begins where the one before it ended."""
    before = trajectories[: [t.episode_id for t in trajectories].index(trajectory.episode_id)]
    return (trajectory.times + sum(float(t.times[-1]) for t in before)).tolist()


def test_a_guided_body_finds_visited_places_again():
    agent, _ = run()
    (start, there), (again, there_again), _ = agent.acted
    assert again.place == start.place  # within the merge distance of it
    assert there_again.place == there.place
    names = {place.place for place in agent.guided}
    assert len(names) >= 4


def test_a_body_that_is_placed_has_new_names_and_acts_as_in_single_episodes():
    agent, trajectories = run(PLACED)
    (start, there), (again, there_again), _ = agent.acted
    assert not {start.place, there.place} & {again.place, there_again.place, *again.candidates.nodes}
    for episode, found in zip(ERRANDS, trajectories, strict=True):
        alone = rollout(East(), simulator(), HALL, Tour("", "hall", (episode.id,)), [episode], protocol=R2R_CE, seed=0)
        (single,) = alone.trajectories
        assert found.acting_places.tolist() == single.places.tolist()
        acted = [k for k, phase in enumerate(found.phases or ()) if phase is Phase.ACTING]
        actions = found.actions[acted[0] :] if acted else found.actions
        assert actions.tolist() == single.actions.tolist()
        assert found.notes["decisions"] == single.notes["decisions"] == 1


@pytest.mark.parametrize("protocol", [IVLN_CE, PLACED], ids=["guided", "placed"])
def test_the_primitive_actions_of_a_tour_replay_without_waypoints(protocol):
    agent = East()
    found = rollout(agent, simulator(), HALL, TOUR, ERRANDS, protocol=protocol, seed=0)
    body = GroundSimulator.for_protocol(protocol)
    assert replay_rollout(found, body, HALL, ERRANDS, protocol=protocol) == ()
    wrong = replace(found.trajectories[1], actions=found.trajectories[1].actions[::-1].copy())
    changed = replace(found, trajectories=(found.trajectories[0], wrong, found.trajectories[2]))
    assert replay_rollout(changed, body, HALL, ERRANDS, protocol=protocol)


def test_an_agent_out_of_steps_observes_where_its_drive_was_cut():
    limited = replace(IVLN_CE, step_limit=5)
    agent, (first, *_) = run(limited)
    assert (first.ending, len(first.acting_places)) == (Ending.OUT_OF_STEPS, 6)
    assert agent.guided[0].time == 5.0
    (start,) = agent.acted[0]
    assert agent.guided[0].place == start.candidates.nodes[east(start) - 1]


def test_guidance_that_gives_up_places_the_body():
    hurried = replace(IVLN_CE, guidance=replace(IVLN_CE.guidance, step_limit=3))
    agent, (first, second, _) = run(hurried)
    assert "gave up" in first.notes["guided to goal"]
    assert "placed" in second.notes["guided to start"]
    assert second.acting_places[0].tolist() == [2.0, 2.0, 0.0]
    assert agent.acted[1][0].place != agent.acted[0][0].place


def test_the_loop_of_a_tour_shows_the_body_of_the_simulator():
    loop = TourLoop(simulator(), HALL, ERRANDS, protocol=IVLN_CE)
    loop.reset()
    loop.act(STOP)
    assert loop.phase is Phase.GUIDED_TO_GOAL
    before = loop.place_index
    loop.guide()
    assert loop.place_index >= before + round(GUIDED_STRIDE / 0.25)
    assert isinstance(loop.observation.place, str)
