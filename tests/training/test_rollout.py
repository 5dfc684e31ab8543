"""Roll-outs of many are what simulator, agent and walk make of each alone, step by step."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.policies.agent import Walker
from itinera.policies.tokenizer import Vocabulary
from itinera.records import Ending
from itinera.runs.rollout import walk
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.view_features import annotated_views, frequent_names
from itinera.tasks import Tour
from itinera.tasks.protocol import R2R
from itinera.training import rollout
from itinera.training.dataset import lessons_of
from itinera.training.experts import along_path, to_goal
from itinera.training.rollout import Mixed, Sampled, as_taught, greedy, roll_out
from itinera.training.vector_env import atlas_of
from training.pupils import COLUMNS, WORDS, Numbered, School, Watched, of_walker, pupil, schools

LIMIT = 6


class Told(Walker):
    """Weighs as its policy does, but does what it was told to."""

    def __init__(self, policy, numbers, **more):
        super().__init__(policy, Vocabulary(WORDS), COLUMNS, shown=COLUMNS, **more)
        self.numbers = numbers

    def start_episode(self, instruction):
        super().start_episode(instruction)
        self.left = list(self.numbers)

    def act(self, observation):
        super().act(observation)
        return self.left.pop(0) % (1 + len(observation.candidates.nodes))


def alone(agent, place: School, k, views, limit=LIMIT):
    """The walk of an agent that does the k-th episode as any run lets it."""
    episode = place.episodes[k]
    tour = Tour(episode.id, episode.world_id, (episode.id,))
    world, protocol = place.worlds[episode.world_id], replace(R2R, step_limit=limit)
    (done,) = walk(agent, GraphSimulator(views), world, tour, [episode], protocol=protocol, seed=0).trajectories
    assert done.ending is not Ending.FAILED, done.notes
    return done


def same(one, other):
    """All that is seen, to the last bit."""
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        assert (a is None) == (b is None)
        if a is not None:
            assert torch.equal(a, b), field.name


def stands_as(walked, k, shown, rows, done, place, watched):
    """The k-th walker of a roll-out against the same one alone."""
    moves = int(walked.moves[k])
    assert done.places == tuple(place.atlas.nodes[n] for n in walked.path[k, : moves + 1])
    assert (done.ending is Ending.STOPPED) == bool(walked.stopped[k])
    acted = moves + int(walked.stopped[k])
    assert len(watched) == acted
    for step in range(acted):
        (row,) = np.flatnonzero(rows[step].numpy() == k)
        seen, weighed = shown[step]
        seen_alone, alone_weighed = watched[step]
        same(of_walker(seen, int(row)), seen_alone)
        logits = weighed.logits[row][: alone_weighed.logits.shape[1]]
        torch.testing.assert_close(logits, alone_weighed.logits[0], rtol=1e-5, atol=1e-5)
        assert (weighed.logits[row][len(logits) :] == -torch.inf).all()
        torch.testing.assert_close(weighed.value[row], alone_weighed.value[0], rtol=1e-5, atol=1e-5)


@settings(max_examples=25)
@given(place=schools(), draw=st.data())
def test_walkers_together_see_and_weigh_what_each_does_alone(place, draw):
    policy, n = pupil().policy, len(place.episodes)
    numbers = draw.draw(st.lists(st.lists(st.integers(0, 60), min_size=LIMIT, max_size=LIMIT), min_size=n, max_size=n))
    told, steps = torch.tensor(numbers), []

    def choose(weighed, taught, rows):
        steps.append(rows)
        there = (weighed.logits > -torch.inf).sum(dim=1)
        return told[rows, len(steps) - 1] % there

    together = Watched(policy)
    batch = place.lessons.batch(range(n))
    with torch.no_grad():
        walked = roll_out(together, place.atlas, batch, choose=choose, teacher=to_goal, limit=LIMIT)
    for k in range(n):
        single = Watched(policy)
        done = alone(Told(single, numbers[k]), place, k, Numbered())
        stands_as(walked, k, together.shown[1:], steps, done, place, single.shown[1:])


def test_in_a_house_agents_walk_as_they_did_in_training(house):
    views = annotated_views(house.worlds, frequent_names(house.worlds, 12), reach=10.0)
    vocabulary = Vocabulary(WORDS)
    atlas = atlas_of(house.worlds, views, around=True)
    place = School(house.worlds, house.episodes, atlas, lessons_of(house.episodes, atlas, vocabulary))
    policy, rows = pupil(columns=views.columns).policy, []
    policy.looks_around = True

    def choose(weighed, taught, which):
        rows.append(which)
        return greedy(weighed, taught, which)

    together = Watched(policy)
    batch = place.lessons.batch(range(len(house.episodes)))
    with torch.no_grad():
        walked = roll_out(together, atlas, batch, choose=choose, teacher=to_goal, limit=8)
    assert walked.moves.float().mean() > 1  # or nothing is shown
    for k in range(len(house.episodes)):
        single = Watched(policy)
        agent = Walker(single, vocabulary, views.columns, shown=views.columns)
        done = alone(agent, place, k, views, limit=8)
        stands_as(walked, k, together.shown[1:], rows, done, place, single.shown[1:])


@pytest.fixture
def batch(house):
    return house.lessons.batch(range(len(house.episodes)))


def test_leaving_out_those_who_are_done_changes_nothing(house, batch, monkeypatch):
    policy = pupil().policy

    def walked(share):
        monkeypatch.setattr(rollout, "SHRINK", share)
        choose = Mixed(torch.arange(batch.walkers) % 2 == 0, torch.Generator().manual_seed(1))
        # Chance falls on whoever is there, so it is taken out of it here: the likeliest instead.
        choose.sampled = greedy
        with torch.no_grad():
            return roll_out(policy, house.atlas, batch, choose=choose, teacher=along_path, limit=9)

    whole, shrunk = walked(0.0), walked(1.0)
    assert len(whole.steps[-1].rows) < batch.walkers  # somebody was done early
    assert torch.equal(whole.path, shrunk.path)
    assert torch.equal(whole.stopped, shrunk.stopped)
    for one, other in zip(whole.steps, shrunk.steps, strict=True):
        assert torch.equal(one.rows, other.rows)
        assert torch.equal(one.taught, other.taught)
        columns = min(one.weighed.logits.shape[1], other.weighed.logits.shape[1])
        torch.testing.assert_close(
            one.weighed.logits[:, :columns], other.weighed.logits[:, :columns], rtol=1e-5, atol=1e-5
        )


def test_who_does_as_taught_walks_the_reference_and_stops(house, batch):
    with torch.no_grad():
        walked = roll_out(pupil().policy, house.atlas, batch, choose=as_taught, teacher=along_path, limit=20)
    for k, asked in enumerate(house.episodes):
        assert [house.atlas.nodes[n] for n in walked.path[k, : walked.moves[k] + 1]] == list(asked.reference)
    assert walked.stopped.all()
    assert walked.acted == sum(len(asked.reference) for asked in house.episodes)


def test_after_the_last_move_nobody_has_stopped(house, batch):
    with torch.no_grad():
        walked = roll_out(pupil().policy, house.atlas, batch, choose=as_taught, teacher=to_goal, limit=2)
    assert walked.moves.tolist() == [2] * batch.walkers
    assert not walked.stopped.any()
    assert walked.path.shape == (batch.walkers, 3)


def test_samples_follow_the_probabilities_and_their_own_stream(house):
    weighed = Watched(pupil().policy)
    one = house.lessons.batch([0] * 4000)
    with torch.no_grad():
        roll_out(weighed, house.atlas, one, choose=Sampled(torch.Generator().manual_seed(3)), teacher=to_goal, limit=1)
    seen, first = weighed.shown[1]
    wanted = first.logits[0].softmax(0)
    drawn = [Sampled(torch.Generator().manual_seed(3))(first, first.value, first.value) for _ in range(2)]
    assert torch.equal(*drawn)
    shares = torch.bincount(drawn[0], minlength=len(wanted)) / len(drawn[0])
    assert (shares - wanted).abs().max() < 0.04
    assert bool((drawn[0] <= seen.open[0].sum()).all())


def test_of_the_mixed_some_do_as_taught_from_beginning_to_end(house, batch):
    obedient = torch.arange(batch.walkers) < 5
    choose = Mixed(obedient, torch.Generator().manual_seed(0))
    with torch.no_grad():
        walked = roll_out(pupil().policy, house.atlas, batch, choose=choose, teacher=along_path, limit=15)
    for step in walked.steps:
        told = obedient[step.rows]
        assert torch.equal(step.action[told], step.taught[told])
    assert any((step.action != step.taught).any() for step in walked.steps)
