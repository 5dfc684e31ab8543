"""Legs in closed form: they arrive, nothing is faster in free space, and their limits are the other dynamics."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from itinera.errors import BadArgument
from itinera.planners.motion._steering_kernels import single_arc_leg
from itinera.planners.motion.dynamics import (
    Drive,
    Dynamics,
    displacements,
    holonomic,
    plan_leg,
    plan_legs,
    point_turn,
    unicycle,
)
from planners.plain_rrt import after, single_arc
from planners.plain_rrt import leg as plain_leg

CAR = Dynamics("car", 0.25, math.radians(30), min_radius=1.0, can_pivot=False)
ALL = [unicycle(), unicycle(0.5, 0.5), unicycle(reverse=True), point_turn(), holonomic(), CAR]
NAMES = [f"{d.name}{' in reverse' if d.reverse else ''} {d.vmax}" for d in ALL]

places = st.floats(-4.0, 4.0, allow_nan=False)
headings = st.floats(-7.0, 7.0, allow_nan=False)
poses = st.tuples(places, places, headings).map(np.array)
points = st.tuples(places, places).map(np.array)


def seconds(dynamics: Dynamics, pose: np.ndarray, point: np.ndarray) -> float:
    return float(dynamics.durations(plan_leg(dynamics, pose, point)).sum())


def possible(dynamics: Dynamics, raw: np.ndarray) -> np.ndarray:
    """Moves (n, k, 2) these dynamics can make, out of (n, k, 3) numbers in [-1, 1]: time, speed and turning speed."""
    time, v, w = 6.0 * (raw[..., 0] + 1), raw[..., 1].round(), raw[..., 2].round()
    v = v if dynamics.reverse else np.abs(v)
    w = w * min(dynamics.wmax, 3.0)
    if math.isinf(dynamics.min_radius):
        w = np.where(v == 0, w, 0.0)
    elif not dynamics.can_pivot:
        most = np.abs(v) * dynamics.vmax / dynamics.min_radius
        w = np.clip(w, -most, most)
    return np.stack((v * dynamics.vmax * time, w * time), axis=-1)


@pytest.mark.parametrize("dynamics", ALL, ids=NAMES)
@given(pose=poses, point=points)
def test_a_leg_ends_at_its_point(dynamics, pose, point):
    drive = Drive(pose, plan_leg(dynamics, pose, point))
    assert np.allclose(drive.poses[-1, :2], point, rtol=0, atol=1e-9)
    assert np.isfinite(drive.duration(dynamics))


@pytest.mark.parametrize("dynamics", ALL, ids=NAMES)
def test_no_drive_comes_sooner_than_the_leg(dynamics):
    rng = np.random.default_rng(0)
    for count in (1, 2, 3, 4):
        moves = possible(dynamics, rng.uniform(-1, 1, (20_000, count, 3)))
        taken = dynamics.durations(moves.reshape(-1, 2)).reshape(-1, count).sum(axis=1)
        ends = np.zeros((len(moves), 3))
        for k in range(count):
            ends += np.column_stack((displacements(ends[:, 2], moves[:, k]), moves[:, k, 1]))
        _, soonest = plan_legs(dynamics, np.zeros_like(ends), ends[:, :2])
        # Once round and a little more is as good as that little, to a square root of rounding, for a car.
        assert (soonest - taken).max() <= (1e-4 if dynamics is CAR else 1e-6)
        assert (np.abs(soonest - taken) < 1e-6).any()


@pytest.mark.parametrize(("point", "reverse"), [((0.0, 1.0), False), ((-1.0, 0.3), False), ((0.4, 0.9), True)])
def test_optimisation_over_three_moves_finds_nothing_faster(point, reverse):
    dynamics = unicycle(0.5, 0.5, reverse=reverse)
    best = seconds(dynamics, np.zeros(3), np.array(point))

    def late(values: np.ndarray) -> float:
        pose, moves = (0.0, 0.0, 0.0), values.reshape(-1, 2).tolist()
        for move in moves:
            pose = after(pose, move)
        return sum(max(abs(s), abs(a)) / 0.5 for s, a in moves) + 100 * math.dist(pose[:2], point)

    bounds = [(-4 if reverse else 0, 4), (-4, 4)] * 3
    begun = np.zeros((3, 2))
    moves = plan_leg(dynamics, np.zeros(3), np.array(point))
    begun[: len(moves)] = moves
    found = optimize.differential_evolution(late, bounds, x0=begun.ravel(), maxiter=60, popsize=8, rng=1, polish=False)
    assert found.fun == pytest.approx(best, abs=1e-6)


@given(pose=poses, point=points)
def test_a_unicycle_is_never_slower_than_one_that_turns_on_the_spot(pose, point):
    assert seconds(unicycle(), pose, point) <= seconds(point_turn(), pose, point) + 1e-9
    assert seconds(unicycle(reverse=True), pose, point) <= seconds(unicycle(), pose, point) + 1e-9
    assert seconds(unicycle(), pose, point) >= math.dist(pose[:2], point) / unicycle().vmax - 1e-9


@given(pose=poses, point=points)
def test_slow_driving_makes_it_a_point_turn_and_fast_turning_a_straight_line(pose, point):
    # Slower driving with the turning speed kept makes r = vmax / wmax small.
    slow, still = unicycle(1e-3, 1.0), point_turn(1e-3, 1.0)
    assert seconds(slow, pose, point) == pytest.approx(seconds(still, pose, point), abs=3.0, rel=1e-4)
    assert seconds(unicycle(1.0, 1e7), pose, point) == pytest.approx(math.dist(pose[:2], point), abs=1e-5)
    assert seconds(unicycle(1.0, 1e7), pose, point) == pytest.approx(
        seconds(point_turn(1.0, 1e7), pose, point), abs=1e-5
    )
    assert seconds(holonomic(1.0), pose, point) == pytest.approx(math.dist(pose[:2], point))


@given(pose=poses, point=points, speeds=st.tuples(st.floats(0.1, 2), st.floats(0.1, 3)))
def test_the_compiled_leg_equals_the_plain_one(pose, point, speeds):
    if math.dist(pose[:2], point) < 1e-6:
        return
    plain, moves = plain_leg(tuple(pose), tuple(point), *speeds)
    assert seconds(unicycle(*speeds), pose, point) == pytest.approx(plain, abs=1e-6)
    assert np.allclose(Drive(pose, moves).poses[-1, :2], point, atol=1e-6)


@given(pose=poses, point=points, speeds=st.tuples(st.floats(0.1, 2), st.floats(0.1, 3)))
def test_the_released_leg_is_the_fastest_of_a_pivot_and_one_arc_within_the_turning_speed(pose, point, speeds):
    if math.dist(pose[:2], point) < 1e-6:
        return
    dynamics = unicycle(*speeds)
    taken, _, pivot, metres, turn, _ = single_arc_leg(*map(float, pose), *map(float, point), dynamics.motion)
    plain, _ = single_arc(tuple(pose), tuple(point), *speeds)
    drive = Drive(pose, [(0.0, pivot), (metres, turn)])
    assert np.allclose(drive.poses[-1, :2], point, atol=1e-9)
    assert taken == pytest.approx(drive.duration(dynamics))
    assert taken <= plain + 1e-9
    assert taken == pytest.approx(plain, abs=1e-3)
    assert abs(turn) * speeds[0] <= metres * speeds[1] * (1 + 1e-9)
    assert seconds(dynamics, pose, point) <= taken + 1e-9


def test_moves_take_as_long_as_the_slower_of_driving_and_turning():
    moves = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 4.0], [-1.0, 0.0]])
    inf = math.inf
    assert unicycle(1, 2).durations(moves).tolist() == [1.0, 0.5, 1.0, 2.0, inf]
    assert unicycle(1, 2, reverse=True).durations(moves).tolist() == [1.0, 0.5, 1.0, 2.0, 1.0]
    assert point_turn(1, 2).durations(moves).tolist() == [1.0, 0.5, inf, inf, inf]
    assert holonomic(1).durations(moves).tolist() == [1.0, 0.0, 1.0, 1.0, inf]
    assert Dynamics("car", 1, 2, min_radius=0.5, can_pivot=False).durations(moves).tolist() == [1.0, inf, 1.0, inf, inf]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: unicycle(0.0), "above 0 m/s, not 0.0"),
        (lambda: unicycle(math.inf), "finite"),
        (lambda: unicycle(1.0, 0.0), "above 0 rad/s"),
        (lambda: unicycle(1.0, math.nan), "above 0 rad/s"),
        (lambda: Dynamics("sledge", 1.0, 1.0, min_radius=-1.0), "at least 0 m"),
        (lambda: Dynamics("train", 1.0, 1.0, can_pivot=False), "train cannot pivot, so it needs a finite min_radius"),
        (
            lambda: Dynamics("car", 1.0, 1.0, min_radius=1.0, can_pivot=False, reverse=True),
            "Only a unicycle can",
        ),
        (lambda: plan_legs(unicycle(), np.zeros((2, 3)), np.zeros((1, 2))), r"\(2, 3\) and \(1, 2\)"),
    ],
)
def test_impossible_dynamics_are_refused(wrong, message):
    with pytest.raises(BadArgument, match=message):
        wrong()
