"""The followers of Speaker-Follower and EnvDrop, in a batch and alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from itinera.policies import envdrop, follower
from itinera.policies.base import select_rows
from itinera.policies.checkpoint import build_model, encode_model, make_card, read_model
from itinera.policies.tokenizer import Tokenizer
from itinera.tasks import Instruction
from itinera.training.experts import shortest_path_expert
from itinera.training.losses import imitation_loss
from itinera.training.rollout import collect_rollout, greedy, teacher_forcing
from text_worlds import episode, world
from training.small_models import COLUMNS, WORDS, select_agent, tiny_data

TEXTS = ("go left to the sofa . stop .", "stop", "go to the kitchen", "left")
PLACE = tiny_data(
    {"house": world("a-b-c-d\n  | |\n  e-f")},
    [
        episode(str(k), path, instruction=Instruction(TEXTS[k]))
        for k, path in enumerate(["abcd", "ebcf", "dcba", "fcd"])
    ],
    panorama=True,
)
CONFIGS = {
    "follower": follower.FollowerConfig(word_dim=8, text_dim=8, visual_dim=12, key_dim=6, hidden_dim=10),
    "envdrop": envdrop.EnvDropConfig(word_dim=8, text_dim=8, visual_dim=12, angle_dim=4, hidden_dim=10),
}
KINDS = [(kind, panorama) for kind in CONFIGS for panorama in (False, True)]
every_kind = pytest.mark.parametrize(("kind", "panorama"), KINDS)


def make_model(kind: str, *, panorama: bool):
    torch.manual_seed(1)
    config = replace(CONFIGS[kind], use_panorama=panorama)
    model = build_model(make_card(kind, config, COLUMNS, Tokenizer(WORDS)))
    model.policy.eval()
    return model


@every_kind
def test_outputs_do_not_depend_on_the_rest_of_the_batch(kind, panorama):
    policy, batch = make_model(kind, panorama=panorama).policy, PLACE.dataset.batch(range(4))
    state = policy.encode_instruction(batch.words, batch.lengths)
    at = PLACE.env.reset(batch.start, batch.view)
    alone = [
        policy.encode_instruction(batch.words[k : k + 1, :n], batch.lengths[k : k + 1])
        for k, n in enumerate(batch.lengths)
    ]
    for _ in range(3):
        seen = PLACE.env.observe(at)
        state, output = policy(state, seen)
        for k in range(4):
            alone[k], mine = policy(alone[k], select_agent(seen, k))
            n = mine.logits.shape[1]
            torch.testing.assert_close(output.logits[k, :n], mine.logits[0], rtol=1e-5, atol=1e-5)
            assert (output.logits[k, n:] == -torch.inf).all()
            torch.testing.assert_close(output.value[k], mine.value[0], rtol=1e-5, atol=1e-5)
        at = PLACE.env.step(at, seen, torch.ones(4, dtype=torch.int64))


@every_kind
def test_selected_rows_keep_their_state(kind, panorama):
    policy, batch = make_model(kind, panorama=panorama).policy, PLACE.dataset.batch(range(4))
    policy.train()
    kept = torch.tensor([3, 1])
    state = policy.encode_instruction(batch.words, batch.lengths)
    for name, value in vars(select_rows(state, kept)).items():
        if isinstance(value, torch.Tensor):
            assert torch.equal(value, getattr(state, name)[kept])


@every_kind
def test_imitation_trains_every_parameter_but_the_critics(kind, panorama):
    policy = make_model(kind, panorama=panorama).policy
    policy.train()
    imitation_loss(
        collect_rollout(
            policy,
            PLACE.env,
            PLACE.dataset.batch(range(4)),
            select_action=teacher_forcing,
            expert=shortest_path_expert,
            max_steps=5,
        )
    ).backward()
    still = {name for name, value in policy.named_parameters() if value.grad is None or not value.grad.abs().sum()}
    # These policies do not use the part of features in the space of words.
    assert {name for name in still if not name.startswith("critic.")} <= {"visual_encoder.word_scales"}


@every_kind
def test_a_few_episodes_are_memorized(kind, panorama):
    policy = make_model(kind, panorama=panorama).policy
    batch = PLACE.dataset.batch(range(4))
    optimizer = torch.optim.Adam(policy.parameters(), 0.02)
    for _ in range(60):
        loss = imitation_loss(
            collect_rollout(
                policy, PLACE.env, batch, select_action=teacher_forcing, expert=shortest_path_expert, max_steps=6
            )
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    walked = collect_rollout(policy, PLACE.env, batch, select_action=greedy, expert=shortest_path_expert, max_steps=6)
    assert bool(walked.stopped.all())
    assert torch.equal(walked.path.gather(1, walked.moves[:, None]).squeeze(1), batch.goal)


@every_kind
def test_a_model_file_restores_the_model(kind, panorama, tmp_path):
    model = make_model(kind, panorama=panorama)
    (tmp_path / "m.safetensors").write_bytes(encode_model(model))
    found = read_model(tmp_path / "m.safetensors").model
    assert found.card == model.card
    assert found.policy.uses_panorama == panorama
    for name, value in model.policy.state_dict().items():
        assert torch.equal(found.policy.state_dict()[name], value)


@pytest.mark.parametrize("module", [follower, envdrop])
def test_the_configurations_of_the_papers_can_be_built(module):
    make = {follower: follower.Follower, envdrop: envdrop.EnvDrop}[module]
    assert sum(value.numel() for value in make(COLUMNS, Tokenizer(WORDS)).parameters()) > 5e6
    small = make(COLUMNS, Tokenizer(WORDS), module.SMALL)
    assert sum(value.numel() for value in small.parameters()) < 1.2e6
    assert not small.uses_panorama
