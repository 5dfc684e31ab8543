from __future__ import annotations

import torch

from itinera.policies.base import take
from itinera.policies.rcm import RCM, SMALL, Sizes
from itinera.policies.tokenizer import Vocabulary
from itinera.training.experts import to_goal
from itinera.training.rollout import as_taught, roll_out
from training.classes import PATHS, place
from training.pupils import COLUMNS, TINY, WORDS, pupil


def test_a_small_one_has_about_a_million_numbers():
    columns = [f"thing {k}" for k in range(250)] + [f"to room {k}" for k in range(62)]
    small = RCM(columns, Vocabulary(tuple(f"w{k}" for k in range(1000))), SMALL)
    assert 0.7e6 < sum(p.numel() for p in small.parameters()) < 1.4e6


def test_sizes_of_the_paper_are_the_defaults():
    policy = RCM(COLUMNS, Vocabulary(WORDS))
    assert policy.lstm.hidden_size == Sizes().state == 512


def walked(policy, batch):
    with torch.no_grad():
        return roll_out(policy, place().atlas, batch, choose=as_taught, teacher=to_goal, limit=4)


def test_nothing_is_left_to_chance_when_tried_and_much_in_training():
    policy, batch = pupil().policy, place().lessons.batch(range(len(PATHS)))
    one, other = walked(policy, batch), walked(policy, batch)
    assert torch.equal(one.steps[0].weighed.logits, other.steps[0].weighed.logits)
    policy.train()
    dropped = [walked(policy, batch).steps[0].weighed.logits for _ in range(2)]
    assert not torch.equal(*dropped)


def test_words_decide():
    policy, batch = pupil().policy, place().lessons.batch([0, 0])
    batch.words[1] = batch.words[1].flip(0)
    first = walked(policy, batch).steps[0].weighed.logits
    assert not torch.allclose(first[0], first[1], atol=1e-4)


def test_the_state_of_some_is_theirs():
    policy, lessons = pupil().policy, place().lessons
    some = torch.tensor([3, 1])
    whole, few = lessons.batch(range(4)), lessons.batch(some.tolist())
    state, alone = policy.read(whole.words, whole.lengths), policy.read(few.words, few.lengths)
    taken = take(state, some)
    n = few.words.shape[1]
    torch.testing.assert_close(taken.hidden, alone.hidden)
    torch.testing.assert_close(taken.keys[:, :n][alone.mask], alone.keys[alone.mask])


def test_every_number_can_learn():
    policy = pupil().policy.train()
    batch = place().lessons.batch(range(len(PATHS)))
    walk = roll_out(policy, place().atlas, batch, choose=as_taught, teacher=to_goal, limit=4)
    loss = sum(step.weighed.logits.softmax(1)[:, 0].sum() + step.weighed.value.sum() for step in walk.steps)
    loss.backward()
    assert [name for name, p in policy.named_parameters() if p.grad is None] == []
    assert TINY.env_dropout > 0
