"""What policies on the ground remember of earlier episodes of a tour."""

from __future__ import annotations

import pytest
import torch

from itinera.policies.ground.observation import GroundSequence
from policies.ground.examples import POLICIES, make_frames, make_policy, make_texts


def after_an_episode(policy, seed=0):
    """The state at the end of an episode, and at the beginning of the next."""
    state = policy.encode_instruction(*make_texts(2))
    with torch.no_grad():
        for step in range(3):
            state, _ = policy(state, make_frames(2, seed=seed + step))
        return state, policy.update_instruction(state, *make_texts(2, seed=9))


def first_scores(policy, state):
    with torch.no_grad():
        return policy(state, make_frames(2, seed=77))[1].logits


@pytest.mark.parametrize("name", POLICIES)
def test_exactly_the_tour_policies_act_differently_after_another_episode(name):
    policy = make_policy(name)
    one, other = (first_scores(policy, after_an_episode(policy, seed)[1]) for seed in (0, 5))
    assert torch.equal(one, other) is not policy.remembers_tours
    fresh = first_scores(policy, policy.encode_instruction(*make_texts(2, seed=9)))
    assert torch.equal(one, fresh) is not policy.remembers_tours


@pytest.mark.parametrize("name", POLICIES)
def test_exactly_the_tour_policies_remember_guided_steps(name):
    policy = make_policy(name)
    state, _ = after_an_episode(policy)
    with torch.no_grad():
        guided = policy.observe(state, make_frames(2, seed=20))
    assert (guided is state) is not policy.remembers_tours
    texts = make_texts(2, seed=9)
    one = first_scores(policy, policy.update_instruction(state, *texts))
    other = first_scores(policy, policy.update_instruction(guided, *texts))
    assert torch.equal(one, other) is not policy.remembers_tours


def test_tour_cma_keeps_its_first_gru_and_resets_its_second():
    state, following = after_an_episode(make_policy("tour-cma"))
    assert torch.equal(following.vision, state.vision)
    assert not following.hidden.any()


def test_the_released_tour_cma_keeps_both():
    state, following = after_an_episode(make_policy("tour-cma, both"))
    assert torch.equal(following.vision, state.vision)
    assert torch.equal(following.hidden, state.hidden)


@pytest.mark.parametrize("name", ["pool-cma", "pool-end-cma"])
def test_pool_cma_resets_both_grus_and_keeps_the_maximum_of_the_first(name):
    policy = make_policy(name)
    state = policy.encode_instruction(*make_texts(2))
    maximum = torch.zeros_like(state.memory)
    for step in range(3):
        state, _ = policy(state, make_frames(2, seed=step))
        maximum = torch.maximum(maximum, state.vision)
    assert torch.equal(state.memory, maximum)
    assert not state.memory.requires_grad
    following = policy.update_instruction(state, *make_texts(2))
    assert not following.vision.any()
    assert not following.hidden.any()
    assert torch.equal(following.memory, state.memory)


def test_pool_end_cma_predicts_from_the_memory_before_the_step():
    policy = make_policy("pool-end-cma")
    state = policy.encode_instruction(*make_texts(2))
    joined = []
    policy.memory_join.register_forward_pre_hook(lambda module, given: joined.append(given[0]))
    following, _ = policy(state, make_frames(2))
    assert not joined[0][:, 12:].any()
    policy(following, make_frames(2, seed=1))
    assert torch.equal(joined[1][:, 12:], following.memory)


@pytest.mark.parametrize("name", ["cma", "map-cma"])
def test_a_collision_is_seen_only_if_it_is_asked_for(name):
    frames = make_frames(2)
    hit = [GroundSequence.from_lengths(frames, [2]).frames.previous_action.clone() for _ in range(2)]
    hit[0][:], hit[1][:] = 2, 5  # forward, and forward into an obstacle
    for asked in (False, True):
        policy = make_policy(name, observe_collisions=asked)
        scores = []
        for previous in hit:
            frames.previous_action[:] = previous
            scores.append(policy(policy.encode_instruction(*make_texts(2)), frames)[1].logits)
        assert torch.equal(*scores) is not asked
