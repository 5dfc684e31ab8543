"""Where an agent's probability goes, for figures: by path length, by angle, by distance to a room.

Shares leave out stopping, unless they are of it.
Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents, figures 2 to 8.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from itinera.records.action_probabilities import Leaning
from itinera.skills.analysis import USUAL, Analysis, over_scenes
from itinera.skills.objects import angular_errors
from itinera.skills.responses import Answers, Arm
from itinera.skills.rooms import changes
from itinera.stats import Interval
from itinera.tasks import Split
from itinera.worlds import Array, NavGraph, World

TURN_EDGES = np.arange(-180, 181, 10.0)  # degrees to the left of where the agent faces
ERROR_EDGES = np.arange(0, 181, 10.0)  # degrees aside of the object
CHANGE_EDGES = np.arange(-5, 5.01, 0.5)  # metres nearer to the room
LENGTHS = 20  # nodes; few walks are longer
AHEAD = 0.1  # radians, see `forward_biased`


@dataclass(frozen=True, eq=False)
class Spread:
    """How the probability of moving is spread over bins; the shares sum to 1, or are all 0 where nobody moves."""

    edges: Array  # (bins + 1,)
    shares: Array  # (bins,)
    stopping: float  # the mean probability of stopping instead


def stop_by_length(answers: Answers, how: Analysis = USUAL) -> dict[str, dict[int, Interval]]:
    """By arm and number of nodes walked, the mean probability of stopping."""
    found: dict[str, dict[int, Interval]] = {}
    for name, arm in answers.arms.items():
        lengths = arm.lengths
        found[name] = {}
        for length in np.unique(lengths[lengths <= LENGTHS]).tolist():
            rows = arm.take(np.flatnonzero(lengths == length))
            found[name][length] = over_scenes(rows.response, rows, how, (0.0, 1.0), "length", name, str(length))
    return found


def turns(arm: Arm) -> Spread:
    """Over angles to the left of where the agent faced, degrees."""
    return _spread(arm, [np.degrees(leaning.relative) for leaning in arm.leanings], TURN_EDGES)


def object_errors(arm: Arm) -> Spread:
    """Over angles between the way taken and the object, degrees."""
    return _spread(arm, [angular_errors(t, a) for t, a in zip(arm.trials, arm.leanings, strict=True)], ERROR_EDGES)


def room_changes(arm: Arm, worlds: Mapping[str, World]) -> Spread:
    """Over how much nearer to the room each way leads, metres."""
    return _spread(
        arm,
        [changes(t, a, worlds[t.episode.world_id]) for t, a in zip(arm.trials, arm.leanings, strict=True)],
        CHANGE_EDGES,
    )


def forward_biased(arm: Arm) -> Arm:
    """The same trials answered by someone who only prefers what lies ahead: a way's weight is 1 / (0.1 + radians)."""

    def answered(leaning: Leaning) -> Leaning:
        weights = 1 / (AHEAD + np.abs(leaning.relative))
        return replace(leaning, probabilities=np.concatenate([[0.0], weights / weights.sum()]))

    return replace(arm, leanings=tuple(map(answered, arm.leanings)))


def stopped_at_once(answers: Answers, arm: Arm, worlds: Mapping[str, World]) -> Array:
    """(n,) the response had the agent stayed where it was asked, for skills in which it goes on."""
    respond = answers.skill.response
    return np.array(
        [
            respond(trial, replace(leaning, walked=(trial.last,)), worlds[trial.episode.world_id])
            for trial, leaning in zip(arm.trials, arm.leanings, strict=True)
        ]
    )


def heading_changes(split: Split, worlds: Mapping[str, World]) -> Array:
    """Degrees turned from each edge of each path to the next, all paths together."""
    turned = []
    for path, world_id in {(tuple(e.reference), e.world_id): None for e in split.episodes}:
        graph = worlds[world_id].space
        assert isinstance(graph, NavGraph)
        headings = [graph.heading(str(a), str(b)) for a, b in pairwise(path)]
        turned += [abs(math.remainder(b - a, math.tau)) for a, b in pairwise(headings)]
    return np.degrees(turned)


def _spread(arm: Arm, values: list[Array], edges: Array) -> Spread:
    flat = np.concatenate(values) if values else np.empty(0)
    weights = np.concatenate([leaning.moves for leaning in arm.leanings]) if values else np.empty(0)
    # What lies beyond the last bins belongs to them; angles of exactly 180 are in the last.
    shares, _ = np.histogram(np.clip(flat, edges[0], edges[-1]), edges, weights=weights)
    total = shares.sum()
    stopping = float(np.mean([leaning.stop for leaning in arm.leanings])) if values else math.nan
    return Spread(edges, shares / total if total > 0 else shares, stopping)
