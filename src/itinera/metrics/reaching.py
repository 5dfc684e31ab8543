"""Did it get there? Errors in metres and successes as 0 or 1, one per attempt."""

from __future__ import annotations

from itinera.metrics.attempts import Attempts
from itinera.worlds import Array


def navigation_error(attempts: Attempts) -> Array:
    """Distance from where the agent ended to the nearest goal, metres (NE)."""
    return attempts.to_goal.lasts().astype(float)


def oracle_error(attempts: Attempts) -> Array:
    """Least distance from any place walked, the start included, to the nearest goal, metres (ONE)."""
    return attempts.to_goal.minima()


def success(attempts: Attempts, *, radius: float, inclusive: bool = True, needs_stop: bool = False) -> Array:
    """1 where the agent ended within the radius of a goal (SR).

    `inclusive` counts a distance of exactly the radius, as the papers define it; most released code does not.
    `needs_stop` also asks that the agent said it was done.
    """
    near = _within(navigation_error(attempts), radius, inclusive)
    return near * attempts.stopped if needs_stop else near


def oracle_success(attempts: Attempts, *, radius: float, inclusive: bool = True) -> Array:
    """1 where the agent ever came within the radius of a goal (OSR)."""
    return _within(oracle_error(attempts), radius, inclusive)


def _within(distance: Array, radius: float, inclusive: bool) -> Array:
    return (distance <= radius if inclusive else distance < radius).astype(float)
