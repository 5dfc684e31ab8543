"""Thinking takes time: where it stands in the record, what it does to motion, and that curves need no second run."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import itinera
from agents.test_oracle_driver import FLAT, asked
from itinera.errors import BadArgument, BadFile
from itinera.formats.native_tasks import write_split
from itinera.formats.scenes import write_scene
from itinera.metrics.completion import sct_at_latency
from itinera.records import Ending, Predictions
from itinera.records.trajectory import CONTINUED
from itinera.runs.clock import parse_clock
from itinera.runs.replay import replay_tours
from itinera.simulators.factory import apply_drive, make_simulator
from itinera.tasks import Split
from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot
from itinera.tasks.protocol import POINTNAV
from text_worlds import STREET, episode, world
from worlds.rooms import room

SPLIT = Split("room", tuple(asked(3)), protocol="pointnav")
TIMES = FastestTimes(ReferenceRobot(), tuple(e.id for e in SPLIT), np.full(3, 15.0), np.full(3, 16.0))
DRIVE = "unicycle-6"


def run(clock=None, *, agent="expert", **options):
    options = {"drive": DRIVE, "workers": 0, **options}
    return itinera.run(agent, SPLIT, {FLAT.id: FLAT}, clock=clock, **options)


def scores(predictions, drive=DRIVE):
    return itinera.score(predictions, SPLIT, {FLAT.id: FLAT}, drive=drive, times=TIMES)


@pytest.fixture(scope="module")
def plain():
    return run()


@pytest.fixture(scope="module")
def moving():
    return run("fixed:0.5", overlap=True)


class Spender:
    """Turns twice and stops; every answer takes calls and tokens."""

    def reset(self, rng):
        pass

    def start_episode(self, instruction):
        self.calls = 0

    def act(self, observation):
        self.calls += 1
        return 2 if self.calls < 3 else 0

    def observe(self, observation):
        pass

    def episode_usage(self):
        return {"calls": self.calls, "completion_tokens": 10 * self.calls, "model": "m"}


def test_without_a_clock_the_record_says_nothing_of_thinking(plain):
    assert all(trajectory.thinking is None for trajectory in plain)
    assert "thinking" not in scores(plain)


@pytest.mark.parametrize("drive", ["unicycle-6", None])
def test_a_robot_that_stands_still_takes_the_same_path_later(drive):
    before, after = run(drive=drive), run("fixed:0.5", drive=drive)
    for plain, slow in zip(before, after, strict=True):
        np.testing.assert_array_equal(plain.places, slow.places)
        np.testing.assert_array_equal(slow.thinking, np.full(len(slow.places), 0.5))  # the last before STOP
        np.testing.assert_allclose(slow.times, plain.times + 0.5 * np.arange(len(plain.times)))
    both = scores(before, drive), scores(after, drive)
    np.testing.assert_allclose(both[1]["C"], both[0]["C"] + 0.5 * both[0]["acts"])
    np.testing.assert_array_equal(both[1]["waiting"], both[1]["thinking"])


def test_the_curve_of_one_run_is_that_of_runs_at_each_latency(plain):
    """With latency 0 it is SCT itself; what a run's own clock added is left out first."""
    table = scores(plain)
    slow = {latency: scores(run(f"fixed:{latency}")) for latency in (0.1, 1.0)}
    assert 0 < slow[1.0].mean("SCT") < slow[0.1].mean("SCT") < table.mean("SCT")
    np.testing.assert_allclose(sct_at_latency(table, TIMES, 0.0), table["SCT"], rtol=0, atol=1e-9)
    for latency, found in slow.items():
        for one in (table, *slow.values()):
            np.testing.assert_allclose(sct_at_latency(one, TIMES, latency), found["SCT"], rtol=0, atol=1e-9)
            np.testing.assert_allclose(sct_at_latency(one, TIMES, 0.0), table["SCT"], rtol=0, atol=1e-9)


def test_a_robot_that_goes_on_moves_while_its_agent_thinks(plain, moving):
    for still, trajectory in zip(plain, moving, strict=True):
        went_on = np.flatnonzero(trajectory.actions == CONTINUED)
        assert len(went_on) > 5
        seconds = np.diff(trajectory.times)
        np.testing.assert_allclose(seconds[went_on], 0.5)
        np.testing.assert_array_equal(trajectory.thinking[went_on], 0.5)
        assert seconds[0] == 1.5  # nothing to go on with before the first action
        moved = np.linalg.norm(np.diff(trajectory.places, axis=0), axis=1)
        assert (moved[went_on] <= 0.125 + 1e-6).all()
        assert moved[went_on].max() > 0.1
        np.testing.assert_array_equal(still.places[0], trajectory.places[0])


def test_a_robot_that_goes_on_waits_only_before_it_moves(moving):
    table = scores(moving)
    np.testing.assert_array_equal(table["waiting"], 0.5)
    np.testing.assert_array_equal(table["thinking"], 0.5 * table["acts"])
    assert np.isnan(sct_at_latency(table, TIMES, 1.0)[table["SR"] > 0]).all()  # it needs another run


def test_without_latency_it_makes_no_difference_whether_a_robot_goes_on(plain):
    for one, other in zip(plain, run("fixed:0", overlap=True), strict=True):
        np.testing.assert_array_equal(one.places, other.places)
        np.testing.assert_array_equal(one.times, other.times)


def test_a_robot_that_goes_on_follows_the_exact_arc():
    simulator = make_simulator(apply_drive(POINTNAV, DRIVE))
    pose = SPLIT[0].start
    for action in (1, 2, 4):
        simulator.reset(FLAT, replace(pose, place=np.array([1.2, 1.2, 0.0])))
        simulator.step(action)
        whole = simulator.step(action)
        simulator.reset(FLAT, replace(pose, place=np.array([1.2, 1.2, 0.0])))
        simulator.step(action)
        for _ in range(4):
            pieces = simulator.continue_action(0.25)
        np.testing.assert_allclose(pieces.place, whole.place, atol=1e-9)
        assert pieces.heading == pytest.approx(whole.heading)
        assert pieces.time == whole.time == 2.0


def test_replays_let_the_same_time_pass(moving):
    worlds = {FLAT.id: FLAT}
    for found in (run("fixed:0.5"), moving, run("wall")):
        assert itinera.replay(found, SPLIT, worlds, drive=DRIVE).identical
    trajectory = moving[1]
    longer = replace(trajectory, thinking=trajectory.thinking * 1.5)
    changed = Predictions.from_trajectories("changed", [moving[0], longer, *moving[2:]])
    (difference,) = itinera.replay(changed, SPLIT, worlds, drive=DRIVE).differences
    assert (difference.episode_id, difference.field, difference.step) == (trajectory.episode_id, "times", 1)


def test_a_judge_lets_no_robot_go_on(moving):
    """Its entries keep to actions of a second each."""
    protocol = apply_drive(POINTNAV, DRIVE)
    found = list(replay_tours(moving, SPLIT, make_simulator(protocol), {FLAT.id: FLAT}, protocol=protocol))
    assert all(again.trajectories[0].ending is Ending.FAILED for again, _ in found)
    assert all(differences for _, differences in found)


def test_seconds_by_usage_do_not_depend_on_the_machine(tmp_path):
    table = tmp_path / "rates.json"
    table.write_text('{"act": 0.25, "completion_tokens": 0.1, "calls": 0.5, "unknown": 3}')
    found = run(f"table:{table}", agent=Spender())
    for trajectory in found:
        np.testing.assert_allclose(trajectory.thinking, 1.75)  # 0.25, ten tokens and a call
        np.testing.assert_allclose(np.diff(trajectory.times), 2.75)


def test_a_measured_clock_has_seconds_for_every_action():
    found = run("wall")
    for trajectory in found:
        assert (trajectory.thinking > 0).all()
        np.testing.assert_allclose(np.diff(trajectory.times), 1 + trajectory.thinking[:-1])
    table = scores(found)
    np.testing.assert_allclose(table["thinking"], [t.thinking.sum() for t in found])


def test_files_keep_the_clock_and_do_not_depend_on_workers(tmp_path):
    split, names = tmp_path / "tasks.jsonl", ("one.jsonl", "two.jsonl")
    pytest.importorskip("trimesh")
    write_scene(tmp_path / "scenes" / f"{FLAT.id}.glb", room(8, 6))
    write_split(split, SPLIT)
    options = {"drive": DRIVE, "clock": "fixed:0.25", "overlap": True, "max_episodes": 2}
    for name, workers in zip(names, (0, 2), strict=True):
        itinera.run("expert", split, tmp_path / "scenes", out=tmp_path / name, workers=workers, **options)
    one, two = ((tmp_path / name).read_bytes().splitlines() for name in names)
    assert one[1:] == two[1:]
    assert b'"settings":{"clock":"fixed:0.25","overlap":true}' in one[0]
    read = itinera.read_predictions(tmp_path / names[0])
    assert all((trajectory.thinking >= 0).all() and trajectory.thinking.any() for trajectory in read)
    with pytest.raises(BadArgument, match="another run"):
        itinera.run("expert", split, tmp_path / "scenes", out=tmp_path / names[0], **options | {"clock": "fixed:0.5"})


def test_a_worker_may_send_places_between_the_steps_of_a_robot_that_goes_on(tmp_path):
    pytest.importorskip("trimesh")
    write_scene(tmp_path / "scenes" / f"{FLAT.id}.glb", room(8, 6))
    write_split(tmp_path / "tasks.jsonl", SPLIT)
    short = replace(POINTNAV, step_limit=8)
    options = {"drive": DRIVE, "clock": "fixed:2", "protocol": short, "max_episodes": 1, "workers": 1}
    for overlap, places in ((False, 9), (True, 9 + 2 * 7)):
        found = itinera.run("expert", tmp_path / "tasks.jsonl", tmp_path / "scenes", overlap=overlap, **options)
        assert (len(found[0].places), found[0].ending) == (places, Ending.OUT_OF_STEPS)


def test_long_thoughts_are_no_steps(plain):
    """A step limit is one of actions, not of seconds in which a robot stands still or goes on."""
    assert scores(run("fixed:100"))["C"].min() > 500
    slow = run("fixed:200", agent=Spender(), overlap=True)
    assert min(trajectory.times[-1] for trajectory in slow) > 500
    scores(slow)


@pytest.mark.parametrize("text", ["", "wall:1", "fixed:", "fixed:-1", "fixed:nan", "fixed:inf", "table:", "hour"])
def test_what_is_no_clock_is_refused(text):
    with pytest.raises(BadArgument, match="clock"):
        parse_clock(text)


def test_going_on_needs_a_clock_and_a_drive():
    with pytest.raises(BadArgument, match="--clock"):
        run(overlap=True)
    with pytest.raises(BadArgument, match="--drive"):
        run("fixed:1", overlap=True, drive=None)


def test_faults_of_a_table_are_reported_together(tmp_path):
    table = tmp_path / "rates.json"
    table.write_text('{"act": -1, "calls": 1e9, "tokens": 1}')
    with pytest.raises(BadFile) as caught:
        parse_clock(f"table:{table}")
    assert [fault.field for fault in caught.value.faults] == ["act", "calls"]
    for wrong in ("{}", "[1]", '{"act": "slow"}', "\xff"):
        table.write_text(wrong, encoding="latin-1")
        with pytest.raises(BadFile):
            parse_clock(f"table:{table}")


def test_nothing_of_a_clock_changes_graphs_but_the_record():
    """Moves on a graph have no duration."""
    house = world(STREET)
    split = Split("street", (episode("0", "abc"),))
    found = itinera.run("expert", split, {"house": house}, clock="fixed:2", workers=0)
    assert found[0].times is None
    np.testing.assert_array_equal(found[0].thinking, [2, 2, 2])
    assert math.isnan(itinera.score(found, split, {"house": house}).values.get("C", math.nan))
