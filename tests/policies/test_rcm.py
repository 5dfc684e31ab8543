from __future__ import annotations

import torch

from itinera.policies.base import select_rows
from itinera.policies.rcm import RCM, SMALL, RCMConfig
from itinera.policies.tokenizer import Tokenizer
from itinera.training.experts import shortest_path_expert
from itinera.training.rollout import collect_rollout, teacher_forcing
from training.interruptible import PATHS, place
from training.small_models import COLUMNS, TINY, WORDS, tiny_model


def test_the_small_configuration_has_about_a_million_parameters():
    columns = [f"thing {k}" for k in range(250)] + [f"to room {k}" for k in range(62)]
    small = RCM(columns, Tokenizer(tuple(f"w{k}" for k in range(1000))), SMALL)
    assert 0.7e6 < sum(p.numel() for p in small.parameters()) < 1.4e6


def test_the_default_configuration_is_the_papers():
    policy = RCM(COLUMNS, Tokenizer(WORDS))
    assert policy.lstm.hidden_size == RCMConfig().hidden_dim == 512


def walked(policy, batch):
    with torch.no_grad():
        return collect_rollout(
            policy, place().env, batch, select_action=teacher_forcing, expert=shortest_path_expert, max_steps=4
        )


def test_outputs_are_random_in_training_only():
    policy, batch = tiny_model().policy, place().dataset.batch(range(len(PATHS)))
    one, other = walked(policy, batch), walked(policy, batch)
    assert torch.equal(one.steps[0].output.logits, other.steps[0].output.logits)
    policy.train()
    dropped = [walked(policy, batch).steps[0].output.logits for _ in range(2)]
    assert not torch.equal(*dropped)


def test_outputs_depend_on_the_words():
    policy, batch = tiny_model().policy, place().dataset.batch([0, 0])
    batch.words[1] = batch.words[1].flip(0)
    first = walked(policy, batch).steps[0].output.logits
    assert not torch.allclose(first[0], first[1], atol=1e-4)


def test_selected_rows_keep_their_state():
    policy, dataset = tiny_model().policy, place().dataset
    some = torch.tensor([3, 1])
    whole, few = dataset.batch(range(4)), dataset.batch(some.tolist())
    state, alone = (
        policy.encode_instruction(whole.words, whole.lengths),
        policy.encode_instruction(few.words, few.lengths),
    )
    taken = select_rows(state, some)
    n = few.words.shape[1]
    torch.testing.assert_close(taken.hidden, alone.hidden)
    torch.testing.assert_close(taken.keys[:, :n][alone.mask], alone.keys[alone.mask])


def test_every_parameter_has_a_gradient():
    policy = tiny_model().policy.train()
    batch = place().dataset.batch(range(len(PATHS)))
    walk = collect_rollout(
        policy, place().env, batch, select_action=teacher_forcing, expert=shortest_path_expert, max_steps=4
    )
    loss = sum(step.output.logits.softmax(1)[:, 0].sum() + step.output.value.sum() for step in walk.steps)
    loss.backward()
    assert [name for name, p in policy.named_parameters() if p.grad is None] == []
    assert TINY.env_dropout > 0
