"""EnvDrop's listener; what it shares with the follower is tested there."""

from __future__ import annotations

import torch

from itinera.policies.encoders import sample_environment
from itinera.policies.envdrop import EnvDropInEnvironment
from itinera.training.experts import shortest_path_expert
from itinera.training.rollout import collect_rollout, teacher_forcing
from policies.test_follower import PLACE, make_model
from training.small_models import COLUMNS

ENVIRONMENT = sample_environment(len(COLUMNS), 0.5, torch.Generator().manual_seed(3))


def probabilities(policy, env):
    batch = PLACE.dataset.batch(range(4))
    with torch.no_grad():
        walked = collect_rollout(
            policy, env, batch, select_action=teacher_forcing, expert=shortest_path_expert, max_steps=4
        )
    return torch.cat([step.output.logits.softmax(dim=1).flatten() for step in walked.steps])


def test_the_logit_of_stop_is_zero():
    batch, policy = PLACE.dataset.batch(range(4)), make_model("envdrop", panorama=False).policy
    _, made = policy(
        policy.encode_instruction(batch.words, batch.lengths),
        PLACE.env.observe(PLACE.env.reset(batch.start, batch.view)),
    )
    assert (made.logits[:, 0] == 0).all()


def test_an_environment_that_lacks_features_is_a_world_without_them():
    from dataclasses import replace

    policy = make_model("envdrop", panorama=True).policy
    env = PLACE.env
    bare = replace(
        env,
        edge_features=env.edge_features * ENVIRONMENT,
        node_features=env.node_features * ENVIRONMENT,
        panoramas=env.panoramas.float() * ENVIRONMENT,
    )
    lacking = probabilities(EnvDropInEnvironment(policy, ENVIRONMENT), env)
    torch.testing.assert_close(lacking, probabilities(policy, bare))
    assert not torch.allclose(probabilities(EnvDropInEnvironment(policy, ENVIRONMENT), env), probabilities(policy, env))


def test_feature_dropout_is_for_training_without_environmental_dropout():
    batch, policy = PLACE.dataset.batch(range(4)), make_model("envdrop", panorama=False).policy
    assert policy.encode_instruction(batch.words, batch.lengths).feature_mask is None
    policy.train()
    mask = policy.encode_instruction(batch.words, batch.lengths).feature_mask
    assert mask.shape == (4, len(COLUMNS))
    assert policy.encode_instruction(batch.words, batch.lengths, environment=ENVIRONMENT).feature_mask is None


def test_the_critic_is_trained_by_the_value():
    batch, policy = PLACE.dataset.batch(range(4)), make_model("envdrop", panorama=False).policy
    walked = collect_rollout(
        policy, PLACE.env, batch, select_action=teacher_forcing, expert=shortest_path_expert, max_steps=4
    )
    walked.steps[0].output.value.sum().backward()
    assert all(value.grad is not None for value in policy.critic.parameters())
