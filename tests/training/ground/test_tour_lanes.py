"""Tours in lanes are those of the tour loop: the same phases, guided steps and trajectories, the same observations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from itinera.records import Ending, Phase
from itinera.runs.rollout import rollout
from itinera.simulators.ground import GroundSimulator
from itinera.simulators.vectorized import VectorizedGround
from itinera.tasks import PROTOCOLS
from itinera.tasks.protocol import IVLN_CE
from itinera.training.ground.tour_lanes import episode_jobs, tour_jobs, walk_tours
from training.ground.small_ground import planned_actions

LIMIT = 12


class PlannedAgent:
    """Takes planned actions and notes every observation."""

    def __init__(self, episodes):
        self.by_text = {(e.world_id, e.instruction.text): e.id for e in episodes}
        self.seen = []

    def reset(self, rng):
        self.actions = []

    def start_episode(self, instruction):
        (self.name,) = {name for (_, text), name in self.by_text.items() if text == instruction.text}
        self.actions = planned_actions(1, self.name, LIMIT)[::-1]

    def act(self, observation):
        self.seen.append(("act", self.name, tuple(observation.place), observation.heading))
        return self.actions.pop()

    def observe(self, observation):
        self.seen.append(("observe", self.name, tuple(observation.place), observation.heading))


class PlannedLanes:
    """The same in all lanes."""

    def __init__(self, stage):
        self.stage, self.seen, self.name, self.actions = stage, {}, {}, {}

    def start_tours(self, lanes, jobs):
        for lane, job in zip(lanes.tolist(), jobs, strict=True):
            self.tour_of = {**getattr(self, "tour_of", {}), lane: job.tour.id}
            self.seen[job.tour.id] = []

    def start_episodes(self, lanes, episodes):
        for lane, episode in zip(lanes.tolist(), episodes, strict=True):
            self.name[lane] = episode.id
            self.actions[lane] = planned_actions(1, episode.id, LIMIT)[::-1]

    def act(self, acting, guided):
        for kind, lanes in (("act", acting), ("observe", guided)):
            for lane in lanes.tolist():
                pose = self.stage.observation(lane)
                self.seen[self.tour_of[lane]].append((kind, self.name[lane], tuple(pose.place), pose.heading))
        return np.array([self.actions[lane].pop() for lane in acting.tolist()], dtype=np.int64)


@pytest.mark.parametrize("exact_start", [False, True])
def test_tours_in_lanes_equal_the_tour_loop(ground, exact_start):
    split = ground.toured
    guidance = replace(IVLN_CE.guidance, exact_start=exact_start)
    protocol = replace(IVLN_CE, step_limit=LIMIT, guidance=guidance)
    stage = VectorizedGround.for_protocol(protocol, ground.worlds, 2)
    agent = PlannedLanes(stage)
    jobs = tour_jobs(split)
    found = {one.job: one.rollout for one in walk_tours(stage, ground.worlds, jobs, agent, protocol=protocol)}
    assert sorted(found) == list(range(len(split.tours)))
    endings = set()
    for k, job in enumerate(jobs):
        lonely = PlannedAgent(job.episodes)
        simulator = GroundSimulator.for_protocol(protocol)
        world = ground.worlds[job.tour.world_id]
        expected = rollout(lonely, simulator, world, job.tour, job.episodes, protocol=protocol, seed=0)
        assert found[k].tour_id == job.tour.id
        for one, other in zip(found[k].trajectories, expected.trajectories, strict=True):
            assert one.episode_id == other.episode_id
            assert one.ending is other.ending
            assert one.phases == other.phases
            for name in ("places", "headings", "elevations", "actions", "collided", "times"):
                assert np.array_equal(getattr(one, name), getattr(other, name)), name
            endings.add(one.ending)
        assert agent.seen[job.tour.id] == lonely.seen
        phases = {phase for one in expected.trajectories for phase in one.phases or ()}
        assert Phase.GUIDED_TO_START in phases
    assert endings == {Ending.STOPPED, Ending.OUT_OF_STEPS}


def test_single_episodes_are_tours_of_one_and_are_walked_in_any_number_of_lanes(ground):
    protocol = replace(PROTOCOLS["r2r-ce"], step_limit=LIMIT)
    jobs = episode_jobs(ground.split, [0, 4, 7, 8, 2])
    paths = []
    for lanes in (1, 3, 8):
        stage = VectorizedGround.for_protocol(protocol, ground.worlds, lanes)
        found = {
            one.job: one.rollout.trajectories[0]
            for one in walk_tours(stage, ground.worlds, jobs, PlannedLanes(stage), protocol=protocol)
        }
        paths.append([found[k].places.tolist() for k in range(len(jobs))])
        assert [found[k].episode_id for k in range(len(jobs))] == [job.episodes[0].id for job in jobs]
    assert paths[0] == paths[1] == paths[2]


def test_jobs_may_be_cut_after_some_episodes(ground):
    jobs = tour_jobs(ground.toured, max_episodes=2)
    assert {len(job.episodes) for job in jobs} == {2}
    assert all(job.tour.episode_ids == tuple(episode.id for episode in job.episodes) for job in jobs)
