from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import Phase, given, settings

from drawn import episode, world
from itinera.policies import follower, speaker
from itinera.policies.checkpoint import card_of, new_model
from itinera.policies.tokenizer import Vocabulary
from itinera.tasks import Instruction
from itinera.training.back_translation import route_of
from itinera.training.experts import to_goal
from itinera.training.pragmatic_inference import Proposals, proposed, settled
from itinera.training.rollout import roll_out
from training.pupils import COLUMNS, WORDS, school, schools

LIMIT = 4
YARD = school(
    {"yard": world("a-b-c-d\n  | |\n  e-f", "yard")},
    [
        episode("1", "abcd", world_id="yard", instruction=Instruction("go to the sofa .")),
        episode("2", "ebcf", world_id="yard", instruction=Instruction("left")),
    ],
)


def policies():
    torch.manual_seed(4)
    sizes = follower.Sizes(word=8, text=8, sight=12, key=6, state=10, around=False)
    told = speaker.Sizes(word=8, sight=12, path=10, state=14, around=False)
    made = [
        new_model(card_of(kind, size, COLUMNS, Vocabulary(WORDS)))
        for kind, size in (("follower", sizes), ("speaker", told))
    ]
    return [model.policy.eval() for model in made]


def likelihood(policy, place, k, path):
    """The log-probability that a policy walks this path and stops, by a roll-out of the episode alone."""
    batch, nodes = place.lessons.batch([k]), torch.tensor(path)
    steps = []

    def follow(weighed, taught, rows):
        n = len(steps)
        action = (
            place.atlas.action_along(nodes[n : n + 1], nodes[n + 1 : n + 2])
            if n + 1 < len(nodes)
            else torch.zeros(1, dtype=torch.int64)
        )
        steps.append(float(weighed.logits.double().log_softmax(dim=1)[0, action]))
        return action

    with torch.no_grad():
        walked = roll_out(policy, place.atlas, batch, choose=follow, teacher=to_goal, limit=len(path))
    assert bool(walked.stopped.all())
    return sum(steps)


def judged(made, place, k, path):
    """The log-probability that a speaker tells this path in the words of the episode."""
    batch = place.lessons.batch([k])
    with torch.no_grad():
        memory = made.remember(route_of(place.atlas, torch.tensor([path]), torch.tensor([len(path)]), batch.view))
        return -float(made.surprise(memory, batch.words, batch.lengths).sum())


@settings(max_examples=12, phases=(Phase.generate,))
@given(place=schools())
def test_proposals_are_as_likely_as_walking_and_telling_them(place):
    listens, speaks = policies()
    for k, each in enumerate(proposed(listens, speaks, place.atlas, place.lessons, limit=LIMIT, count=6)):
        assert 1 <= len(each.paths) <= 6
        assert (np.diff(each.follower) <= 1e-9).all()
        assert len(set(each.paths)) == len(each.paths)
        for path, likely, tells in zip(each.paths, each.follower, each.speaker, strict=True):
            assert path[0] == place.lessons.start[k]
            assert len(path) - 1 <= LIMIT
            assert likely == pytest.approx(likelihood(listens, place, k, path), abs=1e-4)
            assert tells == pytest.approx(judged(speaks, place, k, path), abs=1e-4)


def test_the_likeliest_of_all_paths_is_proposed_first_where_it_comes_to_no_state_twice():
    listens, speaks = policies()
    each = proposed(listens, speaks, YARD.atlas, YARD.lessons, limit=1, count=40)
    for k, found in enumerate(each):
        start = int(YARD.lessons.start[k])
        first, degree = int(YARD.atlas.first[start]), int(YARD.atlas.degree[start])
        every = [(start,), *((start, int(node)) for node in YARD.atlas.beyond[first : first + degree])]
        expected = sorted(every, key=lambda path: -likelihood(listens, YARD, k, path))
        assert list(found.paths) == expected


def test_of_paths_that_end_alike_only_the_likeliest_is_proposed():
    listens, speaks = policies()
    for found in proposed(listens, speaks, YARD.atlas, YARD.lessons, limit=6, count=100):
        ends = [(path[-1], path[-2] if len(path) > 1 else -1) for path in found.paths]
        assert len(set(ends)) == len(ends)
        assert set(YARD.atlas.number.values()) == {path[-1] for path in found.paths}


def test_the_weight_of_the_speaker_decides_and_exploration_is_measured():
    number = YARD.atlas.number
    a, b, c, d, e, f = (number["yard", node] for node in "abcdef")
    likes_first = Proposals(((a, b), (a, b, c, d)), np.array([-1.0, -2.0]), np.array([-30.0, -10.0]), (a, b, c))
    unsure = Proposals(((e, b), (e, f, c)), np.array([-1.0, -9.0]), np.array([-5.0, -4.0]), (e, b, f))
    paths = {
        weight: settled(YARD.atlas, YARD.lessons, [likes_first, unsure], speaker=weight).scores.paths
        for weight in (0.0, 0.5, 0.95)
    }
    assert paths[0.0] == ((a, b), (e, b))
    assert paths[0.5] == ((a, b, c, d), (e, b))
    assert paths[0.95] == ((a, b, c, d), (e, f, c))
    found = settled(YARD.atlas, YARD.lessons, [likes_first, unsure], speaker=1.0)
    assert found.scores.paths[1] == (e, f, c)
    assert found.scores.columns["NE"][0] == 0
    space = YARD.worlds["yard"].space
    expected = [
        space.along(list("abcd")).sum(),
        space.along(list("eb")).sum() + space.between(["b"], ["f"])[0, 0] + space.along(list("fc")).sum(),
    ]
    np.testing.assert_allclose(found.explored, expected, rtol=1e-6)
