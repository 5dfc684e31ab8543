"""Batches of experience: weights, texts that share frames, and the loss worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from itinera.errors import BadArgument
from itinera.mapping.config import MapLifetime
from itinera.policies.ground.base import GroundOutput
from itinera.training.ground.batches import (
    LengthBuckets,
    Texts,
    imitation_loss,
    inflection_weights,
    make_batch,
)
from itinera.training.ground.experience import Experience
from itinera.training.ground.frames import Frames, pack_frames

EPISODIC = MapLifetime.EPISODIC


def experience(name, labels, *, guided=0, seed=0):
    """An episode whose frames are random bytes."""
    rng = np.random.default_rng(seed)
    count = len(labels) + guided
    cells = rng.integers(0, 14, (count, 8, 8)).astype(np.uint8)
    depth = rng.integers(0, 255, (count, 1, 4, 4)).astype(np.uint8)
    return Experience(
        name,
        pack_frames(Frames(depth, None, {EPISODIC: cells})),
        guided,
        *(np.array(column, dtype=np.uint8) for column in (range(len(labels)), labels, labels)),
        np.zeros(len(labels), dtype=np.int8),
        np.linspace(4, 0, len(labels)).astype(np.float32),
    )


def test_first_steps_turns_and_stops_weigh_more():
    weights = inflection_weights(np.array([1, 1, 2, 2, 1, 0]), 3.2)
    assert weights == pytest.approx([3.2, 1, 3.2, 1, 3.2, 3.2])
    assert inflection_weights(np.array([1]), 3.2) == pytest.approx([3.2])


def test_a_batch_has_every_frame_once_and_every_text_of_a_path():
    parts = [experience("a", [1, 1, 0], guided=2), experience("b", [2, 1, 1, 0], seed=1)]
    words = [[np.array([5, 6]), np.array([7])], [np.array([8, 9, 4]), np.array([3])]]
    batch = make_batch(parts, words, EPISODIC)
    assert batch.texts == 2
    assert batch.agent_steps == 2 * 7
    assert len(batch.sequence.frames.depth) == 7
    frames = parts[0].frames.unpack()
    assert torch.equal(batch.sequence.frames.depth[:3], torch.tensor(frames.depth[2:]))
    assert torch.equal(batch.sequence.frames.map[:3], torch.tensor(frames.maps[EPISODIC][2:]))
    assert batch.sequence.frames.previous_action.tolist() == [0, 1, 2, 0, 1, 2, 3]
    assert batch.words.tolist() == [[5, 6, 0], [7, 0, 0], [8, 9, 4], [3, 0, 0]]
    assert batch.lengths.tolist() == [2, 1, 3, 1]
    assert batch.labels.tolist() == [[1, 1, 0, 0], [2, 1, 1, 0]]
    assert batch.weights[0].tolist() == pytest.approx([3.2, 1, 3.2, 0])
    assert batch.progress[0].tolist() == pytest.approx([0, 0.5, 1, 0])


def test_the_steps_that_lead_to_the_following_episode_are_guided_frames():
    parts = [experience("a", [1, 0]), experience("b", [0])]
    following = [experience("c", [1], guided=3, seed=5), None]
    batch = make_batch(parts, [[np.array([4])]] * 2, None, following=following)
    assert len(batch.sequence.frames.depth) == 2 + 3 + 1
    assert batch.sequence.steps.mask.sum(dim=1).tolist() == [5, 1]
    assert batch.sequence.mask.sum(dim=1).tolist() == [2, 1]
    assert torch.equal(batch.sequence.frames.depth[2:5], torch.tensor(following[0].frames.unpack().depth[:3]))


def test_trajectories_need_equally_many_texts():
    with pytest.raises(BadArgument, match="the same number of instructions"):
        make_batch([experience("a", [0])] * 2, [[np.array([4])], [np.array([4])] * 2], EPISODIC)


def test_the_loss_equals_a_slow_twin():
    parts = [experience("a", [1, 1, 0]), experience("b", [2, 0], seed=1)]
    batch = make_batch(parts, [[np.array([4]), np.array([5])]] * 2, EPISODIC)
    torch.manual_seed(0)
    output = GroundOutput(torch.randn(4, 3, 4), torch.randn(4, 3))
    found = imitation_loss(output, batch, progress_weight=0.5)
    means, errors = [], []
    for row in range(4):
        one = parts[row // 2]
        weights = inflection_weights(one.labels, 3.2)
        logs = output.logits[row].log_softmax(dim=1)
        terms = [-weights[t] * logs[t, one.labels[t]] for t in range(len(one))]
        means.append(sum(terms) / weights.sum())
        errors += [(output.progress[row, t] - float(one.progress[t])) ** 2 for t in range(len(one))]
    actions, progress = sum(means) / 4, sum(errors) / len(errors)
    assert float(found.actions) == pytest.approx(float(actions), rel=1e-5)
    assert float(found.progress) == pytest.approx(float(progress), rel=1e-5)
    assert float(found.total) == pytest.approx(float(actions + 0.5 * progress), rel=1e-5)


def test_texts_of_a_path_begin_with_its_own_and_repeat_if_there_are_too_few(ground):
    texts = ground.texts_of(ground.model("cma"))
    first = ground.split.episodes[0]
    same_path = [e.id for e in ground.split.episodes if e.path_id == first.path_id]
    own, *others = texts.of_path(same_path[1], 5)
    assert own is texts.words[same_path[1]]
    assert {id(row) for row in (own, *others)} == {id(texts.words[name]) for name in same_path}
    assert isinstance(texts, Texts)


def test_buckets_hold_every_row_once_an_epoch_and_rows_of_like_length():
    lengths = np.random.default_rng(0).integers(10, 90, 64).tolist()
    buckets = LengthBuckets(lengths, 8, seed=1, name="a", bucket_batches=8)
    assert len(buckets) == 8
    rows = np.concatenate([buckets[k] for k in range(8)])
    assert sorted(rows.tolist()) == list(range(64))
    spread = np.mean([np.ptp(np.array(lengths)[buckets[k]]) for k in range(8)])
    assert spread < 20
    again = LengthBuckets(lengths, 8, seed=1, name="a", bucket_batches=8)
    assert np.array_equal(again[13], buckets[13])
    assert not np.array_equal(LengthBuckets(lengths, 8, seed=2, name="a")[3], buckets[3])
