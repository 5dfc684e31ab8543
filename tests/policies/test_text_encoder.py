from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from itinera.policies.text_encoder import (
    BiLSTMTextEncoder,
    final_states,
    locked_dropout,
    reverse_padded,
    sample_dropout_mask,
)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_sequences_are_reversed_within_their_lengths(lengths):
    states = torch.arange(len(lengths) * 6 * 2).reshape(len(lengths), 6, 2)
    turned = reverse_padded(states, torch.tensor(lengths))
    for k, n in enumerate(lengths):
        assert torch.equal(turned[k, :n], states[k, :n].flip(0))
        assert torch.equal(turned[k, n:], states[k, n:])


def test_the_encoder_is_a_bidirectional_lstm_on_packed_sequences():
    torch.manual_seed(0)
    encoder = BiLSTMTextEncoder(20, word_dim=6, hidden_dim=8).eval()
    words, lengths = torch.randint(3, 20, (3, 7)), torch.tensor([7, 2, 5])
    both = nn.LSTM(6, 4, batch_first=True, bidirectional=True)
    onward, back = encoder.forward_lstm[0], encoder.backward_lstm[0]
    weights = {**onward.state_dict(), **{f"{name}_reverse": value for name, value in back.state_dict().items()}}
    both.load_state_dict(weights)
    packed = nn.utils.rnn.pack_padded_sequence(
        encoder.embedding(words), lengths, batch_first=True, enforce_sorted=False
    )
    expected, _ = nn.utils.rnn.pad_packed_sequence(both(packed)[0], batch_first=True)
    text = encoder(words, lengths)
    for k, n in enumerate(lengths.tolist()):
        torch.testing.assert_close(text.states[k, :n], expected[k, :n])
        assert text.mask[k].tolist() == [j < n for j in range(7)]
    torch.testing.assert_close(text.summary, final_states(expected, lengths))


def test_padding_does_not_matter():
    encoder = BiLSTMTextEncoder(20, word_dim=6, hidden_dim=8, num_layers=2, dropout=0.5).eval()
    words, lengths = torch.randint(3, 20, (2, 5)), torch.tensor([3, 5])
    other = words.clone()
    other[0, 3:] = 0
    one, two = encoder(words, lengths), encoder(other, lengths)
    torch.testing.assert_close(one.states[0, :3], two.states[0, :3])
    torch.testing.assert_close(one.summary, two.summary)


def test_dropout_is_the_same_at_every_word_and_for_training_only():
    torch.manual_seed(0)
    ones = torch.ones(50, 4, 30)
    dropped = locked_dropout(ones, 0.4, training=True)
    assert torch.equal(dropped[:, 0], dropped[:, 3])
    assert dropped.unique().tolist() == pytest.approx([0.0, 1 / 0.6])
    assert dropped.mean().item() == pytest.approx(1.0, abs=0.1)
    assert locked_dropout(ones, 0.4, training=False) is ones
    assert locked_dropout(ones, 0.0, training=True) is ones
    assert sample_dropout_mask(1000, 10, 0.3, device=torch.device("cpu")).mean().item() == pytest.approx(1.0, abs=0.05)
