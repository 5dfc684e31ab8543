"""`itinera.train`: a small agent from tasks and worlds to predictions, resumed, refused and replaced."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest
import torch

import itinera
from itinera.errors import BadArgument, BadFile
from itinera.policies.checkpoint import Model, read_model
from itinera.policies.rcm import RCMConfig
from itinera.policies.tokenizer import Tokenizer
from itinera.tasks import Split
from training.interruptible import place
from training.small_models import NumberedViews, tiny_card, tiny_model

CONFIG = RCMConfig(
    word_dim=8, text_dim=8, num_text_layers=1, visual_dim=12, key_dim=6, hidden_dim=10, scorer_dim=8, dropout=0.1
)


def data():
    return Split("drawn", place().episodes), place().worlds


def train(out=None, **options):
    options = {"config": CONFIG, "steps": 4, "batch_size": 4, "seed": 1} | options
    return itinera.train("rcm", *data(), out=out, **options)


def test_an_agent_learns_the_tasks_and_runs():
    agent = train(steps=150, learning_rate=0.02)
    split, worlds = data()
    predictions = itinera.run(agent, split, worlds, workers=0)
    assert itinera.score(predictions, split, worlds)["SR"].mean() > 0.9


def test_runs_of_one_seed_are_identical_and_leave_torch_as_it_was():
    torch.manual_seed(5)
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    one, same, other = train(), train(), train(seed=2)
    assert one.fingerprint == same.fingerprint != other.fingerprint
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads


def test_a_finished_file_is_loaded_and_one_of_another_run_is_refused(tmp_path, caplog):
    out = tmp_path / "agent.safetensors"
    steps = []
    agent = train(out, progress=steps.append)
    assert steps == [1] * 4
    assert not out.with_name("agent.safetensors.partial").exists()
    caplog.set_level(logging.INFO, logger="itinera")
    assert train(out).fingerprint == agent.fingerprint
    assert "is complete already" in caplog.text
    for options in ({"seed": 2}, {"steps": 5}, {"teacher_forcing_ratio": 1.0}, {"views": NumberedViews()}):
        with pytest.raises(BadArgument, match=r"comes from another training run: .* overwrite=True"):
            train(out, **options)
    assert train(out, seed=2, overwrite=True).fingerprint != agent.fingerprint
    assert itinera.load_agent(out).fingerprint == read_model(out).model.fingerprint


def test_an_interrupted_run_resumes_and_ends_with_the_same_weights(tmp_path, monkeypatch):
    from itinera.training import train_agent

    monkeypatch.setattr(train_agent, "Schedule", lambda *args, **more: SCHEDULE(*args, **more, checkpoint_every=2))
    out = tmp_path / "agent.safetensors"

    def interrupt(count, made=[0]):  # noqa: B006
        made[0] += count
        if made[0] == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(out, steps=6, progress=interrupt)
    assert not out.exists()
    with pytest.raises(BadArgument, match="is a checkpoint of another training run"):
        train(out, steps=5)
    left = []
    agent = train(out, steps=6, progress=left.append)
    assert len(left) == 4  # from the checkpoint after two steps
    assert agent.fingerprint == train(tmp_path / "whole.safetensors", steps=6).fingerprint


from itinera.training.trainer import Schedule as SCHEDULE  # noqa: E402


def test_rewards_and_models_can_be_given():
    assert train(reward="goal").fingerprint != train(reward="fidelity").fingerprint
    model = tiny_model(columns=())
    before = model.fingerprint
    trained = itinera.train(model, *data(), steps=2, batch_size=4)
    assert trained.fingerprint != before
    assert trained.requirements.columns == ()


def test_views_are_part_of_the_model(tmp_path):
    agent = train(tmp_path / "agent.safetensors", views=NumberedViews())
    assert len(agent.requirements.columns) == NumberedViews.size
    card = read_model(tmp_path / "agent.safetensors").model.card
    assert card.metadata["steps"] == 4
    assert "kitchen" in card.words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": None}, "steps=… or as minutes=…"),
        ({"minutes": 1.0}, "steps=… or as minutes=…"),
        ({"steps": 0}, "steps must be ≥ 1"),
        ({"reward": "gold"}, "reward"),
    ],
)
def test_wrong_options_say_what_to_give(options, message):
    with pytest.raises(BadArgument, match=message):
        train(**options)


def test_wrong_policies_and_tasks_say_what_to_give(tmp_path):
    with pytest.raises(BadArgument, match="rcm"):
        itinera.train("rmc", *data(), steps=1)
    with pytest.raises(BadFile, match="there is no such file"):
        itinera.train(tmp_path / "none.safetensors", *data(), steps=1)
    with pytest.raises(BadArgument, match="rcm-fidelity"):
        itinera.load_agent("rcm-fidelty")
    split, worlds = data()
    ground = replace(split.episodes[0], start=replace(split.episodes[0].start, place=np.zeros(3)))
    with pytest.raises(BadArgument, match="train on graph tasks"):
        itinera.train("rcm", Split("ground", (ground,)), worlds, steps=1)
    other = Model(tiny_model().policy, tiny_card())
    with pytest.raises(BadArgument, match="Give the views it was trained with"):
        itinera.train(other, split, worlds, steps=1)
    assert len(Tokenizer(other.card.words)) > 3


def test_minutes_are_a_number_of_steps():
    from itinera.training.train_agent import TrainingOptions

    assert TrainingOptions(minutes=2.0).count_steps("rcm") == 520
    with pytest.raises(BadArgument, match="Give steps=… instead of minutes=…"):
        TrainingOptions(minutes=2.0).count_steps("tour-hamt")
