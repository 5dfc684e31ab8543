"""Training that is killed, begun again, gone wrong, or taken up by the wrong hands."""

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
from itinera.policies.checkpoint import encode, read_model
from itinera.training.trainer import Chance, NotFinite, Schedule, train
from learning import classes
from training.classes import lesson, trained
from training.pupils import TINY, pupil

STEPS = 8


def numbers(model):
    return {name: value.clone() for name, value in model.policy.state_dict().items()}


def same(one, other):
    a, b = numbers(one), numbers(other)
    assert a.keys() == b.keys()
    return all(torch.equal(a[name], b[name]) for name in a)


@pytest.fixture(scope="module")
def undisturbed():
    return trained(None, STEPS)


def test_two_runs_of_one_seed_are_identical_and_of_two_are_not(undisturbed, tmp_path):
    torch.manual_seed(99)  # whatever was drawn before
    assert same(trained(tmp_path / "a.safetensors", STEPS), undisturbed)
    assert not same(trained(None, STEPS, seed=4), undisturbed)


def test_training_changes_every_part(undisturbed):
    fresh = numbers(pupil(3))
    trained_ = numbers(undisturbed)
    assert [name for name in fresh if torch.equal(fresh[name], trained_[name])] == []


def test_training_killed_at_any_moment_ends_in_the_same_numbers(undisturbed, tmp_path):
    path = tmp_path / "class.safetensors"
    command = [sys.executable, classes.__file__, str(path), str(STEPS), "0.3"]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    while not path.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert 0 < kept_steps(path) < STEPS
    torch.manual_seed(7)
    assert same(trained(path, STEPS), undisturbed)
    assert same(read_model(path).model, undisturbed)
    assert same(trained(path, STEPS), undisturbed)  # which is done


def kept_steps(path):
    found = re.search(r'"step":(\d+)', read_model(path).notes)
    assert found
    return int(found[1])


def test_what_is_heard_is_every_step_and_its_loss():
    heard = []
    model = pupil(3)
    train(
        model,
        lesson(model),
        Schedule(3, warm_up=1),
        seed=3,
        name="class",
        heard=lambda k, loss: heard.append((k, loss)),
    )
    assert [k for k, _ in heard] == [1, 2, 3]
    assert all(loss > 0 for _, loss in heard)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_stops_training_and_its_batch_is_named(tmp_path, bad):
    model, path = pupil(3), tmp_path / "class.safetensors"
    taught = lesson(model)

    def breaking(step, chance):
        loss = taught(step, chance)
        return loss * bad if step == 5 else loss

    with pytest.raises(NotFinite, match=r"Training class stopped at step 5: .* Look at batch 5"):
        train(model, breaking, Schedule(STEPS, warm_up=2, every=3), seed=3, name="class", checkpoint=path)
    assert kept_steps(path) == 3
    assert all(value.isfinite().all() for value in read_model(path).model.policy.state_dict().values())


def test_a_gradient_without_end_stops_training_before_it_is_followed():
    model = pupil(3)
    taught = lesson(model)

    def steep(step, chance):
        loss = taught(step, chance)
        # The root has no slope at 0.
        return loss + (model.policy.stopping * 0).sum().sqrt()

    before = numbers(model)
    with pytest.raises(NotFinite, match="norm of the gradient"):
        train(model, steep, Schedule(STEPS), seed=3, name="class")
    assert all(torch.equal(before[name], value) for name, value in numbers(model).items())


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    path = tmp_path_factory.mktemp("kept") / "class.safetensors"
    trained(path, 3)
    return path


def test_a_checkpoint_of_another_plan_is_refused(checkpoint):
    for steps, more in ((STEPS, {}), (3, {"rate": 0.1}), (3, {"seed": 4})):
        with pytest.raises(BadArgument, match=r"is a checkpoint of other training: .* Remove it to begin anew"):
            trained(checkpoint, steps, **more)


def test_a_checkpoint_of_another_model_is_refused(checkpoint):
    from dataclasses import replace

    model = pupil(3, sizes=replace(TINY, state=14))
    with pytest.raises(BadArgument, match="or of another model"):
        train(model, lesson(model), Schedule(3, warm_up=2, every=3), seed=3, name="class", checkpoint=checkpoint)


def test_a_model_is_no_checkpoint(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(encode(pupil(3)))
    with pytest.raises(BadFile, match="This is a model, not a checkpoint"):
        trained(path, 3)


def test_a_checkpoint_without_its_streams_is_refused(tmp_path, checkpoint):
    opened = read_model(checkpoint)
    for missing in ("chance.own", "optimiser.0.exp_avg"):
        path = tmp_path / f"{missing}.safetensors"
        path.write_bytes(encode(opened.model, {k: v for k, v in opened.more.items() if k != missing}, opened.notes))
        with pytest.raises(BadFile, match=missing):
            trained(path, 3)


def test_a_checkpoint_that_was_cut_off_is_refused(tmp_path, checkpoint):
    path = tmp_path / "class.safetensors"
    path.write_bytes(checkpoint.read_bytes()[:-100])
    with pytest.raises(BadFile, match="is no safetensors file"):
        trained(path, 3)


def test_the_rate_warms_up_then_falls_along_a_cosine():
    schedule = Schedule(100, rate=2.0, last_rate=0.1, warm_up=10)
    rates = [schedule.rate_at(k) for k in range(100)]
    assert rates[0] == pytest.approx(0.2)
    assert rates[9] == max(rates)
    assert rates[50] == pytest.approx(2.0 * (0.1 + 0.9 * 0.5))
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[99] == pytest.approx(0.2, abs=0.01)


def test_chance_is_decided_by_seed_and_names():
    def drawn(*names):
        chance = Chance.of(*names)
        return torch.rand(3, generator=chance.rng).tolist(), torch.rand(3).tolist()

    assert drawn(1, "a") == drawn(1, "a")
    assert drawn(1, "a") != drawn(1, "b")
    own, torchs = drawn(1, "a")
    assert own != torchs
