"""Training of decision agents: batches, losses, resumption, and evaluation as in a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import itinera
from itinera.agents.decisions import BINS
from itinera.errors import BadArgument, BadFile
from itinera.mapping.config import MapLifetime
from itinera.policies.checkpoint import encode_model
from itinera.policies.ground.decision import SMALL, STOP_BIN
from itinera.policies.ground.requirements import GroundContext
from itinera.runs.prepare import prepare_run
from itinera.tasks.protocol import R2R_CE
from itinera.training.ground.decision_batches import PathTexts, RollSampler
from itinera.training.ground.decision_data import DecisionData, make_sources, world_words
from itinera.training.ground.decision_evaluation import (
    evaluate_decisions,
    other_instructions,
    predict,
    reading_gap,
)
from itinera.training.ground.decision_losses import compute_losses, exchange_texts
from itinera.training.ground.decision_store import read_rolls, write_rolls
from itinera.training.ground.decisions import DecisionOptions, new_model, train_decisions
from itinera.worlds import Euclidean, World
from named_rooms import named_tasks, named_world

TINY = replace(SMALL, word_dim=12, text_dim=16, bin_dim=16, hidden_dim=16, scorer_dim=8, max_decisions=6)
WORLDS = {"rooms": named_world()}
TASKS = named_tasks()
SOME = TASKS.select([episode.id for episode in TASKS.episodes[:9]])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("rolls")


@pytest.fixture(scope="module")
def data(folder):
    return DecisionData(TASKS, WORLDS, folder)


@pytest.fixture(scope="module")
def sampler(data):
    return make_sampler(data)


def make_sampler(data, **more):
    tokenizer = data.fit_tokenizer(TINY)
    texts = PathTexts.from_episodes(data.split.episodes, tokenizer, max_words=20)
    words = data.label_words(tokenizer, TINY)
    return RollSampler(data.expert_rolls(TINY), words, texts, tokenizer, batch_size=6, seed=0, **more)


def test_a_batch_has_the_decisions_of_its_rolls_and_the_instructions_of_their_paths(data, sampler):
    (rolls,) = data.expert_rolls(TINY)
    batch = sampler.batch(np.array([0, 3]))
    for r, k in enumerate((0, 3)):
        span = slice(int(rolls.starts[k]), int(rolls.starts[k + 1]))
        n = span.stop - span.start
        assert batch.mask[r].sum() == n
        stops = rolls.label_steps[span] == 0
        expected = np.where(stops, STOP_BIN, rolls.label_bins[span])
        assert batch.label_bins[r, :n].tolist() == expected.tolist()
        assert batch.chosen_bins[r, :n].tolist() == rolls.bins[span].tolist()
    assert len(batch.words) == 6
    assert len(batch.views.numbers) == batch.mask.sum()


def test_mirrored_rolls_turn_to_the_other_side_and_read_the_other_side(data, sampler):
    rows = np.array([1])
    tokenizer = data.fit_tokenizer(TINY)
    plain, mirrored = sampler.batch(rows), sampler.batch(rows, flips=np.array([True]))
    moves = plain.mask & (plain.label_bins != STOP_BIN)
    assert torch.equal((BINS - plain.label_bins[moves]) % BINS, mirrored.label_bins[moves])
    left, right = (tokenizer.index.get(word, -1) for word in ("left", "right"))
    assert (plain.words == left).any()
    assert right == -1 or (mirrored.words == right).any()


def test_the_loss_of_an_instruction_does_not_depend_on_the_others_in_its_batch(data, sampler):
    model = new_model(data, TINY, DecisionOptions(1), 0)
    model.policy.eval()
    whole = compute_losses(model.policy, sampler.batch(np.array([0, 5, 7])))
    alone = compute_losses(model.policy, sampler.batch(np.array([5])))
    n = int(alone.mask[0].sum())
    for name in ("windowed", "hard", "steps"):
        torch.testing.assert_close(getattr(whole, name)[3:6, :n], getattr(alone, name)[:, :n], atol=1e-5, rtol=1e-4)
        assert (getattr(whole, name) >= -1e-6).all()
        assert (getattr(whole, name)[~whole.mask] == 0).all()


def test_exchanged_instructions_are_those_of_another_roll(sampler):
    batch = sampler.batch(np.array([0, 1]))
    other = exchange_texts(batch)
    assert torch.equal(other.words[:3], batch.words[3:])
    assert torch.equal(other.words[3:], batch.words[:3])


def test_every_epoch_has_every_roll_once(data, sampler):
    (rolls,) = data.expert_rolls(TINY)
    assert len(sampler) == len(rolls) // 6
    assert torch.equal(sampler[3].words, sampler[3].words)


def test_rolls_come_back_from_their_file_and_damaged_files_are_made_again(data, folder, tmp_path):
    (rolls,) = data.expert_rolls(TINY)
    path = tmp_path / "rolls.npz"
    write_rolls(path, rolls, "plan")
    found = read_rolls(path, "plan")
    assert found.paths == rolls.paths
    np.testing.assert_array_equal(found.views.numbers, rolls.views.numbers)
    np.testing.assert_array_equal(found.views.weights, rolls.views.weights)
    assert read_rolls(path, "another plan") is None
    path.write_bytes(path.read_bytes()[:-200])
    assert read_rolls(path, "plan") is None
    stored = folder / "expert-panorama" / "rooms.npz"
    stored.write_bytes(b"nothing")
    (again,) = data.expert_rolls(TINY)
    np.testing.assert_array_equal(again.bins, rolls.bins)
    np.testing.assert_array_equal(again.views.labels, rolls.views.labels)


@pytest.mark.parametrize("remembers", [False, True])
def test_evaluation_is_a_run_and_its_score(data, folder, remembers, tmp_path):
    config = replace(TINY, remembers=remembers)
    model = new_model(data, config, DecisionOptions(1), 1)
    model.policy.eval()
    file = tmp_path / "model.safetensors"
    file.write_bytes(encode_model(model))
    sources = make_sources(config, MapLifetime.EPISODIC)
    mine = predict(model, WORLDS["rooms"], world_words(model)(WORLDS["rooms"]), SOME.episodes, R2R_CE, sources=sources)
    predictions = itinera.run(file, SOME, WORLDS, workers=0)
    for one, other in zip(mine, predictions.rollouts, strict=True):
        np.testing.assert_array_equal(one.trajectories[0].places, other.trajectories[0].places)
        assert one.trajectories[0].ending is other.trajectories[0].ending
    table = evaluate_decisions(model, SOME, WORLDS, world_words(model), sources=sources)
    scores = itinera.score(predictions, SOME, WORLDS)
    for metric in ("SR", "SPL", "nDTW", "NE"):
        assert table.mean(metric) == pytest.approx(float(np.mean(scores[metric])), abs=1e-12)


def test_another_instruction_is_that_of_another_path_of_the_world():
    texts = other_instructions(TASKS)
    for episode in TASKS.episodes:
        assert texts[episode.id] != episode.instruction
        assert any(e.instruction == texts[episode.id] and e.path_id != episode.path_id for e in TASKS.episodes)


class Killed(Exception):
    """Ends a training run in the middle."""


@pytest.mark.parametrize("rounds", [0, 1])
def test_interrupted_training_ends_with_the_same_weights(data, tmp_path, rounds):
    options = DecisionOptions(6, batch_size=6, dagger_rounds=rounds)
    whole = train_decisions(replace(data, folder=tmp_path / "a"), TINY, options)

    def kill(step, loss):
        if step == 5:
            raise Killed

    checkpoint, second = tmp_path / "model.partial", replace(data, folder=tmp_path / "b")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("itinera.training.ground.decisions.CHECKPOINT_EVERY", 2)
        with pytest.raises(Killed):
            train_decisions(second, TINY, options, checkpoint=checkpoint, on_step=kill)
        assert checkpoint.exists()
        resumed = train_decisions(second, TINY, options, checkpoint=checkpoint)
    for name, value in whole.policy.state_dict().items():
        assert torch.equal(value, resumed.policy.state_dict()[name]), name


def test_training_does_not_resume_without_the_rolls_of_its_own_past(data, tmp_path):
    options = DecisionOptions(4, batch_size=6, dagger_rounds=1)
    second = replace(data, folder=tmp_path / "rolls")

    def kill(step, loss):
        if step == 4:
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("itinera.training.ground.decisions.CHECKPOINT_EVERY", 3)
        with pytest.raises(Killed):
            train_decisions(second, TINY, options, checkpoint=tmp_path / "model.partial", on_step=kill)
        for file in (tmp_path / "rolls").glob("dagger-*/*.npz"):
            file.unlink()
        with pytest.raises(BadFile, match="earlier in its training"):
            train_decisions(second, TINY, options, checkpoint=tmp_path / "model.partial")


@pytest.mark.slow
def test_an_agent_learns_to_read_where_the_things_are(tmp_path):
    tasks = named_tasks()
    data = DecisionData(tasks, WORLDS, tmp_path)
    model = train_decisions(data, TINY, DecisionOptions(250, batch_size=12, mirrored=False, learning_rate=5e-3))
    sampler = make_sampler(data)
    gap = reading_gap(model.policy, sampler, np.arange(16))
    assert gap.own < 0.6
    assert gap.gap > 0.5


def test_training_from_python_writes_a_model_that_acts(tmp_path):
    out = tmp_path / "decision.safetensors"
    more = {
        "config": {"word_dim": 8, "hidden_dim": 8, "max_decisions": 2},
        "steps": 2,
        "batch_size": 4,
        "verbose": False,
    }
    agent = itinera.train("decision", SOME, WORLDS, out=out, validation=SOME, evaluate_every=2, **more)
    assert agent.metadata["steps"] == 2
    assert "score" in agent.metadata
    assert not list(tmp_path.glob("*.partial"))
    assert not list(tmp_path.glob("*.rolls"))
    again = itinera.train("decision", SOME, WORLDS, out=out, validation=SOME, evaluate_every=2, **more)
    assert again.fingerprint == agent.fingerprint
    with pytest.raises(BadArgument, match="another training run"):
        itinera.train("decision", SOME, WORLDS, out=out, seed=5, **more)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"steps": 1, "rollouts": 3}, "rollouts"),
        ({"steps": 1, "map_lifetime": "iterative"}, "episodic or known"),
        ({"steps": 1, "config": {"word_dims": 3}}, "DecisionConfig"),
        ({}, "steps"),
    ],
)
def test_options_that_decision_agents_do_not_have_are_refused(options, problem):
    with pytest.raises(BadArgument, match=problem):
        itinera.train("decision", SOME, WORLDS, verbose=False, **options)


def test_an_agent_without_names_to_read_says_so(data):
    model = new_model(data, TINY, DecisionOptions(1), 0)
    bare = World("rooms", named_world().space, mesh=named_world().mesh)
    agent = model.agent(context=GroundContext({"rooms": bare}))
    agent.reset(np.random.default_rng(0))
    agent.start_episode(SOME[0].instruction)
    simulator_run = prepare_run(agent, SOME, {"rooms": bare}, workers=0, max_episodes=1)
    predictions = simulator_run.execute()
    assert "no names of things" in predictions.rollouts[0].trajectories[0].notes["failed"]
    lost = World("elsewhere", Euclidean())
    assert not lost.instances
