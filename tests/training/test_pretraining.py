"""Proxy tasks: a trail is what walking it leaves, every task teaches its part, and hidden things are hidden."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from drawn import episode, world
from itinera.policies import hamt
from itinera.policies.checkpoint import card_of, new_model
from itinera.policies.hamt_pretraining import pretrained
from itinera.policies.tokenizer import Vocabulary
from itinera.tasks import Instruction
from itinera.training import pretraining
from itinera.training.dataset import Shuffle
from itinera.training.experts import along_path
from itinera.training.pretraining import (
    RATIOS,
    behind,
    hidden_sights,
    hidden_words,
    lie_of_ways,
    next_action,
    next_angle,
    proxy_lesson,
    told_walk,
    trail,
)
from itinera.training.rollout import as_taught, roll_out
from itinera.training.trainer import Schedule, train
from training.pupils import COLUMNS, TEXTS, WORDS, school

SIZES = replace(hamt.SMALL, size=16, heads=2, inner=16, text_layers=1)
DRAWING = """
    a-b-c-d
    | | | |
    e-f-g-h
"""
PATHS = ("abcd", "efgh", "dc", "hgfea", "aef", "cghdc")


def class_room(*, around=False):
    episodes = [episode(str(k), path, instruction=Instruction(TEXTS[k % len(TEXTS)])) for k, path in enumerate(PATHS)]
    return school({"house": world(DRAWING)}, episodes, around=around)


def model(sizes=SIZES):
    torch.manual_seed(0)
    return new_model(card_of("hamt-proxies", sizes, COLUMNS, Vocabulary(WORDS)))


def test_a_trail_is_what_walking_leaves_in_mind():
    place, proxies = class_room(), model().policy
    policy = proxies.policy.eval()
    batch = place.lessons.batch(range(len(PATHS)))
    walked = trail(policy, place.atlas, batch, batch.path_lengths - 1)
    state = behind(policy, policy.read(batch.words, batch.lengths), walked)
    weighed = policy.action_probabilities(state, walked.seen)
    done = roll_out(policy, place.atlas, batch, choose=as_taught, teacher=along_path, limit=9)
    assert walked.at.node.equal(batch.goal)
    assert state.moves.equal(done.moves)
    for k in range(len(PATHS)):
        step = done.steps[int(done.moves[k])]
        own = step.weighed.logits[step.rows == k][0]
        n = min(len(own), weighed.logits.shape[1])
        torch.testing.assert_close(weighed.logits[k][:n], own[:n], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "sizes", [SIZES, replace(SIZES, words_look=True), replace(SIZES, around=True, panorama_layers=1)]
)
@pytest.mark.parametrize(
    ("task", "head"),
    [
        (hidden_words, "guess"), (hidden_sights, "imagine"), (next_action, "policy.like"), (next_angle, "turn"),
        (lie_of_ways, "apart"), (told_walk, "fit"),
    ],
)  # fmt: skip
def test_every_task_teaches_its_head_and_the_policy(task, head, sizes, monkeypatch):
    monkeypatch.setattr(pretraining, "HIDDEN", 0.6)  # so few are there that none might be hidden
    place, proxies = class_room(around=sizes.around), model(sizes).policy
    loss = task(proxies, place.atlas, place.lessons.batch(range(len(PATHS))), torch.Generator().manual_seed(1))
    loss.backward()
    assert torch.isfinite(loss)
    learned = {name for name, value in proxies.named_parameters() if value.grad is not None and value.grad.any()}
    assert any(name.startswith(head) for name in learned)
    assert any(name.startswith("policy.layers.0") for name in learned)
    assert "policy.embedding.weight" in learned


def test_what_is_hidden_of_a_step_is_not_seen(monkeypatch):
    place, proxies = class_room(), model().policy.eval()
    batch = place.lessons.batch(range(len(PATHS)))
    monkeypatch.setattr(pretraining, "HIDDEN", 1.1)
    given = []
    tokens = proxies.policy.step_tokens
    monkeypatch.setattr(proxies.policy, "step_tokens", lambda raw, *more: given.append(raw) or tokens(raw, *more))
    hidden_sights(proxies, place.atlas, batch, torch.Generator().manual_seed(0))
    (raw,) = given
    n = len(COLUMNS)
    there = trail(proxies.policy, place.atlas, batch, batch.path_lengths - 1).there.reshape(-1)
    assert not raw[there][:, : 2 * n].any()
    assert raw[there][:, 2 * n :].any(dim=1).all()  # where the way led


def test_pretraining_makes_losses_smaller_and_a_policy_takes_it_over(monkeypatch):
    monkeypatch.setattr(pretraining, "BLIND", 0.0)  # with nothing hidden, six paths can be learned by heart
    monkeypatch.setattr(pretraining, "LOST", 0.0)
    place, made = class_room(), model(replace(SIZES, token_dropout=0.0, env_dropout=0.0))
    heard = []
    lesson = proxy_lesson(made.policy, place.atlas, Shuffle(place.lessons, 6, seed=0), {next_action: 1})
    schedule = Schedule(60, rate=3e-3, warm_up=5)
    train(made, lesson, schedule, seed=0, name="proxies", heard=lambda step, loss: heard.append(loss))
    assert sum(heard[-10:]) < 0.7 * sum(heard[:10])
    for kind in ("hamt", "tour-hamt"):
        policy = new_model(card_of(kind, made.policy.policy.sizes, COLUMNS, Vocabulary(WORDS))).policy
        assert pretrained(policy, made.policy) is policy
        for name, value in made.policy.policy.state_dict().items():
            assert policy.state_dict()[name].equal(value)


def test_ratios_are_the_papers():
    tasks = hidden_words, next_action, next_angle, lie_of_ways, hidden_sights, told_walk
    assert [RATIOS[task] for task in tasks] == [5, 1, 1, 1, 2, 2]
