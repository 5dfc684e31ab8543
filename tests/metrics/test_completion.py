"""SCT keeps its laws whatever the times, and says so where it cannot know."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.metrics import score
from itinera.metrics.completion import bounded_sct, completion_times, episodes_without_times, with_completion
from itinera.metrics.goal import spl
from itinera.metrics.matching import match
from itinera.records import Ending, Phase, Predictions, Trajectory
from itinera.tasks import Episode, Instruction, Split
from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot
from itinera.tasks.protocol import POINTNAV
from itinera.worlds import Euclidean, Pose, World
from reports.example_tables import table
from text_worlds import attempts, open_scenes, quick

WORLDS = {"field": World("field", Euclidean())}
PER_SECOND = 0.25  # metres

seconds = st.floats(1e-3, 1e4)
rates = st.sampled_from([0.0, 1.0])


@st.composite
def timed(draw):
    """Successes, completion times, and bounds of the fastest, (n,) each."""
    rows = draw(st.lists(st.tuples(rates, seconds, seconds, seconds), min_size=1, max_size=8))
    succeeded, completion, a, b = np.array(rows).T
    return succeeded, completion, np.minimum(a, b), np.maximum(a, b)


@quick
@given(timed(), st.sampled_from(["low", "high"]))
def test_it_lies_between_its_bounds_and_those_between_nothing_and_success(given_times, fastest):
    found = bounded_sct(*given_times, fastest=fastest)
    assert (found.low >= 0).all()
    assert (found.low <= found.value).all()
    assert (found.value <= found.high).all()
    assert (found.high <= given_times[0]).all()


@quick
@given(timed())
def test_who_is_as_fast_as_the_fastest_gets_its_success(given_times):
    succeeded, completion, low, _ = given_times
    found = bounded_sct(succeeded, np.minimum(completion, low), low, low)
    np.testing.assert_array_equal(found.value, succeeded)


@quick
@given(timed(), st.floats(0.01, 100))
def test_slower_clocks_change_nothing(given_times, factor):
    succeeded, completion, low, high = given_times
    one, other = bounded_sct(*given_times), bounded_sct(succeeded, factor * completion, factor * low, factor * high)
    np.testing.assert_allclose(one.value, other.value)
    np.testing.assert_allclose(one.low, other.low)


@quick
@given(timed(), seconds)
def test_waiting_never_helps(given_times, waited):
    succeeded, completion, low, high = given_times
    later = bounded_sct(succeeded, completion + waited, low, high)
    assert (later.value <= bounded_sct(*given_times).value).all()


@quick
@given(open_scenes())
def test_at_one_speed_along_straight_lines_it_is_spl(scene):
    made = attempts(scene.space, scene.walks, scene.references)
    succeeded = np.asarray(spl(made, radius=3.0) > 0, dtype=float)
    fastest = made.shortest / PER_SECOND
    found = bounded_sct(succeeded, made.lengths / PER_SECOND, fastest, fastest)
    np.testing.assert_allclose(found.value, spl(made, radius=3.0), atol=1e-12)


def test_by_hand():
    """Half as fast; as fast; failed; fastest anyone could be, that is at its goal from the start."""
    found = bounded_sct(
        *(np.array(row, dtype=float) for row in ([1, 1, 0, 1], [20, 8, 5, 0], [9, 8, 5, 0], [10, 9, 5, 0]))
    )
    assert found.value.tolist() == [0.5, 1.0, 0.0, 1.0]
    assert found.low.tolist() == [0.45, 1.0, 0.0, 1.0]
    assert found.high.tolist() == [0.5, 1.0, 0.0, 1.0]


@pytest.mark.parametrize("succeeded", [0.0, 1.0])
@pytest.mark.parametrize(
    ("completion", "low", "high", "expected"),
    [
        (math.nan, 9.0, 10.0, [None, None, None]),  # not timed: a failure too is left out, or the mean would be theirs
        (20.0, math.nan, math.nan, [None, None, None]),  # no fastest time
        (20.0, math.inf, math.inf, [0.0, 0.0, 0.0]),  # no way leads there
        (20.0, 10.0, math.inf, [None, 0.5, 1.0]),  # no drive is known
    ],
)
def test_what_is_not_known_is_undefined_and_what_cannot_be_is_nothing(succeeded, completion, low, high, expected):
    found = bounded_sct(*(np.array([x]) for x in (succeeded, completion, low, high)))
    told = [None if math.isnan(x[0]) else x[0] for x in (found.value, found.low, found.high)]
    assert told == [x if x is None else x * succeeded for x in expected]


def asked(name: str) -> Episode:
    return Episode(name, "field", Pose(np.zeros(3)), np.array([[2.0, 0, 0]]), (), Instruction(""))


def went(name: str, times: list[float] | None, **fields) -> Trajectory:
    places = np.array([[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]])
    return Trajectory(name, places, times=None if times is None else np.array(times), **fields)


def scored(*walks: Trajectory, missing: str = "fail"):
    split = Split("s", tuple(map(asked, ("a", "b", "c"))), protocol="pointnav")
    predictions = Predictions.from_trajectories("walks", walks)
    found = score(predictions, split, WORLDS, protocol=POINTNAV, missing=missing)
    groups = match(predictions, split, WORLDS, missing=missing, reference=False)
    return found, completion_times(groups, len(found))


TIMES = FastestTimes(ReferenceRobot(), ("c", "b", "a", "z"), np.array([8.0, 8, 8, 1]), np.array([9.0, 9, 9, 1]))


def test_a_table_is_told_completion_times_and_sct():
    """Who does not say stop has not arrived, and who tells no times has none."""
    table, taken = scored(went("a", [3, 5, 21]), went("b", [0, 5, 18], ending=Ending.OUT_OF_STEPS), went("c", None))
    found = with_completion(table, taken, TIMES)
    assert [column.name for column in found.columns[-4:]] == ["C", "SCT", "SCT_low", "SCT_high"]
    np.testing.assert_array_equal(found["C"], [18, 18, np.nan])
    np.testing.assert_array_equal(found["SCT"], [0.5, 0, np.nan])
    np.testing.assert_array_equal(found["SCT_low"], [8 / 18, 0, np.nan])
    np.testing.assert_array_equal(found["SCT_high"], [0.5, 0, np.nan])
    assert found.robot == TIMES.robot
    assert with_completion(table, taken, TIMES, fastest="low")["SCT"][0] == 8 / 18


def test_only_the_acting_phase_takes_time():
    led = (Phase.GUIDED_TO_START, Phase.ACTING, Phase.ACTING)
    walk = replace(went("a", [0, 100, 110], phases=led), places=np.array([[9.0, 0, 0], [0, 0, 0], [2, 0, 0]]))
    assert scored(walk, missing="zero")[1][0] == 10


def test_who_never_walked_has_no_time_and_no_credit():
    table, taken = scored(went("a", [0, 5, 9]), went("b", [0, 5, 18]), missing="zero")
    found = with_completion(table, taken, TIMES)
    np.testing.assert_array_equal(found["C"], [9, 18, np.nan])
    np.testing.assert_array_equal(found["SCT"], [1, 0.5, 0])


def test_episodes_without_a_fastest_time_are_named_and_undefined():
    some = FastestTimes(TIMES.robot, ("b",), np.array([9.0]), np.array([9.0]))
    plain = table("xx", episode_ids=("a", "b"), SR=[1, 1])
    assert episodes_without_times(plain, some) == ("a",)
    np.testing.assert_array_equal(with_completion(plain, np.array([9.0, 18]), some)["SCT"], [np.nan, 0.5])


def test_the_fingerprint_tells_the_robot_and_which_bound_is_taken():
    plain, taken = table("xx", episode_ids=("a", "b"), SR=[1, 1]), np.array([9.0, 9])
    slower = replace(TIMES, robot=replace(TIMES.robot, vmax=0.1))
    found = [
        plain,
        with_completion(plain, taken, TIMES),
        with_completion(plain, taken, slower),
        with_completion(plain, taken, TIMES, fastest="low"),
    ]
    assert len({one.fingerprint for one in found}) == 4
    assert with_completion(plain, taken, TIMES).fingerprint == found[1].fingerprint
