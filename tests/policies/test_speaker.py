from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from itinera.errors import BadArgument
from itinera.policies.checkpoint import build_model, encode_model, make_card, read_model
from itinera.policies.speaker import PAPER, Speaker, SpeakerConfig
from itinera.policies.tokenizer import END, FIRST_WORD, PAD, UNKNOWN, Tokenizer
from itinera.tasks import Instruction
from itinera.training.back_translation import observe_references
from text_worlds import episode, world
from training.small_models import COLUMNS, WORDS, tiny_data

PATHS = {"abcd": "go left to the sofa . stop .", "ebc": "stop", "d": "", "fcba": "go to the purple kitchen"}
PLACE = tiny_data(
    {"house": world("a-b-c-d\n  | |\n  e-f")},
    [episode(path, path, instruction=Instruction(text)) for path, text in PATHS.items()],
    panorama=True,
)
CONFIG = SpeakerConfig(word_dim=8, visual_dim=12, path_dim=10, hidden_dim=14)
BATCH = PLACE.dataset.batch(range(4))


def make_speaker(*, panorama: bool = False) -> Speaker:
    torch.manual_seed(2)
    return Speaker(COLUMNS, Tokenizer(WORDS), replace(CONFIG, use_panorama=panorama)).eval()


def single_batch(k: int):
    n, words = BATCH.path_lengths[k : k + 1], BATCH.lengths[k : k + 1]
    alone = PLACE.dataset.batch([k])
    assert (alone.path_lengths, alone.lengths) == (n, words)
    return alone


@pytest.mark.parametrize("panorama", [False, True])
def test_losses_do_not_depend_on_the_rest_of_the_batch(panorama):
    made = make_speaker(panorama=panorama)
    together = made.word_losses(made.encode_paths(observe_references(PLACE.env, BATCH)), BATCH.words, BATCH.lengths)
    for k in range(4):
        batch = single_batch(k)
        alone = made.word_losses(made.encode_paths(observe_references(PLACE.env, batch)), batch.words, batch.lengths)
        n = int(batch.lengths) + 1
        torch.testing.assert_close(together[k, :n], alone[0])
        assert (together[k, n:] == 0).all()
        assert (together[k, :n] > 0).all()


def test_losses_are_those_of_decoding_word_by_word():
    made = make_speaker()
    memory = made.encode_paths(observe_references(PLACE.env, BATCH))
    expected = made.word_losses(memory, BATCH.words, BATCH.lengths)
    before = torch.full((4, 1), END)
    for n in range(BATCH.words.shape[1] + 1):
        memory, logits = made.decode(memory, before)
        for k in range(4):
            length = int(BATCH.lengths[k])
            if n <= length:
                word = int(BATCH.words[k, n]) if n < length else END
                torch.testing.assert_close(expected[k, n], -logits[k, 0].log_softmax(dim=0)[word])
        before = BATCH.words[:, n : n + 1]


def test_only_known_words_are_generated():
    made = make_speaker()
    with torch.no_grad():
        made.word_head.bias[[PAD, UNKNOWN]] = 50.0
        made.word_head.bias[END] = -50.0
    words, lengths = made.generate(made.encode_paths(observe_references(PLACE.env, BATCH)), max_words=7)
    assert lengths.tolist() == [7] * 4
    assert (words >= FIRST_WORD).all()


def test_an_empty_text_is_a_single_end():
    made = make_speaker()
    with torch.no_grad():
        made.word_head.bias[END] = 50.0
    words, lengths = made.generate(made.encode_paths(observe_references(PLACE.env, BATCH)))
    assert (words.tolist(), lengths.tolist()) == ([[END]] * 4, [1] * 4)


def test_sampled_words_depend_only_on_the_generator():
    made = make_speaker()
    memory = made.encode_paths(observe_references(PLACE.env, BATCH))
    drawn = [made.generate(memory, max_words=20, rng=torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)]
    assert torch.equal(drawn[0][0], drawn[1][0])
    assert drawn[0][0].tolist() != drawn[2][0].tolist()
    for words, lengths in drawn:
        for row, n in zip(words, lengths, strict=True):
            assert (row[n:] == PAD).all()
            assert END not in row[:n].tolist() or n == 1


def test_texts_are_memorized():
    made = make_speaker()
    optimizer = torch.optim.Adam(made.parameters(), 0.02)
    paths = observe_references(PLACE.env, BATCH)
    for _ in range(120):
        loss = made.word_losses(made.encode_paths(paths), BATCH.words, BATCH.lengths).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    words, _ = made.generate(made.encode_paths(paths))
    texts = [Tokenizer(WORDS).decode(row) for row in words.tolist()]
    assert texts[:2] == ["go left to the sofa. stop.", "stop"]
    assert texts[2] == ""


def test_a_model_file_restores_the_speaker(tmp_path):
    torch.manual_seed(0)
    model = build_model(make_card("speaker", CONFIG, COLUMNS, Tokenizer(WORDS)))
    (tmp_path / "s.safetensors").write_bytes(encode_model(model))
    found = read_model(tmp_path / "s.safetensors").model.policy
    for name, value in model.policy.state_dict().items():
        assert torch.equal(found.state_dict()[name], value)


def test_a_speaker_cannot_act():
    model = build_model(make_card("speaker", CONFIG, COLUMNS, Tokenizer(WORDS)))
    with pytest.raises(BadArgument, match="kind speaker cannot act as an agent"):
        model.agent()


def test_the_configuration_of_the_paper_can_be_built():
    assert sum(value.numel() for value in Speaker(COLUMNS, Tokenizer(WORDS), PAPER).parameters()) > 5e6
