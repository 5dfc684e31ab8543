"""Batched rollouts against the simulator, the agent and a rollout of each episode alone, step by step."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from itinera.policies.agent import PolicyAgent
from itinera.policies.tokenizer import Tokenizer
from itinera.records import Ending
from itinera.runs.rollout import rollout
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.view_features import annotated_views, frequent_names
from itinera.tasks import Tour
from itinera.tasks.protocol import R2R
from itinera.training import rollout as batch_rollout
from itinera.training.dataset import EpisodeDataset
from itinera.training.experts import reference_path_expert, shortest_path_expert
from itinera.training.rollout import collect_rollout, greedy, mixed_forcing, sample, teacher_forcing
from itinera.training.vector_env import build_env
from training.small_models import (
    COLUMNS,
    WORDS,
    NumberedViews,
    RecordingPolicy,
    TinyData,
    select_agent,
    tiny_datasets,
    tiny_model,
)

LIMIT = 6


class ScriptedAgent(PolicyAgent):
    """Steps its policy, but takes the actions given by numbers."""

    def __init__(self, policy, numbers, **more):
        super().__init__(policy, Tokenizer(WORDS), COLUMNS, view_columns=COLUMNS, **more)
        self.numbers = numbers

    def start_episode(self, instruction):
        super().start_episode(instruction)
        self.left = list(self.numbers)

    def act(self, observation):
        super().act(observation)
        return self.left.pop(0) % (1 + len(observation.candidates.nodes))


def alone(agent, place: TinyData, k, views, max_steps=LIMIT):
    """The trajectory of an agent on the k-th episode, as in any run."""
    episode = place.episodes[k]
    tour = Tour(episode.id, episode.world_id, (episode.id,))
    world, protocol = place.worlds[episode.world_id], replace(R2R, step_limit=max_steps)
    (done,) = rollout(agent, GraphSimulator(views), world, tour, [episode], protocol=protocol, seed=0).trajectories
    assert done.ending is not Ending.FAILED, done.notes
    return done


def same(one, other):
    """Observations are equal to the last bit."""
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        assert (a is None) == (b is None)
        if a is not None:
            assert torch.equal(a, b), field.name


def check_agent_alone(walked, k, shown, rows, done, place, watched):
    """The k-th agent of a batch against the same one alone."""
    moves = int(walked.moves[k])
    assert done.places == tuple(place.env.nodes[n] for n in walked.path[k, : moves + 1])
    assert (done.ending is Ending.STOPPED) == bool(walked.stopped[k])
    num_actions = moves + int(walked.stopped[k])
    assert len(watched) == num_actions
    for step in range(num_actions):
        (row,) = np.flatnonzero(rows[step].numpy() == k)
        seen, output = shown[step]
        seen_alone, output_alone = watched[step]
        same(select_agent(seen, int(row)), seen_alone)
        logits = output.logits[row][: output_alone.logits.shape[1]]
        torch.testing.assert_close(logits, output_alone.logits[0], rtol=1e-5, atol=1e-5)
        assert (output.logits[row][len(logits) :] == -torch.inf).all()
        torch.testing.assert_close(output.value[row], output_alone.value[0], rtol=1e-5, atol=1e-5)


@settings(max_examples=25)
@given(place=tiny_datasets(), draw=st.data())
def test_agents_of_a_batch_observe_and_score_what_each_does_alone(place, draw):
    policy, n = tiny_model().policy, len(place.episodes)
    numbers = draw.draw(st.lists(st.lists(st.integers(0, 60), min_size=LIMIT, max_size=LIMIT), min_size=n, max_size=n))
    script, steps = torch.tensor(numbers), []

    def select_action(output, expert_action, rows):
        steps.append(rows)
        count = (output.logits > -torch.inf).sum(dim=1)
        return script[rows, len(steps) - 1] % count

    together = RecordingPolicy(policy)
    batch = place.dataset.batch(range(n))
    with torch.no_grad():
        walked = collect_rollout(
            together, place.env, batch, select_action=select_action, expert=shortest_path_expert, max_steps=LIMIT
        )
    for k in range(n):
        single = RecordingPolicy(policy)
        done = alone(ScriptedAgent(single, numbers[k]), place, k, NumberedViews())
        check_agent_alone(walked, k, together.records[1:], steps, done, place, single.records[1:])


def test_in_a_house_agents_walk_as_they_did_in_training(house):
    views = annotated_views(house.worlds, frequent_names(house.worlds, 12), reach=10.0)
    tokenizer = Tokenizer(WORDS)
    env = build_env(house.worlds, views, panorama=True)
    place = TinyData(house.worlds, house.episodes, env, EpisodeDataset.from_episodes(house.episodes, env, tokenizer))
    batch = place.dataset.batch(range(len(house.episodes)))
    for seed in range(20):
        policy, rows = tiny_model(seed, columns=views.columns).policy, []
        policy.uses_panorama = True

        def select_action(output, expert_action, which, rows=rows):
            rows.append(which)
            return greedy(output, expert_action, which)

        together = RecordingPolicy(policy)
        with torch.no_grad():
            walked = collect_rollout(
                together, env, batch, select_action=select_action, expert=shortest_path_expert, max_steps=8
            )
        if walked.moves.float().mean() > 1:  # others stop at once, which shows nothing
            break
    else:
        raise AssertionError("no weights make the agents walk")
    for k in range(len(house.episodes)):
        single = RecordingPolicy(policy)
        agent = PolicyAgent(single, tokenizer, views.columns, view_columns=views.columns)
        done = alone(agent, place, k, views, max_steps=8)
        check_agent_alone(walked, k, together.records[1:], rows, done, place, single.records[1:])


@pytest.fixture
def batch(house):
    return house.dataset.batch(range(len(house.episodes)))


def test_compacting_the_batch_changes_nothing(house, batch, monkeypatch):
    policy = tiny_model().policy

    def walked(share):
        monkeypatch.setattr(batch_rollout, "SHRINK", share)
        # Greedy for the others: samples would depend on which agents are left in the batch.
        select_action = mixed_forcing(torch.arange(batch.size) % 2 == 0, greedy)
        with torch.no_grad():
            return collect_rollout(
                policy, house.env, batch, select_action=select_action, expert=reference_path_expert, max_steps=9
            )

    whole, shrunk = walked(0.0), walked(1.0)
    assert len(whole.steps[-1].rows) < batch.size  # some agents stopped early
    assert torch.equal(whole.path, shrunk.path)
    assert torch.equal(whole.stopped, shrunk.stopped)
    for one, other in zip(whole.steps, shrunk.steps, strict=True):
        assert torch.equal(one.rows, other.rows)
        assert torch.equal(one.expert_action, other.expert_action)
        columns = min(one.output.logits.shape[1], other.output.logits.shape[1])
        torch.testing.assert_close(
            one.output.logits[:, :columns], other.output.logits[:, :columns], rtol=1e-5, atol=1e-5
        )


def test_teacher_forcing_follows_the_reference_and_stops(house, batch):
    with torch.no_grad():
        walked = collect_rollout(
            tiny_model().policy,
            house.env,
            batch,
            select_action=teacher_forcing,
            expert=reference_path_expert,
            max_steps=20,
        )
    for k, episode in enumerate(house.episodes):
        assert [house.env.nodes[n] for n in walked.path[k, : walked.moves[k] + 1]] == list(episode.reference)
    assert walked.stopped.all()
    assert walked.num_actions == sum(len(episode.reference) for episode in house.episodes)


def test_agents_that_run_out_of_steps_have_not_stopped(house, batch):
    with torch.no_grad():
        walked = collect_rollout(
            tiny_model().policy,
            house.env,
            batch,
            select_action=teacher_forcing,
            expert=shortest_path_expert,
            max_steps=2,
        )
    assert walked.moves.tolist() == [2] * batch.size
    assert not walked.stopped.any()
    assert walked.path.shape == (batch.size, 3)


def test_samples_follow_the_probabilities_and_their_own_stream(house):
    policy = RecordingPolicy(tiny_model().policy)
    one = house.dataset.batch([0] * 4000)
    with torch.no_grad():
        collect_rollout(
            policy,
            house.env,
            one,
            select_action=sample(torch.Generator().manual_seed(3)),
            expert=shortest_path_expert,
            max_steps=1,
        )
    observation, first = policy.records[1]
    wanted = first.logits[0].softmax(0)
    drawn = [sample(torch.Generator().manual_seed(3))(first, first.value, first.value) for _ in range(2)]
    assert torch.equal(*drawn)
    shares = torch.bincount(drawn[0], minlength=len(wanted)) / len(drawn[0])
    assert (shares - wanted).abs().max() < 0.04
    assert bool((drawn[0] <= observation.mask[0].sum()).all())


def test_mixed_forcing_forces_some_agents_for_the_whole_episode(house, batch):
    forced = torch.arange(batch.size) < 5
    select_action = mixed_forcing(forced, sample(torch.Generator().manual_seed(0)))
    with torch.no_grad():
        walked = collect_rollout(
            tiny_model().policy,
            house.env,
            batch,
            select_action=select_action,
            expert=reference_path_expert,
            max_steps=15,
        )
    for step in walked.steps:
        of_expert = forced[step.rows]
        assert torch.equal(step.action[of_expert], step.expert_action[of_expert])
    assert any((step.action != step.expert_action).any() for step in walked.steps)
