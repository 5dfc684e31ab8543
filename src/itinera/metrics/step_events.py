"""Metrics of single steps and of endings: collisions, falls, getting stuck, and following a moving target.

They read what the record says (`StepEvents`), not the path. Where a record does not say it, and for a missing
trajectory, a value is undefined: nobody is credited with collisions that were not logged.
"""

from __future__ import annotations

import numpy as np

from itinera.metrics.attempts import Attempts
from itinera.metrics.goal import ratio, steps
from itinera.records.predictions import StepEvents
from itinera.worlds import Array


def collision_count(attempts: Attempts) -> Array:
    """(n,) the number of actions that hit something (collisions)."""
    return _events(attempts).collisions


def collision_rate(attempts: Attempts) -> Array:
    """(n,) the share of actions that hit something (CR_steps); 0 for an episode without actions.

    STOP is no such action. ETPNav's code divides by the number of places, one more than actions.
    """
    events = _events(attempts)
    return np.where(np.isnan(events.collisions), np.nan, ratio(events.collisions, events.steps, 0.0))


def any_collision(attempts: Attempts) -> Array:
    """(n,) 1 where some action hit something, else 0 (CR_episodes, the collision rate of EVT-Bench)."""
    collisions = _events(attempts).collisions
    return np.where(np.isnan(collisions), np.nan, collisions > 0)


def fall(attempts: Attempts) -> Array:
    """(n,) 1 where the episode ended with a fall, else 0; its mean is the fall rate (FR)."""
    return _events(attempts).fell


def stuck(attempts: Attempts) -> Array:
    """(n,) 1 where the episode ended because the agent was stuck, else 0; its mean is the stuck rate (StR)."""
    return _events(attempts).stuck


def tracking_rate(attempts: Attempts) -> Array:
    """(n,) the share of steps after which the agent followed its target (TR); undefined without steps.

    The mean over episodes is pooled over steps, as EVT-Bench's: weigh each episode by `tracked_steps`.
    Reference: Wang et al. 2025, TrackVLA: Embodied Visual Tracking in the Wild.
    """
    events = _events(attempts)
    return np.where(np.isnan(events.followed), np.nan, ratio(events.followed, events.steps, np.nan))


def tracked_steps(attempts: Attempts) -> Array:
    """(n,) the number of steps of which the record says whether the agent followed its target, 0 where it does not."""
    events = _events(attempts)
    return np.where(np.isnan(events.followed), 0.0, events.steps)


def _events(attempts: Attempts) -> StepEvents:
    if attempts.events is not None:
        return attempts.events
    unknown = np.full(len(attempts), np.nan)
    none = np.where(attempts.missing, np.nan, 0.0)  # files that do not say how an episode ended are read as stopped
    return StepEvents(steps(attempts), unknown, unknown, none, none)
