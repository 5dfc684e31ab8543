"""Proxy tasks: a prefix is what a rollout leaves as history, every task trains its head, and masks hide features."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from itinera.policies import hamt
from itinera.policies.checkpoint import build_model, make_card
from itinera.policies.hamt_pretraining import load_pretrained_weights
from itinera.policies.tokenizer import Tokenizer
from itinera.tasks import Instruction
from itinera.training import pretraining
from itinera.training.dataset import BatchSampler
from itinera.training.experts import reference_path_expert
from itinera.training.pretraining import (
    TASK_RATIOS,
    add_history,
    instruction_trajectory_matching,
    masked_language_modeling,
    masked_region_classification,
    observe_prefix,
    pretraining_objective,
    single_step_action_prediction,
    single_step_action_regression,
    spatial_relationship_prediction,
)
from itinera.training.rollout import collect_rollout, teacher_forcing
from itinera.training.trainer import Schedule, train_model
from text_worlds import episode, world
from training.small_models import COLUMNS, TEXTS, WORDS, tiny_data

CONFIG = replace(hamt.SMALL, hidden_dim=16, num_heads=2, feedforward_dim=16, num_text_layers=1)
DRAWING = """
    a-b-c-d
    | | | |
    e-f-g-h
"""
PATHS = ("abcd", "efgh", "dc", "hgfea", "aef", "cghdc")


def make_data(*, panorama=False):
    episodes = [episode(str(k), path, instruction=Instruction(TEXTS[k % len(TEXTS)])) for k, path in enumerate(PATHS)]
    return tiny_data({"house": world(DRAWING)}, episodes, panorama=panorama)


def make_model(config=CONFIG):
    torch.manual_seed(0)
    return build_model(make_card("hamt-pretraining", config, COLUMNS, Tokenizer(WORDS)))


def test_a_prefix_is_the_history_that_a_rollout_leaves():
    place, proxies = make_data(), make_model().policy
    policy = proxies.policy.eval()
    batch = place.dataset.batch(range(len(PATHS)))
    prefix = observe_prefix(policy, place.env, batch, batch.path_lengths - 1)
    state = add_history(policy, policy.encode_instruction(batch.words, batch.lengths), prefix)
    output = policy.predict(state, prefix.observation)
    done = collect_rollout(
        policy, place.env, batch, select_action=teacher_forcing, expert=reference_path_expert, max_steps=9
    )
    assert prefix.env_state.node.equal(batch.goal)
    assert state.moves.equal(done.moves)
    for k in range(len(PATHS)):
        step = done.steps[int(done.moves[k])]
        own = step.output.logits[step.rows == k][0]
        n = min(len(own), output.logits.shape[1])
        torch.testing.assert_close(output.logits[k][:n], own[:n], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "config", [CONFIG, replace(CONFIG, text_attends=True), replace(CONFIG, use_panorama=True, num_panorama_layers=1)]
)
@pytest.mark.parametrize(
    ("task", "head"),
    [
        (masked_language_modeling, "mlm_head"),
        (masked_region_classification, "mrc_head"),
        (single_step_action_prediction, "policy.action_head"),
        (single_step_action_regression, "sar_head"),
        (spatial_relationship_prediction, "sprel_head"),
        (instruction_trajectory_matching, "itm_head"),
    ],
)
def test_every_task_trains_its_head_and_the_policy(task, head, config, monkeypatch):
    monkeypatch.setattr(pretraining, "MASK_PROBABILITY", 0.6)  # with so few words and steps none might be masked
    place, proxies = make_data(panorama=config.use_panorama), make_model(config).policy
    loss = task(proxies, place.env, place.dataset.batch(range(len(PATHS))), torch.Generator().manual_seed(1))
    loss.backward()
    assert torch.isfinite(loss)
    learned = {name for name, value in proxies.named_parameters() if value.grad is not None and value.grad.any()}
    assert any(name.startswith(head) for name in learned)
    assert any(name.startswith("policy.cross_layers.0") for name in learned)
    assert "policy.embedding.weight" in learned


def test_masked_features_do_not_reach_the_history(monkeypatch):
    place, proxies = make_data(), make_model().policy.eval()
    batch = place.dataset.batch(range(len(PATHS)))
    monkeypatch.setattr(pretraining, "MASK_PROBABILITY", 1.1)
    given = []
    tokens = proxies.policy.history_tokens
    monkeypatch.setattr(proxies.policy, "history_tokens", lambda raw, *more: given.append(raw) or tokens(raw, *more))
    masked_region_classification(proxies, place.env, batch, torch.Generator().manual_seed(0))
    (raw,) = given
    n = len(COLUMNS)
    mask = observe_prefix(proxies.policy, place.env, batch, batch.path_lengths - 1).mask.reshape(-1)
    assert not raw[mask][:, : 2 * n].any()
    assert raw[mask][:, 2 * n :].any(dim=1).all()  # the geometry of the action


def test_pretraining_lowers_the_loss_and_a_policy_loads_its_weights(monkeypatch):
    monkeypatch.setattr(pretraining, "DROP_FEATURES_PROBABILITY", 0.0)  # then six paths can be memorized
    monkeypatch.setattr(pretraining, "DROP_GEOMETRY_PROBABILITY", 0.0)
    place, made = make_data(), make_model(replace(CONFIG, token_dropout=0.0, env_dropout=0.0))
    losses = []
    loss_fn = pretraining_objective(
        made.policy, place.env, BatchSampler(place.dataset, 6, seed=0), {single_step_action_prediction: 1}
    )
    schedule = Schedule(60, learning_rate=3e-3, warmup_steps=5)
    train_model(made, loss_fn, schedule, seed=0, name="proxies", on_step=lambda step, loss: losses.append(loss))
    assert sum(losses[-10:]) < 0.7 * sum(losses[:10])
    for kind in ("hamt", "tour-hamt"):
        policy = build_model(make_card(kind, made.policy.policy.config, COLUMNS, Tokenizer(WORDS))).policy
        assert load_pretrained_weights(policy, made.policy) is policy
        for name, value in made.policy.policy.state_dict().items():
            assert policy.state_dict()[name].equal(value)


def test_task_ratios_are_those_of_the_paper():
    tasks = (
        masked_language_modeling,
        single_step_action_prediction,
        single_step_action_regression,
        spatial_relationship_prediction,
        masked_region_classification,
        instruction_trajectory_matching,
    )
    assert [TASK_RATIOS[task] for task in tasks] == [5, 1, 1, 1, 2, 2]
