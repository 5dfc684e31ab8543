"""Teacher forcing over tours: lanes hold whole tours, states are carried and detached, killed runs resume."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from itinera.policies.base import select_rows
from itinera.training.ground.batches import make_batch
from itinera.training.ground.lane_agents import ExpertDecider, pad_words
from itinera.training.ground.tour_lanes import tour_jobs
from itinera.training.ground.tour_training import TourLaneSampler, TourTraining
from itinera.training.ground.train_agent import GroundOptions, train_on_ground
from training.ground.small_ground import weights


@pytest.fixture(scope="module")
def tours(ground):
    """The expert on the tours of the house, with guided steps."""
    collector = ground.collector(ground.model("tour-cma"), toured=True, keep_guided=True)
    return [collector.collect([job], ExpertDecider(), seed=0, beta=1.0)[1] for job in tour_jobs(ground.toured)]


def test_every_episode_is_in_one_lane_once_an_epoch_and_in_its_order():
    lengths = [5, 3, 8, 2, 2, 7]
    sampler = TourLaneSampler(lengths, 3, seed=1)
    step, epochs = 0, []
    while len(epochs) < 3:
        if sampler.is_epoch_start(step):
            epochs.append([])
        epochs[-1].append(sampler[step])
        step += 1
    for rows in epochs[:2]:
        lanes = list(zip(*rows, strict=True))
        seen = [(one.tour, one.position) for lane in lanes for one in lane if one is not None]
        assert sorted(seen) == [(tour, k) for tour in range(6) for k in range(lengths[tour])]
        for lane in lanes:
            assert None not in lane[: sum(one is not None for one in lane)]
            inside = [one for one in lane if one is not None]
            for before, after in pairwise(inside):
                assert after.position == 0 or (after.tour, after.position) == (before.tour, before.position + 1)
        assert len(rows) <= 10  # 27 episodes in three lanes
    again = TourLaneSampler(lengths, 3, seed=1)
    assert again[11] == sampler[11]


@pytest.mark.parametrize("kind", ["tour-cma", "pool-cma"])
def test_carried_states_are_those_of_stepping_through_the_tour(ground, tours, kind):
    model = ground.model(kind)
    policy, texts = model.policy.eval(), ground.texts_of(model)
    training = TourTraining(policy, tours[:1], texts, lanes=1, seed=0, texts_per_path=2)
    state = None
    for step, one in enumerate(tours[0]):
        with torch.no_grad():
            training.loss(step)
            words, lengths = pad_words(texts.of_path(one.episode_id, 2))
            if state is None:
                state = policy.encode_instruction(words, lengths)
            else:
                state = policy.update_instruction(state, words, lengths)
            after = tours[0][step + 1] if step + 1 < len(tours[0]) else None
            frames = make_batch([one], [[words[0].numpy()]], None, following=[after]).sequence.frames
            for t in range(len(frames.depth)):
                both = select_rows(frames, torch.tensor([t, t]))
                state = policy(state, both)[0] if t < len(one) else policy.observe(state, both)
        for name in ("vision", "hidden"):
            if name == "vision" or after is None or not after.guided:
                assert torch.allclose(getattr(training._state, name), getattr(state, name), atol=1e-5), name
    assert tours[0][1].guided > 0


def test_no_gradient_flows_into_earlier_episodes(ground, tours):
    model = ground.model("tour-cma")
    training = TourTraining(model.policy.train(), tours, ground.texts_of(model), lanes=2, seed=0)
    for step in range(3):
        training.loss(step).backward()
        assert not any(value.requires_grad for value in (training._state.vision, training._state.hidden))


class Killed(BaseException):
    pass


@pytest.mark.parametrize("kind", ["tour-cma", pytest.param("pool-cma", marks=pytest.mark.slow)])
def test_a_killed_run_resumes_with_the_states_it_carried(ground, tmp_path, kind):
    options = GroundOptions(steps=7, batch_size=2, max_steps=30)

    def train(out, kill=None):
        model = ground.model(kind)

        def progress(state):
            if state.step == kill:
                raise Killed

        train_on_ground(
            model, ground.toured, ground.worlds, options, seed=1, out=out, progress=progress, overwrite=False
        )
        return weights(model)

    whole, out = train(tmp_path / "whole.safetensors"), tmp_path / "killed.safetensors"
    for kill in (3, 6):
        with pytest.raises(Killed):
            train(out, kill)
    found = train(out)
    assert all(np.array_equal(found[name], value) for name, value in whole.items())
