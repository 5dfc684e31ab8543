from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from itinera.policies.text_encoder import LSTMReader, kept_share, locked_dropout, reversed_within, whole


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_rows_are_turned_round_within_their_lengths(lengths):
    states = torch.arange(len(lengths) * 6 * 2).reshape(len(lengths), 6, 2)
    turned = reversed_within(states, torch.tensor(lengths))
    for k, n in enumerate(lengths):
        assert torch.equal(turned[k, :n], states[k, :n].flip(0))
        assert torch.equal(turned[k, n:], states[k, n:])


def test_reading_is_what_packed_sequences_give():
    torch.manual_seed(0)
    reader = LSTMReader(20, word=6, size=8).eval()
    words, lengths = torch.randint(3, 20, (3, 7)), torch.tensor([7, 2, 5])
    both = nn.LSTM(6, 4, batch_first=True, bidirectional=True)
    onward, back = reader.onward[0], reader.backward_[0]
    given_ = {**onward.state_dict(), **{f"{name}_reverse": value for name, value in back.state_dict().items()}}
    both.load_state_dict(given_)
    packed = nn.utils.rnn.pack_padded_sequence(reader.embedding(words), lengths, batch_first=True, enforce_sorted=False)
    expected, _ = nn.utils.rnn.pad_packed_sequence(both(packed)[0], batch_first=True)
    text = reader(words, lengths)
    for k, n in enumerate(lengths.tolist()):
        torch.testing.assert_close(text.states[k, :n], expected[k, :n])
        assert text.mask[k].tolist() == [j < n for j in range(7)]
    torch.testing.assert_close(text.last, whole(expected, lengths))


def test_what_stands_behind_the_end_is_not_read():
    reader = LSTMReader(20, word=6, size=8, layers=2, dropout=0.5).eval()
    words, lengths = torch.randint(3, 20, (2, 5)), torch.tensor([3, 5])
    other = words.clone()
    other[0, 3:] = 0
    one, two = reader(words, lengths), reader(other, lengths)
    torch.testing.assert_close(one.states[0, :3], two.states[0, :3])
    torch.testing.assert_close(one.last, two.last)


def test_dropout_leaves_out_the_same_numbers_at_every_word_and_nothing_when_tried():
    torch.manual_seed(0)
    ones = torch.ones(50, 4, 30)
    dropped = locked_dropout(ones, 0.4, training=True)
    assert torch.equal(dropped[:, 0], dropped[:, 3])
    assert dropped.unique().tolist() == pytest.approx([0.0, 1 / 0.6])
    assert dropped.mean().item() == pytest.approx(1.0, abs=0.1)
    assert locked_dropout(ones, 0.4, training=False) is ones
    assert locked_dropout(ones, 0.0, training=True) is ones
    assert kept_share(1000, 10, 0.3).mean().item() == pytest.approx(1.0, abs=0.05)
