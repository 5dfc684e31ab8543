"""Histograms of an agent's action probability, for figures: by path length, by angle, by distance to a room.

Shares are of the probability of moving, unless they are of stopping.
Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents, figures 2 to 8.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from itinera.records.action_probabilities import ActionDistribution
from itinera.skills.analysis import DEFAULT_CONFIG, AnalysisConfig, mean_over_scenes
from itinera.skills.objects import angular_errors
from itinera.skills.responses import ArmResponses, SkillResponses
from itinera.skills.rooms import distance_changes
from itinera.stats import Interval
from itinera.tasks import Split
from itinera.worlds import Array, NavGraph, World

TURN_EDGES = np.arange(-180, 181, 10.0)  # degrees to the left of the agent's heading
ERROR_EDGES = np.arange(0, 181, 10.0)  # degrees between candidate and object
CHANGE_EDGES = np.arange(-5, 5.01, 0.5)  # metres nearer to the room
MAX_LENGTH = 20  # nodes; few paths are longer
FORWARD_OFFSET = 0.1  # radians, see `forward_baseline`


@dataclass(frozen=True, eq=False)
class Histogram:
    """The probability of moving over bins; the shares sum to 1, or are all 0 if no agent moves."""

    edges: Array  # (bins + 1,)
    shares: Array  # (bins,)
    stop_probability: float  # the mean probability of stopping instead


def stop_probability_by_length(
    responses: SkillResponses, config: AnalysisConfig = DEFAULT_CONFIG
) -> dict[str, dict[int, Interval]]:
    """The mean probability of stopping, by arm and number of nodes of the path."""
    means: dict[str, dict[int, Interval]] = {}
    for name, arm in responses.arms.items():
        lengths = arm.lengths
        means[name] = {}
        for length in np.unique(lengths[lengths <= MAX_LENGTH]).tolist():
            rows = arm.take(np.flatnonzero(lengths == length))
            means[name][length] = mean_over_scenes(rows.response, rows, config, (0.0, 1.0), "length", name, str(length))
    return means


def turn_histogram(arm: ArmResponses) -> Histogram:
    """Over angles to the left of the agent's heading, degrees."""
    return _histogram(arm, [np.degrees(one.relative_headings) for one in arm.distributions], TURN_EDGES)


def object_error_histogram(arm: ArmResponses) -> Histogram:
    """Over angles between candidate and object, degrees."""
    errors = [angular_errors(t, d) for t, d in zip(arm.trials, arm.distributions, strict=True)]
    return _histogram(arm, errors, ERROR_EDGES)


def room_change_histogram(arm: ArmResponses, worlds: Mapping[str, World]) -> Histogram:
    """Over the decrease of the distance to the room, metres."""
    pairs = zip(arm.trials, arm.distributions, strict=True)
    return _histogram(arm, [distance_changes(t, d, worlds[t.episode.world_id]) for t, d in pairs], CHANGE_EDGES)


def forward_baseline(arm: ArmResponses) -> ArmResponses:
    """The same trials with the distribution of an agent that only prefers forward candidates.

    The weight of a candidate is 1 / (0.1 + radians aside).
    """

    def prefer_forward(distribution: ActionDistribution) -> ActionDistribution:
        weights = 1 / (FORWARD_OFFSET + np.abs(distribution.relative_headings))
        return replace(distribution, probabilities=np.concatenate([[0.0], weights / weights.sum()]))

    return replace(arm, distributions=tuple(map(prefer_forward, arm.distributions)))


def responses_if_stopped(responses: SkillResponses, arm: ArmResponses, worlds: Mapping[str, World]) -> Array:
    """(n,) the response if the agent had stayed at the truncation point, for skills with a greedy rollout."""
    respond = responses.skill.response
    return np.array(
        [
            respond(trial, replace(distribution, greedy_path=(trial.probe_node,)), worlds[trial.episode.world_id])
            for trial, distribution in zip(arm.trials, arm.distributions, strict=True)
        ]
    )


def heading_changes(split: Split, worlds: Mapping[str, World]) -> Array:
    """The change of heading from each edge of each path to the next, degrees, all paths together."""
    turns = []
    for path, world_id in {(tuple(e.reference), e.world_id): None for e in split.episodes}:
        graph = worlds[world_id].space
        assert isinstance(graph, NavGraph)
        headings = [graph.heading(str(a), str(b)) for a, b in pairwise(path)]
        turns += [abs(math.remainder(b - a, math.tau)) for a, b in pairwise(headings)]
    return np.degrees(turns)


def _histogram(arm: ArmResponses, values: list[Array], edges: Array) -> Histogram:
    flat = np.concatenate(values) if values else np.empty(0)
    weights = np.concatenate([one.moves for one in arm.distributions]) if values else np.empty(0)
    # Values beyond the outer bins are counted in them; angles of exactly 180 are in the last.
    shares, _ = np.histogram(np.clip(flat, edges[0], edges[-1]), edges, weights=weights)
    total = shares.sum()
    stop = float(np.mean([one.stop for one in arm.distributions])) if values else math.nan
    return Histogram(edges, shares / total if total > 0 else shares, stop)
