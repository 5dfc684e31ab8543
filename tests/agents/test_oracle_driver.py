"""Drivers come to their goals by any table of speeds; arcs save time and cost a little way."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agents.test_oracle import attempted
from itinera.agents.oracle_driver import make_driver
from itinera.errors import BadArgument
from itinera.metrics.goal import spl, success
from itinera.records import Ending, Trajectory
from itinera.runs.rollout import rollout
from itinera.simulators.unicycle import UnicycleSimulator, point_turn, unicycle_6, unicycle_15
from itinera.tasks import Episode, Instruction, Tour
from itinera.tasks.protocol import POINTNAV
from itinera.worlds import Pose, World
from itinera.worlds.surface import Surface
from text_worlds import episode
from worlds.rooms import room

TABLES = {"point-turn": point_turn(), "unicycle-6": unicycle_6(), "unicycle-15": unicycle_15()}
# A room with two walls that reach into it, and doors as narrow as those of a house.
MESH = room(8, 6, boxes=[((2.5, 0.8, 0), (2.7, 6, 1.8)), ((5, 0, 0), (5.2, 5.2, 1.8))])
FLAT = World("house", Surface.from_mesh(MESH, radius=0.2, height=1.5))


def asked(count: int) -> list[Episode]:
    rng = np.random.default_rng(5)
    starts, goals = (FLAT.space.sample(rng, count).round(4) for _ in range(2))
    headings = rng.uniform(-math.pi, math.pi, count).round(4)
    return [
        episode(str(k), np.array([a, b]), start=Pose(a, float(turn)), instruction=Instruction(""))
        for k, (a, b, turn) in enumerate(zip(starts, goals, headings, strict=True))
    ]


def driven(name: str, episodes: list[Episode], **options) -> list[Trajectory]:
    agent = make_driver(episodes, {FLAT.id: FLAT}, POINTNAV, TABLES[name], **options)
    body = UnicycleSimulator(TABLES[name], **options)
    walks = [rollout(agent, body, FLAT, Tour(e.id, FLAT.id, (e.id,)), [e], protocol=POINTNAV, seed=0) for e in episodes]
    return [one.trajectories[0] for one in walks]


@pytest.fixture(scope="module")
def drives() -> dict[str, tuple[list[Trajectory], float, float]]:
    """By each table: the trajectories, the mean of SPL and of the seconds taken."""
    episodes = asked(12)
    found = {}
    for name in TABLES:
        trajectories = driven(name, episodes)
        made = attempted(FLAT, episodes, trajectories)
        assert success(made, radius=0.2, needs_stop=True).mean() == 1, name
        taken = np.mean([t.times[-1] - t.times[0] for t in trajectories])
        found[name] = trajectories, float(spl(made, radius=0.2).mean()), float(taken)
    return found


def test_it_always_stops_at_its_goal_and_never_touches_a_wall(drives):
    """A step that was stopped by a wall would be shorter than its arc."""
    for name, (trajectories, *_) in drives.items():
        for found in trajectories:
            assert found.ending is Ending.STOPPED
            gone = np.linalg.norm(np.diff(found.places[:, :2], axis=0), axis=1)
            v, w = np.array(TABLES[name])[found.actions].T
            half = np.where(w == 0, 1e-12, w / 2)
            np.testing.assert_allclose(gone, v * np.sin(half) / half, atol=1e-6)


def test_arcs_save_time_and_cost_way(drives):
    _, straight, slow = drives["point-turn"]
    for name in ("unicycle-6", "unicycle-15"):
        _, curved, fast = drives[name]
        assert fast < 0.95 * slow
        assert 0.85 < curved < straight
    assert straight > 0.97


def test_the_same_episodes_are_driven_alike(drives):
    again = driven("unicycle-6", asked(12)[:3])
    for one, other in zip(again, drives["unicycle-6"][0], strict=False):
        np.testing.assert_array_equal(one.places, other.places)


def test_speeds_can_be_held_for_any_time():
    episodes = asked(4)
    made = attempted(FLAT, episodes, driven("unicycle-6", episodes, hold=0.5))
    assert success(made, radius=0.2, needs_stop=True).mean() == 1


def test_who_stands_at_the_goal_stops_at_once():
    here = np.array([1.0, 1, 0])
    (found,) = driven("point-turn", [episode("1", np.array([here, here]), instruction=Instruction(""))])
    assert (len(found.places), found.ending) == (1, Ending.STOPPED)


def test_a_table_without_a_turn_is_refused():
    episodes = asked(1)
    agent = make_driver(episodes, {FLAT.id: FLAT}, POINTNAV, [(0.0, 0.0), (0.25, 0.0)])
    agent.reset(np.random.default_rng(0))
    agent.start_episode(episodes[0].instruction)
    body = UnicycleSimulator([(0.0, 0.0), (0.25, 0.0)])
    with pytest.raises(BadArgument, match="needs speeds that move forward and that turn"):
        agent.act(body.reset(FLAT, episodes[0].start))
