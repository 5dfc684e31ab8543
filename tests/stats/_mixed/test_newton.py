import numpy as np
import pytest

from itinera.stats._mixed.newton import derivatives, minimize


def valley(points):
    """Rosenbrock's curved valley, lowest at (1, 1)."""
    x, y = points.T
    return 100 * (y - x**2) ** 2 + (1 - x) ** 2


def two_bottoms(points):
    """A saddle at (0, 0) between bottoms at (±1, 0)."""
    x, y = points.T
    return (x**2 - 1) ** 2 + y**2


def test_derivatives_of_numbers_and_of_arrays_are_those_of_calculus():
    point = np.array([0.7, -1.2])
    value, slope, bend = derivatives(valley, point)
    x, y = point
    assert value == pytest.approx(valley(point[None])[0])
    assert slope == pytest.approx([-400 * x * (y - x**2) - 2 * (1 - x), 200 * (y - x**2)], rel=1e-5)
    assert bend == pytest.approx(np.array([[1200 * x**2 - 400 * y + 2, -400 * x], [-400 * x, 200]]), rel=1e-5)
    _, slopes, bends = derivatives(lambda points: np.stack([valley(points), two_bottoms(points)], axis=1), point)
    assert slopes[0] == pytest.approx(slope)
    assert bends[1] == pytest.approx(np.diag([12 * x**2 - 4, 2]), rel=1e-4, abs=1e-6)


def test_a_curved_valley_is_followed_to_its_bottom():
    bottom = minimize(valley, np.array([-1.2, 1.0]))
    assert bottom.converged
    assert bottom.point == pytest.approx([1, 1], abs=1e-4)


def test_a_search_that_begins_on_a_saddle_leaves_it():
    bottom = minimize(two_bottoms, np.array([0.0, 0.4]))
    assert bottom.converged
    assert np.abs(bottom.point) == pytest.approx([1, 0], abs=1e-4)


def test_a_function_without_a_bottom_is_told():
    assert not minimize(lambda points: -points[:, 0], np.array([1.0]), most_steps=20).converged
