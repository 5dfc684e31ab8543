"""Collisions, falls, stuck endings and followed steps, worked by hand; undefined where no record says them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from itinera.errors import BadFile
from itinera.metrics import SUITES, score
from itinera.records import Ending, Phase, Predictions, Trajectory
from itinera.records.summary import metric_interval
from itinera.runs.rollout import rollout
from itinera.simulators.ground import GroundSimulator
from itinera.stats import interval
from itinera.tasks import PROTOCOLS, Split, Tour
from itinera.tasks.protocol import R2R
from itinera.worlds import Euclidean, Pose, World
from itinera.worlds.surface import Surface
from text_worlds import STREET, episode, split, world
from worlds.rooms import ROBOT, room

HOUSE = {"house": world(STREET)}
A, S = Phase.ACTING, Phase.GUIDED_TO_START


def flags(text: str) -> np.ndarray:
    """x for true, . for false."""
    return np.array([mark == "x" for mark in text], dtype=bool)


def scored(walks: list[Trajectory], suite: str = "safety", **options):
    """The walks, each of an episode from a to d, by a suite."""
    tasks = split({walk.episode_id: "abcd" for walk in walks} | dict.fromkeys(options.pop("also", ()), "abcd"))
    return score(Predictions.from_trajectories("drawn", walks), tasks, HOUSE, SUITES[suite](R2R), **options)


def test_collisions_are_counted_and_divided_by_actions():
    # Three actions, of which the first and the last hit something: 2 collisions, 2 / 3 of the actions, an episode
    # with a collision. The second walk has none. The third never acted: nothing of nothing is 0.
    table = scored(
        [
            Trajectory("1", tuple("abcd"), collided=flags("x.x")),
            Trajectory("2", tuple("ab"), collided=flags(".")),
            Trajectory("3", ("a",), collided=flags("")),
        ]
    )
    assert table["collisions"].tolist() == [2, 0, 0]
    assert table["CR_steps"].tolist() == [2 / 3, 0, 0]
    assert table["CR_episodes"].tolist() == [1, 0, 0]


def test_records_that_do_not_say_have_no_collisions_to_count():
    table = scored([Trajectory("1", tuple("abcd"), collided=flags("x..")), Trajectory("2", tuple("abcd"))])
    for name in ("collisions", "CR_steps", "CR_episodes"):
        assert np.isnan(table[name]).tolist() == [False, True], name
    alone = scored([Trajectory("2", tuple("abcd"))])
    assert all(np.isnan(alone[name]).all() for name in ("collisions", "CR_steps", "CR_episodes"))
    assert alone["FR"].tolist() == alone["StR"].tolist() == [0]


def test_nobody_without_a_trajectory_is_credited_with_safety():
    for walk in (Trajectory("1", tuple("ab"), collided=flags(".")), Trajectory("1", tuple("ab"))):
        table = scored([walk], also=["2"], missing="zero")
        for name in ("collisions", "CR_steps", "CR_episodes", "FR", "StR"):
            assert np.isnan(table[name][1]), name
        assert table["SR"].tolist() == [0, 0]


def test_collisions_of_the_guide_are_not_the_agents():
    # Guided from c to a, two collisions; placed there; then two actions of its own, one of which collides.
    walk = Trajectory("1", tuple("cbaabc"), phases=(S, S, S, A, A, A), collided=flags("xx..x"))
    table = scored([walk])
    assert (table["collisions"][0], table["CR_steps"][0]) == (1, 0.5)


def test_repeats_that_are_dropped_still_were_actions():
    walk = Trajectory("1", tuple("aabb"), collided=flags("x.x"))
    assert scored([walk], repeats="drop")["CR_steps"].tolist() == [2 / 3]


def test_falls_and_stuck_endings_are_shares_of_episodes():
    endings = (Ending.FELL, Ending.STUCK, Ending.STOPPED, Ending.FELL, Ending.FAILED)
    walks = [Trajectory(str(k), tuple("abcd"), ending=ending) for k, ending in enumerate(endings)]
    table = scored(walks, "vln-pe")
    assert table["FR"].tolist() == [1, 0, 0, 1, 0]
    assert table["StR"].tolist() == [0, 1, 0, 0, 0]
    assert (table.mean("FR"), table.mean("StR")) == pytest.approx((0.4, 0.2))
    assert (table.columns[-1].better, table.columns[-2].better) == ("lower", "lower")


def test_whoever_fell_did_not_take_stop():
    walk = Trajectory("1", np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0]]), ending=Ending.FELL)
    tasks = Split("one", (episode("1", np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0]])),), protocol="r2r-ce")
    table = score(Predictions.from_trajectories("", [walk]), tasks, {"house": World("house", Euclidean())})
    assert table["SR"].tolist() == [0]


def test_the_tracking_rate_is_pooled_over_steps():
    # 3 of 3 steps, 0 of 1 and 2 of 4: (3 + 0 + 2) / (3 + 1 + 4) = 5 / 8. The mean of the rates would be 1 / 2.
    walks = [
        Trajectory("1", tuple("abcd"), followed=flags("xxx")),
        Trajectory("2", tuple("ab"), followed=flags(".")),
        Trajectory("3", tuple("ababa"), followed=flags("x.x.")),
    ]
    table = scored(walks, "evt-bench")
    assert table["TR"].tolist() == [1, 0, 0.5]
    assert table.weights["TR"].tolist() == [3, 1, 4]
    assert table.mean("TR") == 5 / 8
    assert table.interval("TR") == interval([1, 0, 0.5], weights=[3, 1, 4], bounds=(0, 1), clusters=["house"] * 3)
    assert metric_interval(table, "steps").mean == 8 / 3  # every other metric weighs episodes alike


def test_episodes_of_which_nothing_is_known_do_not_count_in_the_tracking_rate():
    walks = [
        Trajectory("1", tuple("abcd"), followed=flags("xx.")),
        Trajectory("2", tuple("abcd")),  # does not say
        Trajectory("3", ("a",), followed=flags("")),  # no steps
    ]
    table = scored(walks, "evt-bench", also=["4"], missing="zero")
    assert np.isnan(table["TR"]).tolist() == [False, True, True, False]
    assert table.weights["TR"].tolist() == [3, 0, 0, 0]
    assert table.mean("TR") == pytest.approx(2 / 3)


def test_flags_of_another_length_are_refused():
    with pytest.raises(BadFile, match="field collided: has 2 entries for 2 places\\.\n  One fewer is expected"):
        scored([Trajectory("1", tuple("ab"), collided=flags("xx"))])
    with pytest.raises(BadFile, match="field followed: has 0 entries for 2 places"):
        scored([Trajectory("1", tuple("ab"), followed=flags(""))])


class Script:
    """Plays these actions."""

    def __init__(self, *actions: int) -> None:
        self._actions = actions

    def reset(self, rng: np.random.Generator) -> None: ...

    def start_episode(self, instruction: object) -> None:
        self._left = list(self._actions)

    def act(self, observation: object) -> int:
        return self._left.pop(0)


def test_a_run_into_a_known_wall_is_recorded_and_scored():
    # 0.8 m before a box: two steps of 0.25 m are free, the third and the fourth hit it, a turn hits nothing.
    mesh = room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8))])
    hall = World("hall", Surface.from_mesh(mesh, **ROBOT), mesh=mesh)
    start = np.array([1.2, 2.0, 0.0])
    task = episode("1", np.array([start, [1.9, 2.0, 0.0]]), world_id="hall", start=Pose(start, 0.0))
    protocol = PROTOCOLS["r2r-ce"]
    simulator = GroundSimulator(turn=math.radians(15), sliding=False)
    agent, tour = Script(1, 1, 1, 1, 2, 0), Tour("1", "hall", ("1",))
    found = rollout(agent, simulator, hall, tour, (task,), protocol=protocol, seed=0)
    (trajectory,) = found.trajectories
    assert trajectory.collided.tolist() == [False, False, True, True, False]
    table = score(
        Predictions("run", (found,)), Split("one", (task,), protocol="r2r-ce"), {"hall": hall},
        SUITES["safety"](protocol), protocol=protocol,
    )  # fmt: skip
    assert (table["collisions"][0], table["CR_steps"][0], table["CR_episodes"][0]) == (2, 0.4, 1)
    assert (table["FR"][0], table["StR"][0]) == (0, 0)
