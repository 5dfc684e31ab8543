"""Walks done again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from itinera.formats import native_predictions
from itinera.records import Ending, Predictions, Rollout
from itinera.runs.replay import replay_all, replay_rollout
from itinera.runs.rollout import rollout
from itinera.simulators.graph import GraphSimulator
from itinera.tasks import Instruction, Tour
from itinera.tasks.protocol import IVLN
from scripted_agents import Misbehaving, Wanderer
from text_worlds import STREET, episode, world

HOUSE = world(STREET)
EPISODES = tuple(
    episode(str(k), reference, instruction=Instruction(word))
    for k, (reference, word) in enumerate([("abc", "walk"), ("ef", "crash"), ("ab", "walk"), ("fed", "walk")])
)


def done(agent=None, protocol=IVLN):
    tour = Tour("tour", "house", tuple(e.id for e in EPISODES))
    return rollout(agent or Misbehaving(), GraphSimulator(), HOUSE, tour, EPISODES, protocol=protocol, seed=3)


def again(stored, protocol=IVLN):
    return replay_rollout(stored, GraphSimulator(), HOUSE, EPISODES, protocol=protocol)


def changed(stored, number, **fields):
    trajectories = list(stored.trajectories)
    trajectories[number] = replace(trajectories[number], **fields)
    return Rollout(stored.tour_id, tuple(trajectories))


def test_a_walk_as_it_was_has_no_differences(tmp_path):
    for limit in (None, 2):
        protocol = replace(IVLN, step_limit=limit)
        stored = done(protocol=protocol)
        assert stored.trajectories[1].ending is Ending.FAILED
        native_predictions.write_predictions(tmp_path / "walks.jsonl", Predictions("", (stored,), protocol))
        read = native_predictions.read_predictions(tmp_path / "walks.jsonl").rollouts
        assert [
            *replay_all(read, GraphSimulator(), {"house": HOUSE}, {e.id: e for e in EPISODES}, protocol=protocol)
        ] == [()]


def test_a_changed_place_is_pinpointed():
    stored = done(Wanderer())
    number = max(range(4), key=lambda k: len(stored.trajectories[k].acting_places))
    places = stored.trajectories[number].places
    (found,) = again(changed(stored, number, places=(*places[:-1], "x")))
    assert (found.episode_id, found.step, found.field) == (str(number), len(places) - 1, "places")
    assert (found.stored, found.found) == ("x", places[-1])
    assert str(found) == f'episode "{number}", step {len(places) - 1}, places: stored x, found {places[-1]}'


def test_a_changed_action_leads_elsewhere():
    stored = done(Wanderer())
    at = next(
        t
        for t in range(4)
        if (stored.trajectories[t].actions[-1:] > 0).all() and len(stored.trajectories[t].acting_places) > 1
    )
    trajectory = stored.trajectories[at]
    actions = trajectory.actions.copy()
    led = [k for k, phase in enumerate(trajectory.phases or ()) if phase.value == "guided to start"]
    actions[len(led)] = 9
    found = again(changed(stored, at, actions=actions))
    assert found[0].episode_id == str(at)
    assert found[0].step == len(led)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"headings": np.zeros(1) + 0.001}, "headings"),
        ({"ending": Ending.OUT_OF_STEPS}, "ending"),
        ({"ending": Ending.FELL}, "ending"),
        ({"ending": Ending.STUCK}, "ending"),
        (
            {"places": ("e", "a"), "headings": np.zeros(2), "elevations": np.zeros(2), "actions": np.array([1])},
            "places",
        ),
    ],
)
def test_whatever_is_changed_is_named(fields, field):
    stored = rollout(
        Misbehaving(), GraphSimulator(), HOUSE, Tour("t", "house", ("1",)), EPISODES[1:2], protocol=IVLN, seed=1
    )
    whole = replay_rollout(changed(stored, 0, **fields), GraphSimulator(), HOUSE, EPISODES[1:2], protocol=IVLN)
    assert [difference.field for difference in whole] == [field]


def test_a_walk_by_another_protocol_ends_elsewhere():
    stored = done(Wanderer(), replace(IVLN, step_limit=2))
    assert any(difference.stored == "out of steps" for difference in again(stored, replace(IVLN, step_limit=9)))


def test_rounding_below_the_tolerance_is_no_difference():
    stored = done()
    headings = stored.trajectories[0].headings + 1e-8
    assert again(changed(stored, 0, headings=headings)) == ()
