"""The value field: against the closed form in free space, its symmetries, and the ways down it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from itinera.errors import BadArgument, NoRoute
from itinera.planners.motion import _value_field_kernels as kernels
from itinera.planners.motion.dynamics import Dynamics, holonomic, point_turn, unicycle
from itinera.planners.motion.value_field import ValueField, make_controls
from itinera.worlds import Array
from itinera.worlds._grid_kernels import move_clear
from itinera.worlds.grid import Grid

SLOW, QUICK = unicycle(wmax=math.radians(30)), unicycle(wmax=math.radians(60))


def walled() -> NDArray[np.bool_]:
    """A floor of 3 by 2.4 m with a wall to go round."""
    allowed = np.ones((24, 30), dtype=np.bool_)
    allowed[10:14, :20] = False
    return allowed


def solved(
    allowed: NDArray[np.bool_],
    resolution: float,
    goal: ArrayLike,
    goal_radius: float,
    dynamics: Dynamics,
    **options: int,
) -> ValueField:
    """The field of a robot whose center may be in these cells."""
    grid = Grid(~allowed, resolution)
    return ValueField.solve(grid, goal, dynamics, radius=0.0, goal_radius=goal_radius, **options)


def poses_on(allowed: NDArray[np.bool_], resolution: float, count: int, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    rows, columns = np.nonzero(allowed)
    chosen = rng.integers(len(rows), size=count)
    middles = np.column_stack([columns[chosen] + 0.5, rows[chosen] + 0.5]) * resolution
    return np.column_stack([middles, rng.integers(36, size=count) * math.pi / 18])


def leg_seconds(pose: Array, goal: Array, dynamics: Dynamics) -> float:
    """The fastest leg in free space by trying every pivot: then a tangent arc and a straight, or an arc alone."""
    radius, best = dynamics.vmax / dynamics.wmax, math.inf
    bearing = math.remainder(math.atan2(goal[1] - pose[1], goal[0] - pose[0]) - pose[2], 2 * math.pi)
    far = math.hypot(goal[0] - pose[0], goal[1] - pose[1])
    for pivot in np.linspace(0, abs(bearing), 2001):
        x, y = far * math.cos(abs(bearing) - pivot), far * math.sin(abs(bearing) - pivot)
        straight = x * x + (y - radius) ** 2 - radius**2
        if straight >= 0:
            turn = math.atan2(y - radius, x) + math.atan2(radius, math.sqrt(straight))
            if turn >= -1e-9:
                best = min(best, (pivot + max(turn, 0)) / dynamics.wmax + math.sqrt(straight) / dynamics.vmax)
    return best


def errors(resolution: float, headings: int) -> Array:
    """How much later than the truth a field has poses in free space, seconds."""
    size = round(3.0 / resolution)
    goal = np.array([1.05, 1.35])
    field = solved(np.ones((size, size), dtype=np.bool_), resolution, goal, 0.0, SLOW, headings=headings)
    poses = poses_on(np.ones((30, 30), dtype=np.bool_), 0.1, 60)
    poses = poses[np.hypot(*(poses[:, :2] - goal).T) > 0.5]
    return field.time(poses) - [leg_seconds(pose, goal, SLOW) for pose in poses]


def test_in_free_space_the_field_comes_down_to_the_closed_form() -> None:
    coarse, fine = errors(0.1, 36), errors(0.05, 72)
    assert coarse.min() > -0.05
    assert fine.min() > -0.05
    assert fine.mean() < 0.65 * coarse.mean()
    assert fine.mean() < 0.4


@pytest.mark.parametrize("dynamics", [SLOW, point_turn(wmax=math.radians(30)), holonomic()], ids=lambda d: d.name)
def test_a_mirrored_or_turned_floor_has_the_mirrored_or_turned_field(dynamics: Dynamics) -> None:
    allowed, resolution, goal = walled(), 0.1, np.array([0.55, 0.45])
    poses = poses_on(allowed, resolution, 40)
    width, height = 3.0, 2.4
    plain = solved(allowed, resolution, goal, 0.0, dynamics, headings=36).time(poses)
    mirror = solved(allowed[:, ::-1], resolution, (width - goal[0], goal[1]), 0.0, dynamics, headings=36)
    mirrored = poses * [-1, 1, -1] + [width, 0, math.pi]
    assert mirror.time(mirrored) == pytest.approx(plain, rel=2e-3, abs=2e-3)
    quarter = solved(np.rot90(allowed, -1), resolution, (height - goal[1], goal[0]), 0.0, dynamics, headings=36)
    turned = np.column_stack([height - poses[:, 1], poses[:, 0], poses[:, 2] + math.pi / 2])
    assert quarter.time(turned) == pytest.approx(plain, rel=2e-3, abs=2e-3)


def test_faster_robots_arrive_sooner_and_freer_ones_too() -> None:
    allowed, goal = walled(), (0.55, 0.45)
    poses = poses_on(allowed, 0.1, 50)

    def times(dynamics: Dynamics) -> Array:
        return solved(allowed, 0.1, goal, 0.2, dynamics, headings=36).time(poses)

    plain = times(SLOW)
    for better in (QUICK, unicycle(0.5, SLOW.wmax), unicycle(wmax=SLOW.wmax, reverse=True)):
        assert (times(better) <= plain + 1e-3).all()
    assert (times(holonomic()) <= 1.05 * plain).all()  # another stencil, other errors
    assert (times(point_turn(wmax=SLOW.wmax)) >= plain - 1e-3).all()
    car = Dynamics("car", 0.25, SLOW.wmax, min_radius=1.0, can_pivot=False)
    assert (times(car) >= plain - 1e-3).all()


def plain_solution(cell_kinds: NDArray[np.uint8], given: Array, resolution: float, dynamics: Dynamics) -> Array:
    """The same equations, one node after the other, until nothing changes."""
    seconds, (headings, rows, columns) = given.copy(), given.shape
    ways = [way for way in zip(*make_controls(dynamics), strict=True) if max(way) > 0]
    changed = True
    while changed:
        before = seconds.copy()
        for k, r, c in np.ndindex(headings, rows, columns):
            if cell_kinds[r, c] != kernels.FREE:
                continue
            near_row, near_column, far_row, far_column, diagonal, cells = kernels.cells_ahead(k, headings)
            driven = seconds[k, r + far_row, c + far_column] if diagonal > 0 else 0.0
            driven = driven * diagonal + (
                (1 - diagonal) * seconds[k, r + near_row, c + near_column] if diagonal < 1 else 0
            )
            if diagonal == 1 and not (cell_kinds[r + far_row, c] or cell_kinds[r, c + far_column]):
                driven = math.inf
            turned = min(seconds[(k + 1) % headings, r, c], seconds[k - 1, r, c])
            for speed, turn in ways:
                drive, veer = speed / cells / resolution, turn / (2 * math.pi / headings)
                parts = 1.0 + (drive * driven if drive else 0) + (veer * turned if veer else 0)
                seconds[k, r, c] = min(seconds[k, r, c], parts / (drive + veer))
        changed = bool((before != seconds).any())
    return seconds


@settings(max_examples=8)
@given(st.integers(0, 10_000), st.sampled_from([SLOW, point_turn()]))
def test_the_sweeps_solve_the_lattice_s_equations(seed: int, dynamics: Dynamics) -> None:
    rng = np.random.default_rng(seed)
    allowed = rng.random((5, 6)) > 0.3
    allowed[2, 2] = True
    field = solved(allowed, 0.1, (0.25, 0.25), 0.05, dynamics, headings=8)
    given = np.where((field.cell_kinds == kernels.TERMINAL)[None], field.seconds.astype(np.float64), np.inf)
    slow = plain_solution(field.cell_kinds, given, 0.1, dynamics)
    fast = np.where(field.seconds < kernels.MAX_REACHED, field.seconds, np.inf)
    assert fast == pytest.approx(slow, rel=1e-4, abs=1e-2)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([SLOW, unicycle(), point_turn(), holonomic()]))
def test_a_rollout_is_a_chain_of_clear_lines_to_the_goal(seed: int, dynamics: Dynamics) -> None:
    rng = np.random.default_rng(seed)
    allowed = rng.random((12, 14)) > 0.25
    allowed[6, 6] = True
    goal, resolution = np.array([0.65, 0.65]) + rng.uniform(-0.04, 0.04, 2), 0.1
    field = solved(allowed, resolution, goal, 0.0, dynamics, headings=24)
    poses = poses_on(allowed, resolution, 6, seed) + np.append(rng.uniform(-0.04, 0.04, 2), 0.1)
    for pose, seconds in zip(poses, field.time(poses), strict=True):
        try:
            places = field.rollout(pose)
        except NoRoute:
            cell = field.seconds[:, int(pose[1] / resolution) + 1, int(pose[0] / resolution) + 1]
            assert cell.min() > kernels.MAX_REACHED
            continue
        assert np.isfinite(seconds)
        assert places[0] == pytest.approx(pose[:2])
        assert places[-1] == pytest.approx(goal)
        for (x, y), (dx, dy) in zip(places, np.diff(places, axis=0), strict=False):
            assert move_clear(allowed, resolution, x, y, math.atan2(dy, dx), math.hypot(dx, dy), 0.0)


def test_where_no_way_leads_the_time_is_infinite_and_there_is_no_rollout() -> None:
    allowed = np.ones((10, 10), dtype=np.bool_)
    allowed[:, 5] = False
    field = solved(allowed, 0.1, (0.25, 0.25), 0.0, SLOW, headings=16)
    assert np.isinf(field.time([(0.85, 0.55, 0.0), (5.0, 5.0, 0.0)])).all()
    for pose in ((0.85, 0.55, 0.0), (0.55, 0.55, 0.0)):
        with pytest.raises(NoRoute):
            field.rollout(pose)


def test_two_blocked_cells_that_meet_at_a_corner_let_nobody_through() -> None:
    allowed = np.zeros((6, 6), dtype=np.bool_)
    allowed[:3, :3] = allowed[3:, 3:] = True
    field = solved(allowed, 0.1, (0.15, 0.15), 0.0, SLOW, headings=16)
    assert np.isinf(field.time([(0.45, 0.45, 0.3)])).all()


def test_inside_the_goal_s_disc_the_time_is_zero() -> None:
    field = solved(walled(), 0.1, (0.5, 0.5), 0.3, SLOW, headings=16)
    assert field.time([(0.5, 0.75, 1.0)]) == [0.0]
    assert field.time([(0.5, 0.85, 1.0)])[0] > 0


def test_a_lattice_needs_headings_along_the_axes() -> None:
    with pytest.raises(BadArgument, match="multiple of 4"):
        solved(walled(), 0.1, (0.5, 0.5), 0.0, SLOW, headings=10)
