"""RRT*-Unicycle: the same tree as in plain Python, true costs, clear paths, the authors' rules where asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.planners.motion.dynamics import Dynamics, holonomic, point_turn, unicycle
from itinera.planners.motion.local_search import optimize_drive
from itinera.planners.motion.rrt_star import Tree, plan_with_trees, released_inflation, rrt_star
from itinera.seeding import generator
from planners.floors import ROOMS, grid, way
from planners.plain_rrt import plain_tree

RADIUS = 0.2
FLOOR = grid(ROOMS)
ALLOWED = FLOOR.free_cells(RADIUS)
START, GOAL = np.array([1.0, 1.0, 2.0]), np.array([8.0, 5.0])
WAY = way(ALLOWED, FLOOR.resolution, START, GOAL)
QUICK = unicycle(0.5, math.radians(40))


def tree(dynamics: Dynamics = QUICK, **options) -> Tree:
    options = {"hints": WAY, "nodes": 600, **options}
    return rrt_star(FLOOR, START, GOAL, dynamics, radius=RADIUS, **options)


@pytest.mark.parametrize(("seed", "released"), [(0, False), (1, False), (2, True)])
def test_the_same_random_numbers_give_the_tree_of_plain_python(seed, released):
    grown = tree(nodes=250, seed=seed, released=released)
    state = int(generator(seed, "rrt").integers(1, 2**63, size=1, dtype=np.uint64)[0])
    plain = plain_tree(
        ALLOWED, FLOOR.resolution, START, GOAL, [*WAY, GOAL],
        vmax=QUICK.vmax, wmax=QUICK.wmax, state=state, most=250, draws=7500, released=released,
    )  # fmt: skip
    assert np.allclose(grown.places, np.array(plain.poses)[:, :2], atol=1e-9)
    assert grown.parents.tolist() == plain.parents
    assert np.allclose(grown.seconds, plain.seconds, atol=1e-6)
    assert np.allclose(grown.history, plain.history, atol=1e-6)
    assert grown.path.tolist() == plain.path[::-1]


@pytest.mark.parametrize("dynamics", [QUICK, unicycle(reverse=True), point_turn(), holonomic()])
@pytest.mark.parametrize("goal_radius", [0.0, 0.2])
def test_the_path_is_clear_and_takes_as_long_as_the_tree_says(dynamics, goal_radius):
    grown = tree(dynamics, goal_radius=goal_radius)
    assert grown.drive.is_collision_free(FLOOR, RADIUS)
    assert math.dist(grown.drive.poses[-1, :2], GOAL) <= goal_radius + 1e-9
    assert grown.drive.duration(dynamics) == pytest.approx(grown.history[-1, 1], abs=1e-6)
    assert (np.diff(grown.history[np.isfinite(grown.history[:, 1]), 1]) <= 1e-9).all()


def test_every_node_costs_what_the_legs_from_its_parent_take():
    grown = tree()
    assert grown.parents[0] == -1
    assert grown.path[0] == 0
    assert (np.hypot(*(grown.places[1:] - grown.places[grown.parents[1:]]).T) <= 1.5 + 1e-9).all()
    gaps = grown.seconds[1:] - grown.seconds[grown.parents[1:]]
    assert (gaps >= np.hypot(*(grown.places[1:] - grown.places[grown.parents[1:]]).T) / QUICK.vmax - 1e-9).all()


def test_a_tree_depends_on_its_seed_alone():
    first, again, other = tree(seed=4), tree(seed=4), tree(seed=5)
    assert np.array_equal(first.places, again.places)
    assert np.array_equal(first.seconds, again.seconds)
    assert not np.array_equal(first.places, other.places)


def test_without_hints_the_goal_is_one():
    assert tree(hints=None, nodes=2000).drive is not None


def test_several_trees_and_a_polish_agree_with_the_polished_way():
    several = plan_with_trees(FLOOR, START, GOAL, QUICK, hints=WAY, trees=2, nodes=600)
    polished = optimize_drive(FLOOR, START, GOAL, QUICK, WAY)
    assert several.is_collision_free(FLOOR, RADIUS)
    assert several.duration(QUICK) <= tree().drive.duration(QUICK) + 1e-9
    assert several.duration(QUICK) == pytest.approx(polished.duration(QUICK), rel=0.01)


def test_what_cannot_be_reached_has_no_path():
    closed = grid("#####\n#.#.#\n#####", size=0.5)
    query = closed, (0.75, 0.75, 0.0), (1.75, 0.75), QUICK
    grown = rrt_star(*query, radius=0.0, nodes=60)
    assert grown.drive is None
    assert len(grown.path) == 0
    assert np.isinf(grown.history[:, 1]).all()
    assert plan_with_trees(*query, radius=0.0, nodes=60, trees=2) is None


def test_a_car_finds_a_way_without_pivots():
    car = Dynamics("car", 0.5, math.radians(90), min_radius=0.4, can_pivot=False)
    grown = tree(car, nodes=1500)
    assert np.isfinite(grown.drive.duration(car))
    assert grown.drive.is_collision_free(FLOOR, RADIUS)


def test_released_inflation_halves_the_radius_and_lets_one_out_at_the_border():
    blocked = np.zeros((41, 41), dtype=bool)
    blocked[20, 20] = True
    allowed = released_inflation(blocked, 0.01, 0.05)
    assert not allowed[18:23, 18:23].any()
    assert allowed.sum() == 41 * 41 - 25
    assert allowed[0].all()
    # An even side reaches further to one side: left and up, where their pictures begin.
    even = ~released_inflation(blocked, 0.01, 0.04)
    assert np.argwhere(even).min(axis=0).tolist() == [18, 19]
    assert np.argwhere(even).max(axis=0).tolist() == [21, 22]


def test_bad_questions_are_refused():
    with pytest.raises(BadArgument, match="at least 1"):
        tree(nodes=0)
    with pytest.raises(BadArgument, match="start must be"):
        rrt_star(FLOOR, np.zeros(2), GOAL, QUICK)
