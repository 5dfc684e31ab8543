"""PointNav policies: sizes, features, and a memory that ends with the episode."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from itinera.errors import BadArgument
from itinera.policies.pointnav.observation import PointNavTensors, encode_ranges, goal_features, make_tensors
from itinera.policies.pointnav.policy import SMALL, PointNavConfig, PointNavPolicy
from itinera.policies.tokenizer import Tokenizer

SHAPES = {"none": (), "scan": (32,), "pooled-depth": (4, 64), "depth": (64, 64)}


def make(sensor):
    torch.manual_seed(0)
    return PointNavPolicy((), Tokenizer(()), SMALL[sensor])


def random_tensors(sensor, steps, batch):
    rng = torch.Generator().manual_seed(1)
    shape = SHAPES[sensor] or (0,)
    return PointNavTensors(
        torch.rand(steps, batch, 2, generator=rng) * 3,
        torch.rand(steps, batch, *shape, generator=rng) * 10,
        (torch.rand(steps, batch, generator=rng) < 0.5).float(),
        torch.randint(4, (steps, batch), generator=rng),
        (torch.rand(steps, batch, generator=rng) < 0.3).float(),
    )


@pytest.mark.parametrize("sensor", SMALL)
def test_every_small_policy_scores_actions_and_states(sensor):
    policy = make(sensor)
    output, state = policy(random_tensors(sensor, 3, 2), policy.start(2))
    assert output.logits.shape == (3, 2, 4)
    assert output.value.shape == (3, 2)
    assert state.shape == (2, policy.state_dim)


@pytest.mark.parametrize("sensor", SMALL)
def test_steps_in_sequence_equal_one_unrolled_pass(sensor):
    policy, tensors = make(sensor), random_tensors(sensor, 4, 3)
    whole, _ = policy(tensors, policy.start(3))
    state = policy.start(3)
    for k in range(4):
        parts = (getattr(tensors, name)[k : k + 1] for name in tensors.__dataclass_fields__)
        output, state = policy(PointNavTensors(*parts), state)
        torch.testing.assert_close(output.logits[0], whole.logits[k])


@pytest.mark.parametrize("sensor", ["scan", "pooled-depth", "depth"])
def test_what_the_sensor_measures_matters(sensor):
    policy, tensors = make(sensor), random_tensors(sensor, 1, 2)
    nearer = replace(tensors, sensed=tensors.sensed / 2)
    one, other = (policy(seen, policy.start(2))[0].logits for seen in (tensors, nearer))
    assert (one - other).abs().max() > 1e-4


def test_the_action_before_the_first_step_does_not_count():
    policy, tensors = make("none"), random_tensors("none", 1, 2)
    starts = replace(tensors, starts=torch.ones(1, 2))
    changed = replace(starts, last_actions=(starts.last_actions + 1) % 4)
    assert torch.equal(policy(starts, policy.start(2))[0].logits, policy(changed, policy.start(2))[0].logits)


def test_the_paper_has_a_resnet_and_two_lstm_layers_of_512():
    config = PointNavConfig()
    assert (config.sensor, config.encoder, config.cell, config.num_layers, config.hidden_dim) == (
        "depth", "resnet50", "lstm", 2, 512,
    )  # fmt: skip
    policy = PointNavPolicy((), Tokenizer(()), config)
    assert policy.state_dim == 2 * 2 * 512
    assert 10e6 < sum(value.numel() for value in policy.parameters()) < 20e6


def test_goal_features_tell_inside_from_outside_of_the_radius():
    features = goal_features(torch.tensor([[0.19, math.pi / 2], [0.21, 0.0], [20.0, math.pi]]))
    assert features[:, 3].tolist() == [1.0, 0.0, 0.0]
    torch.testing.assert_close(features[:, 2], torch.tensor([0.19, 0.21, 1.0]))
    torch.testing.assert_close(features[0, 4:], torch.tensor([0.0, 1.0, 0.5]), atol=1e-6, rtol=0)
    torch.testing.assert_close(features[2, 0], torch.tensor(2.0))


def test_ranges_are_encoded_with_contrast_near_and_far():
    found = encode_ranges(torch.tensor([[0.0, 0.8, 3.0]]), dim=1)
    expected = torch.tensor([[[1.0, math.exp(-1), math.exp(-3.75)], [1.0, math.exp(-0.8 / 3), math.exp(-1)]]])
    torch.testing.assert_close(found, expected)


def test_arrays_of_a_stage_are_copied():
    observations = {"pointgoal": np.ones((2, 2), np.float32), "contact": np.zeros(2, np.float32)}
    tensors = make_tensors(observations, "none", torch.zeros(2, dtype=torch.int64), torch.ones(2))
    observations["pointgoal"][:] = 5.0
    assert tensors.pointgoal.shape == (1, 2, 2)
    assert float(tensors.pointgoal.max()) == 1.0


@pytest.mark.parametrize(
    ("changes", "word"),
    [({"sensor": "sonar"}, "sensor"), ({"encoder": "vit"}, "encoder"), ({"depth_size": 60}, "depth_size"),
     ({"encoder": "resnet50"}, "256")],
)  # fmt: skip
def test_impossible_sizes_are_refused(changes, word):
    with pytest.raises(BadArgument, match=word):
        PointNavPolicy((), Tokenizer(()), replace(SMALL["depth"], **changes))
