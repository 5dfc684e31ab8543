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
    assert [state.step for state in steps] == [1, 2, 3, 4]
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

    def interrupt(state):

        if state.step == 3:
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


def test_training_speaks_on_stderr_with_loss_and_time_left(capsys):
    train()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("rcm: 4 steps on 6 episodes of drawn in 1 scene; 0.0")
    assert [line.partition(",")[0] for line in lines[1:]] == [f"rcm: {k} of 4 steps" for k in (1, 2, 3, 4)]
    assert all("loss " in line and line.endswith("min left") for line in lines[1:])
    train(progress=lambda state: None)
    train(verbose=False)
    assert capsys.readouterr().err == ""


def test_curves_of_loss_and_scores_are_written(tmp_path):
    from training.test_progress import curves

    validated(tensorboard=tmp_path / "curves", steps=4)
    found = curves(tmp_path / "curves")
    assert [step for step, _ in found["loss"]] == [1, 2, 3, 4]
    assert [step for step, _ in found["held out/SPL"]] == [2, 4]


# Validation and early stopping


def validated(out=None, **options):
    held_out = Split("held out", data()[0].episodes[:4])
    options = {"steps": 12, "evaluate_every": 2, "validation": held_out, "learning_rate": 0.02} | options
    return train(out, **options)


def test_the_best_model_on_the_validation_split_is_kept(caplog, tmp_path):
    caplog.set_level(logging.INFO, logger="itinera")
    scores = []

    def remember(state):
        if state.scores is not None:
            scores.append(state.scores.mean(state.monitor))

    out = tmp_path / "agent.safetensors"
    agent = validated(out, progress=remember)
    assert "held out: SR " in caplog.text
    assert "– " in caplog.text  # intervals
    card = read_model(out).model.card
    assert card.metadata == agent.metadata
    assert (card.metadata["monitor"], card.metadata["validation"], card.metadata["last_step"]) == (
        "SPL",
        "held out",
        12,
    )
    best = card.metadata["best_step"]
    assert best % 2 == 0
    assert card.metadata["score"] >= max(scores)
    # The weights are those that a run without validation has after that step.
    model = tiny_model(columns=(), config=CONFIG)
    states = []

    def copy_weights(state):
        states.append({name: value.clone() for name, value in model.policy.state_dict().items()})

    given = {"steps": 12, "batch_size": 4, "learning_rate": 0.02}
    itinera.train(model, *data(), **given, progress=copy_weights)
    again = tiny_model(columns=(), config=CONFIG)
    held_out = Split("held out", data()[0].episodes[:4])
    agent = itinera.train(again, *data(), **given, validation=held_out, evaluate_every=2)
    best = states[agent.metadata["best_step"] - 1]
    assert all(torch.equal(best[name], value) for name, value in again.policy.state_dict().items())


@pytest.mark.parametrize("monitor", ["SPL", "SR", "nDTW", "NE"])
def test_the_score_of_validation_is_that_of_a_run(monitor):
    agent = validated(steps=60, evaluate_every=10, monitor=monitor)
    held_out, worlds = Split("held out", data()[0].episodes[:4]), data()[1]
    scores = itinera.score(itinera.run(agent, held_out, worlds, workers=0), held_out, worlds)
    assert agent.metadata["score"] == pytest.approx(scores[monitor].mean(), abs=1e-6)


def test_training_stops_when_the_score_does_not_improve(caplog):
    caplog.set_level(logging.INFO, logger="itinera")
    steps = []
    agent = validated(patience=2, steps=200, learning_rate=1e-9, progress=lambda state: steps.append(state.step))
    # Weights that do not change: the first evaluation is the best, two more do not improve it.
    assert steps[-1] == 6
    assert (agent.metadata["best_step"], agent.metadata["last_step"]) == (2, 6)
    assert "Stopped at step 6 of 200: SPL did not improve further." in caplog.text


def test_evaluation_does_not_change_the_weights_of_training():
    every = validated(evaluate_every=1, steps=6, learning_rate=1e-9, monitor="NE", patience=None)
    rarely = validated(evaluate_every=6, steps=6, learning_rate=1e-9, monitor="NE")
    assert every.metadata["best_step"] == 1
    assert rarely.metadata["best_step"] == 6
    assert every.metadata["score"] == rarely.metadata["score"] > 0


@pytest.mark.parametrize("stop_at", [3, 7, 11])
def test_an_interrupted_run_with_validation_resumes_and_ends_with_the_same_weights(
    tmp_path, monkeypatch, caplog, stop_at
):
    from itinera.training import train_agent

    caplog.set_level(logging.INFO, logger="itinera")
    monkeypatch.setattr(train_agent, "Schedule", lambda *args, **more: SCHEDULE(*args, **more, checkpoint_every=3))
    whole, out = tmp_path / "whole.safetensors", tmp_path / "agent.safetensors"
    validated(whole, patience=3)

    def interrupt(state):
        if state.step == stop_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        validated(out, patience=3, progress=interrupt)
    assert f"Interrupted after step {stop_at} of 12. Run the same again to resume" in caplog.text
    caplog.clear()
    validated(out, patience=3)
    assert out.read_bytes() == whole.read_bytes()
    if stop_at > 3:
        assert f"rcm: resumed at step {(stop_at - 1) // 3 * 3} of 12." in caplog.text
    with pytest.raises(BadArgument, match="comes from another training run"):
        validated(out, patience=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"validation": None}, "evaluate_every needs episodes to evaluate on: give validation="),
        ({"evaluate_every": 0}, "evaluate_every must be ≥ 1"),
        ({"patience": 0}, "patience must be ≥ 1"),
        ({"monitor": "SLP"}, "Did you mean SPL?"),
        ({"validation": Split("empty", ())}, "empty contains no episodes"),
        ({"batch_size": 0}, "batch_size must be ≥ 1"),
        ({"learning_rate": float("nan")}, "learning_rate must be > 0"),
        ({"teacher_forcing_ratio": 1.5}, "teacher_forcing_ratio must be from 0 to 1"),
        ({"steps": None, "minutes": float("inf")}, "minutes must be > 0"),
        ({"seed": -1}, "seed must be ≥ 0"),
    ],
)
def test_wrong_validation_options_say_what_to_give(options, message):
    with pytest.raises(BadArgument, match=message):
        validated(**options)


def test_validation_in_worlds_that_are_not_given_is_refused():
    split, _ = data()
    elsewhere = Split("elsewhere", tuple(replace(episode, world_id="villa") for episode in split.episodes))
    with pytest.raises(BadArgument, match="World villa of elsewhere is not among the worlds"):
        validated(validation=elsewhere)


# Policies from outside the package


def train_own(policy="own_policy:GeometryPolicy", out=None, **options):
    options = {"steps": 4, "batch_size": 4, "seed": 1} | options
    return itinera.train(policy, *data(), out=out, **options)


@pytest.mark.parametrize("name", ["GeometryPolicy", "StubbornPolicy"])
def test_a_policy_of_ones_own_is_trained_saved_and_run(tmp_path, name):
    out, named = tmp_path / "own.safetensors", f"own_policy:{name}"
    agent = train_own(named, out, config={"word_dim": 6})
    card = read_model(out, policy=named).model.card
    assert card.kind == named
    assert card.config["word_dim"] == 6
    assert train_own(named, out, config={"word_dim": 6}).fingerprint == agent.fingerprint  # complete already
    loaded = itinera.load_agent(out, policy=named)
    assert loaded.fingerprint == agent.fingerprint
    split, worlds = data()
    ours = itinera.run(agent, split, worlds, workers=0)
    theirs = itinera.run(str(out), split, worlds, workers=0, policy=named)
    assert [r.trajectories[0].places for r in ours.rollouts] == [r.trajectories[0].places for r in theirs.rollouts]
    assert itinera.check_agent(str(out), policy=named)


def test_the_class_may_be_given_itself(tmp_path):
    from own_policy import GeometryConfig, GeometryPolicy

    by_name, by_class = train_own(), train_own(GeometryPolicy, config=GeometryConfig())
    assert by_name.fingerprint == by_class.fingerprint


def test_an_own_policy_resumes_and_continues(tmp_path, monkeypatch):
    from itinera.training import train_agent

    out = tmp_path / "own.safetensors"
    monkeypatch.setattr(train_agent, "Schedule", lambda *args, **more: SCHEDULE(*args, **more, checkpoint_every=2))

    def interrupt(state):
        if state.step == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_own(out=out, progress=interrupt)
    assert train_own(out=out).fingerprint == train_own().fingerprint
    more = train_own(start_from=out, steps=2)
    assert more.fingerprint != train_own(steps=2).fingerprint
    train(tmp_path / "rcm.safetensors")
    with pytest.raises(BadArgument, match=r"is a model of kind rcm, not hamt"):
        itinera.train("hamt", *data(), steps=1, start_from=tmp_path / "rcm.safetensors")


def test_opening_a_model_file_imports_nothing_that_is_not_named(tmp_path):
    import subprocess
    import sys

    out = tmp_path / "own.safetensors"
    train_own(out=out)
    program = f"""
import sys
import itinera
for read in (itinera.load_agent, itinera.check_agent, lambda path: itinera.train(path, "tasks", "worlds", steps=1)):
    try:
        read({str(out)!r})
    except itinera.errors.ItineraError as error:
        print(error)
assert "own_policy" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.count("--policy own_policy:GeometryPolicy") == 2
    with pytest.raises(BadFile, match="a class outside Itinera, which is never imported by itself"):
        itinera.run(str(out), *data(), workers=0)
    with pytest.raises(BadFile, match="If you trust its code, name it: --policy own_policy:GeometryPolicy"):
        itinera.train(out, *data(), steps=1)


def test_wrong_classes_say_what_a_policy_is(tmp_path):
    for policy, message in (
        ("own_policy:GeometryConfig", "not a policy: it must be a subclass of itinera.policies.base.Policy"),
        ("own_policy:Nothing", "has no Nothing"),
        ("no_such_module:Policy", "cannot be imported"),
        ("itinera.policies.base:Policy", "lacks the methods encode_instruction, forward"),
    ):
        with pytest.raises(BadArgument, match=message):
            train_own(policy)
    with pytest.raises(BadArgument, match="Did you mean word_dim"):
        train_own(config={"word_dims": 3})
    with pytest.raises(BadArgument, match="config is not a GeometryConfig: Expected `int`, got `str`"):
        train_own(config={"word_dim": "wide"})
    with pytest.raises(BadArgument, match="names the class of a model file"):
        itinera.run("random", *data(), workers=0, policy="own_policy:GeometryPolicy")
    rcm = tmp_path / "rcm.safetensors"
    train(rcm)
    with pytest.raises(BadFile, match="which is part of Itinera"):
        itinera.load_agent(rcm, policy="own_policy:GeometryPolicy")
