"""Distances over the ground, against exact ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument, NoRoute
from itinera.worlds.distance_field import DistanceField, snap_to_ground
from itinera.worlds.surface import Surface
from text_worlds import quick
from worlds.rooms import ROBOT, mapped, of_cells, room, storeys, turned
from worlds.taut import distances, grown, inside

CELL = 0.05


def furnished(seed: int) -> tuple[np.ndarray, list[np.ndarray], float]:
    """The size of a room, up to eight things in it at any angle, some in each other or the walls, and a radius."""
    rng = np.random.default_rng(seed)
    size = rng.uniform(4, 9, size=2)
    angles = rng.uniform(0, np.pi, size=rng.integers(1, 9)) * (seed % 3 > 0)
    things = [turned(*rng.choice([0.1, 0.4, 1.0, 2.5], 2), rng.uniform((0, 0), size), angle) for angle in angles]
    return size, things, (0.1, 0.18, 0.2)[seed % 3]


def well_inside(surface: Surface, seed: int, size: np.ndarray, things: list[np.ndarray], radius: float) -> np.ndarray:
    """Up to twelve places a robot of this radius can stand at, whatever is rounded."""
    places = surface.sample(np.random.default_rng(seed), 24, island=None)
    free = (places[:, :2] > radius).all(axis=1) & (places[:, :2] < size - radius).all(axis=1) & (places[:, 2] < 0.1)
    for thing in things:
        free &= ~inside(grown(thing, radius), places[:, :2])
    return places[free][:12]


def compared(seed: int) -> np.ndarray:
    """(4, n) distances of many pairs in a room: the surface's, exact, and exact for a robot a cell smaller, larger."""
    size, things, radius = furnished(seed)
    surface = Surface.from_mesh(room(*size, prisms=things), radius=radius, height=1.5)
    places = well_inside(surface, seed, size, things, radius + 1.5 * CELL)
    radii = radius, radius - 0.71 * CELL, radius + 1.5 * CELL
    exact = [distances(places[:, :2], size, things, r) for r in radii]
    pairs = np.triu_indices(len(places), 1)
    return np.array([table[pairs] for table in (surface.between(places, places), *exact)])


def assert_accurate(seeds: range) -> None:
    found, exact, smaller, larger = np.concatenate([compared(seed) for seed in seeds], axis=1)
    # Sure to hold: no shorter than for a robot that fits through more, no longer than for one that fits through less.
    assert (found >= smaller - 1e-6).all()
    assert (found <= 1.005 * larger + CELL).all()
    # Where the way does not hang on a gap about as wide as the robot.
    sound = np.isfinite(larger) & (larger < 1.03 * smaller + 0.1)
    assert sound.mean() > 0.6
    off = np.abs(found[sound] - exact[sound])
    assert (off <= 0.03 * exact[sound] + CELL).all()
    assert np.mean(off / exact[sound]) < 0.01


def test_distances_are_those_of_exact_geodesics_to_a_hundredth():
    assert_accurate(range(8))


@pytest.mark.slow
def test_distances_are_those_of_exact_geodesics_in_many_rooms():
    assert_accurate(range(8, 120))


cell_maps = (
    st.integers(2, 6)
    .flatmap(
        lambda wide: st.lists(st.lists(st.sampled_from("..#"), min_size=wide, max_size=wide), min_size=2, max_size=6)
    )
    .filter(lambda rows: any("." in row for row in rows))
)


@quick
@given(cell_maps, st.randoms(use_true_random=False))
def test_on_cells_distances_are_those_of_a_taut_string(rows, random):
    surface = of_cells(rows)
    free = [(x + 0.5, y + 0.5) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark == "."]
    places = np.array([(*random.choice(free), 0.0) for _ in range(6)])
    solid = [
        turned(1 + 1e-5, 1 + 1e-5, (x + 0.5, y + 0.5), 0.0)
        for y, row in enumerate(rows)
        for x in range(len(row))
        if row[x] == "#"
    ]
    exact = distances(places[:, :2], (len(rows[0]), len(rows)), solid, 0.0)
    found = surface.between(places, places)
    assert (np.isfinite(found) == np.isfinite(exact)).all()
    reached = np.isfinite(exact)
    assert (found[reached] >= exact[reached] - 1e-3).all()
    assert (found[reached] <= 1.005 * exact[reached] + 0.1).all()


def test_several_goals_are_as_far_as_the_nearest():
    surface = Surface.from_mesh(room(6, 4, boxes=[((2, 0, 0), (2.2, 3, 2))]), **ROBOT)
    goals, places = surface.sample(np.random.default_rng(1), 3), surface.sample(np.random.default_rng(2), 40)
    apart = surface.between(places, goals)
    together = surface.field(goals).distances(places)
    np.testing.assert_allclose(together, apart.min(axis=1), atol=0.01)


def test_what_a_field_says_does_not_depend_on_how_far_it_was_spread():
    surface = Surface.from_mesh(room(6, 4, boxes=[((2, 0, 0), (2.2, 3, 2)), ((4, 1, 0), (4.2, 4, 2))]), **ROBOT)
    places = snap_to_ground(surface.ground, surface.sample(np.random.default_rng(3), 30))
    whole = DistanceField.compute(surface.ground, places[:1]).lookup(places)[0]
    parts = [
        DistanceField.compute(surface.ground, places[:1], until=places[k : k + 1]).lookup(places[k : k + 1])[0][0]
        for k in range(30)
    ]
    np.testing.assert_array_equal(whole, parts)


def test_a_field_with_a_margin_reaches_so_much_farther_and_no_farther():
    surface = Surface.from_mesh(room(8, 2), **ROBOT)
    goal, until = (snap_to_ground(surface.ground, [(x, 1.0, 0.0)]) for x in (1.0, 3.0))
    places = snap_to_ground(surface.ground, [(x, 1.0, 0.0) for x in (3.0, 3.5, 4.5)])
    whole = DistanceField.compute(surface.ground, goal).lookup(places)[0]
    near = DistanceField.compute(surface.ground, goal, until=until).lookup(places)[0]
    far = DistanceField.compute(surface.ground, goal, until=until, margin=0.6).lookup(places)[0]
    assert near.tolist() == [whole[0], np.inf, np.inf]
    assert far.tolist() == [whole[0], whole[1], np.inf]


def test_a_field_has_a_goal():
    with pytest.raises(BadArgument, match="at least one goal"):
        mapped("..").field(np.empty((0, 3)))


def test_beyond_reach_is_infinitely_far():
    surface = mapped(".#.")
    field = surface.field([[0.5, 0.5, 0.0]])
    np.testing.assert_array_equal(field.distances([[0.5, 0.5, 0.0], [2.5, 0.5, 0.0]]), [0.0, np.inf])
    with pytest.raises(NoRoute, match="different islands"):
        field.route(snap_to_ground(surface.ground, [[2.5, 0.5, 0.0]]))


def test_stairs_count_by_the_length_of_their_slope():
    surface = Surface.from_mesh(storeys(), **ROBOT)
    foot, head = [1.5, 0.5, 0.0], [5.5, 0.5, 2.7]
    assert surface.between([foot], [head])[0, 0] == pytest.approx(0.5 + np.hypot(3.0, 2.7) + 0.5, rel=0.02)


def test_the_field_of_a_storey_reaches_the_other_by_the_stairs_only():
    with_stairs, without = (Surface.from_mesh(storeys(stairs=stairs), **ROBOT) for stairs in (True, False))
    below, above = [[7.0, 3.0, 0.0]], [[7.0, 3.0, 2.7]]
    # At least to the foot of the stairs, up, and back from their head.
    assert with_stairs.between(below, above)[0, 0] > 5.0 + np.hypot(3.0, 2.7) + 2.0
    assert without.between(below, above)[0, 0] == np.inf
