"""Groups of episodes and kinds of failure: every episode once, each where it belongs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from itinera.records import Asked
from itinera.reports import breakdown
from itinera.reports.breakdown import by_leg, by_length, by_scene, failures, gain_along_tours, nobody_solved
from itinera.tasks import PROTOCOLS
from reports.contests_of import changed, contest, made_up


def test_every_episode_is_in_one_slice():
    found = contest(made_up(0.8, toured=True), made_up(0.4, toured=True))
    column = found.leading
    for slices in (by_scene(found, column).slices, by_length(found, column).slices, by_leg(found, column).slices):
        assert sum(one.episodes for one in slices) == found.episodes
        total = sum(one.episodes * one.means[0].mean for one in slices)
        assert total / found.episodes == pytest.approx(found.tables[0]["SR"].mean())


def test_scenes_stand_hardest_first():
    found = contest(made_up(0.8), made_up(0.4))
    together = [round(np.mean([mean.mean for mean in one.means]), 9) for one in by_scene(found, found.leading).slices]
    assert together == sorted(together)


def test_lengths_fall_with_what_is_hard_on_long_ways():
    found = contest(changed(made_up(0.8), SR=made_up(0.8).asked.lengths < 15))
    means = [one.means[0].mean for one in by_length(found, found.leading).slices]
    assert (means[0], means[-1]) == (1.0, 0.0)
    labels = [one.label for one in by_length(found, found.leading).slices]
    assert labels[0].startswith("under ")
    assert labels[-1].endswith(" and more")


def test_bundles_that_do_not_tell_lengths_have_no_such_breakdown():
    found = contest(replace(made_up(0.8), asked=None))
    assert by_length(found, found.leading) is None
    assert by_leg(found, found.leading) is None
    assert failures(found, 0).kinds.keys() <= {*breakdown.KINDS}


def test_legs_are_counted_from_one():
    found = contest(made_up(0.8, toured=True))
    labels = [one.label for one in by_leg(found, found.leading).slices]
    assert labels[:5] == ["1", "2", "3", "4 – 5", "6 – 8"]


def test_learning_along_a_tour_is_a_gain():
    table = made_up(0.5, toured=True)
    learner = contest(changed(table, SR=table.asked.legs > table.asked.legs.max() / 2))
    gain = gain_along_tours(learner, learner.leading, 0)
    assert (gain.mean, gain.low) == (1.0, 1.0)
    flat = contest(changed(table, SR=1.0))
    assert gain_along_tours(flat, flat.leading, 0).mean == 0.0
    assert gain_along_tours(contest(made_up(0.5)), flat.leading, 0) is None


KIND_OF = {
    breakdown.NOT_ANSWERED: {"missing": True},
    breakdown.NEVER_LEFT: {"PL": 0.0},
    breakdown.NO_STOP: {"NE": 1.0, "protocol": replace(PROTOCOLS["r2r"], needs_stop=True)},
    breakdown.PASSED: {"OSR": 1.0},
    breakdown.OUT_OF_STEPS: {"steps": 15.0},
    breakdown.NEARER: {"NE": 5.0},
    breakdown.NO_NEARER: {"NE": 11.0},
    breakdown.ELSEWHERE: {"NE": 5.0, "asked": None},
}


@pytest.mark.parametrize("kind", breakdown.KINDS)
def test_failures_are_told_by_kind(kind):
    facts = dict(KIND_OF[kind])
    count = 4
    table = made_up(0.5, episodes=count, scenes=2)
    values = {"SR": 0.0, "OSR": 0.0, "PL": 9.0, "NE": 5.0, "steps": 4.0}
    values |= {name: facts.pop(name) for name in list(facts) if name in values}
    asked = Asked(np.full(count, 10.0), np.full(count, 10.0), ("",) * count, np.full(count, -1))
    table = replace(changed(table, **values), asked=asked)
    if facts.pop("missing", False):
        table = replace(table, missing=np.ones(count, dtype=bool))
    found = failures(contest(replace(table, **facts)), 0)
    assert {name: len(rows) for name, rows in found.kinds.items()} == {kind: count}


def test_every_episode_succeeds_or_fails_in_one_way():
    found = contest(made_up(0.6), made_up(0.2))
    for agent in range(2):
        told = failures(found, agent)
        assert told.succeeded + told.total == found.episodes
        assert len(set(np.concatenate(list(told.kinds.values())).tolist())) == told.total


def test_what_nobody_solves_is_what_all_fail():
    one, other = made_up(0.6), made_up(0.2)
    assert nobody_solved(contest(one, other)).tolist() == np.flatnonzero((one["SR"] == 0) & (other["SR"] == 0)).tolist()
