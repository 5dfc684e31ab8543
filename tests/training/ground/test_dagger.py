"""DAgger: the phases of a plan, and the same weights however often a run was killed."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.mapping.config import MapLifetime
from itinera.training.ground import dagger
from itinera.training.ground.dagger import DaggerPlan, expert_jobs
from itinera.training.ground.experience import Collector
from itinera.training.ground.train_agent import GroundOptions, train_on_ground
from training.ground.small_ground import weights

OPTIONS = GroundOptions(steps=8, iterations=2, rollouts=4, teacher_forcing_share=0.5, batch_size=3, max_steps=12)


class Killed(BaseException):
    """The process ends here."""


def train(ground, out, *, seed=5, progress=None, lifetime=MapLifetime.EPISODIC, **more):
    model = ground.model("map-cma", lifetime=lifetime)
    return weights_of(
        train_on_ground(model, ground.split, ground.worlds, OPTIONS, seed=seed, out=out, progress=progress, **more),
        model,
    )


def weights_of(agent, model):
    return weights(model) | {"fingerprint": np.array(agent.fingerprint)}


@pytest.fixture(scope="module")
def uninterrupted(ground, tmp_path_factory):
    return train(ground, tmp_path_factory.mktemp("whole") / "model.safetensors")


def kill_after_step(step):
    def progress(state):
        if state.step == step:
            raise Killed

    return {"progress": progress}


def kill_while(monkeypatch, owner, name, call):
    """Kill at the beginning of the call with this number, counted from 1."""
    original, calls = getattr(owner, name), []

    def killing(*args, **options):
        calls.append(name)
        if len(calls) == call:
            raise Killed
        return original(*args, **options)

    monkeypatch.setattr(owner, name, killing)


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param("the expert walks", marks=pytest.mark.slow),
        "teacher forcing",
        "roll-outs",
        "after roll-outs",
        pytest.param("DAgger", marks=pytest.mark.slow),
        pytest.param("second roll-outs", marks=pytest.mark.slow),
        "the last step",
    ],
)
def test_a_run_that_is_killed_ends_with_the_same_weights(ground, uninterrupted, tmp_path, monkeypatch, moment):
    out, options = tmp_path / "model.safetensors", {}
    with monkeypatch.context() as patch:
        if moment == "the expert walks":
            kill_while(patch, Collector, "collect", 1)
        elif moment == "roll-outs":
            kill_while(patch, Collector, "collect", 2)
        elif moment == "second roll-outs":
            kill_while(patch, Collector, "collect", 3)
        elif moment == "after roll-outs":
            kill_while(patch, dagger, "make_batch", 5)
        else:
            options = kill_after_step({"teacher forcing": 2, "DAgger": 6, "the last step": 8}[moment])
        with pytest.raises(Killed):
            train(ground, out, **options)
    assert not out.exists()
    found = train(ground, out)
    assert all(np.array_equal(found[name], value) for name, value in uninterrupted.items())
    assert [file.name for file in tmp_path.iterdir()] == ["model.safetensors"]


@pytest.mark.slow
def test_a_run_is_killed_again_and_again(ground, uninterrupted, tmp_path):
    out = tmp_path / "model.safetensors"
    for step in range(1, 8):
        with pytest.raises(Killed):
            train(ground, out, **kill_after_step(step))
    found = train(ground, out)
    assert all(np.array_equal(found[name], value) for name, value in uninterrupted.items())


def test_another_seed_gives_other_weights(ground, uninterrupted, tmp_path):
    found = train(ground, tmp_path / "model.safetensors", seed=6)
    assert not np.array_equal(found["action_head.weight"], uninterrupted["action_head.weight"])


def test_the_phases_of_a_plan():
    plan = DaggerPlan(4, iterations=2, steps_per_iteration=3)
    assert plan.steps == 10
    assert [plan.iteration_at(step) for step in range(10)] == [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert [plan.first_step(iteration) for iteration in range(3)] == [0, 4, 7]
    assert DaggerPlan(5, iterations=0).steps == 5


@pytest.mark.parametrize(
    "wrong",
    [
        {"teacher_forcing_steps": 0, "iterations": 0},
        {"teacher_forcing_steps": -1},
        {"teacher_forcing_steps": 1, "beta": 1.5},
        {"teacher_forcing_steps": 1, "expert_share": 1.0},
        {"teacher_forcing_steps": 1, "rollouts": 0},
        {"teacher_forcing_steps": 1, "texts": 0},
    ],
)
def test_plans_that_make_no_sense_are_refused(wrong):
    with pytest.raises(BadArgument):
        DaggerPlan(**wrong)


def test_the_expert_walks_every_path_once(ground):
    world_id = ground.split.world_ids[0]
    for split in (ground.split, ground.toured):
        jobs = expert_jobs(split, world_id)
        paths = [split.by_id[episode.id].path_id for job in jobs for episode in job.episodes]
        assert sorted(paths) == sorted({episode.path_id for episode in split.episodes})
