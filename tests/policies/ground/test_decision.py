"""The decision network: unrolled as stepped, shared texts, windows of bearings, sums of words."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch

from itinera.agents.decisions import BINS
from itinera.errors import BadFile
from itinera.policies.checkpoint import build_model, encode_model, make_card, read_model
from itinera.policies.ground.decision import (
    SMALL,
    STOP_BIN,
    BinFeatures,
    DecisionPolicy,
    PolarTensors,
    choose_bins,
    decide,
    join_tensors,
    make_requirements,
    make_tensors,
    select_bins,
    window_mass,
)
from itinera.policies.ground.polar_views import NUMBERS, LabelWords, PolarViews
from itinera.policies.ground.remembered_views import RICH_MAP
from itinera.policies.ground.word_bags import sum_words
from itinera.policies.tokenizer import Tokenizer

TOKENIZER = Tokenizer(tuple(f"word{k}" for k in range(30)))
TINY = replace(SMALL, word_dim=6, text_dim=8, bin_dim=10, hidden_dim=12, scorer_dim=5)


@pytest.fixture
def policy():
    torch.manual_seed(0)
    return DecisionPolicy((), TOKENIZER, TINY).eval()


def random_views(n, seed=0):
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 9, n))])
    m = int(starts[-1])
    numbers = rng.random((n, BINS, len(NUMBERS)), np.float32)
    views = PolarViews(
        starts,
        rng.integers(0, 72, m).astype(np.uint8),
        rng.integers(1, 5, m).astype(np.uint16),
        rng.random(m, np.float32),
        numbers,
    )
    words = LabelWords(np.array([0, 0, 2, 3, 5, 5]), rng.integers(3, 30, 5))
    return make_tensors(views, words)


def random_texts(n):
    generator = torch.Generator().manual_seed(1)
    lengths = torch.tensor([4 + k for k in range(n)])
    words = torch.randint(3, 30, (n, int(lengths.max())), generator=generator)
    return words.masked_fill(torch.arange(words.shape[1]) >= lengths[:, None], 0), lengths


def test_unrolled_logits_are_those_of_single_steps(policy):
    steps, texts = 5, 3
    features = policy.encode_views(random_views(steps))
    bins = torch.tensor([3, 0, 20, 11, 7])
    went = select_bins(features.bins, bins)
    before = torch.cat([torch.zeros_like(went[:1]), went[:-1]])[None]
    state = policy.encode_instruction(*random_texts(texts))
    _, unrolled = policy.unroll(state, features, previous=before)
    state = policy.encode_instruction(*random_texts(texts))
    for t in range(steps):
        one = BinFeatures(*(getattr(features, name)[t : t + 1].expand(texts, -1, -1) for name in ("bins", "bags")))
        state, output = policy(state, one)
        state = policy.take(state, one, bins[t : t + 1].expand(texts))
        torch.testing.assert_close(output.logits, unrolled.logits[:, t], atol=1e-5, rtol=1e-4)


def test_instructions_that_share_a_roll_get_the_logits_they_get_alone(policy):
    features = policy.encode_views(random_views(6))  # two rolls of three places
    words, lengths = random_texts(4)
    taken = torch.zeros(2, 3, TINY.bin_dim)
    _, together = policy.unroll(policy.encode_instruction(words, lengths), features, previous=taken)
    for roll, text in itertools.product(range(2), range(2)):
        row = 2 * roll + text
        alone = BinFeatures(features.bins[3 * roll : 3 * roll + 3], features.bags[3 * roll : 3 * roll + 3])
        state = policy.encode_instruction(words[row : row + 1], lengths[row : row + 1])
        _, output = policy.unroll(state, alone, previous=taken[:1])
        torch.testing.assert_close(output.logits[0], together.logits[row], atol=1e-5, rtol=1e-4)


def test_a_policy_reads(policy):
    features = policy.encode_views(random_views(1))
    words, lengths = random_texts(1)
    _, one = policy(policy.encode_instruction(words, lengths), features)
    _, other = policy(policy.encode_instruction(words.flip(1), lengths), features)
    assert not torch.allclose(one.logits, other.logits)


def test_the_mass_of_a_window_is_the_probability_of_its_bins():
    logits = torch.randn(2, 25, generator=torch.Generator().manual_seed(0))
    probabilities = logits.softmax(dim=1)
    mass = window_mass(logits).exp()
    for bin in range(BINS):
        window = [(bin + k) % BINS for k in (-2, -1, 0, 1, 2)]
        torch.testing.assert_close(mass[:, bin], probabilities[:, window].sum(dim=1))
    torch.testing.assert_close(mass[:, STOP_BIN], probabilities[:, STOP_BIN])


def test_the_best_window_decides_and_in_it_the_best_bin():
    logits = torch.full((3, 25), -20.0)
    logits[0, [22, 23, 0, 1]] = torch.tensor([1.0, 1.2, 1.0, 1.0])  # around the wrap
    logits[0, 10] = 1.9
    logits[1, STOP_BIN], logits[1, 5] = 3.0, 2.0
    logits[2, STOP_BIN], logits[2, [5, 6, 7]] = 2.5, torch.tensor([2.0, 2.1, 2.0])  # the window outweighs stopping
    assert choose_bins(logits).tolist() == [23, STOP_BIN, 6]


def test_sums_of_words_and_their_gradients_are_those_of_torch():
    rng = np.random.default_rng(0)
    table = torch.randn(9, 4, requires_grad=True)
    words, rows = (torch.from_numpy(rng.integers(0, high, 40)) for high in (9, 7))
    weights = torch.from_numpy(rng.random(40, np.float32))
    factor = torch.randn(7, 4)
    fast = sum_words(table, words, weights, rows, 7)
    slow = torch.zeros(7, 4).index_add(0, rows, table[words] * weights[:, None])
    torch.testing.assert_close(fast, slow)
    (gradient,) = torch.autograd.grad((fast * factor).sum(), table)
    (expected,) = torch.autograd.grad((slow * factor).sum(), table)
    torch.testing.assert_close(gradient, expected)


def test_places_joined_have_the_features_they_have_alone(policy):
    parts = [random_views(2, seed) for seed in (1, 2)]
    together = policy.encode_views(join_tensors(parts))
    alone = [policy.encode_views(part) for part in parts]
    torch.testing.assert_close(together.bins, torch.cat([one.bins for one in alone]))
    torch.testing.assert_close(together.bags, torch.cat([one.bags for one in alone]))


def test_no_tensor_is_made_on_another_device():
    policy = DecisionPolicy((), TOKENIZER, TINY).to("meta")
    words, lengths = (value.to("meta") for value in random_texts(2))
    views = random_views(2).to(torch.device("meta"))
    assert isinstance(views, PolarTensors)
    state, output = policy(policy.encode_instruction(words, lengths), policy.encode_views(views))
    assert output.logits.device.type == "meta"
    assert window_mass(output.logits).device.type == "meta"
    assert choose_bins(output.logits).device.type == "meta"
    assert policy.score_steps(output.query, state.previous).shape == (2, 8)


def test_decisions_have_one_to_eight_steps_or_stop(policy):
    state = policy.encode_instruction(*random_texts(4))
    features = policy.encode_views(random_views(4))
    _, decisions, _ = decide(policy, state, features)
    assert all(0 <= one.bin < BINS and 0 <= one.steps <= 8 for one in decisions)
    with torch.no_grad():
        policy.flat[-1].bias[-1] = 100.0
    assert all(one.stops for one in decide(policy, state, features)[1])


@pytest.mark.parametrize("remembers", [False, True])
def test_a_model_file_keeps_the_weights_and_what_the_agent_needs_to_see(tmp_path, remembers):
    config = replace(TINY, remembers=remembers)
    model = build_model(make_card("decision", config, (), TOKENIZER, ground=make_requirements(config)))
    (tmp_path / "model.safetensors").write_bytes(encode_model(model))
    found = read_model(tmp_path / "model.safetensors").model
    assert found.card == model.card
    sensor = found.agent().requirements.camera()
    assert sensor.around == (1 if remembers else 4)
    assert set(sensor.channels) == {"depth", "classes", "instances"}
    assert found.card.ground.map == (RICH_MAP if remembers else None)


def test_a_card_with_another_camera_than_the_policy_needs_is_refused(tmp_path):
    wrong = make_requirements(replace(TINY, remembers=True))
    model = build_model(make_card("decision", TINY, (), TOKENIZER, ground=wrong))
    (tmp_path / "model.safetensors").write_bytes(encode_model(model))
    with pytest.raises(BadFile, match="sees no map"):
        read_model(tmp_path / "model.safetensors")
