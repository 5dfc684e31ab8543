from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument
from itinera.policies.tokenizer import END, FIRST_WORD, PAD, UNKNOWN, Tokenizer
from itinera.rendering.panorama import nearest_view
from itinera.training.dataset import BatchSampler, EpisodeDataset
from text_worlds import quick
from training.small_models import WORDS, tiny_datasets


@quick
@given(place=tiny_datasets())
def test_a_batch_holds_its_episodes(place):
    batch = place.dataset.batch(range(len(place.episodes)))
    tokenizer = Tokenizer(WORDS)
    for k, episode in enumerate(place.episodes):
        words = batch.words[k]
        assert words[: batch.lengths[k]].tolist() == tokenizer.encode(episode.instruction.text).tolist()
        assert (words[batch.lengths[k] :] == PAD).all()
        path = [place.env.node_index[episode.world_id, node] for node in episode.reference]
        assert batch.path[k, : batch.path_lengths[k]].tolist() == path
        assert (batch.path[k, batch.path_lengths[k] - 1 :] == batch.goal[k]).all()
        assert (int(batch.start[k]), int(batch.goal[k])) == (path[0], path[-1])
        assert int(batch.view[k]) == nearest_view(episode.start.heading, episode.start.elevation)


def test_a_text_of_no_words_is_read_as_its_end(house):
    silent = [k for k, episode in enumerate(house.episodes) if not episode.instruction.text]
    assert house.dataset.batch(silent).words.tolist() == [[END]] * len(silent)


def test_of_long_texts_the_beginning_is_read(house):
    short = EpisodeDataset.from_episodes(house.episodes, house.env, Tokenizer(WORDS), max_words=2)
    assert max(map(len, short.words)) == 2


def test_in_order_every_lesson_comes_once(house):
    batches = list(house.dataset.batches(5))
    assert [batch.size for batch in batches] == [5, 5, 2]
    assert sorted(torch.cat([batch.index for batch in batches]).tolist()) == list(range(12))


@quick
@given(size=st.integers(1, 15), seed=st.integers(0, 9), steps=st.lists(st.integers(0, 40), max_size=6))
def test_which_batch_comes_depends_on_seed_and_number_alone(house, size, seed, steps):
    one, other = BatchSampler(house.dataset, size, seed=seed), BatchSampler(house.dataset, size, seed=seed)
    whole = [one[k].index.tolist() for k in range(41)]
    assert [other[k].index.tolist() for k in steps] == [whole[k] for k in steps]
    for first in range(0, 41 - len(one), len(one)):
        epoch = [number for k in range(first, first + len(one)) for number in whole[k]]
        assert len(set(epoch)) == len(epoch) == min(size, 12) * len(one)


def test_orders_differ_by_seed_and_epoch(house):
    orders = [
        [
            tuple(BatchSampler(house.dataset, 4, seed=seed, bucket_batches=1)[3 * epoch + k].index.tolist())
            for k in range(3)
        ]
        for seed in range(2)
        for epoch in range(2)
    ]
    assert len(set(map(tuple, orders))) == 4


def test_texts_of_about_one_length_are_read_together(house):
    sampler = BatchSampler(house.dataset, 4, seed=0)
    assert len({tuple(sorted(sampler[k].lengths.tolist())) for k in range(3)}) == 3
    spread = [int(batch.lengths.max() - batch.lengths.min()) for batch in map(sampler.__getitem__, range(3))]
    assert max(spread) <= 6


def test_what_does_not_tell_its_path_teaches_nothing(house):
    hidden = replace(house.episodes[0], reference=())
    with pytest.raises(BadArgument, match="Episode 0 has no reference path"):
        EpisodeDataset.from_episodes([hidden], house.env, Tokenizer(WORDS))


def test_dropped_words_become_unknown_and_nothing_else_changes(house):
    plain, dropping = (BatchSampler(house.dataset, 12, seed=3, word_dropout=rate) for rate in (0.0, 0.4))
    kept, words = plain[5], dropping[5]
    changed = kept.words != words.words
    assert 0 < changed.sum() < (kept.words >= FIRST_WORD).sum()
    assert (words.words[changed] == UNKNOWN).all()
    assert (kept.words[changed] >= FIRST_WORD).all()  # neither padding nor the end of a text
    assert torch.equal(kept.index, words.index)
    assert torch.equal(kept.lengths, words.lengths)
    assert torch.equal(dropping[5].words, words.words)
    assert not torch.equal(dropping[6].words, words.words)
