"""Unrolling whole trajectories gives what stepping gives, for every policy on the ground."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
import torch

from itinera.errors import BadArgument
from itinera.policies.base import select_rows
from itinera.policies.ground.base import GroundPolicy, detach, keep_rows, texts_per_path
from itinera.policies.ground.observation import GroundSequence
from policies.ground.examples import POLICIES, make_frames, make_policy, make_texts

LENGTHS, GUIDED = (6, 3, 4), (2, 0, 1)
CLOSE = {"rtol": 1e-5, "atol": 1e-5}
everyone = pytest.mark.parametrize("name", POLICIES)


def start(policy, texts=1):
    """The state of three tours before their second episode, with memory if the policy has one.

    Instructions of a path have seen the same, so they remember the same.
    """
    state = policy.encode_instruction(*make_texts(3 * texts, seed=1))
    for seed in (2, 3):
        frames = make_frames(3, seed=seed)
        state, _ = policy(state, select_rows(frames, torch.arange(3).repeat_interleave(texts)))
    return policy.update_instruction(state, *make_texts(3 * texts, seed=4))


def step_alone(policy, state, frames, row, text, texts):
    """The last state, logits and progress of one trajectory with one instruction, step by step."""
    state = select_rows(state, torch.tensor([row * texts + text]))
    first, logits, progress = sum(LENGTHS[:row]), [], []
    for step in range(LENGTHS[row]):
        frame = select_rows(frames, torch.tensor([first + step]))
        if step < LENGTHS[row] - GUIDED[row]:
            state, output = policy(state, frame)
            logits.append(output.logits[0])
            progress.append(output.progress[0])
        else:
            state = policy.observe(state, frame)
    return state, torch.stack(logits), torch.stack(progress)


@everyone
@pytest.mark.parametrize("texts", [1, 3])
def test_unrolled_outputs_and_states_are_those_of_steps(name, texts):
    policy = make_policy(name)
    frames = make_frames(sum(LENGTHS))
    state = start(policy, texts)
    sequence = GroundSequence.from_lengths(frames, LENGTHS, GUIDED)
    with torch.no_grad():
        last, output = policy.unroll(state, sequence)
        assert output.logits.shape == (3 * texts, 4, 4)
        assert sequence.mask.sum(dim=1).tolist() == [4, 3, 3]
        for row in range(3):
            for text in range(texts):
                end, logits, progress = step_alone(policy, state, frames, row, text, texts)
                k = row * texts + text
                torch.testing.assert_close(output.logits[k, : len(logits)], logits, **CLOSE)
                torch.testing.assert_close(output.progress[k, : len(progress)], progress, **CLOSE)
                for field in fields(end):
                    mine, alone = getattr(last, field.name)[k], getattr(end, field.name)[0]
                    torch.testing.assert_close(mine, alone, **CLOSE)
    assert output.logits.std() > 0.1  # logits that are all alike would be equal whatever happens


@everyone
def test_the_general_way_to_unroll_agrees_with_the_policys_own(name):
    policy, frames = make_policy(name), make_frames(sum(LENGTHS))
    sequence, state = GroundSequence.from_lengths(frames, LENGTHS, GUIDED), start(policy, 2)
    last, output = policy.unroll(state, sequence)
    slow_last, slow = GroundPolicy.unroll(policy, state, sequence)
    mask = sequence.mask.repeat_interleave(2, dim=0)
    torch.testing.assert_close(output.logits[mask], slow.logits[mask], **CLOSE)
    torch.testing.assert_close(last.hidden, slow_last.hidden, **CLOSE)


@everyone
def test_gradients_of_unrolling_are_those_of_the_general_way(name):
    policy, frames = make_policy(name), make_frames(7)
    sequence = GroundSequence.from_lengths(frames, [4, 3])
    gradients = []
    for unroll in (policy.unroll, lambda *given: GroundPolicy.unroll(policy, *given)):
        policy.zero_grad()
        _, output = unroll(policy.encode_instruction(*make_texts(4)), sequence)
        mask = sequence.mask.repeat_interleave(2, dim=0)
        (output.logits[mask].square().mean() + output.progress[mask].square().mean()).backward()
        gradients.append({name: value.grad.clone() for name, value in policy.named_parameters()})
    for parameter, gradient in gradients[0].items():
        torch.testing.assert_close(gradient, gradients[1][parameter], rtol=1e-4, atol=1e-6, msg=parameter)


@everyone
def test_all_parameters_are_trained(name):
    policy = make_policy(name)
    sequence = GroundSequence.from_lengths(make_frames(7), [4, 3])
    # In a second episode the memory of the tour is not zero.
    state, _ = policy.unroll(policy.encode_instruction(*make_texts(2)), sequence)
    state = policy.update_instruction(detach(state), *make_texts(2, seed=1))
    _, output = policy.unroll(state, sequence)
    (output.logits[sequence.mask].square().mean() + output.progress[sequence.mask].square().mean()).backward()
    assert [name for name, value in policy.named_parameters() if value.grad is None or not value.grad.any()] == []


def test_a_detached_state_has_no_gradients_and_the_same_values():
    policy = make_policy("pool-cma")
    state, _ = policy(policy.encode_instruction(*make_texts(2)), make_frames(2))
    cut = detach(state)
    assert state.vision.requires_grad
    assert not any(getattr(cut, field.name).requires_grad for field in fields(cut))
    assert torch.equal(cut.vision, state.vision)


def test_rows_are_kept_by_the_mask():
    policy = make_policy("cma")
    old = policy.encode_instruction(*make_texts(2))
    new = replace(old, hidden=old.hidden + 1)
    kept = keep_rows(old, new, torch.tensor([True, False]))
    assert kept.hidden[:, 0].tolist() == [1, 0]
    assert kept.text_keys is new.text_keys


def test_instructions_must_be_shared_out_evenly():
    policy = make_policy("cma")
    state = policy.encode_instruction(*make_texts(3))
    sequence = GroundSequence.from_lengths(make_frames(4), [2, 2])
    with pytest.raises(BadArgument, match="3 instructions cannot be shared out among 2 trajectories"):
        texts_per_path(state, sequence)


@pytest.mark.parametrize(
    ("lengths", "guided", "message"),
    [
        ([2, 3], None, "4 frames are not 2 trajectories of 5 frames"),
        ([4, 0], None, "every trajectory needs at least one"),
        ([2, 2], [2, 0], "fewer than its frames"),
        ([2, 2], [0, -1], "fewer than its frames"),
    ],
)
def test_wrong_lengths_are_refused(lengths, guided, message):
    with pytest.raises(BadArgument, match=message):
        GroundSequence.from_lengths(make_frames(4), lengths, guided)
