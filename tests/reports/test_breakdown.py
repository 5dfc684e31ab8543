"""Groups of episodes and kinds of failure: every episode once, each where it belongs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from itinera.records import EpisodeInfo
from itinera.reports import breakdown
from itinera.reports.breakdown import (
    classify_failures,
    compute_tour_gain,
    find_unsolved,
    group_by_length,
    group_by_scene,
    group_by_tour_position,
)
from itinera.tasks import PROTOCOLS
from reports.example_results import changed, make_benchmark, make_scores


def test_every_episode_is_in_one_slice():
    found = make_benchmark(make_scores(0.8, toured=True), make_scores(0.4, toured=True))
    column = found.primary_metric
    for slices in (
        group_by_scene(found, column).slices,
        group_by_length(found, column).slices,
        group_by_tour_position(found, column).slices,
    ):
        assert sum(one.episodes for one in slices) == found.episodes
        total = sum(one.episodes * one.means[0].mean for one in slices)
        assert total / found.episodes == pytest.approx(found.tables[0]["SR"].mean())


def test_scenes_stand_hardest_first():
    found = make_benchmark(make_scores(0.8), make_scores(0.4))
    together = [
        round(np.mean([mean.mean for mean in one.means]), 9)
        for one in group_by_scene(found, found.primary_metric).slices
    ]
    assert together == sorted(together)


def test_lengths_fall_with_what_is_hard_on_long_ways():
    found = make_benchmark(changed(make_scores(0.8), SR=make_scores(0.8).episode_info.reference_lengths < 15))
    means = [one.means[0].mean for one in group_by_length(found, found.primary_metric).slices]
    assert (means[0], means[-1]) == (1.0, 0.0)
    labels = [one.label for one in group_by_length(found, found.primary_metric).slices]
    assert labels[0].startswith("under ")
    assert labels[-1].endswith(" or more")


def test_bundles_that_do_not_tell_lengths_have_no_such_breakdown():
    found = make_benchmark(replace(make_scores(0.8), episode_info=None))
    assert group_by_length(found, found.primary_metric) is None
    assert group_by_tour_position(found, found.primary_metric) is None
    assert classify_failures(found, 0).kinds.keys() <= {*breakdown.KINDS}


def test_legs_are_counted_from_one():
    found = make_benchmark(make_scores(0.8, toured=True))
    labels = [one.label for one in group_by_tour_position(found, found.primary_metric).slices]
    assert labels[:5] == ["1", "2", "3", "4 – 5", "6 – 8"]


def test_learning_along_a_tour_is_a_gain():
    table = make_scores(0.5, toured=True)
    learner = make_benchmark(
        changed(table, SR=table.episode_info.tour_positions > table.episode_info.tour_positions.max() / 2)
    )
    gain = compute_tour_gain(learner, learner.primary_metric, 0)
    assert (gain.mean, gain.low) == (1.0, 1.0)
    flat = make_benchmark(changed(table, SR=1.0))
    assert compute_tour_gain(flat, flat.primary_metric, 0).mean == 0.0
    assert compute_tour_gain(make_benchmark(make_scores(0.5)), flat.primary_metric, 0) is None


KIND_OF = {
    breakdown.MISSING: {"missing": True},
    breakdown.FELL: {"FR": 1.0},
    breakdown.STUCK: {"StR": 1.0},
    breakdown.NEVER_LEFT: {"PL": 0.0},
    breakdown.NO_STOP: {"NE": 1.0, "protocol": replace(PROTOCOLS["r2r"], needs_stop=True)},
    breakdown.OVERSHOT: {"OSR": 1.0},
    breakdown.OUT_OF_STEPS: {"steps": 15.0},
    breakdown.CLOSER: {"NE": 5.0},
    breakdown.NO_CLOSER: {"NE": 11.0},
    breakdown.ELSEWHERE: {"NE": 5.0, "episode_info": None},
}


@pytest.mark.parametrize("kind", breakdown.KINDS)
def test_failures_are_told_by_kind(kind):
    facts = dict(KIND_OF[kind])
    count = 4
    table = make_scores(0.5, episodes=count, scenes=2)
    values = {"SR": 0.0, "OSR": 0.0, "PL": 9.0, "NE": 5.0, "steps": 4.0, "FR": 0.0, "StR": 0.0}
    values |= {name: facts.pop(name) for name in list(facts) if name in values}
    asked = EpisodeInfo(np.full(count, 10.0), np.full(count, 10.0), ("",) * count, np.full(count, -1))
    table = replace(changed(table, **values), episode_info=asked)
    if facts.pop("missing", False):
        table = replace(table, missing=np.ones(count, dtype=bool))
    found = classify_failures(make_benchmark(replace(table, **facts)), 0)
    assert {name: len(rows) for name, rows in found.kinds.items()} == {kind: count}


def test_every_episode_succeeds_or_fails_in_one_way():
    found = make_benchmark(make_scores(0.6), make_scores(0.2))
    for agent in range(2):
        failures = classify_failures(found, agent)
        assert failures.succeeded + failures.total == found.episodes
        assert len(set(np.concatenate(list(failures.kinds.values())).tolist())) == failures.total


def test_what_nobody_solves_is_what_all_fail():
    one, other = make_scores(0.6), make_scores(0.2)
    assert (
        find_unsolved(make_benchmark(one, other)).tolist()
        == np.flatnonzero((one["SR"] == 0) & (other["SR"] == 0)).tolist()
    )
