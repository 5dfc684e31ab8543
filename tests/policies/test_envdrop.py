"""What sets EnvDrop's listener apart; what it shares with the follower is tested there."""

from __future__ import annotations

import torch
from agents.neural.test_follower import PLACE, pupil

from itinera.policies.envdrop import Within
from itinera.policies.features import environment
from itinera.training.experts import to_goal
from itinera.training.rollout import as_taught, roll_out
from training.pupils import COLUMNS

KEPT = environment(len(COLUMNS), 0.5, torch.Generator().manual_seed(3))


def weighed(policy, atlas):
    batch = PLACE.lessons.batch(range(4))
    with torch.no_grad():
        walked = roll_out(policy, atlas, batch, choose=as_taught, teacher=to_goal, limit=4)
    return torch.cat([step.weighed.logits.softmax(dim=1).flatten() for step in walked.steps])


def test_stop_is_measured_against_nothing():
    batch, policy = PLACE.lessons.batch(range(4)), pupil("envdrop", around=False).policy
    _, made = policy.step(
        policy.read(batch.words, batch.lengths), PLACE.atlas.look(PLACE.atlas.put(batch.start, batch.view))
    )
    assert (made.logits[:, 0] == 0).all()


def test_an_environment_that_lacks_features_is_a_world_without_them():
    from dataclasses import replace

    policy = pupil("envdrop", around=True).policy
    atlas = PLACE.atlas
    bare = replace(atlas, seen=atlas.seen * KEPT, here=atlas.here * KEPT, around=atlas.around.float() * KEPT)
    torch.testing.assert_close(weighed(Within(policy, KEPT), atlas), weighed(policy, bare))
    assert not torch.allclose(weighed(Within(policy, KEPT), atlas), weighed(policy, atlas))


def test_features_are_dropped_in_training_only_and_not_where_some_are_lacking():
    batch, policy = PLACE.lessons.batch(range(4)), pupil("envdrop", around=False).policy
    assert policy.read(batch.words, batch.lengths).kept is None
    policy.train()
    kept = policy.read(batch.words, batch.lengths).kept
    assert kept.shape == (4, len(COLUMNS))
    assert policy.read(batch.words, batch.lengths, kept=KEPT).kept is None


def test_the_critic_learns_what_to_expect():
    batch, policy = PLACE.lessons.batch(range(4)), pupil("envdrop", around=False).policy
    walked = roll_out(policy, PLACE.atlas, batch, choose=as_taught, teacher=to_goal, limit=4)
    walked.steps[0].weighed.value.sum().backward()
    assert all(value.grad is not None for value in policy.critic.parameters())
