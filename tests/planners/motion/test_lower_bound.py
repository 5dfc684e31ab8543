"""The lower bound: below every drive, falling no faster than time passes, its lengths against a plain twin."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from itinera.formats.rosmap import read_map
from itinera.planners.motion import _value_field_kernels as kernels
from itinera.planners.motion.dynamics import Dynamics, holonomic, point_turn, unicycle
from itinera.planners.motion.local_search import optimize_drive
from itinera.planners.motion.value_field import MARGIN, LowerBound, ValueField, lower_bound
from itinera.worlds import Array
from itinera.worlds._grid_kernels import move_clear, pose_after
from itinera.worlds.grid import Grid

RESOLUTION = 0.1
ROBOTS = [unicycle(), unicycle(wmax=math.radians(60)), point_turn(), holonomic(), unicycle(reverse=True)]
ROBOTS.append(Dynamics("car", 0.25, math.radians(30), min_radius=0.6, can_pivot=False))


def floor(seed: int) -> NDArray[np.bool_]:
    """Blocks of two by two cells here and there."""
    rng = np.random.default_rng(seed)
    return np.kron(rng.random((6, 7)) > 0.25, np.ones((2, 2))).astype(np.bool_)


def on(allowed: NDArray[np.bool_]) -> Grid:
    return Grid(~allowed, RESOLUTION)


def bound_on(
    allowed: NDArray[np.bool_], resolution: float, goal: ArrayLike, goal_radius: float, dynamics: Dynamics
) -> LowerBound:
    """The bound of a robot whose center may be in these cells."""
    return lower_bound(Grid(~allowed, resolution), goal, dynamics, radius=0.0, goal_radius=goal_radius)


def somewhere(allowed: NDArray[np.bool_], rng: np.random.Generator) -> Array:
    rows, columns = np.nonzero(allowed)
    n = rng.integers(len(rows))
    return np.array([(columns[n] + rng.random()) * RESOLUTION, (rows[n] + rng.random()) * RESOLUTION])


def strolled(
    allowed: NDArray[np.bool_], dynamics: Dynamics, pose: Array, rng: np.random.Generator
) -> list[tuple[Array, float]]:
    """Poses and the seconds to each of them, of a robot that does this and that as long as it is clear."""
    here, seconds, seen = pose, 0.0, [(pose, 0.0)]
    for _ in range(12):
        metres = rng.choice([0.0, rng.uniform(0, 0.5), -rng.uniform(0, 0.3) if dynamics.reverse else 0.1])
        turn = rng.choice(
            [0.0, rng.uniform(-2, 2), math.copysign(metres / max(dynamics.arc_radius, 0.1), rng.normal())]
        )
        took = float(dynamics.durations(np.array([[metres, turn]]))[0])
        if math.isfinite(took) and move_clear(allowed, RESOLUTION, *here, metres, turn):
            here, seconds = np.array(pose_after(*here, metres, turn)), seconds + took
            seen.append((here, seconds))
    return seen


@settings(max_examples=80)
@given(st.integers(0, 100_000), st.sampled_from(ROBOTS), st.sampled_from([0.0, 0.0, 0.15]))
def test_no_drive_beats_the_bound_to_where_it_leads(seed: int, dynamics: Dynamics, radius: float) -> None:
    rng, allowed = np.random.default_rng(seed), floor(seed)
    assume(allowed.any())
    start = np.append(somewhere(allowed, rng), rng.uniform(-4, 4))
    drive = strolled(allowed, dynamics, start, rng)
    end, _ = drive[-1]
    goal = end[:2] + rng.uniform(-0.7, 0.7, 2) * radius
    bound = bound_on(allowed, RESOLUTION, goal, radius, dynamics)
    for (_, passed), low in zip(drive, bound.at([pose for pose, _ in drive]), strict=True):
        assert low <= drive[-1][1] - passed + 1e-7


@settings(max_examples=100)
@given(st.integers(0, 100_000), st.sampled_from(ROBOTS), st.sampled_from([0.0, 0.2]))
def test_the_simpler_bound_falls_no_faster_than_time_passes(seed: int, dynamics: Dynamics, radius: float) -> None:
    rng, allowed = np.random.default_rng(seed), floor(seed)
    assume(allowed.any())
    bound = bound_on(allowed, RESOLUTION, somewhere(allowed, rng), radius, dynamics)
    drive = strolled(allowed, dynamics, np.append(somewhere(allowed, rng), rng.uniform(-4, 4)), rng)
    low = bound.first_turn([pose for pose, _ in drive])
    assume(np.isfinite(low[0]))
    seconds = np.array([passed for _, passed in drive])
    if radius == 0:  # a disc's bound is the least over its points: it holds at the start, not step by step
        assert (low[:-1] - low[1:] <= np.diff(seconds) + 2 * MARGIN + 1e-7).all()
    inside = np.hypot(*(np.array([pose[:2] for pose, _ in drive]) - (bound.goal[:2] - bound.border)).T) <= radius
    assert (low[inside] == 0).all()
    assert (bound.at([pose for pose, _ in drive])[inside] == 0).all()


@settings(max_examples=4)
@given(st.integers(0, 100_000), st.sampled_from(ROBOTS[:4]))
def test_no_optimized_drive_beats_the_bound(seed: int, dynamics: Dynamics) -> None:
    rng, allowed = np.random.default_rng(seed), floor(seed)
    assume(allowed.any())
    goal, start = somewhere(allowed, rng), np.append(somewhere(allowed, rng), rng.uniform(-4, 4))
    low = bound_on(allowed, RESOLUTION, goal, 0.0, dynamics).at(start)[0]
    assume(np.isfinite(low))
    places = ValueField.solve(on(allowed), goal, dynamics, radius=0.0, headings=24).rollout(start)
    drive = optimize_drive(on(allowed), start, goal, dynamics, places, radius=0.0)
    assert drive is not None
    assert low <= dynamics.durations(drive.moves).sum() + 1e-7


def plain_lengths(allowed: NDArray[np.bool_], goal: Array, point: Array) -> float:
    """The shortest length by relaxing all lines between all corners of all cells, lines seen by fine sampling."""
    rows, columns = allowed.shape
    places = [goal, point]
    places += [np.array([c, r]) * RESOLUTION for r, c in itertools.product(range(rows + 1), range(columns + 1))]

    def stands(spot: Array) -> bool:
        cells = {
            tuple(np.floor(spot / RESOLUTION + off).astype(int)) for off in itertools.product((-1e-6, 1e-6), repeat=2)
        }
        return any(0 <= r < rows and 0 <= c < columns and allowed[r, c] for c, r in cells)

    def sees(a: Array, b: Array) -> bool:
        return all(stands(a + t * (b - a)) for t in np.linspace(0, 1, 50))

    near = {(i, j): sees(places[i], places[j]) for i, j in itertools.combinations(range(len(places)), 2)}
    length = np.full(len(places), np.inf)
    length[0] = 0.0
    for _ in range(len(places)):
        before = length.copy()
        for (i, j), clear in near.items():
            if clear:
                far = float(np.hypot(*(places[i] - places[j])))
                length[i], length[j] = min(length[i], length[j] + far), min(length[j], length[i] + far)
        if (before == length).all():
            break
    return float(length[1])


@pytest.mark.parametrize("seed", range(2))
def test_lengths_are_the_shortest_there_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    allowed = np.ones((5, 6), dtype=np.bool_)
    allowed[2, :4] = False  # no two blocked cells meet at a corner alone, where the twin would slip through
    allowed[seed % 2 * 4, 2] = False
    goal, point = somewhere(allowed[:2], rng), somewhere(allowed[3:], rng) + np.array([0, 0.3])
    found = bound_on(allowed, RESOLUTION, goal, 0.0, holonomic()).shortest([point])[0]
    assert found == pytest.approx(plain_lengths(allowed, goal, point), abs=1e-5)


def test_round_one_corner_the_length_is_worked_out_by_hand() -> None:
    allowed = np.ones((10, 10), dtype=np.bool_)
    allowed[:5, 5:] = False  # the corner is at (0.5, 0.5)
    bound = bound_on(allowed, RESOLUTION, (0.9, 0.9), 0.0, unicycle())
    assert bound.corners.tolist() == [[0.5, 0.5, -1.0]]
    assert bound.shortest([(0.4, 0.1)])[0] == pytest.approx(math.hypot(0.1, 0.4) + math.hypot(0.4, 0.4), abs=1e-5)
    away = bound.at([(0.4, 0.1, math.atan2(0.4, 0.1) + math.pi)])[0]
    assert away >= bound.shortest([(0.4, 0.1)])[0] / 0.25 + (math.pi - 1) / unicycle().wmax - 1e-5


def test_what_is_unreachable_takes_for_ever_and_what_is_there_no_time() -> None:
    allowed = np.ones((10, 10), dtype=np.bool_)
    allowed[:, 5] = False
    bound = bound_on(allowed, RESOLUTION, (0.25, 0.25), 0.1, unicycle())
    assert bound.at([(0.85, 0.25, 0.0), (0.25, 0.3, 1.0)]).tolist() == [np.inf, 0.0]
    assert np.isinf(bound.shortest([(0.85, 0.25)])[0])
    assert bound_on(allowed, RESOLUTION, (0.25, 0.25), 0.0, unicycle()).at([(0.25, 0.25, 2.0)])[0] == 0.0


@settings(max_examples=30)
@given(st.integers(0, 100_000))
def test_the_freer_the_robot_and_the_wider_the_goal_the_lower_the_bound(seed: int) -> None:
    rng, allowed = np.random.default_rng(seed), floor(seed)
    assume(allowed.any())
    goal = somewhere(allowed, rng)
    poses = np.array([np.append(somewhere(allowed, rng), rng.uniform(-4, 4)) for _ in range(5)])
    low = [
        bound_on(allowed, RESOLUTION, goal, 0.0, robot).at(poses) for robot in (holonomic(), unicycle(), point_turn())
    ]
    assert (low[0] <= low[1] + 1e-6).all()
    assert (low[1] <= low[2] + 1e-6).all()
    assert (bound_on(allowed, RESOLUTION, goal, 0.2, unicycle()).at(poses) <= low[1] + 1e-6).all()


def test_turning_hides_behind_driving_but_for_what_it_costs() -> None:
    angles = np.linspace(0, math.pi, 7)
    hidden = [a - math.sin(a) if a <= math.pi / 2 else a - 1 for a in angles]
    assert [kernels.turning(-a, kernels.HIDDEN_TURN_COST) for a in angles] == pytest.approx(hidden)
    assert [kernels.turning(a, kernels.FULL_TURN_COST) for a in angles] == pytest.approx(angles.tolist())
    assert kernels.turning(1.0, kernels.NO_TURN_COST) == 0.0


@pytest.mark.real
@pytest.mark.slow
def test_on_a_real_map_the_gap_is_small_and_never_negative(data: Path) -> None:
    grid = read_map(next((data / "maps" / "small_house").glob("*.yaml")))
    allowed, rng = grid.free_cells(0.2), np.random.default_rng(0)
    largest = np.bincount(grid.components(0.2)[allowed]).argmax()
    rows, columns = np.nonzero(grid.components(0.2) == largest)
    robot, gaps = unicycle(wmax=math.radians(30)), []
    for n in rng.integers(len(rows), size=(6, 2)):
        goal, place = grid.to_map((np.column_stack([columns[n], rows[n]]) + 0.5) * grid.resolution)
        start = np.append(place, rng.uniform(0, 2 * math.pi))
        low = lower_bound(grid, goal, robot).at(start)[0]
        places = ValueField.solve(grid, goal, robot).rollout(start)
        drive = optimize_drive(grid, start, goal, robot, places)
        assert drive is not None
        gaps.append(1 - low / robot.durations(drive.moves).sum())
    assert min(gaps) >= -1e-9
    assert np.median(gaps) < 0.02
