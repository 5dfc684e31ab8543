"""Noise on observations of graphs: what changes, what does not, and that missing candidates are never chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from itinera.policies import rcm
from itinera.policies.observation import (
    CANDIDATE_SCALE,
    GEOMETRY_DIM,
    BatchObservation,
    encode_place_geometry,
    make_padded_index,
)
from itinera.policies.tokenizer import Tokenizer
from itinera.training.dataset import EpisodeDataset
from itinera.training.experts import shortest_path_expert
from itinera.training.jitter import COSINE, COUNT, DISTANCE, SINE, CandidateJitter, JitterConfig
from itinera.training.losses import imitation_loss
from itinera.training.rollout import collect_rollout, greedy, mixed_forcing
from itinera.training.vector_env import build_env
from text_worlds import episode, world

COLUMNS = ("sofa", "in kitchen", "in hallway", "to kitchen", "to hallway", "to the same room", "towards sofa")
COUNTS = torch.tensor([3, 1, 5, 4])
STILL = JitterConfig(heading=0, shortest=1, longest=1, dropped=0, wrong_rooms=0, wrong_same=0, towards=0)


def observation() -> BatchObservation:
    torch.manual_seed(3)
    rows, batch = int(COUNTS.sum()), len(COUNTS)
    angle = torch.rand(rows) * 6
    geometry = torch.zeros(rows, GEOMETRY_DIM)
    geometry[:, SINE], geometry[:, COSINE], geometry[:, DISTANCE] = angle.sin(), angle.cos(), torch.rand(rows)
    geometry[:, COUNT] = torch.repeat_interleave(COUNTS, COUNTS) / CANDIDATE_SCALE
    place = (torch.rand(batch, len(COLUMNS)) > 0.5).float()
    candidates = (torch.rand(rows, len(COLUMNS)) > 0.5).float()
    candidates[:, 1:3] = place[torch.repeat_interleave(torch.arange(batch), COUNTS), 1:3]
    place_geometry = encode_place_geometry(COUNTS, torch.zeros(batch))
    previous = torch.zeros(batch, len(COLUMNS)), torch.zeros(batch, GEOMETRY_DIM)
    return BatchObservation(candidates, geometry, make_padded_index(COUNTS), place, place_geometry, *previous)


def test_without_noise_only_the_weight_of_what_is_far_changes():
    before = observation()
    after = CandidateJitter(COLUMNS[:-1], STILL).apply(
        BatchObservation(
            before.candidates[:, :-1], before.geometry, before.padded_index, before.place[:, :-1],
            before.place_geometry, before.previous[:, :-1], before.previous_geometry,
        )
    )  # fmt: skip
    assert torch.equal(after.candidates, before.candidates[:, :-1])
    assert torch.equal(after.padded_index, before.padded_index)
    torch.testing.assert_close(after.geometry, before.geometry)


def test_headings_and_distances_stay_within_their_range():
    jitter = CandidateJitter(COLUMNS, JitterConfig(dropped=0))
    before = observation()
    after = jitter.apply(before)
    turn = torch.atan2(after.geometry[:, SINE], after.geometry[:, COSINE]) - torch.atan2(
        before.geometry[:, SINE], before.geometry[:, COSINE]
    )
    turn = torch.remainder(turn + torch.pi, 2 * torch.pi) - torch.pi
    assert 0 < turn.abs().max() <= jitter.config.heading + 1e-5
    factor = after.geometry[:, DISTANCE] / before.geometry[:, DISTANCE]
    assert jitter.config.shortest <= factor.min() < factor.max() <= jitter.config.longest
    torch.testing.assert_close(after.geometry[:, SINE] ** 2 + after.geometry[:, COSINE] ** 2, torch.ones(13))
    assert torch.equal(after.candidates[:, 0], before.candidates[:, 0])  # objects stay


def test_an_agent_takes_all_candidates_to_be_in_one_room():
    after = CandidateJitter(COLUMNS, JitterConfig(dropped=0, wrong_rooms=1.0)).apply(observation())
    owners = after.owner_index
    assert torch.equal(after.candidates[:, 1:3], after.place[owners, 1:3])


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_missing_candidates_are_padding_and_one_is_left(share):
    before = observation()
    torch.manual_seed(1)
    after = CandidateJitter(COLUMNS, JitterConfig(dropped=share)).apply(before)
    counts = after.mask.sum(dim=1)
    assert (counts >= 1).all()
    assert (counts <= COUNTS).all()
    assert len(after.candidates) == len(after.geometry) == int(counts.sum())
    assert after.padded_index.shape == before.padded_index.shape
    index = after.padded_index[after.mask]
    assert index.tolist() == list(range(len(after.candidates)))  # packed, in the order of the actions
    torch.testing.assert_close(after.place_geometry[:, COUNT], counts / CANDIDATE_SCALE)
    torch.testing.assert_close(after.geometry[:, COUNT], (counts / CANDIDATE_SCALE)[after.owner_index])
    if share == 1.0:
        assert torch.equal(counts, COUNTS)  # all would be missing: none is


def test_agents_in_a_noisy_environment_choose_among_what_they_observe():
    drawn = world("""
        a-b-c
        | | |
        d-e-f
    """)
    env = replace(build_env({"house": drawn}, None), jitter=CandidateJitter((), JitterConfig(dropped=0.5)))
    words = Tokenizer.fit(["go"])
    episodes = [episode(str(k), path) for k, path in enumerate(["abcf", "edab", "fed", "cba"] * 4)]
    dataset = EpisodeDataset.from_episodes(episodes, env, words)
    torch.manual_seed(0)
    policy = rcm.RCM((), words, rcm.SMALL)
    rollout = collect_rollout(
        policy,
        env,
        dataset.batch(range(len(dataset))),
        select_action=mixed_forcing(torch.ones(len(dataset), dtype=torch.bool), greedy),
        expert=shortest_path_expert,
        max_steps=6,
    )
    missing = 0
    for step in rollout.steps:
        assert torch.isfinite(step.output.logits.gather(1, step.action[:, None])).all()
        known = step.expert_action >= 0
        assert torch.equal(step.action[known], step.expert_action[known])
        missing += int((~known).sum())
    assert missing > 0
    assert torch.isfinite(imitation_loss(rollout))
