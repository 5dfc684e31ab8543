"""The followers of Speaker-Follower and EnvDrop: what each of them weighs, together with others and alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from drawn import episode, world
from itinera.policies import envdrop, follower
from itinera.policies.base import take
from itinera.policies.checkpoint import card_of, encode, new_model, read_model
from itinera.policies.tokenizer import Vocabulary
from itinera.tasks import Instruction
from itinera.training.experts import to_goal
from itinera.training.losses import cloning
from itinera.training.rollout import as_taught, greedy, roll_out
from training.pupils import COLUMNS, WORDS, of_walker, school

TEXTS = ("go left to the sofa . stop .", "stop", "go to the kitchen", "left")
PLACE = school(
    {"house": world("a-b-c-d\n  | |\n  e-f")},
    [
        episode(str(k), path, instruction=Instruction(TEXTS[k]))
        for k, path in enumerate(["abcd", "ebcf", "dcba", "fcd"])
    ],
    around=True,
)
SIZES = {
    "follower": follower.Sizes(word=8, text=8, sight=12, key=6, state=10),
    "envdrop": envdrop.Sizes(word=8, text=8, sight=12, turn=4, state=10),
}
KINDS = [(kind, around) for kind in SIZES for around in (False, True)]
every_kind = pytest.mark.parametrize(("kind", "around"), KINDS)


def pupil(kind: str, *, around: bool):
    torch.manual_seed(1)
    sizes = replace(SIZES[kind], around=around)
    model = new_model(card_of(kind, sizes, COLUMNS, Vocabulary(WORDS)))
    model.policy.eval()
    return model


@every_kind
def test_what_is_weighed_does_not_depend_on_who_walks_beside(kind, around):
    policy, batch = pupil(kind, around=around).policy, PLACE.lessons.batch(range(4))
    state = policy.read(batch.words, batch.lengths)
    at = PLACE.atlas.put(batch.start, batch.view)
    alone = [policy.read(batch.words[k : k + 1, :n], batch.lengths[k : k + 1]) for k, n in enumerate(batch.lengths)]
    for _ in range(3):
        seen = PLACE.atlas.look(at)
        state, weighed = policy.step(state, seen)
        for k in range(4):
            alone[k], mine = policy.step(alone[k], of_walker(seen, k))
            n = mine.logits.shape[1]
            torch.testing.assert_close(weighed.logits[k, :n], mine.logits[0], rtol=1e-5, atol=1e-5)
            assert (weighed.logits[k, n:] == -torch.inf).all()
            torch.testing.assert_close(weighed.value[k], mine.value[0], rtol=1e-5, atol=1e-5)
        at = PLACE.atlas.move(at, seen, torch.ones(4, dtype=torch.int64))


@every_kind
def test_those_who_go_on_keep_their_own_mind(kind, around):
    policy, batch = pupil(kind, around=around).policy, PLACE.lessons.batch(range(4))
    policy.train()
    kept = torch.tensor([3, 1])
    state = policy.read(batch.words, batch.lengths)
    for name, value in vars(take(state, kept)).items():
        if isinstance(value, torch.Tensor):
            assert torch.equal(value, getattr(state, name)[kept])


@every_kind
def test_every_number_but_the_critics_learns_from_a_teacher(kind, around):
    policy = pupil(kind, around=around).policy
    policy.train()
    cloning(
        roll_out(policy, PLACE.atlas, PLACE.lessons.batch(range(4)), choose=as_taught, teacher=to_goal, limit=5)
    ).backward()
    still = {name for name, value in policy.named_parameters() if value.grad is None or not value.grad.abs().sum()}
    # What is added for all kinds of things seen at once is for those who compare it with words.
    assert {name for name in still if not name.startswith("critic.")} <= {"sights.say"}


@every_kind
def test_a_few_lessons_are_learned_by_heart(kind, around):
    policy = pupil(kind, around=around).policy
    batch = PLACE.lessons.batch(range(4))
    optimiser = torch.optim.Adam(policy.parameters(), 0.02)
    for _ in range(60):
        loss = cloning(roll_out(policy, PLACE.atlas, batch, choose=as_taught, teacher=to_goal, limit=6))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    walked = roll_out(policy, PLACE.atlas, batch, choose=greedy, teacher=to_goal, limit=6)
    assert bool(walked.stopped.all())
    assert torch.equal(walked.path.gather(1, walked.moves[:, None]).squeeze(1), batch.goal)


@every_kind
def test_a_model_is_the_same_after_it_was_written(kind, around, tmp_path):
    model = pupil(kind, around=around)
    (tmp_path / "m.safetensors").write_bytes(encode(model))
    found = read_model(tmp_path / "m.safetensors").model
    assert found.card == model.card
    assert found.policy.looks_around == around
    for name, value in model.policy.state_dict().items():
        assert torch.equal(found.policy.state_dict()[name], value)


@pytest.mark.parametrize("module", [follower, envdrop])
def test_the_sizes_of_the_papers_can_be_made(module):
    make = {follower: follower.Follower, envdrop: envdrop.EnvDrop}[module]
    assert sum(value.numel() for value in make(COLUMNS, Vocabulary(WORDS)).parameters()) > 5e6
    small = make(COLUMNS, Vocabulary(WORDS), module.SMALL)
    assert sum(value.numel() for value in small.parameters()) < 1.2e6
    assert not small.looks_around
