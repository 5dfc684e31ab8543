"""Grids: where a robot's centre may be, and moves over them against slow twins that sample or solve for crossings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.worlds import _grid_kernels as kernels
from itinera.worlds.grid import Grid

Cells = NDArray[np.bool_]
Floats = NDArray[np.float64]
Move = tuple[float, float, float, float, float]  # x, y, heading, metres, turn

MAX_RESOLUTION = 9


def drawn(picture: str) -> Cells:
    """Free cells from a picture, the last line lowest; # is blocked."""
    return np.array([[mark == "." for mark in line] for line in picture.split()][::-1])


def clear(free: Cells, *move: float, resolution: float = 1.0) -> bool:
    return bool(kernels.move_clear(Grid(~free, resolution).free_cells(0.0), resolution, *move))


@st.composite
def floors(draw: st.DrawFn) -> Cells:
    rows, columns = draw(st.integers(1, MAX_RESOLUTION)), draw(st.integers(1, MAX_RESOLUTION))
    share = draw(st.sampled_from([0.05, 0.2, 0.5]))
    seed = draw(st.integers(0, 2**32 - 1))
    return np.random.default_rng(seed).random((rows, columns)) > share


def lengths(low: float, high: float) -> st.SearchStrategy[float]:
    """Anything, and often what lies on borders, on corners or in the middle of cells."""
    even = st.integers(math.ceil(2 * low), math.floor(2 * high)).map(lambda n: n / 2)
    return st.one_of(even, st.floats(low, high, allow_subnormal=False))


def angles(high: float) -> st.SearchStrategy[float]:
    eighths = st.integers(-8, 8).map(lambda n: n * math.pi / 4)
    tiny = st.sampled_from([1e-3, -1e-6, 1e-9, -1e-11, 1e-13])
    return st.one_of(eighths, tiny, st.floats(-high, high, allow_subnormal=False))


moves = st.tuples(
    lengths(-0.5, MAX_RESOLUTION),
    lengths(-0.5, MAX_RESOLUTION),
    angles(10.0),
    lengths(-12.0, 12.0),
    st.one_of(st.just(0.0), angles(9.0)),
)


def along(move: Move, shares: Floats) -> Floats:
    """(n, 2) the points of a move, in shares of it."""
    x, y, heading, metres, turn = move
    middle, half = heading + 0.5 * turn * shares, 0.5 * turn * shares
    chord = metres * shares * np.sinc(half / math.pi)
    return np.stack([x + chord * np.cos(middle), y + chord * np.sin(middle)], axis=1)


def depth(free: Cells, points: Floats) -> Floats:
    """(n,) how far each point is from every allowed cell, across or up, in cells; inf for a cell and more."""
    around = np.pad(free, 2)
    at = np.floor(points).clip(-1, MAX_RESOLUTION + 1).astype(int)
    nearest = np.full(len(points), np.inf)
    for beside in np.ndindex(3, 3):
        cells = at + np.array(beside) - 1
        off = np.maximum(np.maximum(cells - points, points - cells - 1), 0.0).max(axis=1)
        inside = (cells >= -2).all(axis=1) & (cells < np.array(free.shape[::-1]) + 2).all(axis=1)
        i, j = np.where(inside[:, None], cells + 2, 0).T
        nearest = np.where(inside & around[j, i], np.minimum(nearest, off), nearest)
    return nearest


def pinches(free: Cells) -> Floats:
    """(n, 2) the corners where two blocked cells meet between two allowed ones."""
    around = np.pad(free, 1)
    low, high = around[:-1], around[1:]
    crossed = (low[:, :-1] == high[:, 1:]) & (low[:, 1:] == high[:, :-1]) & (low[:, :-1] != low[:, 1:])
    return np.argwhere(crossed)[:, ::-1].astype(float)


def from_pinches(free: Cells, points: Floats) -> Floats:
    corners = pinches(free)
    if not len(corners):
        return np.full(len(points), np.inf)
    return np.asarray(np.abs(points[:, None] - corners).max(axis=2).min(axis=1))


@given(free=floors(), move=moves)
@settings(max_examples=200)
@example(free=np.ones((3, 3), bool), move=(1.0, 1.0, 0.0, 2 * math.pi, 2 * math.pi))
@example(free=drawn("##. .## ..."), move=(1.0, 0.0, math.pi / 2, 3.0, 0.0))
def test_a_touch_seen_at_large_is_what_dense_sampling_sees(free: Cells, move: Move) -> None:
    touch = 0.02
    found = kernels.clear_within(free, 1.0, touch, *move)
    points = along(move, np.linspace(0.0, 1.0, int(abs(move[3]) / 0.002) + 2))
    slack = 0.0021
    off, gap = depth(free, points), from_pinches(free, points)
    if found:
        assert off.max() <= touch + 1e-9
        assert gap.min() >= touch - slack
    else:
        assert off.max() > touch - slack or gap.min() < touch + slack


def crossings(move: Move) -> Floats:
    """Shares of a move at which it crosses a line of the grid, by solving for each line; 0 and 1 at the ends."""
    x, y, heading, metres, turn = move
    lines = np.arange(-30.0, 31.0)
    if turn == 0.0:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = [(lines - x) / (metres * math.cos(heading)), (lines - y) / (metres * math.sin(heading))]
        shares = np.concatenate(found)
    else:
        bend = turn / metres
        rise = np.arcsin(_within(math.sin(heading) + bend * (lines - x)))
        fall = np.arccos(_within(math.cos(heading) - bend * (lines - y)))
        angles = np.concatenate([rise, math.pi - rise, fall, -fall]) - heading
        shares = np.concatenate([(angles + 2 * math.pi * k) / turn for k in range(-6, 7)])
    shares = shares[np.isfinite(shares) & (shares > 0) & (shares < 1)]
    return np.unique(np.concatenate([[0.0], shares, [1.0]]))


def _within(values: Floats) -> Floats:
    return np.where(np.abs(values) <= 1.0, values, np.nan)


@given(free=floors(), move=moves, resolution=st.sampled_from([0.03, 0.05, 1.0]))
@settings(max_examples=200)
def test_a_move_is_clear_exactly_if_all_cells_between_its_crossings_are_allowed(
    free: Cells, move: Move, resolution: float
) -> None:
    assume(abs(move[3]) > 1e-3 and (move[4] == 0.0 or abs(move[4]) > 1e-4))
    shares = crossings(move)
    points = along(move, 0.5 * (shares[1:] + shares[:-1]))
    off, gap = depth(free, points), from_pinches(free, along(move, shares))
    # Neither a touch nor clearly more; which of them it is decided by the twin at a larger touch.
    assume(not ((off > 1e-11) & (off < 1e-6)).any() and not ((gap > 1e-11) & (gap < 1e-6)).any())
    x, y, heading, metres, turn = move
    scaled = (x * resolution, y * resolution, heading, metres * resolution, turn)
    assert clear(free, *scaled, resolution=resolution) == (off.max() <= 1e-11 and gap.min() > 1e-11)


def turned_left(free: Cells, move: Move) -> tuple[Cells, Move]:
    x, y, heading, metres, turn = move
    return np.rot90(free[::-1], 1)[::-1], (free.shape[0] - y, x, heading + math.pi / 2, metres, turn)


def mirrored(free: Cells, move: Move) -> tuple[Cells, Move]:
    x, y, heading, metres, turn = move
    return free[:, ::-1], (free.shape[1] - x, y, math.pi - heading, metres, -turn)


def backwards(free: Cells, move: Move) -> tuple[Cells, Move]:
    x, y, heading, metres, turn = move
    return free, (x, y, heading + math.pi, -metres, turn)


def from_its_end(free: Cells, move: Move) -> tuple[Cells, Move]:
    x, y, heading, metres, turn = move
    return free, (*kernels.pose_after(x, y, heading, metres, turn), -metres, -turn)


@pytest.mark.parametrize("changed", [turned_left, mirrored, backwards, from_its_end])
@given(free=floors(), move=moves)
@settings(max_examples=100)
def test_a_move_seen_from_another_side_is_as_clear(changed, free: Cells, move: Move) -> None:  # type: ignore[no-untyped-def]
    other, seen = changed(free, move)
    touches = [kernels.clear_within(free, 1.0, touch, *move) for touch in (0.5e-9, 1e-9, 2e-9)]
    # What hangs on a part of a touch may fall to either side.
    assume(len(set(touches)) == 1)
    assert clear(np.ascontiguousarray(other), *seen) == clear(free, *move)


def test_turning_a_picture_left_puts_its_bottom_right_cell_top_right() -> None:
    free, move = turned_left(drawn("##. ###"), (2.5, 1.5, 0.0, 0.1, 0.0))
    assert free[int(move[1]), int(move[0])]
    assert free.sum() == 1


QUARTER = math.pi / 2


@pytest.mark.parametrize(
    ("picture", "move", "is_clear"),
    [
        pytest.param("... .#. ...", (0.5, 1.0, 0.0, 2.0, 0.0), True, id="along a wall's side"),
        pytest.param("... .#. ...", (0.5, 1.0 + 1e-12, 0.0, 2.0, 0.0), True, id="along it, off by rounding"),
        pytest.param("... .#. ...", (0.5, 1.0 + 1e-8, 0.0, 2.0, 0.0), False, id="along it, inside"),
        pytest.param("... .#. ...", (0.0, 0.0, QUARTER / 2, 1.0, 0.0), True, id="stops before the corner"),
        pytest.param("... .#. ...", (0.0, 2.5, -QUARTER / 2, 2.8, 0.0), False, id="through the wall"),
        pytest.param("... .#. ...", (0.5, 1.5, -QUARTER / 2, 1.4, 0.0), True, id="by a corner at 45 degrees"),
        pytest.param(".#. .#. ...", (1.5, 1.0, 0.0, 0.0, 9.0), True, id="pivot at the side of a wall"),
        pytest.param(".#. .#. ...", (1.5, 1.5, 0.0, 0.0, 9.0), False, id="pivot in a wall"),
        pytest.param("## ##", (1.0, 0.1, QUARTER, 0.5, 0.0), False, id="between two blocked cells"),
        pytest.param(".# #.", (0.5, 1.5, -QUARTER / 2, 1.4, 0.0), False, id="where blocked cells meet at a corner"),
        pytest.param(".# #.", (0.5, 1.5, -QUARTER / 2, math.sqrt(0.5), 0.0), False, id="up to where they meet"),
        pytest.param(".# #.", (1.0, 1.0, 3 * QUARTER / 2, 0.5, 0.0), False, id="from where they meet"),
        pytest.param(".# ..", (0.5, 1.5, -QUARTER / 2, 1.4, 0.0), True, id="round the corner of one"),
        pytest.param("#. .# #. .#", (1.0, 0.0, QUARTER, 4.0, 0.0), False, id="a zigzag of corners"),
        pytest.param("..  .# .. #.", (1.0, 0.0, QUARTER, 4.0, 0.0), True, id="walls by turns on both sides"),
        pytest.param("...", (0.0, 0.0, 0.0, 3.0, 0.0), True, id="along the map's edge"),
        pytest.param("...", (0.0, 1.0, 0.0, 3.0, 0.0), True, id="along the map's far edge"),
        pytest.param("...", (2.5, 0.5, 0.0, 1.0, 0.0), False, id="out of the map"),
        pytest.param("...", (-0.5, 0.5, 0.0, 1.0, 0.0), False, id="into the map"),
        pytest.param("...", (math.nan, 0.5, 0.0, 1.0, 0.0), False, id="from nowhere"),
        pytest.param("...", (0.5, 0.5, 0.0, math.nan, 1.0), False, id="of no length"),
        pytest.param("...", (0.5, 0.5, 0.0, 1e300, 0.1), False, id="without end"),
        pytest.param("... ... ...", (1.5, 0.0, 0.0, 3 * math.pi, 2 * math.pi), True, id="a circle that fills the map"),
        pytest.param("... ... ...", (1.5, -1e-6, 0.0, 3 * math.pi, 2 * math.pi), False, id="a circle just out of it"),
        pytest.param("... .#. ...", (1.5, 0.5, 0.0, 2 * math.pi, 2 * math.pi), True, id="a circle round a block"),
        pytest.param("... .#. ..#", (1.5, 0.5, 0.0, 2 * math.pi, 2 * math.pi), False, id="a circle round two"),
        pytest.param("... .#. ...", (1.5, 0.5, 0.0, 60.0, 60.0), True, id="many times round"),
        pytest.param("... .#. ...", (1.5, 0.5, math.pi, -math.pi, math.pi), True, id="half round, backwards"),
        pytest.param("... .#. ...", (1.5, 0.5, 0.0, 1.5 * math.pi, 1.5 * math.pi), True, id="three quarters round"),
        pytest.param("... .#. ...", (0.5, 1.5, -QUARTER, QUARTER / 2, QUARTER), True, id="tight round its corner"),
        pytest.param("... .#. ...", (1.5, 0.0, 0.0, math.pi, 2 * math.pi), True, id="a circle tangent to its side"),
        pytest.param("... .#. ...", (1.5, 0.0, 0.0, 1.01 * math.pi, 2 * math.pi), False, id="a circle that clips it"),
        pytest.param("... .#. ...", (0.5, 0.0, QUARTER, 3.0, -1e-7), True, id="as good as straight, beside it"),
        pytest.param("... .#. ...", (1.0, 0.0, QUARTER, 3.0, -1e-7), False, id="as good as straight, into it"),
        pytest.param("... .#. ...", (1.0, 0.0, QUARTER, 3.0, 1e-7), True, id="as good as straight, away from it"),
    ],
)
def test_what_touching_means(picture: str, move: Move, is_clear: bool) -> None:
    assert clear(drawn(picture), *move) == is_clear


def test_the_first_move_that_is_not_clear_is_named() -> None:
    allowed = Grid(~drawn("... .#. ..."), 1.0).free_cells(0.0)
    pose = np.array([0.5, 0.5, 0.0])
    round_it = np.array([[2.0, 0.0], [0.0, QUARTER], [2.0, 0.0], [0.0, QUARTER], [2.0, 0.0]])
    assert kernels.moves_clear(allowed, 1.0, pose, round_it) == -1
    into_it = np.array([[1.0, 0.0], [0.0, QUARTER], [2.0, 0.0], [0.0, QUARTER]])
    assert kernels.moves_clear(allowed, 1.0, pose, into_it) == 2
    assert kernels.moves_clear(allowed, 1.0, pose, np.empty((0, 2))) == -1


@given(free=floors(), radius=st.one_of(lengths(0.0, 4.0), st.sampled_from([0.2, 0.5, math.sqrt(2) - 0.5])))
@settings(max_examples=100)
def test_allowed_cells_are_those_far_enough_from_every_blocked_cell(free: Cells, radius: float) -> None:
    resolution = 0.05
    around = np.pad(free, 1)
    blocked = np.argwhere(~around)
    apart = np.array(
        [min(math.hypot(row - j, column - i) for j, i in blocked) for row, column in np.argwhere(around | True)]
    ).reshape(around.shape)[1:-1, 1:-1]
    expected = (apart - 0.5) * resolution >= radius * resolution - 1e-12
    assert np.array_equal(Grid(~free, resolution).free_cells(radius * resolution), expected)


@given(free=floors())
@settings(max_examples=50)
def test_with_no_radius_every_free_cell_is_allowed(free: Cells) -> None:
    grid = Grid(~free, 0.05)
    assert np.array_equal(grid.free_cells(0.0), free)
    assert grid.free_cells(0.0) is grid.free_cells(0.0)


@given(free=floors(), seed=st.integers(0, 1000))
@settings(max_examples=100)
def test_no_clear_move_leads_from_part_to_part(free: Cells, seed: int) -> None:
    rng, grid = np.random.default_rng(seed), Grid(~free, 0.1)
    allowed = grid.free_cells(0.0)
    rows, columns = free.shape
    for _ in range(50):
        x, y = np.round(rng.uniform(0.0, [columns, rows]) * 2) / 2 * 0.1  # borders and corners included
        heading, metres, turn = rng.integers(8) * math.pi / 4, rng.integers(1, 20) * 0.05, rng.integers(-2, 3) * QUARTER
        if kernels.move_clear(allowed, 0.1, x, y, heading, metres, turn):
            end = kernels.pose_after(x, y, heading, metres, turn)
            one, other = grid.component_at([(x, y), end[:2]], 0.0)
            assert one == other > 0


@given(free=floors())
@settings(max_examples=50)
def test_neighbours_by_a_side_are_joined_by_a_clear_move_and_share_a_part(free: Cells) -> None:
    grid = Grid(~free, 1.0)
    parts = grid.components(0.0)
    assert np.array_equal(parts > 0, free)
    for j, i in np.argwhere(free[:, :-1] & free[:, 1:]):
        assert parts[j, i] == parts[j, i + 1]
        assert clear(free, i + 0.5, j + 0.5, 0.0, 1.0, 0.0)


def test_a_point_on_a_border_lies_in_the_allowed_part_beside_it() -> None:
    grid = Grid(~drawn(".#. .#."), 0.5)
    points = [(0.5, 0.25), (0.75, 0.25), (1.0, 0.5), (0.0, 0.0), (1.5, 1.0), (1.6, 0.5), (math.nan, 0.0)]
    assert grid.component_at(points, 0.0).tolist() == [1, 0, 2, 1, 2, 0, 0]
    assert Grid(~drawn(".# #."), 1.0).component_at([(1.0, 1.0)], 0.0).tolist() == [0]


def test_the_map_frame_and_the_grids_own_are_each_others_inverse() -> None:
    grid = Grid(np.zeros((4, 6), bool), 0.5, origin=(-3.0, 7.0), rotation=QUARTER)
    assert grid.size == (3.0, 2.0)
    assert grid.to_map([(0.0, 0.0), (3.0, 0.0)]) == pytest.approx(np.array([(-3.0, 7.0), (-3.0, 10.0)]))
    poses = np.array([(1.0, 0.5, 0.3), (2.0, 1.5, -1.0)])
    assert grid.to_map(poses)[:, 2] == pytest.approx(poses[:, 2] + QUARTER)
    assert grid.to_local(grid.to_map(poses)) == pytest.approx(poses)
    assert grid.to_local((-3.0, 10.0)) == pytest.approx((3.0, 0.0))


def test_a_grids_cells_cannot_be_changed_from_outside() -> None:
    cells = np.zeros((2, 2), bool)
    grid = Grid(cells, 1.0)
    cells[0, 0] = True
    assert not grid.blocked.any()
    for array in (grid.blocked, grid.free_cells(0.1), grid.components(0.1)):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((np.zeros((0, 3)), 1.0), "non-empty 2-D array"),
        ((np.zeros(3), 1.0), "non-empty 2-D array"),
        ((np.zeros((2, 2)), 0.0), "side of a cell"),
        ((np.zeros((2, 2)), math.nan), "side of a cell"),
        ((np.zeros((2, 2)), 11.0), "side of a cell"),
        ((np.zeros((2, 2)), 1e-9), "side of a cell"),
        ((np.zeros((2, 2)), 1.0, (math.inf, 0.0)), "finite"),
    ],
)
def test_a_grid_says_what_is_wrong_with_it(arguments, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadArgument, match=words):
        Grid(*arguments)


@pytest.mark.parametrize("radius", [-0.1, math.nan, math.inf])
def test_a_robots_radius_is_a_length(radius: float) -> None:
    with pytest.raises(BadArgument, match="radius"):
        Grid(np.zeros((2, 2), bool), 1.0).free_cells(radius)
