"""Experience: stored actions are replayed into the same observations, and maps in training are those of a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from itinera.errors import BadFile
from itinera.mapping.config import MapLifetime
from itinera.mapping.mapper import EgocentricMapper
from itinera.policies.ground.observation import merge_map
from itinera.policies.segmentation.semantics import TrueSemantics
from itinera.rendering.camera import Frame
from itinera.runs.rollout import rollout
from itinera.simulators.ground import GroundSimulator
from itinera.training.ground.experience import Collector
from itinera.training.ground.frames import pack_frames, stack_frames
from itinera.training.ground.lane_agents import DaggerDecider, ExpertDecider
from itinera.training.ground.observation_cache import ObservationCache, decode_experience, encode_experience
from itinera.training.ground.tour_lanes import episode_jobs, tour_jobs
from itinera.training.ground.trajectories import EpisodeActions

EVERY = tuple(MapLifetime)


@pytest.fixture(scope="module")
def walked(ground):
    """Tours of a mixture of policy and expert, with guided steps, and everything that was seen on them."""
    model = ground.model("map-cma")
    collector = ground.collector(model, *EVERY, toured=True, keep_guided=True)
    texts = ground.texts_of(model)
    decider = DaggerDecider(
        model.policy.eval(), texts.words, collector.num_lanes, MapLifetime.ITERATIVE, beta=0.6, seed=3, iteration=1
    )
    jobs = tour_jobs(ground.toured)
    actions, experience = collector.collect(jobs, decider, seed=3, beta=0.6)
    return collector, jobs, actions, experience


def same(one, other):
    assert one.episode_id == other.episode_id
    assert one.guided == other.guided
    assert one.frames.arrays == other.frames.arrays
    for name in ("previous", "actions", "labels", "bearings", "distances"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_replayed_actions_give_the_same_experience(ground, walked):
    collector, _, actions, experience = walked
    assert any(one.guided for one in experience)
    # In another number of lanes, too.
    single = Collector(
        ground.worlds,
        collector.protocol,
        collector.perception.sensors,
        lifetimes=EVERY,
        keep_guided=True,
        lanes=1,
    )
    for one, other in zip(experience, single.replay(actions, ground.split.by_id), strict=True):
        same(one, other)


def test_actions_that_do_not_fit_the_worlds_are_refused(ground, walked):
    collector, _, actions, _ = walked
    first = actions[0].episodes[0]
    # Another episode would have ended at its first STOP.
    wrong = EpisodeActions(first.episode_id, b"\0" + first.actions)
    broken = type(actions[0])(3, 0.6, (wrong, *actions[0].episodes[1:]))
    with pytest.raises(BadFile, match="do not end where they ended"):
        collector.replay([broken], ground.split.by_id)


class MappingAgent:
    """Replays actions in a run and keeps the map of every step, as an agent in `itinera run` does."""

    def __init__(self, tour, episodes, mapper, semantics):
        self.by_text = {e.instruction.text: e.id for e in episodes}
        self.actions = {one.episode_id: one.array.tolist()[::-1] for one in tour.episodes}
        self.mapper, self.semantics, self.maps = mapper, semantics, {}

    def reset(self, rng):
        self.mapper.reset()

    def start_episode(self, instruction):
        self.name = self.by_text[instruction.text]
        self.mapper.start_episode()
        self.maps[self.name] = []

    def update(self, observation, guided):
        frame = observation.frame
        labels = self.semantics(Frame(*(channel[None] for channel in frame.channels)))[0]
        pose = (observation.world_id, observation.place, observation.heading)
        return self.mapper.update(*pose, frame.depth, labels, guided=guided, classes=False)

    def act(self, observation):
        found = self.update(observation, False)
        self.maps[self.name].append(merge_map(found.occupancy, found.labels)[0])
        return self.actions[self.name].pop()

    def observe(self, observation):
        self.update(observation, True)


@pytest.mark.parametrize("lifetime", EVERY)
def test_maps_in_training_are_those_of_an_agent_in_a_run(ground, walked, lifetime):
    collector, jobs, actions, experience = walked
    requirements, job = collector.perception.sensors.requirements, jobs[0]
    camera = replace(requirements.camera(), channels=("rgb", "depth", "classes", "instances"))
    mapper = EgocentricMapper(ground.worlds, camera.camera, lifetime=lifetime, config=requirements.map)
    agent = MappingAgent(actions[0], job.episodes, mapper, TrueSemantics())
    simulator = GroundSimulator.for_protocol(collector.protocol, camera=camera)
    world = ground.worlds[job.tour.world_id]
    rollout(agent, simulator, world, job.tour, job.episodes, protocol=collector.protocol, seed=0)
    for one in experience[: len(job.episodes)]:
        seen = one.frames.unpack().take(slice(one.guided, None)).maps[lifetime]
        assert np.array_equal(seen, np.array(agent.maps[one.episode_id]))
        assert seen.any()


def test_the_expert_reaches_its_goals_and_its_progress_grows_from_0_to_1(ground):
    model = ground.model("cma")
    collector = ground.collector(model)
    jobs = episode_jobs(ground.split, [0, 3])
    protocol = replace(collector.protocol, step_limit=500)
    collector.protocol = protocol
    actions, experience = collector.collect(jobs, ExpertDecider(), seed=0, beta=1.0)
    for one, tour in zip(experience, actions, strict=True):
        assert one.distances[-1] <= 0.5
        assert one.progress[0] == 0.0
        assert one.progress[-1] > 0.8
        assert one.actions.tolist() == one.labels.tolist() == tour.episodes[0].array.tolist()
        assert one.actions[-1] == 0
        assert one.previous[0] == 0


def test_packed_frames_are_unpacked_unchanged_and_stack(walked):
    experience = walked[3]
    frames = [one.frames.unpack() for one in experience[:2]]
    whole = stack_frames(frames)
    assert len(whole) == sum(map(len, frames))
    again = pack_frames(whole).unpack()
    assert np.array_equal(again.depth, whole.depth)
    assert all(np.array_equal(again.maps[life], whole.maps[life]) for life in EVERY)


def test_the_cache_keeps_experience_and_makes_a_damaged_file_again(walked, tmp_path, caplog):
    experience = walked[3]
    for one, other in zip(experience, decode_experience(encode_experience(experience)), strict=True):
        same(one, other)
    cache, made = ObservationCache(tmp_path, "digest"), []

    def make():
        made.append(True)
        return experience

    cache.get("a", make)
    cache.get("a", make)
    assert len(made) == 1
    (file,) = tmp_path.rglob("*.experience")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    same(cache.get("a", make)[0], experience[0])
    assert len(made) == 2
    assert "is damaged" in caplog.text
    ObservationCache(None, "digest").get("a", make)
    assert len(made) == 3
