"""PPO: its arithmetic by hand, an open field it must learn, and runs that are the same after an interruption."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from itinera.errors import BadArgument
from itinera.policies.checkpoint import build_model, make_card
from itinera.policies.pointnav.policy import SMALL
from itinera.policies.pointnav.requirements import PointNavRequirements
from itinera.policies.tokenizer import Tokenizer
from itinera.training.ppo import PPO, estimate_advantages
from itinera.training.ppo_config import Curriculum, PPOConfig, StopGate, linear
from training.open_field import Field, OpenField

SHORT = PPOConfig(
    steps=1536,
    rollout_steps=16,
    minibatches=2,
    learning_rate=2e-3,
    curriculum=Curriculum(1.0, 3.0, window=50),
    gate=StopGate(0.3),
    checkpoint_every=768,
)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def make_model(hidden_dim=16):
    torch.manual_seed(0)
    config = replace(SMALL["none"], hidden_dim=hidden_dim)
    needs = PointNavRequirements("none")
    return build_model(make_card("pointnav", config, (), Tokenizer(()), pointnav=needs))


def make_ppo(config=SHORT, *, seed=0, num_envs=8, limit=30, hidden_dim=16, **options):
    field = Field()
    stage = OpenField(num_envs, field, limit=limit)
    return PPO(make_model(hidden_dim), stage, config, seed=seed, starts=field, **options)


def weights(model):
    return torch.cat([value.flatten() for value in model.policy.state_dict().values()])


class Log:
    """Keeps the values it is given, and interrupts training at an update."""

    def __init__(self, stop_at=math.inf):
        self.values, self.stop_at, self.updates = [], stop_at, 0

    def log_values(self, step, values):
        self.updates += 1
        if self.updates == self.stop_at:
            raise KeyboardInterrupt
        self.values.append((step, values))
        return True


def test_advantages_by_hand():
    # Two steps, then an ending, then a step that goes on; discount 0.5, lambda 0.5.
    rewards, values = torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([[0.5], [1.0], [2.0]])
    done = torch.tensor([[0.0], [1.0], [0.0]])
    found = estimate_advantages(rewards, values, torch.tensor([8.0]), done, discount=0.5, gae_lambda=0.5)
    last = 4.0 + 0.5 * 8.0 - 2.0
    ended = 2.0 - 1.0
    first = (1.0 + 0.5 * 1.0 - 0.5) + 0.25 * ended
    assert found[:, 0].tolist() == [first, ended, last]


def test_a_line_stays_at_both_ends():
    assert [linear(x, 4.0, 2.0, 10, 20) for x in (0, 10, 15, 20, 99)] == [4.0, 4.0, 3.0, 2.0, 2.0]


def test_ppo_learns_the_open_field():
    log = Log()
    config = replace(SHORT, steps=30_000, rollout_steps=32, minibatches=4, checkpoint_every=100_000)
    make_ppo(config, num_envs=32, hidden_dim=32, log=log).run()
    rates = [values["SR"] for _, values in log.values]
    assert rates[0] < 0.4
    assert np.mean(rates[-4:]) > 0.85
    assert log.values[-1][1]["start distance"] > 1.3


def test_the_same_seed_gives_the_same_weights_and_another_does_not():
    one, same, other = (weights(make_ppo(seed=seed).run()) for seed in (3, 3, 4))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_a_resumed_run_ends_with_the_same_weights(tmp_path):
    expected = weights(make_ppo().run())
    file = tmp_path / "ppo.partial"
    with pytest.raises(KeyboardInterrupt):
        make_ppo(checkpoint=file, log=Log(stop_at=9)).run()
    resumed = make_ppo(checkpoint=file)
    assert resumed.step == 768
    assert torch.equal(weights(resumed.run()), expected)


def test_the_checkpoint_of_another_plan_is_refused(tmp_path):
    file = tmp_path / "ppo.partial"
    make_ppo(checkpoint=file).run()
    with pytest.raises(BadArgument, match="another training run"):
        make_ppo(replace(SHORT, clip=0.1), checkpoint=file)
    assert make_ppo(replace(SHORT, clip=0.1), checkpoint=file, overwrite=True).step == 0


def test_sequences_in_minibatches_give_the_probabilities_of_the_rollout():
    ppo = make_ppo()
    ppo._start_segment()
    batch, steps = ppo._collect()
    assert steps == 16 * 8
    for index in (torch.tensor([0, 3]), torch.arange(8)):
        part = batch.select(index)
        output, _ = ppo.policy(part.observations, part.state)
        log_probs = ppo._log_probs(output.logits, part.far).gather(2, part.actions[..., None])[..., 0]
        torch.testing.assert_close(log_probs, part.log_probs, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(output.value, part.values, atol=1e-5, rtol=1e-5)


def test_episodes_cut_off_by_the_limit_count_the_value_of_their_last_observation():
    ppo = make_ppo(replace(SHORT, gate=None), limit=1)
    with torch.no_grad():
        ppo.policy.heads.weight.zero_()
        ppo.policy.heads.bias[0], ppo.policy.heads.bias[-1] = -1e9, 10.0  # never STOP, and every value is 10
    ppo._start_segment()
    rewards = []
    step = ppo.stage.step
    ppo.stage.step = lambda actions: (result := step(actions), rewards.append(result.rewards.copy()))[0]
    batch, _ = ppo._collect()
    expected = torch.from_numpy(np.stack(rewards)).float() + 0.99 * 10.0
    torch.testing.assert_close(batch.returns, expected)


def test_the_loss_is_the_sum_of_the_clipped_terms_of_every_step():
    ppo = make_ppo()
    ppo._start_segment()
    batch, _ = ppo._collect()
    rng = torch.Generator().manual_seed(5)
    shaken = replace(
        batch,
        log_probs=batch.log_probs + 0.5 * torch.randn(batch.values.shape, generator=rng),
        values=batch.values + torch.randn(batch.values.shape, generator=rng),
    )
    with torch.no_grad():
        found = ppo._loss(shaken).item()
        output, _ = ppo.policy(shaken.observations, shaken.state)
    total = 0.0
    for k in range(16):
        for n in range(8):
            logits = output.logits[k, n].double().clone()
            logits[0] -= 1e9 * float(shaken.far[k, n])
            log_probs = logits.log_softmax(0)
            advantage, value = float(shaken.advantages[k, n]), float(output.value[k, n])
            ratio = math.exp(float(log_probs[shaken.actions[k, n]]) - float(shaken.log_probs[k, n]))
            total -= min(ratio * advantage, min(max(ratio, 0.8), 1.2) * advantage)
            old, target = float(shaken.values[k, n]), float(shaken.returns[k, n])
            near = old + min(max(value - old, -0.2), 0.2)
            total += 0.5 * 0.5 * max((value - target) ** 2, (near - target) ** 2)
            total += 0.01 * float((log_probs.exp() * log_probs).sum())
    assert found == pytest.approx(total, rel=1e-4)


def test_stop_is_never_taken_beyond_the_gate_and_soon_without_it():
    def stops_far(config):
        ppo = make_ppo(config)
        ppo._start_segment()
        batch, _ = ppo._collect()
        return int(((batch.actions == 0) & (batch.observations.pointgoal[..., 0] >= 0.3)).sum())

    assert stops_far(SHORT) == 0
    assert stops_far(replace(SHORT, gate=None)) > 10


def test_a_gate_lifts_slowly():
    gate = StopGate(lift_from=0.5, lift_until=0.9, penalty=4.0)
    found = [gate.penalty_at(progress) for progress in (0.0, 0.49, 0.5, 0.7, 0.9, 1.0)]
    assert found == pytest.approx([1e9, 1e9, 4.0, 2.0, 0.0, 0.0])
    assert StopGate().penalty_at(1.0) == 1e9


def test_the_distance_grows_only_while_most_episodes_succeed():
    ppo = make_ppo()
    for successes, expected in ((25, 1.0), (26, 1.3), (0, 1.3)):
        ppo._count_steps(10, np.array([50.0, successes, 0, 0, 0, 0]))
        assert ppo.distance == pytest.approx(expected)
    ppo._count_steps(10, np.array([40.0, 40, 0, 0, 0, 0]))  # not yet a whole window
    assert ppo.distance == pytest.approx(1.3)
    for _ in range(20):
        ppo._count_steps(10, np.array([50.0, 50, 0, 0, 0, 0]))
    assert ppo.distance == 3.0


def test_the_stage_is_told_the_distance_and_the_steps_of_all():
    ppo = make_ppo()
    ppo.run()
    assert ppo.stage.field.max_distance == ppo.distance
    assert ppo.stage.steps_taken == ppo.step == 1536


def test_the_model_with_the_best_score_is_the_result():
    scores = iter([0.2, 0.9, 0.3])
    kept = []

    def evaluate(step):
        kept.append(weights(ppo.model).clone())
        return next(scores)

    ppo = make_ppo(replace(SHORT, steps=3 * 512, evaluate_every=512), evaluate=evaluate)
    found = weights(ppo.run())
    assert ppo.best.step == 1024
    assert ppo.best.evaluations_since == 1
    assert torch.equal(found, kept[1])
    assert not torch.equal(found, kept[2])


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: replace(SHORT, steps=0), "steps"),
        (lambda: make_ppo(num_envs=1), "minibatches"),
        (lambda: PPO(make_model(), OpenField(4, Field()), SHORT, seed=0), "starts"),
    ],
)
def test_impossible_settings_are_refused(make, word):
    with pytest.raises(BadArgument, match=word):
        make()


def test_a_policy_with_other_actions_than_the_robot_is_refused():
    stage = OpenField(4, Field())
    stage.num_actions = 6
    with pytest.raises(BadArgument, match="6"):
        PPO(make_model(), stage, SHORT, seed=0, starts=stage.field)
