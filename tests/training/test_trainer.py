"""The training loop: killed and resumed runs, non-finite losses, and checkpoints of other runs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest
import torch

from itinera.errors import BadArgument, BadFile
from itinera.policies.checkpoint import encode_model, read_model
from itinera.runs.resume import exclusive_lock
from itinera.training.trainer import NonFiniteLoss, Schedule, Trainer, seed_torch, train_model
from training import interruptible
from training.interruptible import make_loss_fn, run_training
from training.small_models import TINY, tiny_model

STEPS = 8


def numbers(model):
    return {name: value.clone() for name, value in model.policy.state_dict().items()}


def same(one, other):
    a, b = numbers(one), numbers(other)
    assert a.keys() == b.keys()
    return all(torch.equal(a[name], b[name]) for name in a)


@pytest.fixture(scope="module")
def undisturbed():
    return run_training(None, STEPS)


def test_two_runs_of_one_seed_are_identical_and_of_two_are_not(undisturbed, tmp_path):
    torch.manual_seed(99)  # the state of the global generator must not matter
    assert same(run_training(tmp_path / "a.safetensors", STEPS), undisturbed)
    assert not same(run_training(None, STEPS, seed=4), undisturbed)


def test_training_changes_every_part(undisturbed):
    fresh = numbers(tiny_model(3))
    trained_ = numbers(undisturbed)
    assert [name for name in fresh if torch.equal(fresh[name], trained_[name])] == []


def test_training_killed_at_any_moment_ends_in_the_same_numbers(undisturbed, tmp_path):
    path = tmp_path / "class.safetensors"
    command = [sys.executable, interruptible.__file__, str(path), str(STEPS), "0.3"]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    while not path.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert 0 < steps_made(path) < STEPS
    torch.manual_seed(7)
    assert same(run_training(path, STEPS), undisturbed)
    assert same(read_model(path).model, undisturbed)
    assert same(run_training(path, STEPS), undisturbed)  # already finished


def steps_made(path):
    found = re.search(r'"step":(\d+)', read_model(path).notes)
    assert found
    return int(found[1])


def test_on_step_gets_every_step_and_its_loss():
    calls = []
    model = tiny_model(3)
    train_model(
        model,
        make_loss_fn(model),
        Schedule(3, warmup_steps=1),
        seed=3,
        name="class",
        on_step=lambda k, loss: calls.append((k, loss)),
    )
    assert [k for k, _ in calls] == [1, 2, 3]
    assert all(loss > 0 for _, loss in calls)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_loss_that_is_not_finite_stops_training_and_names_its_batch(tmp_path, bad):
    model, path = tiny_model(3), tmp_path / "class.safetensors"
    loss_fn = make_loss_fn(model)

    def breaking(step, rng):
        loss = loss_fn(step, rng)
        return loss * bad if step == 5 else loss

    with pytest.raises(NonFiniteLoss, match=r"Training class stopped at step 5: .* Inspect batch 5"):
        train_model(
            model, breaking, Schedule(STEPS, warmup_steps=2, checkpoint_every=3), seed=3, name="class", checkpoint=path
        )
    assert steps_made(path) == 3
    assert all(value.isfinite().all() for value in read_model(path).model.policy.state_dict().values())


def test_an_infinite_gradient_stops_training_before_the_optimizer_step():
    model = tiny_model(3)
    loss_fn = make_loss_fn(model)

    def steep(step, rng):
        loss = loss_fn(step, rng)
        # The gradient of the square root at 0 is infinite.
        return loss + (model.policy.stop_embedding * 0).sum().sqrt()

    before = numbers(model)
    with pytest.raises(NonFiniteLoss, match="gradient norm"):
        train_model(model, steep, Schedule(STEPS), seed=3, name="class")
    assert all(torch.equal(before[name], value) for name, value in numbers(model).items())


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    path = tmp_path_factory.mktemp("kept") / "class.safetensors"
    run_training(path, 3)
    return path


def test_a_checkpoint_of_another_plan_is_refused(checkpoint):
    for steps, more in ((STEPS, {}), (3, {"learning_rate": 0.1}), (3, {"seed": 4})):
        with pytest.raises(BadArgument, match=r"is a checkpoint of another training run: .* overwrite=True"):
            run_training(checkpoint, steps, **more)


def test_a_checkpoint_of_another_model_is_refused(checkpoint):
    from dataclasses import replace

    model = tiny_model(3, config=replace(TINY, hidden_dim=14))
    with pytest.raises(BadArgument, match="or its model differs"):
        train_model(
            model,
            make_loss_fn(model),
            Schedule(3, warmup_steps=2, checkpoint_every=3),
            seed=3,
            name="class",
            checkpoint=checkpoint,
        )


def test_overwrite_starts_anew(tmp_path, undisturbed):
    path = tmp_path / "class.safetensors"
    run_training(path, 3)
    assert same(run_training(path, STEPS, overwrite=True), undisturbed)


def test_a_model_is_no_checkpoint(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(encode_model(tiny_model(3)))
    with pytest.raises(BadFile, match="is a trained model, not a training checkpoint"):
        run_training(path, 3)


def test_a_checkpoint_without_its_streams_is_refused(tmp_path, checkpoint):
    opened = read_model(checkpoint)
    for missing in ("rng.sampling", "optimizer.0.exp_avg"):
        path = tmp_path / f"{missing}.safetensors"
        path.write_bytes(
            encode_model(opened.model, {k: v for k, v in opened.extra.items() if k != missing}, opened.notes)
        )
        with pytest.raises(BadFile, match=missing):
            run_training(path, 3)


def test_a_checkpoint_that_was_cut_off_is_refused(tmp_path, checkpoint):
    path = tmp_path / "class.safetensors"
    path.write_bytes(checkpoint.read_bytes()[:-100])
    with pytest.raises(BadFile, match="is not a safetensors file"):
        run_training(path, 3)


def test_a_checkpoint_with_a_changed_byte_is_refused(tmp_path, checkpoint):
    content = checkpoint.read_bytes()
    for position in range(len(content) - 1, 0, -len(content) // 40):
        path = tmp_path / "class.safetensors"
        path.write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
        with pytest.raises(BadFile):
            run_training(path, 3)


def test_two_processes_cannot_train_for_one_checkpoint(tmp_path):
    path = tmp_path / "class.safetensors"
    with exclusive_lock(path), pytest.raises(BadArgument, match="being written by another process"):
        run_training(path, 3)
    run_training(path, 3)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_the_rate_warms_up_then_falls_along_a_cosine():
    schedule = Schedule(100, learning_rate=2.0, final_ratio=0.1, warmup_steps=10)
    rates = [schedule.learning_rate_at(k) for k in range(100)]
    assert rates[0] == pytest.approx(0.2)
    assert rates[9] == max(rates)
    assert rates[50] == pytest.approx(2.0 * (0.1 + 0.9 * 0.5))
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[99] == pytest.approx(0.2, abs=0.01)


def test_random_streams_depend_on_seed_and_names():
    def drawn(*names):
        rng = seed_torch(*names)
        return torch.rand(3, generator=rng).tolist(), torch.rand(3).tolist()

    assert drawn(1, "a") == drawn(1, "a")
    assert drawn(1, "a") != drawn(1, "b")
    own, torchs = drawn(1, "a")
    assert own != torchs


def test_a_step_without_an_update_is_an_error():
    trainer = Trainer(tiny_model(3), Schedule(2), seed=3, name="class")
    with pytest.raises(RuntimeError, match="Step 0 was not updated"):
        list(trainer)


def test_a_checkpoint_with_unknown_or_wrong_streams_is_refused(tmp_path, checkpoint):
    opened = read_model(checkpoint)
    path = tmp_path / "class.safetensors"
    wrong = {"optimizer.x.exp_avg": torch.zeros(1), "rng.torch": opened.extra["rng.torch"].float()}
    path.write_bytes(encode_model(opened.model, opened.extra | wrong, opened.notes))
    with pytest.raises(BadFile) as error:
        run_training(path, 3)
    assert "optimizer.x.exp_avg: is unknown." in str(error.value)
    assert "rng.torch: has the type torch.float32, expected torch.uint8." in str(error.value)


@pytest.mark.parametrize("notes", ["[" * 100_000, '{"plan": "", "step": ' + "9" * 5000 + "}", "x"])
def test_a_checkpoint_whose_notes_are_no_progress_is_refused(tmp_path, checkpoint, notes):
    path = tmp_path / "class.safetensors"
    path.write_bytes(encode_model(read_model(checkpoint).model, {}, notes))
    with pytest.raises(BadFile, match="is a trained model, not a training checkpoint"):
        run_training(path, 3)
