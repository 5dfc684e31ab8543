from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import Phase, given, settings

from itinera.policies import follower, speaker
from itinera.policies.checkpoint import build_model, make_card
from itinera.policies.tokenizer import Tokenizer
from itinera.tasks import Instruction
from itinera.training.back_translation import observe_paths
from itinera.training.experts import shortest_path_expert
from itinera.training.pragmatic_inference import Proposals, propose_paths, rerank_paths
from itinera.training.rollout import collect_rollout
from text_worlds import episode, world
from training.small_models import COLUMNS, WORDS, tiny_data, tiny_datasets

LIMIT = 4
YARD = tiny_data(
    {"yard": world("a-b-c-d\n  | |\n  e-f", "yard")},
    [
        episode("1", "abcd", world_id="yard", instruction=Instruction("go to the sofa .")),
        episode("2", "ebcf", world_id="yard", instruction=Instruction("left")),
    ],
)


def policies():
    torch.manual_seed(4)
    follower_config = follower.FollowerConfig(
        word_dim=8, text_dim=8, visual_dim=12, key_dim=6, hidden_dim=10, use_panorama=False
    )
    speaker_config = speaker.SpeakerConfig(word_dim=8, visual_dim=12, path_dim=10, hidden_dim=14, use_panorama=False)
    made = [
        build_model(make_card(kind, config, COLUMNS, Tokenizer(WORDS)))
        for kind, config in (("follower", follower_config), ("speaker", speaker_config))
    ]
    return [model.policy.eval() for model in made]


def likelihood(policy, place, k, path):
    """The log-probability of a path and its STOP, by a rollout of the episode alone."""
    batch, nodes = place.dataset.batch([k]), torch.tensor(path)
    steps = []

    def follow(output, expert_action, rows):
        n = len(steps)
        action = (
            place.env.neighbor_action(nodes[n : n + 1], nodes[n + 1 : n + 2])
            if n + 1 < len(nodes)
            else torch.zeros(1, dtype=torch.int64)
        )
        steps.append(float(output.logits.double().log_softmax(dim=1)[0, action]))
        return action

    with torch.no_grad():
        walked = collect_rollout(
            policy, place.env, batch, select_action=follow, expert=shortest_path_expert, max_steps=len(path)
        )
    assert bool(walked.stopped.all())
    return sum(steps)


def instruction_log_prob(made, place, k, path):
    """The log-probability of the episode's instruction given a path."""
    batch = place.dataset.batch([k])
    with torch.no_grad():
        memory = made.encode_paths(
            observe_paths(place.env, torch.tensor([path]), torch.tensor([len(path)]), batch.view)
        )
        return -float(made.word_losses(memory, batch.words, batch.lengths).sum())


@settings(max_examples=12, phases=(Phase.generate,))
@given(place=tiny_datasets())
def test_log_probabilities_are_those_of_rollouts_and_of_the_speaker(place):
    listens, speaks = policies()
    for k, each in enumerate(propose_paths(listens, speaks, place.env, place.dataset, max_steps=LIMIT, count=6)):
        assert 1 <= len(each.paths) <= 6
        assert (np.diff(each.follower) <= 1e-9).all()
        assert len(set(each.paths)) == len(each.paths)
        for path, likely, tells in zip(each.paths, each.follower, each.speaker, strict=True):
            assert path[0] == place.dataset.start[k]
            assert len(path) - 1 <= LIMIT
            assert likely == pytest.approx(likelihood(listens, place, k, path), abs=1e-4)
            assert tells == pytest.approx(instruction_log_prob(speaks, place, k, path), abs=1e-4)


def test_the_likeliest_of_all_paths_is_proposed_first_where_it_comes_to_no_state_twice():
    listens, speaks = policies()
    each = propose_paths(listens, speaks, YARD.env, YARD.dataset, max_steps=1, count=40)
    for k, found in enumerate(each):
        start = int(YARD.dataset.start[k])
        first, degree = int(YARD.env.first_edge[start]), int(YARD.env.degree[start])
        every = [(start,), *((start, int(node)) for node in YARD.env.edge_target[first : first + degree])]
        expected = sorted(every, key=lambda path: -likelihood(listens, YARD, k, path))
        assert list(found.paths) == expected


def test_of_paths_that_end_alike_only_the_likeliest_is_proposed():
    listens, speaks = policies()
    for found in propose_paths(listens, speaks, YARD.env, YARD.dataset, max_steps=6, count=100):
        ends = [(path[-1], path[-2] if len(path) > 1 else -1) for path in found.paths]
        assert len(set(ends)) == len(ends)
        assert set(YARD.env.node_index.values()) == {path[-1] for path in found.paths}


def test_the_weight_of_the_speaker_decides_and_exploration_is_measured():
    number = YARD.env.node_index
    a, b, c, d, e, f = (number["yard", node] for node in "abcdef")
    likes_first = Proposals(((a, b), (a, b, c, d)), np.array([-1.0, -2.0]), np.array([-30.0, -10.0]), (a, b, c))
    unsure = Proposals(((e, b), (e, f, c)), np.array([-1.0, -9.0]), np.array([-5.0, -4.0]), (e, b, f))
    paths = {
        weight: rerank_paths(YARD.env, YARD.dataset, [likes_first, unsure], speaker_weight=weight).scores.paths
        for weight in (0.0, 0.5, 0.95)
    }
    assert paths[0.0] == ((a, b), (e, b))
    assert paths[0.5] == ((a, b, c, d), (e, b))
    assert paths[0.95] == ((a, b, c, d), (e, f, c))
    found = rerank_paths(YARD.env, YARD.dataset, [likes_first, unsure], speaker_weight=1.0)
    assert found.scores.paths[1] == (e, f, c)
    assert found.scores.columns["NE"][0] == 0
    space = YARD.worlds["yard"].space
    expected = [
        space.along(list("abcd")).sum(),
        space.along(list("eb")).sum() + space.between(["b"], ["f"])[0, 0] + space.along(list("fc")).sum(),
    ]
    np.testing.assert_allclose(found.exploration, expected, rtol=1e-6)
